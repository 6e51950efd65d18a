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
#include "core/base/wire/fields.h"

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
    std::uint32_t times = 0;  // so that nobody can bring up an old verdict
    RoundId first, last;
    std::uint32_t judged = 1;
    std::int32_t own = 0;
    std::int32_t other = 0;
    std::int32_t median = 0;
    bool operator==(const JurorVerdict&) const = default;

    static constexpr std::string_view label = "verdict";
    static void fields(auto& it, auto&& field) {
        field("person", it.person, wire::Id{}, "judged by the author");
        figures(it, field);
    }
    /// All but the person, which a suspension names once.
    static void figures(auto& it, auto&& field) {
        field("times", it.times, wire::Whole{0, suspensions_max - 1}, "that the person had been suspended before");
        field("first", it.first, wire::Whole{0, judged_round_max}, "round judged");
        field("last", it.last, wire::Whole{0, judged_round_max}, "round judged, not before the first");
        field.require(it.first <= it.last);
        field("judged", it.judged, wire::Whole{1}, "contributions measured");
        field("own", it.own, wire::Signed{figure_max}, "on records that they claim to have been trained on");
        field("other", it.other, wire::Signed{figure_max}, "on records of the same shards that they do not");
        field("median", it.median, wire::Signed{figure_max}, "what *own* is of the median person");
    }
};
inline constexpr std::size_t verdict_figures_bytes = 4 + 8 + 8 + 4 + 3 * 4;
inline constexpr std::size_t juror_verdict_bytes = 32 + verdict_figures_bytes;

struct SignedVerdict {
    PeerId juror;
    JurorVerdict verdict;
    std::array<std::byte, 64> signature{};  // the juror's, over the message of this verdict
    bool operator==(const SignedVerdict&) const = default;

    /// In a suspension, which names the person.
    static constexpr std::string_view label = "signed figures";
    static void fields(auto& it, auto&& field) {
        field("juror", it.juror, wire::Id{}, "whose seat decides the list");
        JurorVerdict::figures(it.verdict, field);
        field("signature", it.signature, wire::Raw{}, "of the verdict as a message");
    }
};

/// In a list: a person, and the verdicts by which it is suspended.
struct Suspension {
    PeerId person;
    std::vector<SignedVerdict> verdicts;  // of this person; sorted by juror, no juror twice
    bool operator==(const Suspension&) const = default;

    static constexpr std::string_view label = "suspension";
    static void fields(auto& it, auto&& field) {
        field("person", it.person, wire::Id{}, "whose contributions count no more");
        field("verdicts", it.verdicts, wire::list_of<std::uint8_t>(1, verdicts_per_suspension_max, wire::Part{}),
              "f + 1 of the committee that decides this list, sorted by juror, no juror twice");
    }

    void write(ByteWriter& out) const;
    /// Fails the reader if jurors are out of order, or a field is out of range.
    [[nodiscard]] static Suspension read(ByteReader& in);
};
inline constexpr std::size_t suspension_bytes_max =
    32 + 1 + (32 + verdict_figures_bytes + 64) * verdicts_per_suspension_max;

}  // namespace potluck::run
