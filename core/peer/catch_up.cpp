// Getting to where the others are: what disk and ledger hold at start, lists from the history of others, a first state
// from a checkpoint, and the states in between from payloads. Three gaps, closed in this order:
//
//   no state           find_first_state: the newest checkpoint the chain confirms, else theta[0]
//   chain < members    ask_history: the lists from our height on, each with its committee's certificate
//   state < chain      catch_up_step: payloads of the next lists, or a checkpoint more than rounds_behind_few ahead
//
// Invariant: a list enters the chain only when it is committed, and when the base of the list after it confirms the
// state it leads to; the last list of a history waits to be applied like one that was just decided (rounds.cpp).
//
// Threads: the peer's. One history request is open at a time, to a different member each time.

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/peer/impl.h"

namespace potluck::peer {

using run::Verdict;

namespace {

constexpr int heartbeats_to_look_around = 3;  // before a lonely newcomer asks for the initial state
constexpr int heartbeats_for_history = 60;    // patience for the chain up to an advertised checkpoint
constexpr int heartbeats_for_answer = 3;      // to a history request
constexpr int heartbeats_for_the_end = 30;    // between questions for the closing list
constexpr Duration checkpoint_stalled_after{20'000};

}  // namespace

/// What survived the last time: the chain, the record, and the newest state that fits the chain.
void Peer::Impl::restore() {
    chain.load();
    moderation.load();
    ballots.load_evidence();
    ballots.enter();
    shortcut.publish_tables();
    contributor.restore();
    seeder.fetch_kept_payloads();
    keeper.restore([this](bool sound) {
        for (const StateStore::Held& one : world.store.held()) {
            if (one.round.value % manifest.recipe.checkpoint_every == 0) seeder.publish_checkpoint(one.round);
        }
        if (!sound) {
            repairer.begin(*keeper.newest(), members.neighbours());
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
        if (!members.is_neighbour(peer)) continue;
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
    fetch_first(RoundId{0}, manifest.initial_state, members.neighbours());
}

void Peer::Impl::fetch_first(RoundId round, const run::BlobRef& ref, std::vector<PeerId> sources) {
    checkpoint_fetch = CheckpointFetch{round, ref, false, 0, now()};
    world.swarm.fetch(ref, {.sources = std::move(sources), .deadline = now(), .damaged_copy = {}, .layer = {}});
}

/// Whether the fetch that is under way was given up: what a member says of a checkpoint is only a hint, and one that
/// brings nothing makes room for another's.
bool Peer::Impl::gave_up_checkpoint() {
    const double progress = world.swarm.progress(checkpoint_fetch->ref.root);
    if (progress != checkpoint_fetch->progress) checkpoint_fetch->moved_at = now();
    checkpoint_fetch->progress = progress;
    if (checkpoint_fetch->round.value == 0 || now() < checkpoint_fetch->moved_at + checkpoint_stalled_after)
        return false;
    references_failed.insert(checkpoint_fetch->ref);
    world.swarm.forget(std::exchange(checkpoint_fetch, std::nullopt)->ref.root);
    return true;
}

/// The newest advertised checkpoint that the chain confirms. Of several references to it that of a member whom the host
/// vouches for, because keys are free and the chain knows a checkpoint's root, but not its info-hash.
std::optional<Peer::Impl::CheckpointOffer> Peer::Impl::best_checkpoint(std::uint64_t round_min) const {
    std::optional<CheckpointOffer> best;
    for (const auto& [peer, member] : members.all()) {
        const run::StatusMessage& status = member.status;
        const RoundId round = status.checkpoint_round;
        // Only a neighbour can be asked for it.
        if (!members.is_neighbour(peer) || !checkpoint_fits(status) || round.value < round_min) continue;
        if (references_failed.contains(status.checkpoint)) continue;
        if (round > chain.height() || chain.digest_at(round) != status.checkpoint.root) continue;
        const bool trusted = chain.rules().trusts(members.person_of(peer));
        if (!best || std::pair(round, trusted) > std::pair(best->round, best->trusted)) {
            best = CheckpointOffer{round, status.checkpoint, trusted, {}};
        }
    }
    if (!best) return best;
    for (const auto& [peer, member] : members.all()) {
        if (member.status.checkpoint == best->ref) best->sources.push_back(peer);
    }
    return best;
}

/// Fetches the newest checkpoint if that beats replaying payloads.
void Peer::Impl::choose_checkpoint() {
    if (checkpoint_fetch && (checkpoint_fetch->adopting || gave_up_checkpoint())) return;
    if (checkpoint_fetch && checkpoint_fetch->round.value > 0) return;
    const bool stuck = stuck_since && now() >= *stuck_since + graces_to_give_up * manifest.recipe.grace;
    const std::uint64_t round_min =
        !keeper.round() ? 1 : keeper.round()->value + 1 + (stuck || fell_back ? 0 : rounds_behind_few);
    std::optional<CheckpointOffer> best = best_checkpoint(round_min);
    if (!best) return references_failed.clear();
    if (checkpoint_fetch) world.swarm.forget(std::exchange(checkpoint_fetch, std::nullopt)->ref.root);
    fetch_first(best->round, best->ref, std::move(best->sources));
}

void Peer::Impl::checkpoint_here(BlobPointer content) {
    if (checkpoint_fetch->adopting) return;
    errors.withdraw(Remedy::disk_limit);  // there was room for it
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
        const StateStore::Held taken{wanted.round, wanted.ref.root};
        const bool confirmed = wanted.round <= chain.height() && chain.digest_at(wanted.round) == wanted.ref.root;
        const bool useful = confirmed || rolls_back_to(taken);
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

/// Whether the next list takes the model back to this state, of a round that may lie before all lists that are held.
bool Peer::Impl::rolls_back_to(const StateStore::Held& state) const {
    if (!keeper.round()) return false;
    const CheckedList* decision = ballots.decision();
    const auto next = *keeper.round() < chain.height() ? chain.list_at(*keeper.round())
                      : decision != nullptr            ? std::optional(decision->list)
                                                       : std::nullopt;
    const run::HostAction* back = next ? next->roll_back() : nullptr;
    return back != nullptr && back->round == state.round && back->state.root == state.digest;
}

// What a short way asks and means (shortcut.h).

bool Peer::Impl::may_jump() const {
    const bool is_adopting = checkpoint_fetch && checkpoint_fetch->adopting;
    return !keeper.applying() && !keeper.checking() && !repairer.active() && !is_adopting;
}

RoundId Peer::Impl::checkpoint_offered() const {
    const auto newest = seeder.newest_checkpoint();
    return newest ? newest->round : RoundId{0};
}

void Peer::Impl::jumped(std::uint64_t accepted) {
    if (checkpoint_fetch) world.swarm.forget(std::exchange(checkpoint_fetch, std::nullopt)->ref.root);
    history.peer.reset();
    behind_since.reset();
    stuck_since.reset();
    contributor.skip(accepted);
    moderation.load();
    go_back();
    ballots.enter();
}

/// state < chain: the next state from the ledger's list, or a checkpoint if that is nearer.
void Peer::Impl::catch_up_step() {
    machine.leave();
    choose_checkpoint();
    if (checkpoint_fetch || !keeper.may_apply()) return;
    const RoundId until{std::min(chain.height().value, keeper.round()->value + rounds_fetched_ahead)};
    const auto next = chain.list_at(*keeper.round());
    if (!next) return;
    const bool here = payloads_here(*next);
    for (RoundId round = keeper.round()->next(); round < until; round = round.next()) {
        if (const auto list = chain.list_at(round)) (void)payloads_here(*list);
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
}

/// Anybody can say to be ahead, under any number of keys, and each who does not answer costs time: every other question
/// goes to a member whom the host vouches for, if one is ahead.
PeerId Peer::Impl::history_source(const std::vector<PeerId>& ahead) {
    std::vector<PeerId> trusted;
    std::copy_if(ahead.begin(), ahead.end(), std::back_inserter(trusted),
                 [&](const PeerId& peer) { return chain.rules().trusts(members.person_of(peer)); });
    const std::uint64_t turn = history.turn++;
    if (trusted.empty()) return ahead[turn % ahead.size()];
    const std::vector<PeerId>& asked = turn % 2 == 0 ? trusted : ahead;
    return asked[turn / 2 % asked.size()];
}

void Peer::Impl::ask_history() {
    if (keeper.applying() || keeper.checking() || shortcut.active()) return;
    if (history.peer && now() < history.at + heartbeats_for_answer * settings.heartbeat) return;
    history.peer.reset();
    std::vector<PeerId> ahead;
    bool one_ahead = false;
    for (const auto& [peer, member] : members.all()) {
        if (!members.is_neighbour(peer)) continue;
        const RoundId theirs = member.status.round;
        one_ahead = one_ahead || theirs == chain.height().next();
        const bool lost_list = theirs == chain.height().next() && behind_since &&
                               now() >= *behind_since + run::heartbeats_to_repeat * settings.heartbeat;
        if (theirs > chain.height().next() || lost_list) ahead.push_back(peer);
    }
    if (!one_ahead) behind_since.reset();
    if (one_ahead && !behind_since) behind_since = now();
    const bool lacks_the_end =
        over() && !chain.closed() && now() >= history.at + heartbeats_for_the_end * settings.heartbeat;
    if (ahead.empty() && lacks_the_end) ahead = members.neighbours();
    if (ahead.empty()) return;
    history.peer = history_source(ahead);
    history.at = now();
    context.send(*history.peer, run::HistoryRequest{chain.height()});
}

Verdict Peer::Impl::on_history_request(const PeerId& from, const run::HistoryRequest& request) {
    // The answer before has not left yet: a second one would only fill memory.
    if (world.swarm.unsent(from) >= history_unsent_max) return Verdict::repeated;
    if (request.first >= (chain.closed() ? chain.height().next() : chain.height())) return Verdict::stale;
    run::HistoryMessage answer{chain.committed_from(request.first, run::lists_per_history_max)};
    keep_what_fits(answer.lists);
    tell_actions({from});  // without them it may not understand the lists
    context.send(from, answer);
    return Verdict::accepted;
}

Verdict Peer::Impl::on_history(const PeerId& from, const run::HistoryMessage& message) {
    if (history.peer != from || message.lists.empty()) return Verdict::stale;
    history.peer.reset();
    if (keeper.applying()) return Verdict::stale;
    std::vector<CheckedList> fresh;
    run::RunRules rules = chain.rules();
    for (const run::CommittedList& one : message.lists) {
        CheckedList checked;
        const run::AcceptList* previous = fresh.empty() ? chain.head() : &fresh.back().list;
        const Verdict verdict = chain.check(one, previous, rules, checked);
        if (verdict != Verdict::accepted) return verdict;
        for (const run::SignedAction& action : checked.list.actions) rules.apply(action.action);
        fresh.push_back(std::move(checked));
    }
    const RoundId before = chain.height();
    extend_chain(std::move(fresh));
    // A decision that is not applied yet: the next answer would bring it once more.
    if (chain.height() == before) history.peer = from;
    return Verdict::accepted;
}

/// Lists that follow on our chain. Each but the last is confirmed by the base of the next; the last is the decision of
/// its round.
void Peer::Impl::extend_chain(std::vector<CheckedList> lists) {
    for (std::size_t i = 0; i + 1 < lists.size(); ++i) {
        if (!import_list(lists[i], lists[i + 1].list.base)) return;
    }
    ballots.learn(std::move(lists.back()));
}

bool Peer::Impl::import_list(const CheckedList& checked, const StateDigest& result) {
    if (chain.digest_at(chain.height()) != checked.list.base) {
        // Ours is what this computer made of the list before; a quorum has made something else of it.
        const Status corrected =
            chain.height().value == 0
                ? Status(Error{ErrorCode::untrusted,
                               "The first list of the history has another base than the run's model."})
                : chain.correct_result(checked.list.base);
        if (!corrected.ok()) {
            errors.report(corrected.error().message);
            return false;
        }
    }
    const Status kept = chain.append(checked, result);
    if (!kept.ok()) {
        errors.report(kept.error().message);
        return false;
    }
    appended(checked);
    return true;
}

}  // namespace potluck::peer
