// The committed lists that a member has taken.
#include <QTest>

#include "core/run/density.h"
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

/// Every second list names a table.
run::Manifest manifest_with_tables() {
    run::Manifest manifest = Fixture::manifest_of();
    manifest.recipe.table_every = 2;
    return manifest;
}

/// L[height] without contributions and with these actions, committed by the host alone.
CheckedList list_with(const Fixture& bench, std::vector<run::SignedAction> actions) {
    run::AcceptList list = bench.unsigned_list_of({});
    list.actions = std::move(actions);
    return bench.committed(list, {1});
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
    void contributors_of_the_last_three_lists_that_have_any_are_known() {
        Fixture bench;
        const auto append = [&](const std::vector<std::uint8_t>& authors) {
            std::vector<run::Accepted> entries;
            for (const std::uint8_t author : authors)
                entries.push_back(bench.payload_of(static_cast<float>(author), key_of(author).id()).entry);
            const std::uint64_t next = bench.chain.height().value + 1;
            POTLUCK_CHECK(bench.chain.append(bench.list_of(entries), bench.commit(next, 0.5F)).ok());
            return bench.chain.recent_contributors();
        };
        QVERIFY(!bench.chain.recent_contributors());
        QVERIFY(!append({}));
        QVERIFY(append({2}) == ids_of({2}));
        QVERIFY(append({3, 4}) == ids_of({2, 3, 4}));
        QVERIFY(append({4, 5}) == ids_of({2, 3, 4, 5}));
        QVERIFY(append({}) == ids_of({2, 3, 4, 5}));
        QVERIFY(append({6}) == ids_of({3, 4, 5, 6}));
    }

    void contributors_are_looked_for_in_the_last_eight_lists() {
        Fixture bench;
        const auto append = [&](const std::vector<run::Accepted>& entries) {
            const std::uint64_t next = bench.chain.height().value + 1;
            POTLUCK_CHECK(bench.chain.append(bench.list_of(entries), bench.commit(next, 0.5F)).ok());
        };
        append({bench.payload_of(2.0F, key_of(2).id()).entry});
        for (int empty = 0; empty < 7; ++empty) append({});
        QVERIFY(bench.chain.recent_contributors() == ids_of({2}));
        append({});
        QVERIFY(!bench.chain.recent_contributors());
    }

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

    void an_appended_list_is_there_after_a_restart() {
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
        QCOMPARE(bench.chain.check(second.committed, &list, bench.chain.rules(), out), run::Verdict::accepted);
        QCOMPARE(bench.chain.check(second.committed, bench.chain.head(), bench.chain.rules(), out),
                 run::Verdict::accepted);
    }

    void a_list_counts_only_if_exactly_a_quorum_has_committed_it() {
        Fixture bench(manifest_of_four());
        const run::AcceptList list = bench.unsigned_list_of({bench.payload_of(1.0F).entry});
        CheckedList out;
        const CheckedList good = bench.committed(list, {1, 2, 3});
        QCOMPARE(bench.chain.check(good.committed, nullptr, bench.chain.rules(), out), run::Verdict::accepted);
        QVERIFY(out.hash == good.hash);
        QVERIFY(out.list == list);
        QVERIFY(out.committed == good.committed);
        QCOMPARE(bench.chain.check(bench.committed(list, {1, 2}).committed, nullptr, bench.chain.rules(), out),
                 run::Verdict::bad_signature);
        QCOMPARE(bench.chain.check(bench.committed(list, {1, 2, 3, 4}).committed, nullptr, bench.chain.rules(), out),
                 run::Verdict::bad_signature);
    }

    void a_certificate_speaks_for_its_list_only() {
        Fixture bench(manifest_of_four());
        const run::AcceptList list = bench.unsigned_list_of({bench.payload_of(1.0F).entry});
        const CheckedList good = bench.committed(list, {1, 2, 3});
        CheckedList out;
        const auto refused = [&](const run::CommittedList& one) {
            return bench.chain.check(one, nullptr, bench.chain.rules(), out) == run::Verdict::bad_signature;
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
        QCOMPARE(bench.chain.read(good.committed.list, nullptr, bench.chain.rules(), out), run::Verdict::accepted);
        QVERIFY(out.committed.certificate.empty());
        QVERIFY(out.hash == good.hash);
        const auto verdict_of = [&](const std::function<void(run::AcceptList&)>& change) {
            return bench.chain.read(changed(good, change).committed.list, nullptr, bench.chain.rules(), out);
        };
        QCOMPARE(verdict_of([](run::AcceptList& list) { list.run.bytes.fill(std::byte{1}); }), run::Verdict::wrong_run);
        QCOMPARE(verdict_of([](run::AcceptList& list) { list.round = RoundId{1}; }), run::Verdict::stale);
        QCOMPARE(verdict_of([](run::AcceptList& list) { list.committee = ids_of({9}); }), run::Verdict::not_allowed);
        QCOMPARE(bench.chain.read(good.committed.list, &good.list, bench.chain.rules(), out), run::Verdict::stale);
        Bytes cut = good.committed.list;
        cut.pop_back();
        QCOMPARE(bench.chain.read(cut, nullptr, bench.chain.rules(), out), run::Verdict::malformed);
    }

    void every_so_many_lists_name_what_those_before_come_to() {
        Fixture bench(manifest_with_tables());
        QVERIFY(!bench.chain.table());
        QVERIFY(bench.chain.append(bench.list_of({bench.payload_of(1.0F).entry}), digest_of("1")).ok());
        QVERIFY(!bench.chain.table());
        run::AcceptList early = bench.unsigned_list_of({bench.payload_of(2.0F).entry});
        early.table = run::table_ref(Bytes(100));
        CheckedList out;
        QCOMPARE(bench.chain.read(early.encode(), bench.chain.head(), bench.chain.rules(), out),
                 run::Verdict::malformed);
        QVERIFY(bench.chain.append(bench.list_of({bench.payload_of(2.0F).entry}), digest_of("2")).ok());
        QVERIFY(bench.chain.table().has_value());
        run::AcceptList list = bench.unsigned_list_of({bench.payload_of(3.0F).entry});
        QVERIFY(list.table == bench.chain.table());
        const auto verdict_of = [&](const run::AcceptList& one) {
            return bench.chain.read(one.encode(), bench.chain.head(), bench.chain.rules(), out);
        };
        QCOMPARE(verdict_of(list), run::Verdict::accepted);
        run::AcceptList without = list;
        without.table.reset();
        QCOMPARE(verdict_of(without), run::Verdict::malformed);
        QVERIFY(!bench.chain.newest_table(RoundId{9}));
        QVERIFY(bench.chain.append(bench.committed(list, {1}), digest_of("3")).ok());
        QVERIFY(bench.chain.newest_table(RoundId{2}) == RoundId{2});
        QVERIFY(!bench.chain.newest_table(RoundId{1}));
        const auto table = run::CreditTable::decode(bench.chain.tables().at(0).content);
        QVERIFY(table.ok());
        QCOMPARE(table->round, RoundId{2});
        QCOMPARE(table->contributions, 2U);
        QVERIFY(!bench.chain.table());
    }

    void a_volunteer_forgets_old_lists_and_the_host_keeps_them() {
        for (const std::uint8_t self : {std::uint8_t{1}, std::uint8_t{5}}) {
            Fixture bench(manifest_with_tables(), self);
            for (int round = 0; round < 9; ++round) {
                const run::AcceptList list =
                    bench.unsigned_list_of({bench.payload_of(static_cast<float>(round + 1)).entry});
                QVERIFY(bench.chain.append(bench.committed(list, {1}), digest_of("1")).ok());
            }
            QCOMPARE(bench.chain.kept_from(), RoundId{self == 1 ? 0U : 4U});
            QCOMPARE(bench.chain.list_at(RoundId{3}).has_value(), self == 1);
            QVERIFY(bench.chain.list_at(RoundId{4}).has_value());
        }
    }

    void a_roll_back_beyond_all_lists_is_the_host_s_word() {
        Fixture bench(manifest_with_tables(), 5);
        for (int round = 0; round < 9; ++round) {
            const run::AcceptList list =
                bench.unsigned_list_of({bench.payload_of(static_cast<float>(round + 1)).entry});
            QVERIFY(bench.chain.append(bench.committed(list, {1}), digest_of("1")).ok());
        }
        run::HostAction back;
        back.round = RoundId{8};
        back.state.root = digest_of("1");
        QVERIFY(bench.chain.leads_back_to(back));
        back.state.root = digest_of("another");
        QVERIFY(!bench.chain.leads_back_to(back));
        back.round = RoundId{12};  // which has not been
        QVERIFY(!bench.chain.leads_back_to(back));
    }

    void a_list_says_how_much_is_sent_next_by_a_factor_of_two_at_most() {
        Fixture bench;
        QCOMPARE(bench.chain.k(), 1024U);
        const CheckedList good = bench.list_of({bench.payload_of(1.0F).entry});
        const auto verdict_of = [&](std::uint32_t k) {
            const CheckedList list = changed(good, [k](run::AcceptList& one) { one.k = k; });
            CheckedList out;
            return bench.chain.read(list.committed.list, nullptr, bench.chain.rules(), out);
        };
        for (const std::uint32_t k : {1024U, 2048U}) QCOMPARE(verdict_of(k), run::Verdict::accepted);
        for (const std::uint32_t k : {512U, 1023U, 4096U}) QCOMPARE(verdict_of(k), run::Verdict::malformed);
        run::AcceptList list = good.list;
        list.k = 2048;
        QVERIFY(bench.chain.append(bench.committed(list, {1}), digest_of("1")).ok());
        QCOMPARE(bench.chain.k(), 2048U);
    }

    void rounds_are_counted_since_less_was_sent() {
        Fixture bench;
        const auto append = [&](std::uint32_t k) {
            run::AcceptList list = bench.unsigned_list_of({});
            list.k = k;
            POTLUCK_CHECK(bench.chain.append(bench.committed(list, {1}), digest_of("1")).ok());
        };
        const std::uint64_t many = run::rounds_after_fall;
        QCOMPARE(bench.chain.rounds_since_k_fell(), many);
        for (const std::uint32_t k : {2048U, 4096U, 4096U}) append(k);
        QCOMPARE(bench.chain.rounds_since_k_fell(), many);
        append(2048);
        QCOMPARE(bench.chain.rounds_since_k_fell(), 0ULL);
        append(4096);
        append(4096);
        QCOMPARE(bench.chain.rounds_since_k_fell(), 2ULL);
        append(2048);
        QCOMPARE(bench.chain.rounds_since_k_fell(), 0ULL);
        for (std::uint64_t i = 0; i < many - 1; ++i) append(2048);
        QCOMPARE(bench.chain.rounds_since_k_fell(), many - 1);
        append(2048);
        QCOMPARE(bench.chain.rounds_since_k_fell(), many);
    }

    void payloads_of_a_list_are_at_most_as_large_as_a_payload_can_be() {
        Fixture bench;
        const std::uint64_t size_max =
            payload_author_bytes +
            numerics::payload_bytes_max(bench.context.layout.parameters, bench.context.manifest.recipe.k);
        run::Accepted entry = bench.payload_of(1.0F).entry;
        CheckedList out;
        entry.payload.size = size_max;
        QCOMPARE(bench.chain.check(bench.list_of({entry}).committed, nullptr, bench.chain.rules(), out),
                 run::Verdict::accepted);
        entry.payload.size = size_max + 1;
        QCOMPARE(bench.chain.check(bench.list_of({entry}).committed, nullptr, bench.chain.rules(), out),
                 run::Verdict::too_large);
        entry.payload.size = payload_author_bytes;
        QCOMPARE(bench.chain.check(bench.list_of({entry}).committed, nullptr, bench.chain.rules(), out),
                 run::Verdict::too_large);
    }

    // Late entries.

    void late_entries_are_read_where_the_recipe_allows_them() {
        for (const std::uint32_t rounds_late_max : {0U, 1U}) {
            Fixture bench(Fixture::manifest_of(rounds_late_max));
            QVERIFY(bench.chain.append(bench.list_of({}), digest_of("1")).ok());
            run::Accepted late = bench.payload_of(1.0F).entry;
            late.late = true;
            CheckedList out;
            const run::RunRules& rules = bench.chain.rules();
            const auto verdict = bench.chain.check(bench.list_of({late}).committed, bench.chain.head(), rules, out);
            QCOMPARE(verdict, rounds_late_max == 0 ? run::Verdict::not_allowed : run::Verdict::accepted);
        }
    }

    /// A list may halve what the next round sends, rounded down.
    void a_late_payload_may_send_what_its_own_round_allowed() {
        run::Manifest manifest = Fixture::manifest_of(1);
        manifest.recipe.k = 7;
        Fixture bench(manifest);
        QVERIFY(bench.chain.append(bench.list_of({}), digest_of("1")).ok());
        QCOMPARE(bench.chain.k_late(), 15U);
        const auto verdict_of = [&](bool late, std::uint64_t more) {
            run::Accepted entry = bench.payload_of(1.0F).entry;
            const std::uint32_t k = late ? 15 : 7;
            entry.late = late;
            entry.payload.size =
                payload_author_bytes + numerics::payload_bytes_max(bench.context.layout.parameters, k) + more;
            CheckedList out;
            return bench.chain.read(bench.list_of({entry}).committed.list, bench.chain.head(), bench.chain.rules(),
                                    out);
        };
        for (const bool late : {false, true}) {
            QCOMPARE(verdict_of(late, 0), run::Verdict::accepted);
            QCOMPARE(verdict_of(late, 1), run::Verdict::too_large);
        }
        manifest.recipe.k_max = 9;
        Fixture capped(manifest);
        QCOMPARE(capped.chain.k_late(), 9U);
    }

    void a_late_entry_is_signed_for_the_round_before() {
        Fixture bench(Fixture::manifest_of(1));
        const CheckedList first = bench.list_of({});
        QVERIFY(bench.chain.append(first, digest_of("1")).ok());
        run::Accepted late = bench.payload_of(1.0F).entry;
        late.late = true;
        run::AcceptList list = bench.unsigned_list_of({late});
        QVERIFY(bench.chain.is_signed_by_contributors(list));
        list.entries[0].late = false;
        QVERIFY(!bench.chain.is_signed_by_contributors(list));
        list.entries[0].late = true;
        Fixture::sign_entries(list, digest_of("1"));
        QVERIFY(!bench.chain.is_signed_by_contributors(list));
    }

    void the_newest_list_decides_which_contributors_may_be_late() {
        Fixture off, bench(Fixture::manifest_of(1));
        QVERIFY(!bench.chain.before());
        run::Accepted in_time = bench.payload_of(1.0F).entry;
        const CheckedList first = bench.list_of({in_time});
        QVERIFY(bench.chain.append(first, digest_of("1")).ok());
        QVERIFY(bench.chain.before()->base == first.list.base);
        QVERIFY(bench.chain.before()->accepted == std::vector{in_time.peer});
        run::Accepted late = bench.payload_of(2.0F, key_of(2).id()).entry;
        late.late = true;
        QVERIFY(bench.chain.append(bench.list_of({late}), digest_of("2")).ok());
        QVERIFY(bench.chain.before()->accepted.empty());
        QVERIFY(off.chain.append(off.list_of({in_time}), digest_of("1")).ok());
        QVERIFY(!off.chain.before());
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

    void an_entry_of_a_computer_has_its_persons_signature() {
        Fixture bench;
        run::AcceptList list = bench.unsigned_list_of({bench.payload_of(1.0F).entry});
        const auto sign_with = [&](const run::DeviceCertificate& certificate) {
            list.entries[0].certificate = certificate;
            list.entries[0].signature = bench.context.signature_of(run::contribution_of(list, list.entries[0]));
            return bench.chain.is_signed_by_contributors(list);
        };
        QVERIFY(sign_with({}));
        QVERIFY(sign_with(run::certify(key_of(7), key_of(1).id())));
        QVERIFY(!sign_with(run::certify(key_of(7), key_of(2).id())));
        QVERIFY(!sign_with({key_of(7).id(), run::certify(key_of(8), key_of(1).id()).signature}));
    }

    void a_seat_of_a_computer_has_its_persons_signature() {
        run::Manifest manifest = Fixture::manifest_of();
        manifest.backbones = {key_of(7).id()};
        Fixture bench(manifest);
        run::AcceptList list = bench.unsigned_list_of({bench.payload_of(1.0F).entry});
        list.committee = {key_of(9).id()};
        const auto verdict_of = [&](const run::DeviceCertificate& certificate) {
            list.committee_owners[key_of(9).id()] = certificate;
            CheckedList out;
            return bench.chain.read(list.encode(), nullptr, bench.chain.rules(), out);
        };
        QCOMPARE(verdict_of(run::certify(key_of(7), key_of(9).id())), run::Verdict::accepted);
        QCOMPARE(verdict_of(run::certify(key_of(7), key_of(8).id())), run::Verdict::bad_signature);
        QCOMPARE(verdict_of({key_of(7).id(), run::certify(key_of(9), key_of(9).id()).signature}),
                 run::Verdict::bad_signature);
        QCOMPARE(verdict_of(run::certify(key_of(8), key_of(9).id())), run::Verdict::not_allowed);
    }

    void an_action_that_the_host_has_not_signed_makes_a_list_refused() {
        Fixture bench;
        const auto verdict_of = [&](const run::SignedAction& action) {
            CheckedList out;
            const CheckedList list = list_with(bench, {action});
            const run::Verdict verdict = bench.chain.check(list.committed, nullptr, bench.chain.rules(), out);
            const bool is_signed = bench.chain.is_signed_by_host(action);
            if (is_signed != (verdict == run::Verdict::accepted)) qFatal("a list and its action are judged apart");
            return verdict;
        };
        const run::SignedAction good = Fixture::by_host(ban_of(5, 1));
        QVERIFY(verdict_of(good) == run::Verdict::accepted);
        QVERIFY(verdict_of(signed_by(2, ban_of(5, 1), Fixture::run_id())) == run::Verdict::bad_signature);
        QVERIFY(verdict_of(signed_by(1, ban_of(5, 1), RunId{})) == run::Verdict::bad_signature);
        run::SignedAction other = good;
        other.action.key = key_of(6).id();
        QVERIFY(verdict_of(other) == run::Verdict::bad_signature);
        other = good;
        other.action.kind = run::ActionKind::allow;
        QVERIFY(verdict_of(other) == run::Verdict::bad_signature);
        // Every action has a signature of its own, and a number that no proposer can change.
        CheckedList out;
        CheckedList list = list_with(bench, {good, signed_by(2, ban_of(6, 2), Fixture::run_id())});
        QCOMPARE(bench.chain.read(list.committed.list, nullptr, bench.chain.rules(), out), run::Verdict::bad_signature);
        list.list.actions = {good, good};
        list.list.actions[1].action.number = 2;
        QCOMPARE(bench.chain.read(list.list.encode(), nullptr, bench.chain.rules(), out), run::Verdict::bad_signature);
    }

    void an_action_is_in_force_once_its_list_is_taken_and_after_a_restart() {
        Fixture bench;
        QCOMPARE(bench.chain.rules().actions, 0U);
        const CheckedList list = list_with(bench, {Fixture::by_host(ban_of(5, 1)), Fixture::by_host(ban_of(6, 2))});
        QVERIFY(bench.chain.rules().admits(key_of(5).id()));
        QVERIFY(bench.chain.append(list, digest_of("1")).ok());
        QVERIFY(!bench.chain.rules().admits(key_of(5).id()) && !bench.chain.rules().admits(key_of(6).id()));
        QCOMPARE(bench.chain.rules().actions, 2U);
        // The next list has none, and those before it stay in force.
        QVERIFY(bench.chain.append(list_with(bench, {}), digest_of("2")).ok());
        ChainLog next{bench.context, bench.ledger, bench.keyring};
        QVERIFY(next.rules().admits(key_of(5).id()));
        next.load();
        QVERIFY(!next.rules().admits(key_of(5).id()) && !next.rules().admits(key_of(6).id()));
        QCOMPARE(next.rules().actions, 2U);
    }

    void an_action_that_waits_is_not_in_force_after_a_restart() {
        Fixture bench;
        QVERIFY(bench.ledger.remember_action(bench.context.run, Fixture::by_host(ban_of(5, 1))).ok());
        bench.chain.load();
        QVERIFY(bench.chain.rules().admits(key_of(5).id()));
        QVERIFY(bench.chain.append(list_with(bench, {Fixture::by_host(ban_of(5, 1))}), digest_of("1")).ok());
        QVERIFY(bench.ledger.remember_action(bench.context.run, Fixture::by_host(ban_of(6, 2))).ok());
        bench.chain.load();
        QVERIFY(!bench.chain.rules().admits(key_of(5).id()));
        QVERIFY(bench.chain.rules().admits(key_of(6).id()));
        QCOMPARE(bench.chain.rules().actions, 1U);
    }

    void loading_again_brings_no_action_into_force_twice() {
        Fixture bench;
        const run::HostAction readmits = action_of(run::ActionKind::readmit, 5, 2);
        QVERIFY(
            bench.chain
                .append(list_with(bench, {Fixture::by_host(ban_of(5, 1)), Fixture::by_host(readmits)}), digest_of("1"))
                .ok());
        const run::RunRules before = bench.chain.rules();
        bench.chain.load();
        QVERIFY(bench.chain.rules().banned == before.banned && before.banned.empty());
        QCOMPARE(bench.chain.rules().actions, 2U);
    }

    void a_list_that_is_not_taken_brings_nothing_into_force() {
        Fixture bench;
        const CheckedList later = changed(list_with(bench, {Fixture::by_host(ban_of(5, 1))}),
                                          [](run::AcceptList& list) { list.round = RoundId{1}; });
        QVERIFY(!bench.chain.append(later, digest_of("1")).ok());
        QVERIFY(bench.chain.rules().admits(key_of(5).id()));
        bench.chain.load();
        QVERIFY(bench.chain.rules().admits(key_of(5).id()));
        QCOMPARE(bench.chain.rules().actions, 0U);
    }

    void lists_of_one_answer_are_checked_under_the_rules_that_hold_between_them() {
        Fixture bench, other;
        const CheckedList first = list_with(other, {Fixture::by_host(ban_of(5, 1))});
        QVERIFY(other.chain.append(first, digest_of("1")).ok());
        const auto second_of = [&](std::vector<run::Accepted> entries) { return other.list_of(std::move(entries)); };
        const CheckedList good = second_of({other.payload_of(1.0F, key_of(6).id()).entry});
        const CheckedList bad = second_of({other.payload_of(1.0F, key_of(5).id()).entry});
        CheckedList out;
        run::RunRules rules = bench.chain.rules();
        QCOMPARE(bench.chain.check(first.committed, nullptr, rules, out), run::Verdict::accepted);
        QCOMPARE(bench.chain.check(good.committed, &first.list, rules, out), run::Verdict::stale);
        rules.apply(first.list.actions[0].action);
        QCOMPARE(bench.chain.check(good.committed, &first.list, rules, out), run::Verdict::accepted);
        QCOMPARE(bench.chain.check(bad.committed, &first.list, rules, out), run::Verdict::not_allowed);
        QCOMPARE(bench.chain.rules().actions, 0U);  // nothing is in force before it is taken
    }

    void whom_the_host_vouches_for_is_no_newcomer() {
        Fixture bench;
        QVERIFY(bench.chain.is_newcomer(key_of(5).id()));
        const run::SignedAction allows = Fixture::by_host(action_of(run::ActionKind::allow, 5, 1));
        QVERIFY(bench.chain.append(list_with(bench, {allows}), digest_of("1")).ok());
        QVERIFY(!bench.chain.is_newcomer(key_of(5).id()));
        QVERIFY(bench.chain.is_newcomer(key_of(6).id()));
    }

    void a_member_in_few_lists_is_a_newcomer_unless_vouched_for() {
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

    void a_list_has_the_bounds_that_the_recipe_and_the_list_before_ask_for() {
        run::Manifest manifest = Fixture::manifest_of();
        manifest.recipe.strangers.newcomer_rms = 0.01;
        manifest.recipe.strangers.unvouched_share = 0.5;
        Fixture bench(manifest);
        const auto verdict = [&](const std::function<void(run::AcceptList&)>& change) {
            run::Accepted strange = bench.payload_of(2.0F, key_of(2).id()).entry;
            strange.newcomer = true;
            run::AcceptList list = bench.unsigned_list_of({bench.payload_of(1.0F).entry, strange});
            list.bounds->norm = 3;
            change(list);
            CheckedList out;
            return bench.chain.read(list.encode(), bench.chain.head(), bench.chain.rules(), out);
        };
        const auto nothing = [](run::AcceptList&) {};
        QCOMPARE(verdict(nothing), run::Verdict::accepted);
        QCOMPARE(verdict([](run::AcceptList& list) { list.bounds->unvouched = 501; }), run::Verdict::malformed);
        QCOMPARE(verdict([](run::AcceptList& list) { list.bounds->claim_max += 1; }), run::Verdict::malformed);
        QCOMPARE(verdict([](run::AcceptList& list) {
                     list.bounds.reset();
                     for (run::Accepted& entry : list.entries) entry.vouched = false;
                 }),
                 run::Verdict::malformed);
        QCOMPARE(verdict([](run::AcceptList& list) {
                     for (run::Accepted& entry : list.entries) entry.vouched = false;
                 }),
                 run::Verdict::malformed);
        QCOMPARE(verdict([](run::AcceptList& list) {
                     for (run::Accepted& entry : list.entries) {
                         entry.newcomer = false;
                         entry.vouched = true;
                     }
                 }),
                 run::Verdict::malformed);
        run::AcceptList first = bench.unsigned_list_of({bench.payload_of(1.0F).entry});
        first.bounds->norm = 3;
        QVERIFY(bench.chain.append(bench.committed(first, {1}), digest_of("1")).ok());
        // Nobody has a say in this one, so that it says what the one before it does.
        const auto alone = [&](double norm) {
            run::Accepted strange = bench.payload_of(2.0F, key_of(2).id()).entry;
            strange.newcomer = true;
            run::AcceptList list = bench.unsigned_list_of({strange});
            POTLUCK_CHECK(list.bounds->claim_max == first.bounds->claim_max);
            list.bounds->norm = norm;
            CheckedList out;
            return bench.chain.read(list.encode(), bench.chain.head(), bench.chain.rules(), out);
        };
        QCOMPARE(alone(3), run::Verdict::accepted);
        QCOMPARE(alone(4), run::Verdict::malformed);
        Fixture plain;
        CheckedList out;
        run::AcceptList bounded = plain.unsigned_list_of({plain.payload_of(1.0F).entry});
        bounded.bounds = run::Bounds{};
        QCOMPARE(plain.chain.read(bounded.encode(), nullptr, plain.chain.rules(), out), run::Verdict::malformed);
    }

    void a_person_back_from_a_suspension_is_not_marked_as_vouched_for() {
        run::Manifest manifest = Fixture::manifest_of();
        manifest.allowed = {key_of(5).id()};
        manifest.recipe.total_rounds = 1'000;
        manifest.recipe.strangers.newcomer_rms = 0.01;
        manifest.recipe.strangers.unvouched_share = 0.5;
        Fixture bench(manifest);
        run::JurorVerdict verdict;
        verdict.person = key_of(5).id();
        run::AcceptList first = bench.unsigned_list_of({bench.payload_of(1.0F).entry});
        first.suspensions = {{verdict.person, {{key_of(1).id(), verdict, {}}}}};
        QVERIFY(bench.chain.append(bench.committed(first, {1}), digest_of("1")).ok());
        while (bench.chain.height().value < 1 + run::suspended_rounds[0])
            QVERIFY(bench.chain.append(bench.list_of({bench.payload_of(1.0F).entry}), digest_of("x")).ok());
        const auto verdict_where = [&](bool is_vouched) {
            run::AcceptList list =
                bench.unsigned_list_of({bench.payload_of(1.0F).entry, bench.payload_of(2.0F, verdict.person).entry});
            for (run::Accepted& entry : list.entries)
                if (entry.peer == verdict.person) entry.vouched = is_vouched;
            list.bounds = bench.chain.bounds_after(list, 3);
            CheckedList out;
            return bench.chain.read(list.encode(), bench.chain.head(), bench.chain.rules(), out);
        };
        QCOMPARE(verdict_where(true), run::Verdict::malformed);
        QCOMPARE(verdict_where(false), run::Verdict::accepted);
    }

    void a_suspension_has_its_jurors_signatures() {
        run::Manifest manifest = Fixture::manifest_of();
        manifest.recipe.measuring.jury = 0.03;
        Fixture bench(manifest);
        QVERIFY(bench.chain.append(bench.list_of({bench.payload_of(1.0F).entry}), digest_of("1")).ok());
        run::JurorVerdict verdict;
        verdict.person = key_of(5).id();
        run::SignedVerdict signed_verdict{key_of(1).id(), verdict, {}};
        signed_verdict.signature =
            key_of(1).sign(run::domain_of(run::MessageKind::verdict), run::signed_bytes(Fixture::run_id(), verdict));
        const auto verdict_on = [&](const run::SignedVerdict& one) {
            run::AcceptList list = bench.unsigned_list_of({bench.payload_of(2.0F).entry});
            list.suspensions = {{verdict.person, {one}}};
            CheckedList out;
            return bench.chain.read(list.encode(), bench.chain.head(), bench.chain.rules(), out);
        };
        QCOMPARE(verdict_on(signed_verdict), run::Verdict::accepted);
        signed_verdict.signature[0] ^= std::byte{1};
        QCOMPARE(verdict_on(signed_verdict), run::Verdict::bad_signature);
    }

    void a_member_with_little_credit_stays_a_newcomer() {
        run::Manifest manifest = Fixture::manifest_of();
        manifest.recipe.probation_rounds = 1;
        manifest.recipe.probation_tokens = 120;
        Fixture bench(manifest);
        const PeerId stranger = key_of(2).id();
        const auto accept = [&](float value, std::uint64_t tokens) {
            run::Accepted entry = bench.payload_of(value).entry;
            entry.peer = stranger;
            entry.tokens = {tokens};
            QVERIFY(bench.chain.append(bench.list_of({entry}), digest_of("x")).ok());
        };
        accept(1.0F, 119);
        QVERIFY(bench.chain.is_newcomer(stranger));
        accept(2.0F, 1);
        QVERIFY(!bench.chain.is_newcomer(stranger));
    }
};

QTEST_APPLESS_MAIN(PeerChainLogTest)
#include "test_peer_chain_log.moc"
