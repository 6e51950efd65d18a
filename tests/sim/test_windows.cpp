// One volunteer's windows, followed from the outside: what it sends, what it keeps back, and where its trainer goes on.
#include <QTest>

#include "core/numerics/codec/sparse_codec.h"
#include "core/peer/payloads/payloads.h"
#include "tests/sim/checks.h"
#include "tests/sim/scenario.h"

using namespace potluck;
using namespace potluck::sim;

namespace {

constexpr std::size_t follower = 1;  // member 0 is the backbone

run::AcceptList list_of(World& world, std::uint64_t round) {
    return run::AcceptList::decode(world.home(0).ledger.list(world.run(), RoundId{round})->list).value();
}

/// Entry of the followed volunteer in L[round].
run::Accepted entry_of(World& world, std::uint64_t round) {
    for (const run::Accepted& entry : list_of(world, round).entries) {
        if (entry.peer == world.home(follower).id()) return entry;
    }
    return {};
}

numerics::PayloadView payload_of(World& world, const BlobId& id) {
    numerics::PayloadView view;
    const auto fault =
        numerics::PayloadView::parse(world.network().published.at(id)->bytes().subspan(peer::payload_author_bytes),
                                     world.initial_state().size(), world.manifest().recipe.k_max, view);
    POTLUCK_CHECK(fault == numerics::PayloadFault::none);
    return view;
}

struct Move {
    std::vector<float> anchor, local;
};
struct Rebase {
    peer::VectorPlace place;
    std::vector<float> anchor;
};

/// What the trainer of the followed volunteer was told.
struct Log {
    explicit Log(World& world) {
        FakeTrainer& trainer = *world.home(follower).process->trainer;
        trainer.on_snapshot = [this](std::span<const float> anchor, std::span<const float> local) {
            moves.push_back({{anchor.begin(), anchor.end()}, {local.begin(), local.end()}});
        };
        trainer.on_rebase = [this](const peer::VectorPlace& place, std::span<const float> anchor) {
            rebases.push_back({place, {anchor.begin(), anchor.end()}});
        };
        trainer.on_train = [this](const peer::WindowPlan& plan) { trained.push_back(plan.round.value); };
    }
    std::vector<Move> moves;
    std::vector<Rebase> rebases;
    std::vector<std::uint64_t> trained;
};

}  // namespace

class WindowsTest : public QObject {
    Q_OBJECT
private slots:
    void each_payload_is_the_decayed_rest_and_the_new_movement() {
        World world(1, {.rounds = 6, .error_decay = 0.5F, .k_max = 1024});
        world.start_all();
        Log log(world);
        const std::string wrong = finish_run(world, Duration{200'000});
        QVERIFY2(wrong.empty(), wrong.c_str());
        QCOMPARE(log.moves.size(), 6U);
        std::vector<float> error(world.initial_state().size());
        for (std::uint64_t round = 0; round < 6; ++round) {
            numerics::accumulate_error(error, log.moves[round].anchor, log.moves[round].local, 0.5F, 1);
            const Bytes payload = numerics::encode(error, world.manifest().recipe.k, 1);
            QCOMPARE(entry_of(world, round).payload.root,
                     BlobId(merkle_root(peer::payload_blob(world.home(follower).id(), payload))));
        }
        const std::span<const float> kept = world.home(follower).disk.scratch(peer::Scratch::error).value().values;
        QVERIFY(std::equal(error.begin(), error.end(), kept.begin()));
    }

    void training_goes_on_from_the_state_less_the_own_payload() {
        World world(2, {.rounds = 6});
        world.start_all();
        Log log(world);
        std::map<std::uint64_t, std::vector<float>> states;
        world.run_until(
            [&] {
                for (const auto& held : world.home(follower).disk.held()) {
                    const std::span<const float> theta = world.home(follower).disk.state(held.round).parameters;
                    states[held.round.value] = {theta.begin(), theta.end()};
                }
                return world.all_at(6);
            },
            Duration{200'000});
        world.run_for(Duration{2'000});
        const auto place = world.home(follower).disk.scratch_place(peer::Scratch::look_ahead);
        std::uint64_t round = 0;
        for (const Rebase& rebase : log.rebases) {
            if (rebase.place.file != place.file) continue;
            std::vector<float> expected = states.at(round);
            numerics::add_decoded(expected, payload_of(world, entry_of(world, round).payload.root),
                                  -world.manifest().recipe.outer.alpha, 1);
            QVERIFY2(rebase.anchor == expected, ("round " + std::to_string(round)).c_str());
            ++round;
        }
        QCOMPARE(round, 6U);
    }

    void after_the_look_ahead_the_next_window_is_trained() {
        World world(3, {.rounds = 4});
        world.start_all();
        Log log(world);
        QVERIFY(world.run_until([&] { return world.all_at(4); }, Duration{200'000}));
        // Round r + 1 is asked for twice: ahead of theta[r + 1], and again when that is here.
        const std::vector<std::uint64_t> expected{0, 1, 1, 2, 2, 3, 3};
        QCOMPARE(log.trained, expected);
    }

    void the_trainer_moves_to_each_new_state() {
        World world(4, {.rounds = 4});
        world.start_all();
        Log log(world);
        QVERIFY(world.run_until([&] { return world.all_at(4); }, Duration{200'000}));
        world.run_for(Duration{2'000});
        std::vector<std::string> places;
        for (const Rebase& rebase : log.rebases) places.push_back(rebase.place.file.string());
        Disk& disk = world.home(follower).disk;
        const std::string ahead = disk.scratch_place(peer::Scratch::look_ahead).file.string();
        std::vector<std::string> expected;
        for (std::uint64_t round = 1; round <= 4; ++round) {
            expected.push_back(ahead);
            expected.push_back(disk.state_place(RoundId{round}).file.string());
        }
        QCOMPARE(places, expected);
    }
};

QTEST_APPLESS_MAIN(WindowsTest)
#include "test_windows.moc"
