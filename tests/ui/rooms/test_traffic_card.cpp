// What is said of data and traffic in the settings, and that it leads to what lies on the disk.
#include <QLabel>

#include "tests/ui/rooms/settings_fixture.h"
#include "ui/client/plain_text.h"
#include "ui/records/storage_page.h"

using namespace potluck;
using namespace potluck::tests;

class TestTrafficCard : public QObject {
    Q_OBJECT

private slots:
    void the_traffic_card_shows_totals_beside_the_limits() {
        SettingsFixture page;
        page.snapshot.network.traffic = {1'000'000, 2'000'000, 30'000'000, 40'000'000, 500'000'000, 6'000'000'000};
        page.snapshot.resources = control::Resources{.upload = 150'000};
        page.say();
        const std::pair<const char*, std::uint64_t> rows[] = {{"todayUp", 1'000'000},   {"todayDown", 2'000'000},
                                                              {"monthUp", 30'000'000},  {"monthDown", 40'000'000},
                                                              {"totalUp", 500'000'000}, {"totalDown", 6'000'000'000}};
        for (const auto& [name, bytes] : rows) QCOMPARE(page.text(name), ui::sizeText(bytes));
        QCOMPARE(page.text("limitUp"), ui::sizeText(150'000) + " a second");
        QCOMPARE(page.text("limitDown"), QStringLiteral("no limit"));
    }

    void ones_own_part_of_it_is_told_once_there_is_one() {
        SettingsFixture page;
        page.snapshot.network.payload_bytes_up = 0;
        page.say();
        QVERIFY(!page.hasShown("trafficKinds"));
        page.snapshot.network.payload_bytes_up = 7'000'000;
        page.say();
        QVERIFY(page.text("trafficKinds").contains(ui::sizeText(7'000'000)));
    }

    void old_traffic_is_not_shown_while_no_node_runs() {
        SettingsFixture page;
        QVERIFY(page.hasShown("trafficTable"));
        page.node.die(ui::Transport::End::failed, {});
        page.settle();
        QVERIFY(!page.hasShown("trafficTable"));
    }

    void where_everything_lies_is_told_and_shown() {
        SettingsFixture page;
        QVERIFY(page.text("trafficPlace").contains(QString::fromStdString(page.snapshot.data_folder)));
        page.button("showStorage")->click();
        page.settle();
        QVERIFY(page.window->findChild<ui::StoragePage*>()->isVisible());
    }
};

QTEST_MAIN(TestTrafficCard)
#include "test_traffic_card.moc"
