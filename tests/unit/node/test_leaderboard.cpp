// The leaderboard as people see it: what the ledger knows, and of oneself what one says now.
#include <QTest>

#include "app/node/member/view.h"
#include "tests/unit/ledger/ledger_chain.h"

using namespace potluck;
using namespace potluck::test;

class LeaderboardTest : public QObject {
    Q_OBJECT
private slots:
    void init() {
        m_ledger.emplace(in_memory());
        m_chain.emplace();
        QVERIFY(add(*m_ledger, m_chain->next({{1, 10}, {2, 50}, {3, 40}})).ok());
        m_ledger->remember_team(key(2), "Physics Uni Graz");
        m_ledger->remember_team(key(3), "Wien");
    }

    void everybody_has_the_team_that_was_heard_and_oneself_the_own() {
        const control::Leaderboard board = of({key(1), "Ann", "Physics Uni Graz"});
        QCOMPARE(board.rows.at(0).team, std::string("Physics Uni Graz"));
        QCOMPARE(board.rows.at(1).team, std::string("Wien"));
        QVERIFY(board.rows.at(2).self && board.rows.at(2).team == "Physics Uni Graz");
        QCOMPARE(board.own->team, std::string("Physics Uni Graz"));
        QCOMPARE(of({key(2), "Bea", ""}).rows.at(0).team, std::string());
    }

    void teams_have_their_share_and_one_s_own_is_marked() {
        const control::Leaderboard board = of({key(1), "Ann", "Physics Uni Graz"});
        QCOMPARE(board.teams.size(), std::size_t{2});
        const control::TeamRow& first = board.teams.front();
        QVERIFY(first.rank == 1 && first.team == "Physics Uni Graz" && first.tokens == 60 && first.members == 2);
        QVERIFY(first.own && first.share == 0.6);
        QVERIFY(!board.teams.back().own && board.teams.back().share == 0.4);
        QVERIFY(!of({key(1), "Ann", ""}).own_team);
        QVERIFY(!of({key(1), "Ann", "physics uni graz"}).teams.front().own);
    }

    void one_s_own_team_is_there_with_its_rank_where_it_is_beyond_the_others() {
        const control::Leaderboard board = of({key(1), "Ann", "Linz"}, {.rows = 1});
        QCOMPARE(board.teams.size(), std::size_t{1});
        QCOMPARE(board.own_team->team, std::string("Linz"));
        QCOMPARE(board.own_team->rank, std::uint32_t{3});
        QCOMPARE(of({key(1), "Ann", ""}, {.rows = control::rows_max}).teams.size(), std::size_t{2});
    }

    void a_search_finds_people_by_team_and_oneself_by_the_own() {
        const control::Leaderboard board = of({key(1), "Ann", "Institut in GRAZ"}, {.find = "graz"});
        QCOMPARE(board.rows.size(), std::size_t{2});
        QVERIFY(board.rows.at(0).id == key(2).hex() && board.rows.at(1).self);
        QCOMPARE(board.teams.size(), std::size_t{2});
        QVERIFY(of({key(1), "Ann", ""}, {.find = "linz"}).teams.empty());
    }

private:
    [[nodiscard]] control::Leaderboard of(const node::OwnWords& words,
                                          const control::ReadLeaderboard& call = {}) const {
        return leaderboard_of(*m_ledger, m_chain->run(), words, call);
    }
    std::optional<ledger::Ledger> m_ledger;
    std::optional<Chain> m_chain;
};

QTEST_APPLESS_MAIN(LeaderboardTest)
#include "test_leaderboard.moc"
