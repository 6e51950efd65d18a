// Bit-identical states, kept so. Every status carries the digest of its sender's state; whoever differs from the
// majority with the same list fetches the pieces that differ. The piece layer of the true state says which those are,
// and is itself checked against the digest.

#include <algorithm>
#include <utility>

#include "core/base/merkle.h"
#include "core/peer/impl.h"

namespace potluck::peer {

using run::Verdict;

namespace {

/// Whether `layer` (hashes of `piece` bytes each) is the layer of a file of `size` bytes with this root.
bool layer_fits(const StateDigest& root, const std::vector<Digest>& layer, std::uint64_t size, std::size_t piece) {
    if (layer.empty()) return size <= piece;
    return merkle_root_of_layer(layer, size, piece) == root;
}

}  // namespace

/// Counts one comparison for every member and round, as soon as both digests are known.
void Peer::Impl::compare(const PeerId& peer, Member& who) {
    (void)peer;
    const run::StatusMessage& status = who.status;
    if (!keeper.round() || repair || status.round > *keeper.round() || status.round > chain.height() ||
        status.round.value == 0)
        return;
    if (who.compared && *who.compared >= status.round) return;
    if (status.phase == run::Phase::joining || status.list != chain.hash_at(RoundId{status.round.value - 1})) return;
    const std::optional<StateDigest> ours =
        status.round == *keeper.round() ? keeper.digest() : chain.digest_at(status.round);
    if (!ours) return;
    who.compared = status.round;
    ++digests_compared;
    if (*ours == status.digest) {
        ++digests_equal;
    } else if (status.round == *keeper.round()) {
        disputed = *keeper.round();
        vote();
    }
}

/// A dispute stays open until it is decided: more members may have come to the round since.
void Peer::Impl::vote_again() {
    if (!disputed || !keeper.round() || *disputed != *keeper.round()) return;
    if (now() >= voted_at + run::heartbeats_to_repeat * settings.heartbeat) vote();
}

void Peer::Impl::compare_all() {
    for (const PeerId& peer : alive_members()) {
        if (Member* member = members.find(peer)) compare(peer, *member);
    }
}

/// Digests differ at our round: the majority of those with our list is right; in a tie, whoever's disk is damaged is
/// not.
void Peer::Impl::vote() {
    if (repair || verifying || !in_step()) return;
    voted_at = now();
    const Digest list = chain.hash_at(RoundId{keeper.round()->value - 1});
    std::map<StateDigest, std::vector<PeerId>> votes;
    votes[keeper.digest()] = {context.self()};
    for (const auto& [peer, member] : members.all()) {
        const run::StatusMessage& status = member.status;
        if (status.round == *keeper.round() && status.list == list && status.phase != run::Phase::repairing) {
            votes[status.digest].push_back(peer);
        }
    }
    const auto best = std::max_element(votes.begin(), votes.end(), [](const auto& a, const auto& b) {
        return a.second.size() < b.second.size();
    });
    if (best->second.size() > votes[keeper.digest()].size()) {
        begin_repair(*keeper.round(), best->first, best->second);
        return;
    }
    for (const auto& [other, peers] : votes) {
        if (other == keeper.digest() || peers.size() < votes[keeper.digest()].size() || verified == keeper.round())
            continue;
        verifying = true;
        verified = keeper.round();
        // The state our digest was computed from may have been damaged: the one before it is checked too.
        std::vector<StateStore::Held> checked;
        for (const StateStore::Held& one : world.store.held()) {
            const bool near = one.round == *keeper.round() || one.round.next() == *keeper.round();
            const std::optional<StateDigest> recorded =
                one.round == *keeper.round() ? keeper.digest() : chain.digest_at(one.round);
            if (near && recorded) checked.push_back({one.round, *recorded});
        }
        keeper.verify(checked, [this, round = *keeper.round(), target = other,
                                sources = peers](const std::vector<RoundId>& damaged) {
            verifying = false;
            if (!damaged.empty() && keeper.round() == round && !repair) begin_repair(round, target, sources);
        });
        return;
    }
}

void Peer::Impl::begin_repair(RoundId round, const StateDigest& target, std::vector<PeerId> sources) {
    if (repair || !keeper.round()) return;
    std::erase(sources, context.self());
    repair = Repair{};
    repair->round = round;
    repair->digest = target;
    repair->sources = std::move(sources);
    repair->asked_at = now() - run::heartbeats_to_repeat * settings.heartbeat;
    machine.leave();
    candidates.clear();
    status_due = true;
    update_repair();
}

void Peer::Impl::update_repair() {
    if (!repair || repair->checking || keeper.applying()) return;
    if (now() < repair->asked_at + run::heartbeats_to_repeat * settings.heartbeat) return;
    if (repair->tries >= repair_tries_max) {
        fall_back();
        return;
    }
    ++repair->tries;
    repair->asked_at = now();
    if (repair->sources.empty()) repair->sources = alive_members();
    if (repair->sources.empty() || repair->fetching) return;
    const PeerId asked = repair->sources[repair->source++ % repair->sources.size()];
    repair->layer.clear();
    context.send(asked, run::LayerRequest{repair->digest, 0});
}

Verdict Peer::Impl::on_layer_request(const PeerId& from, const run::LayerRequest& request) {
    const std::vector<StateStore::Held> held = world.store.held();
    const auto wanted = [&](const StateStore::Held& one) { return one.digest == request.state; };
    const auto found = std::find_if(held.begin(), held.end(), wanted);
    if (found == held.end() || (repair && repair->round == found->round) || jobs.count() >= 16) return Verdict::stale;
    const RoundId round = found->round;
    seeder.publish_for_repair(round, request.state);
    jobs.run(
        [state = world.store.state(round), threads = settings.threads] {
            return merkle_layer(state.file, piece_size_of(state.file.size()), threads);
        },
        [this, from, request](const std::vector<Digest>& layer) {
            run::LayerMessage answer{request.state, request.first, {}};
            if (request.first < layer.size()) {
                const auto first = layer.begin() + static_cast<std::ptrdiff_t>(request.first);
                const std::size_t count = std::min(layer.size() - request.first, run::layer_hashes_max);
                answer.hashes.assign(first, first + static_cast<std::ptrdiff_t>(count));
            }
            context.send(from, answer);
        });
    return Verdict::accepted;
}

Verdict Peer::Impl::on_layer(const PeerId& from, const run::LayerMessage& message) {
    if (!repair || repair->fetching || repair->checking || message.state != repair->digest) return Verdict::stale;
    const std::uint64_t size = context.layout.file_size();
    const std::size_t piece = piece_size_of(size);
    const std::size_t whole = size <= piece ? 0 : static_cast<std::size_t>((size + piece - 1) / piece);
    if (message.first != repair->layer.size() || repair->layer.size() + message.hashes.size() > whole) {
        return Verdict::malformed;
    }
    repair->layer.insert(repair->layer.end(), message.hashes.begin(), message.hashes.end());
    repair->asked_at = now();
    if (repair->layer.size() < whole) {
        if (!message.hashes.empty()) {
            context.send(from, run::LayerRequest{repair->digest, static_cast<std::uint32_t>(repair->layer.size())});
        }
        return Verdict::accepted;
    }
    if (!layer_fits(repair->digest, repair->layer, size, piece)) {
        repair->layer.clear();
        return Verdict::malformed;
    }
    repair->fetching = true;
    const std::vector<StateStore::Held> held = world.store.held();
    const auto damaged = [&](const StateStore::Held& one) { return one.round == repair->round; };
    const bool copy = std::any_of(held.begin(), held.end(), damaged);
    FetchOptions options{.sources = repair->sources, .deadline = now(), .damaged_copy = {}, .layer = {}};
    if (copy) {
        options.damaged_copy = world.store.state_file(repair->round);
        options.layer = repair->layer;
    }
    world.swarm.fetch({repair->digest, size, run::BlobKind::plain, {}}, std::move(options));
    return Verdict::accepted;
}

void Peer::Impl::repaired_content(BlobPointer content) {
    if (repair->checking) return;
    repair->checking = true;
    keeper.adopt({repair->round, repair->digest}, std::move(content), [this](Status outcome) {
        if (!repair) return;
        world.swarm.forget(repair->digest);
        if (outcome.ok()) {
            repaired();
        } else {
            errors.report(outcome.error().message);
            fall_back();
        }
    });
}

void Peer::Impl::repaired() {
    const Repair done = *std::exchange(repair, std::nullopt);
    ++repairs;
    disputed.reset();
    keeper.hold({done.round, done.digest});
    if (done.round == chain.height() && chain.digest_at(done.round) != done.digest && done.round.value > 0) {
        // The ledger has the digest we computed from damaged bytes.
        const Status kept = chain.correct_result(done.digest);
        if (!kept.ok()) errors.report(kept.error().message);
    }
    contributor.reload();
    if (*keeper.round() == chain.height()) entered();
    scrub();
    advance();
}

/// Nobody could mend it: back to an older state that is sound, and forward again from payloads or a checkpoint.
void Peer::Impl::fall_back() {
    if (repair->fetching) world.swarm.forget(repair->digest);
    const RoundId broken = repair->round;
    repair.reset();
    fell_back = true;
    const StateDigest ours = keeper.digest();
    keeper.drop(broken);
    if (broken == chain.height() && chain.height().value > 0 && chain.digest_at(chain.height()) == ours) {
        // The digest on record may itself come from damaged bytes; the list is applied again.
        const auto last = chain.signed_list_at(RoundId{chain.height().value - 1});
        contributor.roll_back(RoundId{chain.height().value - 1});
        const Status taken = chain.retract(1);
        if (!taken.ok()) errors.report(taken.error().message);
        CheckedList checked;
        if (last && chain.check(*last, checked) == Verdict::accepted) {
            (void)add_candidate(std::move(checked), context.self());
        }
        for (Candidate& one : candidates) one.ripe_since = now();
    }
    contributor.stop_trainer();
    contributor.retry_now();
    keeper.fall_back([this] {
        if (keeper.round() && *keeper.round() == chain.height()) entered();
        advance();
    });
}

/// After a repair: older states that are damaged too are not kept.
void Peer::Impl::scrub() {
    std::vector<StateStore::Held> older;
    for (const StateStore::Held& one : world.store.held()) {
        if (one.round < *keeper.round()) older.push_back(one);
    }
    keeper.verify(older, [this](const std::vector<RoundId>& damaged) {
        for (const RoundId round : damaged) {
            if (keeper.round() != round && !contributor.anchored_at(round)) keeper.drop(round);
        }
    });
}

}  // namespace potluck::peer
