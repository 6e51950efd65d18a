// Which devices train, by real clicks: what there is and what is said of it, and what is asked of the node.
#include <QCheckBox>
#include <QLabel>
#include <QRadioButton>

#include "tests/ui/rooms/settings_fixture.h"
#include "ui/client/plain_text.h"

using namespace potluck;
using namespace potluck::tests;

namespace {

control::DeviceRow device(const char* id, const char* name, std::uint64_t memory) {
    control::DeviceRow row;
    row.id = id;
    row.name = name;
    row.memory_total = memory;
    row.usable = true;
    return row;
}

struct Settings : WindowFixture {
    Settings() {
        control::DeviceRow processor = device("cpu", "Ryzen", 32'000'000'000);
        processor.speeds = {{"fp32", 0.5}, {"bf16", 0.25}};
        control::DeviceRow card = device("cuda:0", "Tit & Tat", 24'000'000'000);
        control::DeviceRow old = device("cuda:1", "Old", 4'000'000'000);
        old.usable = false;
        old.reason = "This card is too old; buy another.";
        found.devices = {processor, card, old};
        found.notes = {"Intel's graphics are not used."};
        snapshot.device = control::DeviceChoice{};
        snapshot.trainer.device_id = "cpu";
        node.answer(control::SetDevice::name, nlohmann::json::object());
    }
    void open() {
        node.answer(control::ReadDevices::name, to_json(found));
        say();
        window->showPage(ui::MainWindow::settings_page);
        settle();
    }
    void say() {
        node.push(snapshot);
        settle();
    }
    [[nodiscard]] QAbstractButton* choice(const char* id) const {
        return find<QAbstractButton>((std::string("device-") + id).c_str());
    }
    [[nodiscard]] bool isThere(const char* id) const {
        return window->findChild<QAbstractButton*>(QStringLiteral("device-") + QLatin1String(id)) != nullptr;
    }
    [[nodiscard]] QString about(const char* id) const { return text((std::string("about-") + id).c_str()); }
    void click(const char* id) {
        choice(id)->click();
        settle();
    }
    /// What is pressed or switched on, "any" for automatic.
    [[nodiscard]] std::string on() const {
        std::string text;
        for (const char* id : {"any", "cpu", "cuda:0", "cuda:1", "cuda:7"})
            if (isThere(id) && choice(id)->isChecked()) text += (text.empty() ? "" : " ") + std::string(id);
        return text;
    }
    /// The old card was mended.
    void mend() {
        found.devices[2].usable = true;
        found.devices[2].reason.clear();
    }
    [[nodiscard]] std::string asked() const { return node.lastParams("set_device").at("device").get<std::string>(); }

    control::DetectReply found;
    control::NodeSnapshot snapshot = recordedSnapshot("training");
};

}  // namespace

class TestDeviceCard : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() { QLocale::setDefault(QLocale::c()); }

    void each_device_stands_there_with_memory_and_speed_or_with_what_to_do() {
        Settings page;
        page.open();
        QCOMPARE(page.node.count("devices"), 1);
        QCOMPARE(page.choice("cpu")->text(), QStringLiteral("Processor: Ryzen"));
        QCOMPARE(page.about("cpu"), ui::sizeText(32'000'000'000) + " of memory, 0.5 TFLOP/s in fp32, trains now");
        QCOMPARE(page.choice("cuda:0")->text(), QStringLiteral("Tit && Tat (cuda:0)"));
        QCOMPARE(page.about("cuda:0"), ui::sizeText(24'000'000'000) + " of memory");
        QCOMPARE(page.about("cuda:1"), QStringLiteral("Cannot be used. This card is too old; buy another."));
        QVERIFY(!page.choice("cuda:1")->isEnabled());
        QCOMPARE(page.text("deviceNotes"), QStringLiteral("Intel's graphics are not used."));
        QCOMPARE(page.choice("cuda:1")->accessibleDescription(), page.about("cuda:1"));
        QVERIFY(qobject_cast<QCheckBox*>(page.choice("cuda:0")) != nullptr);
        QVERIFY(qobject_cast<QRadioButton*>(page.choice("cpu")) != nullptr);
        page.snapshot.trainer.device_id = "cuda:0";
        const QAbstractButton* before = page.choice("cuda:0");
        page.say();
        QVERIFY(page.about("cuda:0").endsWith("trains now") && !page.about("cpu").contains("trains now"));
        QCOMPARE(page.choice("cuda:0"), before);
        QCOMPARE(page.node.count("devices"), 1);
    }

    void a_choice_is_made_by_a_click_and_given_up_by_another() {
        Settings page;
        page.open();
        QCOMPARE(page.on(), std::string("any cuda:0"));  // what automatic means here
        page.click("cpu");
        QCOMPARE(page.asked(), std::string("cpu"));
        QCOMPARE(page.on(), std::string("cpu"));
        page.click("cuda:0");
        QCOMPARE(page.asked(), std::string("any"));  // all that can be used
        QCOMPARE(page.on(), std::string("any cuda:0"));
        page.click("cpu");
        page.click("any");
        QCOMPARE(page.asked(), std::string("any"));
        page.snapshot.device->chosen = "cpu";  // the command line has chosen
        page.say();
        QCOMPARE(page.on(), std::string("cpu"));
        QCOMPARE(page.node.count("set_device"), 4);
    }

    void each_gpu_has_a_switch_and_all_of_them_on_are_automatic() {
        Settings page;
        page.mend();
        page.snapshot.trainer.device_id = "cuda:0";
        page.snapshot.trainer.devices = {"cuda:0", "cuda:1"};
        page.open();
        QCOMPARE(page.on(), std::string("any cuda:0 cuda:1"));
        QVERIFY(page.about("cuda:0").endsWith("trains now") && page.about("cuda:1").endsWith("trains now"));
        page.click("cuda:0");
        QCOMPARE(page.asked(), std::string("cuda:1"));
        QCOMPARE(page.on(), std::string("cuda:1"));
        page.click("cuda:0");
        QCOMPARE(page.asked(), std::string("any"));
        QCOMPARE(page.on(), std::string("any cuda:0 cuda:1"));
        page.snapshot.device->chosen = "cuda:0";
        page.snapshot.trainer.devices = {"cuda:0"};
        page.say();
        QCOMPARE(page.on(), std::string("cuda:0"));
        QVERIFY(!page.about("cuda:1").contains("trains now"));
        page.click("cuda:1");
        QCOMPARE(page.asked(), std::string("any"));
        page.choice("cuda:0")->setFocus();
        QTest::keyClick(page.choice("cuda:0"), Qt::Key_Space);
        page.settle();
        QCOMPARE(page.asked(), std::string("cuda:1"));
    }

    void the_last_gpu_that_is_on_is_not_switched_off() {
        Settings page;
        page.open();
        page.click("cuda:0");
        QCOMPARE(page.node.count("set_device"), 0);
        QCOMPARE(page.on(), std::string("any cuda:0"));
        QCOMPARE(page.text("deviceProblem"),
                 QStringLiteral("One device has to train: choose the processor, or switch another GPU on first."));
        page.click("cpu");
        QCOMPARE(page.asked(), std::string("cpu"));
        QVERIFY(page.find<QLabel>("deviceProblem")->isHidden());
    }

    void a_gpu_that_is_on_and_does_not_train_says_why() {
        Settings page;
        page.mend();
        page.snapshot.trainer.device_id = "cuda:0";
        page.snapshot.trainer.devices = {"cuda:0"};
        page.snapshot.trainer.left_out = {{"cuda:1", "It has 2 GB free, and this layout needs 3 GB."}};
        page.open();
        QCOMPARE(page.about("cuda:1"),
                 QStringLiteral("Does not train now. It has 2 GB free, and this layout needs 3 GB."));
        QVERIFY(page.choice("cuda:1")->isChecked());
        page.snapshot.device->chosen = "cuda:0,cuda:7";
        page.snapshot.trainer.left_out = {{"cuda:7", "There is no device cuda:7 here."}};
        page.say();
        QCOMPARE(page.on(), std::string("cuda:0 cuda:7"));
        QCOMPARE(page.about("cuda:7"), QStringLiteral("Does not train now. There is no device cuda:7 here."));
        page.click("cuda:7");
        QCOMPARE(page.asked(), std::string("cuda:0"));
    }

    void a_refusal_is_told_and_the_choice_goes_back() {
        Settings page;
        page.open();
        page.mend();
        page.node.answer(control::ReadDevices::name, to_json(page.found));
        page.button("lookForDevices")->click();
        page.settle();
        page.node.refuse("set_device", "The disk is full.");
        page.click("cuda:0");
        QCOMPARE(page.text("deviceProblem"), QStringLiteral("The disk is full."));
        QCOMPARE(page.on(), std::string("any cuda:0 cuda:1"));
        page.click("cpu");
        QCOMPARE(page.on(), std::string("any cuda:0 cuda:1"));
    }

    void a_chosen_device_that_is_gone_keeps_its_row_and_another_that_trains_is_told() {
        Settings page;
        page.snapshot.device = control::DeviceChoice{"cuda:7", "There is no device cuda:7 here."};
        page.open();
        QVERIFY(page.choice("cuda:7")->isChecked());
        QCOMPARE(page.about("cuda:7"),
                 QStringLiteral("Another device trains meanwhile. There is no device cuda:7 here."));
        page.snapshot.device->obstacle.clear();
        page.say();
        QCOMPARE(page.about("cuda:7"), QStringLiteral("It was not found."));
        page.snapshot.device = control::DeviceChoice{"cuda:1", "Old cannot train."};  // there, and of no use
        page.say();
        QVERIFY(!page.isThere("cuda:7"));
        QVERIFY(page.choice("cuda:1")->isChecked() && page.choice("cuda:1")->isEnabled());
        QVERIFY(page.about("cuda:1").contains("Old cannot train."));
    }

    void where_no_device_can_be_looked_for_the_processor_may_be_chosen() {
        Settings page;
        page.node.refuse("devices", "The trainer stopped (signal 6).");
        page.open();
        QVERIFY(page.text("deviceState").contains("The trainer stopped (signal 6)."));
        QCOMPARE(page.node.count("devices"), 1);
        page.click("cpu");
        QCOMPARE(page.asked(), std::string("cpu"));
        page.say();
        QCOMPARE(page.node.count("devices"), 1);  // not again by itself
        page.button("lookForDevices")->click();
        page.settle();
        QCOMPARE(page.node.count("devices"), 2);
        QCOMPARE(page.node.lastParams("devices").at("again").get<bool>(), true);
    }

    void a_pause_is_not_broken_by_a_look() {
        Settings page;
        page.snapshot.activity = control::Activity::paused;
        page.open();
        QCOMPARE(page.node.count("devices"), 0);
        QVERIFY(page.isThere("cpu") && !page.isThere("cuda:0"));
        page.button("lookForDevices")->click();
        page.settle();
        QVERIFY(page.isThere("cuda:0"));
    }

    void known_devices_stay_shown_until_a_new_search_has_ended() {
        Settings page;
        page.open();
        page.node.hold("devices");
        page.button("lookForDevices")->click();
        page.settle();
        QVERIFY(page.text("deviceState").startsWith("Looking for devices"));
        QVERIFY(page.isThere("cuda:0") && !page.button("lookForDevices")->isEnabled());
        page.found.devices.resize(1);
        page.node.answer(control::ReadDevices::name, to_json(page.found));
        page.node.release("devices");
        page.settle();
        QVERIFY(!page.isThere("cuda:0"));
    }
};

QTEST_MAIN(TestDeviceCard)
#include "test_device_card.moc"
