// Each forgery gets past everything but one line of the product, and its verdict is the one that this line returns.
#include <QTest>

#include "core/numerics/codec/sparse_codec.h"
#include "tests/sim/scenario.h"
#include "tests/sim/stranger.h"

using namespace potluck;
using namespace potluck::sim;
using run::Verdict;

namespace {

constexpr std::size_t leader = 0, victim = 1, other = 2;  // members; the first is the backbone

/// A world in the middle of a window, and somebody who is no member of it.
struct Scene {
    explicit Scene(std::uint64_t seed, WorldPlan plan = {.rounds = 10}) : world(seed, plan) {
        world.start_all();
        stranger.emplace(world, hostile_key(1));
        const bool there = world.run_until([&] { return world.all_at(2); }, Duration{60'000});
        POTLUCK_CHECK(there);
        world.run_for(Duration{2'000});
    }
    /// A list that may follow the victim's chain if its leader signs it.
    run::AcceptList next_list(run::BlobRef payload) {
        const ledger::Ledger& ledger = world.home(victim).ledger;
        const run::AcceptList head = ledger.head(world.run()).value();
        return {world.run(),
                head.round.next(),
                0,
                world.home(leader).id(),
                head.hash(),
                ledger.digest_after(world.run(), head.round).value(),
                {{stranger->id(), payload, {640}}}};
    }
    run::SignedList list_signed_by(const identity::Identity& key, const run::AcceptList& list) {
        run::SignedList signed_list{list.encode(), {}};
        signed_list.signature = key.sign(run::accept_list_domain, signed_list.list);
        return signed_list;
    }
    run::ContributionMessage contribution(run::BlobRef payload, std::uint64_t tokens) {
        const run::AcceptList next = next_list(payload);
        return {next.round, next.base, payload, {tokens}};
    }
    bool victim_refuses() { return world.network().port(world.home(victim).id())->refuses(stranger->id()); }
    const run::StatusMessage* status_of(std::size_t member, std::size_t seen_by) {
        view = world.peer(seen_by).view();
        for (const peer::MemberView& one : view.members) {
            if (one.id == world.home(member).id()) return &one.status;
        }
        return nullptr;
    }

    World world;
    std::optional<Stranger> stranger;
    peer::PeerView view;
};

std::uint64_t payload_size_max(World& world) {
    return numerics::payload_bytes_max(world.initial_state().size(), world.manifest().recipe.k);
}

/// One message of each kind, as a member could send it.
std::vector<run::Message> one_of_each(Scene& scene) {
    const run::BlobRef payload = scene.stranger->publish_payload(0.01F);
    const run::SignedList list = scene.list_signed_by(scene.world.home(leader).identity, scene.next_list(payload));
    return {run::StatusMessage{},
            run::CloseMessage{{2}, 0},
            scene.contribution(payload, 640),
            run::ListMessage{list},
            run::HistoryRequest{{0}},
            run::HistoryMessage{{list}},
            run::LayerRequest{payload.root, 0},
            run::LayerMessage{payload.root, 0, {}},
            run::GoodbyeMessage{}};
}

}  // namespace

class ForgeriesTest : public QObject {
    Q_OBJECT
private slots:
    void a_list_in_the_rightful_leaders_name_needs_its_signature() {
        Scene scene(1);
        const run::AcceptList list = scene.next_list(scene.stranger->publish_payload(0.01F));
        const auto by = [&](const identity::Identity& key) {
            return scene.stranger->envelope(run::ListMessage{scene.list_signed_by(key, list)});
        };
        QCOMPARE(scene.stranger->verdict(victim, by(hostile_key(1))), Verdict::bad_signature);
        QCOMPARE(scene.stranger->verdict(victim, by(scene.world.home(other).identity)), Verdict::bad_signature);
        QCOMPARE(scene.stranger->verdict(victim, by(scene.world.home(leader).identity)), Verdict::accepted);
    }

    void a_history_with_a_list_in_the_leaders_name_needs_its_signature() {
        for (const bool forged : {true, false}) {
            Scene scene(2);
            const run::AcceptList list = scene.next_list(scene.stranger->publish_payload(0.01F));
            run::StatusMessage status;
            status.sequence = 1;
            status.phase = run::Phase::training;
            status.round = {list.round.value + 2};
            QCOMPARE(scene.stranger->verdict(victim, scene.stranger->envelope(status)), Verdict::accepted);
            const auto asked = [&] {
                const auto request =
                    scene.stranger->last(scene.world.home(victim).id(), run::MessageKind::history_request);
                return request.has_value();
            };
            QVERIFY(scene.world.run_until(asked, Duration{5'000}));
            const identity::Identity liar = hostile_key(1);
            const auto signed_list = scene.list_signed_by(forged ? liar : scene.world.home(leader).identity, list);
            QCOMPARE(scene.stranger->verdict(victim, scene.stranger->envelope(run::HistoryMessage{{signed_list}})),
                     forged ? Verdict::bad_signature : Verdict::accepted);
        }
    }

    void a_message_of_any_kind_needs_its_senders_signature() {
        Scene scene(3);
        const identity::Identity liar = hostile_key(2);
        for (const run::Message& message : one_of_each(scene)) {
            run::Envelope envelope = scene.stranger->envelope(message);
            envelope.signature = sealed(liar, scene.world.run(), message).signature;
            QCOMPARE(scene.stranger->verdict(victim, envelope), Verdict::bad_signature);
        }
    }

    void a_signature_holds_for_one_kind_and_one_run() {
        Scene scene(4);
        const run::Message message = run::HistoryRequest{{0}};
        run::Envelope envelope = scene.stranger->envelope(message);
        envelope.signature = hostile_key(1).sign(run::domain_of(run::MessageKind::close), run::signed_bytes(envelope));
        QCOMPARE(scene.stranger->verdict(victim, envelope), Verdict::bad_signature);
        RunId elsewhere = scene.world.run();
        elsewhere.bytes[0] ^= std::byte{1};
        run::Envelope foreign = sealed(hostile_key(1), elsewhere, message);
        QCOMPARE(scene.stranger->verdict(victim, foreign), Verdict::wrong_run);
        foreign.run = scene.world.run();
        QCOMPARE(scene.stranger->verdict(victim, foreign), Verdict::bad_signature);
    }

    void a_replayed_goodbye_is_not_taken_from_another_session() {
        Scene scene(5);
        const PeerId gone = scene.world.home(other).id();
        scene.world.peer(other).leave();
        scene.world.run_for(Duration{500});
        const auto goodbye = scene.stranger->last(gone, run::MessageKind::goodbye);
        QVERIFY(goodbye.has_value());
        scene.world.kill(other, Death::closes_sessions);
        scene.world.run_for(Duration{500});
        scene.world.start(other);
        scene.world.run_for(Duration{1'000});
        QCOMPARE(scene.stranger->verdict(victim, *goodbye), Verdict::not_allowed);
        QVERIFY(scene.status_of(other, victim) != nullptr);
        // It would be taken from its own session.
        QCOMPARE(verdict_of(scene.world, victim, gone, *goodbye), Verdict::accepted);
        QVERIFY(scene.status_of(other, victim) == nullptr);
    }

    void a_replayed_status_is_not_taken_from_another_session() {
        Scene scene(6);
        const auto replay = scene.stranger->last(scene.world.home(other).id(), run::MessageKind::status);
        QVERIFY(replay.has_value());
        scene.world.kill(other, Death::closes_sessions);
        scene.world.run_for(Duration{500});
        scene.world.start(other);
        scene.world.run_for(Duration{1'000});
        const auto decoded = run::decode_body(replay->kind, replay->body);
        const std::uint64_t sequence = std::get<run::StatusMessage>(*decoded).sequence;
        QVERIFY(scene.status_of(other, victim)->sequence < sequence);
        QCOMPARE(scene.stranger->verdict(victim, *replay), Verdict::not_allowed);
        QVERIFY(scene.status_of(other, victim)->sequence < sequence);
    }

    void a_contribution_may_be_passed_on_but_counts_once_and_in_its_round() {
        Scene scene(7);
        const auto sent = [&] {
            return scene.stranger->last(scene.world.home(other).id(), run::MessageKind::contribution);
        };
        const auto in_this_round = [&] {
            if (!sent()) return false;
            const auto decoded = run::decode_body(run::MessageKind::contribution, sent()->body);
            return std::get<run::ContributionMessage>(*decoded).round.value == scene.world.round_of(victim);
        };
        QVERIFY(scene.world.run_until(in_this_round, Duration{20'000}));
        const run::Envelope replay = *sent();
        scene.world.run_for(Duration{60});
        QCOMPARE(scene.stranger->verdict(victim, replay), Verdict::repeated);
        const std::uint64_t round = scene.world.round_of(victim);
        QVERIFY(scene.world.run_until([&] { return scene.world.round_of(victim) > round; }, Duration{20'000}));
        QCOMPARE(scene.stranger->verdict(victim, replay), Verdict::stale);
    }

    void a_contribution_names_the_state_it_was_made_from() {
        Scene scene(8);
        run::ContributionMessage message = scene.contribution(scene.stranger->publish_payload(0.01F), 640);
        message.base.bytes[0] ^= std::byte{1};
        QCOMPARE(scene.stranger->verdict(victim, scene.stranger->envelope(message)), Verdict::wrong_base);
    }

    void the_largest_payload_is_allowed_and_nothing_larger() {
        Scene scene(9);
        run::BlobRef payload = scene.stranger->publish_payload(0.01F);
        payload.size = payload_size_max(scene.world) + 1;
        const auto list = [&] {
            return scene.stranger->envelope(
                run::ListMessage{scene.list_signed_by(scene.world.home(leader).identity, scene.next_list(payload))});
        };
        QCOMPARE(scene.stranger->verdict(victim, scene.stranger->envelope(scene.contribution(payload, 640))),
                 Verdict::too_large);
        QCOMPARE(scene.stranger->verdict(victim, list()), Verdict::too_large);
        payload.size -= 1;
        QCOMPARE(scene.stranger->verdict(victim, scene.stranger->envelope(scene.contribution(payload, 640))),
                 Verdict::accepted);
        QCOMPARE(scene.stranger->verdict(victim, list()), Verdict::accepted);
    }

    void fifty_offences_of_any_kind_end_the_session_data() {
        QTest::addColumn<int>("offence");
        for (const Verdict one : {Verdict::malformed, Verdict::bad_signature, Verdict::too_large, Verdict::flood}) {
            QTest::newRow(run::name_of(one)) << static_cast<int>(one);
        }
    }
    void fifty_offences_of_any_kind_end_the_session() {
        QFETCH(int, offence);
        const auto expected = static_cast<Verdict>(offence);
        Scene scene(10);
        run::BlobRef payload = scene.stranger->publish_payload(0.01F);
        payload.size = payload_size_max(scene.world) + 1;
        run::Envelope envelope = scene.stranger->envelope(scene.contribution(payload, 640));
        if (expected == Verdict::malformed) envelope.body.pop_back();
        if (expected == Verdict::bad_signature) envelope.signature[0] ^= std::byte{1};
        if (expected == Verdict::flood) {
            envelope = scene.stranger->envelope(run::HistoryRequest{{9}});
            while (scene.stranger->verdict(victim, envelope) == Verdict::stale) continue;
        }
        const int already = expected == Verdict::flood ? 1 : 0;
        for (int i = already; i < 49; ++i) QCOMPARE(scene.stranger->verdict(victim, envelope), expected);
        QVERIFY(!scene.victim_refuses());
        QCOMPARE(scene.stranger->verdict(victim, envelope), expected);
        QVERIFY(scene.victim_refuses());
    }

    void late_messages_are_no_offence() {
        Scene scene(11);
        const run::Envelope late = scene.stranger->envelope(run::HistoryRequest{{9}});
        for (int i = 0; i < 300; ++i) QCOMPARE(scene.stranger->verdict(victim, late), Verdict::stale);
        QVERIFY(!scene.victim_refuses());
    }

    void six_hundred_messages_at_once_are_no_flood() {
        Scene scene(12);
        const run::Envelope late = scene.stranger->envelope(run::HistoryRequest{{9}});
        for (int i = 0; i < 600; ++i) QCOMPARE(scene.stranger->verdict(victim, late), Verdict::stale);
        QCOMPARE(scene.stranger->verdict(victim, late), Verdict::flood);
    }

    void tokens_beyond_the_limit_are_malformed() {
        Scene scene(13);
        const run::BlobRef payload = scene.stranger->publish_payload(0.01F);
        const auto claim = [&](std::uint64_t tokens) {
            return scene.stranger->verdict(victim, scene.stranger->envelope(scene.contribution(payload, tokens)));
        };
        QCOMPARE(claim(run::tokens_max + 1), Verdict::malformed);
        QCOMPARE(claim(0), Verdict::malformed);
        QCOMPARE(claim(run::tokens_max), Verdict::accepted);
    }
};

QTEST_APPLESS_MAIN(ForgeriesTest)
#include "test_forgeries.moc"
