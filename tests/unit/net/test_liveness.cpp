// When a link asks whether its other end is there, and when it gives up.
#include <QTest>

#include "net/links/liveness.h"

using namespace potluck;
using namespace potluck::net;

namespace {

using Step = Liveness::Step;
TimePoint at(int seconds) { return TimePoint{Duration{1'000'000 + 1'000 * seconds}}; }
constexpr Duration limit{8'000};

/// The second in which it gives up if nothing comes from `from` on; -1: not within a minute.
int gives_up(Liveness& link, int from, Duration after) {
    for (int second = from; second < from + 60; ++second) {
        if (link.tick(at(second), after) == Step::give_up) return second;
    }
    return -1;
}

}  // namespace

class LivenessTest : public QObject {
    Q_OBJECT
private slots:
    void a_link_that_is_used_asks_nothing() {
        Liveness link(at(0));
        for (int second = 0; second < 60; ++second) {
            link.received(at(second));
            QVERIFY(link.tick(at(second + 1), limit) == Step::nothing);
        }
    }

    void a_silent_end_is_asked_every_second_and_given_up_at_the_limit() {
        Liveness link(at(0));
        QVERIFY(link.tick(at(1), limit) == Step::nothing);
        for (int second = 2; second < 8; ++second) QVERIFY(link.tick(at(second), limit) == Step::ask);
        QVERIFY(link.tick(at(8), limit) == Step::give_up);
    }

    void an_answer_begins_the_silence_anew() {
        Liveness link(at(0));
        for (int second = 0; second < 100; ++second) {
            const Step step = link.tick(at(second), limit);
            QVERIFY(step != Step::give_up);
            if (step == Step::ask) link.answered(at(second));
        }
        QCOMPARE(gives_up(link, 100, limit), 98 + 8);
    }

    void without_a_limit_nothing_is_given_up() {
        Liveness link(at(0));
        QCOMPARE(gives_up(link, 0, Duration{0}), -1);
    }

    /// Four times what an answer took lately, and less again once answers are quick.
    void a_slow_line_is_given_more_time() {
        Liveness link(at(0));
        QVERIFY(link.tick(at(2), limit) == Step::ask);
        link.answered(at(5));
        QCOMPARE(gives_up(link, 6, limit), 5 + 12);
        Liveness quick(at(0));
        QVERIFY(quick.tick(at(2), limit) == Step::ask);
        quick.answered(at(5));
        for (int second = 7; second < 100; second += 3) {
            QVERIFY(quick.tick(at(second), limit) == Step::ask);
            quick.answered(at(second));
        }
        QCOMPARE(gives_up(quick, 98, limit), 97 + 8);
    }

    /// Its clock went on, and what came meanwhile is read after this tick.
    void a_computer_that_slept_asks_before_it_gives_up() {
        Liveness link(at(0));
        for (int second = 100; second < 100 + asks_min; ++second) QVERIFY(link.tick(at(second), limit) == Step::ask);
        QVERIFY(link.tick(at(100 + asks_min), limit) == Step::give_up);
    }
};

QTEST_APPLESS_MAIN(LivenessTest)
#include "test_liveness.moc"
