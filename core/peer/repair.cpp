// What a mended state, or one that nobody can mend, means for the rest of the peer. See repairer.h.

#include <algorithm>
#include <utility>

#include "core/peer/impl.h"

namespace potluck::peer {

using run::Verdict;

void Peer::Impl::on_repair_begun() {
    machine.leave();
    candidates.clear();
    status_due = true;
}

void Peer::Impl::on_repaired(const StateStore::Held& done) {
    keeper.hold(done);
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

/// Back to an older state that is sound, and forward again from payloads or a checkpoint.
void Peer::Impl::on_unrepairable(RoundId broken) {
    fell_back = true;
    const StateDigest ours = keeper.digest();
    keeper.drop(broken);
    if (broken == chain.height() && chain.height().value > 0 && chain.digest_at(chain.height()) == ours) {
        // The digest on record may itself come from damaged bytes; the list is applied again.
        const auto last = chain.signed_list_at(RoundId{chain.height().value - 1});
        contributor.roll_back(RoundId{chain.height().value - 1});
        const Status taken = chain.retract(1);
        if (!taken.ok()) errors.report(taken.error().message);
        candidates.clear();
        CheckedList checked;
        if (last && chain.check(*last, checked) == Verdict::accepted) {
            (void)add_candidate(std::move(checked), context.self());
        }
        for (Candidate& one : candidates) one.eligible_since = now();
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
