// What a committee member writes to disk before it sends a vote, so that a computer that is killed at any moment goes
// on where it was and never votes twice: its lock, its own messages of the current view, and what others need to follow
// it there. It replaces the record before it; one is enough, because a member never returns to an earlier view.
#pragma once

#include "core/run/agreement/vote.h"

namespace potluck::run {

inline constexpr std::size_t entry_messages_max = committee_members_max;
inline constexpr std::size_t vote_record_bytes_max = (entry_messages_max + 5) * agreement_message_bytes_max;

/// A list for which this member precommitted (the paper's locked value and round).
struct Lock {
    std::uint32_t view = 0;
    Digest list;
    bool operator==(const Lock&) const = default;
};

struct VoteRecord {
    PeerId author;
    Instance instance;
    std::uint32_t view = 0;
    std::optional<Lock> locked;
    std::optional<Certificate> valid;        // the newest polka for a valid list; there is one wherever there is a lock
    std::optional<SignedProposal> proposal;  // this and the next two: of `view`
    std::optional<SignedVote> prevote, precommit;
    /// What made this member enter the view. Should all computers lose power at once, it is all that can show those
    /// who were behind that they may follow.
    std::vector<AgreementMessage> entry;
    bool operator==(const VoteRecord&) const = default;

    /// Ends with a SHA-256, because a bit that rots in a lock would make an honest member lie.
    [[nodiscard]] Bytes encode() const;
    [[nodiscard]] static Result<VoteRecord> decode(ByteSpan bytes);
};

}  // namespace potluck::run
