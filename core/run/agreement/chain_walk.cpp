#include "core/run/agreement/chain_walk.h"

#include <algorithm>
#include <utility>

#include "core/run/agreement/vote.h"

namespace potluck::run {

bool are_signed_by_jurors(const AcceptList& list, const Verifier& verifier) {
    return std::all_of(list.suspensions.begin(), list.suspensions.end(), [&](const Suspension& one) {
        return std::all_of(one.verdicts.begin(), one.verdicts.end(), [&](const SignedVerdict& verdict) {
            return verifier.verify(verdict.juror, domain_of(MessageKind::verdict),
                                   signed_bytes(list.run, verdict.verdict), verdict.signature);
        });
    });
}

bool are_signed_by_measurers(const AcceptList& list, const Verifier& verifier) {
    if (!list.measured) return true;
    const Measured& measured = *list.measured;
    return std::all_of(measured.losses.begin(), measured.losses.end(), [&](const SignedLoss& one) {
        return is_certified(one.member, one.certificate, verifier) &&
               verifier.verify(one.member, domain_of(MessageKind::loss),
                               signed_bytes(list.run, measured.signed_by(one)), one.signature);
    });
}

ChainWalk::ChainWalk(const RunRules& rules, const Verifier& verifier)
    : m_run(rules.run), m_host(rules.host), m_verifier(&verifier), m_committee(rules.first_committee()) {}

const std::vector<PeerId>& ChainWalk::deciding(const AcceptList& list) const {
    const HostAction* replacement = list.replacement();
    return replacement == nullptr ? m_committee : replacement->committee;
}

void ChainWalk::go_on_behind(AcceptList head) {
    m_committee = head.committee;
    m_length = head.round.next();
    m_hash = head.hash();
    m_head = std::move(head);
}

std::string ChainWalk::fault_of(const CommittedList& committed, const AcceptList& list, Gap gap) const {
    const bool follows = list.round == m_length;
    const bool skips = gap == Gap::allowed && list.round > m_length;
    if (list.run != m_run || (!follows && !skips)) return "is that of another place";
    if (follows && list.previous != m_hash) return "does not follow the round before it";
    const HostAction* replacement = list.replacement();
    if (replacement != nullptr ? replacement->term <= term() || replacement->term != list.term : list.term != term()) {
        return "is of another committee's time";
    }
    const bool signed_by_host = std::all_of(list.actions.begin(), list.actions.end(), [&](const SignedAction& one) {
        return m_verifier->verify(m_host, domain_of(MessageKind::host_action), signed_bytes(m_run, one.action),
                                  one.signature);
    });
    if (!signed_by_host) return "holds a change that the run's host did not sign";
    if (!proves_commit(committed.certificate, list, deciding(list), *m_verifier)) {
        return "was not signed by a quorum of its committee";
    }
    const StateDigest base_before = m_head ? m_head->base : StateDigest{};
    const bool contributed = std::all_of(list.entries.begin(), list.entries.end(), [&](const Accepted& entry) {
        if (entry.late && !follows) return true;
        const Message message = contribution_of(list, entry, base_before);
        return m_verifier->verify(entry.peer, domain_of(MessageKind::contribution), signed_bytes(m_run, message),
                                  entry.signature) &&
               is_certified(entry.peer, entry.certificate, *m_verifier);
    });
    if (!contributed) return "names a contribution that its contributor did not sign";
    const auto& committee = deciding(list);
    const bool are_by_seats = std::all_of(list.suspensions.begin(), list.suspensions.end(),
                                          [&](const Suspension& one) { return is_by_seats(one, committee); });
    if (!are_by_seats) return "suspends a person without enough of its committee";
    if (!are_signed_by_jurors(list, *m_verifier)) return "suspends a person by a verdict that its juror did not sign";
    if (!are_signed_by_measurers(list, *m_verifier)) return "holds a loss that its member did not sign";
    return are_certified(list.committee_owners, *m_verifier) ? "" : "seats a computer that its person did not sign";
}

std::string ChainWalk::take(const CommittedList& committed, Gap gap) {
    Result<AcceptList> list = AcceptList::decode(committed.list);
    if (!list.ok()) return "does not decode";
    const Digest hash = list->hash();
    if (std::string fault = fault_of(committed, *list, gap); !fault.empty()) return fault;
    m_decided = deciding(*list);
    m_committee = list->committee;
    m_length = list->round.next();
    m_hash = hash;
    m_head = std::move(list).value();
    return {};
}

}  // namespace potluck::run
