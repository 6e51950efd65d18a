// Whom verdicts have shut out, and for how long: 50 rounds, then 500, then until the run's host lifts it. It follows
// from the lists alone, so every member has the same; a credit table carries it (core/run/credit_table.h).
//
//   works --f + 1 verdicts in L[r]--> suspended, rounds r+1 .. r+50 --> on probation, the recipe's rounds --> works
//                                     (500 the second time)       '--host lifts it--> works
//
// Threads: values; any.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/base/ids.h"
#include "core/base/wire/fields.h"
#include "core/run/jury/juror_verdict.h"

namespace potluck::run {

/// For the first and the second time. From the third on only the host ends it.
inline constexpr std::array<std::uint64_t, 2> suspended_rounds{50, 500};
/// `until` of a suspension that only the host ends.
inline constexpr RoundId until_lifted{~0ULL};
/// Rounds before the list that suspends a person whose credit is void. What a table of credit counts stays.
inline constexpr std::uint64_t void_rounds = 10;
/// Persons that are remembered. Keys are free, so those whose suspension ends first are forgotten.
inline constexpr std::size_t suspended_kept_max = 4096;

/// A round up to that of the longest suspension, or `until_lifted`.
struct Until {
    static constexpr std::uint64_t round_max = judged_round_max + suspended_rounds.back() + 1;

    void write(ByteWriter& out, RoundId until) const { out.u64(until.value); }
    void read(ByteReader& in, RoundId& until) const {
        until.value = in.u64();
        if (until != until_lifted && until.value > round_max) in.fail();
    }
    template <class Value>
    [[nodiscard]] std::string type() const {
        return wire::whole_text(sizeof(until_lifted.value), 0, round_max) + " or 2^64 - 1";
    }
};

struct Suspended {
    PeerId person;
    RoundId until;            // of a list that may hold its contributions again; 0: the host has lifted it
    std::uint32_t times = 1;  // that it was suspended
    bool operator==(const Suspended&) const = default;

    static constexpr std::string_view label = "suspended person";
    static void fields(auto& it, auto&& field) {
        field("person", it.person, wire::Id{}, "that was suspended");
        field("until", it.until, Until{}, "round whose list may hold its contributions again (*Suspensions*)");
        field("times", it.times, wire::Whole{1, suspensions_max}, "that it was suspended");
    }
};

/// Sorted by person, none twice.
using SuspendedPersons = std::vector<Suspended>;

/// Null for a person that never was, or is forgotten.
[[nodiscard]] const Suspended* find_suspended(const SuspendedPersons& all, const PeerId& person);
/// Whether L[round] may hold no contribution of the person.
[[nodiscard]] bool is_suspended(const SuspendedPersons& all, const PeerId& person, RoundId round);
/// Whether the person has come back less than `probation` rounds before L[round].
[[nodiscard]] bool is_back_on_probation(const SuspendedPersons& all, const PeerId& person, RoundId round,
                                        std::uint64_t probation);
/// L[round] suspends the person, which is not suspended then.
void suspend(SuspendedPersons& all, const PeerId& person, RoundId round);
/// The host ends it. How often it happened stays known.
void lift(SuspendedPersons& all, const PeerId& person);
/// The first round whose credit L[round] makes void; `table`: the newest round whose list named a table of credit.
[[nodiscard]] RoundId first_void_round(RoundId round, RoundId table);

}  // namespace potluck::run
