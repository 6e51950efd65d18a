// From what probes see to what the node is told: at once when it changes, again and again while it lasts, by the rules
// that the node holds.
#include <atomic>
#include <memory>

#include <QSignalSpy>
#include <QtTest>

#include "tests/ui/fake_node.h"
#include "ui/activity/activity_monitor.h"
#include "ui/activity/probes.h"
#include "ui/client/activity_words.h"
#include "ui/client/status_summary.h"

using namespace potluck;
using namespace potluck::tests;
using activity::Level;
using activity::Signal;

namespace {

struct Screen {
    std::atomic<bool> full{false}, hangs{false};
    std::atomic<int> made{0};
    std::vector<std::string> programs;
};

class ScreenOfTest final : public activity::Probe {
public:
    explicit ScreenOfTest(std::shared_ptr<Screen> screen) : m_screen(std::move(screen)) {}
    Signal signal() const override { return Signal::full_screen; }
    activity::Sight look() override {
        while (m_screen->hangs) QThread::msleep(5);
        return activity::seen(m_screen->full ? 1 : 0, "mpv");
    }
    Duration every() const override { return Duration{20}; }

private:
    std::shared_ptr<Screen> m_screen;
};

struct Desk {
    std::shared_ptr<Screen> screen = std::make_shared<Screen>();
    FakeNode node;
    ui::NodeClient client{node};
    std::unique_ptr<ui::ActivityMonitor> monitor;
    control::NodeSnapshot snapshot = recordedSnapshot("training");

    Desk() {
        node.answer(control::Yield::name, nlohmann::json::object());
        snapshot.rules = control::described(activity::Rules{});
        client.start();
        node.push(snapshot);
        monitor = std::make_unique<ui::ActivityMonitor>(client, [this](const std::vector<std::string>& programs) {
            ++screen->made;
            screen->programs = programs;
            activity::Probes probes;
            probes.push_back(std::make_unique<ScreenOfTest>(screen));
            return probes;
        });
    }
    ~Desk() { screen->hangs = false; }

    [[nodiscard]] std::string told() const {
        const nlohmann::json params = node.lastParams("yield");
        if (params.is_null()) return "nothing";
        const std::string level = params.at("level");
        return level == "run" ? level
                              : level + " " + std::string(params.at("signal")) + " " + std::string(params.at("detail"));
    }
};

}  // namespace

class TestActivityMonitor : public QObject {
    Q_OBJECT

private slots:
    void the_node_is_told_within_a_second_and_told_again() {
        Desk desk;
        QTRY_COMPARE(desk.told(), std::string("run"));
        QElapsedTimer clock;
        clock.start();
        desk.screen->full = true;
        QTRY_COMPARE(desk.told(), std::string("pause full_screen mpv"));
        QVERIFY2(clock.elapsed() < 1000, qPrintable(QString::number(clock.elapsed())));
        QVERIFY(desk.node.lastParams("yield").at("seconds").get<int>() > 2 * 5);  // two of them may be late
        const int times = desk.node.count("yield");
        QTRY_VERIFY_WITH_TIMEOUT(desk.node.count("yield") > times, 10'000);
        QVERIFY(clock.elapsed() > 4000);
    }

    void a_rule_that_is_off_does_not_count() {
        Desk desk;
        desk.snapshot.rules->off = {Signal::full_screen};
        desk.node.push(desk.snapshot);
        desk.screen->full = true;
        QTRY_COMPARE(desk.told(), std::string("run"));
        QTest::qWait(600);
        QCOMPARE(desk.told(), std::string("run"));
    }

    void another_list_of_programs_makes_other_probes() {
        Desk desk;
        QTRY_COMPARE(desk.screen->made.load(), 1);
        desk.snapshot.rules->programs = {"blender"};
        desk.node.push(desk.snapshot);
        QTRY_COMPARE(desk.screen->made.load(), 2);
        QCOMPARE(desk.screen->programs.size(), std::size_t{1});
    }

    void a_probe_that_hangs_blocks_nobody_and_is_shown() {
        Desk desk;
        desk.screen->hangs = true;
        const auto blindness = [&] {
            const auto& sights = desk.client.view().sights;
            return sights ? (*sights)[activity::place_of(Signal::full_screen)].blindness : activity::Blindness::none;
        };
        QElapsedTimer clock;
        clock.start();
        QTest::qWait(100);
        QVERIFY(clock.elapsed() < 1000);
        QTRY_COMPARE_WITH_TIMEOUT(blindness(), activity::Blindness::no_answer, 10'000);
        QCOMPARE(desk.told(), std::string("run"));
        desk.screen->hangs = false;
        QTRY_COMPARE(blindness(), activity::Blindness::none);
    }

    void a_node_that_comes_back_is_told_anew() {
        Desk desk;
        QTRY_COMPARE(desk.told(), std::string("run"));
        desk.node.die(ui::Transport::End::failed, {});
        QTest::qWait(400);
        desk.node.requests.clear();
        desk.client.retryNow();
        desk.node.push(desk.snapshot);
        QTRY_COMPARE_WITH_TIMEOUT(desk.told(), std::string("run"), 2000);
    }

    void every_probe_of_this_system_says_what_it_sees_or_why_not() {
        activity::Lookout lookout(ui::desktopProbes({"never-heard-of"}));
        const auto all_have_looked = [&] {
            for (const Signal signal : activity::automatic_signals) {
                const activity::Sight sight = lookout.sights()[activity::place_of(signal)];
                const bool told = sight.reading.has_value() || !ui::blindText(sight.blindness).isEmpty();
                if (!told) return false;
            }
            return true;
        };
        QTRY_VERIFY_WITH_TIMEOUT(all_have_looked(), 10'000);
    }

    void window_and_tray_say_why() {
        ui::NodeView view;
        view.link.state = ui::Link::State::up;
        view.heard = true;
        view.snapshot = recordedSnapshot("paused");
        view.snapshot.paused_until = 0;
        view.snapshot.why = {{.reason = status::Reason::yielding, .detail = "mpv", .signal = Signal::full_screen}};
        QCOMPARE(ui::summarize(view).title, QStringLiteral("Paused automatically"));
        QCOMPARE(ui::summarize(view).reason,
                 QStringLiteral("A program fills the screen (mpv). Training resumes automatically."));
        view.snapshot.why.seconds = 42;
        QCOMPARE(ui::summarize(view).reason,
                 QStringLiteral("A program fills the screen (mpv). Training resumes in 42 s."));
        view.snapshot.activity = control::Activity::training;
        view.snapshot.why = {{status::Reason::training}};
        view.snapshot.yield = control::YieldState{Level::quiet, Signal::input, "", 100};
        QCOMPARE(ui::summarize(view).title, QStringLiteral("Training"));
        QCOMPARE(ui::summarize(view).reason, QStringLiteral("You use the computer. Training goes on at half speed."));
        view.snapshot.run->findings.jury.emplace().helps = false;
        QVERIFY(ui::summarize(view).reason.contains(QStringLiteral("do not seem to help the model")));
    }

    void a_history_is_told_in_sentences() {
        const auto told = [](Level level, Signal signal, std::int64_t seconds) {
            return ui::episodeText({level, signal, "", 1000, 1000 + seconds}, 0);
        };
        QCOMPARE(told(Level::pause, Signal::launcher, 7800),
                 QStringLiteral("You played for 2 h 10 min; nothing was trained."));
        QCOMPARE(told(Level::pause, Signal::battery, 29),
                 QStringLiteral("The computer ran on battery for less than a minute; nothing was trained."));
        QCOMPARE(told(Level::quiet, Signal::input, 120), QStringLiteral("Trained at half speed for 2 min."));
        QCOMPARE(ui::episodeText({Level::pause, Signal::full_screen, "a\nb", 1000, 0}, 1600),
                 QStringLiteral("A program fills the screen (a b). For 10 min so far."));
        for (const Signal signal : activity::automatic_signals) {
            QVERIFY(told(Level::pause, signal, 60).contains(QStringLiteral("1 min")));
            QVERIFY(!ui::ruleText(signal).isEmpty() && !ui::whyYielding(signal, {}).isEmpty());
        }
    }
};

QTEST_MAIN(TestActivityMonitor)
#include "test_activity_monitor.moc"
