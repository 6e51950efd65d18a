// What the settings say of this computer while it trains: figures where they can be read, words where they cannot.
#include <QLabel>

#include "tests/ui/rooms/settings_fixture.h"
#include "ui/client/plain_text.h"

using namespace potluck;
using namespace potluck::tests;

namespace {

struct Settings : SettingsFixture {
    Settings() {
        snapshot.trainer.device_id = "cpu";
        snapshot.trainer.watts = 45.2;
        snapshot.trainer.celsius = 61;
        snapshot.trainer.resident = 1'300'000'000;
        snapshot.trainer.parts.clear();
        say();
    }
    [[nodiscard]] QStringList parts() const {
        QStringList texts;
        for (const QLabel* label : find<QWidget>("computerParts")->findChildren<QLabel*>()) texts << label->text();
        return texts;
    }
};

}  // namespace

class TestComputerCard : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() { QLocale::setDefault(QLocale::c()); }

    void the_computer_card_shows_what_training_takes() {
        Settings page;
        QVERIFY(!page.hasShown("computerState"));
        QVERIFY(page.text("computerDevice").startsWith(QStringLiteral("CPU")));
        QCOMPARE(page.text("computerSpeed"), ui::shortCount(9'200) + " tokens per second");
        QCOMPARE(page.text("computerPower"), ui::wattText(45.2) + ", the whole processor with all programs");
        QCOMPARE(page.text("computerHeat"), ui::heatText(61));
        QCOMPARE(page.text("computerMemory"), ui::sizeText(1'300'000'000));
        page.snapshot.trainer.device_id = "cuda:0";
        page.say();
        QCOMPARE(page.text("computerPower"), ui::wattText(45.2));
    }

    void unreadable_figures_are_shown_as_unknown_and_not_as_zero() {
        Settings page;
        page.snapshot.trainer.watts.reset();
        page.snapshot.trainer.celsius.reset();
        page.say();
        QVERIFY(page.text("computerPower").startsWith(QStringLiteral("unknown: this processor")));
        QVERIFY(page.text("computerHeat").startsWith(QStringLiteral("not known")));
        page.snapshot.trainer.device_id = "cuda:0";
        page.say();
        QVERIFY(page.text("computerPower").startsWith(QStringLiteral("unknown: this device")));
        page.snapshot.trainer.tokens_per_second = 0;
        page.snapshot.trainer.resident = 0;
        page.say();
        for (const char* figure : {"computerSpeed", "computerPower", "computerHeat", "computerMemory"})
            QCOMPARE(page.text(figure), QStringLiteral("not measured yet"));
    }

    void memory_is_told_part_by_part_as_the_plan_names_them() {
        Settings page;
        QVERIFY(!page.hasShown("computerParts"));
        page.snapshot.trainer.parts = {{.what = "weights", .how = "bf16", .gpu = 2'900'000'000},
                                       {.what = "optimizer state", .how = {}, .ram = 3'000'000'000, .disk = 5'000'000},
                                       {.what = "a part of later", .how = {}, .ram = 1'000}};
        page.say();
        QCOMPARE(page.parts(),
                 (QStringList{"Weights", "2.9 GB on the GPU", "Moments of the optimizer",
                              "3.0 GB in memory, 5.0 MB on disk", "a part of later", "1.0 kB in memory"}));
        const auto* before = page.find<QWidget>("computerParts")->findChildren<QLabel*>().front();
        page.say();
        QCOMPARE(page.find<QWidget>("computerParts")->findChildren<QLabel*>().front(), before);
        page.snapshot.trainer.parts.resize(1);
        page.say();
        QCOMPARE(page.parts(), (QStringList{"Weights", "2.9 GB on the GPU"}));
    }

    void while_nothing_is_trained_that_is_said() {
        Settings page;
        for (const auto& [state, words] : {std::pair(control::TrainerState::absent, "the memory for it is free"),
                                           std::pair(control::TrainerState::failed, "the memory for it is free"),
                                           std::pair(control::TrainerState::starting, "is starting"),
                                           std::pair(control::TrainerState::stopping, "is ending")}) {
            page.snapshot.trainer.state = state;
            page.say();
            QVERIFY(page.hasShown("computerState") && !page.hasShown("computerPower"));
            QVERIFY2(page.text("computerState").contains(QLatin1String(words)), words);
        }
        page.node.die(ui::Transport::End::failed, {});
        page.settle();
        QCOMPARE(page.text("computerState"), QStringLiteral("Potluck's background program does not run."));
    }
};

QTEST_MAIN(TestComputerCard)
#include "test_computer_card.moc"
