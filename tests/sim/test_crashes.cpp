// A process that ends between any two of its effects leaves a disk from which the member goes on: what it announced is
// there, nothing is credited twice, and the run is not harmed.
#include <QTest>

#include "tests/sim/crash.h"
#include "tests/sim/scenario.h"
#include "tests/sim/seeds.h"

using namespace potluck;
using namespace potluck::sim;

namespace {

/// Kills `member` before its effect number `effect`; empty if that did no harm. `reached` says whether it came to that.
std::string killed_before(std::size_t member, std::uint64_t effect, Loss loss, bool& reached) {
    World world(effect, {.backbones = 1, .volunteers = 2, .rounds = 3});
    Crash crash(world, {.member = member, .before = effect, .loss = loss});
    world.start_all();
    const std::string wrong = finish_run(world, Duration{200'000});
    reached = crash.happened();
    return wrong;
}

}  // namespace

class CrashesTest : public QObject {
    Q_OBJECT
private slots:
    void a_member_may_die_before_any_of_its_effects_data() {
        QTest::addColumn<int>("member");
        QTest::addColumn<bool>("power");
        for (const int member : {0, 1}) {
            for (const bool power : {false, true}) {
                QTest::addRow("%s, %s", member == 0 ? "backbone" : "volunteer", power ? "power lost" : "killed")
                    << member << power;
            }
        }
    }
    void a_member_may_die_before_any_of_its_effects() {
        QFETCH(int, member);
        QFETCH(bool, power);
        bool reached = true;
        std::uint64_t effect = 0;
        for (; reached; ++effect) {
            const Loss loss = power ? Loss::power : Loss::process;
            const std::string wrong = killed_before(static_cast<std::size_t>(member), effect, loss, reached);
            QVERIFY2(wrong.empty(), ("before effect " + std::to_string(effect) + ": " + wrong).c_str());
        }
        qInfo("%d effects", static_cast<int>(effect) - 1);
        QVERIFY(effect > 20);
    }
};

QTEST_APPLESS_MAIN(CrashesTest)
#include "test_crashes.moc"
