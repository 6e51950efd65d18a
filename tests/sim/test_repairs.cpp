// States that differ: found, counted as different, computed anew where this computer got them wrong, else mended from
// others, and from nobody's forged bytes. Who is wrong twice says so and contributes nothing more until it is
// restarted.
#include <QTest>

#include "core/base/sha256.h"
#include "tests/sim/checks.h"
#include "tests/sim/scenario.h"
#include "tests/sim/seeds.h"
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

constexpr std::size_t faulty = 3;
WorldPlan friends() { return {.backbones = 1, .volunteers = 4, .rounds = 14, .friends = true}; }

/// The faulty member gets every state of these rounds wrong, so many times each, and another bit each time.
void miscalculate(World& world, const std::vector<std::uint64_t>& states, int times) {
    const auto left = std::make_shared<std::map<std::uint64_t, int>>();
    for (const std::uint64_t state : states) (*left)[state] = times;
    world.home(faulty).disk.miscalculates = [left](RoundId round) -> std::optional<std::uint64_t> {
        const auto found = left->find(round.value);
        if (found == left->end() || found->second == 0) return std::nullopt;
        return 100 + static_cast<std::uint64_t>(found->second--);
    };
}

/// Rounds from `first` on whose lists have something of `member`.
std::size_t accepted_from(World& world, std::size_t member, std::uint64_t first) {
    std::size_t count = 0;
    const ledger::Ledger& ledger = world.home(0).ledger;
    for (RoundId round{first}; round < ledger.totals(world.run()).rounds; round = round.next()) {
        const auto list = run::AcceptList::decode(ledger.list(world.run(), round)->list);
        for (const run::Accepted& entry : list->entries) count += entry.peer == world.home(member).id() ? 1 : 0;
    }
    return count;
}

std::size_t times_computed(World& world, std::uint64_t state) {
    const auto& computed = world.home(faulty).disk.computed();
    return static_cast<std::size_t>(
        std::count_if(computed.begin(), computed.end(), [&](const auto& one) { return one.round.value == state; }));
}

bool blames_itself(World& world, std::size_t member) { return world.peer(member).view().calculates_differently; }

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

    // Members whose arithmetic is wrong.

    void a_member_that_errs_once_recomputes_and_keeps_contributing() {
        for (const std::uint64_t seed : seeds(5)) {
            World world(seed, friends());
            miscalculate(world, {7}, 1);
            world.start_all();
            const std::string wrong = finish_run(world, Duration{400'000});
            QVERIFY2(wrong.empty(), at_seed(seed, wrong).c_str());
            QVERIFY2(!blames_itself(world, faulty), at_seed(seed, "").c_str());
            QCOMPARE(times_computed(world, 7), std::size_t{2});
            QCOMPARE(world.peer(faulty).view().repairs, 1U);
            QVERIFY2(accepted_from(world, faulty, 9) >= 3, at_seed(seed, "contributes no more").c_str());
        }
    }

    void a_member_that_errs_twice_says_so_and_stops_contributing_data() {
        QTest::addColumn<std::vector<std::uint64_t>>("states");
        QTest::addColumn<int>("times");
        QTest::addRow("a round and its recomputation") << std::vector<std::uint64_t>{6} << 2;
        QTest::addRow("two rounds") << std::vector<std::uint64_t>{5, 7} << 1;
        QTest::addRow("always") << std::vector<std::uint64_t>{5, 6, 7, 8, 9, 10, 11, 12, 13, 14} << 1'000;
    }
    void a_member_that_errs_twice_says_so_and_stops_contributing() {
        QFETCH(const std::vector<std::uint64_t>, states);
        QFETCH(const int, times);
        for (const std::uint64_t seed : seeds(5)) {
            World world(seed, friends());
            miscalculate(world, states, times);
            world.start_all();
            QVERIFY2(world.run_until([&] { return blames_itself(world, faulty); }, Duration{200'000}),
                     at_seed(seed, "says nothing").c_str());
            // What it had offered before may still be accepted in the round after.
            const std::uint64_t told_at = world.round_of(0) + 1;
            QVERIFY2(told_at <= 9, at_seed(seed, std::to_string(told_at)).c_str());
            const std::string wrong = finish_run(world, Duration{400'000});
            QVERIFY2(wrong.empty(), at_seed(seed, wrong).c_str());
            QCOMPARE(accepted_from(world, faulty, told_at), std::size_t{0});
            const peer::PeerView view = world.peer(faulty).view();
            QVERIFY(view.why.reason == status::Reason::calculates_differently);
            for (std::size_t i = 0; i < world.size(); ++i) QCOMPARE(blames_itself(world, i), i == faulty);
        }
    }

    void a_restart_ends_the_silence() {
        World world(1, friends());
        miscalculate(world, {5}, 2);
        world.start_all();
        QVERIFY(world.run_until([&] { return blames_itself(world, faulty); }, Duration{200'000}));
        QVERIFY(world.run_until([&] { return world.all_at(7); }, Duration{100'000}));
        QCOMPARE(world.peer(faulty).view().phase, run::Phase::paused);
        world.kill(faulty, Death::closes_sessions);
        world.start(faulty);
        const std::string wrong = finish_run(world, Duration{400'000});
        QVERIFY2(wrong.empty(), wrong.c_str());
        QVERIFY(accepted_from(world, faulty, 8) >= 3);
    }

    /// A single seat decides what is right. If that computer errs, the others take it over and are not silenced.
    void a_host_that_errs_alone_silences_nobody() {
        for (const std::uint64_t seed : seeds(5)) {
            World world(seed, {.backbones = 0, .volunteers = 4, .rounds = 8, .damage_may_spread = true});
            const auto errs_in = [](RoundId round) { return round.value == 3 || round.value == 5; };
            world.home(0).disk.miscalculates = [&](RoundId round) {
                return errs_in(round) ? std::optional<std::uint64_t>(9) : std::nullopt;
            };
            world.start_all();
            const std::string wrong = finish_run(world, Duration{400'000});
            QVERIFY2(wrong.empty(), at_seed(seed, wrong).c_str());
            for (std::size_t i = 1; i < world.size(); ++i) {
                QVERIFY2(!blames_itself(world, i), at_seed(seed, "").c_str());
                QVERIFY2(world.peer(i).view().repairs >= 2, at_seed(seed, "").c_str());
                QVERIFY2(accepted_from(world, i, 6) >= 1, at_seed(seed, "silenced").c_str());
            }
        }
    }

    /// The state before is damaged on the disk, and what was computed of it as well: no error of arithmetic.
    void damaged_bytes_are_no_error_of_arithmetic() {
        for (const std::uint64_t seed : seeds(5)) {
            World world(seed, friends());
            world.start_all();
            for (std::uint64_t round = 4; round < 8; ++round) {
                QVERIFY(world.run_until([&] { return world.all_at(round); }, Duration{100'000}));
                QVERIFY(world.home(faulty).disk.damage(99));
            }
            const std::string wrong = finish_run(world, Duration{400'000});
            QVERIFY2(wrong.empty(), at_seed(seed, wrong).c_str());
            QVERIFY2(!blames_itself(world, faulty), at_seed(seed, "").c_str());
            QVERIFY2(world.peer(faulty).view().repairs >= 1, at_seed(seed, "").c_str());
        }
    }
};

QTEST_APPLESS_MAIN(RepairsTest)
#include "test_repairs.moc"
