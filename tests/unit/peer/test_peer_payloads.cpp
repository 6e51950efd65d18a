// The payloads of recent rounds: what is fetched, kept and forgotten.
#include <QTest>

#include "tests/unit/peer/peer_fixture.h"

using namespace potluck;
using namespace potluck::peer;

namespace {

struct Bench : Fixture {
    /// A payload that is wanted for `round` and here.
    run::BlobRef hold(float value, std::uint64_t round) {
        const Made made = payload_of(value);
        payloads.want(made.payload->ref, RoundId{round}, {});
        POTLUCK_CHECK(payloads.arrived(made.payload->ref, made.payload->blob, TimePoint{}) == Payloads::Outcome::held);
        return made.payload->ref;
    }
    static run::AcceptList list_naming(std::uint64_t round, const run::BlobRef& ref) {
        run::AcceptList list;
        list.round = RoundId{round};
        list.entries = {{key_of(1).id(), ref, {64}}};
        return list;
    }
    [[nodiscard]] bool forgot(const run::BlobRef& ref) const {
        return std::count(swarm.forgotten.begin(), swarm.forgotten.end(), ref.root) > 0;
    }
    Payloads payloads{swarm, context.layout.parameters, context.manifest.recipe.k_max};
};

}  // namespace

class PeerPayloadsTest : public QObject {
    Q_OBJECT
private slots:
    void a_payload_that_no_list_accepted_is_forgotten_with_its_round() {
        Bench bench;
        const run::BlobRef accepted = bench.hold(1.0F, 3), refused = bench.hold(2.0F, 3), older = bench.hold(3.0F, 2);
        const run::BlobRef missing = bench.payload_of(4.0F).payload->ref;
        bench.payloads.want(missing, RoundId{3}, {});
        bench.payloads.forget_refused(Bench::list_naming(3, accepted), RoundId{4}, {});
        QVERIFY(bench.payloads.find(accepted.root));
        QVERIFY(!bench.forgot(accepted));
        for (const run::BlobRef& ref : {refused, older, missing}) {
            QVERIFY(!bench.payloads.find(ref.root));
            QVERIFY(bench.forgot(ref));
        }
    }

    void a_payload_that_may_still_be_late_stays() {
        Bench bench;
        const run::BlobRef accepted = bench.hold(1.0F, 3), late = bench.hold(2.0F, 3), older = bench.hold(3.0F, 2);
        bench.payloads.forget_refused(Bench::list_naming(3, accepted), RoundId{3}, {});
        QVERIFY(bench.payloads.find(late.root));
        QVERIFY(bench.forgot(older));
    }

    void an_accepted_payload_stays_when_the_next_list_comes() {
        Bench bench;
        const run::BlobRef first = bench.hold(1.0F, 3), second = bench.hold(2.0F, 4);
        bench.payloads.forget_refused(Bench::list_naming(3, first), RoundId{4}, {});
        bench.payloads.forget_refused(Bench::list_naming(4, second), RoundId{5}, {});
        QVERIFY(bench.payloads.find(first.root));
        QVERIFY(bench.swarm.forgotten.empty());
    }

    /// After a restart the lists of before are read again, and only the new ones are heard.
    void a_payload_accepted_before_a_restart_stays() {
        Bench bench;
        const run::BlobRef before = bench.payload_of(1.0F).payload->ref, now = bench.hold(2.0F, 4);
        bench.payloads.want_accepted(Bench::list_naming(3, before), bench.context.now());
        bench.payloads.forget_refused(Bench::list_naming(4, now), RoundId{5}, {});
        QVERIFY(bench.swarm.forgotten.empty());
    }

    void a_payload_that_a_later_round_may_accept_stays() {
        Bench bench;
        const run::BlobRef accepted = bench.hold(1.0F, 3), later = bench.hold(2.0F, 4);
        bench.payloads.forget_refused(Bench::list_naming(3, accepted), RoundId{4}, {});
        QVERIFY(bench.payloads.find(later.root));
    }

    void a_payload_that_is_still_needed_stays() {
        Bench bench;
        const run::BlobRef accepted = bench.hold(1.0F, 3), own = bench.hold(2.0F, 3);
        bench.payloads.forget_refused(Bench::list_naming(3, accepted), RoundId{4}, {own.root});
        QVERIFY(bench.payloads.find(own.root));
        QVERIFY(!bench.forgot(own));
    }

    void a_payload_that_does_not_parse_is_bad_and_stays_so() {
        // Too short for an author, and noise after one.
        for (const std::size_t size : {payload_author_bytes - 1, payload_author_bytes + 8}) {
            Bench bench;
            const run::BlobRef ref{merkle_root(as_bytes("noise")), size, run::BlobKind::plain, {}};
            const auto noise = std::make_shared<sim::MemoryBlob>(Bytes(size));
            QCOMPARE(bench.payloads.arrived(ref, noise, TimePoint{}), Payloads::Outcome::not_wanted);
            bench.payloads.want(ref, RoundId{3}, {});
            QVERIFY(!bench.payloads.bad(ref.root));
            QCOMPARE(bench.payloads.arrived(ref, noise, TimePoint{}), Payloads::Outcome::bad);
            QVERIFY(bench.payloads.bad(ref.root));
            QVERIFY(!bench.payloads.find(ref.root));
        }
    }

    void a_short_payload_may_still_come_in_a_message() {
        Bench bench;
        const run::BlobRef ref = bench.payload_of(1.0F).payload->ref;
        const TimePoint now = bench.context.now();
        bench.payloads.expect(ref, RoundId{3}, {}, now, run::Retention::offered);
        bench.payloads.retry(now + message_patience - Duration{1});
        QVERIFY(bench.swarm.fetched.empty());
        bench.payloads.retry(now + message_patience);
        bench.payloads.retry(now + 2 * message_patience);
        QCOMPARE(bench.swarm.fetched.size(), std::size_t{1});
    }

    void a_payload_that_came_in_a_message_is_taken_at_once() {
        Bench bench;
        const run::BlobRef ref = bench.payload_of(1.0F).payload->ref;
        bench.payloads.found(ref.root);
        QVERIFY(bench.swarm.fetched.empty());
        bench.payloads.expect(ref, RoundId{3}, {}, bench.context.now(), run::Retention::offered);
        bench.payloads.found(ref.root);
        bench.payloads.retry(bench.context.now() + message_patience);
        QCOMPARE(bench.swarm.fetched.size(), std::size_t{1});
    }

    void a_long_payload_is_fetched_at_once() {
        Bench bench;
        const run::BlobRef ref{
            merkle_root(as_bytes("long")), run::payload_in_message_max + 1, run::BlobKind::plain, {}};
        bench.payloads.expect(ref, RoundId{3}, {}, bench.context.now(), run::Retention::offered);
        QCOMPARE(bench.swarm.fetched.size(), std::size_t{1});
        QVERIFY(bench.swarm.deadlines.front() == TimePoint{});  // most would come twice
    }

    /// Its author could send it to the committee at once and to the others slowly.
    void an_accepted_payload_is_soon_requested_from_others_too() {
        Bench bench;
        const run::BlobRef ref{
            merkle_root(as_bytes("long")), run::payload_in_message_max + 1, run::BlobKind::plain, {}};
        const PeerId author = key_of(1).id();
        const TimePoint now = bench.context.now();
        bench.payloads.expect(ref, RoundId{3}, {author}, now, run::Retention::offered);
        QCOMPARE(bench.swarm.sources.back(), std::vector{author});
        bench.payloads.want_accepted(Bench::list_naming(3, ref), now);
        bench.payloads.retry(now + author_patience - Duration{1});
        QCOMPARE(bench.swarm.fetched.size(), std::size_t{1});
        bench.payloads.retry(now + author_patience);
        QCOMPARE(bench.swarm.fetched.size(), std::size_t{2});
        // The list is looked at again and again until it can be applied.
        bench.payloads.want_accepted(Bench::list_naming(3, ref), now);
        bench.payloads.retry(now + 2 * author_patience);
        QCOMPARE(bench.swarm.fetched.size(), std::size_t{2});
        QVERIFY(bench.swarm.sources.back().empty());
    }

    /// Of a light member's neighbours most have none of them.
    void seats_are_asked_for_what_they_had_to_have() {
        Bench bench;
        const run::BlobRef ref = bench.payload_of(1.0F).payload->ref;
        run::AcceptList list = Bench::list_naming(3, ref);
        list.committee = {key_of(7).id(), key_of(8).id()};
        const TimePoint now = bench.context.now();
        bench.payloads.want_accepted(list, now, Payloads::Holders::seats);
        QCOMPARE(bench.swarm.sources.back(), (std::vector{key_of(7).id(), key_of(8).id(), list.entries.front().peer}));
        QVERIFY(bench.swarm.of_named_only.back());
        bench.payloads.retry(now + author_patience);
        QCOMPARE(bench.swarm.sources.back(), list.committee);
        QVERIFY(bench.swarm.of_named_only.back());
    }

    void a_fetch_for_rounds_that_are_over_ends_and_what_is_here_stays() {
        Bench bench;
        const run::BlobRef held = bench.hold(1.0F, 3), old = bench.payload_of(2.0F).payload->ref,
                           newer = bench.payload_of(3.0F).payload->ref;
        bench.payloads.want(old, RoundId{3}, {});
        bench.payloads.want(newer, RoundId{4}, {});
        bench.payloads.forget_unfinished_before(RoundId{4});
        QVERIFY(bench.forgot(old) && !bench.forgot(held) && !bench.forgot(newer));
    }

    void a_held_payload_is_not_fetched_because_a_list_accepts_it() {
        Bench bench;
        const run::BlobRef held = bench.hold(1.0F, 3);
        const std::size_t fetched = bench.swarm.fetched.size();
        bench.payloads.want_accepted(Bench::list_naming(3, held), bench.context.now());
        bench.payloads.retry(bench.context.now() + author_patience);
        QCOMPARE(bench.swarm.fetched.size(), fetched);
    }

    void a_held_payload_is_not_fetched_because_a_message_brings_it_again() {
        Bench bench;
        const run::BlobRef held = bench.hold(1.0F, 3);
        const std::size_t fetched = bench.swarm.fetched.size();
        bench.payloads.found(held.root);
        QCOMPARE(bench.swarm.fetched.size(), fetched);
    }

    void the_first_arrival_of_a_payload_is_when_it_came() {
        Bench bench;
        const auto made = bench.payload_of(1.0F);
        const TimePoint now = bench.context.now();
        bench.payloads.want(made.payload->ref, RoundId{3}, {});
        QVERIFY(!bench.payloads.arrived_at(made.payload->ref.root));
        for (const Duration later : {Duration{0}, Duration{500}})
            QCOMPARE(bench.payloads.arrived(made.payload->ref, made.payload->blob, now + later),
                     Payloads::Outcome::held);
        QVERIFY(bench.payloads.arrived_at(made.payload->ref.root) == now);
    }

    void a_payload_is_released_with_the_last_round_that_used_it() {
        Bench bench;
        const run::BlobRef third = bench.hold(1.0F, 3), both = bench.hold(2.0F, 4), fourth = bench.hold(3.0F, 4);
        bench.payloads.want(both, RoundId{3}, {});
        bench.payloads.release_before(RoundId{4});
        QVERIFY(!bench.payloads.find(third.root));
        QVERIFY(bench.payloads.find(both.root) && bench.payloads.find(fourth.root));
        QVERIFY(bench.swarm.forgotten.empty());
    }

    void a_payload_is_a_plain_blob_with_more_than_its_authors_key() {
        Bench bench;
        const auto is_plausible = [&](std::uint64_t bytes, run::BlobKind kind) {
            return Payloads::plausible({merkle_root(as_bytes("payload")), bytes, kind, {}},
                                       bench.context.layout.parameters, bench.context.manifest.recipe.k_max);
        };
        QVERIFY(is_plausible(33, run::BlobKind::plain));
        QVERIFY(!is_plausible(32, run::BlobKind::plain));
        QVERIFY(!is_plausible(33, run::BlobKind::open));
    }

    void each_may_ask_for_a_payload_once() {
        Bench bench;
        const run::BlobRef held = bench.hold(1.0F, 3);
        QVERIFY(!bench.payloads.asked(merkle_root(as_bytes("unknown")), key_of(1).id()));
        QVERIFY(bench.payloads.asked(held.root, key_of(1).id()));
        QVERIFY(!bench.payloads.asked(held.root, key_of(1).id()));
        QVERIFY(bench.payloads.take_askers(held.root) == std::vector{key_of(1).id()});
        QVERIFY(bench.payloads.take_askers(held.root).empty());
        QVERIFY(!bench.payloads.asked(held.root, key_of(1).id()));
        for (std::size_t i = 1; i < askers_max; ++i) {
            PeerId asker;
            asker.bytes[0] = std::byte{static_cast<unsigned char>(i)};
            QVERIFY(bench.payloads.asked(held.root, asker));
        }
        QVERIFY(!bench.payloads.asked(held.root, key_of(2).id()));
    }

    void an_early_request_waits_for_its_payload() {
        Bench bench;
        const auto made = bench.payload_of(1.0F);
        bench.payloads.expect(made.payload->ref, RoundId{3}, {}, bench.context.now(), run::Retention::offered);
        QVERIFY(bench.payloads.asked(made.payload->ref.root, key_of(1).id()));
        QVERIFY(bench.payloads.take_askers(made.payload->ref.root).empty());
        QVERIFY(bench.payloads.arrived(made.payload->ref, made.payload->blob, TimePoint{}) == Payloads::Outcome::held);
        QCOMPARE(bench.payloads.take_askers(made.payload->ref.root).size(), std::size_t{1});
    }

    void a_fetch_that_failed_is_tried_again_after_a_while() {
        Bench bench;
        const run::BlobRef ref = bench.payload_of(1.0F).payload->ref;
        bench.payloads.want(ref, RoundId{3}, {});
        bench.payloads.want(ref, RoundId{4}, {});
        QCOMPARE(bench.swarm.fetched.size(), std::size_t{1});
        bench.payloads.failed(ref.root, bench.context.now());
        bench.payloads.retry(bench.context.now() + fetch_again_after - Duration{1});
        QCOMPARE(bench.swarm.fetched.size(), std::size_t{1});
        bench.payloads.retry(bench.context.now() + fetch_again_after);
        bench.payloads.retry(bench.context.now() + fetch_again_after);
        QCOMPARE(bench.swarm.fetched.size(), std::size_t{2});
    }

    void a_payload_rises_in_rank_and_never_falls() {
        Bench bench;
        const run::BlobRef ref = bench.payload_of(1.0F).payload->ref;
        bench.payloads.want(ref, RoundId{3}, {}, run::Retention::newcomer);
        QVERIFY(bench.swarm.ranks == std::vector<run::Retention>{run::Retention::newcomer});
        QVERIFY(bench.payloads.displaceable(ref.root));
        bench.payloads.want(ref, RoundId{3}, {});
        bench.payloads.want(ref, RoundId{3}, {}, run::Retention::newcomer);
        QVERIFY(!bench.payloads.displaceable(ref.root));
        QCOMPARE(bench.swarm.retained.size(), 1U);
        QVERIFY(bench.swarm.retained[0] == std::pair(ref.root, run::Retention::kept));
        // A fetch that is tried again has the rank that was reached.
        bench.payloads.failed(ref.root, bench.context.now());
        bench.payloads.retry(bench.context.now() + fetch_again_after);
        QVERIFY(bench.swarm.ranks.back() == run::Retention::kept);
    }
};

QTEST_APPLESS_MAIN(PeerPayloadsTest)
#include "test_peer_payloads.moc"
