// A message passes from the cheap checks to the dear one: member, view, proposer, the same again; the signature last,
// so that what is repeated or a stranger's costs no arithmetic.
//
// Ahead of the current view each member has room for its views_ahead_max highest views, and a higher one takes the
// place of its lowest. A member that names views far away spends its own room only; the honest ones of a committee that
// moved on are close to each other, so that f + 1 of them meet in one view and a member that lags can jump there.
#include "core/run/agreement/vote_book.h"

#include <utility>

#include "core/base/check.h"

namespace potluck::run {

const char* name_of(VoteVerdict verdict) {
    switch (verdict) {
        case VoteVerdict::accepted: return "accepted";
        case VoteVerdict::repeated: return "repeated";
        case VoteVerdict::contradicting: return "contradicting";
        case VoteVerdict::other_run: return "other_run";
        case VoteVerdict::stale: return "stale";
        case VoteVerdict::ahead: return "ahead";
        case VoteVerdict::not_member: return "not_member";
        case VoteVerdict::wrong_proposer: return "wrong_proposer";
        case VoteVerdict::bad_signature: return "bad_signature";
        case VoteVerdict::bad_proof: return "bad_proof";
    }
    return "unknown";
}

VoteBook::VoteBook(Committee committee, std::vector<PeerId> proposers, const Keyring& keyring)
    : m_committee(std::move(committee)), m_proposers(std::move(proposers)), m_keyring(keyring) {
    POTLUCK_CHECK(m_proposers.size() == m_committee.size());
}

VoteBook::Taken VoteBook::take(const SignedVote& vote, std::uint32_t view) { return take_into(vote, view); }

VoteBook::Taken VoteBook::take(const SignedProposal& proposal, std::uint32_t view) {
    if (!m_committee.index_of(proposal.author)) return {VoteVerdict::not_member, {}};
    if (proposal.author != proposer(proposal.statement.view)) return {VoteVerdict::wrong_proposer, {}};
    const std::optional<Certificate>& proof = proposal.statement.proof;
    const bool is_new = !holds(proposal) && proposal.statement.view + views_behind_max >= view;
    if (proof && is_new && !certifies(*proof, m_committee, m_keyring)) return {VoteVerdict::bad_proof, {}};
    return take_into(proposal, view);
}

template <class Statement>
VoteBook::Taken VoteBook::take_into(const Signed<Statement>& message, std::uint32_t view) {
    if (!m_committee.index_of(message.author)) return {VoteVerdict::not_member, {}};
    if (message.statement.view + views_behind_max < view) return {VoteVerdict::stale, {}};
    if (holds(message)) return {VoteVerdict::repeated, {}};
    if (!signature_holds(message, m_keyring)) return {VoteVerdict::bad_signature, {}};
    const auto* taken = find_slot(message);
    if (taken != nullptr && taken->first) {
        if (taken->contradicted) return {VoteVerdict::contradicting, {}};
        slot_of(message).contradicted = true;
        return {VoteVerdict::contradicting, make_evidence(*taken->first, message)};
    }
    if (!make_room(message.author, message.statement.view, view)) return {VoteVerdict::ahead, {}};
    slot_of(message).first = message;
    return {};
}

VoteBook::Slot<Vote>& VoteBook::slot_of(const SignedVote& vote) {
    View& view = m_views[vote.statement.view];
    Votes& votes = vote.statement.step == Step::prevote ? view.prevotes : view.precommits;
    return votes[*m_committee.index_of(vote.author)];
}

VoteBook::Slot<Proposal>& VoteBook::slot_of(const SignedProposal& proposal) {
    return m_views[proposal.statement.view].proposal;
}

const VoteBook::Slot<Vote>* VoteBook::find_slot(const SignedVote& vote) const {
    const auto view = m_views.find(vote.statement.view);
    const auto member = m_committee.index_of(vote.author);
    if (view == m_views.end() || !member) return nullptr;
    return &view->second.of(vote.statement.step)[*member];
}

const VoteBook::Slot<Proposal>* VoteBook::find_slot(const SignedProposal& proposal) const {
    const auto view = m_views.find(proposal.statement.view);
    return view == m_views.end() ? nullptr : &view->second.proposal;
}

bool VoteBook::holds(const AgreementMessage& message) const {
    const auto is_in = [](const auto* slot, const auto& sought) {
        return slot != nullptr && slot->first && slot->first->author == sought.author &&
               slot->first->statement == sought.statement;
    };
    if (const auto* vote = std::get_if<SignedVote>(&message)) return is_in(find_slot(*vote), *vote);
    const auto* proposal = std::get_if<SignedProposal>(&message);
    return proposal != nullptr && is_in(find_slot(*proposal), *proposal);
}

bool VoteBook::spoke(const View& view, std::size_t member) const {
    const std::optional<SignedProposal>& proposal = view.proposal.first;
    return view.prevotes[member].first || view.precommits[member].first ||
           (proposal && proposal->author == m_committee.members()[member]);
}

/// Whether a message of `author` in view `wanted` may be kept, after forgetting its lowest view ahead if need be.
bool VoteBook::make_room(const PeerId& author, std::uint32_t wanted, std::uint32_t view) {
    if (wanted <= view) return true;
    const std::size_t member = *m_committee.index_of(author);
    std::vector<std::uint32_t> ahead;
    for (auto it = m_views.upper_bound(view); it != m_views.end(); ++it) {
        if (spoke(it->second, member)) ahead.push_back(it->first);
        if (it->first == wanted && spoke(it->second, member)) return true;
    }
    if (ahead.size() < views_ahead_max) return true;
    if (wanted < ahead.front()) return false;
    erase(ahead.front(), author);
    return true;
}

void VoteBook::erase(std::uint32_t view, const PeerId& author) {
    const auto found = m_views.find(view);
    const std::size_t member = *m_committee.index_of(author);
    found->second.prevotes[member] = {};
    found->second.precommits[member] = {};
    if (proposer(view) == author) found->second.proposal = {};
    for (std::size_t i = 0; i < m_committee.size(); ++i) {
        if (spoke(found->second, i)) return;
    }
    m_views.erase(found);
}

void VoteBook::forget_before(std::uint32_t view) {
    while (!m_views.empty() && m_views.begin()->first + views_behind_max < view) m_views.erase(m_views.begin());
}

const SignedProposal* VoteBook::proposal(std::uint32_t view) const {
    const auto found = m_views.find(view);
    return found != m_views.end() && found->second.proposal.first ? &*found->second.proposal.first : nullptr;
}

std::size_t VoteBook::votes(std::uint32_t view, Step step) const {
    const auto found = m_views.find(view);
    if (found == m_views.end()) return 0;
    std::size_t count = 0;
    for (const Slot<Vote>& slot : found->second.of(step)) count += slot.first ? 1 : 0;
    return count;
}

std::size_t VoteBook::votes_for(std::uint32_t view, Step step, const std::optional<Digest>& list) const {
    const auto found = m_views.find(view);
    if (found == m_views.end()) return 0;
    std::size_t count = 0;
    for (const Slot<Vote>& slot : found->second.of(step))
        count += slot.first && slot.first->statement.list == list ? 1 : 0;
    return count;
}

std::optional<Certificate> VoteBook::certificate(std::uint32_t view, Step step) const {
    const auto found = m_views.find(view);
    if (found == m_views.end()) return std::nullopt;
    const Votes& votes = found->second.of(step);
    for (const Slot<Vote>& candidate : votes) {
        if (!candidate.first || !candidate.first->statement.list) continue;
        const Vote& vote = candidate.first->statement;
        if (votes_for(view, step, vote.list) < m_committee.quorum()) continue;
        Certificate certificate{vote.instance, view, step, *vote.list, 0, {}};
        for (std::size_t i = 0; i < m_committee.size(); ++i) {
            if (certificate.signatures.size() == m_committee.quorum()) break;
            if (!votes[i].first || votes[i].first->statement.list != vote.list) continue;
            certificate.signers = static_cast<std::uint8_t>(certificate.signers | 1U << i);
            certificate.signatures.push_back(votes[i].first->signature);
        }
        return certificate;
    }
    return std::nullopt;
}

std::optional<std::uint32_t> VoteBook::view_of_some(std::uint32_t view) const {
    for (auto it = m_views.rbegin(); it != m_views.rend() && it->first >= view; ++it) {
        std::size_t speakers = 0;
        for (std::size_t i = 0; i < m_committee.size(); ++i) speakers += spoke(it->second, i) ? 1 : 0;
        if (speakers > m_committee.faults()) return it->first;
    }
    return std::nullopt;
}

std::vector<AgreementMessage> VoteBook::messages(std::uint32_t view) const {
    std::vector<AgreementMessage> all;
    const auto found = m_views.find(view);
    if (found == m_views.end()) return all;
    if (found->second.proposal.first) all.emplace_back(*found->second.proposal.first);
    for (const Step step : {Step::prevote, Step::precommit}) {
        for (const Slot<Vote>& slot : found->second.of(step)) {
            if (slot.first) all.emplace_back(*slot.first);
        }
    }
    return all;
}

std::vector<std::uint32_t> VoteBook::views() const {
    std::vector<std::uint32_t> all;
    for (const auto& [view, messages] : m_views) all.push_back(view);
    return all;
}

}  // namespace potluck::run
