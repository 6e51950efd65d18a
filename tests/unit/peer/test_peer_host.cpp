// A whole member, as far as its run's host goes: who may sign actions, who hears of them, whom they shut out, and when
// a host that decides alone ends its run.
#include <QTest>

#include "core/peer/chain/moderation.h"
#include "core/peer/peer.h"
#include "core/peer/presence/members.h"
#include "tests/unit/peer/peer_fixture.h"

using namespace potluck;
using namespace potluck::peer;
using run::ActionKind;
using run::Verdict;

namespace {

/// A member that trains nothing and has the key of this number; the host's is 1. The run has come to round 1, and the
/// list of round 0 has banned key 5.
struct Bench {
    explicit Bench(std::uint8_t number = 1) : own(Fixture::manifest_of(), number) {
        run::AcceptList first = own.unsigned_list_of({});
        first.actions = {Fixture::by_host(ban_of(5, 1))};
        (void)own.commit(0, 0.5F);
        POTLUCK_CHECK(own.chain.append(own.committed(first, {1}), own.commit(1, 0.5F)).ok());
        own.swarm.around = ids_of({6, 7});
        peer.emplace(Fixture::run_id(), Fixture::manifest_of(), PeerSettings{},
                     Peer::World{own.swarm, nullptr, own.disk, own.ledger, own.self, own.work.offload()});
        peer->start(own.context.now());
        for (const PeerId& neighbour : own.swarm.around) peer->on_neighbour(neighbour);
        own.work.finish_all();
        own.swarm.sent.clear();
        own.swarm.sent_to.clear();
    }

    static run::Envelope envelope(std::uint8_t author, const run::Message& message) {
        run::Envelope made{
            Fixture::run_id(), key_of(author).id(), run::kind_of(message), run::encode_body(message), {}};
        made.signature = key_of(author).sign(run::domain_of(made.kind), run::signed_bytes(made));
        return made;
    }
    static run::Envelope status_of(std::uint8_t author) {
        run::StatusMessage status;
        status.sequence = 1;
        return envelope(author, status);
    }
    void hear(std::uint8_t from, const run::Envelope& message) { peer->on_envelope(key_of(from).id(), message); }
    /// The verdict on this message alone.
    Verdict verdict_on(std::uint8_t from, const run::Envelope& message) {
        const auto before = peer->verdicts();
        hear(from, message);
        for (const auto& item : peer->verdicts()) {
            if (std::find(before.begin(), before.end(), item) == before.end()) return item.first;
        }
        qFatal("no verdict");
    }
    /// To whom this action was sent alone.
    [[nodiscard]] std::vector<PeerId> told(const run::HostAction& action) const {
        std::vector<PeerId> all;
        for (const auto& [to, sent] : own.swarm.sent_to) {
            if (sent == envelope(1, action)) all.push_back(to);
        }
        return all;
    }

    Fixture own;
    std::optional<Peer> peer;
};

}  // namespace

class PeerHostTest : public QObject {
    Q_OBJECT
private slots:
    void the_hosts_action_is_numbered_signed_kept_and_sent() {
        Bench bench;
        const Result<std::uint32_t> number = bench.peer->moderate(ActionKind::allow, key_of(6).id(), {});
        QVERIFY(number.ok());
        QCOMPARE(*number, 2U);
        const run::HostAction action = action_of(ActionKind::allow, 6, 2);
        QCOMPARE(bench.own.swarm.sent.size(), std::size_t{1});
        QVERIFY(bench.own.swarm.sent[0] == Bench::envelope(1, action));
        QVERIFY(bench.own.ledger.actions(Fixture::run_id()).back() == Fixture::by_host(action));
        QCOMPARE(*bench.peer->moderate(ActionKind::readmit, key_of(5).id(), {}), 3U);
    }

    void only_the_host_can_moderate() {
        Bench bench(6);
        const Result<std::uint32_t> number = bench.peer->moderate(ActionKind::ban, key_of(7).id(), {});
        QVERIFY(!number.ok());
        QCOMPARE(number.error().code, ErrorCode::permission);
        QVERIFY(bench.own.swarm.sent.empty());
        QCOMPARE(bench.own.ledger.actions(Fixture::run_id()).size(), std::size_t{1});
    }

    void a_host_neither_bans_itself_nor_goes_back_to_a_checkpoint_that_it_has_not() {
        Bench bench;
        const Result<std::uint32_t> banned = bench.peer->moderate(ActionKind::ban, key_of(1).id(), {});
        QVERIFY(!banned.ok());
        QCOMPARE(banned.error().code, ErrorCode::invalid_argument);
        const Result<std::uint32_t> back = bench.peer->moderate(ActionKind::roll_back, {}, RoundId{0});
        QVERIFY(!back.ok());
        QCOMPARE(back.error().code, ErrorCode::not_found);
        QVERIFY(bench.own.swarm.sent.empty());
    }

    void a_host_that_has_left_moderates_nothing() {
        Bench bench;
        bench.peer->leave();
        const Result<std::uint32_t> number = bench.peer->moderate(ActionKind::ban, key_of(7).id(), {});
        QVERIFY(!number.ok());
        QCOMPARE(number.error().code, ErrorCode::unavailable);
    }

    void an_action_is_taken_from_anybody_and_passed_on_once() {
        Bench bench(2);
        const run::HostAction action = ban_of(7, 2);
        QCOMPARE(bench.verdict_on(6, Bench::envelope(1, action)), Verdict::accepted);
        QVERIFY(bench.told(action) == ids_of({7}));
        QCOMPARE(bench.verdict_on(7, Bench::envelope(1, action)), Verdict::repeated);
        QVERIFY(bench.told(action) == ids_of({7}));
        QVERIFY(bench.own.ledger.actions(Fixture::run_id()).back() == Fixture::by_host(action));
    }

    void an_action_of_somebody_else_counts_for_nothing() {
        Bench bench(2);
        QCOMPARE(bench.verdict_on(6, Bench::envelope(6, ban_of(7, 2))), Verdict::wrong_author);
        run::Envelope forged = Bench::envelope(6, ban_of(7, 2));
        forged.sender = key_of(1).id();
        QCOMPARE(bench.verdict_on(6, forged), Verdict::bad_signature);
        QCOMPARE(bench.own.ledger.actions(Fixture::run_id()).size(), std::size_t{1});
        QVERIFY(bench.own.swarm.sent.empty());
    }

    void a_new_neighbour_receives_actions_that_are_not_yet_in_force() {
        Bench bench(2);
        const run::HostAction action = ban_of(7, 2);
        bench.hear(6, Bench::envelope(1, action));
        bench.peer->on_neighbour(key_of(3).id());
        QVERIFY(bench.told(action) == (std::vector{key_of(7).id(), key_of(3).id()}));
        QVERIFY(bench.told(ban_of(5, 1)).empty());
    }

    void messages_from_a_banned_member_are_refused() {
        Bench bench(2);
        QCOMPARE(bench.verdict_on(5, Bench::status_of(5)), Verdict::not_allowed);
        QCOMPARE(bench.verdict_on(6, Bench::status_of(6)), Verdict::accepted);
        // Nor to what the banned pass on, the host's actions included.
        QCOMPARE(bench.verdict_on(5, Bench::envelope(1, ban_of(7, 2))), Verdict::not_allowed);
        QVERIFY(bench.own.swarm.dropped == std::vector(2, key_of(5).id()));
    }

    void the_last_state_is_certified_after_it_was_compared_for_three_heartbeats() {
        run::Manifest manifest = Fixture::manifest_of();
        manifest.recipe.total_rounds = 1;
        Fixture own(manifest);
        (void)own.commit(0, 0.5F);
        POTLUCK_CHECK(own.chain.append(own.list_of({own.payload_of(1.0F).entry}), own.commit(1, 0.5F)).ok());
        Peer peer(Fixture::run_id(), manifest, PeerSettings{},
                  Peer::World{own.swarm, nullptr, own.disk, own.ledger, own.self, own.work.offload()});
        peer.start(own.context.now());
        own.work.finish_all();
        const auto closed_after = [&](Duration time) {
            own.context.set_now(own.context.now() + time);
            peer.tick(own.context.now());
            own.work.finish_all();
            return peer.view().closed;
        };
        QVERIFY(!closed_after(Duration{2'999}));
        QVERIFY(closed_after(Duration{1}));
    }

    void a_member_that_is_far_behind_blames_nobody() {
        // Neither a neighbour that passes the actions on nor the host itself; all of them are within its budget.
        for (const std::uint8_t from : {std::uint8_t{6}, std::uint8_t{1}}) {
            Bench bench(2);
            bench.peer->on_neighbour(key_of(from).id());
            for (std::uint32_t i = 0; i < offences_max; ++i) {
                bench.hear(from, Bench::envelope(1, ban_of(7, actions_waiting_max + 2 + i)));
            }
            QVERIFY(bench.own.swarm.dropped.empty());
            QCOMPARE(bench.verdict_on(from, Bench::status_of(from)), Verdict::accepted);
        }
    }
};

QTEST_APPLESS_MAIN(PeerHostTest)
#include "test_peer_host.moc"
