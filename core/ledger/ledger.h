// The ledger: the chain of accept lists of each run with their certificates, and what follows from it: credit,
// leaderboard, a person's own totals. On SQLite (WAL, synchronous FULL): what `append` has returned survives SIGKILL
// and power loss. Schema versions migrate forward; a newer schema than this program's is refused with a sentence.
// Does not: decide which list is right; a run's committee does.
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
#include "core/base/thread_owner.h"
#include "core/identity/identity.h"
#include "core/run/accept_list.h"
#include "core/run/credit_table.h"
#include "core/run/message.h"
#include "core/run/run_rules.h"

namespace potluck::ledger {

struct Credit {
    PeerId peer;
    std::string name;  // last name heard, may be empty
    TokenCount tokens;
    std::uint64_t rounds = 0;  // accepted contributions
    std::string team = {};     // that the person claimed last, may be empty
};

struct RunTotals {
    RoundId rounds;     // length of the chain
    TokenCount tokens;  // credit of all accepted entries
    std::uint64_t contributions = 0;
};

/// A person's place in a run: 1 + how many have more.
struct Standing {
    Credit credit;
    std::uint64_t rank = 0;  // 0 without credit
};

/// A team's place in a run: 1 + how many have more.
struct TeamStanding {
    std::string team;
    TokenCount tokens = {};     // of all its members
    std::uint64_t members = 0;  // that were credited
    std::uint64_t rank = 0;     // 0 without a credited member
};

/// Who asks, and the team it claims now: the ledger has what others told.
struct OwnClaim {
    PeerId person;
    std::string team;
};

/// What one person was credited with in one run.
struct RunCredit {
    RunId run;
    TokenCount tokens;
    std::uint64_t rounds = 0;          // accepted contributions
    std::uint64_t rank = 0;            // from 1 on; 0 if nothing was credited
    std::int64_t first = 0, last = 0;  // unix seconds when accepted here; 0: a table told of it
};

/// People whose name or team is remembered without their ever having been accepted.
inline constexpr std::uint64_t strangers_max = 10000;

/// One point of the run's curve.
struct RoundRecord {
    RoundId round;
    std::int64_t at = 0;  // unix seconds when applied here
    StateDigest digest;   // of theta[round + 1] as computed here
    TokenCount tokens;
    double loss = 0;               // nats per token, mean over the members that reported one; 0 if none did
    TokenCount tokens_until = {};  // of the whole run, up to this round and with it; filled by curve() only
};

/// A table that a list has named.
struct KeptTable {
    RoundId round;  // of that list
    Bytes content;
};

/// Where a chain goes on whose lists before are not held.
struct Beginning {
    Bytes table;                              // run::CreditTable::encode()
    std::vector<run::CommittedList> changes;  // of the committee, that the chain does not hold yet
    run::CommittedList before;                // the last of the lists that the table counts
    StateDigest result;                       // of the state it led to
};

class Ledger {
public:
    Ledger(Ledger&&) noexcept;
    Ledger& operator=(Ledger&&) noexcept;
    ~Ledger();

    /// Opens or creates; ":memory:" for tests and simulations. A file that is not a ledger is never overwritten.
    [[nodiscard]] static Result<Ledger> open(const std::filesystem::path& file);

    /// Appends L[r] at the end of its run's chain, in one durable transaction. The certificate was verified by the
    /// caller; the link (round, previous hash) is checked here. `result` is the digest of theta[r+1].
    /// `already_exists` if this very list is in the chain, `invalid_argument` if it does not follow the last one,
    /// `malformed` if it does not decode, `no_space` on a full disk; nothing has changed then.
    /// `table`: the bytes that the list names, if it names some; they are of this chain.
    [[nodiscard]] Status append(const run::CommittedList& list, const StateDigest& result, std::int64_t at,
                                ByteSpan table = {});
    /// The last list of a run led to `result`, not to what is on record. `not_found` for an empty chain.
    [[nodiscard]] Status correct_result(const RunId& run, const StateDigest& result);

    /// The chain goes on far ahead of its last list; what lies between is only known by its sums. The caller has
    /// verified it all. `invalid_argument` if the chain reaches as far already; nothing has changed then.
    [[nodiscard]] Status begin_at(const Beginning& beginning, std::int64_t at);
    /// Forgets the lists before `before`, but for those that changed the committee. Credit stays.
    [[nodiscard]] Status prune(const RunId& run, RoundId before);

    /// Takes L[first] and what follows back: the run's host has replaced the committee that decided them. A chain whose
    /// sums cannot be taken back so far is forgotten whole.
    [[nodiscard]] Status retract(const RunId& run, RoundId first);
    /// Keeps an action of the run's host, in force or not yet; another of the same number is replaced, and by a
    /// replacement of the committee all later ones as well.
    [[nodiscard]] Status remember_action(const RunId& run, const run::SignedAction& action);

    // What follows only reads. If the file itself fails, it returns what an empty ledger would and logs the reason.

    /// L[round]; nothing if the chain is shorter.
    [[nodiscard]] std::optional<run::CommittedList> list(const RunId& run, RoundId round) const;
    /// Up to `most` lists from `first` on; none if `first` lies before kept_from().
    [[nodiscard]] std::vector<run::CommittedList> lists(const RunId& run, RoundId first, std::size_t most) const;
    /// Last list, decoded; nothing for an empty chain.
    [[nodiscard]] std::optional<run::AcceptList> head(const RunId& run) const;
    [[nodiscard]] std::optional<StateDigest> digest_after(const RunId& run, RoundId round) const;

    /// From this round on no list is missing.
    [[nodiscard]] RoundId kept_from(const RunId& run) const;
    /// Up to `most` lists of the rounds from `first` to before `end` that changed the committee.
    [[nodiscard]] std::vector<run::CommittedList> committee_changes(const RunId& run, RoundId first, RoundId end,
                                                                    std::size_t most) const;
    /// The lists from `first` on, as far as they are held, that suspend a person, lift a suspension or hold losses.
    [[nodiscard]] std::vector<run::CommittedList> judging_lists(const RunId& run, RoundId first) const;
    /// The validation losses that the run's lists hold, those before the newest table as that table has them.
    [[nodiscard]] run::LossCurve losses(const RunId& run) const;
    /// What the whole chain comes to, under the rules that hold for its next list.
    [[nodiscard]] run::CreditTable table(const run::RunRules& rules) const;
    /// The round of the newest table up to `round_max`; reads no table's bytes.
    [[nodiscard]] std::optional<RoundId> newest_table(const RunId& run, RoundId round_max) const;
    /// The newest tables that lists have named, oldest first.
    [[nodiscard]] std::vector<KeptTable> tables(const RunId& run) const;

    /// The host's actions that are kept, by number.
    [[nodiscard]] std::vector<run::SignedAction> actions(const RunId& run) const;

    [[nodiscard]] RunTotals totals(const RunId& run) const;
    /// Most tokens first, ties by key.
    [[nodiscard]] std::vector<Credit> leaderboard(const RunId& run, std::size_t most) const;
    [[nodiscard]] Credit credit_of(const RunId& run, const PeerId& peer) const;
    [[nodiscard]] Standing standing_of(const RunId& run, const PeerId& peer) const;
    /// The credited people of a run whose last name or team holds `part`, capital or small a to z, or whose key begins
    /// with it in hexadecimal digits; most tokens first.
    [[nodiscard]] std::vector<Standing> find_people(const RunId& run, std::string_view part, std::size_t most) const;
    /// The teams of a run's credited people whose name holds `part`, capital or small a to z; most tokens first.
    [[nodiscard]] std::vector<TeamStanding> teams(const RunId& run, const OwnClaim& own, std::string_view part,
                                                  std::size_t most) const;
    [[nodiscard]] TeamStanding team_of(const RunId& run, const OwnClaim& own) const;
    /// Whom no list of a run named that was accepted here before `since` (unix seconds), by key. What lies before a
    /// table is not known.
    [[nodiscard]] std::vector<PeerId> accepted_since(const RunId& run, std::int64_t since) const;
    /// How many people were credited in a run.
    [[nodiscard]] std::uint64_t people(const RunId& run) const;
    /// Every run of the ledger, with what `peer` was credited in it; unsorted.
    [[nodiscard]] std::vector<RunCredit> runs_of(const PeerId& peer) const;
    /// Tokens of `peer` over all runs accepted from `since` to before `end` (unix seconds).
    [[nodiscard]] TokenCount tokens_between(const PeerId& peer, std::int64_t since, std::int64_t end) const;
    /// Tokens of `peer` over all runs accepted at or after `since` (unix seconds).
    [[nodiscard]] TokenCount tokens_since(const PeerId& peer, std::int64_t since) const;

    /// Keeps the first run::name_bytes_max bytes. Writes only if the name is new, so it may be called at every status.
    void remember_name(const PeerId& peer, const std::string& name);
    /// Likewise with run::team_bytes_max; an empty one is none any more.
    void remember_team(const PeerId& peer, const std::string& team);
    /// Keeps the status in which a person said its name in a run, as it was signed, in place of the one before. Nothing
    /// is kept of people whose name is not (strangers_max).
    void remember_signed_name(const PeerId& person, const run::Envelope& status);
    /// What a person says of itself, in one write: a name unless it is empty, the team, and the status that said so
    /// where that is to be kept.
    void remember_words(const PeerId& person, const std::string& name, const std::string& team,
                        const run::Envelope* status);
    [[nodiscard]] std::optional<run::Envelope> signed_name_of(const RunId& run, const PeerId& person) const;
    /// `not_found` if the chain is shorter; a loss that is not finite is `invalid_argument`.
    [[nodiscard]] Status record_loss(const RunId& run, RoundId round, double loss);
    /// Up to `most` records, oldest first: the chain is cut into equal stretches, and of each the newest record with
    /// a measured loss is given, or its newest if none was measured.
    [[nodiscard]] std::vector<RoundRecord> curve(const RunId& run, std::size_t most) const;

    /// Walks the whole chain of a run as far as it is held: links, hashes, certificates of the committees that its
    /// manifest, its lists and its host name, signatures of contributors and host, and that credit is what lists and
    /// tables say. The error (`untrusted`) names the first round that fails. Of `rules` host and backbones are used.
    [[nodiscard]] Status verify_chain(const RunId& run, const run::RunRules& rules) const;

private:
    struct Database;
    explicit Ledger(std::unique_ptr<Database> database);
    void count_tokens(std::vector<RoundRecord>& records, std::int64_t chain, TokenCount all) const;
    ThreadOwner m_owner;
    std::unique_ptr<Database> m_database;
};

}  // namespace potluck::ledger
