// A ledger's file as a test writes it past the ledger's back.
#pragma once

#include <QByteArray>

#include <filesystem>
#include <string>

#include <sqlite3.h>

#include "core/ledger/schema.h"
#include "tests/unit/ledger/ledger_chain.h"

namespace potluck::test {

/// Runs SQL on a file past the ledger's back.
inline bool meddle(const std::filesystem::path& file, const char* sql) {
    sqlite3* connection = nullptr;
    bool done = sqlite3_open(file.string().c_str(), &connection) == SQLITE_OK;
    done = done && sqlite3_exec(connection, sql, nullptr, nullptr, nullptr) == SQLITE_OK;
    sqlite3_close(connection);
    return done;
}

/// What runs as SQL to make the tables of version 3 out of today's.
inline constexpr const char* back_to_version_3 = R"(
    DROP TABLE credits; DROP TABLE tables; DROP INDEX lists_by_change;
    ALTER TABLE lists DROP COLUMN changes; ALTER TABLE peers DROP COLUMN team;
    DROP TABLE signed_names; DROP INDEX lists_that_judge; ALTER TABLE lists DROP COLUMN judges;
    ALTER TABLE entries DROP COLUMN voided; ALTER TABLE entries DROP COLUMN void_by;
    ALTER TABLE chains DROP COLUMN base; ALTER TABLE chains DROP COLUMN base_tokens;
    ALTER TABLE chains DROP COLUMN base_contributions; ALTER TABLE chains DROP COLUMN kept;
    CREATE INDEX entries_by_credit ON entries(chain, peer, tokens);
    PRAGMA user_version = 3
)";

/// What runs as SQL to make the tables of version 1, with a chain of one list in a layout that nobody reads any more.
inline std::string tables_of_version_1() {
    const QByteArray peer = QByteArray::fromStdString(key(1).hex());
    const QByteArray run = QByteArray::fromStdString(id<RunId>(1).hex());
    return QByteArray(R"(
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
        INSERT INTO chains VALUES(1, x'RUN');
        INSERT INTO peers VALUES(1, x'PEER', x'416e6e');
        INSERT INTO rounds VALUES(1, 0, 1000, 42, 1, 2.5, zeroblob(32), zeroblob(32));
        INSERT INTO lists VALUES(1, 0, zeroblob(64), zeroblob(255));
        INSERT INTO entries VALUES(1, 0, 1, 42, 1000);
        INSERT INTO retracted VALUES(1, 1, 1, 1001, zeroblob(32), zeroblob(64), zeroblob(255));
        PRAGMA application_id = APPLICATION; PRAGMA user_version = 1;
    )")
        .replace("RUN", run)
        .replace("PEER", peer)
        .replace("APPLICATION", QByteArray::number(ledger::application_id))
        .toStdString();
}

}  // namespace potluck::test
