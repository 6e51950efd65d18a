#include <algorithm>
#include <cstdio>
#include <iostream>
#include <optional>
#include <vector>

#include <CLI/CLI.hpp>

#include "app/node/cli/asking.h"
#include "app/node/cli/verbs/take_part/verbs.h"
#include "core/base/log.h"

namespace potluck::node {

namespace {

constexpr std::size_t shown_member = 24, shown_team = 40;

void print(const control::LeaderboardRow& row) {
    const std::string name = row.name.empty() ? "-" : log::printable(row.name, shown_member);
    const std::string team = row.team.empty() ? "" : "  team " + log::printable(row.team, shown_team);
    std::printf("%4u  %s  %-24s %12llu tokens %6llu rounds %5.1f%%%s%s\n", row.rank, clean(row.id).substr(0, 8).c_str(),
                name.c_str(), static_cast<unsigned long long>(row.tokens), static_cast<unsigned long long>(row.rounds),
                100 * row.share, row.self ? "  (you)" : "", team.c_str());
}

void print(const control::TeamRow& row) {
    std::printf("%4u  %-40s %12llu tokens %6llu people %5.1f%%%s\n", row.rank,
                log::printable(row.team, shown_team).c_str(), static_cast<unsigned long long>(row.tokens),
                static_cast<unsigned long long>(row.members), 100 * row.share, row.own ? "  (yours)" : "");
}

/// One's own row comes last where it is not among the others, unless others were looked for.
template <class Row>
void print(const std::vector<Row>& rows, const std::optional<Row>& own, bool Row::*is_own, const std::string& find) {
    for (const Row& row : rows) print(row);
    const bool listed = std::ranges::any_of(rows, is_own);
    if (own && !listed && find.empty()) print(*own);
}

class LeaderboardVerb final : public Verb {
public:
    using Verb::Verb;

    void add(CLI::App& app) override {
        app.add_option("--find", m_find, "Only people whose name or team holds this, or whose key begins with it");
        app.add_flag("--teams", m_teams, "Teams instead of people; anybody may name any team");
        add_json(app);
    }

    ExitCode run(const ThisNode& node) override {
        return ask(node, output(), control::ReadLeaderboard{.find = m_find},
                   [this](const control::Leaderboard& board) { print_board(board); });
    }

private:
    void print_board(const control::Leaderboard& leaderboard) const;

    std::string m_find;  // empty: everybody
    bool m_teams = false;
};

void LeaderboardVerb::print_board(const control::Leaderboard& leaderboard) const {
    if (m_teams) {
        print(leaderboard.teams, leaderboard.own_team, &control::TeamRow::own, m_find);
    } else {
        print(leaderboard.rows, leaderboard.own, &control::LeaderboardRow::self, m_find);
    }
    const bool is_empty = m_teams ? leaderboard.teams.empty() : leaderboard.rows.empty();
    if (is_empty && !m_find.empty()) {
        std::cout << (m_teams ? "No team here contains " : "No name, team or key here contains ") << m_find << ".\n";
    } else if (is_empty && m_teams) {
        std::cout << "Nobody who was credited here has named a team.\n";
    }
}

}  // namespace

std::unique_ptr<Verb> leaderboard_verb() {
    return std::make_unique<LeaderboardVerb>("leaderboard", "Who trained how much");
}

}  // namespace potluck::node
