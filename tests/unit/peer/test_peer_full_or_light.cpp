// When a member stops adding up payloads and takes the step of others, and when it goes back.
#include <QTest>

#include "core/peer/states/full_or_light.h"

using namespace potluck;
using namespace potluck::peer;

namespace {

constexpr Duration window{10'000};  // a tenth is 1 s

/// A round in which all payloads were taken, twice as many bytes as the step.
void take_payloads(FullOrLight& choice, int milliseconds) {
    choice.took_payloads(Duration{milliseconds}, 2'000, 1'000);
}

/// Light after two slow rounds.
FullOrLight light_one() {
    FullOrLight choice(window);
    for (std::uint32_t round = 0; round < rounds_to_light; ++round) take_payloads(choice, 1'001);
    return choice;
}

/// How many rounds with this step a light member takes until it is full; at most 1,000.
std::uint32_t rounds_until_full(FullOrLight& choice, Duration taken) {
    for (std::uint32_t round = 1; round <= 1'000; ++round) {
        choice.took_step(1'000, taken, 2'000);
        if (!choice.light()) return round;
    }
    return 1'000;
}

}  // namespace

class FullOrLightTest : public QObject {
    Q_OBJECT
private slots:
    void a_member_is_light_after_two_slow_rounds_in_a_row() {
        FullOrLight choice(window);
        take_payloads(choice, 1'001);
        QVERIFY(!choice.light());
        take_payloads(choice, 1'000);
        take_payloads(choice, 1'001);
        QVERIFY(!choice.light());
        take_payloads(choice, 1'001);
        QVERIFY(choice.light());
    }

    void one_slow_round_is_enough_where_payloads_are_more_than_four_steps() {
        FullOrLight choice(window);
        choice.took_payloads(Duration{1'001}, 4'000, 1'000);
        choice.took_payloads(Duration{1'000}, 4'001, 1'000);
        QVERIFY(!choice.light());
        choice.took_payloads(Duration{1'001}, 4'001, 1'000);
        QVERIFY(choice.light());
    }

    void a_member_is_full_once_payloads_would_take_half_of_a_tenth_for_four_rounds() {
        // Twice as many bytes as the step: 249 ms of it make 498 ms of them.
        FullOrLight choice = light_one();
        QCOMPARE(rounds_until_full(choice, Duration{249}), 4U);
        FullOrLight slow = light_one();
        QCOMPARE(rounds_until_full(slow, Duration{250}), 1'000U);
        QVERIFY(slow.light());
    }

    void a_member_begins_light_where_payloads_are_more_than_four_steps() {
        FullOrLight choice(window);
        choice.begins(4'000, 1'000);
        QVERIFY(!choice.light());
        choice.begins(4'001, 1'000);
        QVERIFY(choice.light());
        QCOMPARE(rounds_until_full(choice, Duration{10}), 4U);
    }

    void where_payloads_are_no_longer_than_the_step_nobody_is_light() {
        FullOrLight choice(window);
        for (int round = 0; round < 10; ++round) choice.took_payloads(Duration{60'000}, 1'000, 1'000);
        QVERIFY(!choice.light());
        for (int round = 0; round < 2; ++round) choice.took_payloads(Duration{60'000}, 1'001, 1'000);
        QVERIFY(choice.light());
        for (int round = 0; round < 10; ++round) choice.took_step(1'000, Duration{60'000}, 1'001);
        QVERIFY(choice.light());
        for (int round = 0; round < 3; ++round) choice.took_step(1'000, Duration{60'000}, 1'000);
        QVERIFY(choice.light());
        choice.took_step(1'000, Duration{60'000}, 1'000);
        QVERIFY(!choice.light());
    }

    void a_slow_round_between_begins_the_count_anew() {
        FullOrLight choice = light_one();
        for (int round = 0; round < 3; ++round) choice.took_step(1'000, Duration{10}, 2'000);
        choice.took_step(1'000, Duration{400}, 2'000);
        QCOMPARE(rounds_until_full(choice, Duration{10}), 4U);
    }

    void each_relapse_doubles_the_way_back() {
        FullOrLight choice = light_one();
        std::vector<std::uint32_t> needed;
        for (int time = 0; time < 6; ++time) {
            needed.push_back(rounds_until_full(choice, Duration{10}));
            for (std::uint32_t round = 0; round < rounds_to_light; ++round) take_payloads(choice, 2'000);
        }
        QVERIFY((needed == std::vector<std::uint32_t>{4, 8, 16, 32, 64, 64}));
    }
};

QTEST_APPLESS_MAIN(FullOrLightTest)
#include "test_peer_full_or_light.moc"
