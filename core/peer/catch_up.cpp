// One history request is open at a time, to a different member each time, and one checkpoint is fetched at a time. What
// a member says of a checkpoint is a hint: the chain confirms its root, and a fetch that brings nothing makes room for
// another member's.
//
// A checkpoint is taken where it is more than rounds_behind_few ahead, where payloads do not come nearer for
// graces_to_give_up of the run's grace, or where our own state could not be mended. Else payloads or steps are
// replayed, those of the next rounds_fetched_ahead rounds fetched beside each other. Threads: the peer's.
#include "core/peer/catch_up.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/base/check.h"
#include "core/peer/shortcut.h"

namespace potluck::peer {

using run::Verdict;

namespace {

constexpr int heartbeats_to_look_around = 3;  // before a lonely newcomer asks for the initial state
constexpr int heartbeats_for_history = 60;    // patience for the chain up to an advertised checkpoint
constexpr int heartbeats_for_answer = 3;      // to a history request
constexpr int heartbeats_for_the_end = 30;    // between questions for the closing list
constexpr Duration checkpoint_stalled_after{20'000};

}  // namespace

bool CatchUp::is_checkpoint(const run::StatusMessage& status) const {
    return status.checkpoint.size == m.context.layout.file_size() && status.checkpoint_round.value > 0 &&
           !m_refused.contains(status.checkpoint.root);
}

void CatchUp::find_first_state() {
    if (m.keeper.checking() || m.keeper.applying()) return;
    RoundId newest{0};
    for (const auto& [peer, member] : m.members.all()) {
        if (!m.members.is_neighbour(peer)) continue;
        if (is_checkpoint(member.status)) newest = std::max(newest, member.status.checkpoint_round);
    }
    choose_checkpoint();
    if (m_fetch) return;
    const bool checkpoint_expected =
        newest.value > rounds_behind_few &&
        m.context.now() < m_started_at + heartbeats_for_history * m.context.settings.heartbeat;
    if (checkpoint_expected) return;
    const bool here = m.context.swarm.blob(m.context.manifest.initial_state.root) != nullptr;
    const bool alone = m.members.all().empty() &&
                       m.context.now() < m_started_at + heartbeats_to_look_around * m.context.settings.heartbeat;
    if (!here && alone) return;
    fetch(RoundId{0}, m.context.manifest.initial_state, m.members.neighbours());
}

void CatchUp::fetch(RoundId round, const run::BlobRef& ref, std::vector<PeerId> sources) {
    m_fetch = Fetch{round, ref, false, 0, m.context.now()};
    m.context.swarm.fetch(
        ref, {.sources = std::move(sources), .deadline = m.context.now(), .damaged_copy = {}, .layer = {}});
}

/// Whether the fetch that is under way was given up: what a member says of a checkpoint is only a hint, and one that
/// brings nothing makes room for another's.
bool CatchUp::gave_up_checkpoint() {
    const double progress = m.context.swarm.progress(m_fetch->ref.root);
    if (progress != m_fetch->progress) m_fetch->moved_at = m.context.now();
    m_fetch->progress = progress;
    if (m_fetch->round.value == 0 || m.context.now() < m_fetch->moved_at + checkpoint_stalled_after) return false;
    m_references_failed.insert(m_fetch->ref);
    forget_fetch();
    return true;
}

/// The newest advertised checkpoint that the chain confirms. Of several references to it that of a member whom the host
/// vouches for, because keys are free and the chain knows a checkpoint's root, but not its info-hash.
std::optional<CatchUp::Offer> CatchUp::best_checkpoint(std::uint64_t round_min) const {
    std::optional<Offer> best;
    for (const auto& [peer, member] : m.members.all()) {
        const run::StatusMessage& status = member.status;
        const RoundId round = status.checkpoint_round;
        // Only a neighbour can be asked for it.
        if (!m.members.is_neighbour(peer) || !is_checkpoint(status) || round.value < round_min) continue;
        if (m_references_failed.contains(status.checkpoint)) continue;
        if (round > m.chain.height() || m.chain.digest_at(round) != status.checkpoint.root) continue;
        const bool trusted = m.chain.rules().trusts(m.members.person_of(peer));
        if (!best || std::pair(round, trusted) > std::pair(best->round, best->trusted)) {
            best = Offer{round, status.checkpoint, trusted, {}};
        }
    }
    if (!best) return best;
    for (const auto& [peer, member] : m.members.all()) {
        if (member.status.checkpoint == best->ref) best->sources.push_back(peer);
    }
    return best;
}

/// Fetches the newest checkpoint if that beats replaying payloads.
void CatchUp::choose_checkpoint() {
    if (m_fetch && (m_fetch->adopting || gave_up_checkpoint())) return;
    if (m_fetch && m_fetch->round.value > 0) return;
    const bool stuck =
        m_stuck_since && m.context.now() >= *m_stuck_since + graces_to_give_up * m.context.manifest.recipe.grace;
    const std::uint64_t round_min =
        !m.keeper.round() ? 1 : m.keeper.round()->value + 1 + (stuck || m_fell_back ? 0 : rounds_behind_few);
    std::optional<Offer> best = best_checkpoint(round_min);
    if (!best) return m_references_failed.clear();
    if (m_fetch) forget_fetch();
    fetch(best->round, best->ref, std::move(best->sources));
}

void CatchUp::on_content(BlobPointer content) {
    if (m_fetch->adopting) return;
    m.errors.withdraw(Remedy::disk_limit);  // there was room for it
    m_fetch->adopting = true;
    m.keeper.adopt({m_fetch->round, m_fetch->ref.root}, std::move(content),
                   [this, wanted = *m_fetch](const Status& outcome) { adopted(wanted.round, wanted.ref, outcome); });
}

void CatchUp::adopted(RoundId round, const run::BlobRef& ref, const Status& outcome) {
    m_fetch.reset();
    if (!outcome.ok()) {
        m.errors.report(outcome.error().message);
        if (round.value > 0) m_refused.insert(ref.root);
        m.keeper.retry_later();
        return;
    }
    if (round.value > 0) m.context.swarm.forget(ref.root);
    m_stuck_since.reset();
    const StateStore::Held taken{round, ref.root};
    const bool confirmed = round <= m.chain.height() && m.chain.digest_at(round) == ref.root;
    const bool useful = confirmed || rolls_back_to(taken);
    if (!useful || (m.keeper.round() && *m.keeper.round() >= round)) {
        if (!useful) m.keeper.drop(round);
        return;
    }
    m.keeper.hold(taken);
    if (round.value > 0) m.seeder.publish_checkpoint(round);
    if (*m.keeper.round() == m.chain.height()) m.mediator.entered();
    m.mediator.advance();
}

void CatchUp::on_fetch_failed(const BlobId& id, const Error& error) {
    if (!fetches(id) || m_fetch->adopting) return;
    if (error.code == ErrorCode::untrusted) m_references_failed.insert(m_fetch->ref);
    m_fetch.reset();
}

void CatchUp::forget_fetch() { m.context.swarm.forget(std::exchange(m_fetch, std::nullopt)->ref.root); }

std::optional<double> CatchUp::progress() const {
    if (!m_fetch) return std::nullopt;
    return m.context.swarm.progress(m_fetch->ref.root);
}

void CatchUp::jumped() {
    if (m_fetch) forget_fetch();
    m_history.peer.reset();
    m_behind_since.reset();
    m_stuck_since.reset();
}

void CatchUp::caught_up() {
    m_behind_since.reset();
    m_fell_back = false;
}

void CatchUp::first_step() {
    if (!m_join_to_first_step) m_join_to_first_step = m.context.now() - m_started_at;
}

/// Whether the next list takes the model back to this state, of a round that may lie before all lists that are held.
bool CatchUp::rolls_back_to(const StateStore::Held& state) const {
    if (!m.keeper.round()) return false;
    const CheckedList* decision = m.ballots.decision();
    const auto next = *m.keeper.round() < m.chain.height() ? m.chain.list_at(*m.keeper.round())
                      : decision != nullptr                ? std::optional(decision->list)
                                                           : std::nullopt;
    const run::HostAction* back = next ? next->roll_back() : nullptr;
    return back != nullptr && back->round == state.round && back->state.root == state.digest;
}

void CatchUp::step() {
    choose_checkpoint();
    if (m_fetch || !m.keeper.may_apply()) return;
    const RoundId until{std::min(m.chain.height().value, m.keeper.round()->value + rounds_fetched_ahead)};
    const auto next = m.chain.list_at(*m.keeper.round());
    if (!next) return;
    const bool here = has_inputs_of(*next);
    for (RoundId round = m.keeper.round()->next(); round < until; round = round.next()) {
        if (const auto list = m.chain.list_at(round)) (void)has_inputs_of(*list);
    }
    if (here) {
        apply(*next, nullptr);
    } else {
        wait_for_payloads(*next);
    }
}

bool CatchUp::has_inputs_of(const run::AcceptList& list) {
    if (const run::HostAction* back = list.roll_back()) {
        const bool is_here = !m.chain.leads_back_to(*back) || m.keeper.holds(back->round);
        if (!is_here && !m_fetch) fetch(back->round, back->state, m.members.neighbours());
        return is_here;
    }
    m.steps.begin_with(list);
    if (takes_step(list)) {
        const Digest hash = hash_of(list);
        m.steps.want(list, hash);
        if (!m.steps.gave_up(hash)) return m.steps.find(hash) != nullptr || all_here(list);
    }
    m.payloads.want_accepted(list, m.context.now(),
                             m.steps.coded() ? Payloads::Holders::seats : Payloads::Holders::anybody);
    return all_here(list);
}

/// Who takes steps, and who is so far behind that later lists say where this one leads: payloads of several rounds are
/// many times as long, and most neighbours may have none.
bool CatchUp::takes_step(const run::AcceptList& list) const {
    const std::uint64_t behind = m.chain.height().value - std::min(m.chain.height(), list.round).value;
    const bool is_known = m.steps.coded() && behind >= rounds_behind_few && behind < steps_kept;
    return !list.entries.empty() && (m.steps.light() || is_known);
}

bool CatchUp::all_here(const run::AcceptList& list) const {
    return std::all_of(list.entries.begin(), list.entries.end(),
                       [this](const run::Accepted& entry) { return m.payloads.find(entry.payload.root) != nullptr; });
}

Digest CatchUp::hash_of(const run::AcceptList& list) const {
    if (list.round < m.chain.height()) return m.chain.hash_at(list.round);
    const CheckedList* decision = m.ballots.decision();
    return decision != nullptr && decision->list.round == list.round ? decision->hash : list.hash();
}

void CatchUp::apply(const run::AcceptList& list, std::shared_ptr<const CheckedList> fresh) {
    if (!all_here(list)) {
        StepPointer step = m.steps.find(hash_of(list));
        POTLUCK_CHECK(step != nullptr);
        return m.keeper.apply(list, {}, std::move(fresh), std::move(step));
    }
    std::vector<PayloadPointer> held;
    for (const run::Accepted& entry : list.entries) held.push_back(m.payloads.find(entry.payload.root));
    m.keeper.apply(list, std::move(held), std::move(fresh));
}

void CatchUp::wait_for_payloads(const run::AcceptList& list) {
    double progress = 0;
    for (const run::Accepted& entry : list.entries) progress += m.context.swarm.progress(entry.payload.root);
    if (!m_stuck_since || progress != m_stuck_progress) m_stuck_since = m.context.now();
    m_stuck_progress = progress;
}

/// Anybody can say to be ahead, under any number of keys, and each who does not answer costs time: every other question
/// goes to a member whom the host vouches for, if one is ahead.
PeerId CatchUp::history_source(const std::vector<PeerId>& ahead) {
    std::vector<PeerId> trusted;
    std::copy_if(ahead.begin(), ahead.end(), std::back_inserter(trusted),
                 [&](const PeerId& peer) { return m.chain.rules().trusts(m.members.person_of(peer)); });
    const std::uint64_t turn = m_history.turn++;
    if (trusted.empty()) return ahead[turn % ahead.size()];
    const std::vector<PeerId>& asked = turn % 2 == 0 ? trusted : ahead;
    return asked[turn / 2 % asked.size()];
}

void CatchUp::ask_history() {
    if (m.keeper.applying() || m.keeper.checking() || m.mediator.takes_shortcut()) return;
    if (m_history.peer && m.context.now() < m_history.at + heartbeats_for_answer * m.context.settings.heartbeat) return;
    m_history.peer.reset();
    std::vector<PeerId> ahead;
    bool one_ahead = false;
    for (const auto& [peer, member] : m.members.all()) {
        if (!m.members.is_neighbour(peer)) continue;
        const RoundId theirs = member.status.round;
        one_ahead = one_ahead || theirs == m.chain.height().next();
        const bool lost_list =
            theirs == m.chain.height().next() && m_behind_since &&
            m.context.now() >= *m_behind_since + run::heartbeats_to_repeat * m.context.settings.heartbeat;
        if (theirs > m.chain.height().next() || lost_list) ahead.push_back(peer);
    }
    if (!one_ahead) m_behind_since.reset();
    if (one_ahead && !m_behind_since) m_behind_since = m.context.now();
    const bool lacks_the_end = m.keeper.holds_last() && !m.chain.closed() &&
                               m.context.now() >= m_history.at + heartbeats_for_the_end * m.context.settings.heartbeat;
    if (ahead.empty() && lacks_the_end) ahead = m.members.neighbours();
    if (ahead.empty()) return;
    m_history.peer = history_source(ahead);
    m_history.at = m.context.now();
    m.context.send(*m_history.peer, run::HistoryRequest{m.chain.height()});
}

Verdict CatchUp::on_history_request(const PeerId& from, const run::HistoryRequest& request) {
    // The answer before has not left yet: a second one would only fill memory.
    if (m.context.swarm.unsent(from) >= history_unsent_max) return Verdict::repeated;
    if (request.first >= (m.chain.closed() ? m.chain.height().next() : m.chain.height())) return Verdict::stale;
    run::HistoryMessage answer{m.chain.committed_from(request.first, run::lists_per_history_max)};
    keep_what_fits(answer.lists);
    m.moderation.tell({from});  // without them it may not understand the lists
    m.context.send(from, answer);
    return Verdict::accepted;
}

Verdict CatchUp::on_history(const PeerId& from, const run::HistoryMessage& message) {
    if (m_history.peer != from || message.lists.empty()) return Verdict::stale;
    m_history.peer.reset();
    if (m.keeper.applying()) return Verdict::stale;
    std::vector<CheckedList> fresh;
    run::RunRules rules = m.chain.rules();
    for (const run::CommittedList& one : message.lists) {
        CheckedList checked;
        const run::AcceptList* previous = fresh.empty() ? m.chain.head() : &fresh.back().list;
        const Verdict verdict = m.chain.check(one, previous, rules, checked);
        if (verdict != Verdict::accepted) return verdict;
        rules.follow(checked.list);
        fresh.push_back(std::move(checked));
    }
    const RoundId before = m.chain.height();
    extend_chain(std::move(fresh));
    // A decision that is not applied yet: the next answer would bring it once more.
    if (m.chain.height() == before) m_history.peer = from;
    return Verdict::accepted;
}

/// Lists that follow on our chain. Each but the last is confirmed by the base of the next; the last is the decision
/// of its round.
void CatchUp::extend_chain(std::vector<CheckedList> lists) {
    for (std::size_t i = 0; i + 1 < lists.size(); ++i) {
        if (!import_list(lists[i], lists[i + 1].list.base)) return;
    }
    m.ballots.learn(std::move(lists.back()));
}

bool CatchUp::import_list(const CheckedList& checked, const StateDigest& result) {
    if (m.chain.digest_at(m.chain.height()) != checked.list.base) {
        if (m.steps.audits().is_by_liars(checked)) {
            m.errors.report(decided_by_liars);
            return false;
        }
        // Ours is what this computer made of the list before; a quorum has made something else of it.
        const Status corrected =
            m.chain.height().value == 0
                ? Status(Error{ErrorCode::untrusted,
                               "The first list of the history has another base than the run's model."})
                : m.chain.correct_result(checked.list.base);
        if (!corrected.ok()) {
            m.errors.report(corrected.error().message);
            return false;
        }
    }
    const Status kept = m.chain.append(checked, result);
    if (!kept.ok()) {
        m.errors.report(kept.error().message);
        return false;
    }
    m.mediator.appended(checked);
    return true;
}

}  // namespace potluck::peer
