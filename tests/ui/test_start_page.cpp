// Starting a run by clicks and keys: the form, the plan beside it, what is said of what cannot stand, the making, and
// the invite afterwards.
#include <QClipboard>
#include <QComboBox>
#include <QFileDialog>
#include <QPlainTextEdit>
#include <QProgressBar>
#include <QScrollArea>
#include <QSpinBox>

#include "tests/ui/window_fixture.h"
#include "ui/widgets/path_field.h"
#include "ui/widgets/qr_code.h"

using namespace potluck;
using namespace potluck::tests;

namespace {

control::RunOptions options() {
    control::RunOptions known;
    known.models = {{"tiny", 842'496, 128}, {"small", 10'844'160, 256}, {"gpt2", 124'439'808, 1024}};
    known.models.push_back({"coder-small", 657'031, 3072, control::DataKind::pictures});
    known.gpus = {"RTX 3060", "H100"};
    return known;
}

control::RunEstimate estimate() {
    control::RunEstimate plan;
    plan.model = "GPT-2 shape, 6 layers, width 384: 10.8 M parameters";
    plan.parameters = 10'844'160;
    plan.data_bytes = 12'000'000;
    plan.data_files = 3;
    plan.data_tokens = 12'000'000;
    plan.tokens = 216'883'200;
    plan.rounds = 4338;
    plan.window_seconds = 5;
    plan.days = 4338 * 5.0 / 86'400;
    plan.days_here = 2.5;
    plan.worth_low = 2.66;
    plan.worth_high = 3.98;
    plan.disk = 300'000'000;
    plan.disk_free = 66'000'000'000;
    plan.device = "cpu";
    plan.ram_peak = 200'000'000;
    plan.tokens_per_second = 1000;
    return plan;
}

/// A window on the start page, over a node that knows what may be chosen.
struct StartFixture : WindowFixture {
    explicit StartFixture(const control::RunEstimate& plan = estimate()) {
        node.answer(control::ReadRunOptions::name, to_json(options()));
        node.answer(control::EstimateRun::name, to_json(plan));
        push("before_joining");
        window->resize(1000, 1500);  // all of it can be clicked without scrolling
        click("startOwn");
        settle();
    }
    [[nodiscard]] nlohmann::json asked() const { return node.lastParams("estimate_run"); }
    void fillIn() const {
        type("data", QStringLiteral("/home/ada/recipes"));
        type("runTitle", QStringLiteral("Recipes"));
    }
    /// Types all, and waits for the node's word on it.
    [[nodiscard]] bool planned() {
        fillIn();
        return QTest::qWaitFor([&] { return text("planModel").contains(QStringLiteral("6 layer")); }, 5000);
    }
};

control::RunEstimate with(control::ChoiceField place, const char* sentence) {
    control::RunEstimate plan = estimate();
    plan.problems.push_back({place, sentence});
    return plan;
}

}  // namespace

class TestStartPage : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() { QLocale::setDefault(QLocale::c()); }

    void home_leads_to_an_empty_form_without_reproach() {
        StartFixture fixture;
        QVERIFY(fixture.button("startRun")->isVisible());
        QVERIFY(fixture.button("startRun")->isEnabled());
        QCOMPARE(fixture.node.count("estimate_run"), 0);
        QVERIFY(!fixture.find<QLabel>("dataProblem")->isVisible());
        QCOMPARE(fixture.find<QComboBox>("model")->currentData().toString(), QStringLiteral("small"));
    }

    void the_plan_follows_what_is_typed() {
        StartFixture fixture;
        QVERIFY(fixture.planned());
        QTRY_COMPARE(fixture.asked().at("choices").at("name").get<std::string>(), "Recipes");
        QCOMPARE(fixture.asked().at("choices").at("data").get<std::string>(), "/home/ada/recipes");
        QVERIFY(fixture.text("planData").contains(QStringLiteral("12.0 MB")));
        QVERIFY(fixture.text("planTime").contains(QStringLiteral("in 4338 rounds")));
        QVERIFY(fixture.text("planTokens").contains(QStringLiteral("18.1 times")));
        QCOMPARE(fixture.text("planMoney"), QStringLiteral("–"));
        QCOMPARE(fixture.find<QLabel>("planMoney")->accessibleName(),
                 QStringLiteral("Electricity of all GPUs: not known"));
    }

    void only_an_open_run_is_announced_and_only_if_asked() {
        StartFixture fixture;
        QVERIFY(fixture.planned());
        QCOMPARE(fixture.asked().at("choices").value("announces", false), false);
        QVERIFY(!fixture.find<QComboBox>("runLanguage")->isVisible());
        fixture.click("announces");
        QVERIFY(fixture.text("announceNote").contains(QStringLiteral("address")));
        auto* language = fixture.find<QComboBox>("runLanguage");
        language->setCurrentIndex(language->findData(QStringLiteral("de")));
        fixture.type("runPage", QStringLiteral("https://example.org/kitchen"));
        QTRY_COMPARE(fixture.asked().at("choices").value("page", ""), std::string("https://example.org/kitchen"));
        QCOMPARE(fixture.asked().at("choices").value("announces", false), true);
        QCOMPARE(fixture.asked().at("choices").value("language", ""), std::string("de"));
        fixture.click("listed");
        QVERIFY(!fixture.button("announces")->isEnabled());
        QVERIFY(!language->isVisible());
        QTRY_COMPARE(fixture.asked().at("choices").value("announces", false), false);
        QCOMPARE(fixture.asked().at("choices").value("page", ""), std::string("https://example.org/kitchen"));
    }

    void the_plan_says_what_the_crowd_is_worth() {
        StartFixture fixture;
        QVERIFY(fixture.planned());
        QCOMPARE(fixture.text("planWorth"), QStringLiteral("2.7 to 4.0 computers that train alone"));
        QVERIFY(!fixture.find<QLabel>("planDoubts")->isVisible());
    }

    void too_little_text_and_too_long_a_run_are_warned_of() {
        control::RunEstimate plan = estimate();
        plan.days = 214.9;
        plan.data_tokens = plan.tokens / 286;
        plan.warnings = {control::PlanWarning::repeats, control::PlanWarning::length};
        StartFixture fixture(plan);
        QVERIFY(fixture.planned());
        QVERIFY(fixture.find<QLabel>("planDoubts")->isVisible());
        QVERIFY(fixture.text("planDoubts").contains(QStringLiteral("286 times")));
        QVERIFY(fixture.text("planDoubts").contains(QStringLiteral("take 214")));
        fixture.click("startRun");  // a warning forbids nothing
        QCOMPARE(fixture.node.count("host"), 1);
    }

    void another_choice_leaves_no_old_figure_beside_it() {
        StartFixture fixture;
        QVERIFY(fixture.planned());
        fixture.type("runTitle", QStringLiteral("Others"));  // which changes no figure
        QVERIFY(fixture.text("planTime").contains(QStringLiteral("4338")));
        QTRY_COMPARE(fixture.asked().at("choices").at("name").get<std::string>(), "Others");
        WindowFixture::settle();
        fixture.node.hold("estimate_run");
        fixture.find<QComboBox>("model")->setCurrentIndex(0);
        for (const char* row : {"planModel", "planTime", "planTokens", "planWorth", "planAlone", "planDisk"})
            QCOMPARE(fixture.text(row), QStringLiteral("–"));
        QCOMPARE(fixture.text("planState"), QStringLiteral("Planning…"));
        QTRY_COMPARE(fixture.asked().at("choices").at("model").get<std::string>(), "tiny");
        fixture.find<QSpinBox>("volunteers")->setValue(50);
        fixture.node.release("estimate_run");  // the answer for ten volunteers is of no use any more
        fixture.node.hold("estimate_run");
        QTRY_COMPARE(fixture.asked().at("volunteers").get<int>(), 50);
        QCOMPARE(fixture.text("planModel"), QStringLiteral("–"));
        fixture.node.release("estimate_run");
        QTRY_VERIFY(fixture.text("planModel").contains(QStringLiteral("6 layer")));
    }

    void a_plan_that_failed_may_be_tried_again() {
        StartFixture fixture;
        QVERIFY(!fixture.button("planAgain")->isVisible());
        fixture.node.refuse("estimate_run", "Another run is being planned; ask again in a moment.");
        fixture.fillIn();
        QTRY_VERIFY(fixture.button("planAgain")->isVisible());
        QCOMPARE(fixture.text("planWarning"), QStringLiteral("Another run is being planned; ask again in a moment."));
        QVERIFY(!fixture.find<QLabel>("planState")->isVisible());
        const int asked = fixture.node.count("estimate_run");
        fixture.click("planAgain");
        QCOMPARE(fixture.node.count("estimate_run"), asked + 1);
    }

    void a_plan_without_a_trainers_answer_may_be_tried_again() {
        StartFixture fixture(with(control::ChoiceField::trainer, "The trainer did not answer; try again."));
        QVERIFY(fixture.planned());
        QVERIFY(fixture.button("planAgain")->isVisible());
        const int asked = fixture.node.count("estimate_run");
        fixture.click("planAgain");
        QCOMPARE(fixture.node.count("estimate_run"), asked + 1);
    }

    void a_keystroke_is_not_a_question() {
        StartFixture fixture;
        fixture.fillIn();
        QCOMPARE(fixture.node.count("estimate_run"), 0);
        QTRY_COMPARE(fixture.node.count("estimate_run"), 1);
    }

    void input_typed_during_an_estimate_is_estimated_after_it() {
        StartFixture fixture;
        fixture.node.hold("estimate_run");
        fixture.fillIn();
        QTRY_COMPARE(fixture.node.count("estimate_run"), 1);
        fixture.type("runTitle", QStringLiteral("Others"));
        QTest::qWait(600);
        QCOMPARE(fixture.node.count("estimate_run"), 1);
        fixture.node.release("estimate_run");
        QTRY_COMPARE(fixture.node.count("estimate_run"), 2);
        QCOMPARE(fixture.asked().at("choices").at("name").get<std::string>(), "Others");
    }

    void every_choice_reaches_the_node() {
        StartFixture fixture;
        fixture.fillIn();
        fixture.click("dataTokens");
        fixture.click("modelTrained");
        fixture.type("checkpoint", QStringLiteral("/models/gpt2"));
        fixture.type("tokenizer", QStringLiteral("/models/tokenizer.json"));
        fixture.find<QPlainTextEdit>("purpose")->setPlainText(QStringLiteral("To cook."));
        fixture.find<QComboBox>("licence")->setCurrentText(QStringLiteral("MIT"));
        fixture.find<QComboBox>("optimizer")->setCurrentIndex(2);
        fixture.find<QComboBox>("gpu")->setCurrentIndex(1);
        fixture.find<QSpinBox>("volunteers")->setValue(50);
        fixture.find<QSpinBox>("rounds")->setValue(77);
        fixture.find<QSpinBox>("context")->setValue(64);
        fixture.click("listed");
        fixture.find<QPlainTextEdit>("keys")->setPlainText(QString(64, 'a') + "\n" + QString(70, 'b'));
        fixture.click("trainsHere");
        QTRY_COMPARE(fixture.node.count("estimate_run"), 1);
        const nlohmann::json asked = fixture.asked();
        QCOMPARE(asked.at("gpu").get<std::string>(), "RTX 3060");
        QCOMPARE(asked.at("volunteers").get<int>(), 50);
        const auto choices = control::read_as<control::RunChoices>(asked.at("choices"));
        QVERIFY(choices.ok());
        QVERIFY(choices->data_kind == control::DataKind::tokens);
        QCOMPARE(choices->checkpoint, std::string("/models/gpt2"));
        QCOMPARE(choices->tokenizer, std::string("/models/tokenizer.json"));
        QCOMPARE(choices->purpose, std::string("To cook."));
        QCOMPARE(choices->licence, std::string("MIT"));
        QVERIFY(choices->optimizer == run::Optimizer::muon);
        QCOMPARE(choices->rounds, std::uint64_t{77});
        QCOMPARE(choices->context, 64U);
        QVERIFY(choices->role == run::Role::backbone);
        // A key that is too long is not cut to one that is right.
        QCOMPARE(choices->allowed, (std::vector<std::string>{std::string(64, 'a'), std::string(32, 'b')}));
    }

    void pictures_are_for_a_picture_coder_which_has_no_tokens() {
        StartFixture fixture;
        fixture.fillIn();
        auto* model = fixture.find<QComboBox>("model");
        QVERIFY(model->findData("coder-small") < 0);
        fixture.type("tokenizer", QStringLiteral("/models/tokenizer.json"));
        fixture.find<QSpinBox>("context")->setValue(64);
        fixture.click("dataPictures");
        QCOMPARE(model->count(), 1);
        QVERIFY(!fixture.find<QSpinBox>("context")->isVisible());
        QTRY_VERIFY(fixture.node.count("estimate_run") >= 1);
        QTRY_COMPARE(fixture.asked().at("choices").at("data_kind").get<std::string>(), "pictures");
        const auto choices = control::read_as<control::RunChoices>(fixture.asked().at("choices"));
        QVERIFY(choices.ok());
        QCOMPARE(choices->model, std::string("coder-small"));
        QVERIFY(choices->tokenizer.empty() && choices->context == 0);
        fixture.click("dataText");
        QCOMPARE(model->currentData().toString(), QString("small"));  // the usual one
    }

    void an_invalid_choice_is_marked_beside_its_field() {
        StartFixture fixture(
            with(control::ChoiceField::data, "There is too little text (12 kB); choose at least 100 kB."));
        QVERIFY(fixture.planned());
        QTRY_VERIFY(fixture.find<QLabel>("dataProblem")->isVisible());
        QCOMPARE(fixture.text("dataProblem"),
                 QStringLiteral("There is too little text (12 kB); choose at least 100 kB."));
        QVERIFY(!fixture.find<QLabel>("runTitleProblem")->isVisible());
        fixture.click("startRun");
        QCOMPARE(fixture.node.count("host"), 0);
        QVERIFY(fixture.text("startProblem").contains(QStringLiteral("marked in red")));
    }

    void a_missing_choice_is_marked_once_start_was_pressed() {
        StartFixture fixture(with(control::ChoiceField::name, "Give the run a name."));
        fixture.type("data", QStringLiteral("/home/ada/recipes"));
        QTRY_VERIFY(fixture.text("planModel").contains(QStringLiteral("6 layer")));
        QVERIFY(!fixture.find<QLabel>("runTitleProblem")->isVisible());
        const auto* name = fixture.find<QLineEdit>("runTitle");
        name->window()->resize(1000, 600);
        QTRY_VERIFY(name->visibleRegion().isEmpty());  // below what the window shows
        fixture.click("startRun");
        QVERIFY(fixture.find<QLabel>("runTitleProblem")->isVisible());
        QTRY_VERIFY(!name->visibleRegion().isEmpty());
        QCOMPARE(name->window()->focusWidget(), name);
        QCOMPARE(fixture.node.count("host"), 0);
    }

    void a_computer_without_a_trainer_is_warned_and_may_start() {
        StartFixture fixture(with(control::ChoiceField::trainer, "This computer cannot train."));
        QVERIFY(fixture.planned());
        QCOMPARE(fixture.text("planWarning"), QStringLiteral("This computer cannot train."));
        fixture.click("startRun");
        QCOMPARE(fixture.node.count("host"), 1);
    }

    void start_sends_the_form_with_the_planned_rounds() {
        StartFixture fixture;
        QVERIFY(fixture.planned());
        fixture.node.hold("host");
        fixture.click("startRun");
        const nlohmann::json choices = fixture.node.lastParams("host").at("choices");
        QCOMPARE(choices.at("rounds").get<int>(), 4338);
        QCOMPARE(choices.at("name").get<std::string>(), "Recipes");
        QCOMPARE(choices.at("role").get<std::string>(), "volunteer");
        QVERIFY(!fixture.button("startRun")->isVisible());  // twice would be two runs
    }

    void a_host_without_a_name_gets_one_with_its_run() {
        StartFixture fixture;
        control::NodeSnapshot node = recordedSnapshot("before_joining");
        node.name.clear();
        fixture.node.push(node);
        QVERIFY(fixture.planned());
        QVERIFY(fixture.find<QLineEdit>("hostName")->isVisible());
        fixture.type("hostName", QStringLiteral("Ada"));
        fixture.click("startRun");
        QCOMPARE(fixture.node.lastParams("set_name").at("name"), nlohmann::json("Ada"));
        QCOMPARE(fixture.node.count("host"), 1);
        node.name = "Ada";
        fixture.node.push(node);
        StartFixture::settle();
        QVERIFY(!fixture.find<QLineEdit>("hostName")->isVisible());
    }

    void a_refusal_brings_the_form_back_with_the_nodes_sentence() {
        StartFixture fixture;
        QVERIFY(fixture.planned());
        fixture.node.refuse("host", "The disk is full; make room and start again.");
        fixture.click("startRun");
        QTRY_VERIFY(fixture.button("startRun")->isVisible());
        QCOMPARE(fixture.text("startProblem"), QStringLiteral("The disk is full; make room and start again."));
        QCOMPARE(fixture.find<QLineEdit>("data")->text(), QStringLiteral("/home/ada/recipes"));
    }

    void the_making_is_shown_and_may_be_given_up() {
        StartFixture fixture;
        fixture.push("making");
        QVERIFY(fixture.text("making").contains(QStringLiteral("Recipes of my grandmother")));
        QCOMPARE(fixture.text("stage"), QStringLiteral("Turning it into tokens"));
        QVERIFY(!fixture.button("startRun")->isVisible());
        fixture.click("cancelHosting");
        QCOMPARE(fixture.node.count("cancel_hosting"), 1);
        fixture.push("before_joining");
        QVERIFY(fixture.button("startRun")->isVisible());
    }

    void afterwards_the_invite_is_there_to_copy_save_and_scan() {
        StartFixture fixture;
        QVERIFY(fixture.planned());
        fixture.click("startRun");
        fixture.push("training");
        QTRY_VERIFY(fixture.find<QPlainTextEdit>("inviteText")->isVisible());
        const QString link = fixture.find<QPlainTextEdit>("inviteText")->toPlainText();
        QVERIFY(link.startsWith(QStringLiteral("magnet:?xt=urn:btmh:1220acba")));
        QGuiApplication::clipboard()->clear();
        fixture.click("copyInviteText");
        QCOMPARE(QGuiApplication::clipboard()->text(), link);
        QVERIFY(fixture.text("inviteOutcome").contains(QStringLiteral("clipboard")));
        QVERIFY(fixture.find<QWidget>("inviteCode")->isVisible());
        fixture.click("saveInvite");
        auto* dialog = fixture.window->findChild<QFileDialog*>();
        QVERIFY(dialog != nullptr);
        emit dialog->fileSelected(QStringLiteral("/tmp/recipes.potluck"));
        dialog->close();
        QCOMPARE(fixture.writtenFile, QStringLiteral("/tmp/recipes.potluck"));
        QCOMPARE(fixture.writtenLink, link);
        fixture.click("toRun");
        QVERIFY(fixture.find<QLabel>("runName")->isVisible());
    }

    void an_invite_that_cannot_be_saved_says_so() {
        WindowFixture fixture;
        fixture.writeAllowed = false;
        fixture.push("training");
        fixture.window->showPage(ui::MainWindow::invite_page);
        fixture.click("saveInvite");
        emit fixture.window->findChild<QFileDialog*>()->fileSelected(QStringLiteral("/tmp/recipes.potluck"));
        QCOMPARE(fixture.text("inviteOutcome"), QStringLiteral("No."));
    }

    void a_link_without_an_address_says_what_that_means() {
        WindowFixture fixture;
        fixture.push("training");
        fixture.window->showPage(ui::MainWindow::invite_page);
        QVERIFY(fixture.text("inviteReach").contains(QStringLiteral("public directory")));
        control::NodeSnapshot node = recordedSnapshot("training");
        node.run->magnet += "&x.pe=192.168.1.7:6881";
        fixture.node.push(node);
        WindowFixture::settle();
        QVERIFY(fixture.text("inviteReach").contains(QStringLiteral("your network")));
        node.run->magnet += "&x.pe=203.0.113.7:6881";
        fixture.node.push(node);
        WindowFixture::settle();
        QVERIFY(fixture.text("inviteReach").contains(QStringLiteral("at once")));
    }

    void pages_of_a_run_are_there_in_a_run_only() {
        WindowFixture fixture;
        const auto entry = [&](const char* name) {
            for (const QAbstractButton* button : fixture.window->findChildren<QAbstractButton*>("navigation")) {
                if (button->accessibleName() == QLatin1String(name)) return button->isVisible();
            }
            return false;
        };
        fixture.push("before_joining");
        QVERIFY(entry("Start a run") && !entry("Invite"));
        fixture.push("training");
        QVERIFY(!entry("Start a run") && entry("Invite"));
        fixture.window->showPage(ui::MainWindow::invite_page);
        fixture.push("before_joining");
        QVERIFY(fixture.button("join")->isVisible());
    }

    void the_form_works_without_a_mouse() {
        StartFixture fixture;
        auto* data = fixture.find<QLineEdit>("data");
        data->setFocus();
        QSet<QString> reached;
        for (int i = 0; i < 60 && !reached.contains(QStringLiteral("startRun")); ++i) {
            QTest::keyClick(QApplication::focusWidget(), Qt::Key_Tab);
            reached << QApplication::focusWidget()->objectName();
        }
        for (const char* name :
             {"data-file", "data-folder", "modelFresh", "model", "tokenizer", "context", "optimizer", "runTitle",
              "purpose", "licence", "anybody", "volunteers", "gpu", "rounds", "price", "trainsHere", "startRun"}) {
            QVERIFY2(reached.contains(QLatin1String(name)), name);
        }
    }

    void every_field_has_a_name_for_screen_readers() {
        StartFixture fixture;
        fixture.click("modelTrained");
        fixture.click("listed");
        for (const QWidget* field : fixture.window->findChildren<QWidget*>()) {
            const bool takes = field->inherits("QLineEdit") || field->inherits("QPlainTextEdit") ||
                               field->inherits("QComboBox") || field->inherits("QAbstractSpinBox");
            if (!takes || !field->isVisible()) continue;
            QVERIFY2(!field->accessibleName().isEmpty(), qPrintable(field->objectName()));
        }
    }

    void a_small_window_scrolls_and_puts_the_plan_below() {
        StartFixture fixture;
        fixture.window->resize(1000, 680);
        WindowFixture::settle();
        const auto left_of = [&](const char* name) {
            return fixture.find<QWidget>(name)->mapTo(fixture.window.get(), QPoint()).x();
        };
        QVERIFY(left_of("planModel") > left_of("data") + 200);
        fixture.window->resize(640, 400);
        WindowFixture::settle();
        QCOMPARE(fixture.window->size(), QSize(640, 400));
        QVERIFY(std::abs(left_of("planModel") - left_of("data")) < 60);
        QVERIFY(fixture.find<QLineEdit>("data")->width() >= 100);
    }

    void a_code_holds_its_text_and_nothing_too_long() {
        QCOMPARE(ui::qrModules({}).side, 0);
        const ui::QrModules one = ui::qrModules(QStringLiteral("magnet:?xt=urn:btmh:1220ab"));
        QCOMPARE(one.side, 25);  // version 2 holds 26 bytes at level M
        QCOMPARE(one.dark.size(), std::size_t{25 * 25});
        QVERIFY(one.dark[0] && one.dark[6] && !one.dark[7]);  // the finder in the corner
        QVERIFY(ui::qrModules(QString(2331, 'a')).side > 0);
        QCOMPARE(ui::qrModules(QString(2332, 'a')).side, 0);
    }
};

QTEST_MAIN(TestStartPage)
#include "test_start_page.moc"
