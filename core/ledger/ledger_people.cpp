// What people say of themselves, and teams. A name and a team are a person's own words, the last ones heard here;
// nothing of them stands in a list or a table. A team's tokens are the credit of those who claim it now, so that
// nothing is kept twice and a person who changes teams takes its credit along. Teams are compared byte by byte: two
// spellings are two teams.
#include "core/ledger/ledger_rows.h"

namespace potluck::ledger {

namespace {

/// Every team of run ?1, with its place. Of the person ?2 the team is ?3.
constexpr const char* ranked_teams =
    "WITH claims(team, tokens) AS (SELECT CASE WHEN p.key = ?2 THEN ?3 ELSE p.team END, c.tokens FROM credits c "
    "JOIN peers p ON p.id = c.peer WHERE c.chain = (SELECT id FROM chains WHERE run = ?1)), "
    "sums(team, tokens, members) AS (SELECT team, saturating_sum(tokens), count(*) FROM claims WHERE team <> x'' "
    "GROUP BY team), "
    "ranked AS (SELECT team, tokens, members, rank() OVER (ORDER BY tokens DESC) AS place FROM sums) "
    "SELECT team, tokens, members, place FROM ranked ";

TeamStanding team_at(const Statement& row) {
    return {std::string(as_text(row.blob(0))), {row.count(1)}, row.count(2), row.count(3)};
}

}  // namespace

void Ledger::Database::remember(const std::string& column, const PeerId& peer, ByteSpan words) {
    Step found = Step::failed;
    {
        Statement known(connection, "SELECT " + column + " FROM peers WHERE key = ?");
        found = known.bind(peer.bytes).step();
        if (!ended(found)) return;
        if (found == Step::row && as_text(known.blob(0)) == as_text(words)) return;
    }
    if (found == Step::done && words.empty()) return;
    // Anybody can make keys: people without credit are kept up to a number only.
    Statement write(connection, found == Step::row
                                    ? "UPDATE peers SET " + column + " = ? WHERE key = ?"
                                    : "INSERT INTO peers(" + column +
                                          ", key) SELECT ?, ? WHERE (SELECT count(*) FROM peers "
                                          "WHERE NOT EXISTS (SELECT 1 FROM credits WHERE peer = peers.id)) < ?");
    write.bind(words).bind(peer.bytes);
    if (found == Step::done) write.bind(strangers_max);
    if (!write.run()) report("Cannot write to");
}

void Ledger::remember_name(const PeerId& peer, const std::string& name) {
    m_owner.check();
    m_database->remember("name", peer, as_bytes(std::string_view(name).substr(0, run::name_bytes_max)));
}

void Ledger::remember_team(const PeerId& peer, const std::string& team) {
    m_owner.check();
    m_database->remember("team", peer, as_bytes(std::string_view(team).substr(0, run::team_bytes_max)));
}

void Ledger::remember_signed_name(const PeerId& person, const run::Envelope& status) {
    m_owner.check();
    const Result<std::int64_t> chain = m_database->chain_for_writing(status.run);
    if (!chain.ok()) return m_database->report("Cannot write to");
    Statement write(m_database->connection,
                    "INSERT OR REPLACE INTO signed_names(chain, peer, computer, status, signature) "
                    "SELECT ?, id, ?, ?, ? FROM peers WHERE key = ?");
    write.bind(*chain).bind(status.sender.bytes).bind(ByteSpan(status.body)).bind(status.signature).bind(person.bytes);
    if (!write.run()) m_database->report("Cannot write to");
}

void Ledger::remember_words(const PeerId& person, const std::string& name, const std::string& team,
                            const run::Envelope* status) {
    m_owner.check();
    Transaction transaction(m_database->connection);
    if (!transaction.begun()) return m_database->report("Cannot write to");
    if (!name.empty()) remember_name(person, name);
    if (status != nullptr) remember_signed_name(person, *status);
    remember_team(person, team);
    if (!transaction.commit()) m_database->report("Cannot write to");
}

std::optional<run::Envelope> Ledger::signed_name_of(const RunId& run, const PeerId& person) const {
    m_owner.check();
    Statement query(
        m_database->connection,
        "SELECT computer, status, signature FROM signed_names WHERE chain = (SELECT id FROM chains WHERE run = ?) "
        "AND peer = (SELECT id FROM peers WHERE key = ?)");
    const Step step = query.bind(run.bytes).bind(person.bytes).step();
    if (!m_database->ended(step) || step != Step::row) return std::nullopt;
    run::Envelope status;
    status.run = run;
    const ByteSpan computer = query.blob(0), body = query.blob(1), signature = query.blob(2);
    if (computer.size() != status.sender.bytes.size() || signature.size() != status.signature.size())
        return std::nullopt;
    std::ranges::copy(computer, status.sender.bytes.begin());
    std::ranges::copy(signature, status.signature.begin());
    status.body.assign(body.begin(), body.end());
    return status;
}

std::vector<TeamStanding> Ledger::teams(const RunId& run, const OwnClaim& own, std::string_view part,
                                        std::size_t most) const {
    m_owner.check();
    std::vector<TeamStanding> found;
    Statement query(m_database->connection,
                    std::string(ranked_teams)
                        .append("WHERE instr(lower(CAST(team AS TEXT)), lower(CAST(?4 AS TEXT))) > 0 "
                                "ORDER BY place, team LIMIT ?5"));
    query.bind(run.bytes).bind(own.person.bytes).bind(as_bytes(own.team)).bind(as_bytes(part)).bind(limit_of(most));
    m_database->each(query, [&](const Statement& row) { found.push_back(team_at(row)); });
    return found;
}

TeamStanding Ledger::team_of(const RunId& run, const OwnClaim& own) const {
    m_owner.check();
    TeamStanding standing{own.team};
    if (own.team.empty()) return standing;
    Statement query(m_database->connection, std::string(ranked_teams).append("WHERE team = ?3"));
    const Step step = query.bind(run.bytes).bind(own.person.bytes).bind(as_bytes(own.team)).step();
    if (m_database->ended(step) && step == Step::row) standing = team_at(query);
    return standing;
}

std::vector<PeerId> Ledger::accepted_since(const RunId& run, std::int64_t since) const {
    m_owner.check();
    std::vector<PeerId> found;
    Statement query(m_database->connection,
                    "SELECT p.key FROM entries e JOIN peers p ON p.id = e.peer "
                    "WHERE e.chain = (SELECT id FROM chains WHERE run = ?) GROUP BY e.peer HAVING min(e.at) >= ? "
                    "ORDER BY p.key");
    query.bind(run.bytes).bind(since);
    m_database->each(query, [&](const Statement& row) { found.push_back(row.id<PeerId>(0)); });
    return found;
}

}  // namespace potluck::ledger
