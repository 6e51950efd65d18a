// When a seat's word on a step convicts it, when it does not, and which rounds a light member audits.
#include <QTest>

#include "core/base/sha256.h"
#include "core/numerics/outer/step_code.h"
#include "core/peer/states/audits.h"
#include "core/peer/states/weighted_list.h"
#include "core/proof/true_step.h"
#include "tests/unit/peer/peer_fixture.h"

using namespace potluck;
using namespace potluck::peer;

namespace {

run::Manifest coded_manifest() {
    run::Manifest manifest = Fixture::manifest_of();
    manifest.recipe.outer.form = numerics::StepForm::coded;
    for (std::uint8_t number = 2; number <= 4; ++number) manifest.backbones.push_back(key_of(number).id());
    return manifest;
}

/// A member without a seat, number 9, that has taken L[0] of the seats 1 to 4, with one payload.
struct Bench : Fixture {
    explicit Bench(std::uint8_t number = 9) : Fixture(coded_manifest(), number) {
        disk.manifest = run::manifest_file(as_bytes(context.manifest.to_json_text()), {});
        list = unsigned_list_of({made.entry});
        list.committee = ids_of({1, 2, 3, 4});
    }
    void append() { POTLUCK_CHECK(chain.append(committed(list, {1, 2, 3}), {}).ok()); }
    void bring_payload() {
        payloads.want_accepted(list, context.now());
        POTLUCK_CHECK(payloads.arrived(made.payload->ref, made.payload->blob, context.now()) ==
                      Payloads::Outcome::held);
    }
    [[nodiscard]] run::BlobRef step() const {
        return proof::true_step(list, {made.payload->blob->bytes()},
                                {context.manifest.recipe, context.layout.parameters}, 1)
            .value()
            .value();
    }
    [[nodiscard]] static run::BlobRef lie(const char* what = "lie") {
        return {merkle_root(as_bytes(what)), 100, run::BlobKind::plain, {}};
    }
    void hear(std::uint8_t seat, const run::BlobRef& step, std::optional<Digest> of = std::nullopt) {
        const run::StepMessage message{list.round, of.value_or(list.hash()), step, {}};
        audits.heard(
            {key_of(seat).id(), message,
             key_of(seat).sign(run::domain_of(run::MessageKind::step), run::signed_bytes(context.run, message))});
    }
    void compute() { audits.computed(list.round, list.hash(), step()); }
    [[nodiscard]] bool convicted(std::uint8_t seat) const { return audits.lies().contains(key_of(seat).id()); }

    Members members;
    Payloads payloads{swarm, context.layout.parameters, context.manifest.recipe.k_max};
    Seats seats{context, chain, members};
    Audits audits{{context, chain, payloads, disk, jobs, seats, errors}};
    Made made = payload_of(0.01F, key_of(5).id());
    run::AcceptList list;
};

/// That has everything and has made the step.
struct Full : Bench {
    explicit Full(std::uint8_t number = 9) : Bench(number) {
        append();
        bring_payload();
        compute();
    }
};

/// A number whose key draws a lot below or above these odds for the list that it would hold.
std::uint8_t number_that_audits(bool audits, double odds) {
    for (std::uint8_t number = 10; number < 250; ++number) {
        const Bench bench(number);
        if ((audit_lot(bench.self, bench.list.hash()) < odds) == audits) return number;
    }
    return 0;
}

}  // namespace

class AuditsTest : public QObject {
    Q_OBJECT
private slots:
    void a_word_that_differs_convicts_its_seat_and_leaves_a_proof() {
        Full bench;
        bench.hear(2, bench.lie());
        QVERIFY(!bench.convicted(2));  // F is computed once more before
        bench.work.finish_all();
        QVERIFY(bench.convicted(2));
        QVERIFY(bench.audits.lies().at(key_of(2).id()) == (Audits::Lie{bench.list.round, bench.list.hash(), true}));
        QVERIFY(bench.audits.is_false(bench.list.hash(), bench.lie()));
        const auto file = bench.disk.load_false_step(bench.list.hash());
        const auto proof = proof::FalseStep::parse(*file);
        QVERIFY(proof.ok());
        QCOMPARE(proof->accused.size(), std::size_t{1});
        QVERIFY(proof->accused[0].seat == key_of(2).id());
        QVERIFY(proof->list == bench.list);
    }

    void a_word_that_agrees_convicts_nobody_and_costs_nothing() {
        Full bench;
        bench.hear(2, bench.step());
        QCOMPARE(bench.work.size(), std::size_t{0});
        QVERIFY(bench.audits.lies().empty());
        QVERIFY(!bench.audits.is_false(bench.list.hash(), bench.step()));
    }

    void words_that_came_first_are_judged_once_the_step_is_made() {
        Bench bench;
        bench.hear(2, bench.lie());
        bench.hear(3, bench.step());
        bench.append();
        bench.bring_payload();
        QCOMPARE(bench.work.size(), std::size_t{0});
        bench.compute();
        bench.work.finish_all();
        QVERIFY(bench.convicted(2));
        QVERIFY(!bench.convicted(3));
    }

    void a_computer_that_was_wrong_once_convicts_nobody() {
        Bench bench;
        bench.append();
        bench.bring_payload();
        bench.hear(2, bench.step());
        bench.audits.computed(bench.list.round, bench.list.hash(), bench.lie("flipped bit"));
        bench.work.finish_all();
        QVERIFY(bench.audits.lies().empty());
        QVERIFY(bench.disk.false_steps().empty());
        QVERIFY(bench.errors.last().find("wrong once") != std::string::npos);
        // And says nothing more of this list.
        QVERIFY(!bench.audits.is_false(bench.list.hash(), bench.step()));
    }

    void a_second_word_of_a_seat_convicts_it_as_the_first_does() {
        Full bench;
        bench.hear(2, bench.step());
        bench.hear(2, bench.lie());
        bench.work.finish_all();
        QVERIFY(bench.convicted(2));
    }

    void words_of_other_lists_do_not_hide_the_one_that_counts() {
        Bench bench;
        bench.hear(2, bench.lie(), sha256(as_bytes("one")));
        bench.hear(2, bench.lie(), sha256(as_bytes("two")));
        bench.append();
        bench.bring_payload();
        bench.compute();
        bench.hear(2, bench.lie());
        bench.work.finish_all();
        QVERIFY(bench.convicted(2));
    }

    void a_key_without_a_seat_of_the_list_is_not_accused() {
        Full bench;
        bench.hear(6, bench.lie());
        QCOMPARE(bench.work.size(), std::size_t{0});
        bench.work.finish_all();
        QVERIFY(bench.audits.lies().empty());
    }

    void a_member_does_not_accuse_itself() {
        Full bench(2);
        bench.hear(2, bench.lie());
        QCOMPARE(bench.work.size(), std::size_t{0});
    }

    void a_seat_is_not_convicted_without_the_payloads() {
        Bench bench;
        bench.append();
        bench.hear(2, bench.lie());
        bench.compute();
        QCOMPARE(bench.work.size(), std::size_t{0});
        QVERIFY(bench.audits.lies().empty());
    }

    void all_liars_of_a_list_stand_in_one_proof() {
        Full bench;
        bench.hear(2, bench.lie());
        bench.hear(3, bench.lie("another"));  // while the first is examined
        bench.work.finish_all();
        QVERIFY(bench.convicted(2) && bench.convicted(3));
        QCOMPARE(bench.disk.false_steps().size(), std::size_t{1});
        QCOMPARE(proof::FalseStep::parse(*bench.disk.load_false_step(bench.list.hash()))->accused.size(),
                 std::size_t{2});
    }

    void a_liar_is_convicted_where_no_proof_can_be_kept() {
        Full bench;
        bench.disk.manifest.clear();
        bench.hear(2, bench.lie());
        bench.work.finish_all();
        QVERIFY(bench.convicted(2));
        QVERIFY(!bench.audits.lies().at(key_of(2).id()).on_disk);
        QVERIFY(bench.disk.false_steps().empty());
    }

    void words_of_more_signers_than_may_change_seats_are_not_kept() {
        Bench bench;
        for (std::uint8_t number = 40; number < 40 + step_signers_max; ++number) bench.hear(number, bench.lie());
        bench.hear(2, bench.lie());
        bench.append();
        bench.bring_payload();
        bench.compute();
        bench.work.finish_all();
        QVERIFY(bench.audits.lies().empty());
        bench.hear(2, bench.lie());  // those who have no seat of the list make room
        bench.work.finish_all();
        QVERIFY(bench.convicted(2));
    }

    void a_certificate_counts_if_more_than_may_lie_are_not_convicted() {
        Full bench;
        run::AcceptList next = bench.unsigned_list_of({});
        next.committee = bench.list.committee;
        const CheckedList decided{
            {next.encode(), run::encode(bench.certificate_of(next, bench.chain.committee(), {1, 2, 3}))},
            next,
            next.hash()};
        QVERIFY(!bench.audits.is_by_liars(decided));
        bench.hear(2, bench.lie());
        bench.hear(4, bench.lie());
        bench.work.finish_all();
        QVERIFY(!bench.audits.is_by_liars(decided));  // 1 and 3 are two, one more than may lie
        bench.hear(3, bench.lie());
        bench.work.finish_all();
        QVERIFY(bench.audits.is_by_liars(decided));
    }

    void a_seat_that_has_not_signed_a_certificate_does_not_vouch_for_it() {
        Full bench;
        run::AcceptList next = bench.unsigned_list_of({});
        next.committee = bench.list.committee;
        const CheckedList decided{
            {next.encode(), run::encode(bench.certificate_of(next, bench.chain.committee(), {1, 2, 3}))},
            next,
            next.hash()};
        bench.hear(2, bench.lie());
        bench.hear(3, bench.lie());
        bench.work.finish_all();
        QVERIFY(bench.audits.is_by_liars(decided));  // 4 is not convicted, and has no part in it
    }

    void damaged_proofs_are_left_aside_at_the_start() {
        Full bench;
        POTLUCK_CHECK(bench.disk.save_false_step(bench.list.hash(), Bytes(100)).ok());
        bench.audits.load();
        bench.work.finish_all();
        QVERIFY(bench.audits.lies().empty());
    }

    void odds_follow_bytes_and_stay_below_a_quarter() {
        QCOMPARE(audit_odds(100, 100), 0.05);
        QCOMPARE(audit_odds(100, 1'000), 0.005);
        QCOMPARE(audit_odds(1'000, 100), 0.25);
        QCOMPARE(audit_odds(100, 0), 0.0);
    }

    void lots_are_spread_evenly_and_each_members_own() {
        const identity::Identity one = key_of(10), other = key_of(11);
        int below = 0;
        for (std::uint8_t i = 0; i < 200; ++i) {
            const Digest list = sha256(std::as_bytes(std::span(&i, 1)));
            const double lot = audit_lot(one, list);
            QVERIFY(lot >= 0 && lot < 1);
            QVERIFY(lot != audit_lot(other, list));
            QCOMPARE(lot, audit_lot(one, list));
            below += lot < 0.25 ? 1 : 0;
        }
        QVERIFY(below > 30 && below < 70);
    }

    void a_light_member_audits_by_lot() {
        constexpr std::uint64_t step_bytes = 1'000'000;  // so that the odds are a quarter
        Bench lucky(number_that_audits(true, audit_odds_max));
        lucky.append();
        lucky.hear(2, lucky.lie());
        lucky.audits.took_step(lucky.list.round, lucky.list.hash(), step_bytes);
        QCOMPARE(lucky.swarm.fetched.size(), std::size_t{1});
        QVERIFY(lucky.swarm.fetched[0] == lucky.made.payload->ref.root);
        lucky.audits.look();
        QCOMPARE(lucky.work.size(), std::size_t{0});
        QCOMPARE(lucky.payloads.arrived(lucky.made.payload->ref, lucky.made.payload->blob, lucky.context.now()),
                 Payloads::Outcome::held);
        lucky.audits.look();
        lucky.audits.look();
        QCOMPARE(lucky.work.size(), std::size_t{1});
        lucky.work.finish_all();
        QCOMPARE(lucky.audits.audited(), 1U);
        QVERIFY(lucky.convicted(2));

        Bench other(number_that_audits(false, audit_odds_max));
        other.append();
        other.audits.took_step(other.list.round, other.list.hash(), step_bytes);
        QVERIFY(other.swarm.fetched.empty());
    }

    void old_words_and_steps_are_forgotten() {
        Full bench;
        bench.audits.forget_before(bench.list.round.next());
        bench.hear(2, bench.lie());
        bench.work.finish_all();
        QVERIFY(bench.audits.lies().empty());
    }
};

QTEST_APPLESS_MAIN(AuditsTest)
#include "test_audits.moc"
