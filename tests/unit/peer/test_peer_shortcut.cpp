// What of an answer on the short way is refused. Whole ways, with liars on them, are walked in tests/sim.
#include <QTest>

#include "core/peer/shortcut.h"
#include "tests/unit/peer/peer_fixture.h"

using namespace potluck;
using namespace potluck::peer;
using run::Verdict;

namespace {

/// Believes every signature: 64 MiB of lists have a quarter of a million.
class Credulous final : public run::Verifier {
public:
    bool verify(const PeerId&, std::string_view, ByteSpan, const identity::Signature&) const override { return true; }
};

struct Silence final : Shortcut::Mediator {
    bool may_jump() const override { return true; }
    RoundId checkpoint_offered() const override { return {}; }
    PeerId history_source(const std::vector<PeerId>& ahead) override { return ahead.front(); }
    void jumped(std::uint64_t) override {}
};

run::Manifest long_manifest() {
    run::Manifest manifest = Fixture::manifest_of();
    manifest.recipe.total_rounds = 1'000'000;
    manifest.recipe.table_every = 1'000;
    return manifest;
}

/// A newcomer, number 9, that the host leads on.
struct Bench : Fixture {
    Bench() : Fixture(long_manifest(), 9) {
        meet_far_ahead(1);
        shortcut.tick();
        POTLUCK_CHECK(shortcut.active());
    }
    void meet_far_ahead(std::uint8_t number) {
        members.joined(key_of(number).id());
        run::StatusMessage status;
        status.sequence = 1;
        status.round = RoundId{900'000};
        POTLUCK_CHECK(members.take(key_of(number).id(), status, Source::itself, context.now()) == Verdict::accepted);
    }
    void wait(Duration time) {
        context.set_now(context.now() + time);
        shortcut.tick();
    }
    /// L[round], which follows a list of `previous`.
    [[nodiscard]] run::AcceptList list(std::uint64_t round, const Digest& previous = {}) const {
        run::AcceptList made;
        made.run = context.run;
        made.round = RoundId{round};
        made.previous = previous;
        made.committee = ids_of({1});
        return made;
    }
    static run::CommittedList committed_of(const run::AcceptList& list) {
        return {list.encode(), run::encode(certificate_of(list, ids_of({1}), {1}))};
    }
    Verdict answer(std::vector<run::CommittedList> lists) {
        return shortcut.on_answer(key_of(1).id(), {std::move(lists)});
    }
    /// The last two lists of a way: the second names a table of `bytes`.
    [[nodiscard]] std::vector<run::CommittedList> goal(std::uint64_t bytes) const {
        const run::AcceptList before = list(999);
        run::AcceptList named = list(1'000, before.hash());
        named.table = run::BlobRef{merkle_root(as_bytes("table")), bytes, run::BlobKind::plain, {}};
        return {committed_of(before), committed_of(named)};
    }

    Members members;
    Silence silence;
    Credulous credulous;
    Shortcut shortcut{{context, chain, credulous, members, errors, silence}};
};

/// A list as long as a message may carry.
run::AcceptList long_list(const Bench& bench, std::uint64_t round) {
    run::AcceptList list = bench.list(round);
    for (std::size_t i = 0; i < run::accepted_max; ++i) {
        run::Accepted entry;
        entry.peer.bytes[0] = static_cast<std::byte>(i >> 8U);
        entry.peer.bytes[1] = static_cast<std::byte>(i);
        entry.peer.bytes[2] = std::byte{1};
        entry.payload = {merkle_root(entry.peer.bytes), 100, run::BlobKind::plain, {}};
        entry.tokens = TokenCount{1};
        list.entries.push_back(entry);
    }
    return list;
}

}  // namespace

class PeerShortcutTest : public QObject {
    Q_OBJECT
private slots:
    void a_table_at_the_end_of_the_way_is_fetched() {
        Bench bench;
        QCOMPARE(bench.answer(bench.goal(run::table_bytes_max)), Verdict::accepted);
        QCOMPARE(bench.swarm.fetched, std::vector<BlobId>{merkle_root(as_bytes("table"))});
        QCOMPARE(bench.answer(bench.goal(1)), Verdict::stale);
    }

    void a_table_longer_than_any_is_refused() {
        Bench bench;
        QCOMPARE(bench.answer(bench.goal(run::table_bytes_max + 1)), Verdict::too_large);
        QVERIFY(bench.swarm.fetched.empty());
        QVERIFY(!bench.shortcut.active());
    }

    void an_answer_beyond_the_goal_is_malformed() {
        Bench bench;
        std::vector<run::CommittedList> lists = bench.goal(100);
        lists.push_back(Bench::committed_of(bench.list(1'001, bench.list(1'000).hash())));
        QCOMPARE(bench.answer(lists), Verdict::malformed);
        QVERIFY(bench.swarm.fetched.empty());
        QVERIFY(!bench.shortcut.active());
    }

    void a_way_is_as_long_as_64_mebibytes() {
        Bench bench;
        std::size_t bytes = 0;
        for (std::uint64_t round = 1;; round += 2) {  // neighbours would have to name each other
            const run::CommittedList next = Bench::committed_of(long_list(bench, round));
            bytes += next.list.size() + next.certificate.size();
            const Verdict expected = bytes > shortcut_bytes_max ? Verdict::too_large : Verdict::accepted;
            QCOMPARE(bench.answer({next}), expected);
            if (expected != Verdict::accepted) break;
        }
        QVERIFY(!bench.shortcut.active());
    }

    void a_member_that_says_nothing_for_three_heartbeats_is_given_up_and_asked_again_after_a_pause() {
        Bench bench;
        bench.wait(3 * bench.context.settings.heartbeat - Duration{1});
        QVERIFY(bench.shortcut.active());
        bench.wait(Duration{1});
        QVERIFY(!bench.shortcut.active());
        bench.wait(Duration{0});  // there is nobody else to ask
        bench.wait(shortcut_pause - Duration{1});
        QVERIFY(!bench.shortcut.active());
        bench.wait(Duration{1});
        QVERIFY(bench.shortcut.active());
    }

    void a_table_of_which_nothing_comes_for_20_seconds_is_given_up() {
        Bench bench;
        QCOMPARE(bench.answer(bench.goal(100)), Verdict::accepted);
        bench.wait(table_stalled_after - Duration{1});
        QVERIFY(bench.shortcut.active() && bench.swarm.forgotten.empty());
        bench.wait(Duration{1});
        QVERIFY(!bench.shortcut.active());
        QCOMPARE(bench.swarm.forgotten, std::vector<BlobId>{merkle_root(as_bytes("table"))});
    }

    void lists_in_between_wait_for_three_tries_and_there_is_a_pause_after_eight() {
        Bench bench;
        for (std::uint8_t number = 2; number < 20; ++number) bench.meet_far_ahead(number);
        for (std::size_t tries = 1; tries <= 8; ++tries) {
            QCOMPARE(bench.swarm.sent.size(), tries);
            QCOMPARE(bench.shortcut.active(), tries <= 3);
            bench.wait(3 * bench.context.settings.heartbeat);  // gives one up
            bench.wait(Duration{0});                           // asks another
        }
        QCOMPARE(bench.swarm.sent.size(), std::size_t{8});
    }
};

QTEST_APPLESS_MAIN(PeerShortcutTest)
#include "test_peer_shortcut.moc"
