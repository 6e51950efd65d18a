// The messages of one round that a member has taken from its committee: one slot for each (author, kind, view), the
// first message in it counts, a second different one is evidence. Memory is bounded whatever members send: few views
// behind the current one, and for each member the few highest views ahead of it.
//
// Does not: decide anything, or hold what is no member's.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <vector>

#include "core/run/agreement/evidence.h"

namespace potluck::run {

inline constexpr std::uint32_t views_behind_max = 2;  // the last one shows others how this member got on; one to spare
inline constexpr std::size_t views_ahead_max = 4;     // of one member; who lags jumps to where f + 1 are

/// What became of a message. Counted; never an error of ours.
enum class VoteVerdict {
    accepted,
    repeated,       // the same again
    contradicting,  // a second message in its slot: evidence, once for each slot
    other_run,      // another run or another term
    stale,          // an earlier round or a view long past
    ahead,          // a later round, or more views ahead than are kept of one member
    not_member,
    wrong_proposer,
    bad_signature,
    bad_proof,  // a certificate, or a proposal's proof, that no quorum signed
};
inline constexpr std::size_t vote_verdicts = 10;
[[nodiscard]] const char* name_of(VoteVerdict verdict);

class VoteBook {
public:
    VoteBook(Committee committee, std::vector<PeerId> proposers, const Keyring& keyring);

    struct Taken {
        VoteVerdict verdict = VoteVerdict::accepted;
        std::optional<Evidence> evidence;
    };
    /// `view` is the current one. The caller has checked the instance.
    [[nodiscard]] Taken take(const SignedVote& vote, std::uint32_t view);
    [[nodiscard]] Taken take(const SignedProposal& proposal, std::uint32_t view);
    [[nodiscard]] bool holds(const AgreementMessage& message) const;
    /// Forgets what is more than views_behind_max behind `view`.
    void forget_before(std::uint32_t view);

    [[nodiscard]] const PeerId& proposer(std::uint32_t view) const { return m_proposers[view % m_proposers.size()]; }
    [[nodiscard]] const SignedProposal* proposal(std::uint32_t view) const;
    /// Votes in a step of a view, whatever for.
    [[nodiscard]] std::size_t votes(std::uint32_t view, Step step) const;
    [[nodiscard]] std::size_t votes_for(std::uint32_t view, Step step, const std::optional<Digest>& list) const;
    /// A list with votes of a quorum in that step, as the certificate that says so.
    [[nodiscard]] std::optional<Certificate> certificate(std::uint32_t view, Step step) const;
    /// The highest view from `view` on in which f + 1 members have said anything.
    [[nodiscard]] std::optional<std::uint32_t> view_of_some(std::uint32_t view) const;
    /// Everything kept of a view, proposal first.
    [[nodiscard]] std::vector<AgreementMessage> messages(std::uint32_t view) const;
    /// The views of which something is kept, in order.
    [[nodiscard]] std::vector<std::uint32_t> views() const;

private:
    template <class Statement>
    struct Slot {
        std::optional<Signed<Statement>> first;
        bool contradicted = false;
    };
    using Votes = std::array<Slot<Vote>, committee_members_max>;
    struct View {
        Slot<Proposal> proposal;
        Votes prevotes, precommits;
        [[nodiscard]] const Votes& of(Step step) const { return step == Step::prevote ? prevotes : precommits; }
    };

    template <class Statement>
    [[nodiscard]] Taken take_into(const Signed<Statement>& message, std::uint32_t view);
    [[nodiscard]] Slot<Vote>& slot_of(const SignedVote& vote);
    [[nodiscard]] Slot<Proposal>& slot_of(const SignedProposal& proposal);
    [[nodiscard]] const Slot<Vote>* find_slot(const SignedVote& vote) const;
    [[nodiscard]] const Slot<Proposal>* find_slot(const SignedProposal& proposal) const;
    [[nodiscard]] bool spoke(const View& view, std::size_t member) const;
    [[nodiscard]] bool make_room(const PeerId& author, std::uint32_t wanted, std::uint32_t view);
    void erase(std::uint32_t view, const PeerId& author);

    Committee m_committee;
    std::vector<PeerId> m_proposers;
    const Keyring& m_keyring;
    std::map<std::uint32_t, View> m_views;
};

}  // namespace potluck::run
