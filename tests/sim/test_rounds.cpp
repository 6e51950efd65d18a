// Rounds as they should go: nothing breaks.
#include <QTest>

#include <set>

#include "tests/sim/checks.h"
#include "tests/sim/scenario.h"

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
        QVERIFY(!world.peer(0).view().closed);
        world.run_for(Duration{5'000});
        for (std::size_t i = 0; i < world.size(); ++i) QVERIFY(world.peer(i).view().closed);
        verify_world(world);
        QCOMPARE(world.peer(1).view().digest, world.peer(0).view().digest);
        QCOMPARE(world.peer(2).view().phase, run::Phase::finished);
        QVERIFY(world.home(0).ledger.credit_of(world.run(), world.home(1).id()).tokens.value > 0);
        QVERIFY(world.peer(0).view().digests_compared > 0);
        QCOMPARE(world.peer(0).view().digests_equal, world.peer(0).view().digests_compared);
    }

    void states_and_payloads_are_kept_for_a_while_and_then_deleted() {
        World world(2, {.rounds = 14, .checkpoint_every = 3});
        world.start_all();
        const std::string wrong = finish_run(world, Duration{300'000});
        QVERIFY2(wrong.empty(), wrong.c_str());
        for (std::size_t i = 0; i < world.size(); ++i) {
            std::set<std::uint64_t> held;
            for (const peer::StateStore::Held& one : world.home(i).disk.held()) held.insert(one.round.value);
            // The newest four, and the two newest checkpoints.
            QCOMPARE(held, (std::set<std::uint64_t>{9, 11, 12, 13, 14}));
            for (std::uint64_t round = 0; round < 14; ++round) {
                const auto committed = world.home(i).ledger.list(world.run(), RoundId{round});
                const auto list = run::AcceptList::decode(committed->list).value();
                for (const run::Accepted& entry : list.entries) {
                    // Whoever starts from the checkpoint before last finds all that came after it.
                    QCOMPARE(world.home(i).folder.blobs.contains(entry.payload.root), round >= 9);
                }
            }
        }
    }
};

QTEST_APPLESS_MAIN(RoundsTest)
#include "test_rounds.moc"
