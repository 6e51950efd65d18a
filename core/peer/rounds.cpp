// advance() runs whatever has become possible, at most four times in a row; the next tick goes on from there. The
// machine acts before that, so that what it decides is applied at once.
//
// A new state is announced only when it is on disk and its list in the ledger. What depends on it follows in entered(),
// in this order: the round machine, own offers for the new round, the trainer, what others lack, the checkpoint.
//
// Threads: the peer's.
#include "core/peer/rounds.h"

#include <algorithm>
#include <utility>

#include "core/base/check.h"
#include "core/base/log.h"

namespace potluck::peer {

namespace {

SelfCheck::Outcome newest_outcome(const StateKeeper& keeper, const ChainLog& chain) {
    return {*keeper.round(), chain.hash_before(*keeper.round()), keeper.digest()};
}

void log_actions(const run::AcceptList& list) {
    for (const run::SignedAction& one : list.actions) {
        log::of("peer").info("the host's action {} is in force: {}", one.action.number, describe(one.action));
    }
}

void log_suspensions(const run::AcceptList& list) {
    for (const run::Suspension& one : list.suspensions) {
        const run::JurorVerdict& first = one.verdicts.front().verdict;
        log::of("peer").warn(
            "{} is suspended by {} jurors: its contributions lower the loss by {:.4f} nats a token, "
            "others' by {:.4f}",
            one.person.hex(), one.verdicts.size(), first.own / 1e6, first.median / 1e6);
    }
}

void log_measured(const run::AcceptList& list) {
    if (!list.measured) return;
    log::of("peer").info("validation loss {:.3f} of state {}, by {} members", run::nats_of(list.measured->median()),
                         list.measured->round.value, list.measured->losses.size());
}

}  // namespace

void Rounds::start() {
    m_started = true;
    m.catch_up.start();
    m.own_status.start();
    m.chain.load();
    m.moderation.load();
    m.ballots.load_evidence();
    m.steps.audits().load();
    m.ballots.enter();
    m.shortcut.publish_tables();
    m.contributor.restore();
    if (const run::AcceptList* last = m.chain.head()) m.steps.begin_with(*last);
    m.seeder.seed_kept_payloads(m.steps.light() ? Seeder::Missing::left : Seeder::Missing::fetched);
    m.keeper.restore([this](bool sound) {
        for (const StateStore::Held& one : m.store.held()) {
            if (one.round.value % m.context.manifest.recipe.checkpoint_every == 0)
                m.seeder.publish_checkpoint(one.round);
        }
        if (!sound) {
            m.repairer.begin(*m.keeper.newest(), m.members.neighbours());
        } else if (*m.keeper.round() == m.chain.height()) {
            entered();
        }
        advance();
    });
    m.own_status.broadcast();
    advance();
}

void Rounds::tick() {
    const bool is_free = in_step() && !m.keeper.applying() && m.keeper.round()->value > 0;
    const Digest newest = is_free ? m.chain.hash_before(*m.keeper.round()) : Digest{};
    // An audit has found that this state came of a false step: it is made of payloads, which are here.
    if (m.steps.misled(newest)) {
        m.steps.refuse(newest);
        m.keeper.drop(*m.keeper.round());
        go_back();
    }
    act(m.machine.tick(m.context.now(), m.ballots.proposes()));
    const bool is_compared = m.context.now() >= m_entered_at + heartbeats_to_compare * m.context.settings.heartbeat;
    if (over() && in_step() && is_compared && !m.chain.closed() && !m.losses.measures_last()) m.ballots.decide();
    m.ballots.decide_early();
    m.ballots.tick();
}

void Rounds::look_at_offers() { act(m.machine.tick(m.context.now(), m.ballots.proposes())); }

bool Rounds::in_step() const {
    return m.keeper.round() && *m.keeper.round() == m.chain.height() && !m.repairer.active();
}

bool Rounds::over() const { return m.keeper.holds_last(); }

bool Rounds::may_train() const {
    return in_step() && !over() && m.machine.playing() &&
           m.chain.rules().may_contribute(m.context.self_person(), m.chain.height()) &&
           !m_self_check.calculates_differently();
}

void Rounds::offered(const run::ContributionMessage& own) {
    m.machine.offered(own, m.context.signature_of(own), m.context.now());
    if (own.round == m.machine.round()) m.payload_post.offered(own.payload.root);
}

void Rounds::act(const run::RoundActions& actions) {
    if (actions.announce_close) m.context.broadcast(*actions.announce_close);
    if (actions.close_window) m.contributor.close_window();
    if (m.machine.closed() && !m_window_closed_at) {
        m_window_closed_at = m.context.now();
        m.payload_post.window_closed();
        m.own_status.changed();
    }
    if (actions.repeat_contribution) m.contributor.repeat_contributions();
    if (!actions.send_list_to.empty() && m.chain.height().value > 0) {
        if (const auto last = m.chain.committed_at(RoundId{m.chain.height().value - 1})) {
            const run::BallotMessage ballot = ballot_with(last->certificate, last->list);
            for (const PeerId& peer : actions.send_list_to) m.context.send(peer, ballot);
        }
    }
    if (actions.decide && !m_enough_at) m_enough_at = m.context.now();
    if (actions.decide) m.ballots.decide();
}

void Rounds::advance() {
    if (!running()) return;
    if (std::exchange(m_advancing, true)) {
        m_advance_again = true;
        return;
    }
    // One event leads to at most a list, its payloads and a state; more turns than that would be a loop.
    for (int turn = 0; turn < 4; ++turn) {
        m_advance_again = false;
        if (m.chain.retracted_from()) {
            retract();
        } else if (!m.keeper.round()) {
            m.catch_up.find_first_state();
        } else if (!m.repairer.active()) {
            if (*m.keeper.round() < m.chain.height()) {
                m.machine.leave();
                m.catch_up.step();
            } else if (in_step()) {
                over() ? close_run() : apply_decision();
            }
        }
        if (!m_advance_again) break;
    }
    m_advancing = false;
}

/// The host has put another committee in the place of one that went further. Back to the last list that stays.
void Rounds::retract() {
    if (m.keeper.applying() || m.keeper.checking() || m.repairer.active()) return;
    const RoundId first = *m.chain.retracted_from();
    std::vector<run::AcceptList> lists;
    for (RoundId round = first; round < m.chain.height(); round = round.next()) {
        if (auto list = m.chain.list_at(round)) lists.push_back(std::move(*list));
    }
    log::of("peer").warn("the run's host has replaced the committee: {} rounds are taken back", lists.size());
    m.contributor.take_back(lists);
    if (const Status retracted = m.chain.retract(first); !retracted.ok()) {
        m.errors.report(retracted.error().message);
        m.keeper.retry_later();
        return;
    }
    m.moderation.load();
    m.verdicts.settle();
    m.losses.settle();
    m_self_check = SelfCheck();  // what it differed from may be what is taken back
    go_back();
    m.ballots.enter();
}

/// To the newest sound state that fits the chain; forward again from payloads or a checkpoint.
void Rounds::go_back() {
    m.machine.leave();
    m.own_status.changed();
    m.contributor.stop_trainer();
    m.contributor.retry_now();
    m.keeper.fall_back([this] {
        if (m.keeper.round()) m_self_check.verified(*m.keeper.round());
        if (m.keeper.round() && *m.keeper.round() == m.chain.height()) entered();
        advance();
    });
}

/// Applies L[height] as soon as it is committed and whole.
void Rounds::apply_decision() {
    const CheckedList* decision = m.ballots.decision();
    if (decision == nullptr || !m.keeper.may_apply() || !agrees_with_base(*decision)) return;
    if (!m.catch_up.has_inputs_of(decision->list)) return m.catch_up.wait_for_payloads(decision->list);
    const auto chosen = std::make_shared<const CheckedList>(*decision);
    m.catch_up.apply(chosen->list, chosen);
}

/// The last state has no list that starts from it; one without entries certifies it for those who come later.
void Rounds::close_run() {
    const CheckedList* decision = m.ballots.decision();
    if (m.chain.closed() || decision == nullptr || !agrees_with_base(*decision)) return;
    const Status kept = m.chain.append(*decision, decision->list.base);
    if (!kept.ok()) return m.errors.report(kept.error().message);
    m.losses.settle();
    log_measured(decision->list);
    m.shortcut.publish_tables();
}

/// Whether our theta[height] is the one that the committee has; if not, it will be, unless those who say so have been
/// found to lie: then the run waits for its host, who alone can name others.
bool Rounds::agrees_with_base(const CheckedList& decided) {
    const run::AcceptList& list = decided.list;
    if (m.chain.digest_at(m.chain.height()) == list.base) return true;
    if (m.steps.audits().is_by_liars(decided)) {
        m.errors.report(decided_by_liars);
        return false;
    }
    if (m.chain.height().value == 0) {
        m.errors.report("The run's committee began with another model than the run's link names; this run is broken.");
        return false;
    }
    mend(list.base);
    return false;
}

/// What a quorum has certified as theta[round]; nothing while no list that starts from it is committed.
std::optional<StateDigest> Rounds::certified(RoundId round) const {
    if (round < m.chain.height() || m.chain.closed()) return m.chain.digest_at(round);
    if (const CheckedList* decision = m.ballots.decision()) return decision->list.base;
    return std::nullopt;
}

/// The newest state is not the certified one. If F made it here, F is computed once more, from bytes that are verified
/// first; only then are the pieces that differ fetched.
void Rounds::mend(const StateDigest& right) {
    const RoundId round = *m.keeper.round();
    if (round == m.chain.height()) {
        if (const Status kept = m.chain.correct_result(right); !kept.ok()) {
            m.errors.report(kept.error().message);
            return m.keeper.retry_later();
        }
    }
    const RoundId before{round.value - 1};
    const auto list = m.chain.list_at(before);
    m.steps.ask_about(before);
    // Seats' word has led here, and not this computer's arithmetic.
    if (const Digest hash = m.chain.hash_at(before); m.steps.find(hash) != nullptr) {
        m.steps.refuse(hash);
        return m.repairer.begin({round, right}, m.members.neighbours());
    }
    const bool is_computable =
        list && !list->entries.empty() && m.keeper.holds(before) && m.catch_up.has_inputs_of(*list);
    if (!is_computable || !m_self_check.doubt(newest_outcome(m.keeper, m.chain), list->committee.size())) {
        return m.repairer.begin({round, right}, m.members.neighbours());
    }
    m.keeper.drop(round);
    go_back();
}

/// A state that was to be computed may be one that came out wrong before.
void Rounds::judge_arithmetic(const StateDigest& right) {
    const SelfCheck::Finding finding =
        m_self_check.again(newest_outcome(m.keeper, m.chain), right, m.keeper.whole_payloads());
    if (finding == SelfCheck::Finding::nothing) return;
    if (m.keeper.digest() == right) m.repairer.count_recomputed();
    spdlog::logger& log = log::of("peer");
    const std::uint64_t round = m.keeper.round()->value;
    switch (finding) {
        case SelfCheck::Finding::nothing:
        case SelfCheck::Finding::unproven: return;
        case SelfCheck::Finding::wrong_once:
            return log.warn("state {} was calculated wrongly here, and rightly the second time", round);
        case SelfCheck::Finding::alike_against_one_seat:
            return log.warn("state {} came out alike twice here, and not as the committee's only member says", round);
        case SelfCheck::Finding::wrong_twice:
            return log.error("this computer calculates differently, its memory may be faulty: no more contributions");
    }
}

Status Rounds::append(const CheckedList& fresh, const StateDigest& result) { return m.chain.append(fresh, result); }

/// `checked` is in the ledger now, at its end.
void Rounds::appended(const CheckedList& checked) {
    m.contributor.settle(checked.list.round, checked.list);
    m.moderation.settle();
    m.juror.settle(checked.list);
    m.verdicts.settle();
    m.losses.settle();
    log_actions(checked.list);
    log_suspensions(checked.list);
    log_measured(checked.list);
    if (checked.list.roll_back() != nullptr) m.contributor.start_over();
    m.payloads.adapt_to_line(checked.list.round, m_enough_at.value_or(m.context.now()));
    const bool may_be_late = m.chain.before().has_value();
    m.payloads.forget_refused(checked.list, may_be_late ? checked.list.round : checked.list.round.next(),
                              m.contributor.payloads_needed());
    m.seats.count_round();
    if (checked.list.table) m.shortcut.publish_tables();
    m.ballots.enter();
}

void Rounds::on_applied(const CheckedList* fresh) {
    m.catch_up.applied();
    if (fresh != nullptr) appended(*fresh);
    const RoundId round = *m.keeper.round();
    const std::optional<StateDigest> right = certified(round);
    if (right) judge_arithmetic(*right);
    if (right && *right != m.keeper.digest()) {
        mend(*right);
    } else {
        // What was on record for the newest state came from bytes that were damaged since.
        if (m.chain.digest_at(round) != m.keeper.digest()) (void)m.chain.correct_result(m.keeper.digest());
        if (round == m.chain.height()) entered();
    }
    advance();
}

void Rounds::enter_round() {
    const RoundId round = *m.keeper.round();
    m.machine.enter(round, m.keeper.digest(), m.chain.committee(), m.context.now(), m.chain.before(),
                    {m.chain.hash_before(round), m.chain.recent_contributors()});
}

/// theta[chain] is held: the round begins, or the run is over.
void Rounds::entered() {
    m_entered_at = m.context.now();
    m.catch_up.caught_up();
    if (m_window_closed_at) m_last_overhead = m.context.now() - *m_window_closed_at;
    m.steps.entered(*m.keeper.round(), m_window_closed_at);
    m_window_closed_at.reset();
    m_enough_at.reset();
    m.payload_post.round_begins();
    if (over()) {
        m.losses.last_is_here();
        m.machine.end(*m.keeper.round(), m.context.now());
    } else {
        enter_round();
        m.contributor.offer_again();
    }
    m.contributor.rebase_to_state();
    m.juror.round_begins();
    m.verdicts.repeat();
    m.losses.repeat();
    m.moderation.tell(m.context.swarm.neighbours());
    if (m.keeper.round()->value % m.context.manifest.recipe.checkpoint_every == 0)
        m.seeder.publish_checkpoint(*m.keeper.round());
    const RoundId needed{m.keeper.round()->value > states_kept ? m.keeper.round()->value - states_kept : 0};
    if (m.steps.light()) m.payloads.forget_unfinished_before(needed);
    m.payloads.release_before(needed);
    m.own_status.broadcast();
    m.repairer.compare_all();
}

void Rounds::replaced() {
    if (m.chain.replacement() == nullptr) return;
    m.ballots.enter();
    if (m.machine.playing()) enter_round();
}

// What a short way asks and means (shortcut.h).

bool Rounds::may_jump() const {
    return !m.keeper.applying() && !m.keeper.checking() && !m.repairer.active() && !m.catch_up.adopting();
}

RoundId Rounds::checkpoint_offered() const {
    const auto newest = m.seeder.newest_checkpoint();
    return newest ? newest->round : RoundId{0};
}

void Rounds::jumped(std::uint64_t accepted) {
    m.catch_up.jumped();
    m.contributor.skip(accepted);
    m.moderation.load();
    go_back();
    m.ballots.enter();
}

// What a mended state, or one that nobody can mend, means for the rest of the peer (repairer.h).

void Rounds::on_repair_begun() {
    m.machine.leave();
    m.own_status.changed();
}

void Rounds::on_repaired(const StateStore::Held& done) {
    m.keeper.hold(done);
    m.contributor.reload();
    if (*m.keeper.round() == m.chain.height()) entered();
    scrub();
    advance();
}

/// Back to an older state that is sound, and forward again from payloads or a checkpoint.
void Rounds::on_unrepairable(RoundId broken) {
    m.catch_up.fell_back();
    m.keeper.drop(broken);
    go_back();
}

/// After a repair: older states that are damaged too are not kept.
void Rounds::scrub() {
    std::vector<StateStore::Held> older;
    for (const StateStore::Held& one : m.store.held()) {
        if (one.round < *m.keeper.round()) older.push_back(one);
    }
    m.keeper.verify(older, [this](const std::vector<RoundId>& damaged) {
        for (const RoundId round : damaged) {
            if (m.keeper.round() != round && !m.contributor.anchored_at(round)) m.keeper.drop(round);
        }
    });
}

void Rounds::publish_for_repair(RoundId round, const StateDigest& digest) {
    m.seeder.publish_for_repair(round, digest);
}

void Rounds::check_invariants() const {
    POTLUCK_CHECK(!m.keeper.round() || *m.keeper.round() <= m.chain.height());
    POTLUCK_CHECK(!m_advancing);
}

}  // namespace potluck::peer
