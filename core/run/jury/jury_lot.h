// What a juror measures. Which contributions of a list: those with the lowest SHA-256 of the list's hash, the juror's
// key and the contributor's, so nobody chooses whom it judges, and nobody knows before the list who will be. Which
// records: spread evenly over all that the contributor claims to have trained on, so that training a part shows, and
// as many others of the same shard.
// Threads: any.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/ids.h"
#include "core/run/jury/sequential_test.h"

namespace potluck::run {

/// Records of each kind, for a subject: enough for a loss, and little to compute beside a window.
inline constexpr std::size_t judged_records = 16;

/// Who is judged before others: those who were suspended, then newcomers.
enum class Turn { back, newcomer, other };
/// But so many others come first: figures of keys that are free agree on nothing (sequential_test.h), so without others
/// beside them a flood of newcomers that do not work would never be told from a model that stands still.
inline constexpr std::size_t references = measured_for_agreement;

struct Candidate {
    PeerId contributor;
    Turn turn = Turn::other;
};

/// Indexes of up to `count` candidates, in the order in which they are measured.
[[nodiscard]] std::vector<std::size_t> draw_subjects(const Digest& list, const PeerId& juror,
                                                     const std::vector<Candidate>& candidates, std::size_t count);

/// Positions in the order in which the contributor draws from its shard (core/run/sample_order.h).
struct JudgedPositions {
    std::vector<std::uint64_t> own;    // below what it claims
    std::vector<std::uint64_t> other;  // from there to the shard's end; empty if it claims the whole shard
};

/// `claimed`: records that it says to have trained on, at least 1; `records`: of the shard; `count` of each kind, or as
/// many as there are.
[[nodiscard]] JudgedPositions draw_positions(const Digest& list, const PeerId& juror, const PeerId& contributor,
                                             std::uint64_t claimed, std::uint64_t records, std::size_t count);

}  // namespace potluck::run
