// Algorithm 1 of Tendermint (arXiv 1807.04938), rule by rule; the numbers in the comments are the paper's lines. Rules
// are applied until none has anything to do, so their order does not matter.
//
// Invariants: (1) q precommits for a list in a view leave f + 1 honest members locked on it, who prevote nothing else
// without a polka of that view or a later one, which can then only be for the same list: no two lists are ever
// committed. (2) No own message is counted, repeated or sent before its record is on disk: until then it is in
// m_unsaved alone, so that no certificate shows a vote that a crash could undo.
//
// What differs from the paper, which assumes that every message reaches everybody in the end:
//  - a proposal carries the polka of its valid round, a view that is about to fail shows its polka, and what belongs to
//    this view and the one before is repeated, so that members that were cut off or restarted catch up;
//  - a commit needs no list at hand: q precommits are final, and members that lack the list fetch it;
//  - a polka is taken as the sign that its list was proposed.
#include "core/run/agreement/agreement.h"

#include <algorithm>
#include <utility>

#include "core/base/check.h"

namespace potluck::run {

namespace {

const Instance& instance_of(const AgreementMessage& message) {
    if (const auto* proposal = std::get_if<SignedProposal>(&message)) return proposal->statement.instance;
    if (const auto* vote = std::get_if<SignedVote>(&message)) return vote->statement.instance;
    return std::get<Certificate>(message).instance;
}

/// Null for certificates, which are nobody's.
const PeerId* author_of(const AgreementMessage& message) {
    if (const auto* proposal = std::get_if<SignedProposal>(&message)) return &proposal->author;
    if (const auto* vote = std::get_if<SignedVote>(&message)) return &vote->author;
    return nullptr;
}

std::uint32_t view_of(const AgreementMessage& message) {
    if (const auto* proposal = std::get_if<SignedProposal>(&message)) return proposal->statement.view;
    if (const auto* vote = std::get_if<SignedVote>(&message)) return vote->statement.view;
    return std::get<Certificate>(message).view;
}

/// One message of each of `count` authors: enough to make others jump.
std::vector<AgreementMessage> one_each(const std::vector<AgreementMessage>& messages, std::size_t count) {
    std::vector<AgreementMessage> chosen;
    for (const AgreementMessage& message : messages) {
        const bool is_new = std::none_of(chosen.begin(), chosen.end(), [&](const AgreementMessage& other) {
            return *author_of(other) == *author_of(message);
        });
        if (is_new && chosen.size() < count) chosen.push_back(message);
    }
    return chosen;
}

std::vector<AgreementMessage> precommits_of(const std::vector<AgreementMessage>& messages) {
    std::vector<AgreementMessage> chosen;
    for (const AgreementMessage& message : messages) {
        const auto* vote = std::get_if<SignedVote>(&message);
        if (vote != nullptr && vote->statement.step == Step::precommit) chosen.push_back(message);
    }
    return chosen;
}

bool is_due(const std::optional<TimePoint>& at, TimePoint now) { return at && now >= *at; }

}  // namespace

Agreement::Agreement(AgreementSettings settings, const Keyring& keyring, ListSource& lists,
                     std::optional<VoteRecord> saved)
    : m_settings(std::move(settings)),
      m_keyring(keyring),
      m_lists(lists),
      m_book(m_settings.committee, proposer_order(m_settings.committee, m_settings.previous), keyring),
      m_votes(m_settings.committee.index_of(keyring.self()).has_value()) {
    m_record.author = keyring.self();
    m_record.instance = m_settings.instance;
    if (!saved || saved->author != keyring.self()) return;
    const Instance& ours = m_settings.instance;
    const bool is_earlier = saved->instance.run == ours.run &&
                            std::pair(saved->instance.term, saved->instance.round) < std::pair(ours.term, ours.round);
    if (saved->instance == ours)
        restore(*saved);
    else if (!is_earlier)
        abstain();
}

void Agreement::restore(const VoteRecord& saved) {
    m_restored = true;
    m_record = saved;
    m_polka = saved.valid;
    for (const AgreementMessage& message : saved.entry) {
        if (const auto* proposal = std::get_if<SignedProposal>(&message)) (void)m_book.take(*proposal, saved.view);
        if (const auto* vote = std::get_if<SignedVote>(&message)) (void)m_book.take(*vote, saved.view);
        if (const auto* polka = std::get_if<Certificate>(&message)) note_polka(*polka);
    }
    if (saved.proposal) (void)m_book.take(*saved.proposal, saved.view);
    if (saved.prevote) (void)m_book.take(*saved.prevote, saved.view);
    if (saved.precommit) (void)m_book.take(*saved.precommit, saved.view);
}

Actions Agreement::start(TimePoint now) {
    if (m_phase == Phase::idle) begin(now);
    return tick(now);
}

Actions Agreement::receive(const AgreementMessage& message, TimePoint now) {
    Actions out;
    out.verdict = take(message, now, out);
    ++m_counts[static_cast<std::size_t>(out.verdict)];
    apply_rules(now, out);
    // Who still votes on what was decided a while ago has missed it.
    const PeerId* author = author_of(message);
    const bool is_behind = m_decision && !out.decided && author != nullptr && *author != m_keyring.self() &&
                           instance_of(message) == m_settings.instance && m_settings.committee.index_of(*author);
    if (is_behind && now >= m_repeat_at) {
        out.send.emplace_back(*m_decision);
        m_repeat_at = now + m_settings.times.repeat;
    }
    return out;
}

VoteVerdict Agreement::take(const AgreementMessage& message, TimePoint now, Actions& out) {
    const Instance& theirs = instance_of(message);
    const Instance& ours = m_settings.instance;
    if (theirs.run != ours.run || theirs.term != ours.term) return VoteVerdict::other_run;
    if (theirs.round < ours.round) return VoteVerdict::stale;
    if (theirs.round > ours.round) return VoteVerdict::ahead;
    if (const auto* certificate = std::get_if<Certificate>(&message)) return take_certificate(*certificate, now, out);

    const auto* proposal = std::get_if<SignedProposal>(&message);
    VoteBook::Taken taken = proposal != nullptr ? m_book.take(*proposal, m_record.view)
                                                : m_book.take(std::get<SignedVote>(message), m_record.view);
    if (taken.evidence) out.evidence.push_back(std::move(*taken.evidence));
    const bool is_new = taken.verdict == VoteVerdict::accepted || taken.verdict == VoteVerdict::contradicting;
    // An own vote that this member does not remember: its disk lost one. Voting on could contradict it.
    if (is_new && *author_of(message) == m_keyring.self() && view_of(message) >= m_record.view) abstain();
    if (taken.verdict == VoteVerdict::accepted && proposal != nullptr && proposal->statement.proof) {
        note_polka(*proposal->statement.proof);
    }
    return taken.verdict;
}

VoteVerdict Agreement::take_certificate(const Certificate& certificate, TimePoint now, Actions& out) {
    const bool is_polka = certificate.step == Step::prevote;
    if (is_polka ? m_polka && certificate.view <= m_polka->view : m_decision.has_value()) return VoteVerdict::repeated;
    if (!certifies(certificate, m_settings.committee, m_keyring)) return VoteVerdict::bad_proof;
    if (is_polka)
        note_polka(certificate);
    else
        commit(certificate, now, out);
    return VoteVerdict::accepted;
}

Actions Agreement::persisted(std::uint64_t number, TimePoint now) {
    POTLUCK_CHECK(number <= m_asked_number);
    Actions out;
    while (!m_unsaved.empty() && m_unsaved.front().number <= number) {
        AgreementMessage message = std::move(m_unsaved.front().message);
        m_unsaved.pop_front();
        if (const auto* proposal = std::get_if<SignedProposal>(&message)) (void)m_book.take(*proposal, m_record.view);
        if (const auto* vote = std::get_if<SignedVote>(&message)) (void)m_book.take(*vote, m_record.view);
        out.send.push_back(std::move(message));
    }
    apply_rules(now, out);
    return out;
}

Actions Agreement::reconsider(TimePoint now) {
    Actions out;
    apply_rules(now, out);
    return out;
}

Actions Agreement::tick(TimePoint now) {
    Actions out;
    if (m_votes && !m_decision && m_phase != Phase::idle) {
        if (m_phase == Phase::propose && is_due(m_propose_due, now)) vote(Step::prevote, std::nullopt);    // 57-60
        if (m_phase == Phase::prevote && is_due(m_prevote_due, now)) vote(Step::precommit, std::nullopt);  // 61-64
        if (is_due(m_precommit_due, now) && view() < view_max) {                                           // 65-67
            enter(view() + 1, precommits_of(m_book.messages(view())), now);
        }
        if (now >= m_repeat_at) repeat(now, out);
    }
    apply_rules(now, out);
    return out;
}

std::optional<TimePoint> Agreement::wake_at() const {
    if (!m_votes || m_decision || m_phase == Phase::idle) return std::nullopt;
    TimePoint next = m_repeat_at;
    if (m_phase == Phase::propose && m_propose_due) next = std::min(next, *m_propose_due);
    if (m_phase == Phase::prevote && m_prevote_due) next = std::min(next, *m_prevote_due);
    if (m_precommit_due && view() < view_max) next = std::min(next, *m_precommit_due);
    return next;
}

void Agreement::apply_rules(TimePoint now, Actions& out) {
    if (!m_decision) decide(now, out);
    if (!m_decision && m_votes) {
        while (follow(now) || propose() || prevote_proposal() || adopt_polka() || precommit()) {
        }
        schedule(now, out);
    }
    if (m_decision) m_unsaved.clear();  // the certificate says it all
    if (m_unsaved.empty() || m_asked_number == m_last_number) return;
    m_asked_number = m_last_number;
    out.persist = Actions::Persist{m_asked_number, m_record};
}

/// 49-54. The list need not be here: f + 1 honest members have held it.
void Agreement::decide(TimePoint now, Actions& out) {
    for (const std::uint32_t view : m_book.views()) {
        const std::optional<Certificate> certificate = m_book.certificate(view, Step::precommit);
        if (certificate) return commit(*certificate, now, out);
    }
}

void Agreement::commit(const Certificate& certificate, TimePoint now, Actions& out) {
    m_decision = certificate;
    out.decided = certificate;
    m_repeat_at = now + m_settings.times.repeat;
}

void Agreement::begin(TimePoint now) {
    const std::optional<SignedVote>& prevote = m_record.prevote;
    const std::optional<SignedVote>& precommit = m_record.precommit;
    if (!m_restored) return enter(0, {}, now);
    m_phase = precommit ? Phase::precommit : prevote ? Phase::prevote : Phase::propose;
    m_propose_due = now + long_for(m_settings.times.propose);
    m_repeat_at = now;
}

/// 55-56: f + 1 members are in a later view, so an honest one is; a polka of that view says the same.
bool Agreement::follow(TimePoint now) {
    const bool is_idle = m_phase == Phase::idle;
    const std::uint32_t least = is_idle ? view() : view() + 1;
    const std::optional<std::uint32_t> seen = m_book.view_of_some(least);
    const bool by_polka = m_polka && m_polka->view >= std::max(least, seen.value_or(0));
    if (!by_polka && !seen) return false;
    const std::uint32_t target = by_polka ? m_polka->view : *seen;
    if (is_idle && target == view())
        begin(now);
    else if (by_polka)
        enter(target, {*m_polka}, now);
    else
        enter(target, one_each(m_book.messages(target), m_settings.committee.faults() + 1), now);
    return true;
}

/// 11-21.
void Agreement::enter(std::uint32_t view, std::vector<AgreementMessage> entry, TimePoint now) {
    m_record.view = view;
    m_record.proposal.reset();
    m_record.prevote.reset();
    m_record.precommit.reset();
    m_record.entry = std::move(entry);
    m_phase = Phase::propose;
    m_propose_due = now + long_for(m_settings.times.propose);
    m_prevote_due.reset();
    m_precommit_due.reset();
    m_repeat_at = now + m_settings.times.repeat;
    m_book.forget_before(view);
}

/// 14-19: the valid list of an earlier view with its polka, or a list of one's own.
bool Agreement::propose() {
    const bool is_turn = m_phase == Phase::propose && m_book.proposer(view()) == m_keyring.self();
    if (!is_turn || m_record.proposal) return false;
    Proposal proposal{m_settings.instance, view(), {}, {}};
    if (m_record.valid) {
        if (m_record.valid->view >= view()) return false;
        proposal.list = m_record.valid->list;
        proposal.proof = m_record.valid;
    } else {
        const std::optional<Digest> list = m_lists.list_to_propose();
        if (!list) return false;
        proposal.list = *list;
    }
    m_record.proposal = sign(proposal, m_keyring);
    m_unsaved.push_back({++m_last_number, *m_record.proposal});
    return true;
}

/// 22-33. A list that is not known yet is waited for until the time-out.
bool Agreement::prevote_proposal() {
    const SignedProposal* proposal = m_phase == Phase::propose ? m_book.proposal(view()) : nullptr;
    if (proposal == nullptr) return false;
    const Proposal& offer = proposal->statement;
    const std::optional<Lock>& locked = m_record.locked;
    const bool lock_allows =
        !locked || locked->list == offer.list || (offer.proof && locked->view <= offer.proof->view);
    const Validity validity = lock_allows ? m_lists.validity(offer.list) : Validity::invalid;
    if (validity == Validity::unknown) return false;
    vote(Step::prevote, validity == Validity::valid ? std::optional(offer.list) : std::nullopt);
    return true;
}

/// 42-43, of this view or an earlier one: the list that this member would propose.
bool Agreement::adopt_polka() {
    if (const auto polka = m_book.certificate(view(), Step::prevote)) note_polka(*polka);
    if (!m_polka || (m_record.valid && m_record.valid->view >= m_polka->view)) return false;
    if (m_lists.validity(m_polka->list) != Validity::valid) return false;
    m_record.valid = m_polka;
    return true;
}

/// 36-41 and 44-46.
bool Agreement::precommit() {
    if (m_phase != Phase::prevote) return false;
    if (m_record.valid && m_record.valid->view == view()) {
        m_record.locked = Lock{view(), m_record.valid->list};
        vote(Step::precommit, m_record.locked->list);
        return true;
    }
    if (m_book.votes_for(view(), Step::prevote, std::nullopt) < m_settings.committee.quorum()) return false;
    vote(Step::precommit, std::nullopt);
    return true;
}

void Agreement::note_polka(const Certificate& polka) {
    if (!m_polka || polka.view > m_polka->view) m_polka = polka;
}

/// 34-35 and 47-48. Precommits of a quorum without a commit mean that this view may fail: its polka, which not
/// everybody may have seen, is shown before the next one begins.
void Agreement::schedule(TimePoint now, Actions& out) {
    const std::size_t quorum = m_settings.committee.quorum();
    if (m_phase == Phase::prevote && !m_prevote_due && m_book.votes(view(), Step::prevote) >= quorum) {
        m_prevote_due = now + long_for(m_settings.times.prevote);
    }
    if (m_phase == Phase::idle || m_precommit_due || m_book.votes(view(), Step::precommit) < quorum) return;
    m_precommit_due = now + long_for(m_settings.times.precommit);
    if (m_polka && m_polka->view == view()) out.send.emplace_back(*m_polka);
}

/// What others may have lost, and what shows them that they may follow here: this view, the one before, the newest
/// polka.
void Agreement::repeat(TimePoint now, Actions& out) {
    m_repeat_at = now + m_settings.times.repeat;
    if (m_polka) out.send.emplace_back(*m_polka);
    for (const std::uint32_t view : m_book.views()) {
        if (view > m_record.view || view + 1 < m_record.view) continue;
        for (AgreementMessage& message : m_book.messages(view)) out.send.push_back(std::move(message));
    }
}

void Agreement::vote(Step step, const std::optional<Digest>& list) {
    const SignedVote signed_vote = sign(Vote{m_settings.instance, view(), step, list}, m_keyring);
    (step == Step::prevote ? m_record.prevote : m_record.precommit) = signed_vote;
    m_phase = step == Step::prevote ? Phase::prevote : Phase::precommit;
    m_unsaved.push_back({++m_last_number, signed_vote});
}

void Agreement::abstain() {
    m_votes = false;
    m_unsaved.clear();
}

}  // namespace potluck::run
