// Everybody hears of everybody in any connected graph, through members that may lie or go; and two processes with one
// key are told so.
#include <QTest>

#include "tests/sim/checks.h"
#include "tests/sim/scenario.h"
#include "tests/sim/seeds.h"
#include "tests/sim/stranger.h"

using namespace potluck;
using namespace potluck::sim;
using run::Verdict;

namespace {

constexpr LinkSpeed fast{Duration{20}, 0};

/// Links between members by number, of which either may be named first.
void link(World& world, const std::function<bool(std::size_t, std::size_t)>& linked) {
    for (std::size_t i = 0; i < world.size(); ++i) {
        for (std::size_t j = i + 1; j < world.size(); ++j) {
            if (linked(i, j) || linked(j, i)) world.network().link(world.home(i).id(), world.home(j).id(), fast);
        }
    }
}

bool sees(World& world, std::size_t member, std::size_t other) {
    for (const peer::MemberView& one : world.peer(member).view().members) {
        if (one.id == world.home(other).id()) return true;
    }
    return false;
}

bool everybody_sees_everybody(World& world) {
    for (std::size_t i = 0; i < world.size(); ++i) {
        if (world.home(i).alive() && world.peer(i).view().members.size() != world.size()) return false;
    }
    return true;
}

/// Whether each sees sessions where the graph has them, and nowhere else.
bool sessions_are_told(World& world) {
    for (std::size_t i = 0; i < world.size(); ++i) {
        const std::vector<PeerId> linked = world.network().sessions_of(world.home(i).id());
        for (const peer::MemberView& one : world.peer(i).view().members) {
            const bool is_linked = std::find(linked.begin(), linked.end(), one.id) != linked.end();
            if (one.is_connected != is_linked) return false;
        }
    }
    return true;
}

std::uint64_t sequence_of(World& world, std::size_t member, std::size_t other) {
    for (const peer::MemberView& one : world.peer(member).view().members) {
        if (one.id == world.home(other).id()) return one.status.sequence;
    }
    return 0;
}

struct Graph {
    const char* name;
    std::function<bool(std::size_t, std::size_t)> linked;
};
std::vector<Graph> graphs() {
    return {
        {"star", [](std::size_t a, std::size_t) { return a == 0; }},
        {"chain", [](std::size_t a, std::size_t b) { return b == a + 1; }},
        {"two stars with one link",
         [](std::size_t a, std::size_t b) { return (a == 0 && b % 2 == 0) || (a == 1 && b % 2 == 1) || a + b == 1; }},
        {"ring", [](std::size_t a, std::size_t b) { return b == (a + 1) % 8; }},
        {"mesh", [](std::size_t, std::size_t) { return true; }}};
}

}  // namespace

class GossipTest : public QObject {
    Q_OBJECT
private slots:
    void in_any_connected_graph_everybody_sees_everybody_and_the_run_ends_well() {
        for (const Graph& graph : graphs()) {
            for (const std::uint64_t seed : seeds(4)) {
                World world(seed, {.backbones = 4, .volunteers = 4, .rounds = 4});
                link(world, graph.linked);
                world.start_all();
                const QByteArray at = QByteArray(graph.name) + ", seed " + QByteArray::number(seed);
                QVERIFY2(world.run_until([&] { return everybody_sees_everybody(world); }, Duration{10'000}),
                         at.constData());
                QVERIFY2(sessions_are_told(world), at.constData());
                for (int i = 0; i < 20; ++i) {
                    world.run_for(Duration{1'000});
                    QVERIFY2(everybody_sees_everybody(world), at.constData());
                    QVERIFY2(world.peer(7).view().why.reason != status::Reason::waiting_for_committee, at.constData());
                }
                const std::string wrong = finish_run(world, Duration{300'000});
                QVERIFY2(wrong.empty(), (at + ": " + wrong.c_str()).constData());
            }
        }
    }

    /// A status tells nothing new then, and goes out a third as often; nobody is taken for gone, and no round is lost.
    void a_pause_and_a_long_window_are_quiet() {
        World world(1, {.backbones = 1, .volunteers = 3, .rounds = 100, .window = Duration{40'000}});
        world.start_all();
        const auto statuses_in = [&](Duration time) {
            const auto count = [&] {
                return world.network().traffic()[static_cast<std::size_t>(run::MessageKind::status)];
            };
            const std::uint64_t before = count().messages;
            world.run_for(time);
            return static_cast<double>(count().messages - before) /
                   (std::chrono::duration<double>(time).count() * 4 * 3);
        };
        QVERIFY(world.run_until([&] { return world.all_at(1); }, Duration{120'000}));
        const double training = statuses_in(Duration{84'000});  // of each to each other, in a second; about two rounds
        QVERIFY2(training < 0.9, std::to_string(training).c_str());
        QVERIFY(world.rounds_committed() >= 3);
        QCOMPARE(world.peer(1).view().rounds_lost, 0U);
        for (std::size_t i = 0; i < world.size(); ++i) world.peer(i).pause(world.now());
        world.run_for(Duration{60'000});
        const double paused = statuses_in(Duration{60'000});
        QVERIFY2(paused < 0.5, std::to_string(paused).c_str());
        QVERIFY(everybody_sees_everybody(world));
    }

    /// At the far end of a chain a member that is gone is gone too, and nobody brings it back.
    void a_gone_member_is_missed_everywhere_and_cannot_be_replayed() {
        World world(3, {.backbones = 1, .volunteers = 5, .rounds = 1'000});
        link(world, [](std::size_t a, std::size_t b) { return b == a + 1; });
        world.start_all();
        QVERIFY(world.run_until([&] { return everybody_sees_everybody(world); }, Duration{10'000}));
        for (std::size_t i = 0; i < 6; ++i) world.network().link(hostile_key(1).id(), world.home(i).id(), fast);
        Stranger relay(world, hostile_key(1));
        world.run_for(Duration{20'000});
        std::vector<run::Envelope> said;
        for (const run::Envelope& one : relay.heard()) {
            if (one.sender == world.home(5).id() && one.kind == run::MessageKind::status) said.push_back(one);
        }
        QVERIFY(said.size() > 10);
        world.kill(5, Death::silent);
        const auto nobody_sees_it = [&] {
            for (std::size_t i = 0; i < 5; ++i) {
                if (sees(world, i, 5)) return false;
            }
            return true;
        };
        QVERIFY(world.run_until(nobody_sees_it, Duration{60'000}));
        for (const run::Envelope& one : said) {
            for (std::size_t i = 0; i < 5; ++i) {
                const Verdict verdict = relay.verdict(i, one);
                QVERIFY(verdict == Verdict::stale || verdict == Verdict::repeated || verdict == Verdict::flood);
            }
        }
        world.run_for(Duration{2'000});
        QVERIFY(nobody_sees_it());
        // It comes back with its own voice, at the far end, too.
        world.start(5);
        QVERIFY(
            world.run_until([&] { return everybody_sees_everybody(world) && sees(world, 0, 5); }, Duration{20'000}));
    }

    void a_session_that_ends_takes_nobody_away_whom_others_hear() {
        World world(4, {.backbones = 1, .volunteers = 3, .rounds = 1'000});
        link(world, [&](std::size_t, std::size_t) { return true; });
        world.start_all();
        world.run_for(Duration{20'000});
        QVERIFY(everybody_sees_everybody(world));
        world.network().unlink(world.home(2).id(), world.home(3).id());
        QVERIFY(world.run_until([&] { return everybody_sees_everybody(world); }, Duration{4'000}));
        for (int i = 0; i < 30; ++i) {
            world.run_for(Duration{1'000});
            QVERIFY(everybody_sees_everybody(world));
        }
    }

    void a_status_in_anothers_name_or_with_absurd_figures_is_refused_and_not_passed_on() {
        World world(5, {.backbones = 1, .volunteers = 3, .rounds = 1'000});
        world.start_all();
        world.run_for(Duration{5'000});
        Stranger stranger(world, hostile_key(1));
        run::StatusMessage status;
        status.sequence = ~0ULL >> 1U;
        status.round = {1'000};
        run::Envelope forged = stranger.envelope(status);
        forged.sender = world.home(2).id();
        QCOMPARE(stranger.verdict(1, forged), Verdict::bad_signature);
        const std::uint64_t before = sequence_of(world, 1, 2);
        QVERIFY(before > 0 && before < status.sequence);
        const identity::Identity other = hostile_key(2);
        const auto relayed = [&](auto&& change) {
            run::StatusMessage changed = status;
            change(changed);
            return stranger.verdict(1, sealed(other, world.run(), changed));
        };
        QCOMPARE(relayed([](auto& one) { one.round = {1'001}; }), Verdict::absurd);
        QCOMPARE(relayed([](auto& one) { one.checkpoint_round = {1'001}; }), Verdict::absurd);
        QCOMPARE(relayed([](auto& one) { one.tokens_per_second = peer::tokens_per_second_max + 1; }), Verdict::absurd);
        QCOMPARE(relayed([](auto& one) { one.window_tokens = {run::tokens_max}; }), Verdict::absurd);
        world.run_for(Duration{3'000});
        for (std::size_t i = 0; i < world.size(); ++i) {
            for (const peer::MemberView& one : world.peer(i).view().members) QVERIFY(one.id != other.id());
        }
        QCOMPARE(relayed([](auto&) {}), Verdict::accepted);
        world.run_for(Duration{1'000});
        for (std::size_t i = 0; i < world.size(); ++i) {
            const auto members = world.peer(i).view().members;
            QVERIFY(std::any_of(members.begin(), members.end(), [&](const auto& one) { return one.id == other.id(); }));
        }
    }

    void a_member_whose_clock_was_set_back_is_seen_again_after_a_restart() {
        World world(6, {.backbones = 1, .volunteers = 3, .rounds = 1'000});
        world.start_all();
        world.run_for(Duration{10'000});
        world.kill(2, Death::closes_sessions);
        world.clock_error = Duration{-86'400'000};
        world.start(2);
        world.clock_error = Duration{0};
        QVERIFY(world.run_until([&] { return everybody_sees_everybody(world); }, Duration{10'000}));
        QVERIFY(world.peer(2).view().why.reason != status::Reason::identity_in_use);
        for (int i = 0; i < 20; ++i) {
            world.run_for(Duration{1'000});
            QVERIFY(everybody_sees_everybody(world));
            QVERIFY(world.peer(2).view().why.reason != status::Reason::identity_in_use);
        }
    }

    /// A member is shown what another process says with its key; what it said itself, or in an earlier life, is no
    /// sign.
    void only_a_message_with_a_members_key_reveals_its_twin() {
        World world(7, {.backbones = 1, .volunteers = 2, .rounds = 1'000});
        world.start_all();
        world.run_for(Duration{10'000});
        Stranger relay(world, hostile_key(1));
        world.run_for(Duration{5'000});
        const auto told = [&] { return world.peer(2).view().why.reason == status::Reason::identity_in_use; };
        const run::Envelope earlier = *relay.last(world.home(2).id(), run::MessageKind::status);
        world.kill(2, Death::closes_sessions);
        world.run_for(Duration{3'000});
        world.start(2);
        world.run_for(Duration{5'000});
        const run::Envelope own = *relay.last(world.home(2).id(), run::MessageKind::status);
        for (const run::Envelope& one : {earlier, own}) {
            QCOMPARE(relay.verdict(2, one), Verdict::repeated);
            QVERIFY(!told());
        }
        const Result<run::Message> message = run::decode_body(own.kind, own.body);
        run::StatusMessage twin = std::get<run::StatusMessage>(*message);
        twin.sequence += 1;  // another process: its mark differs
        run::Envelope forged = relay.envelope(twin);
        forged.sender = world.home(2).id();
        QCOMPARE(relay.verdict(2, forged), Verdict::bad_signature);
        QVERIFY(!told());
        twin.sequence -= 2 * peer_marks;  // a moment ago
        QCOMPARE(relay.verdict(2, sealed(world_key(2), world.run(), twin)), Verdict::contradicting);
        QVERIFY(told());
        world.run_for(Duration{59'000});
        QVERIFY(told());
        world.run_for(Duration{2'000});
        QVERIFY(!told());
        world.peer(2).on_own_key_elsewhere();
        QVERIFY(told());
    }

    void one_answer_with_history_is_under_way_for_a_session() {
        World world(8, {.backbones = 1, .volunteers = 2, .rounds = 1'000});
        world.start_all();
        QVERIFY(world.run_until([&] { return world.all_at(2); }, Duration{60'000}));
        Stranger stranger(world, hostile_key(1));
        QCOMPARE(stranger.verdict(0, stranger.envelope(run::HistoryRequest{{0}})), Verdict::accepted);
        QCOMPARE(stranger.verdict(0, stranger.envelope(run::CommitteeRequest{{0}})), Verdict::accepted);
        world.home(0).process->port->bytes_unsent = 64 * 1024;
        QCOMPARE(stranger.verdict(0, stranger.envelope(run::HistoryRequest{{0}})), Verdict::repeated);
        QCOMPARE(stranger.verdict(0, stranger.envelope(run::CommitteeRequest{{0}})), Verdict::repeated);
        world.home(0).process->port->bytes_unsent = 64 * 1024 - 1;
        QCOMPARE(stranger.verdict(0, stranger.envelope(run::HistoryRequest{{0}})), Verdict::accepted);
    }

private:
    static constexpr std::uint64_t peer_marks = 1U << 20U;  // as a status's sequence counts a millisecond
};

QTEST_APPLESS_MAIN(GossipTest)
#include "test_gossip.moc"
