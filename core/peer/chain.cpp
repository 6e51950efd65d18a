// Accept lists: checking, choosing, applying. Changing to another branch is at the end of the file.
//
// A list for our next round is a candidate. Once it is eligible (round_machine.h) and its payloads are here, F is run,
// and only when theta[r+1] is on disk does the list enter the ledger (state_keeper.h). A list whose payloads do not
// come is given up, which moves the round to the next view; every member that lacks them does the same.
//
// A rival branch is kept if other_branch_wins() says so, and taken once at least half of the others follow it or its
// payloads are here, and no job uses the present branch. Then own contributions are rolled back, lists retracted, and
// the state goes back to the fork. advance() runs whatever has become possible, at most four times in a row; the next
// tick goes on from there.
//
// Threads: the peer's.

#include <algorithm>
#include <utility>

#include "core/peer/impl.h"

namespace potluck::peer {

using run::Verdict;

/// `checked` is in the ledger now, at its end.
void Peer::Impl::appended(const CheckedList& checked) {
    candidates.clear();
    contributor.settle(checked.list.round, checked.list);
}

Verdict Peer::Impl::on_list(const PeerId& from, const run::ListMessage& message) {
    CheckedList checked;
    Verdict verdict = chain.check(message.list, checked);
    if (verdict != Verdict::accepted) return verdict;
    const RoundId round = checked.list.round;
    if (round > chain.height()) return Verdict::stale;  // history brings it, in order
    if (round == chain.height()) return add_candidate(std::move(checked), from);
    if (checked.hash == chain.hash_at(round)) return Verdict::repeated;
    const auto previous = round.value == 0 ? std::nullopt : chain.list_at(RoundId{round.value - 1});
    verdict = run::check_link(checked.list, previous ? &*previous : nullptr, context.rules);
    if (verdict != Verdict::accepted) return verdict;
    if (chain.digest_at(round) != checked.list.base) return Verdict::wrong_base;
    RivalBranch branch{round, {}, false};
    branch.lists.push_back(std::move(checked));
    consider_branch(std::move(branch));
    return Verdict::accepted;
}

Verdict Peer::Impl::add_candidate(CheckedList checked, const PeerId& from) {
    const Verdict link = run::check_link(checked.list, chain.head(), context.rules);
    if (link != Verdict::accepted) return link;
    if (chain.digest_at(chain.height()) != checked.list.base) return Verdict::wrong_base;
    const auto same = [&](const Candidate& one) { return one.checked.hash == checked.hash; };
    if (std::any_of(candidates.begin(), candidates.end(), same)) return Verdict::repeated;
    if (candidates.size() >= candidates_max) return Verdict::flood;
    (void)payloads_here(checked.list, {from});
    candidates.push_back({std::move(checked), std::nullopt, 0, now()});
    return Verdict::accepted;
}

void Peer::Impl::sign_list(const run::AcceptList& list) {
    CheckedList checked;
    checked.signed_list.list = list.encode();
    checked.list = list;
    checked.hash = list.hash();
    checked.signed_list.signature = world.identity.sign(run::accept_list_domain, checked.signed_list.list);
    context.broadcast(run::ListMessage{checked.signed_list});
    (void)add_candidate(std::move(checked), context.self());
}

/// Does whatever can be done next. Events that arrive meanwhile ask for another turn instead of nesting.
void Peer::Impl::advance() {
    if (!started || gone) return;
    if (std::exchange(advancing, true)) {
        advance_again = true;
        return;
    }
    // One event leads to at most a list, its payloads and a state; more turns than that would be a loop.
    for (int turn = 0; turn < 4; ++turn) {
        advance_again = false;
        if (!keeper.round()) {
            find_first_state();
        } else if (!repairer.active()) {
            if (rival) try_branch();
            if (keeper.round() && *keeper.round() < chain.height()) {
                catch_up_step();
            } else if (in_step() && !over()) {
                try_candidates();
            }
        }
        if (!advance_again) break;
    }
    advancing = false;
}

void Peer::Impl::apply(const run::AcceptList& list, std::shared_ptr<const CheckedList> fresh) {
    std::vector<PayloadPointer> held;
    for (const run::Accepted& entry : list.entries) held.push_back(payloads.find(entry.payload.root));
    keeper.apply(list, std::move(held), std::move(fresh));
}

/// Whether every payload of `list` is here and sound; asks for those that are not.
bool Peer::Impl::payloads_here(const run::AcceptList& list, const std::vector<PeerId>& sources) {
    bool all = true;
    for (const run::Accepted& entry : list.entries) {
        std::vector<PeerId> holders{entry.peer, list.leader};
        holders.insert(holders.end(), sources.begin(), sources.end());
        payloads.want(entry.payload, list.round, std::move(holders), now());
        all = all && payloads.find(entry.payload.root) != nullptr;
    }
    return all;
}

/// The best applicable list: lowest view, then lowest hash.
Candidate* Peer::Impl::eligible_candidate() {
    Candidate* best = nullptr;
    for (Candidate& one : candidates) {
        if (one.checked.list.view < machine.view_min()) continue;
        if (!one.eligible_since && !machine.is_eligible(one.checked.list, now())) continue;
        if (!one.eligible_since) one.eligible_since = now();
        const auto key = [](const Candidate& c) { return std::pair(c.checked.list.view, c.checked.hash); };
        if (best == nullptr || key(one) < key(*best)) best = &one;
    }
    return best;
}

void Peer::Impl::try_candidates() {
    if (!keeper.may_apply() || !machine.playing()) return;
    Candidate* best = eligible_candidate();
    if (best == nullptr) return;
    const run::AcceptList& list = best->checked.list;
    const bool wrong = std::any_of(list.entries.begin(), list.entries.end(),
                                   [&](const run::Accepted& entry) { return payloads.bad(entry.payload.root); });
    if (!wrong && payloads_here(list, {})) {
        const auto chosen = std::make_shared<const CheckedList>(best->checked);
        apply(chosen->list, chosen);
        return;
    }
    if (wrong || hopeless(*best)) give_up(*best);
}

/// Payloads that have not come nearer for graces_to_give_up, twice that if most others have them.
bool Peer::Impl::hopeless(Candidate& candidate) const {
    double progress = 0;
    for (const run::Accepted& entry : candidate.checked.list.entries) {
        progress += world.swarm.progress(entry.payload.root);
    }
    if (progress != candidate.progress) candidate.moved_at = now();
    candidate.progress = progress;
    std::size_t moved = 0;
    for (const auto& [peer, member] : members.all()) moved += member.status.round > *keeper.round() ? 1 : 0;
    const int patience = 2 * moved >= members.all().size() && moved > 0 ? 2 * graces_to_give_up : graces_to_give_up;
    return now() >= std::max(*candidate.eligible_since, candidate.moved_at) + patience * manifest.recipe.grace;
}

/// A signed list whose state cannot be produced: the next view's leader makes another.
void Peer::Impl::give_up(const Candidate& candidate) {
    ++rounds_lost;
    const Digest hash = candidate.checked.hash;
    errors.report("The contributions of a round could not be fetched; the round is decided again.");
    machine.advance_view(candidate.checked.list.view);
    std::erase_if(candidates, [&](const Candidate& one) { return one.checked.hash == hash; });
}

Status Peer::Impl::append(const CheckedList& fresh, const StateDigest& result) { return chain.append(fresh, result); }

void Peer::Impl::on_applied(const CheckedList* fresh) {
    stuck_since.reset();
    if (fresh != nullptr) appended(*fresh);
    const std::optional<StateDigest> expected = chain.digest_at(*keeper.round());
    if (expected && *expected != keeper.digest()) {
        repairer.begin({*keeper.round(), *expected}, members.ids());
    } else if (*keeper.round() == chain.height()) {
        entered();
    }
    advance();
}

/// theta[chain] is held: the round begins, or the run is over.
void Peer::Impl::entered() {
    behind_since.reset();
    fell_back = false;
    if (window_closed_at) last_round_overhead = now() - *window_closed_at;
    window_closed_at.reset();
    if (over()) {
        machine.end(*keeper.round(), now());
    } else {
        machine.enter(*keeper.round(), keeper.digest(), chain.head(), now());
        contributor.offer_again();
    }
    contributor.rebase_to_state();
    if (keeper.round()->value % manifest.recipe.checkpoint_every == 0) seeder.publish_checkpoint(*keeper.round());
    payloads.release_before(RoundId{keeper.round()->value > states_kept ? keeper.round()->value - states_kept : 0});
    broadcast_status();
    repairer.compare_all();
}

void Peer::Impl::consider_branch(RivalBranch branch) {
    if (branch.lists.empty() || branch.fork > chain.height() || keeper.applying()) return;
    const auto refused = branches_refused.find(branch.lists[0].hash);
    if (refused != branches_refused.end() && now() < refused->second) return;
    const auto own = branch.fork < chain.height() ? chain.list_at(branch.fork) : std::nullopt;
    if (own) {
        const run::Branch ours{own->view, own->hash(), chain.height().value - branch.fork.value};
        const run::Branch theirs{branch.lists[0].list.view, branch.lists[0].hash, branch.lists.size()};
        if (!run::other_branch_wins(ours, theirs)) return;
    }
    if (rival && rival->fork == branch.fork && rival->lists[0].hash == branch.lists[0].hash &&
        rival->lists.size() >= branch.lists.size()) {
        return;
    }
    rival = std::move(branch);
    advance_again = true;
}

/// Whether at least half of the other members follow `branch`, as far as their statuses tell.
bool Peer::Impl::followed(const RivalBranch& branch) const {
    std::size_t followers = 0;
    for (const auto& [peer, member] : members.all()) {
        const run::StatusMessage& status = member.status;
        if (status.round <= branch.fork) continue;
        const std::uint64_t index = status.round.value - branch.fork.value - 1;
        if (index >= branch.lists.size() || branch.lists[index].hash == status.list) ++followers;
    }
    return followers > 0 && 2 * followers >= members.all().size();
}

/// Lists that follow on ours but name another state than the one we got: either we computed from damaged bytes, or
/// they.
void Peer::Impl::consider_correction(std::vector<CheckedList> lists) {
    const RoundId round = lists.front().list.round;
    if (round.value == 0 || keeper.applying()) return;
    const auto common = chain.signed_list_at(RoundId{round.value - 1});
    CheckedList checked;
    if (!common || chain.check(*common, checked) != Verdict::accepted) return;
    lists.insert(lists.begin(), std::move(checked));
    RivalBranch branch{RoundId{round.value - 1}, std::move(lists), true};
    if (!corrects_us(branch)) return;
    rival = std::move(branch);
    advance_again = true;
}

/// Whether more members, us included, follow `branch` than not; in a tie the better list decides, the same for both
/// sides.
bool Peer::Impl::corrects_us(const RivalBranch& branch) const {
    std::size_t followers = 0, others = 1;
    for (const auto& [peer, member] : members.all()) {
        const run::StatusMessage& status = member.status;
        if (status.round <= branch.fork) continue;
        const std::uint64_t index = status.round.value - branch.fork.value - 1;
        const bool same_list = index >= branch.lists.size() || branch.lists[index].hash == status.list;
        const bool same_state = index + 1 >= branch.lists.size() || branch.lists[index + 1].list.base == status.digest;
        ++(same_list && same_state ? followers : others);
    }
    if (followers != others) return followers > others;
    const auto own = chain.list_at(branch.fork.next());
    if (!own || branch.lists.size() < 2) return branch.lists.size() >= 2;
    return std::pair(branch.lists[1].list.view, branch.lists[1].hash) < std::pair(own->view, own->hash());
}

/// Index of the first list of `branch` whose payloads are needed: 0, or later if a checkpoint within it is on offer.
std::size_t Peer::Impl::replay_from(const RivalBranch& branch) const {
    std::size_t first = 0;
    for (const auto& [peer, member] : members.all()) {
        const run::StatusMessage& status = member.status;
        if (!checkpoint_fits(status) || status.checkpoint_round <= branch.fork) continue;
        const std::uint64_t index = status.checkpoint_round.value - branch.fork.value;
        if (index < branch.lists.size() && branch.lists[index].list.base == status.checkpoint.root) {
            first = std::max<std::size_t>(first, index);
        }
    }
    return first;
}

/// Changes branch when nothing is under way that uses the present one.
void Peer::Impl::try_branch() {
    const std::optional<run::AcceptList> before = rival->fork.value > 0 && rival->fork <= chain.height()
                                                      ? chain.list_at(RoundId{rival->fork.value - 1})
                                                      : std::nullopt;
    const Verdict link = run::check_link(rival->lists[0].list, before ? &*before : nullptr, context.rules);
    const bool same = chain.hash_at(rival->fork) == rival->lists[0].hash;
    if (rival->fork > chain.height() || link != Verdict::accepted || same != rival->correction) {
        rival.reset();
        return;
    }
    const std::size_t first = replay_from(*rival);
    bool here = true;
    for (std::size_t i = first; i < rival->lists.size() && i < first + rounds_fetched_ahead; ++i) {
        here = payloads_here(rival->lists[i].list, {}) && here;
    }
    const bool busy = jobs.count() > 0 || keeper.applying() || contributor.busy();
    if (busy || (rival->correction ? !corrects_us(*rival) : !here && !followed(*rival))) return;
    RivalBranch branch = std::move(*rival);
    rival.reset();
    change_branch(std::move(branch));
}

void Peer::Impl::change_branch(RivalBranch branch) {
    if (branch.fork == chain.height()) {
        extend_chain(std::move(branch.lists), context.self());
        advance_again = true;
        return;
    }
    contributor.roll_back(branch.fork);
    const Status taken = chain.retract(chain.height().value - branch.fork.value);
    if (!taken.ok()) {
        errors.report(taken.error().message);
        return;
    }
    candidates.clear();
    machine.leave();
    window_closed_at.reset();
    checkpoint_fetch.reset();
    keeper.go_back(branch.fork);
    if (keeper.round()) {
        contributor.rebase_to_state();
    } else {
        contributor.stop_trainer();
    }
    keeper.drop_unfit();
    extend_chain(std::move(branch.lists), context.self());
    if (in_step()) entered();
    advance_again = true;
}

}  // namespace potluck::peer
