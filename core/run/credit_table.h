// What the lists of a run before some round come to: who has done how much, and which of the host's changes hold. Every
// table_every'th list names the table of those before it, so a newcomer whom the committee's certificates lead to that
// list knows all that matters of the others, and lists may be forgotten. The same bytes on every computer.
//
// Does not: hold names, which nobody signs, or anything of single rounds.
// Threads: a value.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/run/blob_ref.h"
#include "core/run/curve/loss_curve.h"
#include "core/run/host_action.h"
#include "core/run/jury/suspended.h"
#include "core/run/run_rules.h"

namespace potluck::run {

/// Sums of tokens and contributions stop here, the largest number that the ledger's file holds.
inline constexpr auto sum_max = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
/// People in a table: keys are free, so those with the least credit are left out, and begin anew.
inline constexpr std::size_t table_credits_max = 131'072;
/// An action of the host puts at most one key into one of the two lists of keys.
inline constexpr std::size_t table_keys_max = action_number_max;
inline constexpr std::size_t table_bytes_max =
    80 + 32 * table_keys_max + 48 * table_credits_max + 4 + 44 * suspended_kept_max + loss_curve_bytes_max;

struct TableCredit {
    PeerId peer;
    TokenCount tokens;
    std::uint64_t rounds = 0;  // accepted contributions
    bool operator==(const TableCredit&) const = default;

    static constexpr std::string_view label = "credit";
    static void fields(auto& it, auto&& field) {
        field("peer", it.peer, wire::Id{}, "a person");
        field("tokens", it.tokens, wire::Whole{0, sum_max}, "credited");
        field("rounds", it.rounds, wire::Whole{1, round_max}, "contributions accepted");
    }
};

struct CreditTable {
    RunId run;
    RoundId round;                     // the lists before it are counted
    TokenCount tokens;                 // of all that they accepted, saturating
    std::uint64_t contributions = 0;   // of all
    std::uint32_t actions = 0;         // of the host, in force
    std::vector<PeerId> vouched;       // sorted, no key twice
    std::vector<PeerId> banned;        // sorted, no key twice
    std::vector<TableCredit> credits;  // sorted by key, at most table_credits_max
    SuspendedPersons suspended{};      // sorted by person, at most suspended_kept_max
    LossCurve curve{};                 // of states before `round`
    bool operator==(const CreditTable&) const = default;

    static constexpr std::string_view label = "credit table";
    static void fields(auto& it, auto&& field) {
        field("run", it.run, wire::Id{}, "whose lists are counted");
        field("round", it.round, wire::Whole{1, round_max}, "r: those before it are");
        field("tokens", it.tokens, wire::Whole{0, sum_max}, "credit of all");
        field("contributions", it.contributions, wire::Whole{0, sum_max}, "accepted, of all");
        field("actions", it.actions, wire::Whole{0, action_number_max}, "of the host that are in force");
        const auto keys = wire::list_of<std::uint32_t>(0, table_keys_max, wire::Id{});
        field("vouched", it.vouched, keys, "persons that the host vouches for, sorted, none twice");
        field("banned", it.banned, keys, "persons that it has banned, sorted, none twice");
        field("credits", it.credits, wire::list_of<std::uint32_t>(0, table_credits_max, wire::Part{}),
              "sorted by peer, none twice");
        if (!field.goes_on(!it.suspended.empty() || !it.curve.points.empty())) return;
        field("suspended", it.suspended, wire::list_of<std::uint32_t>(0, suspended_kept_max, wire::Part{}),
              "only if there are any, or a curve: sorted by person, none twice");
        const bool has_curve = field.goes_on(!it.curve.points.empty());
        field.require(has_curve || !it.suspended.empty());
        if (has_curve) field("curve", it.curve, wire::Part{}, "only if it has a point: of states before r");
    }

    /// The canonical bytes (docs/wire-format.md).
    [[nodiscard]] Bytes encode() const;
    /// Strict: sorted, bounded, nothing left over.
    [[nodiscard]] static Result<CreditTable> decode(ByteSpan bytes);
    /// `rules` as a manifest has them become those that hold for the table's round.
    void apply_to(RunRules& rules) const;
};

/// What a list says of the table with these bytes.
[[nodiscard]] BlobRef table_ref(ByteSpan content);

}  // namespace potluck::run
