// What this computer gives, by real clicks and keys: what is asked of the node, and what the fields say of it.
#include <QLabel>
#include <QPushButton>
#include <QRadioButton>
#include <QSpinBox>

#include "tests/ui/rooms/settings_fixture.h"

using namespace potluck;
using namespace potluck::tests;
using control::Effort;

namespace {

struct Settings : SettingsFixture {
    Settings() {
        node.answer(control::SetResources::name, nlohmann::json::object());
        say({});
    }
    void say(const control::Resources& resources) {
        snapshot.resources = resources;
        SettingsFixture::say();
    }
    [[nodiscard]] control::Resources asked() const {
        control::Resources resources;
        const nlohmann::json params = node.lastParams("set_resources");
        POTLUCK_CHECK(!params.is_null() && control::from_json(params.at("resources"), resources).ok());
        return resources;
    }
    /// As somebody does who types a number and goes on to the next field.
    void type(const char* name, const char* digits) {
        auto* box = find<QSpinBox>(name);
        box->setFocus();
        box->selectAll();
        QTest::keyClicks(box, digits);
        QTest::keyClick(box, Qt::Key_Return);
        box->clearFocus();
        settle();
    }
};

}  // namespace

class TestResourcesCard : public QObject {
    Q_OBJECT

private slots:
    void how_others_get_here_is_told_with_what_helps() {
        Settings page;
        const auto says = [&](const char* name, control::Inbound inbound) {
            page.snapshot.network.inbound = inbound;
            page.snapshot.network.port = 6881;
            page.snapshot.network.router = "UPnP";
            page.say({});
            return page.hasShown(name) ? page.text(name) : QString();
        };
        QVERIFY(says("inbound", control::Inbound::unknown).contains("minute"));
        QVERIFY(says("inbound", control::Inbound::reached).startsWith("Others open connections"));
        QVERIFY(says("inbound", control::Inbound::mapped).contains("(UPnP)"));
        QVERIFY(says("inboundRemedy", control::Inbound::mapped).isEmpty());
        QVERIFY(says("inbound", control::Inbound::shut).startsWith("Nobody has come"));
        QVERIFY(says("inboundRemedy", control::Inbound::shut).contains("port 6881"));
    }

    void a_port_is_changed_by_a_click() {
        Settings page;
        page.snapshot.network.port = 20'001;
        page.say({});
        auto* port = page.find<QSpinBox>("listenPort");
        auto* save = page.find<QPushButton>("savePort");
        QCOMPARE(port->value(), 20'001);
        QVERIFY(!save->isEnabled());
        page.node.answer("set_port", nlohmann::json::object());
        page.type("listenPort", "20003");
        save->click();
        page.settle();
        QCOMPARE(page.node.lastParams("set_port").at("port"), nlohmann::json(20'003));
        QVERIFY(!save->isEnabled());
        page.snapshot.network.port = 20'004;  // another window has changed it
        page.say({});
        QCOMPARE(port->value(), 20'004);
    }

    void a_refused_port_stays_as_it_was_typed_with_the_reason() {
        Settings page;
        page.snapshot.network.port = 20'001;
        page.say({});
        auto* port = page.find<QSpinBox>("listenPort");
        page.node.refuse("set_port", "Another program uses port 20002: choose another one.");
        page.type("listenPort", "20002");
        page.find<QPushButton>("savePort")->click();
        page.settle();
        QVERIFY(page.text("portProblem").startsWith("Another program"));
        page.say({});  // what the node uses does not push out what is typed
        QCOMPARE(port->value(), 20'002);
        page.type("listenPort", "20003");
        QVERIFY(!page.hasShown("portProblem"));
    }

    void an_effort_is_chosen_by_a_click() {
        Settings page;
        QVERIFY(page.find<QRadioButton>("effort-full")->isChecked());
        page.find<QRadioButton>("effort-quiet")->click();
        page.settle();
        QVERIFY(page.asked().effort == Effort::quiet);
        QVERIFY(page.find<QRadioButton>("effort-quiet")->isChecked());
        page.say({.effort = Effort::balanced});  // another window has chosen
        QVERIFY(page.find<QRadioButton>("effort-balanced")->isChecked());
        QCOMPARE(page.node.count("set_resources"), 1);
    }

    void limits_are_typed_once_and_sent_once() {
        Settings page;
        QCOMPARE(page.find<QSpinBox>("uploadLimit")->text(), QStringLiteral("No limit"));
        page.type("uploadLimit", "150");
        QCOMPARE(page.node.count("set_resources"), 1);
        QCOMPARE(page.asked().upload, std::uint64_t{150'000});
        page.type("downloadLimit", "2000");
        page.type("diskLimit", "50");
        const control::Resources all = page.asked();
        QCOMPARE(all.upload, std::uint64_t{150'000});
        QCOMPARE(all.download, std::uint64_t{2'000'000});
        QCOMPARE(all.disk, std::uint64_t{50'000'000'000});
        page.type("uploadLimit", "0");
        QCOMPARE(page.asked().upload, std::uint64_t{0});
        QCOMPARE(page.node.count("set_resources"), 4);
    }

    void a_few_megabytes_are_told_as_such_and_not_as_a_gigabyte() {
        Settings page;
        const auto says = [&](std::uint64_t disk) {
            page.say({.disk = disk});
            return page.find<QSpinBox>("diskLimit")->text();
        };
        QCOMPARE(says(5'000'000), QStringLiteral("5 MB"));
        QCOMPARE(says(200'000), QStringLiteral("1 MB"));
        QCOMPARE(says(50'000'000'000), QStringLiteral("50 GB"));
        QCOMPARE(says(500ULL << 30U), QStringLiteral("537 GB"));
        QCOMPARE(says(5'000'000), QStringLiteral("5 MB"));
        page.type("diskLimit", "700");
        QCOMPARE(page.asked().disk, std::uint64_t{700'000'000});
    }

    void a_limit_that_was_not_touched_stays_exact() {
        Settings page;
        page.say({.upload = 1536, .disk = 5ULL << 30U});
        QCOMPARE(page.find<QSpinBox>("uploadLimit")->value(), 2);
        page.find<QRadioButton>("effort-balanced")->click();
        QCOMPARE(page.asked().upload, std::uint64_t{1536});
        QCOMPARE(page.asked().disk, 5ULL << 30U);
    }

    void news_do_not_overwrite_what_is_being_typed() {
        Settings page;
        auto* box = page.find<QSpinBox>("uploadLimit");
        box->setFocus();
        box->selectAll();
        QTest::keyClicks(box, "7");
        page.say({.upload = 999'000});
        QVERIFY(box->text().startsWith(QLatin1Char('7')));
        QCOMPARE(page.node.count("set_resources"), 0);
    }

    void a_refusal_is_told_and_the_choice_goes_back() {
        Settings page;
        page.node.refuse("set_resources", "The disk is full.");
        page.find<QRadioButton>("effort-quiet")->click();
        page.settle();
        QCOMPARE(page.find<QLabel>("resourcesProblem")->text(), QStringLiteral("The disk is full."));
        QVERIFY(page.find<QRadioButton>("effort-full")->isChecked());
    }
};

QTEST_MAIN(TestResourcesCard)
#include "test_resources_card.moc"
