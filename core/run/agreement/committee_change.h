// Who gets and who loses a seat of the committee: a pure rule over what a quorum's statuses say. A proposer puts its
// result into a list, the others vote for the list only if the rule tells them the same.
//
// Sizes are 1, 4 and 7, the least that stand 0, 1 and 2 liars; what lies between stands no more and waits more often.
//
//   grows       1 -> 4 when three others are fit, 4 -> 7 when six are
//   heals       who was silent for ten rounds is replaced by the fittest without a seat
//   shrinks     to the next size that is there whole, as soon as one more loss would leave no quorum
//   hands over  who leaves is replaced at once; the last seat goes to the fittest that is here, tried or not
//   expels      keys with evidence against them, and keys that are no longer trusted
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/run/agreement/committee.h"

namespace potluck::run {

inline constexpr std::uint32_t in_step_fit_min = 950;   // per mille of the last rounds
inline constexpr std::uint32_t silent_rounds_max = 10;  // a seat is kept over a restart, not over a night

enum class Attendance : std::uint8_t { away, here, leaving };

/// What is known of a trusted key or a member.
struct Standing {
    PeerId key;
    PeerId person;  // whose device it is; at most one of a person has a seat
    Attendance attendance = Attendance::away;
    std::uint32_t rounds_accepted = 0;  // rounds in which a contribution or a vote of it counted
    std::uint32_t in_step = 0;          // connected and in step, per mille of the last `fit_rounds`
    std::uint32_t rounds_silent = 0;    // since its last vote or status
    bool convicted = false;             // there is evidence that it voted twice
};

/// `shrunk`: no seat was left, because the committee became smaller or another device of the person has one.
enum class Departure { convicted, distrusted, handed_over, silent, shrunk };

struct CommitteeChange {
    Committee committee;         // from the next round on
    std::vector<PeerId> joined;  // sorted
    struct Left {
        PeerId key;
        Departure why = Departure::shrunk;
        bool operator==(const Left&) const = default;
    };
    std::vector<Left> left;  // sorted by key
    bool operator==(const CommitteeChange&) const = default;
};

/// The change that is due, if any. `trusted` is sorted (allow list and keys that the host named); who is not in it gets
/// no seat, however long it stays. `standings` is sorted by key; a key without one is away and unknown. `fit_rounds` is
/// the recipe's: rounds after which a key may sit.
[[nodiscard]] std::optional<CommitteeChange> next_committee(const Committee& committee,
                                                            const std::vector<PeerId>& trusted,
                                                            const std::vector<Standing>& standings,
                                                            std::uint32_t fit_rounds);

}  // namespace potluck::run
