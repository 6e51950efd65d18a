// One function a version: it makes the tables of a version out of those of the version before, in one transaction, so
// that a ledger of any age becomes one of today in steps that were all tried, and a crash in between leaves the version
// that was there. A step that was released never changes; what is new is a step of its own, and schema_version() their
// number.
// Threads: the ledger's.
#include "core/ledger/schema.h"

#include <array>
#include <string>

namespace potluck::ledger {

namespace {

/// Brings tables of one version to the next, inside a transaction.
using Migration = bool (*)(Connection&);

/// `lists` is apart from `rounds` so that sums and curves do not page through the signed bytes.
bool make_first_tables(Connection& connection) {
    return connection.execute(R"(
        CREATE TABLE chains(id INTEGER PRIMARY KEY, run BLOB NOT NULL UNIQUE) STRICT;
        CREATE TABLE peers(id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, name BLOB NOT NULL DEFAULT x'') STRICT;
        CREATE TABLE rounds(chain INTEGER NOT NULL REFERENCES chains, round INTEGER NOT NULL, at INTEGER NOT NULL,
            tokens INTEGER NOT NULL, contributions INTEGER NOT NULL, loss REAL NOT NULL DEFAULT 0,
            hash BLOB NOT NULL, result BLOB NOT NULL, PRIMARY KEY(chain, round)) STRICT, WITHOUT ROWID;
        CREATE TABLE lists(chain INTEGER NOT NULL REFERENCES chains, round INTEGER NOT NULL,
            signature BLOB NOT NULL, list BLOB NOT NULL, UNIQUE(chain, round)) STRICT;
        CREATE TABLE entries(chain INTEGER NOT NULL REFERENCES chains, round INTEGER NOT NULL,
            peer INTEGER NOT NULL REFERENCES peers, tokens INTEGER NOT NULL, at INTEGER NOT NULL,
            PRIMARY KEY(chain, round, peer)) STRICT, WITHOUT ROWID;
        CREATE INDEX entries_by_credit ON entries(chain, peer, tokens);
        CREATE INDEX entries_by_time ON entries(peer, at, tokens);
        CREATE TABLE retracted(id INTEGER PRIMARY KEY, chain INTEGER NOT NULL REFERENCES chains,
            round INTEGER NOT NULL, at INTEGER NOT NULL, result BLOB NOT NULL,
            signature BLOB NOT NULL, list BLOB NOT NULL) STRICT;
        CREATE INDEX retracted_by_chain ON retracted(chain, id);
    )");
}

/// A list is proved by its committee's certificate, and none is ever taken back. Chains of before stay for the credit
/// in `entries`; their runs cannot go on.
bool keep_certificates(Connection& connection) {
    return connection.execute(R"(
        ALTER TABLE lists RENAME COLUMN signature TO certificate;
        DROP TABLE retracted;
    )");
}

/// What the host has changed or wants to change; the newest list says how many of them are in force.
bool keep_host_actions(Connection& connection) {
    return connection.execute(R"(
        CREATE TABLE actions(chain INTEGER NOT NULL REFERENCES chains, number INTEGER NOT NULL, action BLOB NOT NULL,
            PRIMARY KEY(chain, number)) STRICT, WITHOUT ROWID;
    )");
}

/// Credit is a running sum, so that it need not follow from lists that are held. `base`: what is older comes from a
/// table; `kept`: from here on no list is missing, before it only those that changed the committee are held.
bool keep_sums(Connection& connection) {
    return connection.execute(R"(
        ALTER TABLE chains ADD COLUMN base INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE chains ADD COLUMN base_tokens INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE chains ADD COLUMN base_contributions INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE chains ADD COLUMN kept INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE lists ADD COLUMN changes INTEGER NOT NULL DEFAULT 0;
        CREATE INDEX lists_by_change ON lists(chain, round) WHERE changes = 1;
        CREATE TABLE credits(chain INTEGER NOT NULL REFERENCES chains, peer INTEGER NOT NULL REFERENCES peers,
            tokens INTEGER NOT NULL, rounds INTEGER NOT NULL, PRIMARY KEY(chain, peer)) STRICT, WITHOUT ROWID;
        CREATE INDEX credits_by_tokens ON credits(chain, tokens DESC);
        CREATE INDEX credits_by_peer ON credits(peer);
        INSERT INTO credits(chain, peer, tokens, rounds)
            SELECT chain, peer, saturating_sum(tokens), count(*) FROM entries GROUP BY chain, peer;
        DROP INDEX entries_by_credit;
        CREATE TABLE tables(chain INTEGER NOT NULL REFERENCES chains, round INTEGER NOT NULL, content BLOB NOT NULL,
            PRIMARY KEY(chain, round)) STRICT, WITHOUT ROWID;
    )");
}

bool keep_teams(Connection& connection) {
    return connection.execute("ALTER TABLE peers ADD COLUMN team BLOB NOT NULL DEFAULT x''");
}

/// A suspension makes credit void: what an entry had is kept, with the round of the list that suspends, so that a
/// retraction of that list can give it back. `judges`: the list suspends a person, lifts a suspension or holds losses.
bool keep_void_credit(Connection& connection) {
    return connection.execute(R"(
        ALTER TABLE entries ADD COLUMN voided INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE entries ADD COLUMN void_by INTEGER;
        ALTER TABLE lists ADD COLUMN judges INTEGER NOT NULL DEFAULT 0;
        CREATE INDEX lists_that_judge ON lists(chain, round) WHERE judges = 1;
    )");
}

/// The status in which a person said its name, as one of its computers signed it.
bool keep_signed_names(Connection& connection) {
    return connection.execute(R"(
        CREATE TABLE signed_names(chain INTEGER NOT NULL REFERENCES chains, peer INTEGER NOT NULL REFERENCES peers,
            computer BLOB NOT NULL, status BLOB NOT NULL, signature BLOB NOT NULL,
            PRIMARY KEY(chain, peer)) STRICT, WITHOUT ROWID;
    )");
}

/// Entry v makes version v + 1 out of version v.
constexpr std::array<Migration, 7> migrations{make_first_tables, keep_certificates, keep_host_actions, keep_sums,
                                              keep_teams,        keep_void_credit,  keep_signed_names};

Status migrate(Connection& connection, std::int64_t from) {
    Transaction transaction(connection);
    if (!transaction.begun()) return connection.error("Cannot write to");
    // Another process may have migrated while this one waited for its turn.
    const Result<std::int64_t> now = connection.number("PRAGMA user_version");
    if (!now.ok()) return now.error();
    if (*now != from) return {};
    const std::string stamp = "PRAGMA application_id = " + std::to_string(application_id) +
                              "; PRAGMA user_version = " + std::to_string(from + 1);
    if (!migrations[static_cast<std::size_t>(from)](connection) || !connection.execute(stamp) ||
        !transaction.commit()) {
        return connection.error("Cannot write to");
    }
    return {};
}

/// The version of a ledger; 0 for an empty file; an error for anything else.
Result<std::int64_t> version_of(Connection& connection) {
    const Result<std::int64_t> application = connection.number("PRAGMA application_id");
    if (!application.ok()) return application.error();
    const Result<std::int64_t> version = connection.number("PRAGMA user_version");
    if (!version.ok()) return version.error();
    const Result<std::int64_t> tables = connection.number("SELECT count(*) FROM sqlite_schema");
    if (!tables.ok()) return tables.error();
    const bool empty = *application == 0 && *version == 0 && *tables == 0;
    if (!empty && (*application != application_id || *version < 1)) {
        return Error{ErrorCode::malformed, "The file of " + connection.name() +
                                               " belongs to another program and stays as it is: choose another name."};
    }
    if (*version > schema_version()) {
        return Error{ErrorCode::unavailable,
                     "A newer Potluck has written " + connection.name() + ": update this one to open it."};
    }
    return version;
}

}  // namespace

std::int64_t schema_version() { return static_cast<std::int64_t>(migrations.size()); }

Status prepare_schema(Connection& connection) {
    Result<std::int64_t> version = version_of(connection);
    if (!version.ok()) return version.error();
    if (const Status durable = connection.make_durable(); !durable.ok()) return durable;
    while (*version < schema_version()) {
        if (const Status step = migrate(connection, *version); !step.ok()) return step;
        version = version_of(connection);
        if (!version.ok()) return version.error();
    }
    return {};
}

}  // namespace potluck::ledger
