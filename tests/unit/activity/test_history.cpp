#include <QTest>

#include "core/activity/history.h"

using namespace potluck::activity;

namespace {

const Decision runs;
const Decision game{Level::pause, Signal::launcher, "Steam app 10"};
const Decision battery{Level::pause, Signal::battery, ""};

}  // namespace

class HistoryTest : public QObject {
    Q_OBJECT
private slots:
    void an_evening_is_one_entry_with_its_end() {
        History history;
        QVERIFY(!history.note(100, runs));
        QVERIFY(history.note(200, game));
        QVERIFY(!history.note(300, {Level::pause, Signal::launcher, "Steam app 20"}));
        QCOMPARE(history.episodes().back().ended, std::int64_t{0});
        QVERIFY(history.note(8'000, runs));
        QVERIFY(history.episodes() ==
                (std::vector<Episode>{{Level::pause, Signal::launcher, "Steam app 10", 200, 8'000}}));
    }

    void another_reason_or_level_is_another_entry() {
        History history;
        history.note(100, game);
        QVERIFY(history.note(200, battery));
        QVERIFY(history.note(300, {Level::quiet, Signal::battery, ""}));
        QCOMPARE(history.episodes().size(), std::size_t{3});
        QCOMPARE(history.episodes()[0].ended, std::int64_t{200});
        QCOMPARE(history.episodes()[1].ended, std::int64_t{300});
    }

    void a_clock_that_is_set_back_makes_no_negative_time() {
        History history;
        history.note(1'000, game);
        history.note(400, runs);
        QCOMPARE(history.episodes()[0].ended, std::int64_t{1'000});
    }

    void an_episode_cut_off_by_a_crash_lasts_no_time() {
        History history;
        history.restore({{Level::pause, Signal::battery, "", 500, 0}});
        QCOMPARE(history.episodes()[0].ended, std::int64_t{500});
        history.note(900, battery);
        QCOMPARE(history.episodes().size(), std::size_t{2});
        history.close(950);
        QCOMPARE(history.episodes()[1].ended, std::int64_t{950});
    }

    void the_oldest_go_when_there_are_too_many() {
        History history;
        const auto count = static_cast<std::int64_t>(History::episodes_max);
        for (std::int64_t i = 0; i <= count; ++i) {
            history.note(10 * i + 1, game);
            history.note(10 * i + 5, runs);
        }
        QCOMPARE(history.episodes().size(), History::episodes_max);
        QCOMPARE(history.episodes().front().began, std::int64_t{11});
        QCOMPARE(history.episodes().back().began, 10 * count + 1);
    }
};

QTEST_APPLESS_MAIN(HistoryTest)
#include "test_history.moc"
