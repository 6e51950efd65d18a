// What a program owes the desktop that it lives on: it remembers what was chosen, begins its dialogs where people keep
// their files, does from the tray what is done daily, asks once whether to stay, and says what it is.
#include <QCheckBox>
#include <QComboBox>
#include <QFileDialog>
#include <QMenu>
#include <QScrollArea>
#include <QScrollBar>
#include <QStandardPaths>

#include "tests/ui/rooms/settings_fixture.h"
#include "ui/widgets/loss_chart.h"
#include "ui/widgets/path_field.h"

using namespace potluck;
using namespace potluck::tests;

namespace {

QAction* actionOf(const QMenu& menu, const char* text) {
    for (QAction* action : menu.actions()) {
        if (action->text().remove(QLatin1Char('&')).startsWith(QLatin1String(text))) return action;
        if (action->menu() == nullptr) continue;
        if (QAction* deeper = actionOf(*action->menu(), text)) return deeper;
    }
    return nullptr;
}

control::NodeSnapshot finished() {
    control::NodeSnapshot node = recordedSnapshot("training");
    node.why = {status::Reason::run_complete};
    node.activity = control::Activity::sharing;
    return node;
}

}  // namespace

class TestDesktopManners : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() { QLocale::setDefault(QLocale::c()); }

    void the_picture_of_members_is_there_again_at_the_next_start() {
        QMap<QString, bool> kept;
        {
            WindowFixture fixture;
            fixture.push("training");
            QVERIFY(!fixture.find<QCheckBox>("membersAsPicture")->isChecked());
            fixture.click("membersAsPicture");
            kept = fixture.choices;
        }
        WindowFixture next(ui::Look::light, kept);
        next.push("training");
        QVERIFY(next.find<QCheckBox>("membersAsPicture")->isChecked());
        QVERIFY(next.find<QWidget>("swarmPicture")->isVisible());
        QVERIFY(!next.find<QWidget>("members")->isVisible());
        next.click("membersAsPicture");
        QVERIFY(!next.choices.value(QStringLiteral("members-as-picture")));
    }

    void file_dialogs_begin_where_people_keep_their_files() {
        const QString documents = QStandardPaths::writableLocation(QStandardPaths::DocumentsLocation);
        QVERIFY(documents != QDir::currentPath());
        WindowFixture fixture;
        const auto begins = [&](const char* button) {
            fixture.button(button)->click();
            auto* dialog = fixture.window->findChild<QFileDialog*>();
            const QString folder = dialog == nullptr ? QString() : dialog->directory().path();
            delete dialog;
            // A folder that is not there counts as the nearest one above it that is.
            return !folder.isEmpty() && documents.startsWith(folder) && folder != QDir::currentPath();
        };
        fixture.push("before_joining");
        QVERIFY(begins("open"));
        fixture.push("training");
        fixture.window->resize(1000, 4500);
        fixture.window->showPage(ui::MainWindow::invite_page);
        QVERIFY(begins("saveInvite"));
        fixture.window->showPage(ui::MainWindow::settings_page);
        WindowFixture::settle();
        QVERIFY(begins("export"));
        QVERIFY(begins("import"));
    }

    void a_path_that_was_typed_is_where_its_dialog_begins() {
        ui::PathField field(ui::PathField::Takes::file_or_folder, QStringLiteral("Data"), "data", nullptr);
        field.findChild<QLineEdit*>("data")->setText(QDir::tempPath());
        field.findChild<QAbstractButton*>("data-folder")->click();
        auto* dialog = field.findChild<QFileDialog*>();
        QVERIFY(dialog != nullptr);
        QVERIFY(QDir::tempPath().startsWith(dialog->directory().path()));
        delete dialog;
    }

    void the_tray_says_how_much_and_finishes_the_round() {
        WindowFixture fixture;
        control::NodeSnapshot node = recordedSnapshot("training");
        node.resources.emplace();
        node.resources->effort = control::Effort::balanced;
        node.resources->upload = 25'000;
        fixture.node.push(node);
        WindowFixture::settle();
        const QMenu& menu = fixture.tray.menu();
        QVERIFY(actionOf(menu, "Balanced")->isChecked());
        actionOf(menu, "Quiet")->trigger();
        const nlohmann::json asked = fixture.node.lastParams("set_resources");
        QCOMPARE(asked.dump(), to_json(control::SetResources{[&] {
                                   control::Resources wanted = *node.resources;
                                   wanted.effort = control::Effort::quiet;
                                   return wanted;
                               }()})
                                   .dump());
        QVERIFY(actionOf(menu, "Finish this round")->isEnabled());
        actionOf(menu, "Finish this round")->trigger();
        QCOMPARE(fixture.node.count("finish"), 1);
        for (const char* pause : {"For 1 hour", "For 3 hours", "Until tomorrow"})
            QVERIFY2(actionOf(menu, pause) != nullptr, pause);
        fixture.push("before_joining");
        QVERIFY(!actionOf(menu, "Finish this round")->isEnabled());
    }

    void the_tray_tells_title_and_reason_whole() {
        WindowFixture fixture;
        control::NodeSnapshot node = recordedSnapshot("training");
        node.why = {status::Reason::finishing_to_leave};
        fixture.node.push(node);
        WindowFixture::settle();
        const QList<QAction*> lines = fixture.tray.menu().actions();
        QCOMPARE(lines[0]->text(), QStringLiteral("Finishing the round"));
        QVERIFY2(lines[1]->text().endsWith(QLatin1Char('.')), qPrintable(lines[1]->text()));
    }

    void the_run_says_what_it_is_for_and_how_long_it_takes() {
        WindowFixture fixture;
        fixture.push("training");
        QCOMPARE(fixture.text("runPurpose"), QStringLiteral("A small model that writes recipes, for teaching."));
        QVERIFY(fixture.find<QLabel>("runPurpose")->toolTip().contains(QStringLiteral("12 layer")));
        control::NodeSnapshot node = recordedSnapshot("training");
        node.run->round = 190;
        node.run->total_rounds = 200;
        node.run->window_seconds = 100;
        node.run->last_round_overhead_seconds = 20;
        fixture.node.push(node);
        WindowFixture::settle();
        QVERIFY(fixture.shows(QStringLiteral("of 200, 20 minute(s) left")));
        node.run->round = 200;
        fixture.node.push(node);
        WindowFixture::settle();
        QVERIFY(!fixture.shows(QStringLiteral("left")));
    }

    void a_finished_run_invites_nobody_to_train() {
        WindowFixture fixture;
        fixture.node.answer(control::ReadCurve::name, to_json(control::Curve{}));
        fixture.push("training");
        QVERIFY(fixture.button("copyInvite")->isVisible());
        fixture.window->showPage(ui::MainWindow::invite_page);
        fixture.node.push(finished());
        WindowFixture::settle();
        QVERIFY(fixture.find<QLabel>("runName")->isVisible());  // back home
        QVERIFY(!fixture.button("copyInvite")->isVisible());
        for (const QAbstractButton* entry : fixture.window->findChildren<QAbstractButton*>("navigation"))
            QVERIFY(entry->accessibleName() != QStringLiteral("Invite") || !entry->isVisible());
        QVERIFY(!fixture.find<QWidget>("join")->isVisible());
        const QString said = fixture.window->findChild<ui::LossChart*>()->accessibleDescription();
        QVERIFY2(!said.contains(QStringLiteral("begins")), qPrintable(said));
    }

    void whether_to_start_with_the_session_is_asked_once() {
        WindowFixture fixture(ui::Look::light, {});
        fixture.push("before_joining");
        QVERIFY(!fixture.find<QLabel>("stayText")->isVisible());
        fixture.push("training");
        QVERIFY(fixture.find<QLabel>("stayText")->isVisible());
        fixture.click("stayNo");
        QVERIFY(!fixture.find<QLabel>("stayText")->isVisible());
        QVERIFY(fixture.autostart == ui::Autostart::off);
        WindowFixture next(ui::Look::light, fixture.choices);
        next.push("training");
        QVERIFY(!next.find<QLabel>("stayText")->isVisible());
    }

    void a_yes_starts_potluck_with_the_session() {
        WindowFixture fixture(ui::Look::light, {});
        fixture.push("training");
        fixture.autostartAllowed = false;
        fixture.click("stayYes");
        QVERIFY(fixture.shows(QStringLiteral("No.")));
        QVERIFY(fixture.find<QLabel>("stayText")->isVisible());
        fixture.autostartAllowed = true;
        fixture.click("stayYes");
        QVERIFY(fixture.autostart == ui::Autostart::on);
        QVERIFY(!fixture.find<QLabel>("stayText")->isVisible());
    }

    void a_finished_run_asks_nothing_of_the_session() {
        WindowFixture fixture(ui::Look::light, {});
        fixture.node.push(finished());
        WindowFixture::settle();
        QVERIFY(!fixture.find<QLabel>("stayText")->isVisible());
    }

    void the_language_is_chosen_in_the_settings() {
        SettingsFixture fixture;
        auto* languages = fixture.find<QComboBox>("language");
        QCOMPARE(languages->currentIndex(), 0);
        const int german = languages->findText(QStringLiteral("Deutsch"));
        languages->setCurrentIndex(german);
        emit languages->activated(german);
        QCOMPARE(fixture.language, QStringLiteral("de"));
        QVERIFY(fixture.shows(QStringLiteral("when Potluck is started again")));
        emit languages->activated(0);
    }

    void settings_have_sections_that_a_button_leads_to() {
        SettingsFixture fixture;
        const auto* area = fixture.window->findChild<QScrollArea*>("settingsScroll");
        QVERIFY(area != nullptr);
        QList<int> places;
        for (const char* name : {"to-you", "to-training", "to-network", "to-program"}) {
            fixture.click(name);
            places << area->verticalScrollBar()->value();
        }
        for (qsizetype i = 1; i < places.size(); ++i) QVERIFY(places[i] > places[i - 1]);
    }

    void the_program_says_which_it_is_and_under_which_licences() {
        SettingsFixture fixture;
        QVERIFY(fixture.text("aboutVersion").contains(QStringLiteral("0.1.0")));
        auto* licences = fixture.find<QLabel>("licences");
        QVERIFY(licences->isHidden());
        fixture.button("showLicences")->click();
        QVERIFY(!licences->isHidden());
        QVERIFY(licences->text().contains(QStringLiteral("Qt (LGPL-3.0-only)")));
    }

    void a_missing_trainer_is_told_in_one_text_without_a_command_line() {
        WindowFixture fixture;
        control::NodeSnapshot node = recordedSnapshot("training");
        node.why = {status::Reason::trainer_missing, "potluck-trainer is missing; name it with --trainer."};
        node.activity = control::Activity::failed;
        node.releases.emplace();
        node.releases->has_trainer = false;
        node.releases->has_key = false;
        fixture.node.push(node);
        WindowFixture::settle();
        const QString shown = fixture.visibleTexts().join(QLatin1Char('\n'));
        QCOMPARE(shown.count(QStringLiteral("cannot train yet")), 1);
        QVERIFY2(!shown.contains(QStringLiteral("--")), qPrintable(shown));
        QVERIFY2(!shown.contains(QStringLiteral("begins by itself")), qPrintable(shown));

        fixture.push("before_joining");
        node = recordedSnapshot("before_joining");
        node.releases.emplace();
        node.releases->has_trainer = false;
        fixture.node.push(node);
        control::OfferedRun run;
        run.name = "Cookbook";
        run.obstacle = "potluck-trainer is missing; download it with potluck-node trainer install.";
        fixture.node.answer(control::LookAtRun::name, to_json(run));
        fixture.type("invite", QStringLiteral("magnet:?xt=urn:btmh:1220") + QString(64, 'a'));
        fixture.click("look");
        QTRY_VERIFY(fixture.shows(QStringLiteral("Cookbook")));
        QVERIFY2(!fixture.shows(QStringLiteral("potluck-node")), "a command line in the preview");
        QVERIFY(fixture.text("offerSpeed").contains(QStringLiteral("cannot train yet")));
    }
};

QTEST_MAIN(TestDesktopManners)
#include "test_desktop_manners.moc"
