// The inside of the ledger, shared by the sources of this folder and by nobody else: ledger.cpp writes and reads a
// chain, ledger_tables.cpp forgets and sums up, ledger_people.cpp knows names and teams, ledger_verify.cpp checks.
// Threads: the ledger's.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/log.h"
#include "core/ledger/database.h"
#include "core/ledger/ledger.h"
#include "core/run/agreement/chain_walk.h"

namespace potluck::ledger {

using Step = Statement::Step;

/// How many rows a query returns at most: SQLite reads a negative limit as none.
inline std::int64_t limit_of(std::size_t most) {
    return static_cast<std::int64_t>(std::min<std::uint64_t>(most, run::sum_max));
}

inline run::CommittedList committed_list_at(const Statement& row, int certificate_column, int list_column) {
    const auto bytes_at = [&](int column) {
        const ByteSpan bytes = row.blob(column);
        return Bytes(bytes.begin(), bytes.end());
    };
    return {bytes_at(list_column), bytes_at(certificate_column)};
}

/// Ends an insertion into `credits` that adds to what is there.
inline constexpr const char* add_to_credits =
    " ON CONFLICT(chain, peer) DO UPDATE SET rounds = rounds + excluded.rounds, tokens = CASE "
    "WHEN tokens > 9223372036854775807 - excluded.tokens THEN 9223372036854775807 ELSE tokens + excluded.tokens END";

/// What a list credits each person with, all computers together.
inline std::map<PeerId, TokenCount> credit_by_person(const run::AcceptList& list) {
    std::map<PeerId, TokenCount> credits;
    const std::vector<TokenCount> weights = run::weights_of(list);
    for (std::size_t i = 0; i < weights.size(); ++i) credits[list.entries[i].person()] += weights[i];
    return credits;
}

/// Whether a list suspends a person, lifts a suspension, or holds losses: what rules follow from beside actions.
inline bool judges_something(const run::AcceptList& list) {
    return !list.suspensions.empty() || list.measured ||
           std::any_of(list.actions.begin(), list.actions.end(),
                       [](const run::SignedAction& one) { return one.action.kind == run::ActionKind::lift; });
}

inline std::string round_name(std::uint64_t round) { return "round " + std::to_string(round); }

struct Ledger::Database {
    struct Tip {
        std::uint64_t length = 0;
        Digest hash;  // of the last list; zero for an empty chain
    };

    /// Logs what failed last, once in a row: a broken disk is asked again every second.
    void report(std::string_view what) const {
        std::string message = connection.error(what).message;
        if (message == reported) return;
        log::of("ledger").error("{}", message);
        reported = std::move(message);
    }
    /// True if the statement ended well; reports why not.
    bool ended(Step last) const {
        if (last == Step::failed) report("Cannot read");
        return last != Step::failed;
    }
    /// Calls `take` for every row.
    template <class Take>
    void each(Statement& query, Take take) const {
        Step step = query.step();
        for (; step == Step::row; step = query.step()) take(query);
        static_cast<void>(ended(step));
    }

    [[nodiscard]] Result<std::int64_t> chain_for_writing(const RunId& run);
    [[nodiscard]] Result<std::optional<std::int64_t>> chain_of(const RunId& run) const;
    [[nodiscard]] Result<Tip> tip_of(std::int64_t chain) const;
    [[nodiscard]] Status insert(std::int64_t chain, const run::CommittedList& list, const run::AcceptList& decoded,
                                const StateDigest& result, std::int64_t at);
    [[nodiscard]] bool insert_round(std::int64_t chain, const run::AcceptList& decoded, const StateDigest& result,
                                    std::int64_t at);
    /// What a list is kept for beside its credit.
    struct ListMarks {
        bool changes = false;  // the committee
        bool judges = false;   // judges_something()
    };
    [[nodiscard]] bool insert_list(std::int64_t chain, const run::CommittedList& list, RoundId round, ListMarks marks);
    /// Makes the credit void that the list's suspensions say, once.
    [[nodiscard]] bool make_void(std::int64_t chain, const run::AcceptList& decoded);
    /// Takes back what lists from `first` on made void; credits are summed up again later.
    [[nodiscard]] bool restore_void(std::int64_t chain, RoundId first);
    /// The newest round up to `round` whose list named a table, of the last void_rounds; 0 if none did.
    [[nodiscard]] RoundId table_before(std::int64_t chain, RoundId round) const;
    [[nodiscard]] bool insert_entries(std::int64_t chain, const run::AcceptList& decoded, std::int64_t at);
    [[nodiscard]] bool changes_committee(std::int64_t chain, const run::AcceptList& decoded) const;
    [[nodiscard]] bool insert_table(std::int64_t chain, RoundId round, ByteSpan content);
    [[nodiscard]] bool take_credits(std::int64_t chain, const run::CreditTable& table);
    [[nodiscard]] bool sum_up_again(std::int64_t chain);
    [[nodiscard]] bool forget_chain(std::int64_t chain);
    [[nodiscard]] std::optional<run::CreditTable> newest_table(std::int64_t chain) const;
    /// `column`: of `peers`.
    void remember(const std::string& column, const PeerId& peer, ByteSpan words);

    /// Where a chain's lists and sums begin.
    struct Beginnings {
        std::uint64_t base = 0, kept = 0;
    };
    [[nodiscard]] Result<Beginnings> beginnings_of(std::int64_t chain) const;

    [[nodiscard]] Result<std::string> fault_of(std::int64_t chain, const Beginnings& from, std::uint64_t round,
                                               run::ChainWalk& walk) const;
    [[nodiscard]] bool entries_match(std::int64_t chain, const run::AcceptList& list) const;
    /// A person whose credit of the rounds from `first` to before `by` the list L[by] makes void.
    struct VoidCredit {
        RoundId by, first;
        PeerId person;
    };
    [[nodiscard]] bool voids_match(std::int64_t chain, const Beginnings& from,
                                   const std::vector<VoidCredit>& voids) const;
    [[nodiscard]] bool credits_match(std::int64_t chain) const;

    mutable Connection connection;
    mutable std::string reported;
};

}  // namespace potluck::ledger
