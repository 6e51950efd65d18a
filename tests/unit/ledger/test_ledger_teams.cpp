// Teams as the ledger sums them up: by credit and by what each person claims.
#include <QTemporaryDir>
#include <QTest>

#include <filesystem>

#include "tests/unit/ledger/ledger_file.h"

using namespace potluck;
using namespace potluck::test;
using ledger::Ledger;
using ledger::OwnClaim;
using ledger::TeamStanding;

namespace {

const OwnClaim nobody{};

/// "team:tokens/members#rank" of each, in order.
std::string told(const std::vector<TeamStanding>& teams) {
    std::string text;
    for (const TeamStanding& one : teams) {
        text += (text.empty() ? "" : " ") + one.team + ":" + std::to_string(one.tokens.value) + "/" +
                std::to_string(one.members) + "#" + std::to_string(one.rank);
    }
    return text;
}

}  // namespace

class LedgerTeamsTest : public QObject {
    Q_OBJECT
private slots:
    void teams_are_ranked_by_what_their_people_were_credited_with() {
        Ledger ledger = in_memory();
        Chain chain, other(2);
        QVERIFY(add(ledger, chain.next({{1, 10}, {2, 50}, {3, 30}, {4, 30}, {5, 90}})).ok());
        QVERIFY(add(ledger, other.next({{2, 7}})).ok());
        QCOMPARE(told(ledger.teams(chain.run(), nobody, "", 10)), std::string());
        ledger.remember_team(key(1), "Graz");
        ledger.remember_team(key(2), "Graz");
        ledger.remember_team(key(3), "Wien");
        ledger.remember_team(key(4), "Linz");
        ledger.remember_team(key(9), "Bonn");  // gave nothing
        QCOMPARE(told(ledger.teams(chain.run(), nobody, "", 10)), std::string("Graz:60/2#1 Linz:30/1#2 Wien:30/1#2"));
        QCOMPARE(told(ledger.teams(chain.run(), nobody, "", 1)), std::string("Graz:60/2#1"));
        QCOMPARE(told(ledger.teams(other.run(), nobody, "", 10)), std::string("Graz:7/1#1"));
        ledger.remember_team(key(5), "Wien");
        QCOMPARE(told(ledger.teams(chain.run(), nobody, "", 10)), std::string("Wien:120/2#1 Graz:60/2#2 Linz:30/1#3"));
    }

    void members_first_accepted_since_a_time_are_found() {
        Ledger ledger = in_memory();
        Chain chain, other(9);
        // Accepted at 1000, 1001 and 1002.
        QVERIFY(add(ledger, chain.next({{1, 10}, {2, 10}})).ok());
        QVERIFY(add(ledger, chain.next({{2, 10}, {3, 10}})).ok());
        QVERIFY(add(ledger, chain.next({{1, 10}, {4, 10}})).ok());
        QVERIFY(add(ledger, other.next({{5, 10}})).ok());
        std::vector expected{key(3), key(4)};
        std::sort(expected.begin(), expected.end());
        QVERIFY(ledger.accepted_since(chain.run(), 1001) == expected);
        QVERIFY(ledger.accepted_since(chain.run(), 1002) == std::vector{key(4)});
        QVERIFY(ledger.accepted_since(chain.run(), 1003).empty());
        QCOMPARE(ledger.accepted_since(chain.run(), 1000).size(), std::size_t{4});
    }

    void two_spellings_are_two_teams() {
        Ledger ledger = in_memory();
        Chain chain;
        QVERIFY(add(ledger, chain.next({{1, 20}, {2, 50}})).ok());
        ledger.remember_team(key(1), "graz");
        ledger.remember_team(key(2), "Graz");
        QCOMPARE(told(ledger.teams(chain.run(), nobody, "", 10)), std::string("Graz:50/1#1 graz:20/1#2"));
        QCOMPARE(ledger.teams(chain.run(), nobody, "GRA", 10).size(), std::size_t{2});
    }

    void one_s_own_claim_stands_in_for_what_was_heard() {
        Ledger ledger = in_memory();
        Chain chain;
        QVERIFY(add(ledger, chain.next({{1, 10}, {2, 50}, {3, 30}})).ok());
        ledger.remember_team(key(1), "Wien");  // what another of one's computers says
        ledger.remember_team(key(2), "Graz");
        const OwnClaim own{key(1), "Graz"};
        QCOMPARE(told(ledger.teams(chain.run(), own, "", 10)), std::string("Graz:60/2#1"));
        QCOMPARE(told({ledger.team_of(chain.run(), own)}), std::string("Graz:60/2#1"));
        QCOMPARE(told(ledger.teams(chain.run(), {key(1), ""}, "", 10)), std::string("Graz:50/1#1"));
        QCOMPARE(ledger.team_of(chain.run(), {key(1), ""}).rank, std::uint64_t{0});
        QCOMPARE(ledger.team_of(chain.run(), {key(7), "Bonn"}).rank, std::uint64_t{0});
        QCOMPARE(told({ledger.team_of(chain.run(), {key(7), "Graz"})}), std::string("Graz:50/1#1"));
    }

    void a_search_finds_teams_with_their_place_and_their_people() {
        Ledger ledger = in_memory();
        Chain chain;
        QVERIFY(add(ledger, chain.next({{1, 10}, {2, 50}, {3, 30}})).ok());
        ledger.remember_team(key(1), "Physics Uni Graz 100%");
        ledger.remember_team(key(2), "Wien");
        QCOMPARE(told(ledger.teams(chain.run(), nobody, "uni gRAZ", 10)), std::string("Physics Uni Graz 100%:10/1#2"));
        QVERIFY(ledger.teams(chain.run(), nobody, "_", 10).empty());
        QCOMPARE(ledger.teams(chain.run(), nobody, "%", 10).size(), std::size_t{1});
        const auto people = ledger.find_people(chain.run(), "physics", 10);
        QCOMPARE(people.size(), std::size_t{1});
        QVERIFY(people[0].credit.peer == key(1) && people[0].rank == 3);
        QCOMPARE(people[0].credit.team, std::string("Physics Uni Graz 100%"));
        QCOMPARE(ledger.leaderboard(chain.run(), 1).at(0).team, std::string("Wien"));
    }

    void teams_are_kept_whole_replaced_cut_and_given_up() {
        Ledger ledger = in_memory();
        Chain chain;
        const auto team = [&] { return ledger.credit_of(chain.run(), key(1)).team; };
        const std::string odd("'); DROP TABLE peers;--\0\xff", 25);
        ledger.remember_team(key(1), odd);
        QCOMPARE(team(), odd);
        QVERIFY(add(ledger, chain.next({{1, 5}})).ok());
        QCOMPARE(team(), odd);
        ledger.remember_team(key(1), std::string(1000, 't'));
        QCOMPARE(team(), std::string(run::team_bytes_max, 't'));
        ledger.remember_name(key(1), "Ann");
        QCOMPARE(team(), std::string(run::team_bytes_max, 't'));
        ledger.remember_team(key(1), "");
        QCOMPARE(team(), std::string());
        QVERIFY(ledger.teams(chain.run(), nobody, "", 10).empty());
        QCOMPARE(ledger.credit_of(chain.run(), key(1)).name, std::string("Ann"));
    }

    void strangers_with_teams_do_not_fill_the_disk() {
        QVERIFY(Ledger::open(at("ledger")).ok());
        const std::string crowd = "WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < " +
                                  std::to_string(ledger::strangers_max) +
                                  ") INSERT INTO peers(key) SELECT randomblob(32) FROM n";
        QVERIFY(meddle(at("ledger"), crowd.c_str()));
        Ledger ledger = std::move(Ledger::open(at("ledger"))).value();
        const auto team = [&](std::uint64_t peer) { return ledger.credit_of(id<RunId>(1), key(peer)).team; };
        ledger.remember_team(key(2), "");  // who claims none takes no place
        ledger.remember_team(key(3), "the last that fits");
        ledger.remember_team(key(4), "one too many");
        QCOMPARE(team(3), std::string("the last that fits"));
        QCOMPARE(team(4), std::string());
    }

    void a_team_s_sum_stops_at_the_largest() {
        Chain chain;
        {
            Ledger ledger = std::move(Ledger::open(at("ledger"))).value();
            QVERIFY(add(ledger, chain.next({{1, 1}, {2, 1}})).ok());
        }
        QVERIFY(meddle(at("ledger"), "UPDATE credits SET tokens = 9223372036854775806"));
        Ledger ledger = std::move(Ledger::open(at("ledger"))).value();
        ledger.remember_team(key(1), "Graz");
        ledger.remember_team(key(2), "Graz");
        QCOMPARE(ledger.teams(chain.run(), nobody, "", 1).at(0).tokens.value, (1ULL << 63U) - 1);
    }

    void a_team_changes_no_byte_of_a_table() {
        Ledger ledger = in_memory();
        Chain chain;
        QVERIFY(add(ledger, chain.next({{1, 10}, {2, 20}})).ok());
        const run::RunRules rules{chain.run(), Chain::first_committee()[0], {}, {}};
        const Bytes before = ledger.table(rules).encode();
        ledger.remember_team(key(1), "Graz");
        QVERIFY(ledger.table(rules).encode() == before);
        QVERIFY(verify(ledger, chain.run()).ok());
    }

    void an_older_ledger_learns_of_teams() {
        Chain chain;
        {
            Ledger ledger = std::move(Ledger::open(at("ledger"))).value();
            QVERIFY(add(ledger, chain.next({{1, 42}})).ok());
            ledger.remember_name(key(1), "Ann");
        }
        QVERIFY(meddle(at("ledger"), R"(
            ALTER TABLE peers DROP COLUMN team;
            DROP TABLE signed_names; DROP INDEX lists_that_judge; ALTER TABLE lists DROP COLUMN judges;
            ALTER TABLE entries DROP COLUMN voided; ALTER TABLE entries DROP COLUMN void_by;
            PRAGMA user_version = 4)"));
        {
            Ledger ledger = std::move(Ledger::open(at("ledger"))).value();
            QCOMPARE(ledger.credit_of(chain.run(), key(1)).team, std::string());
            ledger.remember_team(key(1), "Graz");
        }
        const Ledger ledger = std::move(Ledger::open(at("ledger"))).value();
        QCOMPARE(told(ledger.teams(chain.run(), nobody, "", 10)), std::string("Graz:42/1#1"));
        QCOMPARE(ledger.credit_of(chain.run(), key(1)).name, std::string("Ann"));
    }

    void a_signed_name_is_kept_of_people_whose_name_is() {
        Ledger ledger = std::move(Ledger::open(at("ledger"))).value();
        Chain chain;
        run::Envelope said;
        said.run = chain.run();
        said.sender = key(7);
        said.body = {std::byte{1}, std::byte{2}};
        said.signature[63] = std::byte{3};
        ledger.remember_signed_name(key(1), said);
        QVERIFY(!ledger.signed_name_of(chain.run(), key(1)));
        ledger.remember_name(key(1), "Ann");
        ledger.remember_signed_name(key(1), said);
        QVERIFY(ledger.signed_name_of(chain.run(), key(1)) == said);
        QVERIFY(!ledger.signed_name_of(chain.run(), key(7)));
        QVERIFY(!ledger.signed_name_of(RunId{}, key(1)));
        said.body.push_back(std::byte{4});
        ledger.remember_signed_name(key(1), said);
        QVERIFY(Ledger(std::move(ledger)).signed_name_of(chain.run(), key(1)) == said);
    }

    void init() { m_dir = std::make_unique<QTemporaryDir>(); }

private:
    [[nodiscard]] std::filesystem::path at(const char* name) const {
        return std::filesystem::path(m_dir->path().toStdString()) / name;
    }
    std::unique_ptr<QTemporaryDir> m_dir;
};

QTEST_APPLESS_MAIN(LedgerTeamsTest)
#include "test_ledger_teams.moc"
