#include <QFileDialog>
#include <QMessageBox>
#include <QPlainTextEdit>
#include <QRadioButton>
#include <QTranslator>

#include "tests/ui/window_fixture.h"
#include "ui/pages/words_dialog.h"
#include "ui/widgets/translations.h"

using namespace potluck;
using namespace potluck::tests;

namespace {

void openSettings(WindowFixture& fixture) {
    fixture.push("training");
    fixture.window->showPage(ui::MainWindow::settings_page);
}

/// Presses the button of `box` that agrees.
void accept(QMessageBox& box) {
    for (QAbstractButton* button : box.buttons()) {
        if (box.buttonRole(button) == QMessageBox::AcceptRole) QTest::mouseClick(button, Qt::LeftButton);
    }
}

}  // namespace

class TestSettingsPage : public QObject {
    Q_OBJECT

private slots:
    void the_name_of_the_snapshot_is_shown_and_a_new_one_is_asked_for() {
        WindowFixture fixture;
        openSettings(fixture);
        QCOMPARE(fixture.find<QLineEdit>("name")->text(), QStringLiteral("Ada"));
        fixture.type("name", QStringLiteral("Ada L."));
        fixture.click("saveName");
        QCOMPARE(fixture.node.lastParams("set_name").at("name").get<std::string>(), "Ada L.");
        QTRY_VERIFY(fixture.shows(QStringLiteral("Saved.")));
    }

    void typing_is_not_overwritten_by_the_next_snapshot() {
        WindowFixture fixture;
        openSettings(fixture);
        fixture.type("name", QStringLiteral("Half a na"));
        fixture.type("team", QStringLiteral("Half a te"));
        fixture.push("training");
        QCOMPARE(fixture.find<QLineEdit>("name")->text(), QStringLiteral("Half a na"));
        QCOMPARE(fixture.find<QLineEdit>("team")->text(), QStringLiteral("Half a te"));
    }

    void a_search_leaves_the_cards_that_have_its_words() {
        WindowFixture fixture;
        openSettings(fixture);
        const auto seen = [&](const char* name) { return fixture.find<QWidget>(name)->isVisible(); };
        QVERIFY(seen("name") && seen("look-dark"));
        fixture.type("cardSearch", QStringLiteral("LOOK dark"));
        QVERIFY(seen("look-dark"));  // its word has a mark of a key
        QVERIFY(!seen("name") && !seen("team"));
        QVERIFY(!fixture.shows(QStringLiteral("No setting has these words.")));
        fixture.type("cardSearch", QStringLiteral("look zeppelin"));
        QVERIFY(!seen("look-dark"));
        QVERIFY(fixture.shows(QStringLiteral("No setting has these words.")));
        fixture.push("training");  // a snapshot brings nothing back
        QVERIFY(!seen("look-dark") && !seen("name"));
        QTest::keyClick(fixture.find<QLineEdit>("cardSearch"), Qt::Key_Escape);
        QVERIFY(seen("name") && seen("look-dark"));
        fixture.type("cardSearch", QStringLiteral("zeppelin"));
        fixture.click("to-program");
        QVERIFY(seen("look-dark") && seen("name"));
    }

    void a_team_is_named_and_given_up() {
        WindowFixture fixture;
        openSettings(fixture);
        QVERIFY(fixture.find<QLineEdit>("team")->text().isEmpty());
        QVERIFY(fixture.shows(QStringLiteral("Anybody may name any team")));
        const int asked = fixture.node.count("leaderboard");
        fixture.type("team", QStringLiteral(" Physics  Uni Graz "));
        fixture.click("saveTeam");
        QCOMPARE(fixture.node.lastParams("set_team").at("team").get<std::string>(), "Physics Uni Graz");
        QTRY_COMPARE(fixture.text("teamOutcome"), QStringLiteral("Saved."));
        QTRY_COMPARE(fixture.node.count("leaderboard"), asked + 1);
        control::NodeSnapshot snapshot = recordedSnapshot("training");
        snapshot.team = "Physics Uni Graz";
        fixture.find<QLineEdit>("name")->setFocus();
        fixture.node.push(snapshot);
        QCOMPARE(fixture.find<QLineEdit>("team")->text(), QStringLiteral("Physics Uni Graz"));
        auto* field = fixture.find<QLineEdit>("team");
        field->setFocus();
        field->selectAll();
        QTest::keyClick(field, Qt::Key_Delete);
        QTest::keyClick(field, Qt::Key_Return);
        QCOMPARE(fixture.node.lastParams("set_team").at("team").get<std::string>(), std::string());
        QTRY_COMPARE(fixture.text("teamOutcome"), QStringLiteral("You are in no team."));
    }

    void a_refused_team_shows_why() {
        WindowFixture fixture;
        openSettings(fixture);
        fixture.node.refuse("set_team", "The disk is full.");
        fixture.click("saveTeam");
        QTRY_COMPARE(fixture.text("teamOutcome"), QStringLiteral("The disk is full."));
    }

    void starting_with_the_session_is_a_switch_that_shows_what_is() {
        WindowFixture fixture;
        openSettings(fixture);
        QVERIFY(!fixture.button("autostart")->isChecked());
        fixture.button("autostart")->click();
        QCOMPARE(fixture.autostart, ui::Autostart::on);
        QVERIFY(fixture.button("autostart")->isChecked());
        fixture.autostartAllowed = false;
        fixture.button("autostart")->click();
        QVERIFY(fixture.button("autostart")->isChecked());
        QVERIFY(fixture.shows(QStringLiteral("No.")));
    }

    void a_refused_name_shows_why() {
        WindowFixture fixture;
        openSettings(fixture);
        fixture.node.refuse("set_name", "That name is too long.");
        fixture.click("saveName");
        QTRY_VERIFY(fixture.shows(QStringLiteral("That name is too long.")));
    }

    void recovery_words_come_when_asked_and_go_when_hidden() {
        WindowFixture fixture;
        openSettings(fixture);
        QCOMPARE(fixture.node.count("identity_show"), 0);
        QVERIFY(!fixture.find<QLabel>("words")->isVisible());
        fixture.click("toggleWords");
        QTRY_COMPARE(fixture.text("words"), QStringLiteral("apple river stone lamp"));
        fixture.click("toggleWords");
        QCOMPARE(fixture.text("words"), QString());
    }

    void words_do_not_outlive_a_visit_to_the_page() {
        WindowFixture fixture;
        openSettings(fixture);
        fixture.click("toggleWords");
        QTRY_VERIFY(!fixture.text("words").isEmpty());
        fixture.window->showPage(ui::MainWindow::home_page);
        QCOMPARE(fixture.text("words"), QString());
    }

    void words_vanish_when_the_identity_changes() {
        WindowFixture fixture;
        openSettings(fixture);
        fixture.click("toggleWords");
        QTRY_VERIFY(!fixture.text("words").isEmpty());
        control::NodeSnapshot other = recordedSnapshot("training");
        fixture.node.push(other);
        QVERIFY(!fixture.text("words").isEmpty());
        other.peer_id = std::string(64, '7');
        fixture.node.push(other);
        QCOMPARE(fixture.text("words"), QString());
    }

    void an_answer_that_comes_after_leaving_the_page_is_thrown_away() {
        WindowFixture fixture;
        openSettings(fixture);
        fixture.click("toggleWords");
        fixture.window->showPage(ui::MainWindow::home_page);
        WindowFixture::settle();
        QCOMPARE(fixture.text("words"), QString());
    }

    void export_asks_for_a_file_and_reports() {
        WindowFixture fixture;
        openSettings(fixture);
        fixture.click("export");
        auto* dialog = fixture.window->findChild<QFileDialog*>();
        QVERIFY(dialog != nullptr);
        emit dialog->fileSelected(QStringLiteral("/tmp/me.key"));
        QCOMPARE(fixture.node.lastParams("identity_export").at("file").get<std::string>(), "/tmp/me.key");
        QTRY_VERIFY(fixture.text("outcome").contains(QStringLiteral("in /tmp/me.key")));
        dialog->close();
    }

    void import_replaces_nothing_before_it_is_confirmed() {
        WindowFixture fixture;
        openSettings(fixture);
        fixture.node.refuse("identity_import", "The file holds no identity.");
        fixture.click("import");
        auto* dialog = fixture.window->findChild<QFileDialog*>();
        QVERIFY(dialog != nullptr);
        emit dialog->fileSelected(QStringLiteral("/tmp/me.key"));
        auto* box = fixture.window->findChild<QMessageBox*>();
        QVERIFY(box != nullptr);
        QCOMPARE(fixture.node.count("identity_import"), 0);
        accept(*box);
        QCOMPARE(fixture.node.count("identity_import"), 1);
        QTRY_COMPARE(fixture.text("outcome"), QStringLiteral("The file holds no identity."));
        dialog->close();
    }

    void words_are_imported_only_after_they_are_confirmed() {
        WindowFixture fixture;
        openSettings(fixture);
        fixture.click("importWords");
        auto* dialog = fixture.window->findChild<ui::WordsDialog*>();
        QVERIFY(dialog != nullptr);
        auto* field = dialog->findChild<QPlainTextEdit*>();
        QStringList words;
        for (int i = 0; i < 24; ++i) words << QStringLiteral("word");
        field->setPlainText(QStringLiteral("  ") + words.join(QStringLiteral("\n")) + QStringLiteral("  "));
        dialog->accept();
        auto* box = fixture.window->findChild<QMessageBox*>();
        QVERIFY(box != nullptr);
        QCOMPARE(fixture.node.count("identity_import_words"), 0);
        accept(*box);
        QCOMPARE(fixture.node.lastParams("identity_import_words").at("words").get<std::string>(),
                 words.join(u' ').toStdString());
        QTRY_VERIFY(fixture.text("outcome").contains(QStringLiteral("identity of the words")));
    }

    void invalid_recovery_words_are_rejected_before_any_request() {
        WindowFixture fixture;
        openSettings(fixture);
        fixture.click("importWords");
        auto* dialog = fixture.window->findChild<ui::WordsDialog*>();
        auto* field = dialog->findChild<QPlainTextEdit*>();
        auto* problem = dialog->findChild<QLabel*>(QStringLiteral("wordsProblem"));
        field->setPlainText(QStringLiteral("one two three"));
        dialog->accept();
        QVERIFY(problem->isVisible() && problem->text().contains(u'3'));
        field->setPlainText(QStringLiteral("one tw0"));
        QVERIFY(!problem->isVisible());
        dialog->accept();
        QVERIFY2(problem->text().contains(QStringLiteral("Word 2, “tw0”")), qPrintable(problem->text()));
        QVERIFY(dialog->isVisible() && fixture.window->findChild<QMessageBox*>() == nullptr);
        QCOMPARE(fixture.node.count("identity_import_words"), 0);
        // The keyboard gets out of the field, and long lines are wrapped.
        field->setFocus();
        QTest::keyClick(field, Qt::Key_Tab);
        QVERIFY(!field->hasFocus());
        QCOMPARE(field->lineWrapMode(), QPlainTextEdit::WidgetWidth);
    }

    void the_look_is_switched_at_once() {
        WindowFixture fixture;
        openSettings(fixture);
        QSignalSpy chosen(&fixture.theme, &ui::Theme::chosen);
        fixture.click("look-dark");
        QVERIFY(QApplication::palette().color(QPalette::Window).lightness() < 60);
        fixture.click("look-light");
        QVERIFY(QApplication::palette().color(QPalette::Window).lightness() > 200);
        QCOMPARE(chosen.size(), 2);
    }

    void the_data_folder_is_shown_and_opened() {
        WindowFixture fixture;
        openSettings(fixture);
        QCOMPARE(fixture.text("folder"), QStringLiteral("/home/ada/.local/share/potluck"));
        fixture.click("openFolder");
        QCOMPARE(fixture.openedFolder, QStringLiteral("/home/ada/.local/share/potluck"));
    }

    void pause_works_here_too() {
        WindowFixture fixture;
        fixture.push("paused");
        fixture.window->showPage(ui::MainWindow::settings_page);
        QVERIFY(fixture.shows(QStringLiteral("Training has ended and its memory is free.")));
        fixture.click("pauseInSettings");
        QCOMPARE(fixture.node.count("resume"), 1);
    }

    void german_is_spoken_where_it_is_asked_for() {
        ui::installTranslations(*qApp, QLocale(QLocale::German));
        WindowFixture fixture;
        openSettings(fixture);
        QVERIFY(fixture.shows(QStringLiteral("Aussehen")));
        QVERIFY(fixture.shows(QStringLiteral("Trainiert")));
        const QList<QTranslator*> translators = qApp->findChildren<QTranslator*>();
        QVERIFY(!translators.isEmpty());
        qDeleteAll(translators);
    }

    void quit_is_offered() {
        WindowFixture fixture;
        openSettings(fixture);
        QSignalSpy quit(fixture.window.get(), &ui::MainWindow::quitAsked);
        fixture.click("quit");
        QCOMPARE(quit.size(), 1);
    }
};

QTEST_MAIN(TestSettingsPage)
#include "test_settings_page.moc"
