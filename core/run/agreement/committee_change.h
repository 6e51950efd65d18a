// Who gets and who loses a seat of the committee: a pure rule over what a quorum's statuses say. A proposer puts its
// result into a list, the others vote for the list only if the rule tells them the same.
//
// Sizes are 1, 4 and 7, the least that stand 0, 1 and 2 liars; what lies between stands no more and waits more often.
//
//   grows       1 -> 4 when three others are fit, 4 -> 7 when six are
//   heals       a seat that was silent for ten rounds goes to the fittest member without one
//   hands over  a member that leaves is replaced at once, by an untried member rather than by nobody
//   expels      keys with evidence against them, and keys that are no longer trusted, once others can replace them
//
// It never shrinks. Absence costs it time: without a quorum the run waits, until seats come back or the host names a
// smaller committee (ActionKind::replace). A committee that shrank by itself would stand fewer liars than it has: two
// of seven could be two of four, and one of four alone.
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
    bool light = false;                 // takes sums from seats: its line does not carry what a seat has to fetch
};

/// `duplicate`: another device of the same person keeps its seat.
enum class Departure { convicted, distrusted, handed_over, silent, duplicate };

struct CommitteeChange {
    Committee committee;         // from the next round on
    std::vector<PeerId> joined;  // sorted
    struct Left {
        PeerId key;
        Departure why = Departure::silent;
        bool operator==(const Left&) const = default;
    };
    std::vector<Left> left;  // sorted by key
    bool operator==(const CommitteeChange&) const = default;
};

/// What the rule looks at.
struct CommitteeView {
    const std::vector<PeerId>& trusted;      // sorted: allow list and keys that the host named; nobody else gets a seat
    const std::vector<Standing>& standings;  // sorted by key; a key without one is away and unknown
    std::uint32_t fit_rounds = 0;            // the recipe's: rounds after which a key may sit
    Digest previous;                         // hash of the newest list: tells equals apart
};

/// The change that is due, if any. Among equally fit keys those that are light come last, then the lowest
/// SHA-256(previous, key) comes first: nobody can make a key that is preferred.
[[nodiscard]] std::optional<CommitteeChange> next_committee(const Committee& committee, const CommitteeView& view);

}  // namespace potluck::run
