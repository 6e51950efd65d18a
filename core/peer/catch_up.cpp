// Getting to where the others are: what disk and ledger hold at start, lists from the history of others, a first state
// from a checkpoint, and the states in between from payloads. Three gaps, closed in this order:
//
//   no state           find_first_state: the newest checkpoint the chain confirms, else theta[0]
//   chain < members    ask_history: lists from just below our head, or from further back until they meet our chain
//   state < chain      catch_up_step: payloads of the next lists, or a checkpoint more than rounds_behind_few ahead
//
// Invariant: a list enters the chain only when the base of the list after it, or most members at its round, confirm the
// state it leads to; the last list of a history is a candidate like any other (chain.cpp). Lists whose payloads nobody
// has are taken back, and the run goes on from our state.
//
// Threads: the peer's. One history request is open at a time, to a different member each time.

#include <algorithm>
#include <utility>

#include "core/peer/impl.h"

namespace potluck::peer {

using run::Verdict;

namespace {

constexpr int heartbeats_to_look_around = 3;  // before a lonely newcomer asks for the initial state
constexpr int heartbeats_for_history = 60;    // patience for the chain up to an advertised checkpoint
constexpr int heartbeats_for_answer = 3;      // to a history request
constexpr Duration checkpoint_stalled_after{120'000};

}  // namespace

/// What survived the last time: the chain, the record, and the newest state that fits the chain.
void Peer::Impl::restore() {
    chain.load();
    contributor.restore();
    seeder.fetch_kept_payloads();
    keeper.restore([this](bool sound) {
        for (const StateStore::Held& one : world.store.held()) {
            if (one.round.value % manifest.recipe.checkpoint_every == 0) seeder.publish_checkpoint(one.round);
        }
        if (!sound) {
            repairer.begin(*keeper.newest(), members.ids());
        } else if (*keeper.round() == chain.height()) {
            entered();
        }
        advance();
    });
}

bool Peer::Impl::checkpoint_fits(const run::StatusMessage& status) const {
    return status.checkpoint.size == context.layout.file_size() && status.checkpoint_round.value > 0 &&
           !checkpoints_refused.contains(status.checkpoint.root);
}

void Peer::Impl::find_first_state() {
    if (keeper.checking() || keeper.applying()) return;
    RoundId newest{0}, furthest{0};
    for (const auto& [peer, member] : members.all()) {
        if (checkpoint_fits(member.status)) newest = std::max(newest, member.status.checkpoint_round);
        furthest = std::max(furthest, member.status.round);
    }
    choose_checkpoint();
    if (checkpoint_fetch) return;
    const bool checkpoint_expected =
        newest.value > rounds_behind_few && now() < started_at + heartbeats_for_history * settings.heartbeat;
    if (checkpoint_expected) return;
    const bool here = world.swarm.blob(manifest.initial_state.root) != nullptr;
    const bool alone = members.all().empty() && now() < started_at + heartbeats_to_look_around * settings.heartbeat;
    if (!here && alone) return;
    fetch_first(RoundId{0}, manifest.initial_state, members.ids());
}

void Peer::Impl::fetch_first(RoundId round, const run::BlobRef& ref, std::vector<PeerId> sources) {
    checkpoint_fetch = CheckpointFetch{round, ref, false, 0, now()};
    world.swarm.fetch(ref, {.sources = std::move(sources), .deadline = now(), .damaged_copy = {}, .layer = {}});
}

/// The newest advertised checkpoint that the chain confirms, if fetching it beats replaying payloads.
void Peer::Impl::choose_checkpoint() {
    if (checkpoint_fetch) {
        if (checkpoint_fetch->adopting) return;
        const double progress = world.swarm.progress(checkpoint_fetch->ref.root);
        if (progress != checkpoint_fetch->progress) checkpoint_fetch->moved_at = now();
        checkpoint_fetch->progress = progress;
    }
    const bool stuck = stuck_since && now() >= *stuck_since + graces_to_give_up * manifest.recipe.grace;
    const std::uint64_t least =
        !keeper.round() ? 1 : keeper.round()->value + 1 + (stuck || fell_back ? 0 : rounds_behind_few);
    std::optional<run::BlobRef> best;
    RoundId best_round{0};
    std::vector<PeerId> sources;
    for (const auto& [peer, member] : members.all()) {
        const run::StatusMessage& status = member.status;
        if (!checkpoint_fits(status) || status.checkpoint_round.value < least) continue;
        if (status.checkpoint_round.value == chain.height().value + 1) confirm_head_by_votes(status.checkpoint_round);
        if (status.checkpoint_round > chain.height() ||
            chain.digest_at(status.checkpoint_round) != status.checkpoint.root)
            continue;
        if (!best || status.checkpoint_round > best_round) {
            best = status.checkpoint;
            best_round = status.checkpoint_round;
            sources.clear();
        }
        if (best->root == status.checkpoint.root) sources.push_back(peer);
    }
    if (!best) return;
    if (checkpoint_fetch) {
        const bool stalled = now() >= checkpoint_fetch->moved_at + checkpoint_stalled_after;
        if (best_round <= checkpoint_fetch->round || (checkpoint_fetch->round.value > 0 && !stalled)) return;
        world.swarm.forget(std::exchange(checkpoint_fetch, std::nullopt)->ref.root);
    }
    fetch_first(best_round, *best, std::move(sources));
}

/// A checkpoint of theta[chain + 1] is confirmed by no list yet; most members at that round, signing the same digest
/// for the list that is at hand, confirm it as well.
void Peer::Impl::confirm_head_by_votes(RoundId round) {
    if (keeper.applying()) return;
    std::map<std::pair<Digest, StateDigest>, std::size_t> votes;
    std::size_t voters = 0;
    for (const auto& [peer, member] : members.all()) {
        if (member.status.round != round) continue;
        ++voters;
        ++votes[{member.status.list, member.status.digest}];
    }
    for (const auto& [vote, count] : votes) {
        if (2 * count <= voters) continue;
        for (const Candidate& one : candidates) {
            if (one.checked.hash != vote.first) continue;
            const CheckedList chosen = one.checked;
            (void)import_list(chosen, vote.second);
            return;
        }
    }
}

void Peer::Impl::checkpoint_here(BlobPointer content) {
    if (checkpoint_fetch->adopting) return;
    checkpoint_fetch->adopting = true;
    const CheckpointFetch wanted = *checkpoint_fetch;
    keeper.adopt({wanted.round, wanted.ref.root}, std::move(content), [this, wanted](Status outcome) {
        checkpoint_fetch.reset();
        if (!outcome.ok()) {
            errors.report(outcome.error().message);
            if (wanted.round.value > 0) checkpoints_refused.insert(wanted.ref.root);
            keeper.retry_later();
            return;
        }
        if (wanted.round.value > 0) world.swarm.forget(wanted.ref.root);
        stuck_since.reset();
        const bool useful = wanted.round <= chain.height() && chain.digest_at(wanted.round) == wanted.ref.root;
        if (!useful || (keeper.round() && *keeper.round() >= wanted.round)) {
            if (!useful) keeper.drop(wanted.round);
            return;
        }
        keeper.hold({wanted.round, wanted.ref.root});
        if (wanted.round.value > 0) seeder.publish_checkpoint(wanted.round);
        if (*keeper.round() == chain.height()) entered();
        advance();
    });
}

/// state < chain: the next state from the ledger's list, or a checkpoint if that is nearer.
void Peer::Impl::catch_up_step() {
    machine.leave();
    choose_checkpoint();
    if (checkpoint_fetch || !keeper.may_apply()) return;
    const RoundId until{std::min(chain.height().value, keeper.round()->value + rounds_fetched_ahead)};
    const auto next = chain.list_at(*keeper.round());
    if (!next) return;
    const bool here = payloads_here(*next, {});
    for (RoundId round = keeper.round()->next(); round < until; round = round.next()) {
        if (const auto list = chain.list_at(round)) (void)payloads_here(*list, {});
    }
    if (here) {
        apply(*next, nullptr);
    } else {
        wait_for_payloads(*next);
    }
}

void Peer::Impl::wait_for_payloads(const run::AcceptList& list) {
    double progress = 0;
    for (const run::Accepted& entry : list.entries) progress += world.swarm.progress(entry.payload.root);
    if (!stuck_since || progress != stuck_progress) stuck_since = now();
    stuck_progress = progress;
    if (now() >= *stuck_since + 2 * graces_to_give_up * manifest.recipe.grace) take_back_unreachable();
}

/// Nobody has the payloads of lists that were imported: they are taken back, and the run goes on from our state.
void Peer::Impl::take_back_unreachable() {
    errors.report("Contributions that others accepted cannot be fetched; going on without them.");
    stuck_since.reset();
    if (branches_refused.size() >= branches_refused_max) branches_refused.clear();
    branches_refused[chain.hash_at(*keeper.round())] = now() + branch_refused_for;
    contributor.roll_back(*keeper.round());
    const Status taken = chain.retract(chain.height().value - keeper.round()->value);
    if (!taken.ok()) errors.report(taken.error().message);
    candidates.clear();
    ++rounds_lost;
    if (*keeper.round() == chain.height()) entered();
}

/// A member at or near our round that names another list than ours.
bool Peer::Impl::chain_differs(const run::StatusMessage& status) const {
    if (status.round.value == 0 || status.round > chain.height()) return false;
    if (status.round.value + run::fork_depth_max < chain.height().value) return false;
    return status.list != chain.hash_at(RoundId{status.round.value - 1});
}

void Peer::Impl::ask_history() {
    if (keeper.applying() || keeper.checking()) return;
    if (history.peer && now() < history.at + heartbeats_for_answer * settings.heartbeat) return;
    history.peer.reset();
    std::vector<PeerId> ahead;
    bool one_ahead = false;
    for (const auto& [peer, member] : members.all()) {
        const RoundId theirs = member.status.round;
        one_ahead = one_ahead || theirs == chain.height().next();
        const bool lost_list = theirs == chain.height().next() && behind_since &&
                               now() >= *behind_since + run::heartbeats_to_repeat * settings.heartbeat;
        if (theirs > chain.height().next() || lost_list || chain_differs(member.status)) ahead.push_back(peer);
    }
    if (!one_ahead) behind_since.reset();
    if (one_ahead && !behind_since) behind_since = now();
    if (ahead.empty()) {
        history.back = history_overlap;
        return;
    }
    const PeerId asked = ahead[history.turn++ % ahead.size()];
    const RoundId near = std::min(chain.height(), members.find(asked)->status.round);
    history.peer = asked;
    history.at = now();
    context.send(asked, run::HistoryRequest{RoundId{near.value > history.back ? near.value - history.back : 0}});
}

Verdict Peer::Impl::on_history_request(const PeerId& from, const run::HistoryRequest& request) {
    if (request.first >= chain.height()) return Verdict::stale;
    run::HistoryMessage answer;
    std::size_t bytes = 64;
    for (run::SignedList& one : chain.signed_lists(request.first, run::lists_per_history_max)) {
        bytes += one.list.size() + one.signature.size() + 16;
        if (bytes > run::message_bytes_max) break;
        answer.lists.push_back(std::move(one));
    }
    context.send(from, answer);
    return Verdict::accepted;
}

Verdict Peer::Impl::on_history(const PeerId& from, const run::HistoryMessage& message) {
    if (history.peer != from || message.lists.empty()) return Verdict::stale;
    history.peer.reset();
    if (keeper.applying()) return Verdict::stale;
    std::vector<CheckedList> fresh;
    std::optional<run::AcceptList> previous;
    bool other_state = false;
    for (const run::SignedList& one : message.lists) {
        CheckedList checked;
        Verdict verdict = chain.check(one, checked);
        if (verdict != Verdict::accepted) return verdict;
        const RoundId round = checked.list.round;
        if (fresh.empty()) {
            if (round > chain.height()) return Verdict::stale;
            if (round < chain.height() && checked.hash == chain.hash_at(round)) continue;
            previous = round.value == 0 ? std::nullopt : chain.list_at(RoundId{round.value - 1});
        }
        verdict = run::check_link(checked.list, previous ? &*previous : nullptr, context.rules);
        if (verdict == Verdict::wrong_base && fresh.empty()) history.back *= 4;  // the fork lies further back
        if (verdict != Verdict::accepted) return verdict;
        if (fresh.empty()) other_state = chain.digest_at(round) != checked.list.base;
        previous = checked.list;
        fresh.push_back(std::move(checked));
    }
    if (fresh.empty()) return Verdict::repeated;
    history.back = history_overlap;
    const RoundId fork = fresh.front().list.round;
    if (other_state) {
        consider_correction(std::move(fresh));
        return Verdict::wrong_base;
    }
    const bool catching_up = !keeper.round() || *keeper.round() < chain.height();
    if (fork == chain.height() && (catching_up || fresh.size() == 1)) {
        extend_chain(std::move(fresh), from);
    } else {
        consider_branch({fork, std::move(fresh), false});
    }
    return Verdict::accepted;
}

/// Lists that follow on our chain. Each but the last is confirmed by the base of the next; the last is a candidate.
void Peer::Impl::extend_chain(std::vector<CheckedList> lists, const PeerId& from) {
    for (std::size_t i = 0; i + 1 < lists.size(); ++i) {
        if (!import_list(lists[i], lists[i + 1].list.base)) return;
    }
    if (lists.empty()) return;
    const Digest hash = lists.back().hash;
    (void)add_candidate(std::move(lists.back()), from);
    for (Candidate& one : candidates) {
        if (one.checked.hash == hash && from == context.self()) one.eligible_since = now();
    }
}

bool Peer::Impl::import_list(const CheckedList& checked, const StateDigest& result) {
    if (checked.list.round != chain.height() || chain.digest_at(chain.height()) != checked.list.base) return false;
    const Status kept = chain.append(checked, result);
    if (!kept.ok()) {
        errors.report(kept.error().message);
        return false;
    }
    appended(checked);
    return true;
}

}  // namespace potluck::peer
