// A thin hold on SQLite for this folder: a connection, prepared statements, transactions that roll back by
// themselves, and errors as sentences. Shows nothing of SQLite but the names of its two opaque types.
// Threads: one at a time.
// Owns: the connection.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "core/base/bytes.h"
#include "core/base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace potluck::ledger {

/// Longest value that is read from or written to the file: room for the longest table of a run.
inline constexpr int value_bytes_max = 48 * 1024 * 1024;
/// Statements that a connection keeps prepared: all that this folder has, and some. To parse one takes SQLite longer
/// than to look a row up.
inline constexpr std::size_t kept_statements_max = 128;

class Connection;

/// One prepared statement, which its connection keeps for the next of the same text. Values are bound in order; a
/// failure to prepare or bind shows at the first step. `connection` outlives it.
class Statement {
public:
    Statement(Connection& connection, std::string_view sql);
    Statement(const Statement&) = delete;
    Statement& operator=(const Statement&) = delete;
    ~Statement();

    Statement& bind(std::int64_t value);
    Statement& bind(std::uint64_t value) { return bind(static_cast<std::int64_t>(value)); }
    Statement& bind(double value);
    /// `bytes` must live until the last step.
    Statement& bind(ByteSpan bytes);

    enum class Step { row, done, failed };
    [[nodiscard]] Step step();
    /// For statements without rows: true if it is done.
    [[nodiscard]] bool run() { return step() == Step::done; }
    /// Ready for new values.
    void reset();

    [[nodiscard]] std::int64_t integer(int column) const;
    [[nodiscard]] std::uint64_t count(int column) const { return static_cast<std::uint64_t>(integer(column)); }
    [[nodiscard]] double real(int column) const;
    /// Valid until the next step.
    [[nodiscard]] ByteSpan blob(int column) const;
    /// The 32-byte id in `column`; zero if the file holds something else there.
    template <class Id>
    [[nodiscard]] Id id(int column) const {
        Id id;
        ByteReader(blob(column)).array(id.bytes);
        return id;
    }

private:
    void fail();
    Connection& m_connection;
    const std::string m_sql;
    sqlite3_stmt* m_statement = nullptr;
    int m_bound = 0;
    bool m_failed = false;
};

class Connection {
public:
    Connection() = default;
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;
    ~Connection();

    /// Opens or creates. Reads nothing yet, so that a foreign file is not touched.
    [[nodiscard]] Status open(const std::filesystem::path& file);
    /// Write-ahead log, full sync, and no trust in what the file declares.
    [[nodiscard]] Status make_durable();

    /// False if any statement of `sql` fails.
    [[nodiscard]] bool execute(std::string_view sql);
    /// Result of a query for one number.
    [[nodiscard]] Result<std::int64_t> number(std::string_view sql);
    /// What failed last, as a sentence; `what` begins it, for example "Cannot write to".
    [[nodiscard]] Error error(std::string_view what) const;
    [[nodiscard]] std::string name() const;

private:
    friend class Statement;
    [[nodiscard]] bool in_memory() const { return m_file == ":memory:"; }
    /// Keeps SQLite's codes of this moment: ending another statement resets them.
    void note_failure();
    /// One of this text that nobody uses; null if there is none.
    [[nodiscard]] sqlite3_stmt* take_idle(const std::string& sql);
    void keep_idle(const std::string& sql, sqlite3_stmt* statement);

    sqlite3* m_connection = nullptr;
    std::map<std::string, sqlite3_stmt*> m_idle;  // prepared, by their texts
    int m_failure = 0;
    int m_system_failure = 0;
    std::filesystem::path m_file;
};

/// A write transaction; rolls back unless committed.
class Transaction {
public:
    explicit Transaction(Connection& connection);
    Transaction(const Transaction&) = delete;
    Transaction& operator=(const Transaction&) = delete;
    ~Transaction();
    [[nodiscard]] bool begun() const { return m_open; }
    /// On disk once this returns true.
    [[nodiscard]] bool commit();

private:
    Connection& m_connection;
    bool m_open = false;
};

}  // namespace potluck::ledger
