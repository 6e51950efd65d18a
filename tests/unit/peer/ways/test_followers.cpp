// The density follows the sum, too: how long neighbours that take it from others need until they have it.
#include <QTest>

#include "core/peer/payload_post.h"
#include "tests/unit/peer/ballots_bench.h"

using namespace potluck;
using namespace potluck::peer;
using run::Phase;

namespace {

/// A seat in round 1, whose neighbours 2 to 4 and 9 the host vouches for; 6 is a newcomer.
struct Bench : BallotsBench {
    Bench() {
        const run::AcceptList list = unsigned_list_of({});
        POTLUCK_CHECK(chain.append(committed(list, {1, 2, 3}), commit(1, 0.5F)).ok());
        members.trust(chain.rules().trusted());
    }
    static PeerId id(std::uint8_t who) { return key_of(who).id(); }
    void hear(std::uint8_t who, std::uint64_t round, bool light = true, Phase phase = Phase::collecting) {
        run::StatusMessage status;
        status.sequence = ++sequence;
        status.round = RoundId{round};
        status.light = light;
        status.phase = phase;
        members.joined(id(who));
        POTLUCK_CHECK(members.take(id(who), status, Source::itself, context.now()) == run::Verdict::accepted);
        post.heard(id(who), status);
    }
    /// The round begins, `who` has its sum after `taken`, and the window ends without a contribution.
    Duration measured(std::uint8_t who, Duration taken) {
        post.round_begins();
        wait(taken);
        hear(who, 1);
        return post.exchange().sum();
    }

    Gossip gossip{context, members};
    PayloadPost post{{context, chain, machine, members, gossip, *payloads, *steps}};
};

/// Other than the bench's own.
std::uint8_t other(const Bench& bench, std::uint8_t than = 0) {
    for (const std::uint8_t who : std::vector<std::uint8_t>{2, 3, 4, 9}) {
        if (Bench::id(who) != bench.self.id() && who != than) return who;
    }
    return 0;
}

}  // namespace

class FollowersTest : public QObject {
    Q_OBJECT
private slots:
    void a_light_neighbour_is_measured_until_it_has_the_sum() {
        Bench bench;
        const std::uint8_t light = other(bench);
        bench.hear(light, 0);
        bench.post.round_begins();
        QCOMPARE(bench.post.exchange().sum(), Duration::max());
        QCOMPARE(bench.measured(light, Duration{700}), Duration{700});
        bench.wait(Duration{900});
        bench.hear(light, 1);
        QCOMPARE(bench.post.exchange().sum(), Duration{700});
    }

    void a_neighbour_that_is_ahead_has_it_at_once() {
        Bench bench;
        bench.hear(other(bench), 1);
        bench.post.round_begins();
        QCOMPARE(bench.post.exchange().sum(), Duration{0});
    }

    void neighbours_that_add_up_lag_or_go_are_not_waited_for() {
        const auto waits = [](bool light, Phase phase, std::uint8_t who) {
            Bench bench;
            bench.hear(who == 0 ? other(bench) : who, 0, light, phase);
            bench.post.round_begins();
            return bench.post.exchange().sum() > Duration{0};
        };
        for (const Phase phase : {Phase::training, Phase::collecting, Phase::applying, Phase::paused})
            QVERIFY(waits(true, phase, 0));
        for (const Phase phase : {Phase::joining, Phase::repairing, Phase::leaving, Phase::finished})
            QVERIFY(!waits(true, phase, 0));
        QVERIFY(!waits(false, Phase::collecting, 0));
    }

    /// Keys are free.
    void newcomers_say_nothing_of_lines() {
        Bench bench;
        bench.hear(6, 0);
        bench.post.round_begins();
        QCOMPARE(bench.post.exchange().sum(), Duration{0});
    }

    void a_neighbour_two_rounds_behind_is_not_waited_for() {
        Bench bench;
        const run::AcceptList list = bench.unsigned_list_of({});
        QVERIFY(bench.chain.append(bench.committed(list, {1, 2, 3}), bench.commit(2, 0.25F)).ok());
        bench.hear(other(bench), 0);
        bench.post.round_begins();
        QCOMPARE(bench.post.exchange().sum(), Duration{0});
    }

    void a_neighbour_that_has_gone_is_not_waited_for() {
        Bench bench;
        const std::uint8_t first = other(bench), second = other(bench, first);
        bench.hear(first, 0);
        bench.hear(second, 0);
        QCOMPARE(bench.measured(first, Duration{300}), Duration::max());
        bench.members.left(Bench::id(second));
        bench.post.lost(Bench::id(second));
        QCOMPARE(bench.post.exchange().sum(), Duration{300});
    }
};

QTEST_APPLESS_MAIN(FollowersTest)
#include "test_followers.moc"
