// Accept lists: checking, choosing, applying. Changing to another branch is at the end of the file.
//
// Order of effects, so that a kill at any point leaves a state that start() understands:
//   payloads on disk -> theta[r+1] on disk (commit_state) -> L[r] in the ledger (append) -> announced (status)

#include <algorithm>
#include <utility>

#include "core/numerics/outer/outer_step.h"
#include "core/peer/impl.h"

namespace potluck::peer {

using run::Verdict;

std::optional<StateDigest> Peer::Impl::digest_at(RoundId round) const {
    if (round.value == 0) return manifest.initial_state.root;
    return world.ledger.digest_after(run, RoundId{round.value - 1});
}

std::optional<run::AcceptList> Peer::Impl::list_at(RoundId round) const {
    const auto signed_list = world.ledger.list(run, round);
    if (!signed_list) return std::nullopt;
    Result<run::AcceptList> list = run::AcceptList::decode(signed_list->list);
    if (!list.ok()) return std::nullopt;
    return std::move(list).value();
}

Digest Peer::Impl::list_hash(RoundId round) const {
    if (round >= chain) return {};
    const auto known = hashes.find(round);
    if (known != hashes.end()) return known->second;
    const auto list = list_at(round);
    const Digest hash = list ? list->hash() : Digest{};
    hashes[round] = hash;
    if (hashes.size() > 64) hashes.erase(hashes.begin());
    return hash;
}

void Peer::Impl::reload_head() {
    chain = world.ledger.totals(run).rounds;
    head = world.ledger.head(run);
    std::erase_if(hashes, [&](const auto& item) { return item.first.next() >= chain; });
}

/// `checked` is in the ledger now, at its end.
void Peer::Impl::appended(const CheckedList& checked) {
    chain = chain.next();
    head = checked.list;
    candidates.clear();
    settle_own(checked.list.round, checked.list);
}

Verdict Peer::Impl::open_list(const run::SignedList& signed_list, CheckedList& out) const {
    Result<run::AcceptList> list = run::AcceptList::decode(signed_list.list);
    if (!list.ok()) return Verdict::malformed;
    if (list->run != run) return Verdict::wrong_run;
    if (!world.verify(list->leader, run::accept_list_domain, signed_list.list, signed_list.signature)) {
        return Verdict::bad_signature;
    }
    const auto plausible = [&](const run::Accepted& entry) { return payloads.plausible(entry.payload); };
    if (!std::all_of(list->entries.begin(), list->entries.end(), plausible)) return Verdict::too_large;
    out.signed_list = signed_list;
    out.list = std::move(list).value();
    out.hash = out.list.hash();
    return Verdict::accepted;
}

Verdict Peer::Impl::on_list(const PeerId& from, const run::ListMessage& message) {
    CheckedList checked;
    Verdict verdict = open_list(message.list, checked);
    if (verdict != Verdict::accepted) return verdict;
    const RoundId round = checked.list.round;
    if (round > chain) return Verdict::stale;  // history brings it, in order
    if (round == chain) return add_candidate(std::move(checked), from);
    if (checked.hash == list_hash(round)) return Verdict::repeated;
    const auto previous = round.value == 0 ? std::nullopt : list_at(RoundId{round.value - 1});
    verdict = run::check_link(checked.list, previous ? &*previous : nullptr, rules);
    if (verdict != Verdict::accepted) return verdict;
    if (digest_at(round) != checked.list.base) return Verdict::wrong_base;
    RivalBranch branch{round, {}, false};
    branch.lists.push_back(std::move(checked));
    consider_branch(std::move(branch));
    return Verdict::accepted;
}

Verdict Peer::Impl::add_candidate(CheckedList checked, const PeerId& from) {
    const Verdict link = run::check_link(checked.list, head ? &*head : nullptr, rules);
    if (link != Verdict::accepted) return link;
    if (digest_at(chain) != checked.list.base) return Verdict::wrong_base;
    const auto same = [&](const Candidate& one) { return one.checked.hash == checked.hash; };
    if (std::any_of(candidates.begin(), candidates.end(), same)) return Verdict::repeated;
    if (candidates.size() >= candidates_max) return Verdict::flood;
    (void)payloads_here(checked.list, {from});
    candidates.push_back({std::move(checked), std::nullopt, 0, now});
    return Verdict::accepted;
}

void Peer::Impl::sign_list(const run::AcceptList& list) {
    CheckedList checked;
    checked.signed_list.list = list.encode();
    checked.list = list;
    checked.hash = list.hash();
    checked.signed_list.signature = world.identity.sign(run::accept_list_domain, checked.signed_list.list);
    broadcast(run::ListMessage{checked.signed_list});
    (void)add_candidate(std::move(checked), world.identity.id());
}

/// Does whatever can be done next. Events that arrive meanwhile ask for another turn instead of nesting.
void Peer::Impl::advance() {
    if (!started || gone) return;
    if (std::exchange(advancing, true)) {
        advance_again = true;
        return;
    }
    for (int turn = 0; turn < 4; ++turn) {
        advance_again = false;
        if (!state) {
            find_first_state();
        } else if (!repair) {
            if (rival) try_branch();
            if (state && *state < chain) {
                catch_up_step();
            } else if (in_step() && !over()) {
                try_candidates();
            }
        }
        if (!advance_again) break;
    }
    advancing = false;
}

/// Whether every payload of `list` is here and sound; asks for those that are not.
bool Peer::Impl::payloads_here(const run::AcceptList& list, const std::vector<PeerId>& sources) {
    bool all = true;
    for (const run::Accepted& entry : list.entries) {
        std::vector<PeerId> holders{entry.peer, list.leader};
        holders.insert(holders.end(), sources.begin(), sources.end());
        payloads.want(entry.payload, list.round, std::move(holders), now);
        all = all && payloads.find(entry.payload.root) != nullptr;
    }
    return all;
}

/// The best ripe list: lowest view, then lowest hash.
Candidate* Peer::Impl::ripe_candidate() {
    Candidate* best = nullptr;
    for (Candidate& one : candidates) {
        if (one.checked.list.view < machine.view_min()) continue;
        if (!one.ripe_since && !machine.ripe(one.checked.list, now)) continue;
        if (!one.ripe_since) one.ripe_since = now;
        const auto key = [](const Candidate& c) { return std::pair(c.checked.list.view, c.checked.hash); };
        if (best == nullptr || key(one) < key(*best)) best = &one;
    }
    return best;
}

void Peer::Impl::try_candidates() {
    if (applying || now < apply_after || !machine.playing()) return;
    Candidate* best = ripe_candidate();
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
    if (progress != candidate.progress) candidate.moved_at = now;
    candidate.progress = progress;
    std::size_t moved = 0;
    for (const auto& [peer, member] : members.all()) moved += member.status.round > *state ? 1 : 0;
    const int patience = 2 * moved >= members.all().size() && moved > 0 ? 2 * graces_to_give_up : graces_to_give_up;
    return now >= std::max(*candidate.ripe_since, candidate.moved_at) + patience * manifest.recipe.grace;
}

/// A signed list whose state cannot be produced: the next view's leader makes another.
void Peer::Impl::give_up(const Candidate& candidate) {
    ++rounds_lost;
    const Digest hash = candidate.checked.hash;
    trouble("The contributions of a round could not be fetched; the round is decided again.");
    machine.give_up_view(candidate.checked.list.view);
    std::erase_if(candidates, [&](const Candidate& one) { return one.checked.hash == hash; });
}

/// Starts computing theta[state + 1]. `fresh` is the list if it is not in the ledger yet. All payloads are here.
void Peer::Impl::apply(const run::AcceptList& list, std::shared_ptr<const CheckedList> fresh) {
    const RoundId next = state->next();
    std::vector<PayloadPointer> held;
    for (const run::Accepted& entry : list.entries) held.push_back(payloads.find(entry.payload.root));
    const Result<std::span<float>> target = world.store.begin_state(next);
    if (!target.ok()) {
        trouble(target.error().message);
        apply_after = now + fetch_again_after;
        return;
    }
    applying = true;
    say_status_soon = true;
    const std::span<const float> theta = world.store.state(*state);
    auto outcome = std::make_shared<Result<StateDigest>>(Error{ErrorCode::cancelled, "not computed"});
    const auto work = [this, theta, out = *target, held, entries = list.entries, next, outcome] {
        std::vector<numerics::WeightedPayload> weighted;
        for (std::size_t i = 0; i < held.size(); ++i) weighted.push_back({&held[i]->view, entries[i].tokens.value});
        numerics::apply_outer_step(theta, out, weighted, manifest.recipe.outer_step(), settings.threads);
        *outcome = world.store.commit_state(next);
    };
    offload(work, [this, fresh, outcome] { applied(fresh, std::move(*outcome)); });
}

void Peer::Impl::applied(const std::shared_ptr<const CheckedList>& fresh, Result<StateDigest> outcome) {
    applying = false;
    if (outcome.ok() && fresh) {
        const Status kept = world.ledger.append(fresh->signed_list, *outcome, unix_seconds());
        if (!kept.ok()) outcome = kept.error();
    }
    if (!outcome.ok()) {
        world.store.drop_state(state->next());
        trouble(outcome.error().message);
        apply_after = now + fetch_again_after;
        return;
    }
    state = state->next();
    digest = *outcome;
    stuck_since.reset();
    if (fresh) appended(*fresh);
    const std::optional<StateDigest> expected = digest_at(*state);
    if (expected && *expected != digest) {
        begin_repair(*state, *expected, alive_members());
    } else if (*state == chain) {
        entered();
    }
    advance();
}

/// theta[chain] is held: the round begins, or the run is over.
void Peer::Impl::entered() {
    behind_since.reset();
    fell_back = false;
    if (window_closed_at) last_round_overhead = now - *window_closed_at;
    window_closed_at.reset();
    if (over()) {
        machine.end(*state, now);
    } else {
        machine.enter(*state, digest, head ? &*head : nullptr, now);
        for (const run::ContributionMessage& own : record.pending) {
            if (own.round != *state || own.base != digest) continue;
            payloads.want(own.payload, own.round, {}, now);
            machine.offered(own, now);
            broadcast(own);
        }
    }
    rebase_to_state();
    if (state->value % manifest.recipe.checkpoint_every == 0) publish_checkpoint(*state);
    payloads.release_before(RoundId{state->value > states_kept ? state->value - states_kept : 0});
    say_status();
    compare_all();
}

/// What L[round] means for contributions of our own: credited, or given back.
void Peer::Impl::settle_own(RoundId round, const run::AcceptList& list) {
    const run::Accepted* credited = nullptr;
    for (const run::Accepted& entry : list.entries) {
        if (entry.peer == world.identity.id()) credited = &entry;
    }
    bool changed = false, found = false;
    const std::vector<run::ContributionMessage> pending = std::exchange(record.pending, {});
    for (const run::ContributionMessage& own : pending) {
        if (own.round != round) {
            record.pending.push_back(own);
        } else if (credited != nullptr && credited->payload == own.payload) {
            changed = found = true;
        } else {
            give_back(own);
            changed = true;
        }
    }
    if (credited != nullptr && !found) {
        const auto same = [&](const run::ContributionMessage& own) { return own.payload == credited->payload; };
        const auto back = std::find_if(record.returned.begin(), record.returned.end(), same);
        if (back != record.returned.end()) {
            take_again(*back);
            record.returned.erase(back);
            changed = true;
        }
    }
    if (changed) save_record();
}

void Peer::Impl::consider_branch(RivalBranch branch) {
    if (branch.lists.empty() || branch.fork > chain || applying) return;
    const auto refused = branches_refused.find(branch.lists[0].hash);
    if (refused != branches_refused.end() && now < refused->second) return;
    const auto own = branch.fork < chain ? list_at(branch.fork) : std::nullopt;
    if (own) {
        const run::Branch ours{own->view, own->hash(), chain.value - branch.fork.value};
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
    if (round.value == 0 || applying) return;
    const auto common = world.ledger.list(run, RoundId{round.value - 1});
    CheckedList checked;
    if (!common || open_list(*common, checked) != Verdict::accepted) return;
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
    const auto own = list_at(branch.fork.next());
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
    const std::optional<run::AcceptList> before =
        rival->fork.value > 0 && rival->fork <= chain ? list_at(RoundId{rival->fork.value - 1}) : std::nullopt;
    const Verdict link = run::check_link(rival->lists[0].list, before ? &*before : nullptr, rules);
    const bool same = list_hash(rival->fork) == rival->lists[0].hash;
    if (rival->fork > chain || link != Verdict::accepted || same != rival->correction) {
        rival.reset();
        return;
    }
    const std::size_t first = replay_from(*rival);
    bool here = true;
    for (std::size_t i = first; i < rival->lists.size() && i < first + rounds_fetched_ahead; ++i) {
        here = payloads_here(rival->lists[i].list, {}) && here;
    }
    const bool busy = jobs > 0 || applying || training.purpose != SnapshotPurpose::none || training.encoding;
    if (busy || (rival->correction ? !corrects_us(*rival) : !here && !followed(*rival))) return;
    RivalBranch branch = std::move(*rival);
    rival.reset();
    change_branch(std::move(branch));
}

void Peer::Impl::change_branch(RivalBranch branch) {
    if (branch.fork == chain) {
        extend_chain(std::move(branch.lists), world.identity.id());
        advance_again = true;
        return;
    }
    unwind_own(branch.fork);
    const Status taken = world.ledger.retract(run, chain.value - branch.fork.value);
    if (!taken.ok()) {
        trouble(taken.error().message);
        return;
    }
    reload_head();
    candidates.clear();
    machine.leave();
    window_closed_at.reset();
    checkpoint_fetch.reset();
    if (*state > branch.fork) state.reset();
    const std::vector<StateStore::Held> held = world.store.held();
    for (const StateStore::Held& one : held) {
        if (one.round > branch.fork || one.digest != digest_at(one.round)) continue;
        if (state && *state >= one.round) continue;
        state = one.round;
        digest = one.digest;
    }
    if (state) {
        rebase_to_state();
    } else {
        stop_trainer();
    }
    for (const StateStore::Held& one : held) {
        if (one.digest == digest_at(one.round)) continue;
        world.store.drop_state(one.round);
        checkpoints.erase(one.round);
    }
    extend_chain(std::move(branch.lists), world.identity.id());
    if (in_step()) entered();
    advance_again = true;
}

/// Own contributions of rounds that are taken back: what the fork's round accepted is open again, later ones have lost
/// their base and are given back.
void Peer::Impl::unwind_own(RoundId fork) {
    const std::vector<run::ContributionMessage> pending = std::exchange(record.pending, {});
    for (const run::ContributionMessage& own : pending) give_back(own);
    for (RoundId round = fork; round < chain; round = round.next()) {
        const auto list = list_at(round);
        if (!list) continue;
        for (const run::Accepted& entry : list->entries) {
            if (entry.peer != world.identity.id()) continue;
            const run::ContributionMessage own{round, list->base, entry.payload, entry.tokens};
            if (round == fork && record.pending.size() < own_contributions_max) {
                record.pending.push_back(own);
            } else {
                give_back(own);
            }
        }
    }
    save_record();
}

}  // namespace potluck::peer
