// What a flood of fresh keys may cause: few questions to a neighbour, few fetches, a line in the log.
#include <QTest>

#include "core/peer/payloads/flood_watch.h"
#include "core/peer/payloads/payload_questions.h"
#include "tests/unit/peer/peer_fixture.h"

using namespace potluck;
using namespace potluck::peer;

namespace {

PeerId neighbour(std::uint8_t number) {
    PeerId id;
    id.bytes[0] = std::byte{number};
    return id;
}

BlobId blob(std::uint32_t number) {
    BlobId id;
    id.bytes[0] = std::byte{static_cast<unsigned char>(number)};
    id.bytes[1] = std::byte{static_cast<unsigned char>(number >> 8U)};
    return id;
}

TimePoint at(int milliseconds) { return TimePoint{Duration{milliseconds}}; }

/// A payload too long for a message, which nobody has.
run::BlobRef long_payload(std::uint32_t number) {
    run::BlobRef ref;
    ref.root = blob(number);
    ref.size = run::payload_in_message_max + 1;
    return ref;
}

struct Bench : Fixture {
    void expect(std::uint32_t number, run::Retention retention = run::Retention::newcomer) {
        payloads.expect(long_payload(number), RoundId{3}, {}, at(0), retention);
    }
    void offer(std::uint32_t number, std::uint64_t round = 3, std::uint8_t lot = 0) {
        Digest drawn;
        drawn.bytes[0] = std::byte{lot};
        payloads.expect(long_payload(number), RoundId{round}, {}, at(0), run::Retention::offered, drawn);
    }
    void arrives(std::uint32_t number, int now = 0) {
        QCOMPARE(payloads.arrived(long_payload(number), content, at(now)), Payloads::Outcome::held);
    }
    /// A round of `offered`, of which so many were here with its list, and which accepted none.
    void pass_round(std::uint64_t round, std::uint32_t offered, std::uint32_t here) {
        const auto first = static_cast<std::uint32_t>(1'000 * round);
        for (std::uint32_t i = 0; i < offered; ++i) offer(first + i, round);
        for (std::uint32_t i = 0; i < here; ++i) arrives(first + i);
        payloads.adapt_to_line(RoundId{round}, at(0));
        run::AcceptList list;
        list.round = RoundId{round};
        payloads.forget_refused(list, list.round.next(), {});
        swarm.fetched.clear();
    }
    /// How many of a hundred offers of a round are fetched at once.
    std::size_t at_once(std::uint64_t round) {
        const std::size_t before = swarm.fetched.size();
        for (std::uint32_t i = 0; i < 100; ++i) offer(static_cast<std::uint32_t>(1'000 * round) + i, round);
        payloads.retry(at(0));
        return swarm.fetched.size() - before;
    }
    BlobPointer content = payload_of(1.0F).payload->blob;
    Payloads payloads{swarm, context.layout.parameters, context.manifest.recipe.k_max};
};

}  // namespace

class PeerFloodsTest : public QObject {
    Q_OBJECT
private slots:
    void a_neighbour_is_asked_32_questions_at_a_time() {
        PayloadQuestions questions;
        for (std::uint32_t i = 0; i < 32; ++i) QVERIFY(questions.ask(neighbour(1), blob(i), at(0)));
        QVERIFY(!questions.ask(neighbour(1), blob(32), at(0)));
        QVERIFY(questions.ask(neighbour(2), blob(32), at(0)));
        QVERIFY(questions.due(at(10)).empty());
        questions.settled(blob(5));
        const std::vector<PayloadQuestions::Question> due = questions.due(at(20));
        QCOMPARE(due.size(), std::size_t{1});
        QCOMPARE(due[0], (PayloadQuestions::Question{neighbour(1), blob(32)}));
        QCOMPARE(questions.unanswered(neighbour(1)), std::size_t{32});
    }

    void a_payload_is_asked_of_a_neighbour_once() {
        PayloadQuestions questions;
        QVERIFY(questions.ask(neighbour(1), blob(1), at(0)));
        QVERIFY(!questions.ask(neighbour(1), blob(1), at(0)));
        QCOMPARE(questions.unanswered(neighbour(1)), std::size_t{1});
    }

    void a_question_waits_for_its_turn_once() {
        PayloadQuestions questions;
        for (std::uint32_t i = 0; i < 40; ++i) (void)questions.ask(neighbour(1), blob(i), at(0));
        for (std::uint32_t i = 32; i < 40; ++i) QVERIFY(!questions.ask(neighbour(1), blob(i), at(0)));
        for (std::uint32_t i = 0; i < 32; ++i) questions.settled(blob(i));
        QCOMPARE(questions.due(at(0)).size(), std::size_t{8});
    }

    void unanswered_questions_are_given_up() {
        PayloadQuestions questions;
        for (std::uint32_t i = 0; i < 40; ++i) (void)questions.ask(neighbour(1), blob(i), at(0));
        QVERIFY(questions.due(at(4'999)).empty());
        QCOMPARE(questions.due(at(5'000)).size(), std::size_t{8});
    }

    void settled_payloads_are_not_asked_for_later() {
        PayloadQuestions questions;
        for (std::uint32_t i = 0; i < 40; ++i) (void)questions.ask(neighbour(1), blob(i), at(0));
        for (std::uint32_t i = 32; i < 40; ++i) questions.settled(blob(i));
        QVERIFY(questions.due(at(5'000)).empty());
    }

    void dropped_payloads_are_not_asked_for_and_free_no_question() {
        PayloadQuestions questions;
        for (std::uint32_t i = 0; i < 40; ++i) (void)questions.ask(neighbour(1), blob(i), at(0));
        for (std::uint32_t i = 0; i < 36; ++i) questions.dropped(blob(i));
        QVERIFY(questions.due(at(4'999)).empty());
        QCOMPARE(questions.unanswered(neighbour(1)), std::size_t{32});
        QCOMPARE(questions.due(at(5'000)).size(), std::size_t{4});
    }

    void waiting_questions_have_a_limit() {
        PayloadQuestions questions;
        for (std::uint32_t i = 0; i < 1'000; ++i) (void)questions.ask(neighbour(1), blob(i), at(0));
        std::size_t asked = 32;
        for (int second = 5; second < 500; second += 5) asked += questions.due(at(1'000 * second)).size();
        QCOMPARE(asked, 32 + questions_waiting_max);
    }

    void a_lost_neighbour_is_asked_nothing() {
        PayloadQuestions questions;
        for (std::uint32_t i = 0; i < 40; ++i) (void)questions.ask(neighbour(1), blob(i), at(0));
        questions.lost(neighbour(1));
        QVERIFY(questions.due(at(5'000)).empty());
    }

    void newcomers_payloads_are_fetched_16_at_a_time() {
        Bench bench;
        for (std::uint32_t i = 0; i < 64; ++i) bench.expect(i);
        bench.payloads.retry(at(0));
        QCOMPARE(bench.swarm.fetched.size(), std::size_t{16});
        bench.payloads.retry(at(100));
        QCOMPARE(bench.swarm.fetched.size(), std::size_t{16});
    }

    void established_members_payloads_wait_for_no_newcomers() {
        Bench bench;
        for (std::uint32_t i = 0; i < 64; ++i) bench.expect(i);
        bench.payloads.retry(at(0));
        bench.expect(100, run::Retention::offered);
        QCOMPARE(bench.swarm.fetched.size(), std::size_t{17});
        QCOMPARE(bench.swarm.fetched.back(), blob(100));
    }

    void a_newcomers_payload_that_a_list_names_is_fetched_at_once() {
        Bench bench;
        for (std::uint32_t i = 0; i < 64; ++i) bench.expect(i);
        bench.payloads.retry(at(0));
        const auto is_fetched = [&](std::uint32_t number) {
            return std::count(bench.swarm.fetched.begin(), bench.swarm.fetched.end(), blob(number)) > 0;
        };
        std::uint32_t waiting = 0;
        while (is_fetched(waiting)) ++waiting;
        bench.payloads.want(long_payload(waiting), RoundId{3}, {});
        bench.payloads.retry(at(100));
        QVERIFY(is_fetched(waiting));
    }

    void fetches_that_stall_give_way_to_those_that_wait() {
        Bench bench;
        for (std::uint32_t i = 0; i < 32; ++i) bench.expect(i);
        bench.payloads.retry(at(0));
        bench.payloads.retry(at(4'999));
        QVERIFY(bench.swarm.forgotten.empty());
        bench.payloads.retry(at(5'000));
        QCOMPARE(bench.swarm.forgotten.size(), std::size_t{16});
        QCOMPARE(bench.swarm.fetched.size(), std::size_t{32});
        const std::set<BlobId> different(bench.swarm.fetched.begin(), bench.swarm.fetched.end());
        QCOMPARE(different.size(), std::size_t{32});
    }

    void as_many_stalled_fetches_give_way_as_others_wait() {
        Bench bench;
        for (std::uint32_t i = 0; i < 19; ++i) bench.expect(i);
        bench.payloads.retry(at(0));
        bench.payloads.retry(at(5'000));
        QCOMPARE(bench.swarm.forgotten.size(), std::size_t{3});
        QCOMPARE(bench.swarm.fetched.size(), std::size_t{19});
    }

    void a_fetch_that_makes_progress_gives_no_way() {
        Bench bench;
        for (std::uint32_t i = 0; i < 17; ++i) bench.expect(i);
        bench.payloads.retry(at(0));
        for (std::uint32_t i = 0; i < 16; ++i) bench.swarm.blobs[blob(i)] = nullptr;  // comes nearer
        bench.payloads.retry(at(4'999));
        bench.payloads.retry(at(9'998));
        QVERIFY(bench.swarm.forgotten.empty());
        bench.payloads.retry(at(9'999));
        QCOMPARE(bench.swarm.forgotten.size(), std::size_t{1});
    }

    void payloads_that_never_gave_way_are_fetched_first() {
        Bench bench;
        for (std::uint32_t i = 0; i < 56; ++i) bench.expect(i);
        // By the third turn the first 16 may be tried again; so may 24 that nobody has tried yet.
        for (const int second : {0, 5, 10}) bench.payloads.retry(at(1'000 * second));
        const std::set<BlobId> tried(bench.swarm.fetched.begin(), bench.swarm.fetched.end());
        QCOMPARE(bench.swarm.fetched.size(), std::size_t{48});
        QCOMPARE(tried.size(), std::size_t{48});
    }

    void a_fetch_that_failed_makes_room_for_another() {
        Bench bench;
        for (std::uint32_t i = 0; i < 17; ++i) bench.expect(i);
        bench.payloads.retry(at(0));
        bench.payloads.failed(bench.swarm.fetched.front(), at(0));
        bench.payloads.retry(at(100));
        QCOMPARE(bench.swarm.fetched.size(), std::size_t{17});
        QVERIFY(std::count(bench.swarm.fetched.begin(), bench.swarm.fetched.end(), bench.swarm.fetched.front()) == 1);
    }

    void fetches_that_stall_go_on_while_nobody_waits() {
        Bench bench;
        for (std::uint32_t i = 0; i < 16; ++i) bench.expect(i);
        for (int second = 0; second < 60; ++second) bench.payloads.retry(at(1'000 * second));
        QVERIFY(bench.swarm.forgotten.empty());
        QCOMPARE(bench.swarm.fetched.size(), std::size_t{16});
    }

    void offers_are_fetched_side_by_side_while_the_line_carries_them() {
        Bench bench;
        QCOMPARE(bench.at_once(3), std::size_t{100});
        bench.pass_round(4, 40, 36);
        QCOMPARE(bench.payloads.carried(), (Carried{40, 36}));
        QVERIFY(bench.payloads.carried().all());
        QCOMPARE(bench.at_once(5), std::size_t{100});
    }

    void half_of_what_came_is_fetched_side_by_side_where_more_was_offered_than_the_line_carries() {
        Bench bench;
        bench.pass_round(3, 40, 35);
        QVERIFY(!bench.payloads.carried().all());
        QCOMPARE(bench.at_once(4), std::size_t{17});
    }

    void offers_that_come_when_nobody_waits_for_them_do_not_count() {
        Bench bench;
        for (std::uint32_t i = 0; i < 40; ++i) bench.offer(i);
        for (std::uint32_t i = 0; i < 40; ++i) bench.arrives(i, i < 20 ? 3'000 : 3'001);
        bench.payloads.adapt_to_line(RoundId{3}, at(3'000));
        QCOMPARE(bench.payloads.carried(), (Carried{40, 20}));
    }

    void four_offers_are_fetched_side_by_side_at_least() {
        Bench bench;
        bench.pass_round(3, 40, 0);
        QCOMPARE(bench.at_once(4), std::size_t{4});
    }

    void twice_as_many_offers_are_fetched_side_by_side_after_each_round_that_came_whole() {
        Bench bench;
        bench.pass_round(3, 40, 0);
        bench.pass_round(4, 4, 4);
        bench.pass_round(5, 8, 8);
        QCOMPARE(bench.at_once(6), std::size_t{16});
    }

    void offers_of_other_rounds_and_of_newcomers_say_nothing_of_a_line() {
        Bench bench;
        for (std::uint32_t i = 0; i < 40; ++i) bench.offer(i, 4);
        for (std::uint32_t i = 100; i < 140; ++i) bench.expect(i);
        bench.pass_round(3, 4, 4);
        QCOMPARE(bench.payloads.carried(), (Carried{4, 4}));
        QCOMPARE(bench.at_once(5), std::size_t{100});
    }

    void the_newest_round_and_the_lowest_lot_are_fetched_first() {
        Bench bench;
        bench.pass_round(2, 40, 0);
        for (std::uint32_t i = 0; i < 4; ++i) bench.offer(i);
        bench.offer(10, 3, 1);
        bench.offer(11, 4, 9);
        bench.offer(12, 4, 8);
        for (std::uint32_t i = 0; i < 3; ++i) bench.arrives(i);
        bench.swarm.fetched.clear();
        bench.payloads.retry(at(100));
        QCOMPARE(bench.swarm.fetched, (std::vector<BlobId>{blob(12), blob(11), blob(10)}));
    }

    void an_offer_that_stalls_gives_way_only_where_no_more_are_fetched_at_once() {
        Bench bench;
        for (std::uint32_t i = 0; i < 5; ++i) bench.offer(i);
        bench.payloads.failed(blob(4), at(2'000));
        bench.payloads.retry(at(6'000));
        QVERIFY(bench.swarm.forgotten.empty());
        Bench full;
        full.pass_round(2, 40, 0);
        full.swarm.forgotten.clear();
        for (std::uint32_t i = 0; i < 5; ++i) full.offer(i);
        full.payloads.retry(at(6'000));
        QCOMPARE(full.swarm.forgotten.size(), std::size_t{1});
    }

    void an_offer_that_a_list_names_is_fetched_beside_the_others() {
        Bench bench;
        bench.pass_round(2, 40, 0);
        for (std::uint32_t i = 0; i < 8; ++i) bench.offer(i);
        bench.payloads.want(long_payload(7), RoundId{3}, {});
        bench.payloads.retry(at(100));
        QCOMPARE(bench.swarm.fetched.size(), std::size_t{5});
        QCOMPARE(bench.swarm.fetched.back(), blob(7));
    }

    void short_offers_wait_for_no_turn() {
        Bench bench;
        bench.pass_round(2, 40, 0);
        for (std::uint32_t i = 0; i < 8; ++i) {
            run::BlobRef ref = long_payload(i);
            ref.size = run::payload_in_message_max;
            bench.payloads.expect(ref, RoundId{3}, {}, at(0), run::Retention::offered);
        }
        bench.payloads.retry(at(1'000));
        QCOMPARE(bench.swarm.fetched.size(), std::size_t{8});
    }

    void a_displaced_payload_is_forgotten_unless_a_list_names_it() {
        Bench bench;
        bench.expect(1);
        bench.expect(2);
        bench.payloads.want(long_payload(2), RoundId{3}, {});
        for (const std::uint32_t one : {1U, 2U}) bench.payloads.forget_offered(blob(one));
        QCOMPARE(bench.swarm.forgotten, std::vector<BlobId>{blob(1)});
    }

    void a_flood_is_told_with_its_hundredth_refusal() {
        FloodWatch watch;
        for (int i = 0; i < 99; ++i) watch.refused(neighbour(1), at(50 * i));
        QCOMPARE(watch.told(), std::uint64_t{0});
        watch.refused(neighbour(1), at(5'000));
        QCOMPARE(watch.told(), std::uint64_t{1});
    }

    /// In the shortest rounds that a host gets without asking for others, each of which has places for some.
    void a_flood_of_60_a_second_is_told_within_ten_seconds() {
        FloodWatch watch;
        constexpr int round = 5'000;
        std::optional<int> told_at;
        for (int offer = 0; offer < 60 * 60 && !told_at; ++offer) {
            const int now = offer * 1'000 / 60;
            const int of_round = offer - now / round * round * 60 / 1'000;
            if (of_round >= static_cast<int>(run::newcomers_max)) watch.refused(neighbour(1), at(now));
            if (watch.told() > 0) told_at = now;
        }
        QVERIFY(told_at && *told_at <= 10'000);
    }

    /// Of 2,000 that a session has (net/engine_settings.cpp).
    void newcomers_payloads_leave_nearly_all_connections_to_members() {
        constexpr std::size_t connections = 2'000, of_a_payload = 3;
        QCOMPARE(newcomers_fetched_max, std::size_t{16});
        QVERIFY(newcomers_fetched_max * of_a_payload <= connections / 40);
    }

    void refusals_now_and_then_are_no_flood() {
        FloodWatch watch;
        for (int i = 0; i < 1'000; ++i) {
            watch.refused(neighbour(1), at(200 * i));
        }
        QCOMPARE(watch.told(), std::uint64_t{0});
    }

    void a_flood_that_lasts_is_told_once_a_minute() {
        FloodWatch watch;
        for (int i = 0; i < 119'000; i += 10) {
            watch.refused(neighbour(1), at(i));
        }
        QCOMPARE(watch.told(), std::uint64_t{2});
    }
};

QTEST_APPLESS_MAIN(PeerFloodsTest)
#include "test_peer_floods.moc"
