// The lists a member has taken.
#include <QTest>

#include "tests/unit/peer/peer_fixture.h"

using namespace potluck;
using namespace potluck::peer;

namespace {
StateDigest digest_of(const char* text) { return merkle_root(as_bytes(text)); }
}  // namespace

class PeerChainLogTest : public QObject {
    Q_OBJECT
private slots:
    void lists_and_digests_are_found_by_their_round() {
        Fixture bench;
        const CheckedList first = bench.list_of({bench.payload_of(1.0F).entry});
        QVERIFY(bench.chain.append(first, digest_of("1")).ok());
        QCOMPARE(bench.chain.height(), RoundId{1});
        QVERIFY(*bench.chain.digest_at(RoundId{0}) == bench.context.manifest.initial_state.root);
        QVERIFY(*bench.chain.digest_at(RoundId{1}) == digest_of("1"));
        QVERIFY(!bench.chain.digest_at(RoundId{2}));
        QVERIFY(bench.chain.hash_at(RoundId{0}) == first.hash);
        QVERIFY(bench.chain.hash_before(RoundId{0}) == Digest{});
        QVERIFY(bench.chain.hash_before(RoundId{1}) == first.hash);
        QVERIFY(*bench.chain.head() == first.list);
    }

    void a_list_in_another_place_is_refused_and_changes_nothing() {
        Fixture bench;
        CheckedList later = bench.list_of({bench.payload_of(1.0F).entry});
        later.list.round = RoundId{1};
        later.signed_list.list = later.list.encode();
        QVERIFY(!bench.chain.append(later, digest_of("1")).ok());
        QCOMPARE(bench.chain.height(), RoundId{0});
        QVERIFY(bench.chain.head() == nullptr);
    }

    void a_list_taken_back_gives_its_place_and_its_hash_to_another() {
        Fixture bench;
        QVERIFY(bench.chain.append(bench.list_of({bench.payload_of(1.0F).entry}), digest_of("1")).ok());
        const Digest before = bench.chain.hash_at(RoundId{0});
        QVERIFY(bench.chain.retract(1).ok());
        QCOMPARE(bench.chain.height(), RoundId{0});
        QVERIFY(bench.chain.head() == nullptr);
        const CheckedList other = bench.list_of({bench.payload_of(2.0F).entry});
        QVERIFY(bench.chain.append(other, digest_of("2")).ok());
        QVERIFY(bench.chain.hash_at(RoundId{0}) == other.hash);
        QVERIFY(other.hash != before);
    }

    void taking_back_more_than_there_is_changes_nothing() {
        Fixture bench;
        QVERIFY(bench.chain.append(bench.list_of({bench.payload_of(1.0F).entry}), digest_of("1")).ok());
        QVERIFY(!bench.chain.retract(2).ok());
        QCOMPARE(bench.chain.height(), RoundId{1});
    }

    void a_result_is_corrected_under_the_same_list() {
        Fixture bench;
        const CheckedList first = bench.list_of({bench.payload_of(1.0F).entry});
        QVERIFY(bench.chain.append(first, digest_of("damaged")).ok());
        QVERIFY(bench.chain.correct_result(digest_of("right")).ok());
        QVERIFY(*bench.chain.digest_at(RoundId{1}) == digest_of("right"));
        QVERIFY(bench.chain.hash_at(RoundId{0}) == first.hash);
    }

    void a_list_is_checked_before_it_is_believed() {
        Fixture bench;
        const CheckedList good = bench.list_of({bench.payload_of(1.0F).entry});
        CheckedList out;
        QCOMPARE(bench.chain.check(good.signed_list, out), run::Verdict::accepted);
        QVERIFY(out.hash == good.hash);

        run::SignedList forged = good.signed_list;
        forged.signature[5] ^= std::byte{1};
        QCOMPARE(bench.chain.check(forged, out), run::Verdict::bad_signature);
        forged = good.signed_list;
        forged.signature = key_of(2).sign(run::accept_list_domain, forged.list);
        QCOMPARE(bench.chain.check(forged, out), run::Verdict::bad_signature);

        run::SignedList cut = good.signed_list;
        cut.list.pop_back();
        QCOMPARE(bench.chain.check(cut, out), run::Verdict::malformed);
    }

    void a_list_of_another_run_is_not_ours() {
        Fixture bench;
        CheckedList other = bench.list_of({bench.payload_of(1.0F).entry});
        other.list.run.bytes.fill(std::byte{1});
        other.signed_list.list = other.list.encode();
        other.signed_list.signature = bench.self.sign(run::accept_list_domain, other.signed_list.list);
        CheckedList out;
        QCOMPARE(bench.chain.check(other.signed_list, out), run::Verdict::wrong_run);
    }

    void payloads_of_a_list_are_at_most_as_large_as_a_payload_can_be() {
        Fixture bench;
        const std::uint64_t size_max =
            numerics::payload_bytes_max(bench.context.layout.parameters, bench.context.manifest.recipe.k);
        run::Accepted entry = bench.payload_of(1.0F).entry;
        CheckedList out;
        entry.payload.size = size_max;
        QCOMPARE(bench.chain.check(bench.list_of({entry}).signed_list, out), run::Verdict::accepted);
        entry.payload.size = size_max + 1;
        QCOMPARE(bench.chain.check(bench.list_of({entry}).signed_list, out), run::Verdict::too_large);
    }
};

QTEST_APPLESS_MAIN(PeerChainLogTest)
#include "test_peer_chain_log.moc"
