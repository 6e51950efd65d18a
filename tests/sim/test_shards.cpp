// Training data that outlives its host: who holds which shards while members come, go, die and have little room.
#include <QTest>

#include <algorithm>

#include "core/run/sample_order.h"
#include "core/run/shard_holders.h"
#include "tests/sim/checks.h"
#include "tests/sim/scenario.h"
#include "tests/sim/seeds.h"

using namespace potluck;
using namespace potluck::sim;

namespace {

constexpr std::uint8_t shard_count = 12;

bool has_shard(World& world, std::size_t member, std::size_t shard) {
    return world.home(member).folder.blobs.contains(world.manifest().shards[shard].blob.root);
}

/// Living members that hold the shard of which there are fewest.
std::size_t fewest_holders(World& world) {
    std::size_t fewest = world.size();
    for (std::size_t shard = 0; shard < world.manifest().shards.size(); ++shard) {
        std::size_t holders = 0;
        for (std::size_t i = 0; i < world.size(); ++i) {
            holders += world.home(i).alive() && has_shard(world, i, shard) ? 1 : 0;
        }
        fewest = std::min(fewest, holders);
    }
    return fewest;
}

/// Shards of which no copy is left on any disk, be its owner alive or not.
std::size_t lost(World& world) {
    std::size_t count = 0;
    for (std::size_t shard = 0; shard < world.manifest().shards.size(); ++shard) {
        bool found = false;
        for (std::size_t i = 0; i < world.size(); ++i) found = found || has_shard(world, i, shard);
        count += found ? 0 : 1;
    }
    return count;
}

std::uint64_t bytes_on_disk(World& world, std::size_t member) {
    std::uint64_t bytes = 0;
    for (const auto& [id, blob] : world.home(member).folder.blobs) bytes += blob->bytes().size();
    return bytes;
}

std::size_t shards_on_disk(World& world, std::size_t member) {
    std::size_t count = 0;
    for (std::size_t shard = 0; shard < world.manifest().shards.size(); ++shard) {
        count += has_shard(world, member, shard) ? 1 : 0;
    }
    return count;
}

/// Counts the windows that trainers begin, and those of them on another shard than the round's.
struct Windows {
    void watch(World& world, std::size_t member) {
        world.home(member).process->trainer->on_train = [this, &world, member](const peer::WindowPlan& plan) {
            const std::size_t shard = run::shard_of(world.manifest().recipe.seed, plan.round, world.home(member).id(),
                                                    world.manifest().shards.size());
            const bool right = plan.shard == "shard" + std::to_string(shard);
            ++begun;
            substituted += right ? 0 : 1;
            if (right) trained.insert(shard);
        };
    }
    std::size_t begun = 0, substituted = 0;
    std::set<std::size_t> trained;
};

}  // namespace

class ShardsTest : public QObject {
    Q_OBJECT
private slots:
    void shards_outlive_the_host_and_training_goes_on_over_all_of_them() {
        for (const std::uint64_t seed : seeds(10)) {
            World world(seed, {.volunteers = 5, .rounds = 30, .friends = true, .shards = shard_count});
            world.start_all();
            QVERIFY(world.run_until([&] { return fewest_holders(world) >= run::shard_copies; }, Duration{60'000}));
            QVERIFY(world.run_until([&] { return world.all_at(6); }, Duration{200'000}));
            world.kill(0, seed % 2 == 0 ? Death::silent : Death::closes_sessions);
            const std::uint64_t left_at = world.round_of(1);
            Windows windows;
            for (std::size_t i = 1; i < world.size(); ++i) windows.watch(world, i);
            bool always = true;
            const auto done = [&] {
                always = always && fewest_holders(world) >= run::shard_copies_min;
                return world.all_at(30);
            };
            QVERIFY2(world.run_until(done, Duration{600'000}), std::to_string(seed).c_str());
            QVERIFY2(always, std::to_string(seed).c_str());
            QVERIFY(fewest_holders(world) >= run::shard_copies);
            QCOMPARE(windows.substituted, 0U);
            QCOMPARE(windows.trained.size(), std::size_t{shard_count});
            QVERIFY(windows.begun > 5 * (29 - left_at));
            const std::string apart = agreement(world);
            QVERIFY2(apart.empty(), apart.c_str());
        }
    }

    void the_next_rounds_shard_is_here_before_the_round_begins() {
        for (const std::uint64_t seed : seeds(10)) {
            World world(seed, {.volunteers = 3, .rounds = 12, .shards = 64, .shard_bytes_max = {{1, 4 * shard_bytes}}});
            world.start_all();
            QVERIFY(world.run_until([&] { return world.all_at(1); }, Duration{60'000}));
            Windows windows;
            for (std::size_t i = 1; i < world.size(); ++i) windows.watch(world, i);
            const std::string wrong = finish_run(world, Duration{300'000});
            QVERIFY2(wrong.empty(), wrong.c_str());
            QVERIFY(windows.begun >= 3 * 10);
            QCOMPARE(windows.substituted, 0U);
        }
    }

    void a_member_with_a_small_cap_keeps_to_it_and_the_others_hold_enough() {
        for (const std::uint64_t seed : seeds(10)) {
            WorldPlan plan{.volunteers = 5, .rounds = 16, .shards = shard_count};
            plan.shard_bytes_max = {{1, (1 + seed % 6) * shard_bytes}};
            World world(seed, plan);
            world.start_all();
            std::size_t most = 0, least = world.size();
            bool replicated = false;
            const auto done = [&] {
                most = std::max(most, shards_on_disk(world, 1));
                replicated = replicated || fewest_holders(world) >= run::shard_copies_min;
                if (replicated) least = std::min(least, fewest_holders(world));
                return world.all_at(16);
            };
            QVERIFY(world.run_until(done, Duration{400'000}));
            QVERIFY(replicated && least >= run::shard_copies_min);
            QVERIFY2(most > 0 && most <= 1 + seed % 6, std::to_string(most).c_str());
            QVERIFY(world.home(0).ledger.credit_of(world.run(), world.home(1).id()).rounds > 8);
        }
    }

    void members_share_the_shards_and_none_needs_them_all() {
        World world(3, {.volunteers = 11, .rounds = 14, .shards = 48});
        world.start_all();
        QVERIFY(world.run_until([&] { return world.all_at(10); }, Duration{400'000}));
        QVERIFY(fewest_holders(world) >= run::shard_copies);
        std::size_t copies = 0;
        for (std::size_t i = 1; i < world.size(); ++i) copies += shards_on_disk(world, i);
        // Four of twelve hold each shard, and a trainer's last ones are kept while there is room.
        QVERIFY2(copies < 11 * 48 * 2 / 3, std::to_string(copies).c_str());
    }

    void a_full_disk_ends_no_round() {
        for (const std::uint64_t seed : seeds(5)) {
            // Payloads of all rounds would be kept, had they the room.
            WorldPlan plan{.volunteers = 3, .rounds = 48, .checkpoint_every = 60};
            World world(seed, plan);
            constexpr std::uint64_t bytes_max = 48'000;  // the initial state and seven rounds
            for (std::size_t i = 1; i < world.size(); ++i) world.home(i).folder.bytes_max = bytes_max;
            world.start_all();
            std::uint64_t most = 0, wanted = 0;
            const auto done = [&] {
                for (std::size_t i = 1; i < world.size(); ++i) most = std::max(most, bytes_on_disk(world, i));
                wanted = bytes_on_disk(world, 0);
                return world.all_at(48);
            };
            QVERIFY2(world.run_until(done, Duration{400'000}), std::to_string(seed).c_str());
            QVERIFY(most <= bytes_max && most > bytes_max / 2);
            QVERIFY2(wanted > 3 * bytes_max / 2, std::to_string(wanted).c_str());
            for (std::size_t i = 1; i < world.size(); ++i) {
                const ledger::Credit credit = world.home(0).ledger.credit_of(world.run(), world.home(i).id());
                QVERIFY2(credit.rounds >= 44, std::to_string(credit.rounds).c_str());
            }
            const std::string books = conservation(world);
            QVERIFY2(books.empty(), books.c_str());
        }
    }

    void churn_loses_no_shard() {
        constexpr std::size_t cap = 28;  // of 36 shards; about 16 are assigned to each
        for (const std::uint64_t seed : seeds(20)) {
            WorldPlan plan{.volunteers = 8, .rounds = 20, .shards = 3 * shard_count};
            for (std::size_t i = 1; i <= 8; ++i) plan.shard_bytes_max[i] = cap * shard_bytes;
            World world(seed, plan);
            world.start_all();
            QVERIFY(world.run_until([&] { return fewest_holders(world) >= run::shard_copies_min; }, Duration{60'000}));
            churn(world, {.killed_each_round = 0.3}, 1, world.now() + Duration{60'000});
            // The host's copies are gone with the host's disk.
            for (const run::Shard& shard : world.manifest().shards) world.home(0).folder.blobs.erase(shard.blob.root);
            std::size_t worst = 0;
            const auto done = [&] {
                worst = std::max(worst, lost(world));
                return world.all_at(20);
            };
            QVERIFY2(world.run_until(done, Duration{600'000}), std::to_string(seed).c_str());
            const std::string wrong = finish_run(world, Duration{300'000});
            QVERIFY2(wrong.empty(), wrong.c_str());
            QCOMPARE(worst, 0U);
            world.run_for(Duration{90'000});
            QVERIFY(fewest_holders(world) >= run::shard_copies_min);
            for (std::size_t i = 1; i < world.size(); ++i) QVERIFY(shards_on_disk(world, i) <= cap);
        }
    }
};

QTEST_APPLESS_MAIN(ShardsTest)
#include "test_shards.moc"
