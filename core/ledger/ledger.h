// The ledger: the chain of accept lists of each run with their signatures, and what follows from it: credit,
// leaderboard, a person's own totals. On SQLite (WAL, synchronous FULL): what `append` has returned survives SIGKILL
// and power loss. Schema versions migrate forward; a newer schema than this program's is refused with a sentence.
// Does not: decide which list is right; the round machine does.
// Threads: one at a time (the node's).
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/identity/identity.h"
#include "core/run/accept_list.h"
#include "core/run/message.h"

namespace potluck::ledger {

struct Credit {
    PeerId peer;
    std::string name;             // last name heard, may be empty
    TokenCount tokens;
    std::uint64_t rounds = 0;     // accepted contributions
};

struct RunTotals {
    RoundId rounds;               // length of the chain
    TokenCount tokens;            // sum over all accepted entries
    std::uint64_t contributions = 0;
};

/// One point of the run's curve.
struct RoundRecord {
    RoundId round;
    std::int64_t at = 0;          // unix seconds when applied here
    StateDigest digest;           // of theta[round + 1] as computed here
    TokenCount tokens;
    double validation_loss = 0;   // 0 if not measured
};

class Ledger {
public:
    Ledger(Ledger&&) noexcept;
    Ledger& operator=(Ledger&&) noexcept;
    ~Ledger();

    /// Opens or creates; ":memory:" for tests and simulations. A file that is not a ledger is never overwritten.
    [[nodiscard]] static Result<Ledger> open(const std::filesystem::path& file);

    /// Appends L[r] at the end of its run's chain, in one durable transaction. The signature was verified by the
    /// caller; the link (round, previous hash) is checked here. `result` is the digest of theta[r+1].
    [[nodiscard]] Status append(const run::SignedList& list, const StateDigest& result, std::int64_t at);
    /// Takes the last `count` lists of a run back (a fork that lost), keeping them in a side table as evidence.
    [[nodiscard]] Status retract(const RunId& run, std::uint64_t count);

    /// L[round]; nothing if the chain is shorter.
    [[nodiscard]] std::optional<run::SignedList> list(const RunId& run, RoundId round) const;
    /// Up to `most` lists from `first` on.
    [[nodiscard]] std::vector<run::SignedList> lists(const RunId& run, RoundId first, std::size_t most) const;
    /// Last list, decoded; nothing for an empty chain.
    [[nodiscard]] std::optional<run::AcceptList> head(const RunId& run) const;
    [[nodiscard]] std::optional<StateDigest> digest_after(const RunId& run, RoundId round) const;

    [[nodiscard]] RunTotals totals(const RunId& run) const;
    /// Most tokens first, ties by key.
    [[nodiscard]] std::vector<Credit> leaderboard(const RunId& run, std::size_t most) const;
    [[nodiscard]] Credit credit_of(const RunId& run, const PeerId& peer) const;
    /// Tokens of `peer` over all runs accepted at or after `since` (unix seconds).
    [[nodiscard]] TokenCount tokens_since(const PeerId& peer, std::int64_t since) const;

    void remember_name(const PeerId& peer, const std::string& name);
    [[nodiscard]] Status record_loss(const RunId& run, RoundId round, double validation_loss);
    /// Up to `most` records, thinned evenly, oldest first.
    [[nodiscard]] std::vector<RoundRecord> curve(const RunId& run, std::size_t most) const;

    /// Walks the whole chain of a run: links, hashes, signatures. The error names the first round that fails.
    [[nodiscard]] Status verify_chain(const RunId& run) const;

private:
    struct Database;
    explicit Ledger(std::unique_ptr<Database> database);
    std::unique_ptr<Database> m_database;
};

}  // namespace potluck::ledger
