// The settings of the owner's right of way, by real clicks and keys: what is asked of the node, and what is said where
// a signal cannot be noticed.
#include <QCheckBox>
#include <QSpinBox>
#include <QTranslator>

#include "tests/ui/window_fixture.h"
#include "ui/widgets/translations.h"
#include "ui/widgets/week_grid.h"

using namespace potluck;
using namespace potluck::tests;
using activity::Blindness;
using activity::Signal;

namespace {

struct Settings : WindowFixture {
    Settings() {
        node.answer(control::SetRules::name, nlohmann::json::object());
        snapshot.rules = control::described(activity::Rules{});
        node.push(snapshot);
        window->showPage(ui::MainWindow::settings_page);
        settle();
    }
    [[nodiscard]] control::OwnerRules asked() const {
        control::OwnerRules rules;
        const nlohmann::json params = node.lastParams("set_rules");
        POTLUCK_CHECK(!params.is_null() && control::from_json(params.at("rules"), rules).ok());
        return rules;
    }
    control::NodeSnapshot snapshot = recordedSnapshot("training");
};

}  // namespace

class TestActivityCard : public QObject {
    Q_OBJECT

private slots:
    void a_switch_asks_the_node_and_shows_what_it_says() {
        Settings page;
        auto* battery = page.find<QCheckBox>("signal-battery");
        QVERIFY(battery->isChecked());
        QVERIFY(!page.find<QCheckBox>("signal-input")->isChecked());
        QTest::mouseClick(battery, Qt::LeftButton, {}, QPoint(8, battery->height() / 2));
        QVERIFY(std::ranges::count(page.asked().off, Signal::battery) == 1);
        QCOMPARE(page.asked().off.size(), std::size_t{3});
        page.settle();
        QVERIFY(!battery->isChecked());
        page.node.push(page.snapshot);  // another window has switched it on again
        page.settle();
        QVERIFY(battery->isChecked());
        page.find<QCheckBox>("signal-input")->setFocus();
        QTest::keyClick(page.find<QCheckBox>("signal-input"), Qt::Key_Space);
        QVERIFY(std::ranges::count(page.asked().off, Signal::input) == 0);
    }

    void a_refusal_is_told_and_the_switch_goes_back() {
        Settings page;
        page.node.refuse("set_rules", "The disk is full.");
        auto* metered = page.find<QCheckBox>("signal-metered");
        QTest::mouseClick(metered, Qt::LeftButton, {}, QPoint(8, metered->height() / 2));
        QTRY_VERIFY(page.shows(QStringLiteral("The disk is full.")));
        QVERIFY(metered->isChecked());
    }

    void programs_are_saved_when_they_are_typed() {
        Settings page;
        page.type("programs", QStringLiteral(" blender,, obs "));
        QTest::keyClick(page.find<QLineEdit>("programs"), Qt::Key_Return);
        QVERIFY(page.asked().programs == (std::vector<std::string>{"blender", "obs"}));
        const int times = page.node.count("set_rules");
        page.find<QLineEdit>("programs")->clearFocus();
        QCOMPARE(page.node.count("set_rules"), times);
        page.settle();
        QCOMPARE(page.find<QLineEdit>("programs")->text(), QStringLiteral("blender, obs"));
    }

    void the_delay_is_asked_for_when_it_is_finished() {
        Settings page;
        auto* delay = page.find<QSpinBox>("resumeDelay");
        QCOMPARE(delay->value(), 60);
        QCOMPARE(page.node.count("set_rules"), 0);
        delay->setFocus();
        delay->selectAll();
        QTest::keyClicks(delay, QStringLiteral("120"));
        QCOMPARE(page.node.count("set_rules"), 0);
        QTest::keyClick(delay, Qt::Key_Return);
        QCOMPARE(page.asked().resume_seconds, std::uint64_t{120});
    }

    void hours_are_changed_by_click_and_by_key() {
        Settings page;
        auto* hours = page.find<ui::WeekGrid>("hours");
        const QRect monday9 = hours->visualItemRect(hours->item(0, 9));
        QTest::mouseClick(hours->viewport(), Qt::LeftButton, {}, monday9.center());
        QCOMPARE(page.asked().hours.at(9), 'q');
        page.settle();
        hours->setCurrentCell(0, 9);
        QTest::keyClick(hours, Qt::Key_Space);
        QCOMPARE(page.asked().hours.at(9), 'p');
        QCOMPARE(page.asked().hours.at(10), 'r');
        QVERIFY(hours->item(0, 9)->data(Qt::AccessibleTextRole).toString().contains(QStringLiteral("pause")));
        page.settle();
        QTest::keyClick(hours, Qt::Key_Space);
        QCOMPARE(page.asked().hours, std::string(activity::hours_per_week, 'r'));
    }

    void an_undetectable_signal_is_explained_beside_its_switch() {
        Settings page;
        QVERIFY(!page.find<QLabel>("blind-full_screen")->isVisible());
        activity::Sights sights;
        sights[activity::place_of(Signal::full_screen)] = activity::blind(Blindness::no_display);
        sights[activity::place_of(Signal::game_mode)] = activity::seen(0);
        sights[activity::place_of(Signal::schedule)] = activity::blind(Blindness::other_system);
        page.client.showSights(sights, true);
        QCOMPARE(page.text("blind-full_screen"), QStringLiteral("Cannot be detected here: there is no X11 display."));
        QVERIFY(page.find<QLabel>("blind-full_screen")->isVisibleTo(page.window.get()));
        QVERIFY(!page.find<QLabel>("blind-game_mode")->isVisibleTo(page.window.get()));
        QVERIFY(page.text("blind-schedule").isEmpty());
        QVERIFY(page.text("blind-input").contains(QStringLiteral("drift")));
        page.client.showSights({}, false);
        QVERIFY(page.text("blind-full_screen").isEmpty() && page.text("blind-input").isEmpty());
    }

    void pauses_are_listed_newest_first_and_asked_for_when_one_ends() {
        WindowFixture page;
        control::PauseHistory pauses;
        pauses.rows = {{activity::Level::pause, Signal::launcher, "Steam app 10", 1'700'000'000, 1'700'007'800},
                       {activity::Level::pause, Signal::battery, "", 1'700'010'000, 1'700'010'600}};
        page.node.answer(control::ReadPauses::name, control::to_json(pauses));
        control::NodeSnapshot snapshot = recordedSnapshot("training");
        page.node.push(snapshot);
        page.settle();
        const QStringList lines = page.text("pauses").split(QLatin1Char('\n'));
        QCOMPARE(lines.size(), 2);
        QVERIFY(lines[0].endsWith(QStringLiteral("The computer ran on battery for 10 min; nothing was trained.")));
        QVERIFY(lines[1].endsWith(QStringLiteral("You played for 2 h 10 min; nothing was trained.")));
        QCOMPARE(page.node.count("pauses"), 1);
        page.node.push(snapshot);
        page.settle();
        QCOMPARE(page.node.count("pauses"), 1);
        snapshot.activity = control::Activity::paused;
        snapshot.yield = control::YieldState{activity::Level::pause, Signal::launcher, "", 5};
        page.node.push(snapshot);
        page.settle();
        QCOMPARE(page.node.count("pauses"), 2);
        snapshot.yield->signal = Signal::battery;
        page.node.push(snapshot);
        page.settle();
        QCOMPARE(page.node.count("pauses"), 3);
    }

    void the_tray_names_the_reason_and_resuming_is_offered() {
        WindowFixture page;
        control::NodeSnapshot snapshot = recordedSnapshot("paused");
        snapshot.paused_until = 0;
        snapshot.yield = control::YieldState{activity::Level::pause, Signal::battery, "", 5};
        snapshot.why.reason = status::Reason::yielding;
        snapshot.why.signal = Signal::battery;
        page.node.push(snapshot);
        page.settle();
        QCOMPARE(page.tray.menu().actions().at(0)->text(), QStringLiteral("Paused automatically"));
        QVERIFY(page.tray.menu().actions().at(1)->text().startsWith(QStringLiteral("The computer runs on battery.")));
        QVERIFY(page.shows(QStringLiteral("The computer runs on battery. Training resumes automatically.")));
        page.click("pause");
        QCOMPARE(page.node.count("resume"), 1);
    }

    void it_speaks_german() {
        ui::installTranslations(*qApp, QLocale(QLocale::German));
        {
            Settings page;
            QVERIFY(page.shows(QStringLiteral("Dein Computer geht vor")));
            QCOMPARE(page.find<QCheckBox>("signal-battery")->text(), QStringLiteral("Der Computer läuft mit Akku"));
        }
        qDeleteAll(qApp->findChildren<QTranslator*>());
    }
};

QTEST_MAIN(TestActivityCard)
#include "test_activity_card.moc"
