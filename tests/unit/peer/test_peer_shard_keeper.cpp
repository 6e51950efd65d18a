// Which shards a member fetches, keeps and lets go of.
#include <QTest>

#include "core/peer/shard_keeper.h"
#include "core/run/shard_holders.h"
#include "tests/unit/peer/peer_fixture.h"

using namespace potluck;
using namespace potluck::peer;

namespace {

constexpr std::uint64_t size = 1'000;

run::Manifest manifest_with(std::size_t shards) {
    run::Manifest manifest = Fixture::manifest_of();
    manifest.shards.clear();
    for (std::size_t i = 0; i < shards; ++i) {
        run::BlobRef blob{merkle_root(as_bytes("shard " + std::to_string(i))), size, run::BlobKind::open, {}};
        manifest.shards.push_back({blob, 10});
    }
    return manifest;
}

struct Bench : Fixture {
    /// Member `number`, 1 being the host, whose key is nobody's newcomer.
    explicit Bench(std::size_t shards, std::uint64_t cap = run::no_shard_cap, std::uint8_t number = 1)
        : Fixture(manifest_with(shards), number, settings_with(cap)) {}
    explicit Bench(run::Manifest run_manifest) : Fixture(std::move(run_manifest)) {}
    static PeerSettings settings_with(std::uint64_t cap) {
        PeerSettings settings;
        settings.shard_bytes_max = cap;
        return settings;
    }

    void meet(std::uint8_t first, std::uint8_t last) {
        for (std::uint8_t number = first; number <= last; ++number) {
            run::StatusMessage status;
            status.sequence = ++sequence;
            if (owner && number > 2) status.certificate = run::certify(key_of(*owner), key_of(number).id());
            POTLUCK_CHECK(members.take(key_of(number).id(), status, Source::itself, context.now()) ==
                          run::Verdict::accepted);
        }
    }
    void pass(Duration time) { context.set_now(context.now() + time); }
    /// The index of the shard that was asked for last.
    [[nodiscard]] std::size_t index_of(const BlobId& id) const {
        for (std::size_t i = 0; i < context.manifest.shards.size(); ++i) {
            if (context.manifest.shards[i].blob.root == id) return i;
        }
        return context.manifest.shards.size();
    }
    void arrive(const BlobId& id) {
        swarm.blobs[id] = std::make_shared<sim::MemoryBlob>(Bytes(size));
        keeper.on_blob(id);
    }
    /// What was asked for or given up since the last call is done.
    void settle() {
        for (const BlobId& id : std::exchange(swarm.forgotten, {})) swarm.blobs.erase(id);
        for (const BlobId& id : std::exchange(swarm.fetched, {})) arrive(id);
    }
    /// Time passes until nothing moves any more.
    void run_on(const std::vector<std::size_t>& needed, int seconds = 200) {
        for (int i = 0; i < seconds; ++i) {
            keeper.update(needed);
            settle();
            pass(Duration{1'000});
            meet(2, others);
        }
    }

    std::uint64_t sequence = 0;
    std::uint8_t others = 1;              // the last of them
    std::optional<std::uint8_t> owner{};  // whose computers all from 3 on are
    Members members;
    ShardKeeper keeper{{context, chain, members, errors}};
};

}  // namespace

class PeerShardKeeperTest : public QObject {
    Q_OBJECT
private slots:
    void needed_shards_are_fetched_at_once_and_assigned_shards_two_at_a_time() {
        Bench bench(20);
        bench.meet(2, 3);
        bench.keeper.update({4, 7});
        QCOMPARE(bench.swarm.fetched.size(), 2U);
        QCOMPARE(bench.index_of(bench.swarm.fetched[0]), 4U);
        QCOMPARE(bench.index_of(bench.swarm.fetched[1]), 7U);
        bench.settle();
        bench.pass(heartbeats_to_meet * bench.context.settings.heartbeat - Duration{1});
        bench.keeper.update({4, 7});
        QVERIFY(bench.swarm.fetched.empty());
        bench.pass(Duration{1});
        bench.keeper.update({4, 7});
        QCOMPARE(bench.swarm.fetched.size(), assigned_fetches_max);
        bench.settle();
        bench.keeper.update({4, 7});
        QCOMPARE(bench.swarm.fetched.size(), assigned_fetches_max);
    }

    void among_few_everybody_holds_everything() {
        Bench bench(20);
        bench.others = 3;
        bench.run_on({});
        QCOMPARE(bench.keeper.whole().size(), 20U);
        QVERIFY(bench.swarm.forgotten.empty());
    }

    void copies_elsewhere_are_those_of_members_that_count() {
        Bench alone(20);
        QCOMPARE(alone.keeper.other_copies(), 0U);
        alone.keeper.update({});
        QCOMPARE(alone.keeper.other_copies(), 0U);
        Bench host(20);
        host.meet(2, 9);
        host.keeper.update({});
        QCOMPARE(host.keeper.other_copies(), 0U);  // all of them are newcomers
        Bench newcomer(20, run::no_shard_cap, 5);
        newcomer.meet(1, 3);
        newcomer.keeper.update({});
        QCOMPARE(newcomer.keeper.other_copies(), 3U);
        newcomer.meet(6, 9);
        newcomer.pass(newcomer.context.settings.heartbeat);
        newcomer.keeper.update({});
        QCOMPARE(newcomer.keeper.other_copies(), run::shard_copies);
    }

    void a_lone_member_fetches_no_shard() {
        Bench bench(20);
        bench.run_on({});
        QVERIFY(bench.keeper.whole().empty());
    }

    void the_assignment_is_that_of_rendezvous_hashing() {
        Bench bench(40, run::no_shard_cap, 5);  // a newcomer, who counts everybody
        bench.meet(1, 4);
        bench.meet(6, 9);
        bench.keeper.update({});
        std::vector<run::ShardHolder> members;
        for (std::uint8_t number = 1; number < 10; ++number) members.push_back({key_of(number).id()});
        const auto holders = run::shard_holders(bench.context.manifest.shards, members, run::shard_copies);
        std::set<std::size_t> expected;
        for (std::size_t i = 0; i < holders.size(); ++i) {
            if (std::count(holders[i].begin(), holders[i].end(), 4U) > 0) expected.insert(i);
        }
        QVERIFY(expected.size() > 8 && expected.size() < 32);
        QVERIFY(bench.keeper.assigned() == expected);
    }

    void one_computer_of_a_person_is_believed_to_hold_shards() {
        Bench bench(40, run::no_shard_cap, 20);  // a newcomer, who counts everybody
        bench.owner = 2;
        bench.meet(2, 9);
        bench.keeper.update({});
        QCOMPARE(bench.keeper.assigned().size(), std::size_t{40});  // two people: both keep all
    }

    void the_ledger_is_asked_about_64_keys_at_a_look() {
        run::Manifest manifest = manifest_with(1'000);
        std::vector<std::uint8_t> numbers;
        for (std::uint8_t number = 2; number < 72; ++number) numbers.push_back(number);
        const std::vector<PeerId> others = ids_of(numbers);
        manifest.allowed = others;
        Bench bench(manifest);
        bench.meet(2, 71);
        const auto assigned_beside = [&](std::ptrdiff_t count) {
            std::vector<PeerId> keys(others.begin(), others.begin() + count);
            keys.push_back(bench.self.id());
            std::sort(keys.begin(), keys.end());
            std::vector<run::ShardHolder> members;
            for (const PeerId& key : keys) members.push_back({key});
            const auto self =
                static_cast<std::size_t>(std::find(keys.begin(), keys.end(), bench.self.id()) - keys.begin());
            const auto holders = run::shard_holders(manifest.shards, members, run::shard_copies);
            std::set<std::size_t> assigned;
            for (std::size_t i = 0; i < holders.size(); ++i) {
                if (std::count(holders[i].begin(), holders[i].end(), self) > 0) assigned.insert(i);
            }
            return assigned;
        };
        const std::set<std::size_t> beside_some = assigned_beside(64), beside_all = assigned_beside(70);
        QVERIFY(beside_some != beside_all);
        bench.keeper.update({});
        QVERIFY(bench.keeper.assigned() == beside_some);
        bench.pass(bench.context.settings.heartbeat);
        bench.keeper.update({});
        QVERIFY(bench.keeper.assigned() == beside_all);
    }

    void newcomers_take_nothing_off_an_established_member() {
        Bench bench(40);
        bench.meet(2, 9);
        bench.keeper.update({});
        QCOMPARE(bench.keeper.assigned().size(), 40U);
        for (std::uint64_t round = 0; round < bench.context.manifest.recipe.probation_rounds; ++round) {
            std::vector<run::Accepted> entries;
            for (std::uint8_t number = 2; number < 10; ++number) {
                run::Accepted entry{key_of(number).id(), {}, {64}};
                entry.payload = {
                    merkle_root(as_bytes(std::to_string(round * 100 + number))), 10, run::BlobKind::plain, {}};
                entries.push_back(entry);
            }
            POTLUCK_CHECK(bench.chain.append(bench.list_of(entries), bench.commit(round + 1, 0.5F)).ok());
        }
        bench.pass(bench.context.settings.heartbeat);
        bench.meet(2, 9);
        bench.keeper.update({});
        QVERIFY(bench.keeper.assigned().size() < 30);
        // Who is away for less than a minute still counts.
        const std::set<std::size_t> assigned = bench.keeper.assigned();
        for (std::uint8_t number = 2; number < 10; ++number) bench.members.remove(key_of(number).id());
        bench.pass(absence_excused - Duration{1});
        bench.keeper.update({});
        QVERIFY(bench.keeper.assigned() == assigned);
        bench.pass(bench.context.settings.heartbeat);
        bench.keeper.update({});
        QCOMPARE(bench.keeper.assigned().size(), 40U);
    }

    void the_cap_holds_and_nothing_goes_before_its_replacement_is_whole() {
        Bench bench(40, 10 * size);
        bench.others = 3;
        bench.run_on({0, 1});
        QCOMPARE(bench.keeper.assigned().size(), 10 - shards_unassigned);
        const std::set<std::size_t> assigned = bench.keeper.assigned();
        for (std::size_t round = 2; round < 60; ++round) {
            const std::vector<std::size_t> needed{(round - 1) % 40, round % 40};
            const std::set<std::size_t> before = bench.keeper.whole();
            bench.keeper.update(needed);
            // The next round's shard is asked for while everything that was here still is.
            QVERIFY(bench.swarm.forgotten.empty());
            QVERIFY(bench.swarm.fetched.size() <= 1 && bench.keeper.whole() == before);
            bench.settle();
            bench.keeper.update(needed);
            QVERIFY(bench.keeper.whole().size() + shards_coming_in <= 10);
            for (const std::size_t shard : needed) QVERIFY(bench.keeper.whole().contains(shard));
            for (const std::size_t shard : assigned) QVERIFY(bench.keeper.whole().contains(shard));
            bench.settle();
            bench.pass(Duration{1'000});
            bench.meet(2, 3);
        }
    }

    void a_new_assignment_does_not_take_the_room_of_what_the_trainer_needs() {
        constexpr std::size_t cap = 26;
        Bench bench(40, cap * size, 5);  // a newcomer, who counts everybody
        bench.others = 20;
        bench.meet(1, 1);
        for (std::size_t round = 0; round < 30; ++round) bench.run_on({round, round + 1}, 12);
        QCOMPARE(bench.keeper.whole().size(), cap - shards_coming_in);
        const std::size_t assigned = bench.keeper.assigned().size();
        for (std::uint8_t number = 6; number <= 20; ++number) bench.members.remove(key_of(number).id());
        bench.pass(bench.context.settings.heartbeat);
        bench.keeper.update({29, 30});
        QVERIFY(bench.keeper.assigned().size() > assigned);
        // There is room for as many as are fetched at once, but one place stays free.
        const auto lacking = std::count_if(bench.keeper.assigned().begin(), bench.keeper.assigned().end(),
                                           [&](std::size_t shard) { return !bench.keeper.whole().contains(shard); });
        QVERIFY(static_cast<std::size_t>(lacking) >= assigned_fetches_max && shards_coming_in >= assigned_fetches_max);
        QCOMPARE(bench.swarm.fetched.size(), std::size_t{1});
        QVERIFY(bench.swarm.forgotten.empty());
        std::size_t next = 0;
        while (bench.keeper.whole().contains(next) || bench.keeper.assigned().contains(next)) ++next;
        bench.keeper.update({30, next});
        QCOMPARE(bench.index_of(bench.swarm.fetched.back()), next);
        QVERIFY(bench.swarm.forgotten.empty());
        bench.others = 4;
        bench.run_on({30, next});
        for (const std::size_t shard : bench.keeper.assigned()) QVERIFY(bench.keeper.whole().contains(shard));
        QVERIFY(bench.keeper.whole().size() <= cap - shards_coming_in);
    }

    void a_cap_for_two_shards_serves_the_trainer_alone() {
        Bench bench(40, 2 * size);
        bench.others = 3;
        for (std::size_t round = 1; round < 20; ++round) {
            bench.run_on({round - 1, round});
            QVERIFY(bench.keeper.assigned().empty());
            QVERIFY(bench.keeper.whole() == (std::set<std::size_t>{round - 1, round}));
        }
        QVERIFY(bench.errors.last().empty());
    }

    void a_cap_below_one_shard_is_told_with_what_to_do() {
        Bench bench(40, size - 1);
        bench.meet(2, 3);
        bench.keeper.update({0, 1});
        QVERIFY(bench.swarm.fetched.empty());
        QVERIFY(bench.errors.last().find("--disk") != std::string::npos);
    }

    void more_room_is_used_at_once_and_the_want_of_it_is_no_news_any_more() {
        Bench bench(40, size - 1);
        bench.meet(2, 3);
        bench.keeper.update({0, 1});
        QVERIFY(bench.errors.recent() && bench.errors.remedy() == Remedy::disk_limit);
        bench.keeper.set_cap(size - 1);
        QVERIFY(bench.errors.recent());
        bench.keeper.set_cap(10 * size);
        QVERIFY(!bench.errors.recent());
        bench.keeper.update({0, 1});
        QCOMPARE(bench.swarm.fetched.size(), 2U);
        QVERIFY(!bench.errors.recent());
    }

    void a_shard_that_finds_room_after_all_withdraws_its_failure_and_no_other() {
        Bench bench(3);
        bench.keeper.update({0, 1});
        QCOMPARE(bench.swarm.fetched.size(), 2U);
        bench.errors.report("There is no room.", Remedy::disk_limit);
        bench.arrive(bench.swarm.fetched[0]);
        QVERIFY(!bench.errors.recent());
        bench.errors.report("Something went wrong.", Remedy::none);
        bench.arrive(bench.swarm.fetched[1]);
        QVERIFY(bench.errors.recent());
    }

    void a_fetch_that_failed_is_tried_again_a_little_later() {
        Bench bench(3);
        bench.keeper.update({0, 1});
        bench.keeper.on_blob_failed(bench.swarm.fetched[0]);
        bench.swarm.fetched.clear();
        bench.pass(shard_retry_after - Duration{1});
        bench.keeper.update({0, 1});
        QVERIFY(bench.swarm.fetched.empty());
        bench.pass(Duration{1});
        bench.keeper.update({0, 1});
        QCOMPARE(bench.swarm.fetched.size(), 1U);
    }

    void fetches_for_rounds_that_are_over_do_not_pile_up() {
        Bench bench(40, run::no_shard_cap, 5);  // a newcomer, who counts everybody
        bench.meet(1, 9);
        for (std::size_t round = 0; round < 30; ++round) bench.keeper.update({round, round + 1});
        QCOMPARE(bench.swarm.fetched.size(), 31U);
        std::size_t stale = 0;
        for (std::size_t shard = 0; shard < 29; ++shard) stale += bench.keeper.assigned().contains(shard) ? 0 : 1;
        QVERIFY(stale > 5);
        QCOMPARE(bench.swarm.forgotten.size(), stale - stale_fetches_max);
    }

    void shards_left_on_disk_by_an_earlier_life_are_used() {
        Bench bench(40, 10 * size);
        const BlobId here = bench.context.manifest.shards[7].blob.root;
        bench.swarm.blobs[here] = std::make_shared<sim::MemoryBlob>(Bytes(size));
        bench.keeper.update({7, 8});
        QVERIFY(bench.keeper.whole() == std::set<std::size_t>{7});
        QCOMPARE(bench.swarm.fetched.size(), 1U);
        // And what was deleted behind our back is fetched again.
        bench.swarm.blobs.clear();
        bench.pass(bench.context.settings.heartbeat);
        bench.keeper.update({7, 8});
        QVERIFY(bench.keeper.whole().empty());
        QCOMPARE(bench.swarm.fetched.back(), here);
    }

    void on_a_full_disk_only_what_nobody_relies_on_goes() {
        Bench bench(40, 12 * size);
        bench.others = 3;
        bench.run_on({0, 1});
        bench.run_on({2, 3});
        const std::set<std::size_t> assigned = bench.keeper.assigned();
        while (bench.keeper.evict_spare()) {
        }
        QVERIFY(bench.keeper.assigned() == assigned);
        std::set<std::size_t> left = assigned;
        left.insert({2, 3});
        QVERIFY(bench.keeper.whole() == left);
    }
};

QTEST_APPLESS_MAIN(PeerShardKeeperTest)
#include "test_peer_shard_keeper.moc"
