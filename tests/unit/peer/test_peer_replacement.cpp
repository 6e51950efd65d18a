// A committee that its host has replaced, as one member's chain and queue of actions see it.
#include <QTest>

#include "core/base/sha256.h"
#include "core/peer/chain/moderation.h"
#include "tests/unit/peer/peer_fixture.h"

using namespace potluck;
using namespace potluck::peer;

namespace {

StateDigest digest_of(const char* text) {
    StateDigest digest;
    digest.bytes = sha256(as_bytes(text)).bytes;
    return digest;
}

/// The host and three backbones decide.
run::Manifest manifest_of_four() {
    run::Manifest manifest = Fixture::manifest_of();
    manifest.backbones = {key_of(2).id(), key_of(3).id(), key_of(4).id()};
    return manifest;
}

struct Bench : Fixture {
    Bench() : Fixture(manifest_of_four()) {}

    void take_round() {
        const CheckedList list = committed(unsigned_list_of({payload_of(1.0F + value++).entry}), {1, 2, 3});
        POTLUCK_CHECK(chain.append(list, digest_of(std::to_string(chain.height().value).c_str())).ok());
    }
    /// From L[round] on the host decides alone.
    [[nodiscard]] run::SignedAction replacement(std::uint64_t round, std::uint32_t term = 1) const {
        run::HostAction action;
        action.number = 1;
        action.kind = run::ActionKind::replace;
        action.term = term;
        action.round = RoundId{round};
        action.previous = chain.hash_before(RoundId{round});
        action.committee = ids_of({1});
        return by_host(action);
    }
    /// The first list of the new committee, signed by these of the four.
    CheckedList first_of_term(const run::SignedAction& one, const std::vector<std::uint8_t>& signers) {
        run::AcceptList list = unsigned_list_of({payload_of(9.0F).entry});
        list.term = one.action.term;
        list.actions = {one};
        return committed(list, signers);
    }

    Moderation moderation{context, chain, ledger, errors};
    float value = 0;
};

}  // namespace

class PeerReplacementTest : public QObject {
    Q_OBJECT
private slots:
    void it_decides_at_once_where_it_begins() {
        Bench bench;
        bench.take_round();
        QCOMPARE(bench.chain.committee().size(), std::size_t{4});
        QCOMPARE(bench.moderation.receive(bench.replacement(1)), run::Verdict::accepted);
        QVERIFY(bench.chain.committee() == ids_of({1}));
        QCOMPARE(bench.chain.term(), 1U);
        QVERIFY(!bench.chain.retracted_from());
        QCOMPARE(bench.moderation.due().size(), std::size_t{1});
    }

    void before_it_begins_the_others_decide() {
        Bench bench;
        Bench ahead;
        ahead.take_round();
        ahead.take_round();
        bench.take_round();
        QCOMPARE(bench.moderation.receive(ahead.replacement(2)), run::Verdict::accepted);
        QCOMPARE(bench.chain.committee().size(), std::size_t{4});
        QCOMPARE(bench.chain.term(), 0U);
        QVERIFY(bench.moderation.due().empty());
        bench.take_round();
        QVERIFY(bench.chain.committee() == ids_of({1}));
    }

    void a_member_that_went_further_is_to_go_back_and_remembers_it() {
        Bench bench;
        for (int round = 0; round < 3; ++round) bench.take_round();
        QCOMPARE(bench.moderation.receive(bench.replacement(1)), run::Verdict::accepted);
        QVERIFY(bench.chain.retracted_from() == RoundId{1});
        QCOMPARE(bench.chain.committee().size(), std::size_t{4});
        bench.chain.load();
        QVERIFY(bench.chain.retracted_from() == RoundId{1});
        QVERIFY(bench.chain.retract(RoundId{1}).ok());
        QCOMPARE(bench.chain.height(), RoundId{1});
        QVERIFY(!bench.chain.retracted_from());
        QVERIFY(bench.chain.committee() == ids_of({1}));
    }

    void one_of_another_history_changes_nothing() {
        Bench bench;
        for (int round = 0; round < 2; ++round) bench.take_round();
        run::SignedAction foreign = bench.replacement(1);
        foreign.action.previous.bytes[0] ^= std::byte{1};
        QCOMPARE(bench.moderation.receive(foreign), run::Verdict::accepted);
        QVERIFY(!bench.chain.retracted_from());
        QCOMPARE(bench.chain.committee().size(), std::size_t{4});
    }

    void only_a_higher_term_replaces_again() {
        Bench bench;
        bench.take_round();
        QCOMPARE(bench.moderation.receive(bench.replacement(1, 2)), run::Verdict::accepted);
        QCOMPARE(bench.moderation.receive(bench.replacement(1, 2)), run::Verdict::repeated);
        QCOMPARE(bench.moderation.receive(bench.replacement(0, 1)), run::Verdict::repeated);
        QCOMPARE(bench.chain.term(), 2U);
        QCOMPARE(bench.moderation.receive(bench.replacement(1, 3)), run::Verdict::accepted);
        QCOMPARE(bench.chain.term(), 3U);
    }

    void its_first_list_counts_by_its_own_committee() {
        Bench bench;
        bench.take_round();
        const run::SignedAction one = bench.replacement(1);
        QCOMPARE(bench.moderation.receive(one), run::Verdict::accepted);
        const auto verdict = [&](const CheckedList& list) {
            CheckedList out;
            return bench.chain.check(list.committed, bench.chain.head(), bench.chain.rules(), out);
        };
        const CheckedList good = bench.first_of_term(one, {1});
        QCOMPARE(verdict(good), run::Verdict::accepted);
        QCOMPARE(verdict(bench.first_of_term(one, {2})), run::Verdict::bad_signature);
        run::SignedAction forged = one;
        forged.signature[0] ^= std::byte{1};
        QCOMPARE(verdict(bench.first_of_term(forged, {1})), run::Verdict::bad_signature);

        QVERIFY(bench.chain.append(good, digest_of("new")).ok());
        bench.moderation.settle();
        QCOMPARE(bench.chain.term(), 1U);
        QVERIFY(bench.chain.replacement() == nullptr);
        QVERIFY(!bench.chain.retracted_from());
        // Who was away has to hear of it still.
        QVERIFY(bench.moderation.due().empty());
        QCOMPARE(bench.moderation.pending().size(), std::size_t{1});
    }

    void waiting_actions_are_void_after_a_replacement() {
        Bench bench;
        bench.take_round();
        QCOMPARE(bench.moderation.receive(Fixture::by_host(ban_of(5, 1))), run::Verdict::accepted);
        QCOMPARE(bench.moderation.receive(Fixture::by_host(ban_of(6, 2))), run::Verdict::accepted);
        QCOMPARE(bench.moderation.receive(bench.replacement(1)), run::Verdict::accepted);
        const std::vector<run::SignedAction> due = bench.moderation.due();
        QCOMPARE(due.size(), std::size_t{1});
        QVERIFY(due[0].action.kind == run::ActionKind::replace);
        QCOMPARE(bench.moderation.next_number(), 2U);
    }
};

QTEST_APPLESS_MAIN(PeerReplacementTest)
#include "test_peer_replacement.moc"
