// Writing, reading and checking of the tables in schema.h. Every change is one transaction over all tables of a chain:
//
//   append    L[n] is taken only if n is the chain's length and its `previous` is the tip's hash; then rounds, lists,
//             entries and credits get their rows together
//   correct   another digest of the state that the last list led to
//   retract   what a committee decided whom the run's host has replaced
//   begin_at  the chain goes on with a list far ahead; of those before it a table says what they come to
//   prune     forgets lists before some round, but for those that changed the committee
//
//   lists     . . c . . c . | k k k k k k     c: changed the committee, kept for ever; k: all, from `kept` on
//   credits   a table's, of the rounds before `base`, and what `entries` say of those since
//
// So `lists` is one unbroken chain from `kept` on, and credit is what tables and lists say: verify_chain() recomputes
// it from the signed bytes. Sums saturate, because a hostile host could sign lists whose tokens overflow them. Queries
// do not fail towards the caller: a broken file returns what an empty ledger would and is logged, once for as long as
// the failure is the same.
#include "core/ledger/ledger.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/ledger/ledger_rows.h"
#include "core/ledger/schema.h"

namespace potluck::ledger {

namespace {

static_assert(run::accept_list_bytes_max < value_bytes_max && run::table_bytes_max < value_bytes_max);

Credit credit_at(const Statement& row) {
    return {row.id<PeerId>(0),
            std::string(as_text(row.blob(1))),
            {row.count(2)},
            row.count(3),
            std::string(as_text(row.blob(4)))};
}

}  // namespace

Ledger::Ledger(std::unique_ptr<Database> database) : m_database(std::move(database)) {}
Ledger::Ledger(Ledger&&) noexcept = default;
Ledger& Ledger::operator=(Ledger&&) noexcept = default;
Ledger::~Ledger() = default;

Result<Ledger> Ledger::open(const std::filesystem::path& file) {
    auto database = std::make_unique<Database>();
    if (const Status opened = database->connection.open(file); !opened.ok()) return opened.error();
    if (const Status prepared = prepare_schema(database->connection); !prepared.ok()) return prepared.error();
    return Ledger(std::move(database));
}

// --- writing ---

Result<std::int64_t> Ledger::Database::chain_for_writing(const RunId& run) {
    Statement insert(connection, "INSERT INTO chains(run) VALUES(?) ON CONFLICT DO NOTHING");
    if (!insert.bind(run.bytes).run()) return connection.error("Cannot write to");
    Statement query(connection, "SELECT id FROM chains WHERE run = ?");
    if (query.bind(run.bytes).step() != Step::row) return connection.error("Cannot read");
    return query.integer(0);
}

Result<std::optional<std::int64_t>> Ledger::Database::chain_of(const RunId& run) const {
    Statement query(connection, "SELECT id FROM chains WHERE run = ?");
    const Step step = query.bind(run.bytes).step();
    if (step == Step::failed) return connection.error("Cannot read");
    if (step == Step::done) return std::optional<std::int64_t>();
    return std::optional<std::int64_t>(query.integer(0));
}

Result<Ledger::Database::Tip> Ledger::Database::tip_of(std::int64_t chain) const {
    Statement query(connection, "SELECT round, hash FROM rounds WHERE chain = ? ORDER BY round DESC LIMIT 1");
    const Step step = query.bind(chain).step();
    if (step == Step::failed) return connection.error("Cannot read");
    if (step == Step::done) return Tip{};
    return Tip{query.count(0) + 1, query.id<Digest>(1)};
}

bool Ledger::Database::insert_entries(std::int64_t chain, const run::AcceptList& decoded, std::int64_t at) {
    Statement peer(connection, "INSERT INTO peers(key) VALUES(?) ON CONFLICT DO NOTHING");
    Statement entry(connection,
                    "INSERT INTO entries(chain, round, peer, tokens, at) "
                    "SELECT ?, ?, id, ?, ? FROM peers WHERE key = ?");
    Statement sum(connection,
                  std::string("INSERT INTO credits(chain, peer, tokens, rounds) SELECT ?, id, ?, 1 FROM peers "
                              "WHERE key = ?")
                      .append(add_to_credits));
    for (const auto& [person, credit] : credit_by_person(decoded)) {
        if (!peer.bind(person.bytes).run()) return false;
        entry.bind(chain).bind(decoded.round.value).bind(credit.value).bind(at).bind(person.bytes);
        sum.bind(chain).bind(credit.value).bind(person.bytes);
        if (!entry.run() || !sum.run()) return false;
        peer.reset();
        entry.reset();
        sum.reset();
    }
    return true;
}

bool Ledger::Database::insert_round(std::int64_t chain, const run::AcceptList& decoded, const StateDigest& result,
                                    std::int64_t at) {
    TokenCount tokens;
    for (const TokenCount& credit : run::weights_of(decoded)) tokens += credit;
    const Digest hash = decoded.hash();
    Statement round(connection,
                    "INSERT INTO rounds(chain, round, at, tokens, contributions, hash, result) "
                    "VALUES(?, ?, ?, ?, ?, ?, ?)");
    round.bind(chain).bind(decoded.round.value).bind(at).bind(tokens.value).bind(decoded.entries.size());
    return round.bind(hash.bytes).bind(result.bytes).run();
}

bool Ledger::Database::insert_list(std::int64_t chain, const run::CommittedList& list, RoundId round, ListMarks marks) {
    Statement text(
        connection,
        "INSERT OR REPLACE INTO lists(chain, round, certificate, list, changes, judges) VALUES(?, ?, ?, ?, ?, ?)");
    text.bind(chain).bind(round.value).bind(list.certificate).bind(list.list);
    return text.bind(std::int64_t{marks.changes ? 1 : 0}).bind(std::int64_t{marks.judges ? 1 : 0}).run();
}

/// Whether who decides the next list is not who decided this one. Of a first list nobody knows here.
bool Ledger::Database::changes_committee(std::int64_t chain, const run::AcceptList& decoded) const {
    if (decoded.replacement() != nullptr) return true;
    Statement query(connection, "SELECT list FROM lists WHERE chain = ? ORDER BY round DESC LIMIT 1");
    if (query.bind(chain).step() != Step::row) return true;
    const Result<run::AcceptList> before = run::AcceptList::decode(query.blob(0));
    return !before.ok() || before->committee != decoded.committee;
}

Status Ledger::Database::insert(std::int64_t chain, const run::CommittedList& list, const run::AcceptList& decoded,
                                const StateDigest& result, std::int64_t at) {
    const ListMarks marks{changes_committee(chain, decoded), judges_something(decoded)};
    const bool is_written = insert_round(chain, decoded, result, at) &&
                            insert_list(chain, list, decoded.round, marks) && insert_entries(chain, decoded, at) &&
                            make_void(chain, decoded);
    return is_written ? Status() : Status(connection.error("Cannot write to"));
}

Status Ledger::append(const run::CommittedList& list, const StateDigest& result, std::int64_t at, ByteSpan table) {
    m_owner.check();
    const Result<run::AcceptList> decoded = run::AcceptList::decode(list.list);
    if (!decoded.ok()) return decoded.error();
    Connection& connection = m_database->connection;
    Transaction transaction(connection);
    if (!transaction.begun()) return connection.error("Cannot write to");
    const Result<std::int64_t> chain = m_database->chain_for_writing(decoded->run);
    if (!chain.ok()) return chain.error();
    const Result<Database::Tip> tip = m_database->tip_of(*chain);
    if (!tip.ok()) return tip.error();
    if (decoded->round.value != tip->length || decoded->previous != tip->hash) {
        if (this->list(decoded->run, decoded->round) == list) {
            return Error{ErrorCode::already_exists,
                         "The list of " + round_name(decoded->round.value) + " is in the ledger already."};
        }
        return Error{ErrorCode::invalid_argument, "The list of " + round_name(decoded->round.value) +
                                                      " does not follow the ledger's chain of " +
                                                      std::to_string(tip->length) + ": fetch the history first."};
    }
    if (!table.empty() && !m_database->insert_table(*chain, decoded->round, table)) {
        return connection.error("Cannot write to");
    }
    if (const Status inserted = m_database->insert(*chain, list, *decoded, result, at); !inserted.ok()) {
        return inserted;
    }
    if (!transaction.commit()) return connection.error("Cannot write to");
    return {};
}

Status Ledger::correct_result(const RunId& run, const StateDigest& result) {
    m_owner.check();
    Connection& connection = m_database->connection;
    Statement update(connection,
                     "UPDATE rounds SET result = ? WHERE chain = (SELECT id FROM chains WHERE run = ?) AND round = "
                     "(SELECT max(round) FROM rounds WHERE chain = (SELECT id FROM chains WHERE run = ?)) "
                     "RETURNING round");
    const Step step = update.bind(result.bytes).bind(run.bytes).bind(run.bytes).step();
    if (step == Step::done) return Error{ErrorCode::not_found, "The ledger holds no round of this run."};
    if (step == Step::failed || !update.run()) return connection.error("Cannot write to");
    return {};
}

Status Ledger::retract(const RunId& run, RoundId first) {
    m_owner.check();
    Connection& connection = m_database->connection;
    Transaction transaction(connection);
    if (!transaction.begun()) return connection.error("Cannot write to");
    const Result<std::int64_t> chain = m_database->chain_for_writing(run);
    if (!chain.ok()) return chain.error();
    const Result<Database::Beginnings> from = m_database->beginnings_of(*chain);
    if (!from.ok()) return from.error();
    if (!m_database->restore_void(*chain, first)) return connection.error("Cannot write to");
    for (const char* table : {"entries", "lists", "rounds", "tables"}) {
        Statement remove(connection, std::string("DELETE FROM ") + table + " WHERE chain = ? AND round >= ?");
        if (!remove.bind(*chain).bind(first.value).run()) return connection.error("Cannot write to");
    }
    // What a table says of the rounds before it cannot be said of fewer.
    const bool is_lost = first.value < std::max(from->base, from->kept + (from->kept > 0 ? 1 : 0)) ||
                         (from->base > 0 && !m_database->newest_table(*chain));
    const bool is_done = is_lost ? m_database->forget_chain(*chain) : m_database->sum_up_again(*chain);
    return is_done && transaction.commit() ? Status() : Status(connection.error("Cannot write to"));
}

Status Ledger::remember_action(const RunId& run, const run::SignedAction& action) {
    m_owner.check();
    Connection& connection = m_database->connection;
    const Result<std::int64_t> chain = m_database->chain_for_writing(run);
    if (!chain.ok()) return chain.error();
    ByteWriter bytes;
    wire::write(bytes, action);
    const std::int64_t number = action.action.number;
    Transaction transaction(connection);
    if (!transaction.begun()) return connection.error("Cannot write to");
    if (action.action.kind == run::ActionKind::replace) {
        Statement remove(connection, "DELETE FROM actions WHERE chain = ? AND number > ?");
        if (!remove.bind(*chain).bind(number).run()) return connection.error("Cannot write to");
    }
    Statement write(connection, "INSERT OR REPLACE INTO actions(chain, number, action) VALUES(?, ?, ?)");
    write.bind(*chain).bind(number).bind(ByteSpan(bytes.bytes()));
    const bool is_kept = write.run() && transaction.commit();
    return is_kept ? Status() : Status(connection.error("Cannot write to"));
}

Status Ledger::record_loss(const RunId& run, RoundId round, double loss) {
    m_owner.check();
    if (!std::isfinite(loss)) {
        return Error{ErrorCode::invalid_argument, "A loss must be a finite number to be recorded."};
    }
    Connection& connection = m_database->connection;
    Statement update(connection,
                     "UPDATE rounds SET loss = ? WHERE round = ? AND "
                     "chain = (SELECT id FROM chains WHERE run = ?) RETURNING round");
    const Step step = update.bind(loss).bind(round.value).bind(run.bytes).step();
    if (step == Step::done) {
        return Error{ErrorCode::not_found, "The ledger holds no " + round_name(round.value) + " of this run."};
    }
    if (step == Step::failed || !update.run()) return connection.error("Cannot write to");
    return {};
}

// --- reading ---

std::vector<run::CommittedList> Ledger::lists(const RunId& run, RoundId first, std::size_t most) const {
    m_owner.check();
    std::vector<run::CommittedList> found;
    if (first.value > run::sum_max) return found;
    if (first < kept_from(run)) return found;
    Statement query(m_database->connection,
                    "SELECT certificate, list FROM lists WHERE chain = (SELECT id FROM chains WHERE run = ?) "
                    "AND round >= ? ORDER BY round LIMIT ?");
    query.bind(run.bytes).bind(first.value).bind(limit_of(most));
    m_database->each(query, [&](const Statement& row) { found.push_back(committed_list_at(row, 0, 1)); });
    return found;
}

std::optional<run::CommittedList> Ledger::list(const RunId& run, RoundId round) const {
    m_owner.check();
    Statement query(m_database->connection,
                    "SELECT certificate, list FROM lists WHERE chain = (SELECT id FROM chains WHERE run = ?) "
                    "AND round = ?");
    const Step step = query.bind(run.bytes).bind(round.value).step();
    if (!m_database->ended(step) || step != Step::row) return std::nullopt;
    return committed_list_at(query, 0, 1);
}

std::optional<run::AcceptList> Ledger::head(const RunId& run) const {
    m_owner.check();
    Statement query(m_database->connection,
                    "SELECT list FROM lists WHERE chain = (SELECT id FROM chains WHERE run = ?) "
                    "ORDER BY round DESC LIMIT 1");
    const Step step = query.bind(run.bytes).step();
    if (!m_database->ended(step) || step != Step::row) return std::nullopt;
    Result<run::AcceptList> decoded = run::AcceptList::decode(query.blob(0));
    if (!decoded.ok()) {
        log::of("ledger").error("{}", decoded.error().message);
        return std::nullopt;
    }
    return std::move(decoded).value();
}

std::vector<run::SignedAction> Ledger::actions(const RunId& run) const {
    m_owner.check();
    std::vector<run::SignedAction> found;
    Statement query(m_database->connection,
                    "SELECT action FROM actions WHERE chain = (SELECT id FROM chains WHERE run = ?) ORDER BY number");
    query.bind(run.bytes);
    m_database->each(query, [&](const Statement& row) {
        ByteReader in(row.blob(0));
        const run::SignedAction action = wire::read<run::SignedAction>(in);
        if (in.finished()) found.push_back(action);
    });
    return found;
}

std::optional<StateDigest> Ledger::digest_after(const RunId& run, RoundId round) const {
    m_owner.check();
    Statement query(m_database->connection,
                    "SELECT result FROM rounds WHERE chain = (SELECT id FROM chains WHERE run = ?) AND round = ?");
    const Step step = query.bind(run.bytes).bind(round.value).step();
    if (!m_database->ended(step) || step != Step::row) return std::nullopt;
    return query.id<StateDigest>(0);
}

RunTotals Ledger::totals(const RunId& run) const {
    m_owner.check();
    Statement query(m_database->connection,
                    "SELECT (SELECT max(round) + 1 FROM rounds WHERE chain = c.id), c.base_tokens, "
                    "c.base_contributions, "
                    "(SELECT saturating_sum(tokens) FROM rounds WHERE chain = c.id AND round >= c.base), "
                    "(SELECT saturating_sum(contributions) FROM rounds WHERE chain = c.id AND round >= c.base) "
                    "FROM chains c WHERE c.run = ?");
    const Step step = query.bind(run.bytes).step();
    if (!m_database->ended(step) || step != Step::row) return {};
    const auto sum = [&](int a, int b) {
        return std::min(run::sum_max, query.count(a) + query.count(b));  // each is at most the largest
    };
    return {{query.count(0)}, {sum(1, 3)}, sum(2, 4)};
}

std::vector<Credit> Ledger::leaderboard(const RunId& run, std::size_t most) const {
    m_owner.check();
    std::vector<Credit> board;
    Statement query(m_database->connection,
                    "SELECT p.key, p.name, c.tokens, c.rounds, p.team FROM credits c JOIN peers p ON p.id = c.peer "
                    "WHERE c.chain = (SELECT id FROM chains WHERE run = ?) ORDER BY c.tokens DESC, p.key LIMIT ?");
    query.bind(run.bytes).bind(limit_of(most));
    m_database->each(query, [&](const Statement& row) { board.push_back(credit_at(row)); });
    return board;
}

Credit Ledger::credit_of(const RunId& run, const PeerId& peer) const {
    m_owner.check();
    Statement query(m_database->connection,
                    "SELECT p.key, p.name, s.tokens, s.rounds, p.team FROM peers p LEFT JOIN credits s "
                    "ON s.peer = p.id "
                    "AND s.chain = (SELECT id FROM chains WHERE run = ?) WHERE p.key = ?");
    const Step step = query.bind(run.bytes).bind(peer.bytes).step();
    Credit credit;
    if (m_database->ended(step) && step == Step::row) credit = credit_at(query);
    credit.peer = peer;
    return credit;
}

Standing Ledger::standing_of(const RunId& run, const PeerId& peer) const {
    Standing standing{credit_of(run, peer), 0};
    if (standing.credit.rounds == 0) return standing;
    Statement query(
        m_database->connection,
        "SELECT count(*) + 1 FROM credits WHERE chain = (SELECT id FROM chains WHERE run = ?) AND tokens > ?");
    const Step step = query.bind(run.bytes).bind(standing.credit.tokens.value).step();
    if (m_database->ended(step) && step == Step::row) standing.rank = query.count(0);
    return standing;
}

/// Who is found first, one pass over the people; a rank each then, counted from one hit to the next, which is one pass
/// over the credits at most. Ranking everybody to find one takes ten times as long.
std::vector<Standing> Ledger::find_people(const RunId& run, std::string_view part, std::size_t most) const {
    m_owner.check();
    std::vector<Standing> found;
    const bool may_be_key = part.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
    Statement query(m_database->connection,
                    "SELECT p.key, p.name, c.tokens, c.rounds, p.team FROM peers p CROSS JOIN credits c "
                    "ON c.peer = p.id AND c.chain = (SELECT id FROM chains WHERE run = ?1) "
                    "WHERE instr(lower(CAST(p.name AS TEXT)), lower(CAST(?2 AS TEXT))) > 0 "
                    "OR instr(lower(CAST(p.team AS TEXT)), lower(CAST(?2 AS TEXT))) > 0 "
                    "OR (?4 AND instr(lower(hex(p.key)), lower(CAST(?2 AS TEXT))) = 1) "
                    "ORDER BY c.tokens DESC, p.key LIMIT ?3");
    query.bind(run.bytes).bind(as_bytes(part)).bind(limit_of(most)).bind(std::uint64_t{may_be_key});
    m_database->each(query, [&](const Statement& row) { found.push_back({credit_at(row), 0}); });
    Statement above(m_database->connection,
                    "SELECT count(*) FROM credits WHERE chain = (SELECT id FROM chains WHERE run = ?) "
                    "AND tokens > ? AND tokens <= ?");
    std::uint64_t rank = 1, before = std::uint64_t{INT64_MAX};
    for (Standing& standing : found) {
        const std::uint64_t tokens = standing.credit.tokens.value;
        const Step step = above.bind(run.bytes).bind(tokens).bind(before).step();
        if (!m_database->ended(step) || step != Step::row) return {};
        rank += above.count(0);
        above.reset();
        standing.rank = rank;
        before = tokens;
    }
    return found;
}

std::uint64_t Ledger::people(const RunId& run) const {
    m_owner.check();
    Statement query(m_database->connection,
                    "SELECT count(*) FROM credits WHERE chain = (SELECT id FROM chains WHERE run = ?)");
    const Step step = query.bind(run.bytes).step();
    return m_database->ended(step) && step == Step::row ? query.count(0) : 0;
}

std::vector<RunCredit> Ledger::runs_of(const PeerId& peer) const {
    m_owner.check();
    std::vector<RunCredit> found;
    Statement query(m_database->connection,
                    "WITH me(id) AS (SELECT id FROM peers WHERE key = ?) "
                    "SELECT c.run, s.tokens, s.rounds, e.first, e.last, "
                    "(SELECT count(*) + 1 FROM credits o WHERE o.chain = c.id AND o.tokens > s.tokens) "
                    "FROM chains c LEFT JOIN credits s ON s.chain = c.id AND s.peer = (SELECT id FROM me) "
                    "LEFT JOIN (SELECT chain, min(at) AS first, max(at) AS last FROM entries "
                    "WHERE peer = (SELECT id FROM me) GROUP BY chain) e ON e.chain = c.id");
    query.bind(peer.bytes);
    m_database->each(query, [&](const Statement& row) {
        const std::uint64_t rounds = row.count(2);
        found.push_back(
            {row.id<RunId>(0), {row.count(1)}, rounds, rounds > 0 ? row.count(5) : 0, row.integer(3), row.integer(4)});
    });
    return found;
}

TokenCount Ledger::tokens_between(const PeerId& peer, std::int64_t since, std::int64_t end) const {
    m_owner.check();
    Statement query(m_database->connection,
                    "SELECT saturating_sum(tokens) FROM entries "
                    "WHERE peer = (SELECT id FROM peers WHERE key = ?) AND at >= ? AND at < ?");
    const Step step = query.bind(peer.bytes).bind(since).bind(end).step();
    if (!m_database->ended(step) || step != Step::row) return {};
    return {query.count(0)};
}

TokenCount Ledger::tokens_since(const PeerId& peer, std::int64_t since) const {
    m_owner.check();
    Statement query(m_database->connection,
                    "SELECT saturating_sum(tokens) FROM entries "
                    "WHERE peer = (SELECT id FROM peers WHERE key = ?) AND at >= ?");
    const Step step = query.bind(peer.bytes).bind(since).step();
    if (!m_database->ended(step) || step != Step::row) return {};
    return {query.count(0)};
}

std::vector<RoundRecord> Ledger::curve(const RunId& run, std::size_t most) const {
    m_owner.check();
    std::vector<RoundRecord> records;
    const std::uint64_t length = totals(run).rounds.value;
    const std::uint64_t points = std::min<std::uint64_t>(most, length);
    const Result<std::optional<std::int64_t>> chain = m_database->chain_of(run);
    if (points == 0 || !chain.ok() || !chain->has_value()) return records;
    Statement query(m_database->connection,
                    "SELECT round, at, result, tokens, loss FROM rounds WHERE chain = ? AND round >= ? AND round < ? "
                    "ORDER BY loss <> 0 DESC, round DESC LIMIT 1");
    // Stretches of quotient or quotient + 1 rounds, without a product that could overflow.
    const std::uint64_t quotient = length / points;
    const std::uint64_t longer = length % points;
    std::uint64_t first = 0;
    for (std::uint64_t point = 0; point < points; ++point) {
        const std::uint64_t end = first + quotient + (point < longer ? 1 : 0);
        const Step step = query.bind(**chain).bind(first).bind(end).step();
        if (!m_database->ended(step)) return records;
        if (step == Step::row) {
            records.push_back(
                {{query.count(0)}, query.integer(1), query.id<StateDigest>(2), {query.count(3)}, query.real(4)});
        }
        query.reset();
        first = end;
    }
    count_tokens(records, **chain, totals(run).tokens);
    return records;
}

/// From the end backwards: of rounds that only a table tells of, just their sum is known.
void Ledger::count_tokens(std::vector<RoundRecord>& records, std::int64_t chain, TokenCount all) const {
    Statement query(
        m_database->connection,
        "SELECT coalesce(saturating_sum(tokens), 0) FROM rounds WHERE chain = ? AND round > ? AND round <= ?");
    std::uint64_t left = all.value, end = std::uint64_t{INT64_MAX};
    for (auto record = records.rbegin(); record != records.rend(); ++record) {
        const Step step = query.bind(chain).bind(record->round.value).bind(end).step();
        if (!m_database->ended(step) || step != Step::row) return;
        left -= std::min(left, query.count(0));
        query.reset();
        record->tokens_until = {left};
        end = record->round.value;
    }
}

}  // namespace potluck::ledger
