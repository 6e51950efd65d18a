// What a member offers and for how long.
#include <QTest>

#include "core/peer/states/seeder.h"
#include "tests/unit/peer/peer_fixture.h"

using namespace potluck;
using namespace potluck::peer;

namespace {

struct SeederMediator final : Seeder::Mediator {
    explicit SeederMediator(sim::Disk& store) : disk(store) {}
    std::optional<StateStore::Held> newest_state() const override { return newest; }
    bool in_use(RoundId round) const override { return round == used; }
    void drop_state(RoundId round) override { disk.drop_state(round); }
    void status_changed() override { ++changes; }
    sim::Disk& disk;
    std::optional<StateStore::Held> newest;
    RoundId used{1'000'000};
    int changes = 0;
};

struct Bench : Fixture {
    /// So many rounds more, each with one payload of its own and one of another.
    void play(std::uint64_t rounds) {
        if (chain.height().value == 0) {
            seeder.seed_kept_payloads(Seeder::Missing::fetched);
            mediator.newest = StateStore::Held{RoundId{0}, commit(0, 0.5F)};
        }
        const std::uint64_t until = chain.height().value + rounds;
        for (std::uint64_t round = chain.height().value; round < until; ++round) {
            std::vector<run::Accepted> entries;
            for (const std::uint8_t who : {std::uint8_t{1}, std::uint8_t{2}})
                entries.push_back({key_of(who).id(), payload(who, round), {64}});
            std::sort(entries.begin(), entries.end());
            const StateDigest result = commit(round + 1, static_cast<float>(round + 1));
            POTLUCK_CHECK(chain.append(list_of(entries), result).ok());
            mediator.newest = StateStore::Held{RoundId{round + 1}, result};
        }
    }
    static run::BlobRef payload(std::uint8_t who, std::uint64_t round) {
        const std::string text = std::to_string(who) + " " + std::to_string(round);
        return {merkle_root(as_bytes(text)), 10, run::BlobKind::plain, {}};
    }
    [[nodiscard]] bool forgot(const run::BlobRef& ref) const {
        return std::count(swarm.forgotten.begin(), swarm.forgotten.end(), ref.root) > 0;
    }
    [[nodiscard]] std::vector<std::uint64_t> rounds_held() const {
        std::vector<std::uint64_t> rounds;
        for (const StateStore::Held& one : disk.held()) rounds.push_back(one.round.value);
        return rounds;
    }
    Payloads payloads{swarm, context.layout.parameters, context.manifest.recipe.k_max};
    SeederMediator mediator{disk};
    Seeder seeder{{context, chain, disk, payloads, errors, mediator}};
};

}  // namespace

class PeerSeederTest : public QObject {
    Q_OBJECT
private slots:
    void the_newest_states_and_two_checkpoints_are_kept() {
        Bench bench;
        bench.play(14);
        bench.seeder.forget_old();
        QCOMPARE(bench.rounds_held(), (std::vector<std::uint64_t>{9, 11, 12, 13, 14}));
    }

    void a_member_that_takes_steps_leaves_missing_payloads_to_others() {
        for (const auto missing : {Seeder::Missing::fetched, Seeder::Missing::left}) {
            Bench bench;
            bench.play(3);
            bench.swarm.fetched.clear();
            Payloads fresh{bench.swarm, bench.context.layout.parameters, bench.context.manifest.recipe.k_max};
            Seeder again{{bench.context, bench.chain, bench.disk, fresh, bench.errors, bench.mediator}};
            again.seed_kept_payloads(missing);
            QCOMPARE(bench.swarm.fetched.empty(), missing == Seeder::Missing::left);
        }
    }

    void a_state_that_the_trainer_needs_is_kept() {
        Bench bench;
        bench.play(14);
        bench.mediator.used = RoundId{4};
        bench.seeder.forget_old();
        QVERIFY(bench.rounds_held().front() == 4);
    }

    void a_state_that_somebody_repairs_from_is_kept_for_a_minute() {
        Bench bench;
        bench.play(14);
        bench.seeder.publish_for_repair(RoundId{2}, *bench.chain.digest_at(RoundId{2}));
        bench.context.set_now(bench.context.now() + state_pinned_for - Duration{1});
        bench.seeder.forget_old();
        QVERIFY(bench.rounds_held().front() == 2);
        bench.context.set_now(bench.context.now() + Duration{1});
        bench.seeder.forget_old();
        QVERIFY(bench.rounds_held().front() == 9);
        QVERIFY(bench.forgot({*bench.chain.digest_at(RoundId{2}), 1, run::BlobKind::plain, {}}));
    }

    void payloads_go_with_the_checkpoint_before_last_whoever_made_them() {
        Bench bench;
        bench.play(14);
        bench.seeder.forget_old();
        for (const std::uint8_t who : {std::uint8_t{1}, std::uint8_t{2}}) {
            QVERIFY(bench.forgot(Bench::payload(who, 0)));
            QVERIFY(bench.forgot(Bench::payload(who, 8)));
            QVERIFY(!bench.forgot(Bench::payload(who, 9)));
        }
    }

    void no_blob_is_forgotten_while_the_member_catches_up() {
        Bench bench;
        bench.play(14);
        bench.mediator.newest->round = RoundId{13};
        bench.seeder.forget_old();
        QVERIFY(bench.swarm.forgotten.empty());
    }

    void a_checkpoint_is_told_once_it_is_published_and_right() {
        Bench bench;
        bench.play(3);
        bench.seeder.publish_checkpoint(RoundId{3});
        bench.seeder.publish_checkpoint(RoundId{3});
        QCOMPARE(bench.swarm.files.size(), std::size_t{1});
        QVERIFY(!bench.seeder.newest_checkpoint());
        const auto [file, kind] = bench.swarm.files[0];
        bench.seeder.on_published(file, run::BlobRef{*bench.chain.digest_at(RoundId{3}), 1, kind, {}});
        QCOMPARE(bench.seeder.newest_checkpoint()->round, RoundId{3});
        QCOMPARE(bench.mediator.changes, 1);
        bench.seeder.check_invariants();
        bench.seeder.state_dropped(RoundId{3});
        QVERIFY(!bench.seeder.newest_checkpoint());
    }

    /// Else a seat that is behind may wait for a list that waits for its vote.
    void the_checkpoint_before_is_told_until_a_list_confirms_the_newest() {
        Bench bench;
        const auto publish = [&](std::uint64_t round) {
            bench.seeder.publish_checkpoint(RoundId{round});
            const auto [file, kind] = bench.swarm.files.back();
            bench.seeder.on_published(file, run::BlobRef{*bench.chain.digest_at(RoundId{round}), 1, kind, {}});
        };
        bench.play(3);
        publish(3);
        QCOMPARE(bench.seeder.newest_checkpoint()->round, RoundId{3});
        bench.play(3);
        publish(6);
        QCOMPARE(bench.seeder.newest_checkpoint()->round, RoundId{3});
        bench.play(1);
        QCOMPARE(bench.seeder.newest_checkpoint()->round, RoundId{6});
    }

    void a_file_that_is_not_the_chains_state_is_no_checkpoint() {
        Bench bench;
        bench.play(3);
        bench.seeder.publish_checkpoint(RoundId{3});
        bench.seeder.on_published(bench.swarm.files[0].first,
                                  run::BlobRef{merkle_root(as_bytes("x")), 1, run::BlobKind::open, {}});
        QVERIFY(!bench.seeder.newest_checkpoint());
    }

    void a_state_lent_for_a_repair_is_no_checkpoint() {
        Bench bench;
        bench.play(3);
        const StateDigest digest = *bench.chain.digest_at(RoundId{2});
        bench.seeder.publish_for_repair(RoundId{2}, digest);
        bench.seeder.on_published(bench.swarm.files[0].first, run::BlobRef{digest, 1, run::BlobKind::plain, {}});
        QVERIFY(!bench.seeder.newest_checkpoint());
    }

    void states_lent_beyond_those_that_are_kept_are_two_at_most() {
        Bench bench;
        bench.play(14);
        for (const std::uint64_t round : {2U, 4U, 5U, 7U})
            bench.seeder.publish_for_repair(RoundId{round}, *bench.chain.digest_at(RoundId{round}));
        bench.seeder.forget_old();
        QCOMPARE(bench.rounds_held(), (std::vector<std::uint64_t>{5, 7, 9, 11, 12, 13, 14}));
    }

    void where_the_disk_is_used_up_the_oldest_payloads_go_but_not_the_newest_rounds() {
        Bench bench;
        bench.play(14);
        bench.swarm.free = rounds_of_room * 20;  // two rounds of two payloads
        bench.seeder.forget_old();
        QVERIFY(!bench.forgot(Bench::payload(1, 9)));
        bench.swarm.free -= 1;
        bench.seeder.forget_old();
        QVERIFY(bench.forgot(Bench::payload(1, 9)) && bench.forgot(Bench::payload(2, 9)));
        for (const std::uint64_t round : {10U, 11U, 12U, 13U}) QVERIFY(!bench.forgot(Bench::payload(1, round)));
        QVERIFY(!bench.seeder.forget_oldest_payloads(states_kept));
        QVERIFY(bench.seeder.forget_oldest_payloads(0));  // rather than to stand still
    }

    void the_initial_state_is_no_checkpoint() {
        Bench bench;
        bench.play(3);
        bench.seeder.publish_checkpoint(RoundId{0});
        QVERIFY(bench.swarm.files.empty());
    }

    void a_checkpoint_that_is_lent_for_a_repair_is_told_once_it_is_published_as_one() {
        Bench bench;
        bench.play(3);
        const StateDigest digest = *bench.chain.digest_at(RoundId{3});
        bench.seeder.publish_checkpoint(RoundId{3});
        bench.seeder.publish_for_repair(RoundId{3}, digest);
        bench.seeder.publish_for_repair(RoundId{3}, digest);
        QCOMPARE(bench.swarm.files.size(), std::size_t{2});
        const std::filesystem::path file = bench.swarm.files[0].first;
        bench.seeder.on_published(file, run::BlobRef{digest, 1, run::BlobKind::plain, {}});
        QVERIFY(!bench.seeder.newest_checkpoint());
        bench.seeder.on_published(file, run::BlobRef{digest, 1, run::BlobKind::open, {}});
        QVERIFY(bench.seeder.newest_checkpoint().has_value());
    }
};

QTEST_APPLESS_MAIN(PeerSeederTest)
#include "test_peer_seeder.moc"
