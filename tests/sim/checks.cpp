#include "tests/sim/checks.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "core/base/sha256.h"
#include "core/numerics/codec/sparse_codec.h"
#include "core/numerics/outer/outer_step.h"
#include "core/peer/payloads/payloads.h"

namespace potluck::sim {

namespace {

/// The largest difference of a coordinate that rounding to fp32 explains; movement of a run is about 1.
constexpr double rounding_max = 1e-5;

/// The living member with the longest chain, of those that have all of it.
std::size_t furthest(World& world) {
    std::size_t best = 0;
    std::uint64_t length = 0;
    for (std::size_t i = 0; i < world.size(); ++i) {
        const std::uint64_t own = world.home(i).ledger.totals(world.run()).rounds.value;
        const bool keeps_all = world.home(i).ledger.kept_from(world.run()).value == 0;
        if (world.home(i).alive() && keeps_all && own >= length) {
            best = i;
            length = own;
        }
    }
    return best;
}

/// The lists of the longest chain.
std::vector<run::AcceptList> lists_of(World& world) {
    const ledger::Ledger& ledger = world.home(furthest(world)).ledger;
    const std::uint64_t length = ledger.totals(world.run()).rounds.value;
    std::vector<run::AcceptList> lists;
    for (RoundId round{0}; round.value < length; round = round.next()) {
        lists.push_back(run::AcceptList::decode(ledger.list(world.run(), round)->list).value());
    }
    return lists;
}

numerics::PayloadView payload_of(World& world, const BlobId& id) {
    numerics::PayloadView view;
    const auto found = world.network().published.find(id);
    if (found == world.network().published.end()) return view;
    const auto fault = numerics::PayloadView::parse(found->second->bytes().subspan(peer::payload_author_bytes),
                                                    world.initial_state().size(), world.manifest().recipe.k_max, view);
    return fault == numerics::PayloadFault::none ? view : numerics::PayloadView{};
}

StateDigest digest_of(const model::StateLayout& layout, std::span<const float> theta) {
    Bytes file = layout.header;
    const ByteSpan parameters = std::as_bytes(theta);
    file.insert(file.end(), parameters.begin(), parameters.end());
    return merkle_root(file);
}

/// F, once more; nothing if a payload of the list cannot be read.
std::optional<std::vector<float>> stepped(World& world, const std::vector<float>& theta, const run::AcceptList& list) {
    std::vector<numerics::PayloadView> views;
    for (const run::Accepted& entry : list.entries) views.push_back(payload_of(world, entry.payload.root));
    std::vector<numerics::WeightedPayload> weighted;
    std::set<PeerId> persons;
    const std::vector<TokenCount> weights = run::weights_of(list);
    const std::vector<bool> say = run::with_a_say(list.entries, list.bounds);
    for (std::size_t i = 0; i < views.size(); ++i) {
        if (views[i].size() != theta.size()) return std::nullopt;
        if (weights[i].value == 0) continue;
        const bool repeated = !persons.insert(list.entries[i].person()).second;
        weighted.push_back({&views[i], weights[i].value, !say[i], repeated});
    }
    if (list.entries.empty()) return theta;  // it hands a seat over
    std::vector<float> next(theta.size());
    const run::Recipe& recipe = world.manifest().recipe;
    numerics::OuterStep step = recipe.outer;
    step.newcomers_norm = recipe.newcomers_norm(list.bounds, theta.size());
    numerics::apply_outer_step_plain(theta, next, weighted, step);
    return next;
}

/// Digests of theta[0], theta[1], ... as F makes them; ends early at a list with a payload that cannot be read.
std::vector<StateDigest> recomputed(World& world) {
    const model::StateLayout layout = model::state_layout(world.manifest().model);
    std::vector<std::vector<float>> thetas{{world.initial_state().begin(), world.initial_state().end()}};
    std::vector<StateDigest> digests{digest_of(layout, thetas[0])};
    for (const run::AcceptList& list : lists_of(world)) {
        const run::HostAction* back = list.roll_back();
        auto next = back != nullptr ? std::optional(thetas[back->round.value]) : stepped(world, thetas.back(), list);
        if (!next) return digests;
        thetas.push_back(std::move(*next));
        digests.push_back(digest_of(layout, thetas.back()));
    }
    return digests;
}

/// The digests of the longest chain as its ledger has them.
std::vector<StateDigest> recorded(World& world) {
    const ledger::Ledger& ledger = world.home(furthest(world)).ledger;
    const std::uint64_t length = ledger.totals(world.run()).rounds.value;
    std::vector<StateDigest> digests{world.manifest().initial_state.root};
    for (RoundId round{0}; round.value < length; round = round.next()) {
        digests.push_back(*ledger.digest_after(world.run(), round));
    }
    return digests;
}

std::string name_of(std::size_t member) { return "member " + std::to_string(member); }

/// What `member` holds and shows, beside the chain and its recomputed digests.
std::string compare(World& world, std::size_t member, const ledger::Ledger& truth,
                    const std::vector<StateDigest>& digests) {
    Home& home = world.home(member);
    if (const Status chain = home.ledger.verify_chain(world.run(), world.rules()); !chain.ok())
        return chain.error().message;
    const std::uint64_t length = home.ledger.totals(world.run()).rounds.value;
    if (length + 1 > digests.size()) return "a listed payload cannot be read";
    for (RoundId round{0}; round.value < length; round = round.next()) {
        const std::string where = name_of(member) + " round " + std::to_string(round.value);
        const bool is_kept = round >= home.ledger.kept_from(world.run());
        const auto list = home.ledger.list(world.run(), round);
        if (!list && is_kept) return where + ": no list";
        // Certificates of one list may have other signers.
        if (list && list->list != truth.list(world.run(), round)->list) return where + ": another list";
        const auto digest = home.ledger.digest_after(world.run(), round);
        if (digest ? *digest != digests[round.value + 1] : is_kept) return where + ": another digest than F gives";
    }
    for (const peer::StateStore::Held& held : home.disk.held()) {
        if (held.round.value <= length && held.digest != digests[held.round.value]) {
            return name_of(member) + " holds another state of round " + std::to_string(held.round.value);
        }
    }
    const peer::PeerView view = world.peer(member).view();
    if (view.calculates_differently && !home.disk.miscalculates && !world.plan().damage_may_spread) {
        return name_of(member) + " takes its arithmetic for wrong, which it is not";
    }
    if (view.round.value > 0 && view.round.value <= length && view.digest != digests[view.round.value]) {
        return name_of(member) + " shows another digest of round " + std::to_string(view.round.value);
    }
    return {};
}

/// What of a message of our own is not on disk.
std::string not_on_disk(Home& home, const RunId& run, const run::StatusMessage& status) {
    if (status.round.value == 0) return {};
    const auto held = home.disk.held();
    const auto same = [&](const peer::StateStore::Held& one) {
        return one.round == status.round && one.digest == status.digest;
    };
    const std::string round = std::to_string(status.round.value);
    if (std::none_of(held.begin(), held.end(), same)) return "the state of round " + round;
    if (!home.ledger.list(run, RoundId{status.round.value - 1})) return "the list before round " + round;
    return {};
}

std::string not_on_disk(Home& home, run::ContributionMessage own) {
    own.certificate = {};  // which the record leaves out
    if (!home.folder.blobs.contains(own.payload.root)) return "the payload of a contribution";
    const auto bytes = home.disk.load_record();
    const auto record = bytes ? peer::ContributionRecord::decode(*bytes) : std::nullopt;
    if (!record || std::find(record->pending.begin(), record->pending.end(), own) == record->pending.end()) {
        return "the record of a contribution";
    }
    return {};
}

}  // namespace

std::string agreement(World& world) {
    if (!world.divided().empty()) return world.divided();
    const ledger::Ledger& truth = world.home(furthest(world)).ledger;
    const std::vector<StateDigest> digests = world.plan().damage_may_spread ? recorded(world) : recomputed(world);
    for (std::size_t i = 0; i < world.size(); ++i) {
        const std::string& early = world.home(i).announced_early;
        if (!early.empty() && !world.plan().damage_may_spread)
            return name_of(i) + " announced before it was on disk: " + early;
        if (!world.home(i).alive()) continue;
        const std::string wrong = compare(world, i, truth, digests);
        if (!wrong.empty()) return wrong;
    }
    return {};
}

std::string conservation(World& world) {
    for (std::size_t i = 0; i < world.size(); ++i) {
        Home& home = world.home(i);
        if (home.backbone || home.folder.withholds) continue;
        const std::uint64_t trained = home.trained_before + (home.alive() ? home.saved : 0);
        peer::ContributionRecord record;
        if (const auto bytes = home.disk.load_record()) {
            record = peer::ContributionRecord::decode(*bytes).value_or(peer::ContributionRecord{});
        }
        std::uint64_t accepted = 0;  // as contributed; its credit may be less
        bool went_back = false;      // then what was carried is dropped
        for (const run::AcceptList& list : lists_of(world)) {
            went_back = went_back || list.roll_back() != nullptr;
            for (const run::Accepted& entry : list.entries) {
                if (entry.peer == home.id()) accepted += entry.tokens.value;
            }
        }
        const std::uint64_t booked = accepted + record.carried.value + record.pending_tokens().value;
        if (went_back ? booked > trained : booked != trained) {
            return name_of(i) + " trained " + std::to_string(trained) + " but has " + std::to_string(accepted) +
                   " accepted, " + std::to_string(record.carried.value) + " carried, " +
                   std::to_string(record.pending_tokens().value) + " pending";
        }
    }
    return {};
}

std::string movement(World& world) {
    const std::vector<run::AcceptList> lists = lists_of(world);
    for (std::size_t i = 0; i < world.size(); ++i) {
        Home& home = world.home(i);
        if (!home.alive() || !home.process->trainer) continue;
        std::vector<BlobId> sent;
        for (const run::AcceptList& list : lists) {
            for (const run::Accepted& entry : list.entries) {
                if (entry.peer == home.id()) sent.push_back(entry.payload.root);
            }
        }
        if (const auto bytes = home.disk.load_record()) {
            const auto record = peer::ContributionRecord::decode(*bytes).value_or(peer::ContributionRecord{});
            for (const run::ContributionMessage& own : record.pending) sent.push_back(own.payload.root);
        }
        std::vector<float> booked(world.initial_state().size());
        for (const BlobId& id : sent) {
            const numerics::PayloadView view = payload_of(world, id);
            if (view.size() != booked.size()) return name_of(i) + " sent a payload that cannot be read";
            numerics::add_decoded(booked, view, 1.0F, 1);
        }
        const std::span<const float> error = home.disk.scratch(peer::Scratch::error).value().values;
        std::vector<double> moved = home.process->trainer->moved();
        moved.resize(booked.size());
        double all = 0, gone = 0, most = 0;
        for (std::size_t at = 0; at < booked.size(); ++at) {
            const double missing =
                std::abs(moved[at] - static_cast<double>(booked[at]) - static_cast<double>(error[at]));
            all += std::abs(moved[at]);
            gone += missing;
            most = std::max(most, missing);
        }
        if (most > rounding_max) {
            return name_of(i) + ": of its movement " + std::to_string(gone / all) + " is unaccounted for, at most " +
                   std::to_string(most) + " in a coordinate";
        }
    }
    return {};
}

bool follows_rules(World& world) { return recorded(world) == recomputed(world); }

DigestOrigins digest_origins(World& world) {
    const std::vector<StateDigest> chain = recomputed(world);
    const std::set<StateDigest> right(chain.begin(), chain.end());
    DigestOrigins origins;
    for (std::size_t i = 0; i < world.size(); ++i) {
        const Home& home = world.home(i);
        std::set<StateDigest> computed;
        for (const peer::StateStore::Held& one : home.disk.computed()) {
            computed.insert(one.digest);
            origins.wrong += right.contains(one.digest) ? 0 : 1;
        }
        const std::uint64_t length = home.ledger.totals(world.run()).rounds.value;
        for (RoundId round{0}; round.value < length; round = round.next()) {
            const auto digest = home.ledger.digest_after(world.run(), round);
            if (digest) ++(computed.contains(*digest) ? origins.computed : origins.copied);
        }
    }
    return origins;
}

void watch_announcements(Home& home, const RunId& run) {
    home.disk.effects.watchers.push_back(
        [&home, run, last = Bytes()](Effect effect, const run::Envelope* envelope) mutable {
            const bool own = effect == Effect::send && envelope->sender == home.id();
            if (!own || envelope->body == last || !home.announced_early.empty()) return;
            last = envelope->body;
            const auto message = run::decode_body(envelope->kind, envelope->body);
            if (const auto* status = std::get_if<run::StatusMessage>(&*message)) {
                home.announced_early = not_on_disk(home, run, *status);
            } else if (const auto* contribution = std::get_if<run::ContributionMessage>(&*message)) {
                home.announced_early = not_on_disk(home, *contribution);
            }
        });
}

}  // namespace potluck::sim
