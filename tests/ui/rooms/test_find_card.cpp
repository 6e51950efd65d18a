// The first page of somebody without an invite: what is announced, in the order of who vouches for it, by mouse and by
// keyboard, with strangers folded away and hidden ones gone for good.
#include <QCheckBox>
#include <QComboBox>
#include <QMenu>
#include <QPushButton>

#include "tests/ui/window_fixture.h"
#include "ui/find/find_card.h"
#include "ui/find/found_run_card.h"
#include "ui/find/found_words.h"

using namespace potluck;
using namespace potluck::tests;

namespace {

control::FoundRun foundRun(std::size_t number) {
    control::FoundRuns found;
    POTLUCK_CHECK(control::from_json(recorded("found_runs"), found).ok());
    return found.rows.at(number);
}

ui::FoundDevices foundDevices() {
    ui::FoundDevices devices{.state = ui::FoundDevices::State::here, .problem = {}, .found = {}};
    POTLUCK_CHECK(control::from_json(recorded("found_devices"), devices.found).ok());
    return devices;
}

struct Finding : WindowFixture {
    explicit Finding(nlohmann::json found = recorded("found_runs")) {
        node.answer(control::FindRuns::name, std::move(found));
        node.answer(control::ReadDevices::name, recorded("found_devices"));
        push("before_joining");
        POTLUCK_CHECK(QTest::qWaitFor([this] { return node.count("find_runs") > 0; }, 5000));
        settle();
    }
    /// Names of the runs that are shown, from top to bottom.
    [[nodiscard]] QStringList names() const {
        QList<QLabel*> labels = window->findChildren<QLabel*>(QStringLiteral("foundName"));
        labels.removeIf([](const QLabel* one) { return !one->isVisible(); });
        std::ranges::sort(labels, {}, [this](const QLabel* one) { return one->mapTo(window.get(), QPoint(0, 0)).y(); });
        QStringList names;
        for (const QLabel* one : labels) names << one->text();
        return names;
    }
    [[nodiscard]] ui::FoundRunCard* card(const QString& name) const {
        for (auto* one : window->findChildren<ui::FoundRunCard*>()) {
            if (one->isVisible() && one->accessibleName() == name) return one;
        }
        return nullptr;
    }
    void press(const QString& name, const char* which) const {
        QTest::mouseClick(card(name)->findChild<QPushButton*>(QLatin1String(which)), Qt::LeftButton);
    }
    [[nodiscard]] QAction* hiding(const QString& name, int number) const {
        return card(name)->findChild<QMenu*>()->actions().at(number);
    }
};

const QString recipes = QStringLiteral("Recipes of the world"), letters = QStringLiteral("Family letters");
const QString pictures = QStringLiteral("Everything, in pictures");

}  // namespace

class TestFindCard : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() { QLocale::setDefault(QLocale::c()); }

    void vouched_ones_stand_first_and_strangers_are_folded() {
        const Finding fixture;
        QCOMPARE(fixture.names(), QStringList({recipes, letters}));
        QVERIFY(fixture.shows(QStringLiteral("In your network")));
        QVERIFY(!fixture.find<QLabel>("findWarning")->isVisible());
        QVERIFY(fixture.button("findUnfold")->text().contains(QStringLiteral("(1)")));
        fixture.click("findUnfold");
        QCOMPARE(fixture.names(), QStringList({recipes, letters, pictures}));
        QVERIFY(fixture.text("findWarning").contains(QStringLiteral("may be made up")));
        fixture.click("findUnfold");
        QCOMPARE(fixture.names(), QStringList({recipes, letters}));
    }

    void a_card_says_what_the_run_is_and_how_far() {
        const Finding fixture;
        const QString progress = fixture.card(recipes)->findChild<QLabel*>(QStringLiteral("foundProgress"))->text();
        QVERIFY(progress.contains(QStringLiteral("Round 118 of 400")));
        QVERIFY(progress.contains(QStringLiteral("loss 3.41 (baseline 4.87)")));
        QVERIFY2(progress.contains(QStringLiteral("2 day(s) left")), qPrintable(progress));
        QVERIFY(progress.contains(QStringLiteral("6 volunteer(s)")));
        const QString what = fixture.card(recipes)->findChild<QLabel*>(QStringLiteral("foundWhat"))->text();
        for (const char* part : {"CC0-1.0", "Deutsch", "GPT-2", "hosted by Béa (a1a1a1a1a1a1a1a", "520 MB"})
            QVERIFY2(what.contains(QString::fromUtf8(part)), qPrintable(what));
        QVERIFY(fixture.card(recipes)
                    ->findChild<QLabel*>(QStringLiteral("foundLine"))
                    ->text()
                    .contains(QStringLiteral("kitchen club")));
    }

    void whether_this_computer_can_help_follows_from_its_devices() {
        const ui::FoundDevices devices = foundDevices();
        QCOMPARE(ui::fitOf(foundRun(0), devices), ui::Fit::yes);
        QCOMPARE(ui::fitOf(foundRun(2), devices), ui::Fit::no);
        control::FoundRun large = foundRun(0);
        large.memory = 20'000'000'000;
        QCOMPARE(ui::fitOf(large, devices), ui::Fit::perhaps);
        QCOMPARE(ui::fitOf(large, {}), ui::Fit::unknown);
        ui::FoundDevices none = devices;
        for (control::DeviceRow& row : none.found.devices) row.usable = false;
        QCOMPARE(ui::fitOf(foundRun(0), none), ui::Fit::no);
        ui::NodeView view;
        view.devices = devices;
        QVERIFY(ui::helpText(foundRun(0), view).contains(QStringLiteral("RTX 3060")));
        // 0.4 of 24 TFLOP/s, for a token that costs 8.6e8: 11 k tokens a second.
        control::FoundRun told = foundRun(0);
        told.flops = 8.6e8;
        const QString fast = ui::helpText(told, view);
        QVERIFY2(fast.contains(QStringLiteral("about 11.2")) && fast.contains(QStringLiteral("tokens per second")),
                 qPrintable(fast));
        QVERIFY2(fast.contains(QStringLiteral("2.0")) && fast.contains(QStringLiteral("12.0")), qPrintable(fast));
        QVERIFY(ui::helpText(foundRun(2), view).contains(QStringLiteral("Too large")));
    }

    void a_host_that_has_been_silent_is_told_so() {
        const control::FoundRun run = foundRun(0);
        QVERIFY(!ui::progressText(run, run.made + 1'799).contains(QStringLiteral("as its host said")));
        QVERIFY(ui::progressText(run, run.made + 2'400).contains(QStringLiteral("as its host said 40 min")));
    }

    void a_host_in_whose_run_one_has_trained_vouches() {
        control::FoundRuns found;
        POTLUCK_CHECK(control::from_json(recorded("found_runs"), found).ok());
        found.rows[2].vouched_by = control::VouchedBy::friends;
        const Finding fixture{to_json(found)};
        QCOMPARE(fixture.names(), QStringList({recipes, pictures, letters}));
        QVERIFY(fixture.card(pictures)
                    ->findChild<QLabel*>(QStringLiteral("foundLine"))
                    ->text()
                    .contains(QStringLiteral("trained in a run of this host")));
    }

    void a_run_without_a_trainer_here_says_so_and_starts_none() {
        Finding fixture{to_json(control::FoundRuns{})};
        control::NodeSnapshot node = recordedSnapshot("before_joining");
        node.releases = control::ReleaseState{};
        fixture.node.push(node);
        fixture.node.answer(control::FindRuns::name, recorded("found_runs"));
        QTRY_COMPARE_WITH_TIMEOUT(fixture.names().size(), 2, 5000);
        QCOMPARE(fixture.node.count("devices"), 0);
        QVERIFY(fixture.text("foundHelp").contains(QStringLiteral("not installed")));
    }

    void one_press_previews_and_joins_nothing_and_one_more_joins() {
        Finding fixture;
        fixture.node.answer(control::LookAtRun::name, recorded("offered_run"));
        fixture.press(recipes, "foundLook");
        QTRY_VERIFY(fixture.card(recipes)->findChild<QLabel*>(QStringLiteral("offerTitle")) != nullptr);
        QTRY_VERIFY(fixture.card(recipes)->findChild<QLabel*>(QStringLiteral("offerTitle"))->isVisible());
        QCOMPARE(fixture.node.lastParams("look_at_run").at("invite").get<std::string>(), foundRun(0).magnet);
        QCOMPARE(fixture.node.count("join"), 0);
        fixture.press(recipes, "foundJoin");
        QTRY_COMPARE(fixture.node.count("join"), 1);
        QCOMPARE(fixture.node.lastParams("join").at("invite").get<std::string>(), foundRun(0).magnet);
    }

    void a_refused_join_is_told_above_the_cards() {
        Finding fixture;
        fixture.node.refuse("join", "This run is full.");
        fixture.press(recipes, "foundJoin");
        QTRY_COMPARE(fixture.text("findProblem"), QStringLiteral("This run is full."));
    }

    void filters_leave_out_what_one_does_not_look_for() {
        const Finding fixture;
        fixture.click("findUnfold");
        auto* language = fixture.find<QComboBox>("findLanguage");
        language->setCurrentIndex(language->findData(QStringLiteral("de")));
        emit language->activated(language->currentIndex());
        QCOMPARE(fixture.names(), QStringList({recipes}));
        language->setCurrentIndex(0);
        emit language->activated(0);
        auto* family = fixture.find<QComboBox>("findFamily");
        family->setCurrentIndex(family->findData(QStringLiteral("SwAV")));
        emit family->activated(family->currentIndex());
        QCOMPARE(fixture.names(), QStringList({pictures}));
        QTRY_VERIFY(fixture.client.view().devices.state == ui::FoundDevices::State::here);
        fixture.find<QCheckBox>("findFits")->click();
        QVERIFY(fixture.names().isEmpty());
        QVERIFY(fixture.text("findStatus").contains(QStringLiteral("of this kind")));
    }

    void a_run_or_a_host_is_hidden_for_good() {
        Finding fixture;
        fixture.hiding(recipes, 0)->trigger();
        QCOMPARE(fixture.names(), QStringList({letters}));
        QVERIFY(fixture.choices.value(QStringLiteral("hidden-run-") + QString(64, u'1')));
        fixture.hiding(letters, 1)->trigger();
        QVERIFY(fixture.names().isEmpty());
        QVERIFY(fixture.choices.value(QStringLiteral("hidden-host-") + QStringLiteral("b2").repeated(32)));
        fixture.click("findUnhide");
        QCOMPARE(fixture.names(), QStringList({recipes, letters}));
    }

    void an_answer_moves_no_focus_and_closes_no_preview() {
        Finding fixture;
        ui::FoundRunCard* card = fixture.card(recipes);
        fixture.press(recipes, "foundLook");
        auto* button = card->findChild<QPushButton*>(QStringLiteral("foundJoin"));
        button->setFocus();
        nlohmann::json later = recorded("found_runs");
        later["rows"][0]["round"] = 119;
        std::swap(later["rows"][0], later["rows"][1]);
        fixture.node.answer(control::FindRuns::name, later);
        const int asked = fixture.node.count("find_runs");
        QTRY_VERIFY_WITH_TIMEOUT(fixture.node.count("find_runs") > asked, 5000);
        WindowFixture::settle();
        QCOMPARE(fixture.card(recipes), card);
        QCOMPARE(QApplication::focusWidget(), button);
        QVERIFY(card->findChild<QLabel*>(QStringLiteral("foundProgress"))->text().contains(QStringLiteral("119")));
    }

    void the_page_does_not_search_while_hidden_or_during_a_run() {
        Finding fixture;
        fixture.window->showPage(ui::MainWindow::settings_page);
        WindowFixture::settle();
        const int hidden = fixture.node.count("find_runs");
        QTest::qWait(1'300);
        QCOMPARE(fixture.node.count("find_runs"), hidden);
        fixture.push("training");
        fixture.window->showPage(ui::MainWindow::home_page);
        QTest::qWait(1'300);
        QCOMPARE(fixture.node.count("find_runs"), hidden);
    }

    void many_strangers_are_shown_some_at_a_time() {
        nlohmann::json many = recorded("found_runs");
        const nlohmann::json one = many["rows"][2];
        for (int i = 0; i < 49; ++i) {
            nlohmann::json next = one;
            next["host"] = QStringLiteral("%1").arg(i, 64, 16, QLatin1Char('0')).toStdString();
            many["rows"].push_back(next);
        }
        const Finding fixture(many);
        fixture.click("findUnfold");
        QCOMPARE(fixture.names().size(), 2 + 20);
        fixture.click("findMore");
        QCOMPARE(fixture.names().size(), 2 + 40);
        fixture.click("findMore");
        QCOMPARE(fixture.names().size(), 2 + 50);
        QVERIFY(!fixture.button("findMore")->isVisible());
    }

    void one_press_starts_a_short_run_alone() {
        Finding fixture;
        fixture.node.hold("host");
        fixture.click("tryAlone");
        WindowFixture::settle();
        const nlohmann::json choices = fixture.node.lastParams("host").at("choices");
        QVERIFY(choices.at("data").get<std::string>().ends_with("/try-it-here.txt"));
        QCOMPARE(choices.at("admission").get<std::string>(), std::string("listed"));
        QCOMPARE(choices.at("allowed"), nlohmann::json({fixture.client.view().snapshot.peer_id}));
        QVERIFY(choices.at("rounds").get<int>() * choices.at("window_seconds").get<int>() <= 180);
        QVERIFY(!fixture.button("tryAlone")->isEnabled());
        fixture.click("tryAlone");
        QCOMPARE(fixture.node.count("host"), 1);
        fixture.node.release("host");
        fixture.push("training");
        QVERIFY(
            fixture.find<QWidget>("members")->isVisible());  // at home, where it trains, and not on the invite's page
    }

    void a_run_alone_that_cannot_be_made_says_why() {
        Finding fixture;
        fixture.textAllowed = false;
        fixture.click("tryAlone");
        QCOMPARE(fixture.node.count("host"), 0);
        QCOMPARE(fixture.text("findProblem"), QStringLiteral("No."));
        fixture.textAllowed = true;
        fixture.node.refuse("host", "This disk is full.");
        fixture.click("tryAlone");
        QTRY_COMPARE(fixture.text("findProblem"), QStringLiteral("This disk is full."));
        QVERIFY(fixture.button("tryAlone")->isEnabled());
    }

    void the_tab_key_goes_through_the_cards_as_they_stand() {
        const Finding fixture;
        fixture.click("findUnfold");
        QStringList way;
        fixture.find<QCheckBox>("findFits")->setFocus();
        for (int press = 0; press < 12; ++press) {
            QTest::keyClick(QApplication::focusWidget(), Qt::Key_Tab);
            way << QApplication::focusWidget()->accessibleName();
        }
        const QStringList wanted{QStringLiteral("Preview of ") + recipes,
                                 QStringLiteral("Join ") + recipes,
                                 QStringLiteral("Hide ") + recipes,
                                 QStringLiteral("Preview of ") + letters,
                                 QStringLiteral("Join ") + letters,
                                 QStringLiteral("Hide ") + letters,
                                 QString(),
                                 QStringLiteral("Preview of ") + pictures,
                                 QStringLiteral("Join ") + pictures,
                                 QStringLiteral("Hide ") + pictures};
        QCOMPARE(way.first(10), wanted);
    }
};

QTEST_MAIN(TestFindCard)
#include "test_find_card.moc"
