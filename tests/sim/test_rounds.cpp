// Rounds as they should go: nothing breaks.
#include <QTest>

#include "tests/sim/checks.h"

using namespace potluck;
using namespace potluck::sim;

namespace {
void verify_world(World& world) {
    const std::string apart = agreement(world);
    QVERIFY2(apart.empty(), apart.c_str());
    const std::string books = conservation(world);
    QVERIFY2(books.empty(), books.c_str());
}
}  // namespace

class RoundsTest : public QObject {
    Q_OBJECT
private slots:
    void two_volunteers_and_a_backbone_finish_a_run_with_equal_states() {
        World world(1, {});
        world.start_all();
        QVERIFY(world.run_until([&] { return world.all_at(5); }, Duration{120'000}));
        world.run_for(Duration{5'000});
        verify_world(world);
        QCOMPARE(world.peer(1).view().digest, world.peer(0).view().digest);
        QCOMPARE(world.peer(2).view().phase, run::Phase::finished);
        QVERIFY(world.home(0).ledger.credit_of(world.run(), world.home(1).id()).tokens.value > 0);
        QVERIFY(world.peer(0).view().digests_compared > 0);
        QCOMPARE(world.peer(0).view().digests_equal, world.peer(0).view().digests_compared);
    }
};

QTEST_APPLESS_MAIN(RoundsTest)
#include "test_rounds.moc"
