// Bit-identical states, kept so. Every status carries the digest of its sender's state; whoever differs from the
// majority with the same list fetches the pieces that differ. The piece layer of the true state says which those are,
// and is itself checked against the digest.

#include <algorithm>
#include <utility>

#include "core/base/sha256.h"
#include "core/peer/impl.h"

namespace potluck::peer {

using run::Verdict;

namespace {

Digest hash_pair(const Digest& left, const Digest& right) {
    Sha256 hash;
    hash.update(left.bytes);
    hash.update(right.bytes);
    return hash.finish();
}

/// Whether `layer` (hashes of `piece` bytes each) is the layer of a file of `size` bytes with this root.
bool layer_fits(const StateDigest& root, std::vector<Digest> layer, std::uint64_t size, std::size_t piece) {
    if (layer.empty()) return size <= piece;
    if (layer.size() != (size + piece - 1) / piece) return false;
    Digest padding{};  // of a piece-sized subtree of missing blocks
    for (std::size_t covered = merkle_block_size; covered < piece; covered *= 2) padding = hash_pair(padding, padding);
    while (layer.size() > 1) {
        if (layer.size() % 2 == 1) layer.push_back(padding);
        for (std::size_t i = 0; i < layer.size() / 2; ++i) layer[i] = hash_pair(layer[2 * i], layer[2 * i + 1]);
        layer.resize(layer.size() / 2);
        padding = hash_pair(padding, padding);
    }
    return layer.front().bytes == root.bytes;
}

}  // namespace

/// Counts one comparison for every member and round, as soon as both digests are known.
void Peer::Impl::compare(const PeerId& peer, Member& who) {
    (void)peer;
    const run::StatusMessage& status = who.status;
    if (!state || repair || status.round > *state || status.round > chain || status.round.value == 0) return;
    if (who.compared && *who.compared >= status.round) return;
    if (status.phase == run::Phase::joining || status.list != list_hash(RoundId{status.round.value - 1})) return;
    const std::optional<StateDigest> ours = status.round == *state ? digest : digest_at(status.round);
    if (!ours) return;
    who.compared = status.round;
    ++digests_compared;
    if (*ours == status.digest) {
        ++digests_equal;
    } else if (status.round == *state) {
        disputed = *state;
        vote();
    }
}

/// A dispute stays open until it is decided: more members may have come to the round since.
void Peer::Impl::vote_again() {
    if (!disputed || !state || *disputed != *state) return;
    if (now >= voted_at + run::heartbeats_to_repeat * settings.heartbeat) vote();
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
    voted_at = now;
    const Digest list = list_hash(RoundId{state->value - 1});
    std::map<StateDigest, std::vector<PeerId>> votes;
    votes[digest] = {world.identity.id()};
    for (const auto& [peer, member] : members.all()) {
        const run::StatusMessage& status = member.status;
        if (status.round == *state && status.list == list && status.phase != run::Phase::repairing) {
            votes[status.digest].push_back(peer);
        }
    }
    const auto best = std::max_element(votes.begin(), votes.end(), [](const auto& a, const auto& b) {
        return a.second.size() < b.second.size();
    });
    if (best->second.size() > votes[digest].size()) {
        begin_repair(*state, best->first, best->second);
        return;
    }
    for (const auto& [other, peers] : votes) {
        if (other == digest || peers.size() < votes[digest].size() || verified == state) continue;
        verifying = true;
        verified = state;
        // The state our digest was computed from may have been damaged: the one before it is checked too.
        auto sound = std::make_shared<bool>(true);
        const auto check = [this, sound](RoundId round) {
            const std::optional<StateDigest> recorded = round == *state ? digest : digest_at(round);
            for (const StateStore::Held& one : world.store.held()) {
                if (one.round != round || !recorded) continue;
                const Result<StateDigest> found = world.store.verify_state(round);
                *sound = *sound && found.ok() && *found == *recorded;
            }
        };
        offload(
            [check, round = *state] {
                check(round);
                if (round.value > 0) check(RoundId{round.value - 1});
            },
            [this, sound, round = *state, target = other, sources = peers] {
                verifying = false;
                if (!*sound && state == round && !repair) begin_repair(round, target, sources);
            });
        return;
    }
}

void Peer::Impl::begin_repair(RoundId round, const StateDigest& target, std::vector<PeerId> sources) {
    if (repair || !state) return;
    std::erase(sources, world.identity.id());
    repair = Repair{};
    repair->round = round;
    repair->digest = target;
    repair->sources = std::move(sources);
    repair->asked_at = now - run::heartbeats_to_repeat * settings.heartbeat;
    machine.leave();
    candidates.clear();
    say_status_soon = true;
    tend_repair();
}

void Peer::Impl::tend_repair() {
    if (!repair || repair->checking || applying) return;
    if (now < repair->asked_at + run::heartbeats_to_repeat * settings.heartbeat) return;
    if (repair->tries >= repair_tries_max) {
        fall_back();
        return;
    }
    ++repair->tries;
    repair->asked_at = now;
    if (repair->sources.empty()) repair->sources = alive_members();
    if (repair->sources.empty() || repair->fetching) return;
    const PeerId asked = repair->sources[repair->source++ % repair->sources.size()];
    repair->layer.clear();
    send(asked, run::LayerRequest{repair->digest, 0});
}

Verdict Peer::Impl::on_layer_request(const PeerId& from, const run::LayerRequest& request) {
    const std::vector<StateStore::Held> held = world.store.held();
    const auto wanted = [&](const StateStore::Held& one) { return one.digest == request.state; };
    const auto found = std::find_if(held.begin(), held.end(), wanted);
    if (found == held.end() || (repair && repair->round == found->round) || jobs >= 16) return Verdict::stale;
    const RoundId round = found->round;
    pinned[round] = now + state_pinned_for;
    const std::filesystem::path file = world.store.state_file(round);
    if (lent.insert(file).second) {
        world.swarm.publish_file(file, request.state.hex() + ".safetensors", run::BlobKind::plain);
    }
    auto layer = std::make_shared<std::vector<Digest>>();
    const ByteSpan bytes = world.store.state_bytes(round);
    offload([this, bytes, layer] { *layer = merkle_layer(bytes, piece_size_of(bytes.size()), settings.threads); },
            [this, from, layer, request] {
                run::LayerMessage answer{request.state, request.first, {}};
                if (request.first < layer->size()) {
                    const auto first = layer->begin() + static_cast<std::ptrdiff_t>(request.first);
                    const std::size_t count = std::min(layer->size() - request.first, run::layer_hashes_max);
                    answer.hashes.assign(first, first + static_cast<std::ptrdiff_t>(count));
                }
                send(from, answer);
            });
    return Verdict::accepted;
}

Verdict Peer::Impl::on_layer(const PeerId& from, const run::LayerMessage& message) {
    if (!repair || repair->fetching || repair->checking || message.state != repair->digest) return Verdict::stale;
    const std::uint64_t size = layout.file_size();
    const std::size_t piece = piece_size_of(size);
    const std::size_t whole = size <= piece ? 0 : static_cast<std::size_t>((size + piece - 1) / piece);
    if (message.first != repair->layer.size() || repair->layer.size() + message.hashes.size() > whole) {
        return Verdict::malformed;
    }
    repair->layer.insert(repair->layer.end(), message.hashes.begin(), message.hashes.end());
    repair->asked_at = now;
    if (repair->layer.size() < whole) {
        if (!message.hashes.empty()) {
            send(from, run::LayerRequest{repair->digest, static_cast<std::uint32_t>(repair->layer.size())});
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
    FetchOptions options{.sources = repair->sources, .deadline = now, .damaged_copy = {}, .layer = {}};
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
    auto outcome = std::make_shared<Status>();
    const auto work = [this, round = repair->round, target = repair->digest, content = std::move(content), outcome] {
        *outcome = world.store.adopt_state(round, target, content->bytes());
    };
    offload(work, [this, outcome] {
        if (!repair) return;
        world.swarm.forget(repair->digest);
        if (outcome->ok()) {
            repaired();
        } else {
            trouble(outcome->error().message);
            fall_back();
        }
    });
}

void Peer::Impl::repaired() {
    const Repair done = *std::exchange(repair, std::nullopt);
    ++repairs;
    disputed.reset();
    state = done.round;
    digest = done.digest;
    if (done.round == chain && digest_at(done.round) != done.digest && done.round.value > 0) {
        // The ledger has the digest we computed from damaged bytes.
        const auto last = world.ledger.list(run, RoundId{chain.value - 1});
        Status kept = world.ledger.retract(run, 1);
        if (kept.ok() && last) kept = world.ledger.append(*last, done.digest, unix_seconds());
        if (!kept.ok()) trouble(kept.error().message);
        reload_head();
    }
    if (training.running && !training.stopping) {
        // What the trainer holds was drawn from damaged bytes.
        training.loaded = false;
        training.mark = {Mark::Kind::state, *state};
        world.trainer->start(manifest, world.store.state_place(*state));
    }
    if (*state == chain) entered();
    scrub();
    advance();
}

/// Nobody could mend it: back to an older state that is sound, and forward again from payloads or a checkpoint.
void Peer::Impl::fall_back() {
    if (repair->fetching) world.swarm.forget(repair->digest);
    const RoundId broken = repair->round;
    repair.reset();
    fell_back = true;
    const StateDigest ours = digest;
    world.store.drop_state(broken);
    checkpoints.erase(broken);
    if (broken == chain && chain.value > 0 && digest_at(chain) == ours) {
        // The digest on record may itself come from damaged bytes; the list is applied again.
        const auto last = world.ledger.list(run, RoundId{chain.value - 1});
        unwind_own(RoundId{chain.value - 1});
        const Status taken = world.ledger.retract(run, 1);
        if (!taken.ok()) trouble(taken.error().message);
        reload_head();
        CheckedList checked;
        if (last && open_list(*last, checked) == Verdict::accepted) {
            (void)add_candidate(std::move(checked), world.identity.id());
        }
        for (Candidate& one : candidates) one.ripe_since = now;
    }
    state.reset();
    stop_trainer();
    training.retry_at = now;
    checking_start = true;
    auto best = std::make_shared<std::optional<StateStore::Held>>();
    std::vector<StateStore::Held> fitting;
    for (const StateStore::Held& one : world.store.held()) {
        if (one.round <= chain && one.digest == digest_at(one.round)) fitting.push_back(one);
    }
    const auto work = [this, fitting, best] {
        for (const StateStore::Held& one : fitting) {
            const Result<StateDigest> found = world.store.verify_state(one.round);
            if (found.ok() && *found == one.digest) *best = one;
        }
    };
    offload(work, [this, fitting, best] {
        checking_start = false;
        for (const StateStore::Held& one : fitting) {
            if (!*best || one.round > (*best)->round) world.store.drop_state(one.round);
        }
        if (*best) {
            state = (*best)->round;
            digest = (*best)->digest;
            if (*state == chain) entered();
        }
        advance();
    });
}

/// After a repair: older states that are damaged too are not kept.
void Peer::Impl::scrub() {
    auto damaged = std::make_shared<std::vector<RoundId>>();
    std::vector<StateStore::Held> older;
    for (const StateStore::Held& one : world.store.held()) {
        if (one.round < *state) older.push_back(one);
    }
    const auto work = [this, older, damaged] {
        for (const StateStore::Held& one : older) {
            const Result<StateDigest> found = world.store.verify_state(one.round);
            if (!found.ok() || *found != one.digest) damaged->push_back(one.round);
        }
    };
    offload(work, [this, damaged] {
        for (const RoundId round : *damaged) {
            const bool in_use = training.mark.kind == Mark::Kind::state && training.mark.round == round;
            if (state != round && !in_use) {
                world.store.drop_state(round);
                checkpoints.erase(round);
            }
        }
    });
}


}  // namespace potluck::peer
