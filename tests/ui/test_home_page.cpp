// Home: the invite field with real clicks, the run, the pause.
#include <QCheckBox>
#include <QClipboard>
#include <QFileDialog>
#include <QListView>
#include <QMenu>
#include <QMessageBox>
#include <QProgressBar>
#include <QPushButton>

#include "core/model/traits.h"
#include "tests/ui/window_fixture.h"
#include "ui/client/measure_words.h"
#include "ui/client/plain_text.h"
#include "ui/widgets/loss_chart.h"

using namespace potluck;
using namespace potluck::tests;

namespace {

const QString cookbooks = QStringLiteral("potluck:?xt=urn:btmh:1220abcd&dn=Cookbooks");

}  // namespace

class TestHomePage : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() { QLocale::setDefault(QLocale::c()); }

    void before_joining_it_welcomes_and_says_what_is_sent() {
        WindowFixture fixture;
        fixture.push("before_joining");
        QVERIFY(fixture.button("join")->isVisible());
        QVERIFY(!fixture.button("join")->isEnabled());
        QVERIFY(fixture.shows(QStringLiteral("What is sent")));
        QVERIFY(fixture.shows(QStringLiteral("internet address")));
    }

    void typing_an_invite_and_pressing_join_asks_the_node() {
        WindowFixture fixture;
        fixture.push("before_joining");
        fixture.type("invite", cookbooks);
        QVERIFY(fixture.text("claimed").contains(QStringLiteral("Cookbooks")));
        fixture.click("join");
        QCOMPARE(fixture.node.lastParams("join").at("invite").get<std::string>(), cookbooks.toStdString());
    }

    void pasting_takes_the_clipboard() {
        WindowFixture fixture;
        fixture.push("before_joining");
        QGuiApplication::clipboard()->setText(cookbooks + QLatin1Char('\n'));
        fixture.click("paste");
        QCOMPARE(fixture.find<QLineEdit>("invite")->text(), cookbooks);
        QCOMPARE(fixture.node.count("join"), 0);
    }

    void a_pasted_chat_message_gives_its_link_wherever_the_focus_is() {
        WindowFixture fixture;
        fixture.push("before_joining");
        const QString link = QStringLiteral("magnet:?xt=urn:btmh:1220%1&dn=Soup").arg(QString(64, QLatin1Char('a')));
        QGuiApplication::clipboard()->setText(QStringLiteral("Hey join us: %1 :-)").arg(link));
        fixture.find<QPushButton>("startOwn")->setFocus();
        QTest::keySequence(fixture.window.get(), QKeySequence::Paste);
        WindowFixture::settle();
        QCOMPARE(fixture.find<QLineEdit>("invite")->text(), link);
        fixture.type("invite", QStringLiteral("come in: ") + link);
        fixture.click("join");
        QCOMPARE(fixture.node.lastParams("join").at("invite").get<std::string>(), link.toStdString());
    }

    void the_name_is_asked_at_the_first_join_with_a_suggestion() {
        WindowFixture fixture;
        control::NodeSnapshot node = recordedSnapshot("before_joining");
        node.name.clear();
        fixture.node.push(node);
        WindowFixture::settle();
        auto* name = fixture.find<QLineEdit>("joinName");
        QVERIFY(name->isVisible());
        const QString suggested = name->text();
        QVERIFY(!suggested.isEmpty());
        fixture.node.push(node);
        WindowFixture::settle();
        QCOMPARE(name->text(), suggested);
        fixture.type("joinName", QStringLiteral("Ada"));
        fixture.type("invite", cookbooks);
        fixture.click("join");
        QCOMPARE(fixture.node.lastParams("set_name").at("name"), nlohmann::json("Ada"));
        QCOMPARE(fixture.node.count("join"), 1);
    }

    void a_key_from_another_computer_may_leave_its_name_to_the_run() {
        WindowFixture fixture;
        control::NodeSnapshot node = recordedSnapshot("before_joining");
        node.name.clear();
        node.person_id = std::string(64, 'b');
        QVERIFY(node.person_id != node.peer_id);
        fixture.node.push(node);
        WindowFixture::settle();
        QVERIFY(fixture.find<QLineEdit>("joinName")->isVisible());
        QCOMPARE(fixture.find<QLineEdit>("joinName")->text(), QString());
        fixture.type("invite", cookbooks);
        fixture.click("join");
        QCOMPARE(fixture.node.count("set_name"), 0);
        QCOMPARE(fixture.node.count("join"), 1);
    }

    void a_known_name_is_not_asked_again() {
        WindowFixture fixture;
        control::NodeSnapshot node = recordedSnapshot("before_joining");
        node.name = "Ada";
        fixture.node.push(node);
        WindowFixture::settle();
        QVERIFY(!fixture.find<QLineEdit>("joinName")->isVisible());
        fixture.type("invite", cookbooks);
        fixture.click("join");
        QCOMPARE(fixture.node.count("set_name"), 0);
    }

    void a_link_behind_the_page_of_a_run_is_an_invite() {
        WindowFixture fixture;
        fixture.push("before_joining");
        const QString link = QStringLiteral("magnet:?xt=urn:btmh:1220%1&dn=Soup").arg(QString(64, QLatin1Char('a')));
        fixture.window->offerInvite(QStringLiteral("https://example.org/soup/#") + link);
        QCOMPARE(fixture.find<QLineEdit>("invite")->text(), link);
        QCOMPARE(fixture.node.count("join"), 0);
        fixture.window->offerInvite(QStringLiteral("https://example.org/soup/"));
        QCOMPARE(fixture.find<QLineEdit>("invite")->text(), link);
    }

    void enter_in_the_field_joins() {
        WindowFixture fixture;
        fixture.push("before_joining");
        fixture.type("invite", cookbooks);
        QTest::keyClick(fixture.find<QLineEdit>("invite"), Qt::Key_Return);
        QCOMPARE(fixture.node.count("join"), 1);
    }

    void a_text_that_is_no_invite_is_not_sent() {
        WindowFixture fixture;
        fixture.push("before_joining");
        fixture.type("invite", QStringLiteral("https://example.org"));
        fixture.click("join");
        QCOMPARE(fixture.node.count("join"), 0);
        QVERIFY(fixture.text("problem").contains(QStringLiteral("potluck:")));
    }

    void a_refused_invite_shows_the_nodes_sentence_and_may_be_tried_again() {
        WindowFixture fixture;
        fixture.push("before_joining");
        fixture.node.refuse("join", "The invite names no run: ask the host for a new one.");
        fixture.type("invite", cookbooks);
        fixture.click("join");
        QTRY_VERIFY(fixture.find<QLabel>("problem")->isVisible());
        QCOMPARE(fixture.text("problem"), QStringLiteral("The invite names no run: ask the host for a new one."));
        QVERIFY(fixture.button("join")->isEnabled());
    }

    void join_cannot_be_pressed_twice() {
        WindowFixture fixture;
        fixture.push("before_joining");
        fixture.node.hold("join");
        fixture.type("invite", cookbooks);
        fixture.click("join");
        QVERIFY(!fixture.button("join")->isEnabled());
        fixture.click("join");
        QCOMPARE(fixture.node.count("join"), 1);
    }

    void an_invite_is_read_from_a_file() {
        WindowFixture fixture;
        fixture.push("before_joining");
        fixture.inviteInFile = cookbooks;
        fixture.click("open");
        auto* dialog = fixture.window->findChild<QFileDialog*>();
        QVERIFY(dialog != nullptr);
        emit dialog->fileSelected(QStringLiteral("/some/invite.txt"));
        QCOMPARE(fixture.readFile, QStringLiteral("/some/invite.txt"));
        QCOMPARE(fixture.find<QLineEdit>("invite")->text(), cookbooks);
        dialog->close();
    }

    void a_link_from_outside_waits_for_the_person() {
        WindowFixture fixture;
        fixture.push("before_joining");
        fixture.window->showPage(ui::MainWindow::settings_page);
        fixture.window->offerInvite(cookbooks);
        QVERIFY(fixture.find<QLabel>("origin")->isVisible());
        QCOMPARE(fixture.find<QLineEdit>("invite")->text(), cookbooks);
        WindowFixture::settle();
        QCOMPARE(fixture.node.count("join"), 0);
        fixture.click("join");
        QCOMPARE(fixture.node.count("join"), 1);
    }

    void a_link_during_a_run_leaves_the_run_alone() {
        WindowFixture fixture;
        fixture.push("training");
        fixture.window->offerInvite(cookbooks);
        QVERIFY(fixture.text("offer").contains(QStringLiteral("an invite to “Cookbooks”")));
        QCOMPARE(fixture.node.count("join") + fixture.node.count("leave"), 0);
        fixture.click("dismiss");
        QVERIFY(!fixture.find<QLabel>("offer")->isVisible());
        fixture.window->offerInvite(cookbooks);
        fixture.click("switch");
        QCOMPARE(fixture.node.count("join"), 1);
        QCOMPARE(fixture.node.lastParams("join").at("other_run").get<std::string>(), std::string("leave"));
    }

    void the_invite_of_the_run_one_is_in_says_so() {
        WindowFixture fixture;
        fixture.push("training");
        const std::string run = recordedSnapshot("training").run->id;
        fixture.window->offerInvite(QStringLiteral("magnet:?xt=urn:btmh:1220") + QString::fromStdString(run));
        QCOMPARE(fixture.text("offer"), QStringLiteral("You are in this run already."));
        QVERIFY(!fixture.button("switch")->isVisible());
    }

    void a_search_can_be_cancelled_and_another_invite_joined_meanwhile() {
        WindowFixture fixture;
        control::NodeSnapshot snapshot = recordedSnapshot("before_joining");
        snapshot.activity = control::Activity::connecting;
        snapshot.why = {{.reason = status::Reason::run_unreachable, .detail = "Gone", .since = 1'700'000'000}};
        fixture.node.push(snapshot);
        QVERIFY(fixture.shows(QStringLiteral("Nobody in “Gone” has been reachable since")));
        fixture.type("invite", cookbooks);
        QVERIFY(fixture.button("join")->isEnabled());
        fixture.click("cancelSearch");
        QCOMPARE(fixture.node.count("leave"), 1);
    }

    void a_failed_trainer_can_be_tried_again_and_its_log_seen() {
        WindowFixture fixture;
        fixture.push("failed");
        QVERIFY(!fixture.button("pause")->isEnabled());
        fixture.click("tryAgain");
        QCOMPARE(fixture.node.count("resume"), 1);
        fixture.click("showLog");
        QTRY_VERIFY(fixture.find<QWidget>("logLines")->isVisible());
        QAction* resume = nullptr;
        for (QAction* action : fixture.tray.menu().actions())
            if (action->text() == QStringLiteral("&Try again")) resume = action;
        QVERIFY(resume != nullptr && resume->isEnabled());
    }

    void a_suspended_member_sees_why_and_until_when() {
        WindowFixture fixture;
        control::NodeSnapshot snapshot = recordedSnapshot("failed");
        snapshot.why = {{.reason = status::Reason::suspended, .detail = "-0.0004 / 0.0712", .round = 130}};
        fixture.node.push(snapshot);
        fixture.settle();
        QVERIFY(
            fixture.shows(QStringLiteral("takes none until round 130. Test memory and GPU first. Yours lower the "
                                         "model's error by -0.0004, others' by 0.0712.")));
        QVERIFY(fixture.button("leaveRun")->isVisible() && fixture.button("showLog")->isVisible());
        snapshot.why = {{.reason = status::Reason::suspended}};
        fixture.node.push(snapshot);
        fixture.settle();
        QVERIFY(fixture.shows(QStringLiteral("none until its host lifts that. Test memory and GPU first.")));
        QVERIFY(!fixture.shows(QStringLiteral("Yours lower")));
    }

    void a_run_shows_activity_reason_and_numbers() {
        WindowFixture fixture;
        fixture.push("training");
        QVERIFY(fixture.shows(QStringLiteral("Training")));
        QVERIFY(fixture.shows(QStringLiteral("74 more second")));
        const QString gap = QChar(0x202F);
        QVERIFY(fixture.shows(QStringLiteral("4.18") + gap + QStringLiteral("M")));
        QVERIFY(fixture.shows(QStringLiteral("31.2") + gap + QStringLiteral("M")));
        QVERIFY(fixture.shows(QStringLiteral("41.8") + gap + QStringLiteral("k")));
        QVERIFY(fixture.visibleTexts().contains(QStringLiteral("42")));
        QVERIFY(fixture.visibleTexts().contains(QStringLiteral("5")));
        QCOMPARE(fixture.find<QListView>("members")->model()->rowCount(), 6);
    }

    void members_that_only_the_newest_list_tells_of_are_counted() {
        WindowFixture fixture;
        control::NodeSnapshot snapshot = recordedSnapshot("training");
        snapshot.run->findings.members_beyond = 2'994;
        fixture.node.push(snapshot);
        QVERIFY(fixture.visibleTexts().contains(QLocale().toString(3'000)));
        QCOMPARE(fixture.find<QListView>("members")->model()->rowCount(), 6);
    }

    void members_without_a_session_are_told() {
        WindowFixture fixture;
        control::NodeSnapshot snapshot = recordedSnapshot("training");
        const auto texts = [&] {
            fixture.node.push(snapshot);
            const QAbstractItemModel* members = fixture.find<QListView>("members")->model();
            QStringList all;
            for (int row = 0; row < members->rowCount(); ++row)
                all << members->index(row, 0).data(Qt::AccessibleTextRole).toString();
            return all.filter(QStringLiteral(", through others"));
        };
        QVERIFY(texts().isEmpty());
        snapshot.run->members[1].connected = false;
        QCOMPARE(texts().size(), 1);
        QVERIFY(texts().front().contains(QStringLiteral("Bela")));
    }

    void figures_measured_with_the_loss_are_shown_below_it() {
        WindowFixture fixture;
        control::NodeSnapshot snapshot = recordedSnapshot("training");
        const auto shown = [&] {
            fixture.node.push(snapshot);
            auto* measures = fixture.find<QLabel>("measures");
            return measures->isHidden() ? QString() : measures->text();
        };
        QCOMPARE(shown(), QString());
        snapshot.run->figures = {{"PSNR", 21.5, "dB"}, {"of no family", 75, "%", 50}, {"gap loss", 1.5, "nats"}};
        QCOMPARE(shown(), QStringLiteral("PSNR 21.5 dB · of no family %1 (baseline %2) · gap loss 1.500 nats")
                              .arg(ui::percent(0.75), ui::percent(0.5)));
        snapshot.run->collapsed = true;
        QVERIFY(shown().startsWith(QStringLiteral("Collapsed: ")) && shown().contains(QStringLiteral("learning rate")));
    }

    void every_figure_that_a_family_measures_has_a_translation() {
        for (const model::Measure& measure : model::all_measures()) {
            const QString label = QString::fromUtf8(measure.label.data(), static_cast<qsizetype>(measure.label.size()));
            QVERIFY2(ui::knownMeasures().contains(label), qPrintable(label));
        }
        QCOMPARE(static_cast<std::size_t>(ui::knownMeasures().size()), model::all_measures().size());
    }

    void accessible_text_says_whose_computer_a_member_is() {
        WindowFixture fixture;
        control::NodeSnapshot snapshot = recordedSnapshot("training");
        const auto texts = [&](const QString& part) {
            fixture.node.push(snapshot);
            const QAbstractItemModel* members = fixture.find<QListView>("members")->model();
            QStringList all;
            for (int row = 0; row < members->rowCount(); ++row)
                all << members->index(row, 0).data(Qt::AccessibleTextRole).toString();
            return all.filter(part);
        };
        QVERIFY(texts(QStringLiteral("computer")).isEmpty());
        auto& members = snapshot.run->members;
        const auto own = std::find_if(members.begin(), members.end(), [](const auto& one) { return one.self; });
        control::MemberRow& other = own == members.begin() ? members[1] : members[0];
        other.person = own->id;
        QCOMPARE(texts(QStringLiteral(", your other computer")).size(), 1);
        own->person = std::string(64, 'e');
        QCOMPARE(texts(QStringLiteral(", your other computer")).size(), 0);
        QCOMPARE(texts(QStringLiteral(", a computer of ")).size(), 1);
        other.person = own->person;
        QCOMPARE(texts(QStringLiteral(", your other computer")).size(), 1);
        other.id = own->person;
        other.person.clear();
        QCOMPARE(texts(QStringLiteral(", your other computer")).size(), 1);
    }

    void a_long_wait_shows_how_far_it_is() {
        WindowFixture fixture;
        fixture.push("downloading");
        const QList<QProgressBar*> bars = fixture.window->findChildren<QProgressBar*>();
        const auto visible = std::find_if(bars.begin(), bars.end(), [](auto* bar) { return bar->isVisible(); });
        QVERIFY(visible != bars.end());
        QCOMPARE((*visible)->value(), 426);
        fixture.push("training");
        QVERIFY(!(*visible)->isVisible());
    }

    void names_from_the_network_are_plain_and_short() {
        WindowFixture fixture;
        control::NodeSnapshot snapshot = recordedSnapshot("training");
        snapshot.run->name = "<b>bold</b> " + std::string(300, 'x');
        snapshot.run->members[1].name = std::string(200, 'y') + "\n";
        fixture.node.push(snapshot);
        QCOMPARE(fixture.find<QLabel>("runName")->textFormat(), Qt::PlainText);
        QVERIFY(fixture.text("runName").startsWith(QStringLiteral("<b>bold")));
        QVERIFY(fixture.text("runName").size() <= 60);
        for (const QLabel* label : fixture.window->findChildren<QLabel*>())
            QCOMPARE(label->textFormat(), Qt::PlainText);
        QVERIFY(fixture.find<QLabel>("runName")->toolTip().startsWith(QStringLiteral("<qt>&lt;b&gt;bold")));
        const QAbstractItemModel* members = fixture.find<QListView>("members")->model();
        for (int row = 0; row < members->rowCount(); ++row) {
            QVERIFY(members->index(row, 0).data(Qt::AccessibleTextRole).toString().size() < 100);
        }
    }

    void the_pause_button_offers_five_pauses() {
        WindowFixture fixture;
        fixture.push("training");
        auto* button = fixture.find<QPushButton>("pause");
        QVERIFY(button->menu() != nullptr);
        const QList<QAction*> pauses = button->menu()->actions();
        QCOMPARE(pauses.size(), 5);
        const int seconds[] = {1800, 3600, 3 * 3600, -1, 0};
        for (int index = 0; index < 5; ++index) {
            button->menu()->popup(button->mapToGlobal(QPoint(0, 0)));
            QTest::mouseClick(button->menu(), Qt::LeftButton, {},
                              button->menu()->actionGeometry(pauses[index]).center());
            QCOMPARE(fixture.node.count("pause"), index + 1);
            const int asked = fixture.node.lastParams("pause").at("seconds").get<int>();
            if (seconds[index] < 0)
                QVERIFY(asked > 0 && asked <= 30 * 3600);  // until tomorrow
            else
                QCOMPARE(asked, seconds[index]);
        }
    }

    void while_paused_memory_is_reported_free_and_one_click_resumes() {
        WindowFixture fixture;
        fixture.push("paused");
        QVERIFY(fixture.shows(QStringLiteral("Training has ended and its memory is free.")));
        QCOMPARE(fixture.find<QPushButton>("pause")->menu(), nullptr);
        fixture.click("pause");
        QCOMPARE(fixture.node.count("resume"), 1);
    }

    void leaving_asks_first() {
        WindowFixture fixture;
        fixture.push("training");
        auto* menu = fixture.find<QPushButton>("more")->menu();
        menu->actions().last()->trigger();
        auto* box = fixture.window->findChild<QMessageBox*>();
        QVERIFY(box != nullptr);
        QCOMPARE(fixture.node.count("leave"), 0);
        for (QAbstractButton* button : box->buttons()) {
            if (box->buttonRole(button) == QMessageBox::AcceptRole) QTest::mouseClick(button, Qt::LeftButton);
        }
        QCOMPARE(fixture.node.count("leave"), 1);
    }

    void finishing_the_round_is_asked_of_the_node() {
        WindowFixture fixture;
        fixture.push("training");
        fixture.find<QPushButton>("more")->menu()->actions().first()->trigger();
        QCOMPARE(fixture.node.count("finish"), 1);
        QCOMPARE(fixture.node.lastParams("finish").at("then").get<std::string>(), std::string("leave"));
    }

    void the_invite_goes_to_the_clipboard() {
        WindowFixture fixture;
        fixture.push("training");
        fixture.click("copyInvite");
        QTRY_COMPARE(QGuiApplication::clipboard()->text(), QStringLiteral("magnet:?xt=urn:btmh:1220ab"));
    }

    void a_dead_node_is_explained_and_can_be_tried_at_once() {
        WindowFixture fixture;
        fixture.push("training");
        fixture.node.die(ui::Transport::End::failed, QStringLiteral("disk full"));
        QVERIFY(fixture.shows(QStringLiteral("disk full")));
        QVERIFY(fixture.button("retry")->isVisible());
        fixture.click("retry");
        QCOMPARE(fixture.node.openings.size(), 2U);
        fixture.push("training");
        QVERIFY(!fixture.button("retry")->isVisible());
    }

    void the_curve_is_told_to_screen_readers_and_read_out_by_keys_and_mouse() {
        WindowFixture fixture;
        fixture.push("training");
        auto* chart = fixture.window->findChild<ui::LossChart*>();
        QTRY_VERIFY(chart->accessibleDescription().contains(QStringLiteral("to 3.081 in round 40")));
        QVERIFY(chart->accessibleDescription().contains(QStringLiteral("3.420")));
        QVERIFY(fixture.text("lossMeaning").contains(QStringLiteral("lower is better")));
        QVERIFY(!fixture.shows(QStringLiteral("nats")));
        QVERIFY(fixture.find<QLabel>("lossMeaning")->toolTip().contains(QStringLiteral("nats per token")));
        fixture.find<QCheckBox>("trainingLoss")->click();
        QVERIFY(chart->accessibleDescription().contains(QStringLiteral("round 42")));
        QVERIFY(!chart->accessibleDescription().contains(QStringLiteral("3.420")));
        QCOMPARE(chart->readOut(), QString());
        QTest::keyClick(chart, Qt::Key_End);
        QVERIFY(chart->readOut().startsWith(QStringLiteral("Round 42:")));
        QTest::keyClick(chart, Qt::Key_Left);
        QVERIFY(chart->readOut().startsWith(QStringLiteral("Round 41:")));
        QTest::mouseMove(chart, QPoint(chart->width() / 2, chart->height() / 2));
        QTRY_VERIFY(!chart->readOut().startsWith(QStringLiteral("Round 41:")));
        const QString halfway = chart->readOut();
        QVERIFY2(!halfway.isEmpty() && !halfway.startsWith(QStringLiteral("Round 42:")), qPrintable(halfway));
    }

    void a_chart_survives_losses_that_are_no_numbers() {
        ui::LossChart chart;
        chart.resize(400, 200);
        chart.show({{0, std::nan(""), 0}, {1, std::numeric_limits<double>::infinity(), 0}}, std::nan(""));
        QVERIFY(!chart.grab().isNull());
        chart.show({{5, 3.0, 0}}, 3.0);
        QVERIFY(!chart.grab().isNull());
    }

    void the_training_loss_never_stands_beside_validation_and_baseline() {
        ui::LossChart chart;
        chart.resize(500, 300);
        chart.show({{1, 3.0, 0, 0}, {2, 2.5, 0, 0}, {2, 0, 0, 2.75}, {3, 2.25, 0, 0}}, 2.9);
        const QString told = chart.accessibleDescription();
        QVERIFY2(told.contains("value on new text went from 2.750 in round 2 to 2.750"), qPrintable(told));
        QVERIFY2(told.contains("which token follows which reaches 2.900"), qPrintable(told));
        QVERIFY2(!told.contains("training"), qPrintable(told));
        QTest::keyClick(&chart, Qt::Key_Home);
        QCOMPARE(chart.readOut(), QStringLiteral("Round 2: 2.750 on new text"));
        const QImage model = chart.grab().toImage();
        chart.setShown(ui::LossChart::Losses::training);
        QVERIFY(chart.grab().toImage() != model);
        const QString members = chart.accessibleDescription();
        QVERIFY2(members.contains("in training went from 3.000 in round 1 to 2.250 in round 3"), qPrintable(members));
        QVERIFY2(!members.contains("2.900"), qPrintable(members));
        QTest::keyClick(&chart, Qt::Key_Home);
        QTest::keyClick(&chart, Qt::Key_Right);
        QCOMPARE(chart.readOut(), QStringLiteral("Round 2: 2.500 in training"));
        chart.show({{7, 0, 0, 2.5}}, 0);  // there is no other
        QTest::keyClick(&chart, Qt::Key_End);
        QCOMPARE(chart.readOut(), QStringLiteral("Round 7: 2.500 on new text"));
    }

    void rounds_that_were_never_seen_are_a_gap_in_the_line() {
        const auto drawn = [](std::vector<control::CurvePoint> points) {
            ui::LossChart chart;
            chart.resize(600, 300);
            chart.show(std::move(points), 0);
            return chart.grab().toImage();
        };
        const auto pixels = [](const QImage& image, const QColor& colour) {
            int count = 0;
            for (int y = 60; y < image.height(); ++y) {
                for (int x = image.width() / 4; x < image.width() / 2; ++x) count += image.pixelColor(x, y) == colour;
            }
            return count;
        };
        const QColor line = qApp->palette().color(QPalette::Link);
        std::vector<control::CurvePoint> all;
        for (std::uint64_t round = 0; round <= 20; ++round) all.push_back({round, 0, 0, 4.69});
        QVERIFY(pixels(drawn(all), line) > 100);
        // A late joiner knows the first state and what came after round 14.
        all.erase(all.begin() + 1, all.begin() + 14);
        QCOMPARE(pixels(drawn(all), line), 0);
    }

    void the_legend_lies_above_the_plot() {
        ui::LossChart chart;
        chart.resize(600, 300);
        chart.show({{1, 0, 0, 5.0}, {2, 0, 0, 4.0}, {3, 0, 0, 2.0}}, 2.5);
        const QColor line = qApp->palette().color(QPalette::Link);
        const QImage image = chart.grab().toImage();
        // The curve's highest point is a square of its colour at the plot's left edge: below both lines of the legend.
        const int legend = 2 * QFontMetrics(ui::smallFont(chart)).height();
        int highest = image.height();
        for (int y = legend; y < image.height() && highest == image.height(); ++y) {
            for (int x = 0; x < image.width(); ++x) {
                if (image.pixelColor(x, y) == line) highest = y;
            }
        }
        QVERIFY2(highest > legend && highest < image.height() / 2, qPrintable(QString::number(highest)));
    }

    void the_curve_is_smoothed_by_a_switch_and_read_out_as_it_is() {
        ui::LossChart chart;
        chart.resize(600, 300);
        chart.show({{1, 3.0, 0, 0}, {2, 1.0, 0, 0}, {2, 0, 0, 2.5}, {3, 3.0, 0, 0}}, 0);
        chart.setShown(ui::LossChart::Losses::training);
        const QImage raw = chart.grab().toImage();
        chart.setSmoothing(ui::LossChart::Smoothing::light);
        QVERIFY(chart.grab().toImage() != raw);
        QTest::keyClick(&chart, Qt::Key_Home);
        QTest::keyClick(&chart, Qt::Key_Right);
        QCOMPARE(chart.readOut(), QStringLiteral("Round 2: 1.000 in training"));
        QEvent leave(QEvent::Leave);
        QCoreApplication::sendEvent(&chart, &leave);
        chart.setSmoothing(ui::LossChart::Smoothing::off);
        QVERIFY(chart.grab().toImage() == raw);

        WindowFixture fixture;
        fixture.push("training");
        auto* shown = fixture.window->findChild<ui::LossChart*>();
        fixture.find<QCheckBox>("trainingLoss")->click();
        const QImage before = shown->grab().toImage();
        fixture.find<QCheckBox>("smoothLoss")->click();
        QVERIFY(shown->grab().toImage() != before);
    }

    void the_curve_is_drawn_over_rounds_or_tokens_by_a_switch() {
        ui::LossChart chart;
        chart.resize(600, 300);
        // A long round, then short ones: over tokens the curve is another.
        chart.show({{1, 3.0, 0, 0, 8'000}, {2, 1.0, 0, 0, 9'000}, {3, 0, 0, 2.5}, {3, 2.0, 0, 0, 10'000}}, 0);
        chart.setShown(ui::LossChart::Losses::training);
        const QImage rounds = chart.grab().toImage();
        chart.setAxis(ui::LossChart::Axis::tokens);
        QVERIFY(chart.grab().toImage() != rounds);
        QTest::keyClick(&chart, Qt::Key_Home);
        QCOMPARE(chart.readOut(), QStringLiteral("Round 1: 3.000 in training, %1 tokens").arg(ui::shortCount(8'000)));
        QTest::keyClick(&chart, Qt::Key_End);
        QCOMPARE(chart.readOut(), QStringLiteral("Round 3: 2.000 in training, %1 tokens").arg(ui::shortCount(10'000)));
        chart.show({{0, 0, 0, 4.0}, {2, 0, 0, 2.5, 5'000}}, 0);
        QTest::keyClick(&chart, Qt::Key_End);
        QCOMPARE(chart.readOut(), QStringLiteral("Round 2: 2.500 on new text, %1 tokens").arg(ui::shortCount(5'000)));
        chart.show({{1, 3.0, 0, 0}, {2, 1.0, 0, 0}}, 0);  // nobody has counted
        QTest::keyClick(&chart, Qt::Key_End);
        QCOMPARE(chart.readOut(), QStringLiteral("Round 2: 1.000 in training"));

        WindowFixture fixture;
        auto curve = recorded("curve");
        std::uint64_t tokens = 0;
        for (auto& point : curve.at("points")) point["tokens"] = tokens += 1'000 * (1 + tokens / 10'000);
        fixture.node.answer(control::ReadCurve::name, curve);
        fixture.push("training");
        auto* shown = fixture.window->findChild<ui::LossChart*>();
        const QImage before = shown->grab().toImage();
        fixture.find<QCheckBox>("lossByTokens")->click();
        QVERIFY(shown->grab().toImage() != before);
    }

    void everything_can_be_reached_by_the_tab_key() {
        WindowFixture fixture;
        fixture.push("before_joining");
        fixture.type("invite", cookbooks);
        QSet<QWidget*> reached;
        for (int press = 0; press < 40; ++press) {
            QTest::keyClick(QApplication::focusWidget(), Qt::Key_Tab);
            reached.insert(QApplication::focusWidget());
        }
        for (const char* name : {"invite", "paste", "open", "join"})
            QVERIFY2(reached.contains(fixture.find<QWidget>(name)), name);
    }
};

QTEST_MAIN(TestHomePage)
#include "test_home_page.moc"
