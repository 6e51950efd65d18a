// The ledger: the chain, what follows from it, and what is refused.
#include <QtTest>

#include <cmath>
#include <fstream>
#include <map>

#include <sqlite3.h>

#include "core/base/rng.h"
#include "core/ledger/ledger.h"
#include "core/ledger/schema.h"
#include "tests/unit/ledger/ledger_chain.h"
#include "tests/unit/ledger/ledger_file.h"

using namespace potluck;
using namespace potluck::test;
using ledger::Credit;
using ledger::Ledger;
namespace fs = std::filesystem;

namespace {

constexpr StateDigest no_state{};

std::string content_of(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

bool mentions(const std::string& message, std::string_view text) { return message.find(text) != std::string::npos; }

}  // namespace

class TestLedger : public QObject {
    Q_OBJECT
private slots:
    void init() { m_dir = std::make_unique<QTemporaryDir>(); }

    void an_empty_ledger_answers_with_nothing();
    void appended_lists_are_read_back();
    void a_list_that_does_not_follow_is_refused();
    void the_same_list_again_is_known();
    void bytes_that_are_no_list_are_refused();
    void the_longest_list_fits();
    void runs_do_not_mix();
    void histories_come_in_order_and_bounded();

    void credit_is_the_sum_of_what_was_accepted();
    void the_leaderboard_is_sorted_and_cut();
    void people_are_found_by_name_or_key_with_their_rank();
    void credit_that_no_number_holds_stops_at_the_largest();
    void tokens_since_count_all_runs_from_that_second_on();
    void tokens_between_two_seconds_leave_the_end_out();
    void every_run_is_known_with_one_s_place_in_it();
    void names_are_kept_whole_replaced_and_cut();
    void strangers_do_not_fill_the_disk();

    void credit_is_what_a_list_weighs_and_not_what_was_claimed();
    void computers_of_a_person_are_credited_together();
    void a_newcomer_that_weighs_nothing_was_accepted_nevertheless();
    void the_last_result_can_be_corrected_and_no_other();

    void losses_belong_to_rounds_that_exist();
    void a_curve_is_thinned_evenly_and_prefers_measured_rounds();

    void late_entries_are_verified_with_the_base_of_their_round();
    void an_honest_chain_verifies();
    void a_chain_goes_on_as_its_committee_changes();
    void a_list_without_its_quorum_is_found_data();
    void a_list_without_its_quorum_is_found();
    void words_put_into_a_contributor_s_mouth_are_found_data();
    void words_put_into_a_contributor_s_mouth_are_found();
    void every_kind_of_tampering_is_found_in_its_round();

    void a_ledger_is_the_same_after_reopening();
    void a_file_of_something_else_is_left_alone();
    void a_database_of_another_program_is_left_alone();
    void a_newer_ledger_is_refused_and_left_alone();
    void an_older_ledger_keeps_its_credit();
    void an_unfinished_creation_starts_over();
    void a_damaged_ledger_is_a_sentence();
    void a_busy_ledger_is_a_sentence();
    void a_missing_folder_is_a_sentence();

private:
    [[nodiscard]] fs::path at(const char* name) const { return fs::path(m_dir->path().toStdString()) / name; }
    std::unique_ptr<QTemporaryDir> m_dir;
};

void TestLedger::an_empty_ledger_answers_with_nothing() {
    const Ledger ledger = in_memory();
    const RunId run = id<RunId>(1);
    QVERIFY(!ledger.list(run, {0}));
    QVERIFY(!ledger.head(run));
    QVERIFY(!ledger.digest_after(run, {0}));
    QVERIFY(ledger.lists(run, {0}, 10).empty());
    QVERIFY(ledger.leaderboard(run, 10).empty());
    QVERIFY(ledger.curve(run, 10).empty());
    QCOMPARE(ledger.totals(run).rounds.value, 0U);
    QCOMPARE(ledger.credit_of(run, key(1)).tokens.value, 0U);
    QCOMPARE(ledger.tokens_since(key(1), 0).value, 0U);
    QVERIFY(verify(ledger, run).ok());
}

void TestLedger::appended_lists_are_read_back() {
    Ledger ledger = in_memory();
    Chain chain;
    const run::CommittedList first = chain.next({{1, 10}, {2, 20}});
    const run::CommittedList second = chain.next({{2, 30}});
    QVERIFY(add(ledger, first).ok());
    QVERIFY(add(ledger, second).ok());
    QVERIFY(ledger.list(chain.run(), {0}) == first);
    QVERIFY(ledger.list(chain.run(), {1}) == second);
    QVERIFY(!ledger.list(chain.run(), {2}));
    QVERIFY(!ledger.list(chain.run(), {~std::uint64_t{0}}));
    QVERIFY(ledger.head(chain.run()) == run::AcceptList::decode(second.list).value());
    QVERIFY(ledger.digest_after(chain.run(), {1}) == id<StateDigest>(2));
    QVERIFY(!ledger.digest_after(chain.run(), {2}));
}

void TestLedger::a_list_that_does_not_follow_is_refused() {
    Ledger ledger = in_memory();
    Chain chain;
    const run::CommittedList first = chain.next({{1, 10}});
    const run::CommittedList second = chain.next({{1, 11}});
    const run::CommittedList third = chain.next({{1, 12}});
    QCOMPARE(add(ledger, second).error().code, ErrorCode::invalid_argument);
    QVERIFY(add(ledger, first).ok());
    QCOMPARE(add(ledger, third).error().code, ErrorCode::invalid_argument);
    Chain fork;
    static_cast<void>(fork.next({{2, 10}}));
    QCOMPARE(add(ledger, fork.next({{2, 10}})).error().code, ErrorCode::invalid_argument);
    for (const RoundId wrong : {RoundId{0}, RoundId{2}}) {
        Chain liar;
        static_cast<void>(liar.next({{1, 10}}));  // the list that is there, so that the hash is right
        liar.claim(wrong);
        // A list of round 0 that names a list before it does not even parse.
        QCOMPARE(add(ledger, liar.next({{1, 10}})).error().code,
                 wrong.value == 0 ? ErrorCode::malformed : ErrorCode::invalid_argument);
    }
    QCOMPARE(ledger.totals(chain.run()).rounds.value, 1U);
    QCOMPARE(ledger.totals(chain.run()).tokens.value, 10U);
}

void TestLedger::the_same_list_again_is_known() {
    Ledger ledger = in_memory();
    Chain chain;
    const run::CommittedList first = chain.next({{1, 10}});
    QVERIFY(add(ledger, first).ok());
    QVERIFY(add(ledger, chain.next({{1, 10}})).ok());
    QCOMPARE(add(ledger, first).error().code, ErrorCode::already_exists);
    Chain fork;
    QCOMPARE(add(ledger, fork.next({{2, 10}})).error().code, ErrorCode::invalid_argument);
    QCOMPARE(ledger.totals(chain.run()).tokens.value, 20U);
}

void TestLedger::bytes_that_are_no_list_are_refused() {
    Ledger ledger = in_memory();
    Chain chain;
    run::CommittedList list = chain.next({{1, 10}});
    list.list.push_back(std::byte{0});
    QCOMPARE(add(ledger, list).error().code, ErrorCode::malformed);
    QCOMPARE(add(ledger, {}).error().code, ErrorCode::malformed);
    QCOMPARE(add(ledger, {Bytes(std::size_t{1} << 22U), {}}).error().code, ErrorCode::malformed);
    QCOMPARE(ledger.totals(chain.run()).rounds.value, 0U);
}

void TestLedger::the_longest_list_fits() {
    Ledger ledger = in_memory();
    Chain chain;
    std::vector<Chain::Share> shares;
    for (std::uint64_t peer = 1; peer <= run::accepted_max; ++peer) shares.push_back({peer, peer});
    const run::CommittedList list = chain.next(shares);
    QVERIFY(add(ledger, list).ok());
    QVERIFY(ledger.list(chain.run(), {0}) == list);
    QCOMPARE(ledger.totals(chain.run()).contributions, std::uint64_t{run::accepted_max});
    QVERIFY(verify(ledger, chain.run()).ok());
}

void TestLedger::runs_do_not_mix() {
    Ledger ledger = in_memory();
    Chain one(1);
    Chain two(2);
    QVERIFY(add(ledger, one.next({{1, 10}})).ok());
    QVERIFY(add(ledger, two.next({{1, 100}, {2, 200}})).ok());
    QVERIFY(add(ledger, one.next({{1, 10}})).ok());
    QCOMPARE(ledger.totals(one.run()).rounds.value, 2U);
    QCOMPARE(ledger.totals(one.run()).tokens.value, 20U);
    QCOMPARE(ledger.totals(two.run()).tokens.value, 300U);
    QCOMPARE(ledger.leaderboard(one.run(), 10).size(), std::size_t{1});
    QCOMPARE(ledger.credit_of(one.run(), key(2)).rounds, std::uint64_t{0});
    QVERIFY(verify(ledger, one.run()).ok() && verify(ledger, two.run()).ok());
}

void TestLedger::histories_come_in_order_and_bounded() {
    Ledger ledger = in_memory();
    Chain chain;
    std::vector<run::CommittedList> all;
    for (int i = 0; i < 10; ++i) {
        all.push_back(chain.next({{1, 10}}));
        QVERIFY(add(ledger, all.back()).ok());
    }
    QVERIFY(ledger.lists(chain.run(), {0}, 100) == all);
    QVERIFY(ledger.lists(chain.run(), {4}, 3) == std::vector(all.begin() + 4, all.begin() + 7));
    QVERIFY(ledger.lists(chain.run(), {8}, ~std::size_t{0}) == std::vector(all.begin() + 8, all.end()));
    QVERIFY(ledger.lists(chain.run(), {10}, 5).empty());
    QVERIFY(ledger.lists(chain.run(), {~std::uint64_t{0}}, 5).empty());
    QVERIFY(ledger.lists(chain.run(), {0}, 0).empty());
}

void TestLedger::credit_is_the_sum_of_what_was_accepted() {
    Ledger ledger = in_memory();
    Chain chain;
    Rng rng(7);
    std::map<std::uint64_t, Credit> expected;
    ledger::RunTotals totals;
    for (int round = 0; round < 60; ++round) {
        std::vector<Chain::Share> shares;
        for (std::uint64_t peer = 1; peer <= 20; ++peer) {
            if (rng.below(3) == 0 && peer != 1) continue;
            const std::uint64_t tokens = 25'000 + rng.below(75'000);  // nobody has four times the median
            shares.push_back({peer, tokens});
            expected[peer].tokens += {tokens};
            expected[peer].rounds += 1;
            totals.tokens += {tokens};
            totals.contributions += 1;
        }
        QVERIFY(add(ledger, chain.next(shares)).ok());
    }
    for (const auto& [peer, credit] : expected) {
        const Credit found = ledger.credit_of(chain.run(), key(peer));
        QCOMPARE(found.tokens.value, credit.tokens.value);
        QCOMPARE(found.rounds, credit.rounds);
        QVERIFY(found.peer == key(peer));
    }
    QCOMPARE(ledger.totals(chain.run()).rounds.value, 60U);
    QCOMPARE(ledger.totals(chain.run()).tokens.value, totals.tokens.value);
    QCOMPARE(ledger.totals(chain.run()).contributions, totals.contributions);
}

void TestLedger::the_leaderboard_is_sorted_and_cut() {
    Ledger ledger = in_memory();
    Chain chain;
    QVERIFY(add(ledger, chain.next({{1, 10}, {2, 50}, {3, 30}, {4, 30}})).ok());
    QVERIFY(add(ledger, chain.next({{1, 25}})).ok());
    ledger.remember_name(key(2), "Bea");
    std::vector<PeerId> order;
    for (const Credit& credit : ledger.leaderboard(chain.run(), 10)) order.push_back(credit.peer);
    QVERIFY(order == std::vector({key(2), key(1), std::min(key(3), key(4)), std::max(key(3), key(4))}));
    const std::vector<Credit> best = ledger.leaderboard(chain.run(), 2);
    QCOMPARE(best.size(), std::size_t{2});
    QCOMPARE(best[0].name, std::string("Bea"));
    QCOMPARE(best[1].tokens.value, 35U);
    QCOMPARE(best[1].rounds, std::uint64_t{2});
}

void TestLedger::people_are_found_by_name_or_key_with_their_rank() {
    Ledger ledger = in_memory();
    Chain chain;
    QVERIFY(add(ledger, chain.next({{1, 10}, {2, 50}, {3, 30}, {4, 30}})).ok());
    ledger.remember_name(key(1), "Anna");
    ledger.remember_name(key(2), "Bea");
    ledger.remember_name(key(3), "Susanna 100%");
    ledger.remember_name(key(9), "Hanna");  // gave nothing
    QCOMPARE(ledger.people(chain.run()), std::uint64_t{4});
    const auto annas = ledger.find_people(chain.run(), "aNNa", 10);
    QCOMPARE(annas.size(), std::size_t{2});
    QVERIFY(annas[0].credit.peer == key(3) && annas[0].rank == 2);
    QVERIFY(annas[1].credit.peer == key(1) && annas[1].rank == 4);
    QCOMPARE(ledger.find_people(chain.run(), "anna", 1).size(), std::size_t{1});
    std::vector<std::uint64_t> ranks;  // of all, two of whom gave as much
    for (const ledger::Standing& one : ledger.find_people(chain.run(), "", 10)) ranks.push_back(one.rank);
    QVERIFY(ranks == std::vector<std::uint64_t>({1, 2, 2, 4}));
    QVERIFY(ledger.find_people(chain.run(), "0%", 10).at(0).credit.peer == key(3));
    QVERIFY(ledger.find_people(chain.run(), "%", 10).size() == 1);
    const std::string digits = key(4).hex();
    QVERIFY(ledger.find_people(chain.run(), digits.substr(0, 12), 10).at(0).credit.peer == key(4));
    QVERIFY(ledger.find_people(chain.run(), digits.substr(1, 12), 10).empty());
    QCOMPARE(ledger.standing_of(chain.run(), key(3)).rank, std::uint64_t{2});
    QCOMPARE(ledger.standing_of(chain.run(), key(4)).rank, std::uint64_t{2});
    QCOMPARE(ledger.standing_of(chain.run(), key(1)).rank, std::uint64_t{4});
    QCOMPARE(ledger.standing_of(chain.run(), key(9)).rank, std::uint64_t{0});
}

void TestLedger::credit_that_no_number_holds_stops_at_the_largest() {
    // 2^40 tokens from each of 4096 peers are 2^52 a round: 2^63 after 2048 rounds. The sums are given by hand.
    const fs::path file = at("ledger");
    Chain chain;
    {
        Ledger ledger = std::move(Ledger::open(file)).value();
        QVERIFY(add(ledger, chain.next({{1, 1}, {2, 1}})).ok());
        QVERIFY(add(ledger, chain.next({{1, 1}, {2, 1}})).ok());
    }
    QVERIFY(meddle(file,
                   "UPDATE entries SET tokens = 9223372036854775807; UPDATE rounds SET tokens = 1 << 62;"
                   "UPDATE credits SET tokens = 9223372036854775806"));
    Ledger ledger = std::move(Ledger::open(file)).value();
    QVERIFY(add(ledger, chain.next({{1, 2}, {2, 2}})).ok());
    constexpr std::uint64_t largest = (1ULL << 63U) - 1;
    QCOMPARE(ledger.leaderboard(chain.run(), 5).at(0).tokens.value, largest);
    QCOMPARE(ledger.totals(chain.run()).tokens.value, largest);
    QCOMPARE(ledger.tokens_since(key(1), 0).value, largest);
}

void TestLedger::tokens_since_count_all_runs_from_that_second_on() {
    Ledger ledger = in_memory();
    Chain one(1);
    Chain two(2);
    QVERIFY(ledger.append(one.next({{1, 1}, {2, 500}}), no_state, 100).ok());
    QVERIFY(ledger.append(one.next({{1, 10}}), no_state, 200).ok());
    QVERIFY(ledger.append(two.next({{1, 100}}), no_state, 300).ok());
    QCOMPARE(ledger.tokens_since(key(1), 0).value, 111U);
    QCOMPARE(ledger.tokens_since(key(1), 200).value, 110U);
    QCOMPARE(ledger.tokens_since(key(1), 201).value, 100U);
    QCOMPARE(ledger.tokens_since(key(1), 301).value, 0U);
}

void TestLedger::tokens_between_two_seconds_leave_the_end_out() {
    Ledger ledger = in_memory();
    Chain one(1), two(2);
    QVERIFY(ledger.append(one.next({{1, 1}, {2, 500}}), no_state, 100).ok());
    QVERIFY(ledger.append(two.next({{1, 10}}), no_state, 200).ok());
    QCOMPARE(ledger.tokens_between(key(1), 100, 200).value, 1U);
    QCOMPARE(ledger.tokens_between(key(1), 100, 201).value, 11U);
    QCOMPARE(ledger.tokens_between(key(1), 101, 200).value, 0U);
    QCOMPARE(ledger.tokens_between(key(3), 0, 1000).value, 0U);
}

void TestLedger::every_run_is_known_with_one_s_place_in_it() {
    Ledger ledger = in_memory();
    Chain one(1), two(2);
    QVERIFY(ledger.append(one.next({{1, 5}, {2, 500}}), no_state, 100).ok());
    QVERIFY(ledger.append(one.next({{1, 10}}), no_state, 300).ok());
    QVERIFY(ledger.append(two.next({{2, 7}}), no_state, 400).ok());
    std::map<RunId, ledger::RunCredit> runs;
    for (const ledger::RunCredit& each : ledger.runs_of(key(1))) runs.emplace(each.run, each);
    QCOMPARE(runs.size(), 2U);
    const ledger::RunCredit& given = runs.at(one.run());
    QCOMPARE(given.tokens.value, 15U);
    QCOMPARE(given.rounds, 2U);
    QCOMPARE(given.rank, 2U);
    QCOMPARE(given.first, 100);
    QCOMPARE(given.last, 300);
    const ledger::RunCredit& watched = runs.at(two.run());
    QCOMPARE(watched.tokens.value + watched.rounds + watched.rank, 0U);
    QCOMPARE(watched.last, 0);
    QCOMPARE(ledger.runs_of(key(2)).size(), 2U);
}

void TestLedger::names_are_kept_whole_replaced_and_cut() {
    Ledger ledger = in_memory();
    Chain chain;
    const PeerId peer = key(1);
    const auto name = [&] { return ledger.credit_of(chain.run(), peer).name; };
    ledger.remember_name(peer, "before the first round");
    QCOMPARE(name(), std::string("before the first round"));
    QVERIFY(add(ledger, chain.next({{1, 5}})).ok());
    QCOMPARE(name(), std::string("before the first round"));
    const std::string odd("'); DROP TABLE peers;--\0\xff", 25);
    ledger.remember_name(peer, odd);
    QCOMPARE(name(), odd);
    ledger.remember_name(peer, std::string(1000, 'n'));
    QCOMPARE(name(), std::string(run::name_bytes_max, 'n'));
    ledger.remember_name(peer, "");
    QCOMPARE(name(), std::string());
}

void TestLedger::strangers_do_not_fill_the_disk() {
    Chain chain;
    {
        Ledger ledger = std::move(Ledger::open(at("ledger"))).value();
        QVERIFY(add(ledger, chain.next({{1, 5}})).ok());
        ledger.remember_name(key(2), "early stranger");
    }
    const std::string crowd = "WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < " +
                              std::to_string(ledger::strangers_max - 1) +
                              ") INSERT INTO peers(key) SELECT randomblob(32) FROM n";
    QVERIFY(meddle(at("ledger"), crowd.c_str()));
    Ledger ledger = std::move(Ledger::open(at("ledger"))).value();
    const auto name = [&](std::uint64_t peer) { return ledger.credit_of(chain.run(), key(peer)).name; };
    ledger.remember_name(key(3), "the last that fits");
    ledger.remember_name(key(4), "one too many");
    ledger.remember_name(key(1), "worker");
    ledger.remember_name(key(2), "renamed");
    QCOMPARE(name(3), std::string("the last that fits"));
    QCOMPARE(name(4), std::string());
    QCOMPARE(name(1), std::string("worker"));
    QCOMPARE(name(2), std::string("renamed"));
    QVERIFY(add(ledger, chain.next({{4, 5}})).ok());
    ledger.remember_name(key(4), "accepted now");
    QCOMPARE(name(4), std::string("accepted now"));
}

void TestLedger::credit_is_what_a_list_weighs_and_not_what_was_claimed() {
    Ledger ledger = in_memory();
    Chain chain;
    // The lower median of the others is 200; four times that is 800, of which newcomers share a quarter.
    QVERIFY(add(ledger, chain.next({{1, 100}, {2, 200}, {3, 300}, {4, 1ULL << 40U}, {5, 50, true}, {6, 5'000, true}}))
                .ok());
    const auto credit = [&](std::uint64_t peer) { return ledger.credit_of(chain.run(), key(peer)).tokens.value; };
    QCOMPARE(credit(3), 300U);
    QCOMPARE(credit(4), 800U);
    QCOMPARE(credit(5), 20U);
    QCOMPARE(credit(6), 329U);
    QCOMPARE(ledger.totals(chain.run()).tokens.value, 100U + 200 + 300 + 800 + 20 + 329);
    QCOMPARE(ledger.curve(chain.run(), 1).at(0).tokens.value, ledger.totals(chain.run()).tokens.value);
    QCOMPARE(ledger.tokens_since(key(4), 0).value, 800U);
    QVERIFY(ledger.leaderboard(chain.run(), 1).at(0).peer == key(4));
    QVERIFY(verify(ledger, chain.run()).ok());
}

void TestLedger::computers_of_a_person_are_credited_together() {
    Ledger ledger = in_memory();
    Chain chain;
    QVERIFY(add(ledger, chain.next({{1, 100}, {2, 100}, {11, 70, false, false, 1}, {12, 30, false, false, 1}})).ok());
    QVERIFY(add(ledger, chain.next({{2, 100}, {11, 300, false, false, 1}, {12, 500, false, false, 1}})).ok());
    const Credit credit = ledger.credit_of(chain.run(), key(1));
    QCOMPARE(credit.tokens.value, 100U + 70 + 30 + 400);  // of the second list four medians
    QCOMPARE(credit.rounds, 2U);
    QCOMPARE(ledger.credit_of(chain.run(), key(11)).rounds, 0U);
    QCOMPARE(ledger.leaderboard(chain.run(), 10).size(), std::size_t{2});
    QCOMPARE(ledger.totals(chain.run()).contributions, 4U + 3U);
    QCOMPARE(ledger.totals(chain.run()).tokens.value, credit.tokens.value + 200);
    QVERIFY(verify(ledger, chain.run()).ok());
    const run::CreditTable table = ledger.table({chain.run(), Chain::first_committee()[0], {}, {}});
    QCOMPARE(table.credits.size(), std::size_t{2});
    QVERIFY(std::any_of(table.credits.begin(), table.credits.end(), [&](const run::TableCredit& one) {
        return one == run::TableCredit{key(1), credit.tokens, credit.rounds};
    }));
}

void TestLedger::a_newcomer_that_weighs_nothing_was_accepted_nevertheless() {
    Ledger ledger = in_memory();
    Chain chain;
    QVERIFY(add(ledger, chain.next({{1, 3}, {2, 7, true}})).ok());
    const Credit credit = ledger.credit_of(chain.run(), key(2));
    QCOMPARE(credit.tokens.value, 0U);
    QCOMPARE(credit.rounds, std::uint64_t{1});
    QCOMPARE(ledger.totals(chain.run()).contributions, std::uint64_t{2});
    QVERIFY(verify(ledger, chain.run()).ok());
}

void TestLedger::the_last_result_can_be_corrected_and_no_other() {
    Ledger ledger = in_memory();
    Chain chain, other(2);
    QCOMPARE(ledger.correct_result(chain.run(), id<StateDigest>(9)).error().code, ErrorCode::not_found);
    for (int i = 0; i < 3; ++i) QVERIFY(add(ledger, chain.next({{1, 10}})).ok());
    for (int i = 0; i < 3; ++i) QVERIFY(add(ledger, other.next({{1, 10}})).ok());
    QCOMPARE(ledger.correct_result(id<RunId>(3), id<StateDigest>(9)).error().code, ErrorCode::not_found);
    QVERIFY(ledger.correct_result(chain.run(), id<StateDigest>(77)).ok());
    QVERIFY(ledger.digest_after(chain.run(), {2}) == id<StateDigest>(77));
    QVERIFY(ledger.digest_after(chain.run(), {1}) == id<StateDigest>(2));
    QVERIFY(ledger.digest_after(chain.run(), {0}) == id<StateDigest>(1));
    QVERIFY(ledger.digest_after(other.run(), {2}) == id<StateDigest>(3));
    QVERIFY(verify(ledger, chain.run()).ok());
    QVERIFY(add(ledger, chain.next({{1, 10}})).ok());
}

void TestLedger::losses_belong_to_rounds_that_exist() {
    Ledger ledger = in_memory();
    Chain chain;
    QCOMPARE(ledger.record_loss(chain.run(), {0}, 2.5).error().code, ErrorCode::not_found);
    QVERIFY(add(ledger, chain.next({{1, 10}})).ok());
    QVERIFY(ledger.record_loss(chain.run(), {0}, 2.5).ok());
    QCOMPARE(ledger.curve(chain.run(), 5).at(0).loss, 2.5);
    QCOMPARE(ledger.record_loss(chain.run(), {1}, 2.5).error().code, ErrorCode::not_found);
    QCOMPARE(ledger.record_loss(chain.run(), {0}, std::nan("")).error().code, ErrorCode::invalid_argument);
    QCOMPARE(ledger.curve(chain.run(), 5).at(0).loss, 2.5);
}

void TestLedger::a_curve_is_thinned_evenly_and_prefers_measured_rounds() {
    Ledger ledger = in_memory();
    Chain chain;
    for (std::uint64_t round = 0; round < 103; ++round) {
        QVERIFY(add(ledger, chain.next({{1, 10 + round}})).ok());
        if (round % 10 == 3) QVERIFY(ledger.record_loss(chain.run(), {round}, 5.0 - 0.01 * double(round)).ok());
    }
    const std::vector<ledger::RoundRecord> all = ledger.curve(chain.run(), 1000);
    QCOMPARE(all.size(), std::size_t{103});
    for (std::uint64_t round = 0; round < 103; ++round) {
        QCOMPARE(all[round].round.value, round);
        QCOMPARE(all[round].at, static_cast<std::int64_t>(1000 + round));
        QCOMPARE(all[round].tokens.value, 10 + round);
        QVERIFY(all[round].digest == id<StateDigest>(round + 1));
    }
    const std::vector<ledger::RoundRecord> few = ledger.curve(chain.run(), 10);
    QCOMPARE(few.size(), std::size_t{10});
    for (std::size_t i = 0; i < few.size(); ++i) {
        QCOMPARE(few[i].round.value, 10 * i + 3);
        QVERIFY(few[i].loss > 0);
        QCOMPARE(few[i].tokens_until.value, all[few[i].round.value].tokens_until.value);
    }
    for (std::uint64_t round = 0, tokens = 0; round < 103; ++round)
        QCOMPARE(all[round].tokens_until.value, tokens += 10 + round);
    QVERIFY(ledger.curve(chain.run(), 0).empty());
    QCOMPARE(ledger.curve(chain.run(), 1).at(0).round.value, 93U);
}

void TestLedger::an_honest_chain_verifies() {
    Ledger ledger = in_memory();
    Chain chain;
    for (int i = 0; i < 50; ++i) QVERIFY(add(ledger, chain.next({{1, 10}, {2, 20}})).ok());
    QVERIFY(verify(ledger, chain.run()).ok());
}

void TestLedger::late_entries_are_verified_with_the_base_of_their_round() {
    Ledger ledger = in_memory();
    Chain chain;
    QVERIFY(add(ledger, chain.next({{1, 10}})).ok());
    QVERIFY(add(ledger, chain.next({{1, 10}, {.person = 2, .tokens = 20, .late = true}})).ok());
    QVERIFY(add(ledger, chain.next({{.person = 2, .tokens = 20, .late = true}})).ok());
    QVERIFY(verify(ledger, chain.run()).ok());
    QCOMPARE(ledger.credit_of(chain.run(), key(2)).tokens.value, 40ULL);
    QCOMPARE(ledger.credit_of(chain.run(), key(2)).rounds, 2ULL);
}

void TestLedger::a_chain_goes_on_as_its_committee_changes() {
    Ledger ledger = in_memory();
    Chain chain;
    for (const std::vector<std::uint64_t>& people :
         {std::vector<std::uint64_t>{2'000'001, 2'000'002, 2'000'003, 2'000'004}, {2'000'003}, {2'000'005}}) {
        QVERIFY(add(ledger, chain.next({{1, 10}})).ok());
        chain.hand_over(people);
        QVERIFY(add(ledger, chain.next({{1, 10}})).ok());  // still committed by those who were there
    }
    QVERIFY(add(ledger, chain.next({{1, 10}})).ok());
    QVERIFY(verify(ledger, chain.run()).ok());
    const Status as_if_by_others = ledger.verify_chain(chain.run(), {chain.run(), key(2'000'001), {}, {}});
    QVERIFY(!as_if_by_others.ok());
    QVERIFY(mentions(as_if_by_others.error().message, "round 0 "));
}

void TestLedger::a_list_without_its_quorum_is_found_data() {
    QTest::addColumn<QString>("forgery");
    for (const char* forgery : {"nothing", "garbage", "a changed byte", "three of four", "the committee before",
                                "the next committee", "of another list", "of prevotes", "of another term"}) {
        QTest::newRow(forgery) << forgery;
    }
}

/// What an attacker can put in the place of a certificate for L[2], which a committee of four had to sign.
Bytes forged(const QString& forgery, const run::AcceptList& list, const std::vector<std::uint64_t>& four) {
    std::vector<PeerId> keys;
    for (const std::uint64_t number : four) keys.push_back(key(number));
    const run::Committee committee = *run::Committee::from_keys(keys);
    std::vector<const identity::Identity*> three;
    for (std::size_t i = 0; i < 3; ++i) three.push_back(&person(four[i]));
    const Bytes good = certificate_of(list, three, committee);
    run::AcceptList other = list;
    if (forgery == "nothing") return {std::byte{0}};
    if (forgery == "garbage") return Bytes(good.size(), std::byte{7});
    if (forgery == "a changed byte") {
        Bytes changed = good;
        changed.back() ^= std::byte{1};
        return changed;
    }
    if (forgery == "three of four") {  // a quorum of four is three: here two sign
        three.pop_back();
        return certificate_of(list, three, committee);
    }
    if (forgery == "the committee before") {
        return certificate_of(list, {&person(Chain::first_member)},
                              *run::Committee::from_keys(Chain::first_committee()));
    }
    if (forgery == "the next committee") {
        return certificate_of(list, {&person(3'000'001)}, *run::Committee::from_keys({key(3'000'001)}));
    }
    if (forgery == "of another term") other.term = 1;
    if (forgery == "of another list") other.base = id<StateDigest>(99);
    if (forgery != "of prevotes") return certificate_of(other, three, committee);
    Result<run::AgreementMessage> decoded = run::decode_agreement_message(good);
    auto certificate = std::get<run::Certificate>(*decoded);
    certificate.step = run::Step::prevote;
    std::sort(three.begin(), three.end(), [](const auto* a, const auto* b) { return a->id() < b->id(); });
    for (std::size_t i = 0; i < three.size(); ++i) {
        const run::Vote vote{certificate.instance, certificate.view, run::Step::prevote, certificate.list};
        certificate.signatures[i] = sign(vote, run::IdentityKeyring(*three[i])).signature;
    }
    return encode(run::AgreementMessage{certificate});
}

void TestLedger::a_list_without_its_quorum_is_found() {
    QFETCH(const QString, forgery);
    const std::vector<std::uint64_t> four{2'000'001, 2'000'002, 2'000'003, 2'000'004};
    Ledger ledger = in_memory();
    Chain chain;
    QVERIFY(add(ledger, chain.next({{1, 10}})).ok());
    chain.hand_over(four);
    QVERIFY(add(ledger, chain.next({{1, 10}})).ok());
    chain.hand_over({3'000'001});
    const run::AcceptList list = chain.draft({{1, 10}});
    QVERIFY(add(ledger, {list.encode(), forged(forgery, list, four)}).ok());  // the caller's task; the walk finds it
    const Status verified = verify(ledger, chain.run());
    QVERIFY(!verified.ok());
    QCOMPARE(verified.error().code, ErrorCode::untrusted);
    QVERIFY2(mentions(verified.error().message, "round 2 was not signed by a quorum"),
             verified.error().message.c_str());
}

void TestLedger::words_put_into_a_contributor_s_mouth_are_found_data() {
    QTest::addColumn<int>("what");
    QTest::newRow("more tokens") << 0;
    QTest::newRow("another's payload") << 1;
    QTest::newRow("another's name") << 2;
    QTest::newRow("another round's signature") << 3;
    QTest::newRow("another base") << 4;
}

void TestLedger::words_put_into_a_contributor_s_mouth_are_found() {
    QFETCH(const int, what);
    Ledger ledger = in_memory();
    Chain chain;
    const run::AcceptList first = chain.draft({{1, 10}});
    QVERIFY(add(ledger, chain.commit(first)).ok());
    run::AcceptList list = chain.draft({{1, 10}});
    run::Accepted& entry = list.entries[0];
    if (what == 0) entry.tokens = {11};
    if (what == 1) entry.payload.root = id<BlobId>(5);
    if (what == 2) entry.peer = key(2);
    if (what == 3) entry.signature = first.entries[0].signature;
    if (what == 4) list.base = id<StateDigest>(99);
    QVERIFY(add(ledger, chain.commit(list)).ok());  // its committee signs whatever it likes
    const Status verified = verify(ledger, chain.run());
    QVERIFY(!verified.ok());
    QCOMPARE(verified.error().code, ErrorCode::untrusted);
    QVERIFY2(mentions(verified.error().message, "round 1 names a contribution that its contributor did not sign"),
             verified.error().message.c_str());
}

void TestLedger::every_kind_of_tampering_is_found_in_its_round() {
    const std::array<const char*, 10> tamperings = {
        "UPDATE lists SET list = CAST(substr(list, 1, length(list) - 1) || x'0b' AS BLOB) WHERE round = 2",
        "UPDATE lists SET list = x'00' WHERE round = 2",
        "UPDATE lists SET certificate = (SELECT certificate FROM lists WHERE round = 1) WHERE round = 2",
        "DELETE FROM lists WHERE round = 2",
        "DELETE FROM rounds WHERE round = 2",
        "UPDATE rounds SET hash = zeroblob(32) WHERE round = 2",
        "UPDATE rounds SET tokens = tokens + 1 WHERE round = 2",
        "UPDATE entries SET tokens = tokens + 1 WHERE round = 2",
        "DELETE FROM entries WHERE round = 2",
        "INSERT INTO entries(chain, round, peer, tokens, at) SELECT chain, 2, (SELECT id FROM peers WHERE id NOT IN "
        "(SELECT peer FROM entries)), 5, 0 "
        "FROM entries WHERE round = 2 LIMIT 1",
    };
    for (const char* tampering : tamperings) {
        const fs::path file = at("ledger");
        fs::remove(file);
        Chain chain;
        {
            Ledger ledger = std::move(Ledger::open(file)).value();
            ledger.remember_name(key(77), "Stranger");
            for (int i = 0; i < 5; ++i) QVERIFY(add(ledger, chain.next({{1, 10}})).ok());
        }
        QVERIFY2(meddle(file, tampering), tampering);
        const Ledger ledger = std::move(Ledger::open(file)).value();
        const Status verified = verify(ledger, chain.run());
        QVERIFY2(!verified.ok(), tampering);
        QCOMPARE(verified.error().code, ErrorCode::untrusted);
        QVERIFY2(mentions(verified.error().message, "round 2 "), verified.error().message.c_str());
    }
}

void TestLedger::a_ledger_is_the_same_after_reopening() {
    Chain chain;
    const run::CommittedList first = chain.next({{1, 10}});
    {
        Ledger ledger = std::move(Ledger::open(at("ledger"))).value();
        QVERIFY(add(ledger, first).ok());
        ledger.remember_name(key(1), "Ann");
    }
    Ledger ledger = std::move(Ledger::open(at("ledger"))).value();
    QVERIFY(ledger.list(chain.run(), {0}) == first);
    QCOMPARE(ledger.credit_of(chain.run(), key(1)).name, std::string("Ann"));
    QVERIFY(add(ledger, chain.next({{1, 10}})).ok());
}

void TestLedger::a_file_of_something_else_is_left_alone() {
    for (const std::size_t size : {std::size_t{1}, std::size_t{99}, std::size_t{600}, std::size_t{5000}}) {
        const std::string text(size, 'q');
        std::ofstream(at("letter"), std::ios::binary | std::ios::trunc) << text;
        const Result<Ledger> opened = Ledger::open(at("letter"));
        QVERIFY(!opened.ok());
        QCOMPARE(opened.error().code, ErrorCode::malformed);
        QCOMPARE(content_of(at("letter")), text);
    }
    QCOMPARE(std::distance(fs::directory_iterator(at("")), {}), 1);
}

void TestLedger::a_database_of_another_program_is_left_alone() {
    QVERIFY(meddle(at("songs"), "CREATE TABLE songs(name); INSERT INTO songs VALUES('la')"));
    QVERIFY(meddle(at("stamped"), "PRAGMA application_id = 77"));
    QVERIFY(meddle(at("versioned"), "PRAGMA user_version = 1"));
    for (const char* name : {"songs", "stamped", "versioned"}) {
        const std::string before = content_of(at(name));
        QVERIFY(!before.empty());
        const Result<Ledger> opened = Ledger::open(at(name));
        QVERIFY(!opened.ok());
        QCOMPARE(opened.error().code, ErrorCode::malformed);
        QVERIFY(mentions(opened.error().message, "another program"));
        QVERIFY(content_of(at(name)) == before);
    }
}

void TestLedger::a_newer_ledger_is_refused_and_left_alone() {
    QVERIFY(Ledger::open(at("ledger")).ok());
    QVERIFY(meddle(at("ledger"), "PRAGMA user_version = 99"));
    const std::string before = content_of(at("ledger"));
    const Result<Ledger> opened = Ledger::open(at("ledger"));
    QVERIFY(!opened.ok());
    QCOMPARE(opened.error().code, ErrorCode::unavailable);
    QVERIFY(mentions(opened.error().message, "update"));
    QVERIFY(content_of(at("ledger")) == before);
}

void TestLedger::an_older_ledger_keeps_its_credit() {
    QVERIFY(meddle(at("ledger"), tables_of_version_1().c_str()));
    {
        Ledger ledger = std::move(Ledger::open(at("ledger"))).value();
        const Credit credit = ledger.credit_of(id<RunId>(1), key(1));
        QCOMPARE(credit.tokens.value, 42U);
        QCOMPARE(credit.name, std::string("Ann"));
        QCOMPARE(ledger.totals(id<RunId>(1)).rounds.value, 1U);
        QVERIFY(!ledger.head(id<RunId>(1)));
        QVERIFY(mentions(verify(ledger, id<RunId>(1)).error().message, "round 0 does not decode"));
        Chain chain(2);
        QVERIFY(add(ledger, chain.next({{1, 8}})).ok());
        QVERIFY(verify(ledger, chain.run()).ok());
        QCOMPARE(ledger.tokens_since(key(1), 0).value, 50U);
    }
    QVERIFY(!meddle(at("ledger"), "SELECT * FROM retracted"));
    QVERIFY(Ledger::open(at("ledger")).ok());
}

void TestLedger::an_unfinished_creation_starts_over() {
    std::ofstream(at("empty"), std::ios::binary).flush();
    QVERIFY(Ledger::open(at("empty")).ok());
    QVERIFY(meddle(at("bare"), "PRAGMA journal_mode = WAL"));  // a header and no tables: killed before they came
    Result<Ledger> opened = Ledger::open(at("bare"));
    QVERIFY(opened.ok());
    Chain chain;
    QVERIFY(add(*opened, chain.next({{1, 1}})).ok());
}

void TestLedger::a_damaged_ledger_is_a_sentence() {
    Chain chain;
    {
        Ledger ledger = std::move(Ledger::open(at("ledger"))).value();
        for (int i = 0; i < 60; ++i) QVERIFY(add(ledger, chain.next({{1, 10}, {2, 20}})).ok());
    }
    const std::string good = content_of(at("ledger"));
    Rng rng(11);
    int refused = 0;
    for (int turn = 0; turn < 40; ++turn) {
        std::string bad = good;
        const std::size_t start = static_cast<std::size_t>(rng.below(bad.size() - 4000));
        for (std::size_t i = 0; i < 4000; ++i) bad[start + i] = static_cast<char>(rng.below(256));
        std::ofstream(at("bad"), std::ios::binary | std::ios::trunc) << bad;
        Result<Ledger> opened = Ledger::open(at("bad"));
        const Status outcome = opened.ok() ? verify(*opened, chain.run()) : Status(opened.error());
        if (!outcome.ok()) QVERIFY(outcome.error().message.size() > 20);
        if (!outcome.ok()) ++refused;
        if (opened.ok()) {
            static_cast<void>(opened->leaderboard(chain.run(), 10));
            static_cast<void>(opened->curve(chain.run(), 10));
            static_cast<void>(opened->lists(chain.run(), {0}, 1000));
        }
        fs::remove(at("bad-wal"));
        fs::remove(at("bad-shm"));
    }
    QVERIFY2(refused > 20, qPrintable(QString::number(refused)));
}

void TestLedger::a_busy_ledger_is_a_sentence() {
    Chain chain;
    Ledger ledger = std::move(Ledger::open(at("ledger"))).value();
    sqlite3* other = nullptr;
    QCOMPARE(sqlite3_open(at("ledger").string().c_str(), &other), SQLITE_OK);
    QCOMPARE(sqlite3_exec(other, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
    const run::CommittedList list = chain.next({{1, 1}});
    const Status refused = add(ledger, list);
    sqlite3_close(other);
    QVERIFY(!refused.ok());
    QCOMPARE(refused.error().code, ErrorCode::unavailable);
    QVERIFY(add(ledger, list).ok());
}

void TestLedger::a_missing_folder_is_a_sentence() {
    const Result<Ledger> opened = Ledger::open(at("no/such/ledger"));
    QVERIFY(!opened.ok());
    QCOMPARE(opened.error().code, ErrorCode::permission);
    QVERIFY(mentions(opened.error().message, "check that its folder exists"));
}

QTEST_APPLESS_MAIN(TestLedger)
#include "test_ledger.moc"
