// The committed lists that a member has taken.
#include <QTest>

#include "tests/unit/peer/peer_fixture.h"

using namespace potluck;
using namespace potluck::peer;

namespace {

StateDigest digest_of(const char* text) { return merkle_root(as_bytes(text)); }

/// A run whose first committee is the host and three backbones.
run::Manifest manifest_of_four() {
    run::Manifest manifest = Fixture::manifest_of();
    manifest.backbones = {key_of(2).id(), key_of(3).id(), key_of(4).id()};
    return manifest;
}

/// The list, but with something changed after its contributors had signed.
CheckedList changed(const CheckedList& good, const std::function<void(run::AcceptList&)>& change) {
    CheckedList other = good;
    change(other.list);
    other.committed.list = other.list.encode();
    other.hash = other.list.hash();
    return other;
}

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
        QVERIFY(bench.chain.committed_at(RoundId{0}) == first.committed);
        QVERIFY(!bench.chain.committed_at(RoundId{1}));
        QCOMPARE(bench.chain.committed_from(RoundId{0}, 5).size(), std::size_t{1});
        QVERIFY(bench.chain.list_at(RoundId{0}) == first.list);
    }

    void what_was_taken_is_there_after_a_restart() {
        Fixture bench;
        const CheckedList first = bench.list_of({bench.payload_of(1.0F).entry});
        QVERIFY(bench.chain.append(first, digest_of("1")).ok());
        ChainLog next{bench.context, bench.ledger, bench.keyring};
        next.load();
        QCOMPARE(next.height(), RoundId{1});
        QVERIFY(*next.head() == first.list);
        QVERIFY(next.hash_at(RoundId{0}) == first.hash);
    }

    void a_list_in_another_place_is_refused_and_changes_nothing() {
        Fixture bench;
        const CheckedList good = bench.list_of({bench.payload_of(1.0F).entry});
        const CheckedList later = changed(good, [](run::AcceptList& list) { list.round = RoundId{1}; });
        QVERIFY(!bench.chain.append(later, digest_of("1")).ok());
        QCOMPARE(bench.chain.height(), RoundId{0});
        QVERIFY(bench.chain.head() == nullptr);
    }

    void a_result_is_corrected_under_the_same_list() {
        Fixture bench;
        QVERIFY(bench.chain.correct_result(digest_of("nothing is on record")).ok());
        const CheckedList first = bench.list_of({bench.payload_of(1.0F).entry});
        QVERIFY(bench.chain.append(first, digest_of("damaged")).ok());
        QVERIFY(bench.chain.correct_result(digest_of("right")).ok());
        QVERIFY(*bench.chain.digest_at(RoundId{1}) == digest_of("right"));
        QVERIFY(bench.chain.hash_at(RoundId{0}) == first.hash);
        QCOMPARE(bench.chain.height(), RoundId{1});
    }

    void the_committee_is_the_manifests_and_then_the_newest_lists() {
        Fixture bench(manifest_of_four());
        QVERIFY(bench.chain.committee() == ids_of({1, 2, 3, 4}));
        run::AcceptList list = bench.unsigned_list_of({bench.payload_of(1.0F).entry});
        list.committee = ids_of({1});
        QVERIFY(bench.chain.append(bench.committed(list, {1, 2, 3}), digest_of("1")).ok());
        QVERIFY(bench.chain.committee() == ids_of({1}));
        const CheckedList second = bench.list_of({bench.payload_of(2.0F).entry});
        CheckedList out;
        QCOMPARE(bench.chain.check(second.committed, &list, out), run::Verdict::accepted);
        QCOMPARE(bench.chain.check(second.committed, bench.chain.head(), out), run::Verdict::accepted);
    }

    void a_list_counts_only_if_exactly_a_quorum_has_committed_it() {
        Fixture bench(manifest_of_four());
        const run::AcceptList list = bench.unsigned_list_of({bench.payload_of(1.0F).entry});
        CheckedList out;
        const CheckedList good = bench.committed(list, {1, 2, 3});
        QCOMPARE(bench.chain.check(good.committed, nullptr, out), run::Verdict::accepted);
        QVERIFY(out.hash == good.hash);
        QVERIFY(out.list == list);
        QVERIFY(out.committed == good.committed);
        QCOMPARE(bench.chain.check(bench.committed(list, {1, 2}).committed, nullptr, out), run::Verdict::bad_signature);
        QCOMPARE(bench.chain.check(bench.committed(list, {1, 2, 3, 4}).committed, nullptr, out),
                 run::Verdict::bad_signature);
    }

    void a_certificate_speaks_for_its_list_only() {
        Fixture bench(manifest_of_four());
        const run::AcceptList list = bench.unsigned_list_of({bench.payload_of(1.0F).entry});
        const CheckedList good = bench.committed(list, {1, 2, 3});
        CheckedList out;
        const auto refused = [&](const run::CommittedList& one) {
            return bench.chain.check(one, nullptr, out) == run::Verdict::bad_signature;
        };
        const CheckedList other = bench.committed(bench.unsigned_list_of({bench.payload_of(2.0F).entry}), {1, 2, 3});
        QVERIFY(refused({good.committed.list, other.committed.certificate}));
        QVERIFY(refused({good.committed.list, {}}));
        Bytes forged = good.committed.certificate;
        forged.back() ^= std::byte{1};
        QVERIFY(refused({good.committed.list, forged}));
        const std::vector<PeerId> committee = bench.chain.committee();
        const auto polka = Fixture::certificate_of(list, committee, {1, 2, 3}, run::Step::prevote);
        QVERIFY(refused({good.committed.list, run::encode(polka)}));
    }

    void a_list_is_read_only_where_it_follows() {
        Fixture bench;
        const CheckedList good = bench.list_of({bench.payload_of(1.0F).entry});
        CheckedList out;
        QCOMPARE(bench.chain.read(good.committed.list, nullptr, out), run::Verdict::accepted);
        QVERIFY(out.committed.certificate.empty());
        QVERIFY(out.hash == good.hash);
        const auto verdict_of = [&](const std::function<void(run::AcceptList&)>& change) {
            return bench.chain.read(changed(good, change).committed.list, nullptr, out);
        };
        QCOMPARE(verdict_of([](run::AcceptList& list) { list.run.bytes.fill(std::byte{1}); }), run::Verdict::wrong_run);
        QCOMPARE(verdict_of([](run::AcceptList& list) { list.round = RoundId{1}; }), run::Verdict::stale);
        QCOMPARE(verdict_of([](run::AcceptList& list) { list.committee = ids_of({9}); }), run::Verdict::not_allowed);
        QCOMPARE(bench.chain.read(good.committed.list, &good.list, out), run::Verdict::stale);
        Bytes cut = good.committed.list;
        cut.pop_back();
        QCOMPARE(bench.chain.read(cut, nullptr, out), run::Verdict::malformed);
    }

    void payloads_of_a_list_are_at_most_as_large_as_a_payload_can_be() {
        Fixture bench;
        const std::uint64_t size_max =
            payload_author_bytes +
            numerics::payload_bytes_max(bench.context.layout.parameters, bench.context.manifest.recipe.k);
        run::Accepted entry = bench.payload_of(1.0F).entry;
        CheckedList out;
        entry.payload.size = size_max;
        QCOMPARE(bench.chain.check(bench.list_of({entry}).committed, nullptr, out), run::Verdict::accepted);
        entry.payload.size = size_max + 1;
        QCOMPARE(bench.chain.check(bench.list_of({entry}).committed, nullptr, out), run::Verdict::too_large);
        entry.payload.size = payload_author_bytes;
        QCOMPARE(bench.chain.check(bench.list_of({entry}).committed, nullptr, out), run::Verdict::too_large);
    }

    void every_entry_is_its_contributors_own() {
        Fixture bench;
        run::Accepted other = bench.payload_of(2.0F).entry;
        other.peer = key_of(2).id();
        const run::AcceptList good = bench.unsigned_list_of({bench.payload_of(1.0F).entry, other});
        QVERIFY(bench.chain.is_signed_by_contributors(good));
        const auto holds = [&](const std::function<void(run::AcceptList&)>& change) {
            run::AcceptList list = good;
            change(list);
            return bench.chain.is_signed_by_contributors(list);
        };
        for (std::size_t i = 0; i < 2; ++i) {
            QVERIFY(!holds([&](run::AcceptList& list) { list.entries[i].tokens = {65}; }));
            QVERIFY(!holds([&](run::AcceptList& list) { list.entries[i].payload.root.bytes[0] ^= std::byte{1}; }));
            QVERIFY(!holds([&](run::AcceptList& list) { list.entries[i].signature[0] ^= std::byte{1}; }));
            QVERIFY(!holds([&](run::AcceptList& list) { list.entries[i].peer = key_of(3).id(); }));
        }
        QVERIFY(!holds([](run::AcceptList& list) { list.base.bytes[0] ^= std::byte{1}; }));
        QVERIFY(!holds([](run::AcceptList& list) { list.round = RoundId{1}; }));
        QVERIFY(!holds([](run::AcceptList& list) { list.run.bytes[0] ^= std::byte{1}; }));
    }

    void who_is_in_few_lists_is_a_newcomer_unless_somebody_vouches_for_it() {
        run::Manifest manifest = Fixture::manifest_of();
        manifest.recipe.probation_rounds = 2;
        manifest.backbones = {key_of(3).id()};
        Fixture bench(manifest);
        const PeerId stranger = key_of(2).id();
        for (std::uint64_t round = 0; round < 2; ++round) {
            QCOMPARE(bench.chain.rounds_accepted(stranger), round);
            QVERIFY(bench.chain.is_newcomer(stranger));
            run::Accepted entry = bench.payload_of(1.0F + static_cast<float>(round)).entry;
            entry.peer = stranger;
            QVERIFY(bench.chain.append(bench.list_of({entry}), digest_of("x")).ok());
        }
        QVERIFY(!bench.chain.is_newcomer(stranger));
        QVERIFY(!bench.chain.is_newcomer(key_of(1).id()));
        QVERIFY(!bench.chain.is_newcomer(key_of(3).id()));
    }
};

QTEST_APPLESS_MAIN(PeerChainLogTest)
#include "test_peer_chain_log.moc"
