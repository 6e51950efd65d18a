// Digests that are compared, and the mending of a damaged state.
#include <QTest>

#include "core/peer/states/repairer.h"
#include "tests/unit/peer/peer_fixture.h"

using namespace potluck;
using namespace potluck::peer;

namespace {

StateDigest digest_of(const char* text) { return merkle_root(as_bytes(text)); }

struct RepairerMediator final : Repairer::Mediator {
    void on_repair_begun() override { ++begun; }
    void on_repaired(const StateStore::Held& done) override { repaired = done; }
    void on_unrepairable(RoundId round) override { unrepairable = round; }
    void publish_for_repair(RoundId, const StateDigest&) override { ++published; }
    int begun = 0, published = 0;
    std::optional<StateStore::Held> repaired;
    std::optional<RoundId> unrepairable;
};

/// A member that holds theta[1] after one list.
struct Bench : Fixture {
    Bench() {
        (void)commit(0, 0.5F);
        ours = commit(1, 1.0F);
        list = list_of({payload_of(1.0F).entry});
        POTLUCK_CHECK(chain.append(list, ours).ok());
        keeper.hold({RoundId{1}, ours});
    }
    /// Somebody says that L[0] led to `digest`.
    void hear(std::uint8_t who, const StateDigest& digest) { hear_at(1, who, digest); }
    /// The same of the newest list.
    void hear_at(std::uint64_t round, std::uint8_t who, const StateDigest& digest) {
        run::StatusMessage status;
        status.sequence = ++sequence;
        status.phase = run::Phase::training;
        status.round = RoundId{round};
        status.list = list.hash;
        status.digest = digest;
        POTLUCK_CHECK(members.take(key_of(who).id(), status, Source::itself, context.now()) == run::Verdict::accepted);
        repairer.compare(key_of(who).id());
    }
    void meet(std::uint8_t neighbour) {
        members.joined(key_of(neighbour).id());
        hear(neighbour, ours);
    }
    void wait() {
        context.set_now(context.now() + run::heartbeats_to_repeat * context.settings.heartbeat);
        repairer.update_repair();
    }
    [[nodiscard]] std::size_t layers_asked() const {
        return static_cast<std::size_t>(std::count_if(swarm.sent.begin(), swarm.sent.end(), [](const auto& envelope) {
            return envelope.kind == run::MessageKind::layer_request;
        }));
    }
    [[nodiscard]] run::LayerMessage true_layer() const {
        const State state = disk.state(RoundId{1});
        return {ours, 0, merkle_layer(state.file, piece_size_of(state.file.size()))};
    }

    StateDigest ours;
    CheckedList list;
    std::uint64_t sequence = 0;
    KeeperSilence silence;
    RepairerMediator mediator;
    Members members;
    StateKeeper keeper{{context, chain, disk, jobs, errors, silence}};
    Repairer repairer{{context, chain, keeper, disk, members, jobs, errors, mediator}};
};

}  // namespace

class PeerRepairerTest : public QObject {
    Q_OBJECT
private slots:
    void a_member_and_a_round_are_compared_once() {
        Bench bench;
        bench.hear(2, bench.ours);
        bench.hear(2, bench.ours);
        bench.hear(3, bench.ours);
        QCOMPARE(bench.repairer.digests_compared(), 2ULL);
        QCOMPARE(bench.repairer.digests_equal(), 2ULL);
    }

    void another_digest_is_counted_as_different() {
        Bench bench;
        bench.hear(2, bench.ours);
        bench.hear(3, digest_of("other"));
        QCOMPARE(bench.repairer.digests_compared(), 2ULL);
        QCOMPARE(bench.repairer.digests_equal(), 1ULL);
        QVERIFY(!bench.repairer.active());
        bench.repairer.check_invariants();
    }

    void digests_in_statuses_decide_nothing() {
        Bench bench;
        for (std::uint8_t who = 2; who < 8; ++who) bench.hear(who, digest_of("other"));
        bench.work.finish_all();
        bench.wait();
        QCOMPARE(bench.repairer.digests_equal(), 0ULL);
        QVERIFY(!bench.repairer.active());
        QCOMPARE(bench.mediator.begun, 0);
        QVERIFY(bench.swarm.sent.empty());
    }

    void another_digest_makes_a_member_check_its_bytes_once_a_round() {
        Bench sound, damaged;
        QVERIFY(damaged.disk.damage(5));
        for (Bench* bench : {&sound, &damaged}) {
            bench->hear(2, bench->ours);
            bench->hear(3, digest_of("other"));
            bench->hear(4, digest_of("other"));
            QCOMPARE(bench->work.size(), std::size_t{1});
            bench->work.finish_all();
        }
        QVERIFY(!sound.mediator.unrepairable);
        QVERIFY(damaged.mediator.unrepairable == RoundId{1});
    }

    void newcomers_make_a_member_verify_its_states_every_tenth_round() {
        Bench bench;
        bench.hear(3, digest_of("other"));
        QCOMPARE(bench.work.size(), std::size_t{1});
        bench.work.finish_all();
        for (std::uint64_t round = 2; round <= 12; ++round) {
            const StateDigest next = bench.commit(round, static_cast<float>(round));
            const CheckedList list = bench.list_of({bench.payload_of(static_cast<float>(round)).entry});
            QVERIFY(bench.chain.append(list, next).ok());
            bench.keeper.hold({RoundId{round}, next});
            bench.list = list;
            bench.hear_at(round, 3, digest_of("other"));
            QCOMPARE(bench.work.size(), std::size_t{round == 11 ? 1U : 0U});
            bench.work.finish_all();
        }
        // Key 1 is the host's.
        bench.hear_at(12, 1, digest_of("other"));
        QCOMPARE(bench.work.size(), std::size_t{1});
    }

    void a_repair_asks_others_for_the_layer_and_not_itself() {
        Bench bench;
        bench.repairer.begin({RoundId{1}, digest_of("certified")}, {bench.self.id(), key_of(2).id()});
        QVERIFY(bench.repairer.active());
        QCOMPARE(bench.mediator.begun, 1);
        QCOMPARE(bench.swarm.sent_to.size(), std::size_t{1});
        QVERIFY(bench.swarm.sent_to[0].first == key_of(2).id());
        bench.repairer.begin({RoundId{1}, digest_of("another")}, {key_of(2).id()});
        QCOMPARE(bench.mediator.begun, 1);
    }

    void a_layer_that_does_not_lead_to_the_digest_is_refused() {
        Bench bench;
        const run::LayerMessage layer = bench.true_layer();
        bench.repairer.begin({RoundId{1}, bench.ours}, {key_of(2).id()});
        run::LayerMessage forged = layer;
        forged.hashes.at(0).bytes[3] ^= std::byte{1};
        QCOMPARE(bench.repairer.on_layer(key_of(2).id(), forged), run::Verdict::malformed);
        QVERIFY(!bench.repairer.fetches(bench.ours));
        run::LayerMessage longer = layer;
        longer.hashes.push_back({});
        QCOMPARE(bench.repairer.on_layer(key_of(2).id(), longer), run::Verdict::malformed);
        QCOMPARE(bench.repairer.on_layer(key_of(2).id(), layer), run::Verdict::accepted);
        QVERIFY(bench.repairer.fetches(bench.ours));
    }

    void a_layer_that_was_not_asked_for_is_stale() {
        Bench bench;
        QCOMPARE(bench.repairer.on_layer(key_of(2).id(), bench.true_layer()), run::Verdict::stale);
        bench.repairer.begin({RoundId{1}, digest_of("other")}, {key_of(2).id()});
        QCOMPARE(bench.repairer.on_layer(key_of(2).id(), bench.true_layer()), run::Verdict::stale);
    }

    void a_layer_begins_where_the_last_part_ended_and_comes_once() {
        Bench bench;
        const run::LayerMessage layer = bench.true_layer();
        bench.repairer.begin({RoundId{1}, bench.ours}, {key_of(2).id()});
        run::LayerMessage moved = layer;
        moved.first = 1;
        QCOMPARE(bench.repairer.on_layer(key_of(2).id(), moved), run::Verdict::malformed);
        QCOMPARE(bench.repairer.on_layer(key_of(2).id(), layer), run::Verdict::accepted);
        QCOMPARE(bench.repairer.on_layer(key_of(2).id(), layer), run::Verdict::stale);
    }

    void a_layer_request_for_a_state_under_repair_is_stale() {
        Bench bench;
        bench.repairer.begin({RoundId{1}, bench.ours}, {key_of(2).id()});
        QCOMPARE(bench.repairer.on_layer_request(key_of(2).id(), {bench.ours, 0}), run::Verdict::stale);
    }

    void a_fetched_state_is_adopted_and_reported() {
        Bench bench;
        const State state = bench.disk.state(RoundId{1});
        const auto content = std::make_shared<sim::MemoryBlob>(Bytes(state.file.begin(), state.file.end()));
        const run::LayerMessage layer = bench.true_layer();
        QVERIFY(bench.disk.damage(5));
        bench.repairer.begin({RoundId{1}, bench.ours}, {key_of(2).id()});
        QCOMPARE(bench.repairer.on_layer(key_of(2).id(), layer), run::Verdict::accepted);
        bench.repairer.on_content(content);
        bench.work.finish_all();
        QVERIFY(!bench.repairer.active());
        QVERIFY(bench.mediator.repaired.has_value());
        QCOMPARE(bench.repairer.repairs(), 1ULL);
        QVERIFY(merkle_root(bench.disk.state(RoundId{1}).file) == bench.ours);
    }

    void content_that_is_not_the_state_ends_the_repair() {
        Bench bench;
        bench.repairer.begin({RoundId{1}, bench.ours}, {key_of(2).id()});
        QCOMPARE(bench.repairer.on_layer(key_of(2).id(), bench.true_layer()), run::Verdict::accepted);
        bench.repairer.on_content(std::make_shared<sim::MemoryBlob>(Bytes(77)));
        bench.work.finish_all();
        QVERIFY(!bench.mediator.repaired);
        QCOMPARE(*bench.mediator.unrepairable, RoundId{1});
    }

    void a_repair_is_given_up_after_its_last_try() {
        Bench bench;
        bench.repairer.begin({RoundId{1}, digest_of("lost")}, {key_of(2).id(), key_of(3).id()});
        for (int i = 0; i < repair_tries_max - 1; ++i) bench.wait();
        QCOMPARE(bench.layers_asked(), static_cast<std::size_t>(repair_tries_max));
        QVERIFY(!bench.mediator.unrepairable);
        bench.wait();
        QCOMPARE(*bench.mediator.unrepairable, RoundId{1});
        QVERIFY(!bench.repairer.active());
    }

    void a_member_that_is_alone_uses_up_no_tries() {
        Bench bench;
        bench.repairer.begin({RoundId{1}, digest_of("lost")}, {});
        for (int i = 0; i < 2 * repair_tries_max; ++i) bench.wait();
        QVERIFY(!bench.mediator.unrepairable);
        bench.meet(2);
        bench.repairer.update_repair();  // it asks at once
        for (int i = 0; i < repair_tries_max - 1; ++i) bench.wait();
        QCOMPARE(bench.layers_asked(), static_cast<std::size_t>(repair_tries_max));
        QVERIFY(!bench.mediator.unrepairable);
        bench.wait();
        QVERIFY(bench.mediator.unrepairable == RoundId{1});
    }

    void a_member_that_is_alone_for_a_minute_gives_up() {
        Bench bench;
        bench.repairer.begin({RoundId{1}, digest_of("lost")}, {});
        // The first question was due when the repair began.
        const Duration due = run::heartbeats_to_repeat * bench.context.settings.heartbeat;
        bench.context.set_now(bench.context.now() + repair_alone_max - due - Duration{1});
        bench.repairer.update_repair();
        QVERIFY(bench.repairer.active());
        bench.context.set_now(bench.context.now() + Duration{1});
        bench.repairer.update_repair();
        QVERIFY(!bench.repairer.active());
        QVERIFY(bench.mediator.unrepairable == RoundId{1});
        QCOMPARE(bench.layers_asked(), std::size_t{0});
    }

    void a_fetch_of_which_nothing_comes_uses_up_tries() {
        Bench bench;
        bench.repairer.begin({RoundId{1}, bench.ours}, {});
        QCOMPARE(bench.repairer.on_layer(key_of(2).id(), bench.true_layer()), run::Verdict::accepted);
        for (int i = 0; i < repair_tries_max; ++i) bench.wait();
        QVERIFY(bench.repairer.fetches(bench.ours));
        bench.wait();
        QVERIFY(bench.mediator.unrepairable == RoundId{1});
    }

    void a_layer_is_computed_once_however_many_ask_and_how_often() {
        Bench bench;
        QCOMPARE(bench.repairer.on_layer_request(key_of(2).id(), {digest_of("unknown"), 0}), run::Verdict::stale);
        for (std::uint8_t i = 0; i < layer_askers_max; ++i) {
            const PeerId asker = key_of(static_cast<std::uint8_t>(2 + i)).id();
            QCOMPARE(bench.repairer.on_layer_request(asker, {bench.ours, 0}), run::Verdict::accepted);
            QCOMPARE(bench.repairer.on_layer_request(asker, {bench.ours, 0}), run::Verdict::repeated);
        }
        QCOMPARE(bench.repairer.on_layer_request(key_of(99).id(), {bench.ours, 0}), run::Verdict::stale);
        QCOMPARE(bench.work.size(), 1U);
        bench.work.finish_all();
        QCOMPARE(bench.swarm.sent.size(), layer_askers_max);
        for (int i = 0; i < 100; ++i)
            QCOMPARE(bench.repairer.on_layer_request(key_of(99).id(), {bench.ours, 0}), run::Verdict::accepted);
        QCOMPARE(bench.work.size(), 0U);
        QCOMPARE(bench.swarm.sent.size(), layer_askers_max + 100);
        QVERIFY(bench.swarm.sent.front() == bench.swarm.sent[layer_askers_max]);
    }

    void a_layer_of_damaged_bytes_is_told_to_nobody() {
        Bench bench;
        QVERIFY(bench.disk.damage(40'000));
        QCOMPARE(bench.repairer.on_layer_request(key_of(2).id(), {bench.ours, 0}), run::Verdict::accepted);
        bench.work.finish_all();
        QVERIFY(bench.swarm.sent.empty());
    }

    void a_layer_is_of_the_state_that_was_asked_for_though_it_is_dropped_meanwhile() {
        Bench bench;
        const run::LayerMessage expected = bench.true_layer();
        QCOMPARE(bench.repairer.on_layer_request(key_of(2).id(), {bench.ours, 0}), run::Verdict::accepted);
        bench.disk.drop_state(RoundId{1});
        bench.work.finish_all();
        const auto answer = run::decode_body(run::MessageKind::layer, bench.swarm.sent.back().body);
        QVERIFY(std::get<run::LayerMessage>(*answer) == expected);
    }

    void a_layer_is_asked_for_again_after_two_heartbeats() {
        Bench bench;
        bench.repairer.begin({RoundId{1}, digest_of("lost")}, {key_of(2).id()});
        bench.context.set_now(bench.context.now() + 2 * bench.context.settings.heartbeat - Duration{1});
        bench.repairer.update_repair();
        QCOMPARE(bench.layers_asked(), std::size_t{1});
        bench.context.set_now(bench.context.now() + Duration{1});
        bench.repairer.update_repair();
        QCOMPARE(bench.layers_asked(), std::size_t{2});
    }

    void layers_of_four_states_are_kept() {
        Bench bench;
        std::vector<StateDigest> states{bench.ours};
        for (std::uint64_t round = 2; round <= 5; ++round)
            states.push_back(bench.commit(round, static_cast<float>(round)));
        const auto ask_for = [&](const StateDigest& state) {
            POTLUCK_CHECK(bench.repairer.on_layer_request(key_of(2).id(), {state, 0}) == run::Verdict::accepted);
            const std::size_t jobs = bench.work.size();
            bench.work.finish_all();
            return jobs;
        };
        std::size_t computed = 0;
        for (std::size_t i = 0; i < 4; ++i) computed += ask_for(states[i]);
        for (std::size_t i = 0; i < 4; ++i) computed += ask_for(states[i]);
        QCOMPARE(computed, std::size_t{4});
        QCOMPARE(ask_for(states[4]), std::size_t{1});
        // The fifth has taken the place of one of them, which is computed anew.
        computed = 0;
        for (const StateDigest& state : states) computed += ask_for(state);
        QVERIFY(computed > 0);
    }

    void a_state_of_the_round_before_is_checked_and_none_before_that() {
        for (const std::uint64_t damaged : {0U, 1U}) {
            Bench bench;
            const StateDigest next = bench.commit(2, 2.0F);
            bench.list = bench.list_of({bench.payload_of(2.0F).entry});
            QVERIFY(bench.chain.append(bench.list, next).ok());
            bench.keeper.hold({RoundId{2}, next});
            QVERIFY(bench.disk.damage(RoundId{damaged}, 5));
            bench.hear_at(2, 3, digest_of("other"));
            bench.work.finish_all();
            QCOMPARE(bench.mediator.unrepairable.has_value(), damaged == 1);
        }
    }
};

QTEST_APPLESS_MAIN(PeerRepairerTest)
#include "test_peer_repairer.moc"
