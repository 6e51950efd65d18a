// When a result that differs from the others' is blamed on this computer.
#include <QTest>

#include "core/peer/states/self_check.h"

using namespace potluck;
using namespace potluck::peer;

namespace {

using Finding = SelfCheck::Finding;

StateDigest digest(int number) {
    StateDigest made;
    made.bytes[0] = static_cast<std::byte>(number);
    return made;
}

Digest list(std::uint64_t number) {
    Digest made;
    made.bytes[0] = static_cast<std::byte>(number);
    return made;
}

const StateDigest right = digest(100);

SelfCheck::Outcome outcome(std::uint64_t round, const StateDigest& result) {
    return {RoundId{round}, list(round), result};
}

/// theta[round] came out as `first`, and as `second` when it was computed again from sound bytes.
Finding checked(SelfCheck& check, std::uint64_t round, int first, const StateDigest& second, std::size_t seats = 4) {
    if (!check.doubt(outcome(round, digest(first)), seats)) return Finding::nothing;
    check.verified(RoundId{round - 1});
    return check.again(outcome(round, second), right, true);
}

}  // namespace

class PeerSelfCheckTest : public QObject {
    Q_OBJECT
private slots:
    void one_wrong_result_is_forgiven_and_the_second_is_not() {
        SelfCheck check;
        QCOMPARE(checked(check, 5, 1, right), Finding::wrong_once);
        QVERIFY(!check.calculates_differently());
        QCOMPARE(checked(check, 9, 2, right), Finding::wrong_twice);
        QVERIFY(check.calculates_differently());
        QVERIFY(!check.doubt(outcome(10, digest(3)), 4));
    }

    void a_round_and_its_recomputation_are_two() {
        SelfCheck check;
        QCOMPARE(checked(check, 5, 1, digest(2)), Finding::wrong_twice);
        QVERIFY(check.calculates_differently());
    }

    void the_same_wrong_result_twice_is_two() {
        SelfCheck check;
        QCOMPARE(checked(check, 5, 1, digest(1)), Finding::wrong_twice);
    }

    void the_same_result_twice_stands_against_a_single_seat() {
        SelfCheck check;
        for (std::uint64_t round = 5; round < 10; ++round) {
            QCOMPARE(checked(check, round, 1, digest(1), 1), Finding::alike_against_one_seat);
        }
        QVERIFY(!check.calculates_differently());
        // Two results of one calculation cannot both be right, whatever the seat says.
        QCOMPARE(checked(check, 11, 1, digest(2), 1), Finding::wrong_twice);
    }

    void a_round_is_not_computed_a_third_time() {
        SelfCheck check;
        QCOMPARE(checked(check, 5, 1, right), Finding::wrong_once);
        QVERIFY(!check.doubt(outcome(5, digest(2)), 4));
        QCOMPARE(check.again(outcome(5, digest(2)), right, true), Finding::nothing);
        QVERIFY(!check.calculates_differently());
        // Another list for the round is another calculation: the host has replaced the committee.
        QVERIFY(check.doubt({RoundId{5}, list(77), digest(2)}, 4));
    }

    void a_result_from_damaged_bytes_proves_nothing() {
        SelfCheck check;
        for (std::uint64_t round = 5; round < 10; ++round) {
            QVERIFY(check.doubt(outcome(round, digest(1)), 4));
            check.verified(RoundId{round - 2});  // the state before it was damaged
            QCOMPARE(check.again(outcome(round, right), right, true), Finding::unproven);
        }
        QVERIFY(check.doubt(outcome(20, digest(1)), 4));
        check.verified(RoundId{19});
        QCOMPARE(check.again(outcome(20, digest(1)), right, false), Finding::unproven);
        QVERIFY(!check.calculates_differently());
    }

    void a_result_that_was_not_in_doubt_proves_nothing() {
        SelfCheck check;
        QCOMPARE(check.again(outcome(5, digest(1)), right, true), Finding::nothing);
        QVERIFY(check.doubt(outcome(5, digest(1)), 4));
        QCOMPARE(check.again(outcome(6, digest(1)), right, true), Finding::nothing);
        QCOMPARE(check.again({RoundId{5}, list(77), digest(1)}, right, true), Finding::nothing);
        QVERIFY(!check.calculates_differently());
    }
};

QTEST_APPLESS_MAIN(PeerSelfCheckTest)
#include "test_peer_self_check.moc"
