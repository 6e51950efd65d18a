// What this file adds to SQLite is care about failure. A failed call's codes are noted at once, because finalising any
// other statement resets them, and errno is noted beside an I/O error, because SQLite keeps no system number for a
// commit that failed. Without both a full disk could not be told from a broken one.
//
// A ledger may have been copied here from anywhere, so the file is not trusted: bytes that are not SQLite's are refused
// before SQLite would take them for an empty database, values are bounded, and the schema is not trusted to call
// functions (defensive mode, no trusted schema). Durability is WAL with synchronous FULL: COMMIT returns after the log
// is on disk. A Transaction takes the write lock when it begins, so it cannot fail half-way for a reader that became a
// writer.
//
// Source: "Write-Ahead Logging" and "Defense Against The Dark Arts" in SQLite's documentation.
#include "core/ledger/database.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <limits>

#include <sqlite3.h>

#include "core/base/check.h"

namespace potluck::ledger {

namespace {

constexpr int busy_milliseconds = 2000;

/// saturating_sum(x): the sum of non-negative integers, held at the largest 64-bit one. SQLite's own sum fails
/// there, and a hostile host's lists could reach it.
void sum_step(sqlite3_context* context, int, sqlite3_value** values) {
    auto* sum = static_cast<sqlite3_int64*>(sqlite3_aggregate_context(context, sizeof(sqlite3_int64)));
    if (sum == nullptr) {
        sqlite3_result_error_nomem(context);
        return;
    }
    const sqlite3_int64 value = std::max<sqlite3_int64>(0, sqlite3_value_int64(values[0]));
    const sqlite3_int64 room = std::numeric_limits<sqlite3_int64>::max() - *sum;
    *sum += std::min(value, room);
}

void sum_final(sqlite3_context* context) {
    const auto* sum = static_cast<const sqlite3_int64*>(sqlite3_aggregate_context(context, 0));
    sqlite3_result_int64(context, sum == nullptr ? 0 : *sum);
}

bool means_no_space(int system_number) {
#ifdef EDQUOT  // Windows has no such number
    if (system_number == EDQUOT) return true;
#endif
    return system_number == EFBIG || system_number == ENOSPC;
}

ErrorCode code_of(int result, int system_number) {
    if (means_no_space(system_number)) return ErrorCode::no_space;
    switch (result & 0xff) {
        case SQLITE_FULL: return ErrorCode::no_space;
        case SQLITE_BUSY:
        case SQLITE_LOCKED: return ErrorCode::unavailable;
        case SQLITE_READONLY:
        case SQLITE_PERM:
        case SQLITE_AUTH:
        case SQLITE_CANTOPEN: return ErrorCode::permission;
        case SQLITE_CORRUPT:
        case SQLITE_NOTADB:
        case SQLITE_TOOBIG: return ErrorCode::malformed;
        case SQLITE_NOMEM: return ErrorCode::out_of_memory;
        default: return ErrorCode::io;
    }
}

const char* advice_for(ErrorCode code) {
    switch (code) {
        case ErrorCode::no_space: return "the disk is full; free some space.";
        case ErrorCode::unavailable: return "another program is using it; close that program.";
        case ErrorCode::permission: return "check that its folder exists and that you may write there.";
        case ErrorCode::malformed:
            return "it is damaged or not a ledger; move it away and start again, the chain is "
                   "fetched anew from the other members.";
        case ErrorCode::out_of_memory: return "there is not enough memory; close other programs.";
        default: return "check the disk.";
    }
}

/// False for a file that holds bytes and does not begin as SQLite's files do. SQLite itself takes a file shorter than
/// its header for an empty one.
bool may_be_database(const std::filesystem::path& file) {
    constexpr std::string_view magic("SQLite format 3\0", 16);
    std::ifstream in(file, std::ios::binary);
    std::array<char, magic.size()> beginning{};
    in.read(beginning.data(), beginning.size());
    const auto size = static_cast<std::size_t>(in.gcount());
    return size == 0 || std::string_view(beginning.data(), size) == magic;
}

}  // namespace

Statement::Statement(Connection& connection, std::string_view sql)
    : m_connection(connection), m_sql(sql), m_statement(connection.take_idle(m_sql)) {
    if (m_statement != nullptr) return;
    const int size = static_cast<int>(m_sql.size());
    constexpr unsigned traits = SQLITE_PREPARE_PERSISTENT;
    if (sqlite3_prepare_v3(connection.m_connection, m_sql.data(), size, traits, &m_statement, nullptr) != SQLITE_OK)
        fail();
}

/// What has failed is not used again.
Statement::~Statement() {
    if (m_failed) {
        sqlite3_finalize(m_statement);
    } else {
        m_connection.keep_idle(m_sql, m_statement);
    }
}

void Statement::fail() {
    m_failed = true;
    m_connection.note_failure();
}

Statement& Statement::bind(std::int64_t value) {
    if (!m_failed && sqlite3_bind_int64(m_statement, ++m_bound, value) != SQLITE_OK) fail();
    return *this;
}

Statement& Statement::bind(double value) {
    if (!m_failed && sqlite3_bind_double(m_statement, ++m_bound, value) != SQLITE_OK) fail();
    return *this;
}

Statement& Statement::bind(ByteSpan bytes) {
    // A null pointer would bind NULL instead of an empty value.
    const void* data = bytes.empty() ? "" : static_cast<const void*>(bytes.data());
    if (!m_failed && sqlite3_bind_blob64(m_statement, ++m_bound, data, bytes.size(), SQLITE_STATIC) != SQLITE_OK) {
        fail();
    }
    return *this;
}

Statement::Step Statement::step() {
    if (m_failed) return Step::failed;
    errno = 0;
    switch (sqlite3_step(m_statement)) {
        case SQLITE_ROW: return Step::row;
        case SQLITE_DONE: return Step::done;
        default: fail(); return Step::failed;
    }
}

void Statement::reset() {
    if (m_failed) return;
    sqlite3_reset(m_statement);
    m_bound = 0;
}

std::int64_t Statement::integer(int column) const { return sqlite3_column_int64(m_statement, column); }

double Statement::real(int column) const { return sqlite3_column_double(m_statement, column); }

ByteSpan Statement::blob(int column) const {
    const auto* data = static_cast<const std::byte*>(sqlite3_column_blob(m_statement, column));
    const int size = sqlite3_column_bytes(m_statement, column);
    if (data == nullptr || size <= 0) return {};
    return {data, static_cast<std::size_t>(size)};
}

Connection::~Connection() {
    for (const auto& [sql, statement] : m_idle) sqlite3_finalize(statement);
    POTLUCK_CHECK(sqlite3_close(m_connection) == SQLITE_OK);  // a statement outlived its connection otherwise
}

Status Connection::open(const std::filesystem::path& file) {
    m_file = file;
    if (!in_memory() && !may_be_database(file)) {
        m_failure = SQLITE_NOTADB;
        return error("Cannot open");
    }
    constexpr int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_EXRESCODE | SQLITE_OPEN_FULLMUTEX;
    if (sqlite3_open_v2(file.string().c_str(), &m_connection, flags, nullptr) != SQLITE_OK) {
        note_failure();
        return error("Cannot open");
    }
    sqlite3_limit(m_connection, SQLITE_LIMIT_LENGTH, value_bytes_max);
    sqlite3_busy_timeout(m_connection, busy_milliseconds);
    sqlite3_db_config(m_connection, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_db_config(m_connection, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    constexpr int traits = SQLITE_UTF8 | SQLITE_DETERMINISTIC;
    if (sqlite3_create_function(m_connection, "saturating_sum", 1, traits, nullptr, nullptr, sum_step, sum_final) !=
        SQLITE_OK) {
        note_failure();
        return error("Cannot open");
    }
    return {};
}

Status Connection::make_durable() {
    Statement mode(*this, "PRAGMA journal_mode = WAL");
    if (mode.step() != Statement::Step::row) return error("Cannot open");
    if (!in_memory() && as_text(mode.blob(0)) != "wal") {
        return Error{ErrorCode::unavailable, "The disk of " + name() +
                                                 " cannot hold a write-ahead log: choose a data folder on a local "
                                                 "disk."};
    }
    mode.reset();
    const bool set = execute(
        "PRAGMA synchronous = FULL; PRAGMA cell_size_check = ON; PRAGMA foreign_keys = ON;"
        "PRAGMA journal_size_limit = 16777216;");
    if (!set) return error("Cannot open");
    return {};
}

bool Connection::execute(std::string_view sql) {
    errno = 0;
    if (sqlite3_exec(m_connection, std::string(sql).c_str(), nullptr, nullptr, nullptr) == SQLITE_OK) return true;
    note_failure();
    return false;
}

Result<std::int64_t> Connection::number(std::string_view sql) {
    Statement query(*this, sql);
    if (query.step() != Statement::Step::row) return error("Cannot read");
    return query.integer(0);
}

sqlite3_stmt* Connection::take_idle(const std::string& sql) {
    const auto found = m_idle.find(sql);
    if (found == m_idle.end()) return nullptr;
    sqlite3_stmt* statement = found->second;
    m_idle.erase(found);
    return statement;
}

/// It must hold no row, since that would keep a reader's view of the file, nor the bytes that were bound to it.
void Connection::keep_idle(const std::string& sql, sqlite3_stmt* statement) {
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
    const bool is_kept = m_idle.size() < kept_statements_max && m_idle.emplace(sql, statement).second;
    if (!is_kept) sqlite3_finalize(statement);
}

void Connection::note_failure() {
    // SQLite keeps the system's number for most failures, but not for that of a commit.
    const int number = errno;
    m_failure = m_connection == nullptr ? SQLITE_NOMEM : sqlite3_extended_errcode(m_connection);
    m_system_failure = (m_failure & 0xff) == SQLITE_IOERR ? number : 0;
}

Error Connection::error(std::string_view what) const {
    const ErrorCode code = code_of(m_failure, m_system_failure);
    return {code, std::string(what) + " " + name() + " (" + sqlite3_errstr(m_failure) + "): " + advice_for(code)};
}

std::string Connection::name() const {
    return in_memory() ? std::string("the ledger in memory")
                       : std::string("the ledger '").append(m_file.string()).append("'");
}

Transaction::Transaction(Connection& connection)
    : m_connection(connection), m_open(connection.execute("BEGIN IMMEDIATE")) {}

Transaction::~Transaction() {
    // Fails only where SQLite has rolled back already.
    if (m_open) static_cast<void>(m_connection.execute("ROLLBACK"));
}

bool Transaction::commit() {
    if (!m_connection.execute("COMMIT")) return false;
    m_open = false;
    return true;
}

}  // namespace potluck::ledger
