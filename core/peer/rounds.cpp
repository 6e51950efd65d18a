// From one round to the next. The committee commits L[height] (ballots.h); once its payloads are here F is run, and
// only when theta[height + 1] is on disk does the list enter the ledger (state_keeper.h) and the next round begin.
//
// The base of a committed list is what a quorum has computed for theta[height]. If this member has computed something
// else, it is this member that is wrong: its record is corrected and its state repaired before it goes on.
//
// advance() runs whatever has become possible, at most four times in a row; the next tick goes on from there.
//
// Threads: the peer's.

#include <algorithm>
#include <utility>

#include "core/base/log.h"
#include "core/peer/impl.h"

namespace potluck::peer {

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
        if (chain.retracted_from()) {
            retract();
        } else if (!keeper.round()) {
            catch_up.find_first_state();
        } else if (!repairer.active()) {
            if (*keeper.round() < chain.height()) {
                machine.leave();
                catch_up.step();
            } else if (in_step()) {
                over() ? close_run() : apply_decision();
            }
        }
        if (!advance_again) break;
    }
    advancing = false;
}

/// Whether everybody can take up the run again at `round`: lists and a state that lead there are kept.
Status Peer::Impl::may_go_back_to(RoundId round) const {
    const RoundId height = chain.height();
    if (round > height) {
        return Error{ErrorCode::invalid_argument, "This computer knows of " + std::to_string(height.value) +
                                                      " rounds; the new committee can follow one of those only."};
    }
    if (round == height) return {};
    if (round <= chain.kept_from() && round.value > 0) {
        return Error{ErrorCode::invalid_argument, "This computer does not hold the lists before round " +
                                                      std::to_string(chain.kept_from().value + 1) +
                                                      "; the new committee can follow a later one only."};
    }
    // Payloads are kept from the older of two checkpoints on. What lies before every kept state, nobody may have: the
    // run would stand still with a committee and without a model.
    std::optional<RoundId> oldest;
    for (const StateStore::Held& one : world.store.held()) {
        if (keeper.fits(one) && (!oldest || one.round < *oldest)) oldest = one.round;
    }
    if (oldest && *oldest <= round) return {};
    if (!oldest) return Error{ErrorCode::not_found, "This computer holds no state of the run yet; try again later."};
    return Error{ErrorCode::not_found, "This computer keeps no state that leads to round " +
                                           std::to_string(round.value) + "; the new committee can follow round " +
                                           std::to_string(oldest->value) + " or a later one."};
}

/// The host has put another committee in the place of one that went further. Back to the last list that stays.
void Peer::Impl::retract() {
    if (keeper.applying() || keeper.checking() || repairer.active()) return;
    const RoundId first = *chain.retracted_from();
    std::vector<run::AcceptList> lists;
    for (RoundId round = first; round < chain.height(); round = round.next()) {
        if (auto list = chain.list_at(round)) lists.push_back(std::move(*list));
    }
    log::of("peer").warn("the run's host has replaced the committee: {} rounds are taken back", lists.size());
    contributor.take_back(lists);
    if (const Status retracted = chain.retract(first); !retracted.ok()) {
        errors.report(retracted.error().message);
        keeper.retry_later();
        return;
    }
    moderation.load();
    go_back();
    ballots.enter();
}

/// To the newest sound state that fits the chain; forward again from payloads or a checkpoint.
void Peer::Impl::go_back() {
    machine.leave();
    own_status.changed();
    contributor.stop_trainer();
    contributor.retry_now();
    keeper.fall_back([this] {
        if (keeper.round()) self_check.verified(*keeper.round());
        if (keeper.round() && *keeper.round() == chain.height()) entered();
        advance();
    });
}

/// Applies L[height] as soon as it is committed and whole.
void Peer::Impl::apply_decision() {
    const CheckedList* decision = ballots.decision();
    if (decision == nullptr || !keeper.may_apply() || !agrees_with_base(decision->list)) return;
    if (!catch_up.has_inputs_of(decision->list)) return catch_up.wait_for_payloads(decision->list);
    const auto chosen = std::make_shared<const CheckedList>(*decision);
    catch_up.apply(chosen->list, chosen);
}

/// The last state has no list that starts from it; an empty one certifies it for those who come later.
void Peer::Impl::close_run() {
    const CheckedList* decision = ballots.decision();
    if (chain.closed() || decision == nullptr || !agrees_with_base(decision->list)) return;
    const Status kept = chain.append(*decision, decision->list.base);
    if (!kept.ok()) return errors.report(kept.error().message);
    shortcut.publish_tables();
}

/// Whether our theta[height] is the one that the committee has; if not, it will be.
bool Peer::Impl::agrees_with_base(const run::AcceptList& list) {
    if (chain.digest_at(chain.height()) == list.base) return true;
    if (chain.height().value == 0) {
        errors.report("The run's committee began with another model than the run's link names; this run is broken.");
        return false;
    }
    mend(list.base);
    return false;
}

/// What a quorum has certified as theta[round]; nothing while no list that starts from it is committed.
std::optional<StateDigest> Peer::Impl::certified(RoundId round) const {
    if (round < chain.height() || chain.closed()) return chain.digest_at(round);
    if (const CheckedList* decision = ballots.decision()) return decision->list.base;
    return std::nullopt;
}

/// The newest state is not the certified one. If F made it here, F is computed once more, from bytes that are verified
/// first; only then are the pieces that differ fetched.
void Peer::Impl::mend(const StateDigest& right) {
    const RoundId round = *keeper.round();
    if (round == chain.height()) {
        if (const Status kept = chain.correct_result(right); !kept.ok()) {
            errors.report(kept.error().message);
            return keeper.retry_later();
        }
    }
    const RoundId before{round.value - 1};
    const auto list = chain.list_at(before);
    const bool is_computable = list && !list->entries.empty() && keeper.holds(before) && catch_up.has_inputs_of(*list);
    if (!is_computable || !self_check.doubt(newest_outcome(), list->committee.size())) {
        return repairer.begin({round, right}, members.neighbours());
    }
    keeper.drop(round);
    go_back();
}

SelfCheck::Outcome Peer::Impl::newest_outcome() const {
    return {*keeper.round(), chain.hash_before(*keeper.round()), keeper.digest()};
}

/// A state that was to be computed may be one that came out wrong before.
void Peer::Impl::judge_arithmetic(const StateDigest& right) {
    const SelfCheck::Finding finding = self_check.again(newest_outcome(), right, keeper.whole_payloads());
    if (finding == SelfCheck::Finding::nothing) return;
    if (keeper.digest() == right) repairer.count_recomputed();
    spdlog::logger& log = log::of("peer");
    const std::uint64_t round = keeper.round()->value;
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

Status Peer::Impl::append(const CheckedList& fresh, const StateDigest& result) { return chain.append(fresh, result); }

/// `checked` is in the ledger now, at its end.
void Peer::Impl::appended(const CheckedList& checked) {
    contributor.settle(checked.list.round, checked.list);
    moderation.settle();
    if (!checked.list.actions.empty()) moderated(checked.list);
    const bool may_be_late = chain.before().has_value();
    payloads.forget_refused(checked.list, may_be_late ? checked.list.round : checked.list.round.next(),
                            contributor.payloads_needed());
    seats.count_round();
    if (checked.list.table) shortcut.publish_tables();
    ballots.enter();
}

void Peer::Impl::moderated(const run::AcceptList& list) {
    for (const run::SignedAction& one : list.actions) {
        log::of("peer").info("the host's action {} is in force: {}", one.action.number, describe(one.action));
    }
    if (list.roll_back() != nullptr) contributor.start_over();
}

void Peer::Impl::on_applied(const CheckedList* fresh) {
    catch_up.applied();
    if (fresh != nullptr) appended(*fresh);
    const RoundId round = *keeper.round();
    const std::optional<StateDigest> right = certified(round);
    if (right) judge_arithmetic(*right);
    if (right && *right != keeper.digest()) {
        mend(*right);
    } else {
        // What was on record for the newest state came from bytes that were damaged since.
        if (chain.digest_at(round) != keeper.digest()) (void)chain.correct_result(keeper.digest());
        if (round == chain.height()) entered();
    }
    advance();
}

void Peer::Impl::enter_round() {
    const RoundId round = *keeper.round();
    machine.enter(round, keeper.digest(), chain.committee(), now(), chain.before(),
                  {chain.hash_before(round), chain.recent_contributors()});
}

/// theta[chain] is held: the round begins, or the run is over.
void Peer::Impl::entered() {
    entered_at = now();
    catch_up.caught_up();
    if (window_closed_at) last_round_overhead = now() - *window_closed_at;
    window_closed_at.reset();
    payload_post.round_begins();
    if (over()) {
        machine.end(*keeper.round(), now());
    } else {
        enter_round();
        contributor.offer_again();
    }
    contributor.rebase_to_state();
    moderation.tell(world.swarm.neighbours());
    if (keeper.round()->value % manifest.recipe.checkpoint_every == 0) seeder.publish_checkpoint(*keeper.round());
    payloads.release_before(RoundId{keeper.round()->value > states_kept ? keeper.round()->value - states_kept : 0});
    own_status.broadcast();
    repairer.compare_all();
}

// What a short way asks and means (shortcut.h).

bool Peer::Impl::may_jump() const {
    return !keeper.applying() && !keeper.checking() && !repairer.active() && !catch_up.adopting();
}

RoundId Peer::Impl::checkpoint_offered() const {
    const auto newest = seeder.newest_checkpoint();
    return newest ? newest->round : RoundId{0};
}

void Peer::Impl::jumped(std::uint64_t accepted) {
    catch_up.jumped();
    contributor.skip(accepted);
    moderation.load();
    go_back();
    ballots.enter();
}

// What a mended state, or one that nobody can mend, means for the rest of the peer (repairer.h).

void Peer::Impl::on_repair_begun() {
    machine.leave();
    own_status.changed();
}

void Peer::Impl::on_repaired(const StateStore::Held& done) {
    keeper.hold(done);
    contributor.reload();
    if (*keeper.round() == chain.height()) entered();
    scrub();
    advance();
}

/// Back to an older state that is sound, and forward again from payloads or a checkpoint.
void Peer::Impl::on_unrepairable(RoundId broken) {
    catch_up.fell_back();
    keeper.drop(broken);
    go_back();
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
