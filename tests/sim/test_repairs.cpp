// States that differ: found, counted as different, mended from others, and from nobody's forged bytes.
#include <QTest>

#include "core/base/sha256.h"
#include "tests/sim/scenario.h"
#include "tests/sim/stranger.h"

using namespace potluck;
using namespace potluck::sim;
using run::Verdict;

namespace {

constexpr std::size_t damaged = 1;

WorldPlan four_members() { return {.backbones = 1, .volunteers = 3, .rounds = 6}; }

bool repairing(World& world) { return world.peer(damaged).view().phase == run::Phase::repairing; }

/// Restarts a member on a damaged state, cut off from the others, and waits until it has noticed. Its round.
std::uint64_t start_on_damage(World& world) {
    POTLUCK_CHECK(world.run_until([&] { return world.all_at(2); }, Duration{60'000}));
    world.kill(damaged, Death::closes_sessions);
    POTLUCK_CHECK(world.home(damaged).disk.damage(99));
    world.network().split({{world.home(damaged).id(), 1}});
    world.start(damaged);
    POTLUCK_CHECK(world.run_until([&] { return repairing(world); }, Duration{5'000}));
    return world.round_of(damaged);
}

}  // namespace

class RepairsTest : public QObject {
    Q_OBJECT
private slots:
    void a_state_computed_from_damaged_bytes_is_compared_and_not_equal() {
        World world(1, four_members());
        world.start_all();
        QVERIFY(world.run_until([&] { return world.all_at(2); }, Duration{60'000}));
        world.run_for(Duration{1'000});
        QVERIFY(world.home(damaged).disk.damage(99));
        const std::string wrong = finish_run(world, Duration{200'000});
        QVERIFY2(wrong.empty(), wrong.c_str());
        const peer::PeerView witness = world.peer(0).view();
        QCOMPARE(witness.digests_compared - witness.digests_equal, 1U);
        QCOMPARE(witness.repairs, 0U);
        QCOMPARE(world.peer(damaged).view().repairs, 1U);
    }

    /// Its bytes are what it computed, so only the committee's list says that something else is right.
    void a_state_that_was_computed_wrongly_is_mended_before_the_next_is_computed() {
        World world(4, four_members());
        world.start_all();
        Disk& disk = world.home(damaged).disk;
        QVERIFY(world.run_until([&] { return world.all_at(2); }, Duration{60'000}));
        QVERIFY(disk.damage(RoundId{2}, 99));
        const auto has_computed = [&] { return disk.computed().back().round == RoundId{3}; };
        QVERIFY(world.run_until(has_computed, Duration{60'000}));
        QVERIFY(disk.damage(RoundId{2}, 99));
        const std::string wrong = finish_run(world, Duration{200'000});
        QVERIFY2(wrong.empty(), wrong.c_str());
        std::size_t wrong_states = 0;
        for (const peer::StateStore::Held& one : disk.computed()) {
            const auto right = world.home(0).ledger.digest_after(world.run(), RoundId{one.round.value - 1});
            wrong_states += one.digest == right ? 0 : 1;
        }
        QCOMPARE(wrong_states, std::size_t{1});
        QCOMPARE(world.peer(damaged).view().repairs, 1U);
    }

    void a_forged_layer_is_not_taken() {
        World world(2, four_members());
        world.start_all();
        const RoundId round{start_on_damage(world)};
        Stranger stranger(world, hostile_key(1));
        const StateDigest digest = world.home(0).ledger.digest_after(world.run(), RoundId{round.value - 1}).value();
        const peer::State held = world.home(0).disk.state(round);
        const ByteSpan true_bytes = held.file;
        std::vector<Digest> layer = merkle_layer(true_bytes, peer::piece_size_of(true_bytes.size()), 1);
        QVERIFY(layer.size() > 1);
        const auto verdict = [&] {
            return stranger.verdict(damaged, stranger.envelope(run::LayerMessage{digest, 0, layer}));
        };
        layer[1].bytes[0] ^= std::byte{1};
        QCOMPARE(verdict(), Verdict::malformed);
        layer[1].bytes[0] ^= std::byte{1};
        layer.push_back(layer[1]);
        QCOMPARE(verdict(), Verdict::malformed);
        layer.pop_back();
        QCOMPARE(verdict(), Verdict::accepted);
        QCOMPARE(verdict(), Verdict::stale);
    }

    void a_forged_state_under_the_right_name_is_not_kept() {
        World world(3, four_members());
        world.start_all();
        const RoundId round{start_on_damage(world)};
        Stranger stranger(world, hostile_key(1));
        const StateDigest digest = world.home(0).ledger.digest_after(world.run(), RoundId{round.value - 1}).value();
        const peer::State held = world.home(0).disk.state(round);
        const ByteSpan true_bytes = held.file;
        Bytes forged(true_bytes.begin(), true_bytes.end());
        forged.back() ^= std::byte{1};
        // The forger is asked first: the others cannot be reached yet.
        stranger.folder().blobs[digest] = std::make_shared<MemoryBlob>(std::move(forged));
        world.network().split({{world.home(damaged).id(), 1}, {stranger.id(), 1}});
        const std::vector<Digest> layer = merkle_layer(true_bytes, peer::piece_size_of(true_bytes.size()), 1);
        QCOMPARE(stranger.verdict(damaged, stranger.envelope(run::LayerMessage{digest, 0, layer})), Verdict::accepted);
        world.run_for(Duration{3'000});
        QCOMPARE(world.peer(damaged).view().repairs, 0U);
        world.network().split({});
        const std::string wrong = finish_run(world, Duration{200'000});
        QVERIFY2(wrong.empty(), wrong.c_str());
    }
};

QTEST_APPLESS_MAIN(RepairsTest)
#include "test_repairs.moc"
