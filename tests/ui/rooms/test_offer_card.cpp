// A run is shown before it is joined: at once when its invite was pasted, by a press when it came from outside.
#include <QClipboard>

#include "tests/ui/window_fixture.h"
#include "ui/client/plain_text.h"

using namespace potluck;
using namespace potluck::tests;

namespace {

const QString invite = "potluck:?xt=urn:btmh:1220" + QString(64, u'a') + "&dn=Soup";

nlohmann::json soup() {
    return {{"id", std::string(64, 'a')},
            {"name", "Soup"},
            {"purpose", "Recipes, for teaching."},
            {"licence", "CC0-1.0"},
            {"host", std::string(64, 'b')},
            {"model", "GPT-2 shape, 12 layers"},
            {"parameters", 124'000'000},
            {"total_rounds", 200},
            {"window_seconds", 120},
            {"listed", false},
            {"admitted", true},
            {"peers", 3},
            {"download", 500'000'000},
            {"disk", 2'000'000'000},
            {"disk_free", 9'000'000'000},
            {"device", "cpu"},
            {"summary", "fp32"},
            {"obstacle", ""},
            {"gpu_peak", 0},
            {"ram_peak", 1'500'000'000},
            {"tokens_per_second", 9200}};
}

struct Welcome : WindowFixture {
    explicit Welcome(const nlohmann::json& run = soup()) {
        node.answer(control::LookAtRun::name, run);
        push("before_joining");
    }
    void paste() const {
        QGuiApplication::clipboard()->setText(invite);
        click("paste");
    }
};

/// What a row of the card says of this run.
QString row_of(const nlohmann::json& run, const char* row) {
    const Welcome fixture(run);
    fixture.paste();
    POTLUCK_CHECK(QTest::qWaitFor([&] { return fixture.text("offerTitle") == QStringLiteral("Soup"); }));
    return fixture.text(row);
}

}  // namespace

class TestOfferCard : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() { QLocale::setDefault(QLocale::c()); }

    void an_announced_run_says_who_hosts_it_and_how_far_it_is() {
        nlohmann::json run = soup();
        run["announced"] = true;
        run["host_name"] = "Béa";
        run["round"] = 12;
        run["total_rounds"] = 400;
        run["volunteers"] = 6;
        run["round_seconds"] = 900;
        const Welcome fixture(run);
        fixture.paste();
        QTRY_COMPARE(fixture.text("offerTitle"), QStringLiteral("Soup"));
        QVERIFY(fixture.text("offerHost").contains(QStringLiteral("Béa (")));
        QVERIFY2(fixture.text("offerRounds").contains(QStringLiteral("12 of 400")),
                 qPrintable(fixture.text("offerRounds")));
        QVERIFY2(fixture.text("offerRounds").contains(QStringLiteral("4 day(s) left")),
                 qPrintable(fixture.text("offerRounds")));
        QVERIFY(fixture.text("offerVolunteers").contains(QStringLiteral("6 volunteer(s)")));
    }

    void a_pasted_invite_shows_its_run_and_joins_nothing() {
        Welcome fixture;
        fixture.paste();
        QTRY_COMPARE(fixture.text("offerTitle"), QStringLiteral("Soup"));
        QCOMPARE(fixture.node.lastParams("look_at_run").value("invite", ""), invite.toStdString());
        QCOMPARE(fixture.text("offerPurpose"), QStringLiteral("Recipes, for teaching."));
        QCOMPARE(fixture.text("offerLicence"), QStringLiteral("CC0-1.0"));
        QVERIFY(fixture.text("offerHost").contains(QStringLiteral("3 member(s)")));
        QVERIFY(fixture.text("offerDownload").contains(QStringLiteral("500 MB")));
        QVERIFY(fixture.text("offerDisk").contains(QStringLiteral("free")));
        QVERIFY2(fixture.text("offerSpeed").contains(QStringLiteral("tokens per second")),
                 qPrintable(fixture.text("offerSpeed")));
        QVERIFY(fixture.text("offerSpeed").contains(QStringLiteral("1.5 GB of memory")));
        QVERIFY(!fixture.text("offerName").isEmpty());
        QCOMPARE(fixture.node.count("join"), 0);
        fixture.click("join");
        QTRY_COMPARE(fixture.node.count("join"), 1);
    }

    void the_offer_shows_power_before_joining() {
        nlohmann::json run = soup();
        const auto power_of = [](const nlohmann::json& offered) { return row_of(offered, "offerPower"); };
        QVERIFY(power_of(run).startsWith(QStringLiteral("Unknown")));
        run["watts_max"] = 65;
        QVERIFY(power_of(run).startsWith(ui::wattText(65) + QStringLiteral(" at most")));
        run["watts"] = 41;
        QVERIFY(power_of(run).startsWith(QStringLiteral("About ") + ui::wattText(41)));
        QVERIFY(power_of(run).contains(ui::wattText(65) + QStringLiteral(" at most")));
        run.erase("watts_max");
        QVERIFY(!power_of(run).contains(QStringLiteral("at most")));
    }

    void the_offer_says_what_a_day_sends_and_what_it_ends_at() {
        nlohmann::json run = soup();
        const auto traffic_of = [](const nlohmann::json& offered) { return row_of(offered, "offerTraffic"); };
        run["traffic_day"] = 605'000'000;
        QVERIFY(traffic_of(run).contains(QStringLiteral("605 MB a day")));
        QVERIFY(!traffic_of(run).contains(QStringLiteral("in all")));
        run["traffic_day_of_sum"] = 4'900'000'000;
        QVERIFY(traffic_of(run).contains(QStringLiteral("605 MB a day")));
        QVERIFY(traffic_of(run).contains(QStringLiteral("4.9 GB in all")));
    }

    void an_offer_that_cannot_be_trained_here_shows_no_power() {
        nlohmann::json run = soup();
        run["obstacle"] = "It needs 40 GiB of memory.";
        Welcome fixture(run);
        fixture.paste();
        QTRY_COMPARE(fixture.text("offerTitle"), QStringLiteral("Soup"));
        QVERIFY(fixture.window->findChildren<QLabel*>(QStringLiteral("offerPower")).isEmpty());
    }

    void a_link_from_outside_is_looked_at_by_a_press_only() {
        Welcome fixture;
        fixture.window->offerInvite(invite);
        WindowFixture::settle();
        QCOMPARE(fixture.node.count("look_at_run"), 0);
        fixture.click("look");
        QTRY_COMPARE(fixture.text("offerTitle"), QStringLiteral("Soup"));
        QVERIFY(!fixture.button("look")->isVisible());
    }

    void another_invite_forgets_what_was_looked_at() {
        Welcome fixture;
        fixture.paste();
        QTRY_COMPARE(fixture.text("offerTitle"), QStringLiteral("Soup"));
        fixture.type("invite", QStringLiteral("potluck:?xt=other"));
        QTRY_VERIFY(!fixture.find<QLabel>("offerTitle")->isVisible());
    }

    void the_offer_shows_what_keeps_this_computer_out() {
        nlohmann::json run = soup();
        run["obstacle"] = "It needs 40 GiB of memory.";
        run["listed"] = true;
        run["admitted"] = false;
        Welcome fixture(run);
        fixture.paste();
        QTRY_COMPARE(fixture.text("offerTitle"), QStringLiteral("Soup"));
        QCOMPARE(fixture.text("offerSpeed"), QStringLiteral("It needs 40 GiB of memory."));
        QVERIFY(
            fixture.text("offerAdmission").contains(QString::fromStdString(fixture.client.view().snapshot.peer_id)));
    }

    void where_nobody_answers_the_reason_stands_and_joining_stays_possible() {
        Welcome fixture;
        fixture.node.refuse("look_at_run", "Nobody in this run has answered.");
        fixture.paste();
        QTRY_COMPARE(fixture.text("offerPurpose"), QStringLiteral("Nobody in this run has answered."));
        QVERIFY(fixture.button("join")->isEnabled());
    }
};

QTEST_MAIN(TestOfferCard)
#include "test_offer_card.moc"
