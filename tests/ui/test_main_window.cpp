// Window, navigation and tray. The offscreen platform has no tray, which is the case that must not lose the window.
#include <QAbstractItemView>
#include <QMenu>
#include <QMessageBox>
#include <QPushButton>
#include <QToolButton>

#include "tests/ui/window_fixture.h"
#include "ui/hosting/host_page.h"
#include "ui/pages/pause_menu.h"
#include "ui/widgets/icons.h"

using namespace potluck;
using namespace potluck::tests;

namespace {

QStringList textsOf(const QMenu& menu) {
    QStringList texts;
    for (const QAction* action : menu.actions()) {
        texts << (action->isSeparator() ? QStringLiteral("-") : action->text().remove(QLatin1Char('&')));
    }
    return texts;
}

QAction* actionNamed(const QMenu& menu, const QString& text) {
    for (QAction* action : menu.actions()) {
        if (action->text().remove(QLatin1Char('&')) == text) return action;
    }
    return nullptr;
}

}  // namespace

class TestMainWindow : public QObject {
    Q_OBJECT

private slots:
    void navigation_changes_the_page_by_mouse_and_keyboard() {
        WindowFixture fixture;
        fixture.push("training");
        for (QToolButton* button : fixture.window->findChildren<QToolButton*>(QStringLiteral("navigation"))) {
            if (button->accessibleName() == QStringLiteral("Leaderboard")) QTest::mouseClick(button, Qt::LeftButton);
        }
        QTRY_VERIFY(fixture.find<QWidget>("leaderboard")->isVisible());
        QTest::keyClick(fixture.window.get(), Qt::Key_5, Qt::ControlModifier);
        QTRY_VERIFY(fixture.find<QWidget>("name")->isVisible());
        QTest::keyClick(fixture.window.get(), Qt::Key_1, Qt::ControlModifier);
        QTRY_VERIFY(fixture.find<QWidget>("members")->isVisible());
    }

    void without_a_tray_closing_never_hides_the_window() {
        WindowFixture fixture;
        QVERIFY(!fixture.tray.isShown());
        fixture.push("training");
        QSignalSpy quit(fixture.window.get(), &ui::MainWindow::quitAsked);
        fixture.window->close();
        QVERIFY(fixture.window->isVisible());
        QCOMPARE(quit.size(), 0);
        auto* box = fixture.window->findChild<QMessageBox*>();
        QVERIFY(box != nullptr);
        QTest::mouseClick(box->defaultButton(), Qt::LeftButton);
        QVERIFY(fixture.window->isMinimized());
        QCOMPARE(quit.size(), 0);
    }

    void without_a_run_closing_quits() {
        WindowFixture fixture;
        fixture.push("before_joining");
        QSignalSpy quit(fixture.window.get(), &ui::MainWindow::quitAsked);
        fixture.window->close();
        QCOMPARE(quit.size(), 1);
    }

    void control_q_quits() {
        WindowFixture fixture;
        fixture.push("training");
        QSignalSpy quit(fixture.window.get(), &ui::MainWindow::quitAsked);
        QTest::keyClick(fixture.window.get(), Qt::Key_Q, Qt::ControlModifier);
        QCOMPARE(quit.size(), 1);
    }

    void the_only_host_is_asked_before_it_stops_the_others() {
        WindowFixture fixture;
        control::NodeSnapshot snapshot = recordedSnapshot("hosting");
        snapshot.run->succession->seats[0].here = false;
        fixture.node.push(snapshot);
        WindowFixture::settle();
        QSignalSpy quit(fixture.window.get(), &ui::MainWindow::quitAsked);
        const auto question = [&] { return fixture.window->findChild<QMessageBox*>(); };
        const auto press = [&](const QString& text) {
            for (QAbstractButton* button : question()->buttons())
                if (button->text().remove(u'&') == text) button->click();
            QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
        };
        QTest::keyClick(fixture.window.get(), Qt::Key_Q, Qt::ControlModifier);
        QVERIFY(question() && question()->isVisible());
        QVERIFY(question()->text().contains(QStringLiteral("waits until you are back")));
        QVERIFY(question()->text().contains(QStringLiteral("backbone")));
        QCOMPARE(quit.size(), 0);
        press(QStringLiteral("Cancel"));
        QTRY_VERIFY(!question());
        QCOMPARE(quit.size(), 0);
        // The tray and the page of settings ask, too; one question at a time.
        actionNamed(fixture.tray.menu(), QStringLiteral("Quit"))->trigger();
        actionNamed(fixture.tray.menu(), QStringLiteral("Quit"))->trigger();
        QCOMPARE(fixture.window->findChildren<QMessageBox*>().size(), 1);
        press(QStringLiteral("Hand it over…"));
        QVERIFY(fixture.window->findChild<ui::HostPage*>()->isVisible());
        QTRY_VERIFY(!question());
        QTest::keyClick(fixture.window.get(), Qt::Key_Q, Qt::ControlModifier);
        press(QStringLiteral("Quit"));
        QCOMPARE(quit.size(), 1);
    }

    void quitting_needs_no_confirmation_where_no_other_member_loses_the_run_data() {
        QTest::addColumn<control::NodeSnapshot>("snapshot");
        control::NodeSnapshot snapshot = recordedSnapshot("hosting");
        QTest::newRow("others carry it on") << snapshot;
        snapshot.run->succession->seats[0].here = false;
        control::NodeSnapshot alone = snapshot;
        std::erase_if(alone.run->members, [](const auto& one) { return !one.self; });
        QTest::newRow("alone") << alone;
        control::NodeSnapshot ended = snapshot;
        ended.activity = control::Activity::finished;
        QTest::newRow("ended") << ended;
        control::NodeSnapshot member = snapshot;
        member.run->succession.reset();
        QTest::newRow("a member") << member;
    }
    void quitting_needs_no_confirmation_where_no_other_member_loses_the_run() {
        QFETCH(control::NodeSnapshot, snapshot);
        WindowFixture fixture;
        fixture.node.push(snapshot);
        WindowFixture::settle();
        QSignalSpy quit(fixture.window.get(), &ui::MainWindow::quitAsked);
        QTest::keyClick(fixture.window.get(), Qt::Key_Q, Qt::ControlModifier);
        QCOMPARE(quit.size(), 1);
        QVERIFY(!fixture.window->findChild<QMessageBox*>());
    }

    void tomorrow_begins_at_six() {
        using namespace std::chrono_literals;
        const QDate day(2026, 3, 4);
        QCOMPARE(ui::untilTomorrow({day, {22, 0}}), 8h);
        QCOMPARE(ui::untilTomorrow({day, {6, 0}}), 24h);
        QCOMPARE(ui::untilTomorrow({day, {1, 30}}), std::chrono::seconds(4h + 30min));
    }

    /// At login the tray often begins after the programs that want to be in it.
    void a_tray_that_comes_later_is_found() {
        FakeNode node;
        ui::NodeClient client(node, quick_pace);
        bool isThere = false;
        int looks = 0;
        ui::Tray tray(client, {[&] {
                                   ++looks;
                                   return isThere;
                               },
                               std::chrono::milliseconds(20)});
        client.start();
        node.pushRecorded("training");
        QTRY_VERIFY(looks > 3);
        QVERIFY(!tray.isShown());
        control::NodeSnapshot named = recordedSnapshot("failed");
        named.why = {status::Reason::hindered, "<img src=//host/s/a> & more"};
        node.push(named);
        isThere = true;
        QTRY_VERIFY(tray.isShown());
        for (const QChar sign : {u'<', u'>', u'&'})
            QVERIFY2(!tray.toolTip().contains(sign), qPrintable(tray.toolTip()));
        // Found once is enough: nobody looks any more.
        const int found = looks;
        QTest::qWait(100);
        QCOMPARE(looks, found);
    }

    void the_tray_is_looked_for_every_few_seconds() {
        const ui::TraySearch search;
        QVERIFY(search.every >= std::chrono::seconds(1) && search.every <= std::chrono::seconds(5));
    }

    void the_trays_menu_has_the_agreed_order() {
        WindowFixture fixture;
        fixture.push("training");
        QStringList texts = textsOf(fixture.tray.menu());
        QCOMPARE(texts.takeFirst(), QStringLiteral("Training"));
        QVERIFY(texts.takeFirst().startsWith(QStringLiteral("Round 42")));
        QCOMPARE(texts, (QStringList{"Open Potluck", "-", "Pause", "Resume", "How much",
                                     "Finish this round, then leave", "-", "Quit"}));
        QCOMPARE(textsOf(*actionNamed(fixture.tray.menu(), QStringLiteral("Pause"))->menu()),
                 (QStringList{"For 30 minutes", "For 1 hour", "For 3 hours", "Until tomorrow", "Until I resume"}));
    }

    void the_tray_pauses_and_resumes() {
        WindowFixture fixture;
        fixture.push("training");
        QAction* pause = actionNamed(fixture.tray.menu(), QStringLiteral("Pause"));
        QAction* resume = actionNamed(fixture.tray.menu(), QStringLiteral("Resume"));
        QVERIFY(pause->isEnabled() && !resume->isEnabled());
        pause->menu()->actions().at(1)->trigger();
        QCOMPARE(fixture.node.lastParams("pause").at("seconds").get<int>(), 3600);
        fixture.push("paused");
        QVERIFY(!pause->isEnabled() && resume->isEnabled());
        resume->trigger();
        QCOMPARE(fixture.node.count("resume"), 1);
    }

    void the_tool_tip_says_the_state_and_todays_tokens() {
        WindowFixture fixture;
        fixture.push("training");
        QVERIFY2(fixture.tray.toolTip().contains(QStringLiteral("Training")), qPrintable(fixture.tray.toolTip()));
        QVERIFY(fixture.tray.toolTip().contains(QStringLiteral("tokens today")));
        QVERIFY(fixture.tray.toolTip().size() <= 120);
    }

    void open_in_the_tray_brings_a_minimised_window_back() {
        WindowFixture fixture;
        fixture.push("training");
        fixture.window->showMinimized();
        actionNamed(fixture.tray.menu(), QStringLiteral("Open Potluck"))->trigger();
        QVERIFY(fixture.window->isVisible() && !fixture.window->isMinimized());
    }

    void every_state_has_an_icon_of_its_own_shape() {
        WindowFixture fixture;
        QList<QImage> shapes;
        for (const auto sign : {ui::StatusIcon::idle, ui::StatusIcon::training, ui::StatusIcon::sharing,
                                ui::StatusIcon::waiting, ui::StatusIcon::paused, ui::StatusIcon::problem}) {
            // One colour for all: what differs now is the shape.
            const QImage image = ui::iconNamed(ui::nameOf(sign), QPalette::Text).pixmap(32, 32).toImage();
            QVERIFY(image.pixelColor(0, 0).alpha() == 0);
            for (const QImage& other : shapes) QVERIFY(image != other);
            shapes << image;
            QVERIFY(!ui::trayIcon(sign).pixmap(22, 22).isNull());
        }
    }

    void everything_that_takes_the_focus_has_a_name() {
        WindowFixture fixture;
        for (const char* snapshot : {"before_joining", "training"}) {
            fixture.push(snapshot);
            for (const auto page :
                 {ui::MainWindow::home_page, ui::MainWindow::leaderboard_page, ui::MainWindow::settings_page}) {
                fixture.window->showPage(page);
                for (QWidget* widget : fixture.window->findChildren<QWidget*>()) {
                    if (!widget->isVisible() || !(widget->focusPolicy() & Qt::TabFocus)) continue;
                    const auto* button = qobject_cast<QAbstractButton*>(widget);
                    const auto* label = qobject_cast<QLabel*>(widget);
                    const bool named =
                        !widget->accessibleName().isEmpty() || (button && !button->text().isEmpty()) || label;
                    QVERIFY2(named,
                             qPrintable(QLatin1String(widget->metaObject()->className()) + widget->objectName()));
                }
            }
        }
    }

    void no_page_is_wider_than_the_window() {
        WindowFixture fixture;
        for (const char* snapshot : {"before_joining", "training", "paused"}) {
            fixture.push(snapshot);
            QVERIFY2(fixture.window->minimumSizeHint().width() <= 1000,
                     qPrintable(QString::number(fixture.window->minimumSizeHint().width())));
            QVERIFY2(fixture.window->minimumSizeHint().height() <= 700,
                     qPrintable(QString::number(fixture.window->minimumSizeHint().height())));
        }
    }
};

QTEST_MAIN(TestMainWindow)
#include "test_main_window.moc"
