// Checks a chain as far as it is held: first the lists that changed the committee before the first that is held in
// sequence, each proved by the committee that the one before it named; then every list with its link, its certificate,
// the signatures of its contributors and its credit; and at last that the sums are those of the newest table and of
// what came after it.
//
// A table itself is proved by the list that names it, whose certificate is a quorum's word for it.
#include <algorithm>
#include <map>
#include <utility>

#include "core/base/check.h"
#include "core/ledger/ledger_rows.h"
#include "core/run/agreement/keyring.h"

namespace potluck::ledger {

namespace {

constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();

}  // namespace

bool Ledger::Database::entries_match(std::int64_t chain, const run::AcceptList& list) const {
    Statement query(connection,
                    "SELECT p.key, e.tokens + e.voided FROM entries e JOIN peers p ON p.id = e.peer "
                    "WHERE e.chain = ? AND e.round = ? ORDER BY p.key");
    query.bind(chain).bind(list.round.value);
    const std::map<PeerId, TokenCount> credits = credit_by_person(list);
    std::size_t matched = 0;
    bool same = true;
    each(query, [&](const Statement& row) {
        const auto found = credits.find(row.id<PeerId>(0));
        same = same && found != credits.end() && row.count(1) == found->second.value;
        ++matched;
    });
    return same && matched == credits.size();
}

/// Whether credit is void where suspensions make it so, and nowhere else. Lists before those that are kept are not
/// looked at.
bool Ledger::Database::voids_match(std::int64_t chain, const Beginnings& from,
                                   const std::vector<VoidCredit>& voids) const {
    bool same = true;
    Statement left(connection,
                   "SELECT 1 FROM entries WHERE chain = ? AND round >= ? AND round < ? AND void_by IS NULL "
                   "AND peer = (SELECT id FROM peers WHERE key = ?)");
    for (const VoidCredit& one : voids) {
        left.bind(chain).bind(std::max(one.first.value, from.base)).bind(one.by.value).bind(one.person.bytes);
        same = same && left.step() == Step::done;
        left.reset();
    }
    Statement made(connection,
                   "SELECT p.key, e.round, e.void_by, e.tokens FROM entries e JOIN peers p ON p.id = e.peer "
                   "WHERE e.chain = ? AND e.void_by >= ?");
    each(made.bind(chain).bind(std::max(from.kept, from.base)), [&](const Statement& row) {
        const PeerId person = row.id<PeerId>(0);
        const auto is_it = [&](const VoidCredit& one) {
            return one.person == person && one.by.value == row.count(2) && one.first.value <= row.count(1) &&
                   row.count(1) < one.by.value;
        };
        same = same && row.count(3) == 0 && std::any_of(voids.begin(), voids.end(), is_it);
    });
    return same;
}

/// Whether the sums are those of the newest table and of the entries since.
bool Ledger::Database::credits_match(std::int64_t chain) const {
    std::map<std::int64_t, std::pair<std::uint64_t, std::uint64_t>> sums;  // tokens and rounds by person
    const std::optional<run::CreditTable> table = newest_table(chain);
    Statement person(connection, "SELECT id FROM peers WHERE key = ?");
    for (const run::TableCredit& credit : table ? table->credits : std::vector<run::TableCredit>{}) {
        if (person.bind(credit.peer.bytes).step() != Step::row) return false;
        sums[person.integer(0)] = {credit.tokens.value, credit.rounds};
        person.reset();
    }
    Statement entries(connection,
                      "SELECT peer, saturating_sum(tokens), count(*) FROM entries WHERE chain = ? AND round >= ? "
                      "GROUP BY peer");
    entries.bind(chain).bind(table ? table->round.value : 0);
    each(entries, [&](const Statement& row) {
        auto& [tokens, rounds] = sums[row.integer(0)];
        tokens = std::min(run::sum_max, tokens + row.count(1));
        rounds += row.count(2);
    });
    Statement held(connection, "SELECT peer, tokens, rounds FROM credits WHERE chain = ?");
    std::size_t matched = 0;
    bool same = true;
    each(held.bind(chain), [&](const Statement& row) {
        const auto found = sums.find(row.integer(0));
        same = same && found != sums.end() && found->second == std::pair(row.count(1), row.count(2));
        ++matched;
    });
    return same && matched == sums.size();
}

/// What is wrong with the round that `walk` comes to, empty if nothing: with its list, or with what is noted of it.
Result<std::string> Ledger::Database::fault_of(std::int64_t chain, const Beginnings& from, std::uint64_t round,
                                               run::ChainWalk& walk) const {
    Statement query(connection,
                    "SELECT l.certificate, l.list, r.hash, r.tokens, r.contributions, t.content, (SELECT "
                    "sum(voided) FROM entries e WHERE e.chain = r.chain AND e.round = r.round) FROM rounds r "
                    "LEFT JOIN lists l ON l.chain = r.chain AND l.round = r.round "
                    "LEFT JOIN tables t ON t.chain = r.chain AND t.round = r.round WHERE r.chain = ? AND r.round = ?");
    const Step step = query.bind(chain).bind(round).step();
    if (step == Step::failed) return connection.error("Cannot read");
    if (step == Step::done) return std::string("is missing");
    // Only the first of those that are kept may lie behind a gap.
    const run::Gap gap = round == from.kept ? run::Gap::allowed : run::Gap::refused;
    if (std::string fault = walk.take(committed_list_at(query, 0, 1), gap); !fault.empty()) return fault;
    const run::AcceptList& list = *walk.head();
    if (list.round.value != round) return std::string("is that of another place");
    if (query.id<Digest>(2) != walk.hash()) return std::string("does not have the hash that was noted");
    const bool has_table = !query.blob(5).empty();
    if (has_table && list.table != run::table_ref(query.blob(5))) return std::string("names another table");
    TokenCount tokens;
    for (const TokenCount& credit : run::weights_of(list)) tokens += credit;
    const bool sums = query.count(3) + query.count(6) == tokens.value && query.count(4) == list.entries.size();
    const bool is_listed = round < from.base || entries_match(chain, list);
    return sums && is_listed ? std::string() : std::string("was not credited as its list says");
}

Status Ledger::verify_chain(const RunId& run, const run::RunRules& rules) const {
    m_owner.check();
    POTLUCK_CHECK(rules.run == run);
    const Result<std::optional<std::int64_t>> chain = m_database->chain_of(run);
    if (!chain.ok()) return chain.error();
    if (!chain->has_value()) return {};
    const Result<Database::Tip> tip = m_database->tip_of(**chain);
    if (!tip.ok()) return tip.error();
    const Result<Database::Beginnings> from = m_database->beginnings_of(**chain);
    if (!from.ok()) return from.error();
    const auto refused = [](const std::string& what) {
        return Error{ErrorCode::untrusted, "In the ledger's chain " + what +
                                               ": move the ledger away, the chain is fetched anew from the other "
                                               "members."};
    };
    const run::Ed25519Verifier verifier;
    run::ChainWalk walk(rules, verifier);
    for (const run::CommittedList& change : committee_changes(run, RoundId{0}, RoundId{from->kept}, no_limit)) {
        const std::string fault = walk.take(change, run::Gap::allowed);
        if (!fault.empty()) return refused("a list that changed the committee " + fault);
    }
    std::vector<Database::VoidCredit> voids;
    RoundId table{from->base};
    for (std::uint64_t round = from->kept; round < tip->length; ++round) {
        const Result<std::string> fault = m_database->fault_of(**chain, *from, round, walk);
        if (!fault.ok()) return fault.error();
        if (!fault->empty()) return refused(round_name(round) + " " + *fault);
        if (walk.head()->table) table = RoundId{round};
        for (const run::Suspension& one : walk.head()->suspensions)
            voids.push_back({RoundId{round}, run::first_void_round(RoundId{round}, table), one.person});
    }
    if (!m_database->voids_match(**chain, *from, voids)) return refused("credit is void that no list makes so");
    if (!m_database->credits_match(**chain)) return refused("the sum of somebody's credit is not that of the rounds");
    return {};
}

}  // namespace potluck::ledger
