// What jurors have signed: whom this member hears, for how long, and what of it a list may carry.
#include <QTest>

#include "core/peer/jury/verdicts.h"
#include "tests/unit/peer/peer_fixture.h"

using namespace potluck;
using namespace potluck::peer;
using run::Verdict;

namespace {

/// A run of four seats, of which this member, key 4, has one.
struct Bench : Fixture {
    explicit Bench(run::Manifest run_manifest = manifest_of_jury()) : Fixture(std::move(run_manifest), 4) {}
    static run::Manifest manifest_of_jury() {
        run::Manifest manifest = manifest_of();
        manifest.backbones = {key_of(2).id(), key_of(3).id(), key_of(4).id()};
        manifest.recipe.total_rounds = 1'000;
        manifest.recipe.measuring.jury = 0.03;
        return manifest;
    }
    /// Lists of this member's own contributions up to `height`.
    void reach(std::uint64_t height) {
        while (chain.height().value < height)
            POTLUCK_CHECK(chain.append(committed(unsigned_list_of({payload_of(1.0F).entry}), {1, 2, 3}), {}).ok());
    }
    static run::JurorVerdict about(std::uint8_t suspect, std::uint64_t last, std::uint32_t times = 0) {
        run::JurorVerdict verdict;
        verdict.person = key_of(suspect).id();
        verdict.times = times;
        verdict.last = {last};
        return verdict;
    }
    Verdict receive(std::uint8_t juror, const run::JurorVerdict& verdict) {
        const identity::Identity key = key_of(juror);
        const identity::Signature signature =
            key.sign(run::domain_of(run::MessageKind::verdict), run::signed_bytes(run_id(), verdict));
        return verdicts.receive(context.envelope_signed_by(key.id(), verdict, signature), verdict);
    }
    Members members;
    Verdicts verdicts{{context, chain, members}};
};

}  // namespace

class PeerVerdictsTest : public QObject {
    Q_OBJECT
private slots:
    void seats_are_heard_and_nobody_else() {
        Bench bench;
        bench.reach(10);
        QCOMPARE(bench.receive(2, Bench::about(9, 5)), Verdict::accepted);
        QVERIFY(bench.verdicts.holds(key_of(2).id(), Bench::about(9, 5)));
        QVERIFY(!bench.verdicts.holds(key_of(3).id(), Bench::about(9, 5)));
        QVERIFY(!bench.verdicts.holds(key_of(2).id(), Bench::about(9, 6)));
        QCOMPARE(bench.receive(2, Bench::about(9, 5)), Verdict::repeated);
        QCOMPARE(bench.receive(2, Bench::about(9, 6)), Verdict::accepted);
        QCOMPARE(bench.receive(2, Bench::about(9, 5)), Verdict::repeated);
        QCOMPARE(bench.receive(8, Bench::about(9, 5)), Verdict::wrong_author);
    }

    void old_ones_and_those_of_another_suspension_are_stale() {
        Bench bench;
        bench.reach(1);
        QCOMPARE(bench.receive(2, Bench::about(9, verdict_rounds_ahead)), Verdict::accepted);
        QCOMPARE(bench.receive(2, Bench::about(9, 1 + verdict_rounds_ahead)), Verdict::stale);
        QCOMPARE(bench.receive(2, Bench::about(9, 0, 1)), Verdict::stale);
        bench.reach(run::verdict_rounds_max + 1);
        QCOMPARE(bench.receive(3, Bench::about(9, verdict_rounds_ahead)), Verdict::stale);
        QCOMPARE(bench.receive(3, Bench::about(9, verdict_rounds_ahead + 1)), Verdict::accepted);
        bench.verdicts.settle();
        QCOMPARE(bench.verdicts.all().at(key_of(9).id()).size(), std::size_t{1});
    }

    void two_of_four_make_a_suspension_of_the_present_committee() {
        Bench bench;
        bench.reach(10);
        QCOMPARE(bench.receive(2, Bench::about(9, 5)), Verdict::accepted);
        QVERIFY(bench.verdicts.due().empty());
        QCOMPARE(bench.receive(3, Bench::about(9, 7)), Verdict::accepted);
        const std::vector<run::Suspension> due = bench.verdicts.due();
        QCOMPARE(due.size(), std::size_t{1});
        QCOMPARE(due[0].verdicts.size(), std::size_t{2});
        QVERIFY(due[0].verdicts[0].juror < due[0].verdicts[1].juror);
        QVERIFY(run::verdicts_per_suspension_max == run::verdicts_needed(run::committee_members_max));
        // One of a round that is not over does not count yet.
        QCOMPARE(bench.receive(2, Bench::about(8, 10)), Verdict::accepted);
        QCOMPARE(bench.receive(3, Bench::about(8, 9)), Verdict::accepted);
        QCOMPARE(bench.verdicts.due().size(), std::size_t{1});
    }

    void a_juror_may_speak_of_so_many_persons() {
        Bench bench;
        bench.reach(10);
        for (std::size_t i = 0; i <= verdicts_of_juror_max; ++i) {
            run::JurorVerdict verdict = Bench::about(9, 5);
            verdict.person.bytes[0] = static_cast<std::byte>(i);
            verdict.person.bytes[1] = std::byte{1};
            QCOMPARE(bench.receive(2, verdict), i < verdicts_of_juror_max ? Verdict::accepted : Verdict::no_room);
        }
        QCOMPARE(bench.verdicts.word_of(key_of(2).id()).verdicts, verdicts_of_juror_max);
        QCOMPARE(bench.verdicts.due().size(), std::size_t{0});
    }

    void a_person_may_be_spoken_of_by_so_many_jurors() {
        run::Manifest manifest = Bench::manifest_of_jury();
        for (std::uint8_t number = 10; number <= 10 + jurors_of_person_max; ++number)
            manifest.allowed.push_back(key_of(number).id());
        std::sort(manifest.allowed.begin(), manifest.allowed.end());
        Bench bench(std::move(manifest));
        bench.reach(10);
        for (std::uint8_t i = 0; i <= jurors_of_person_max; ++i) {
            const Verdict expected = i < jurors_of_person_max ? Verdict::accepted : Verdict::no_room;
            QCOMPARE(bench.receive(static_cast<std::uint8_t>(10 + i), Bench::about(9, 5)), expected);
        }
        QCOMPARE(bench.receive(10, Bench::about(9, 6)), Verdict::accepted);
    }

    void a_run_without_a_jury_hears_no_verdict() {
        run::Manifest manifest = Bench::manifest_of_jury();
        manifest.recipe.measuring.jury = 0;
        Bench bench(std::move(manifest));
        bench.reach(10);
        QCOMPARE(bench.receive(2, Bench::about(9, 5)), Verdict::not_allowed);
    }

    void a_juror_alone_with_a_verdict_for_long_is_noticed() {
        Bench bench;
        bench.reach(2);
        QCOMPARE(bench.receive(2, Bench::about(9, 1)), Verdict::accepted);
        QCOMPARE(bench.receive(2, Bench::about(8, 1)), Verdict::accepted);
        QCOMPARE(bench.receive(3, Bench::about(8, 1)), Verdict::accepted);
        bench.reach(1 + verdict_shared_within);
        QCOMPARE(bench.verdicts.word_of(key_of(2).id()).unshared, std::size_t{0});
        bench.reach(2 + verdict_shared_within);
        QCOMPARE(bench.verdicts.word_of(key_of(2).id()).unshared, std::size_t{1});
        QCOMPARE(bench.verdicts.word_of(key_of(3).id()).unshared, std::size_t{0});
    }

    void own_words_are_said_again_and_all_are_told_to_who_joins() {
        Bench bench;
        bench.reach(10);
        bench.verdicts.sign(Bench::about(9, 5));
        QCOMPARE(bench.swarm.sent.size(), std::size_t{1});
        QVERIFY(*bench.verdicts.own(key_of(9).id()) == Bench::about(9, 5));
        QVERIFY(bench.verdicts.own(key_of(8).id()) == nullptr);
        QCOMPARE(bench.receive(2, Bench::about(8, 5)), Verdict::accepted);
        bench.verdicts.repeat();
        QCOMPARE(bench.swarm.sent.size(), std::size_t{2});
        bench.verdicts.tell({key_of(7).id()});
        QCOMPARE(bench.swarm.sent_to.size(), std::size_t{2});
    }
};

QTEST_APPLESS_MAIN(PeerVerdictsTest)
#include "test_peer_verdicts.moc"
