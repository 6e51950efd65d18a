// The trainer as a download, and news of newer versions: what is shown, what is asked of the node.
#include <QCheckBox>
#include <QProgressBar>
#include <QPushButton>

#include "tests/ui/window_fixture.h"
#include "ui/pages/trainer_card.h"

using namespace potluck;
using namespace potluck::tests;

namespace {

control::ReleaseState lacking() {
    control::ReleaseState state;
    state.has_key = true;
    return state;
}

control::PackRow pack(const char* kind, std::uint64_t bytes) {
    return {.name = std::string("potluck-trainer-") + kind,
            .kind = kind,
            .magnet = "magnet:?",
            .bytes = bytes,
            .unpacked = 3 * bytes};
}

void push(WindowFixture& fixture, const control::ReleaseState& state, const char* name = "training") {
    control::NodeSnapshot snapshot = recordedSnapshot(name);
    snapshot.releases = state;
    fixture.node.push(snapshot);
    fixture.settle();
}

}  // namespace

class TestReleaseCards : public QObject {
    Q_OBJECT

private slots:
    void a_missing_trainer_is_offered_with_its_size_on_the_first_page() {
        WindowFixture fixture;
        push(fixture, lacking());
        QVERIFY(fixture.shows(QStringLiteral("cannot train yet")));
        fixture.click("lookForTrainers");
        QCOMPARE(fixture.node.count("check_releases"), 1);
        control::ReleaseState offered = lacking();
        offered.packs = {pack("cuda", 2'400'000'000), pack("cpu", 180'000'000)};
        push(fixture, offered);
        QCOMPARE(fixture.button("download-cuda")->text(), QStringLiteral("Download for NVIDIA (2.4 GB)"));
        QCOMPARE(fixture.button("download-cpu")->text(), QStringLiteral("Download for the processor (180 MB)"));
        fixture.click("download-cpu");
        QCOMPARE(fixture.node.lastParams("install_trainer").at("kind").get<std::string>(), "cpu");
    }
    void a_trainer_missing_in_a_run_is_told_by_the_run() {
        WindowFixture fixture;
        control::NodeSnapshot node = recordedSnapshot("training");
        node.why = {status::Reason::trainer_missing};
        node.activity = control::Activity::failed;
        node.releases = lacking();
        node.releases->packs = {pack("cpu", 180'000'000)};
        fixture.node.push(node);
        WindowFixture::settle();
        QCOMPARE(fixture.visibleTexts().join(QLatin1Char(' ')).count(QStringLiteral("cannot train yet")), 1);
        QVERIFY(fixture.button("download-cpu")->isVisible());
    }
    void a_download_shows_how_far_it_is_and_can_be_given_up() {
        WindowFixture fixture;
        control::ReleaseState state = lacking();
        state.stage = control::ReleaseStage::downloading;
        state.progress = 0.4;
        state.packs = {pack("cpu", 180'000'000)};
        push(fixture, state);
        QCOMPARE(fixture.find<QProgressBar>("trainerProgress")->value(), 400);
        QVERIFY(!fixture.window->findChild<QPushButton*>("download-cpu"));
        fixture.click("cancelTrainer");
        QCOMPARE(fixture.node.count("remove_trainer"), 1);
    }
    void the_focus_stays_while_snapshots_come() {
        WindowFixture fixture;
        control::ReleaseState offered = lacking();
        offered.packs = {pack("cpu", 180'000'000)};
        push(fixture, offered);
        QAbstractButton* before = fixture.button("download-cpu");
        push(fixture, offered);
        QCOMPARE(fixture.button("download-cpu"), before);
    }
    void a_trainer_that_is_there_needs_no_card() {
        WindowFixture fixture;
        control::ReleaseState state = lacking();
        state.has_trainer = true;
        push(fixture, state);
        QVERIFY(!fixture.find<QLabel>("trainerState")->isVisible());
    }
    void a_build_without_a_key_says_what_to_install() {
        WindowFixture fixture;
        push(fixture, control::ReleaseState{});
        QVERIFY(fixture.shows(QStringLiteral("Install the package potluck-trainer")));
        QVERIFY(!fixture.button("lookForTrainers")->isVisible());
    }
    void why_a_download_failed_is_told() {
        WindowFixture fixture;
        control::ReleaseState state = lacking();
        state.error = "The release index has expired; get a newer one.";
        push(fixture, state);
        QVERIFY(fixture.shows(QStringLiteral("expired")));
        fixture.node.refuse("check_releases", "A download is under way already.");
        fixture.click("lookForTrainers");
        QTRY_VERIFY(fixture.shows(QStringLiteral("under way")));
    }
    void the_settings_take_a_downloaded_trainer_back_and_say_who_passes_it_on() {
        WindowFixture fixture;
        control::ReleaseState state = lacking();
        state.has_trainer = true;
        state.installed = "cpu";
        state.looks = true;
        push(fixture, state);
        fixture.window->showPage(ui::MainWindow::settings_page);
        fixture.click("removeTrainer");
        QCOMPARE(fixture.node.count("remove_trainer"), 1);
        QVERIFY(fixture.find<QCheckBox>("passOn")->isChecked());
        fixture.button("passOn")->click();
        const nlohmann::json asked = fixture.node.lastParams("set_releases");
        QVERIFY(asked.at("looks").get<bool>() && !asked.at("passes_on").get<bool>());
    }
    void a_newer_version_is_told_and_its_page_opened_on_a_click_only() {
        WindowFixture fixture;
        control::ReleaseState state = lacking();
        state.has_trainer = true;
        state.newer = control::NewerRelease{"0.3.0", "2026-11-20", "It is faster.", "https://example.org/new"};
        push(fixture, state);
        QVERIFY(fixture.shows(QStringLiteral("Potluck 0.3.0 is out (2026-11-20): It is faster.")));
        QVERIFY(fixture.openedLink.isEmpty());
        fixture.click("openNews");
        QCOMPARE(fixture.openedLink, QStringLiteral("https://example.org/new"));
    }
    void looking_once_a_day_is_off_until_it_is_chosen() {
        WindowFixture fixture;
        control::ReleaseState state = lacking();
        state.passes_on = false;
        push(fixture, state);
        fixture.window->showPage(ui::MainWindow::settings_page);
        QVERIFY(!fixture.find<QCheckBox>("looks")->isChecked());
        fixture.button("looks")->click();
        const nlohmann::json asked = fixture.node.lastParams("set_releases");
        QVERIFY(asked.at("looks").get<bool>() && !asked.at("passes_on").get<bool>());
    }
};

QTEST_MAIN(TestReleaseCards)
#include "test_release_cards.moc"
