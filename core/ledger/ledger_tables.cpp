// What lets lists be forgotten. A table counts all lists before some round; a ledger that holds it, the lists that
// changed the committee, and all lists since, has everything that a later list can ask for: who decides, which of the
// host's changes hold, and how often each contributor was accepted.
//
// Every change is one transaction. A table and the list that names it enter together; who is not in the table loses the
// credit of before in every ledger alike, since whether a key is a newcomer's is part of what a committee votes on.
#include <algorithm>
#include <utility>

#include "core/ledger/ledger_rows.h"

namespace potluck::ledger {

namespace {

/// Newest tables that are kept: a newcomer may begin with an older one, and a retraction goes back to one.
constexpr std::int64_t tables_kept = 3;

}  // namespace

bool Ledger::Database::insert_table(std::int64_t chain, RoundId round, ByteSpan content) {
    const Result<run::CreditTable> table = run::CreditTable::decode(content);
    if (!table.ok()) return false;
    Statement write(connection, "INSERT OR REPLACE INTO tables(chain, round, content) VALUES(?, ?, ?)");
    if (!write.bind(chain).bind(round.value).bind(content).run()) return false;
    Statement remove(connection,
                     "DELETE FROM tables WHERE chain = ? AND round NOT IN "
                     "(SELECT round FROM tables WHERE chain = ? ORDER BY round DESC LIMIT ?)");
    if (!remove.bind(chain).bind(chain).bind(tables_kept).run()) return false;
    // Who found no place in the table begins anew, here as with those who have nothing but the table.
    Statement count(connection, "SELECT count(*) FROM credits WHERE chain = ?");
    if (count.bind(chain).step() != Step::row) return false;
    return count.count(0) == table->credits.size() || take_credits(chain, *table);
}

bool Ledger::Database::take_credits(std::int64_t chain, const run::CreditTable& table) {
    Statement remove(connection, "DELETE FROM credits WHERE chain = ?");
    if (!remove.bind(chain).run()) return false;
    Statement peer(connection, "INSERT INTO peers(key) VALUES(?) ON CONFLICT DO NOTHING");
    Statement write(connection,
                    "INSERT INTO credits(chain, peer, tokens, rounds) SELECT ?, id, ?, ? FROM peers WHERE key = ?");
    for (const run::TableCredit& credit : table.credits) {
        if (!peer.bind(credit.peer.bytes).run()) return false;
        write.bind(chain).bind(credit.tokens.value).bind(credit.rounds).bind(credit.peer.bytes);
        if (!write.run()) return false;
        peer.reset();
        write.reset();
    }
    return true;
}

std::optional<run::CreditTable> Ledger::Database::newest_table(std::int64_t chain) const {
    Statement query(connection, "SELECT content FROM tables WHERE chain = ? ORDER BY round DESC LIMIT 1");
    if (query.bind(chain).step() != Step::row) return std::nullopt;
    Result<run::CreditTable> table = run::CreditTable::decode(query.blob(0));
    if (!table.ok()) return std::nullopt;
    return std::move(table).value();
}

/// The newest table and what the lists since come to.
bool Ledger::Database::sum_up_again(std::int64_t chain) {
    const std::optional<run::CreditTable> table = newest_table(chain);
    if (!take_credits(chain, table.value_or(run::CreditTable{}))) return false;
    Statement sum(connection,
                  std::string("INSERT INTO credits(chain, peer, tokens, rounds) SELECT chain, peer, "
                              "saturating_sum(tokens), count(*) FROM entries WHERE chain = ? AND round >= ? "
                              "GROUP BY peer")
                      .append(add_to_credits));
    return sum.bind(chain).bind(table ? table->round.value : 0).run();
}

RoundId Ledger::Database::table_before(std::int64_t chain, RoundId round) const {
    Statement query(connection,
                    "SELECT round, list FROM lists WHERE chain = ? AND round <= ? AND round >= ? ORDER BY round DESC");
    const std::uint64_t first = round.value - std::min(round.value, run::void_rounds);
    query.bind(chain).bind(round.value).bind(first);
    RoundId found;
    each(query, [&](const Statement& row) {
        const Result<run::AcceptList> list = run::AcceptList::decode(row.blob(1));
        if (found.value == 0 && list.ok() && list->table) found.value = row.count(0);
    });
    return found;
}

/// The list itself is in the chain already, and with it a table that it names.
bool Ledger::Database::make_void(std::int64_t chain, const run::AcceptList& decoded) {
    if (decoded.suspensions.empty()) return true;
    const RoundId first = run::first_void_round(decoded.round, table_before(chain, decoded.round));
    const std::string counted =
        "FROM entries e WHERE e.chain = rounds.chain AND e.round = rounds.round AND e.void_by IS NULL "
        "AND e.peer = (SELECT id FROM peers WHERE key = ?)";
    Statement rounds(connection, "UPDATE rounds SET tokens = tokens - (SELECT e.tokens " + counted +
                                     ") WHERE chain = ? AND round >= ? AND round < ? AND EXISTS (SELECT 1 " + counted +
                                     ")");
    Statement entries(connection,
                      "UPDATE entries SET voided = tokens, tokens = 0, void_by = ? WHERE chain = ? AND round >= ? "
                      "AND round < ? AND void_by IS NULL AND peer = (SELECT id FROM peers WHERE key = ?)");
    for (const run::Suspension& one : decoded.suspensions) {
        rounds.bind(one.person.bytes).bind(chain).bind(first.value).bind(decoded.round.value).bind(one.person.bytes);
        entries.bind(decoded.round.value).bind(chain).bind(first.value).bind(decoded.round.value);
        if (!rounds.run() || !entries.bind(one.person.bytes).run()) return false;
        rounds.reset();
        entries.reset();
    }
    return sum_up_again(chain);
}

bool Ledger::Database::restore_void(std::int64_t chain, RoundId first) {
    const std::string taken =
        "FROM entries e WHERE e.chain = rounds.chain AND e.round = rounds.round AND e.void_by >= ?";
    Statement rounds(connection, "UPDATE rounds SET tokens = tokens + (SELECT sum(e.voided) " + taken +
                                     ") WHERE chain = ? AND EXISTS (SELECT 1 " + taken + ")");
    Statement entries(
        connection, "UPDATE entries SET tokens = voided, voided = 0, void_by = NULL WHERE chain = ? AND void_by >= ?");
    return rounds.bind(first.value).bind(chain).bind(first.value).run() && entries.bind(chain).bind(first.value).run();
}

bool Ledger::Database::forget_chain(std::int64_t chain) {
    for (const char* table : {"entries", "lists", "rounds", "tables", "credits"}) {
        Statement remove(connection, std::string("DELETE FROM ") + table + " WHERE chain = ?");
        if (!remove.bind(chain).run()) return false;
    }
    Statement reset(connection,
                    "UPDATE chains SET base = 0, base_tokens = 0, base_contributions = 0, kept = 0 WHERE id = ?");
    return reset.bind(chain).run();
}

Result<Ledger::Database::Beginnings> Ledger::Database::beginnings_of(std::int64_t chain) const {
    Statement query(connection, "SELECT base, kept FROM chains WHERE id = ?");
    if (query.bind(chain).step() != Step::row) return connection.error("Cannot read");
    return Beginnings{query.count(0), query.count(1)};
}

Status Ledger::begin_at(const Beginning& beginning, std::int64_t at) {
    m_owner.check();
    const Result<run::CreditTable> table = run::CreditTable::decode(beginning.table);
    if (!table.ok()) return table.error();
    const Result<run::AcceptList> before = run::AcceptList::decode(beginning.before.list);
    if (!before.ok()) return before.error();
    Connection& connection = m_database->connection;
    Transaction transaction(connection);
    if (!transaction.begun()) return connection.error("Cannot write to");
    const Result<std::int64_t> chain = m_database->chain_for_writing(table->run);
    if (!chain.ok()) return chain.error();
    const Result<Database::Tip> tip = m_database->tip_of(*chain);
    if (!tip.ok()) return tip.error();
    const bool is_ahead =
        before->run == table->run && before->round.next() == table->round && tip->length < table->round.value;
    if (!is_ahead) return Error{ErrorCode::invalid_argument, "The table does not belong to a list further on."};
    const Database::ListMarks marks{m_database->changes_committee(*chain, *before), judges_something(*before)};
    bool is_written = true;
    for (const char* text :
         {"DELETE FROM lists WHERE chain = ? AND changes = 0", "DELETE FROM tables WHERE chain = ?"}) {
        Statement remove(connection, text);
        is_written = is_written && remove.bind(*chain).run();
    }
    for (const run::CommittedList& one : beginning.changes) {
        const Result<run::AcceptList> decoded = run::AcceptList::decode(one.list);
        is_written =
            is_written && decoded.ok() && m_database->insert_list(*chain, one, decoded->round, {.changes = true});
    }
    is_written = is_written && m_database->insert_list(*chain, beginning.before, before->round, marks) &&
                 m_database->insert_round(*chain, *before, beginning.result, at) &&
                 m_database->take_credits(*chain, *table) &&
                 m_database->insert_table(*chain, table->round, beginning.table);
    Statement update(connection,
                     "UPDATE chains SET base = ?, base_tokens = ?, base_contributions = ?, kept = ? WHERE id = ?");
    update.bind(table->round.value).bind(table->tokens.value).bind(table->contributions);
    update.bind(before->round.value).bind(*chain);
    is_written = is_written && update.run() && transaction.commit();
    return is_written ? Status() : Status(connection.error("Cannot write to"));
}

Status Ledger::prune(const RunId& run, RoundId before) {
    m_owner.check();
    Connection& connection = m_database->connection;
    Transaction transaction(connection);
    if (!transaction.begun()) return connection.error("Cannot write to");
    const Result<std::int64_t> chain = m_database->chain_for_writing(run);
    if (!chain.ok()) return chain.error();
    const Result<Database::Tip> tip = m_database->tip_of(*chain);
    if (!tip.ok()) return tip.error();
    if (before.value >= tip->length) {
        return Error{ErrorCode::invalid_argument, "The newest list of a run is always kept."};
    }
    Statement remove(connection, "DELETE FROM lists WHERE chain = ? AND round < ? AND changes = 0");
    Statement update(connection, "UPDATE chains SET kept = max(kept, ?) WHERE id = ?");
    const bool is_written = remove.bind(*chain).bind(before.value).run() &&
                            update.bind(before.value).bind(*chain).run() && transaction.commit();
    return is_written ? Status() : Status(connection.error("Cannot write to"));
}

run::CreditTable Ledger::table(const run::RunRules& rules) const {
    m_owner.check();
    const RunTotals sums = totals(rules.run);
    run::CreditTable table{rules.run,     sums.rounds,  sums.tokens, sums.contributions, rules.actions,
                           rules.vouched, rules.banned, {},          rules.suspended,    rules.curve};
    Statement query(m_database->connection,
                    "SELECT p.key, c.tokens, c.rounds FROM credits c JOIN peers p ON p.id = c.peer "
                    "WHERE c.chain = (SELECT id FROM chains WHERE run = ?) ORDER BY c.tokens DESC, p.key LIMIT ?");
    query.bind(rules.run.bytes).bind(limit_of(run::table_credits_max));
    m_database->each(query, [&](const Statement& row) {
        table.credits.push_back({row.id<PeerId>(0), {row.count(1)}, row.count(2)});
    });
    std::sort(table.credits.begin(), table.credits.end(),
              [](const run::TableCredit& a, const run::TableCredit& b) { return a.peer < b.peer; });
    return table;
}

std::vector<KeptTable> Ledger::tables(const RunId& run) const {
    m_owner.check();
    std::vector<KeptTable> found;
    Statement query(m_database->connection,
                    "SELECT round, content FROM tables WHERE chain = (SELECT id FROM chains WHERE run = ?) "
                    "ORDER BY round");
    query.bind(run.bytes);
    m_database->each(query, [&](const Statement& row) {
        const ByteSpan content = row.blob(1);
        found.push_back({{row.count(0)}, {content.begin(), content.end()}});
    });
    return found;
}

std::optional<RoundId> Ledger::newest_table(const RunId& run, RoundId round_max) const {
    m_owner.check();
    Statement query(m_database->connection,
                    "SELECT round FROM tables WHERE chain = (SELECT id FROM chains WHERE run = ?) AND round <= ? "
                    "ORDER BY round DESC LIMIT 1");
    const Step step = query.bind(run.bytes).bind(round_max.value).step();
    if (!m_database->ended(step) || step != Step::row) return std::nullopt;
    return RoundId{query.count(0)};
}

RoundId Ledger::kept_from(const RunId& run) const {
    m_owner.check();
    Statement query(m_database->connection, "SELECT kept FROM chains WHERE run = ?");
    const Step step = query.bind(run.bytes).step();
    if (!m_database->ended(step) || step != Step::row) return {};
    return {query.count(0)};
}

std::vector<run::CommittedList> Ledger::judging_lists(const RunId& run, RoundId first) const {
    m_owner.check();
    std::vector<run::CommittedList> found;
    Statement query(m_database->connection,
                    "SELECT certificate, list FROM lists WHERE chain = (SELECT id FROM chains WHERE run = ?) "
                    "AND judges = 1 AND round >= ? ORDER BY round");
    query.bind(run.bytes).bind(first.value);
    m_database->each(query, [&](const Statement& row) { found.push_back(committed_list_at(row, 0, 1)); });
    return found;
}

run::LossCurve Ledger::losses(const RunId& run) const {
    m_owner.check();
    const Result<std::optional<std::int64_t>> chain = m_database->chain_of(run);
    if (!chain.ok() || !chain->has_value()) return {};
    const std::optional<run::CreditTable> table = m_database->newest_table(**chain);
    run::LossCurve curve = table ? table->curve : run::LossCurve{};
    const RoundId first = table ? table->round : RoundId{0};
    for (const run::CommittedList& one : judging_lists(run, first)) {
        const Result<run::AcceptList> list = run::AcceptList::decode(one.list);
        if (list.ok() && list->measured) curve.add({list->measured->round, list->measured->median()});
    }
    return curve;
}

std::vector<run::CommittedList> Ledger::committee_changes(const RunId& run, RoundId first, RoundId end,
                                                          std::size_t most) const {
    m_owner.check();
    std::vector<run::CommittedList> found;
    Statement query(m_database->connection,
                    "SELECT certificate, list FROM lists WHERE chain = (SELECT id FROM chains WHERE run = ?) "
                    "AND changes = 1 AND round >= ? AND round < ? ORDER BY round LIMIT ?");
    query.bind(run.bytes).bind(first.value).bind(end.value).bind(limit_of(most));
    m_database->each(query, [&](const Statement& row) { found.push_back(committed_list_at(row, 0, 1)); });
    return found;
}

}  // namespace potluck::ledger
