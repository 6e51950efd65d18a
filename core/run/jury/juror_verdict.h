// A juror's signed word that a person's contributions do not help the model, with what it has measured. A seat of the
// committee signs it when its sequential test crosses the threshold (sequential_test.h); f + 1 of them in a list, of
// seats that each measured it themselves, suspend the person (suspended.h). See docs/wire-format.md.
//
// Does not: check signatures, or whether the author has a seat.
// Threads: values; any.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/ids.h"

namespace potluck::run {

/// After which a verdict counts no more: in a list of this many rounds later than the last round that it judged.
inline constexpr std::uint64_t verdict_rounds_max = 100;
inline constexpr std::uint64_t judged_round_max = 1ULL << 40U;  // as round_max of a list
/// A mean in millionths of a nat a token comes to this at most: a thousand nats, far beyond any loss.
inline constexpr std::int32_t figure_max = 1'000'000'000;
/// f + 1 of the largest committee.
inline constexpr std::size_t verdicts_per_suspension_max = 3;
/// Persons that a list suspends; more wait for the next one.
inline constexpr std::size_t suspensions_per_list_max = 16;
/// How often a person may have been suspended; so the next number is safe.
inline constexpr std::uint32_t suspensions_max = 1U << 20U;

/// What a juror has measured of a person's contributions since its evidence began to grow. Means in millionths of a nat
/// a token, within +-figure_max.
struct JurorVerdict {
    PeerId person;
    std::uint32_t times = 0;   // that the person had been suspended before, so that nobody can bring up an old verdict
    RoundId first, last;       // of the judged rounds
    std::uint32_t judged = 1;  // contributions measured
    std::int32_t own = 0;      // by how much the loss on records that it claims to have trained on is less
    std::int32_t other = 0;    // and on records that it has not
    std::int32_t median = 0;   // what `own` is of the others that were judged
    bool operator==(const JurorVerdict&) const = default;

    void write(ByteWriter& out) const;
    /// Fails the reader if a field is out of range.
    [[nodiscard]] static JurorVerdict read(ByteReader& in);
    /// All but the person, which a suspension names once.
    void write_figures(ByteWriter& out) const;
    [[nodiscard]] static JurorVerdict read_figures(ByteReader& in, const PeerId& person);
};
inline constexpr std::size_t verdict_figures_bytes = 4 + 8 + 8 + 4 + 3 * 4;
inline constexpr std::size_t juror_verdict_bytes = 32 + verdict_figures_bytes;

struct SignedVerdict {
    PeerId juror;
    JurorVerdict verdict;
    std::array<std::byte, 64> signature{};  // the juror's, over the message of this verdict
    bool operator==(const SignedVerdict&) const = default;
};

/// In a list: a person, and the verdicts by which it is suspended.
struct Suspension {
    PeerId person;
    std::vector<SignedVerdict> verdicts;  // of this person; sorted by juror, no juror twice
    bool operator==(const Suspension&) const = default;

    void write(ByteWriter& out) const;
    /// Fails the reader if jurors are out of order, or a field is out of range.
    [[nodiscard]] static Suspension read(ByteReader& in);
};
inline constexpr std::size_t suspension_bytes_max =
    32 + 1 + (32 + verdict_figures_bytes + 64) * verdicts_per_suspension_max;

}  // namespace potluck::run
