// What jurors have signed: whom this member hears, for how long, and what of it a list may carry. And what this member
// measures as a juror, what that may take, and when it accuses a person.
#include <QTest>

#include "core/peer/jury/juror.h"
#include "core/peer/jury/verdicts.h"
#include "core/run/sample_order.h"
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

/// A trainer that keeps what it is to measure.
struct Measurer final : Trainer {
    void start(const run::Manifest&, const VectorPlace&, RoundId) override {}
    void train(const WindowPlan&) override {}
    void idle() override {}
    void snapshot(const VectorPlace&) override {}
    void rebase(const VectorPlace&) override {}
    void stop(const std::optional<MomentsToKeep>&) override {}
    void forget_moments() override {}
    void judge(const JudgePlan& plan) override { plans.push_back(plan); }
    std::vector<JudgePlan> plans;
};

/// A juror that may take a fourth of its trainer's time, which is 15 s of each window. Key 4 has a seat, key 9 has
/// none.
struct JurorBench : Fixture, Juror::Mediator {
    explicit JurorBench(std::uint8_t number = 4) : Fixture(manifest_of_jurors(), number) {
        swarm.blobs[context.manifest.shards[0].blob.root] = std::make_shared<sim::MemoryBlob>(Bytes(5), "shard");
    }
    static run::Manifest manifest_of_jurors() {
        run::Manifest manifest = Bench::manifest_of_jury();
        manifest.recipe.measuring.jury = 0.25;
        manifest.recipe.window = Duration{60'000};
        manifest.recipe.rounds_late_max = 1;
        return manifest;
    }
    /// The keys from 10 on, which have no seat.
    static std::vector<std::uint8_t> keys(std::uint8_t count) {
        std::vector<std::uint8_t> numbers;
        for (std::uint8_t i = 0; i < count; ++i) numbers.push_back(static_cast<std::uint8_t>(10 + i));
        return numbers;
    }
    /// L[height] has an entry of each of these keys, whose payloads are here, as theta[height] is.
    void play(const std::vector<std::uint8_t>& authors, const std::function<void(run::AcceptList&)>& change = {}) {
        (void)commit(chain.height().value, 0.5F);
        std::vector<run::Accepted> entries;
        for (const std::uint8_t author : authors) {
            const Made made = payload_of(values.contains(author) ? values.at(author) : 1.0F, key_of(author).id());
            payloads.want(made.payload->ref, chain.height(), {});
            POTLUCK_CHECK(payloads.arrived(made.payload->ref, made.payload->blob, context.now()) ==
                          Payloads::Outcome::held);
            entries.push_back(made.entry);
        }
        run::AcceptList list = unsigned_list_of(std::move(entries));
        if (change) change(list);
        POTLUCK_CHECK(chain.append(committed(list, {1, 2, 3}), {}).ok());
    }
    std::map<std::uint8_t, float> values;  // of authors' payloads; 1 of others
    void begin_after(Duration time) {
        context.set_now(context.now() + time);
        juror.round_begins();
    }
    void begin_next_window() { begin_after(context.manifest.recipe.window); }
    [[nodiscard]] const std::vector<JudgePlan::Subject>& subjects() const { return trainer.plans.back().subjects; }
    [[nodiscard]] bool is_subject(std::uint8_t number) const {
        return std::any_of(subjects().begin(), subjects().end(),
                           [&](const JudgePlan::Subject& one) { return one.contributor == key_of(number).id(); });
    }
    /// The newest plan's subjects all help alike; measuring them took the trainer so long.
    void answer(Duration taken) {
        JudgeReport report{trainer.plans.back().round, {}, taken};
        for (const JudgePlan::Subject& one : subjects()) report.results.push_back({one.contributor, 1.0, 1.0});
        juror.on_judged(report);
    }
    /// A round of which nothing could be measured: what is known of persons is looked at all the same.
    void measure_nothing() {
        play(keys(4));
        begin_next_window();
        juror.on_judged({trainer.plans.back().round, {}, Duration{0}});
    }
    /// There is so much evidence against each of these persons, in one contribution to L[last] each.
    void know(const std::map<PeerId, int>& evidence, std::uint64_t last, double own = 0.0123) {
        ByteWriter out;
        out.u8(1);
        out.u32(static_cast<std::uint32_t>(evidence.size()));
        for (const auto& [person, sum] : evidence) {
            out.raw(person.bytes);
            out.u32(static_cast<std::uint32_t>(sum));
            out.u64(0);
            out.u64(last);
            out.u32(1);
            out.f64(own);
            out.f64(own);
            out.u8(0);
            out.u8(1);
            out.f64(own);
        }
        POTLUCK_CHECK(disk.save_judgements(out.take()).ok());
        juror.load();
        POTLUCK_CHECK(juror.tests().all().size() == evidence.size());
    }
    /// L[height] suspends this person.
    void suspend(std::uint8_t number) {
        const run::JurorVerdict verdict = Bench::about(number, 0);
        run::Suspension suspension{verdict.person, {}};
        for (const PeerId& juror_of : ids_of({2, 3})) suspension.verdicts.push_back({juror_of, verdict, {}});
        play(keys(4), [&](run::AcceptList& list) { list.suspensions = {suspension}; });
    }

    bool may_measure() const override { return is_loaded; }
    const std::set<std::size_t>& shards_here() const override { return shards; }
    bool is_loaded = true;
    std::set<std::size_t> shards{0};
    Measurer trainer;
    Members members;
    Payloads payloads{swarm, context.layout.parameters, context.manifest.recipe.k_max};
    Verdicts verdicts{{context, chain, members}};
    Juror juror{{context, chain, payloads, disk, &trainer, verdicts, *this}};
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
        QVERIFY(run::verdicts_per_suspension_max == run::faults_of(run::committee_members_max) + 1);
        // One of a round that is not over does not count yet.
        QCOMPARE(bench.receive(2, Bench::about(8, 10)), Verdict::accepted);
        QCOMPARE(bench.receive(3, Bench::about(8, 9)), Verdict::accepted);
        QCOMPARE(bench.verdicts.due().size(), std::size_t{1});
    }

    void a_list_suspends_sixteen_persons_at_most_each_by_as_many_verdicts_as_it_takes() {
        Bench bench;
        bench.reach(10);
        for (std::uint8_t suspect = 20; suspect < 37; ++suspect) {
            for (const std::uint8_t juror : {std::uint8_t{1}, std::uint8_t{2}, std::uint8_t{3}})
                QCOMPARE(bench.receive(juror, Bench::about(suspect, 5)), Verdict::accepted);
        }
        const std::vector<run::Suspension> due = bench.verdicts.due();
        QCOMPARE(due.size(), std::size_t{16});
        for (const run::Suspension& one : due) QCOMPARE(one.verdicts.size(), std::size_t{2});
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

    void five_contributions_are_measured_first_and_then_sixteen_at_most() {
        JurorBench bench;
        bench.play(JurorBench::keys(20));
        bench.juror.round_begins();
        QCOMPARE(bench.subjects().size(), std::size_t{5});
        bench.answer(Duration{5});
        bench.begin_next_window();
        QCOMPARE(bench.trainer.plans.size(), std::size_t{2});
        QCOMPARE(bench.subjects().size(), std::size_t{16});
    }

    void time_that_measuring_took_too_much_is_saved_up_first() {
        JurorBench bench;
        bench.play(JurorBench::keys(20));
        bench.juror.round_begins();
        bench.answer(Duration{45'000});  // three windows' share, of which there was one
        for (int window = 0; window < 2; ++window) {
            bench.begin_next_window();
            QCOMPARE(bench.trainer.plans.size(), std::size_t{1});
        }
        bench.begin_next_window();
        QCOMPARE(bench.trainer.plans.size(), std::size_t{2});
        QCOMPARE(bench.subjects().size(), std::size_t{5});  // its share is that of one, but fewer say nothing
    }

    void unused_time_is_saved_up_for_ten_windows() {
        JurorBench bench;
        bench.play(JurorBench::keys(20));
        bench.juror.round_begins();
        bench.answer(Duration{75'000});  // a window's share for each of the five
        bench.begin_after(1'000 * bench.context.manifest.recipe.window);
        QCOMPARE(bench.subjects().size(), std::size_t{10});
    }

    void a_trainer_that_does_not_answer_is_asked_again_after_three_windows() {
        JurorBench bench;
        bench.play(JurorBench::keys(5));
        bench.juror.round_begins();
        bench.begin_after(3 * bench.context.manifest.recipe.window - Duration{1});
        QCOMPARE(bench.trainer.plans.size(), std::size_t{1});
        bench.begin_after(Duration{1});
        QCOMPARE(bench.trainer.plans.size(), std::size_t{2});
    }

    void a_trainer_that_pauses_is_not_waited_for() {
        JurorBench bench;
        bench.play(JurorBench::keys(5));
        bench.juror.round_begins();
        QVERIFY(bench.juror.in_use(RoundId{0}));
        bench.is_loaded = false;
        bench.juror.round_begins();
        QVERIFY(!bench.juror.in_use(RoundId{0}));
    }

    void an_answer_of_another_round_ends_no_wait() {
        JurorBench bench;
        bench.play(JurorBench::keys(5));
        bench.juror.round_begins();
        bench.juror.on_judged({RoundId{7}, {}, Duration{0}});
        QVERIFY(bench.juror.in_use(RoundId{0}));
        bench.answer(Duration{0});
        QVERIFY(!bench.juror.in_use(RoundId{0}));
    }

    void a_member_without_a_seat_measures_itself_and_three_others_every_tenth_round() {
        JurorBench bench(9);
        std::vector<std::uint64_t> measured_at;
        for (std::uint64_t height = 1; height <= 20; ++height) {
            bench.play({9, 10, 11, 12, 13, 14});
            const std::size_t before = bench.trainer.plans.size();
            bench.begin_next_window();
            if (bench.trainer.plans.size() == before) continue;
            measured_at.push_back(height);
            QCOMPARE(bench.subjects().size(), std::size_t{4});
            QVERIFY(bench.subjects().front().contributor == bench.self.id());
            bench.answer(Duration{5});
        }
        QVERIFY((measured_at == std::vector<std::uint64_t>{10, 20}));
    }

    void a_seat_measures_its_own_contribution_every_tenth_round() {
        JurorBench bench;
        for (std::uint64_t height = 1; height <= 11; ++height) {
            bench.play({4, 10, 11, 12, 13});
            bench.begin_next_window();
            QCOMPARE(bench.trainer.plans.size(), std::size_t{height});
            QCOMPARE(bench.is_subject(4), height == 10);
            bench.answer(Duration{5});
        }
    }

    void a_contribution_that_cannot_be_measured_makes_room_for_the_next() {
        JurorBench bench;
        bench.play(JurorBench::keys(7));
        const auto list = bench.chain.list_at(RoundId{0});
        for (const std::size_t i : {0U, 3U}) bench.payloads.forget(list->entries[i].payload.root);
        bench.juror.round_begins();
        QCOMPARE(bench.subjects().size(), std::size_t{5});
        JurorBench without;
        without.shards.clear();
        without.play(JurorBench::keys(7));
        without.juror.round_begins();
        QVERIFY(without.trainer.plans.empty());
    }

    void a_list_whose_base_is_not_here_is_not_measured() {
        JurorBench bench;
        bench.play(JurorBench::keys(5));
        bench.disk.drop_state(RoundId{0});
        (void)bench.commit(1, 1.0F);
        bench.juror.round_begins();
        QVERIFY(bench.trainer.plans.empty());
    }

    void a_late_contribution_is_measured_on_records_of_the_round_before() {
        JurorBench bench;
        bench.play(JurorBench::keys(5));
        bench.play(JurorBench::keys(5), [](run::AcceptList& list) { list.entries[2].late = true; });
        bench.begin_next_window();
        const run::AcceptList list = *bench.chain.list_at(RoundId{1});
        QCOMPARE(bench.subjects().size(), std::size_t{5});
        for (const JudgePlan::Subject& one : bench.subjects()) {
            const RoundId trained{one.contributor == list.entries[2].peer ? 0U : 1U};
            const auto at =
                run::draw_positions(list.hash(), bench.self.id(), one.contributor, 8, 10, run::judged_records);
            std::vector<std::uint64_t> expected;
            for (const std::uint64_t n : at.own)
                expected.push_back(run::record_at(bench.context.manifest.recipe.seed, trained, one.contributor, 10, n));
            QVERIFY(one.own == expected);
        }
    }

    void a_figure_is_compared_by_its_claim_up_to_the_lower_median() {
        JurorBench bench;
        bench.play(JurorBench::keys(4), [](run::AcceptList& list) {
            for (std::size_t i = 0; i < 4; ++i) list.entries[i].tokens = {std::uint64_t{16} << i};
        });
        bench.juror.round_begins();
        QCOMPARE(bench.subjects().size(), std::size_t{4});
        const run::AcceptList list = *bench.chain.list_at(RoundId{0});
        JudgeReport report{RoundId{0}, {}, Duration{5}};
        // The first claims half of the lower median, and has done half as much.
        for (std::size_t i = 0; i < 4; ++i) report.results.push_back({list.entries[i].peer, i == 0 ? 0.5 : 1.0, 0.25});
        bench.juror.on_judged(report);
        for (std::size_t i = 0; i < 4; ++i) {
            const run::Judgement* known = bench.juror.tests().find(list.entries[i].person());
            QVERIFY(known != nullptr);
            QVERIFY(known->recent.back() == 1.0);
            // The last one claims more records than the shard has, so that there are no others.
            QVERIFY(known->mean_other() == (i == 3 ? 1.0 : 0.25));
        }
    }

    void contributions_are_measured_clipped_as_the_step_clips_them() {
        for (const bool is_whole : {true, false}) {
            JurorBench bench;
            bench.values = {{10, 1.0F}, {11, 2.0F}, {12, 4.0F}, {13, 8.0F}};
            bench.play(JurorBench::keys(4), [&](run::AcceptList& list) {
                for (run::Accepted& entry : list.entries)
                    if (!is_whole && entry.peer == key_of(11).id()) entry.payload.root.bytes[0] ^= std::byte{1};
            });
            bench.juror.round_begins();
            // Of payloads that are not here no norm is known.
            const float middle = is_whole ? 2.0F : 4.0F;
            QCOMPARE(bench.trainer.plans.back().norm_max, bench.payload_of(middle).payload->view.norm());
            QVERIFY(bench.trainer.plans.back().norm_max > 0);
        }
    }

    void newcomers_are_measured_before_others_beyond_four() {
        JurorBench bench;
        std::set<PeerId> newcomers;
        bench.play(JurorBench::keys(17), [&](run::AcceptList& list) {
            for (std::size_t i = 5; i < list.entries.size(); ++i) {
                list.entries[i].newcomer = true;
                newcomers.insert(list.entries[i].peer);
            }
        });
        bench.juror.round_begins();
        QCOMPARE(bench.subjects().size(), std::size_t{5});
        for (std::size_t i = 0; i < 5; ++i) QCOMPARE(newcomers.contains(bench.subjects()[i].contributor), i == 4);
    }

    void a_person_back_from_a_suspension_is_measured_before_newcomers() {
        JurorBench bench;
        bench.suspend(30);
        while (bench.chain.height().value < 1 + run::suspended_rounds[0]) bench.play({10});
        std::vector<std::uint8_t> authors = JurorBench::keys(16);
        authors.push_back(30);
        bench.play(authors, [](run::AcceptList& list) {
            std::size_t others = 0;
            for (run::Accepted& entry : list.entries) entry.newcomer = entry.peer != key_of(30).id() && ++others > 4;
        });
        bench.juror.round_begins();
        QCOMPARE(bench.subjects().size(), std::size_t{5});
        QVERIFY(bench.subjects()[4].contributor == key_of(30).id());
    }

    void a_person_is_accused_once_and_again_after_25_rounds() {
        JurorBench bench;
        const PeerId bad = key_of(8).id(), own = bench.self.id(), unproven = key_of(7).id();
        const int enough = run::evidence_enough;
        bench.know({{bad, enough}, {own, enough}, {unproven, enough - 1}}, 5);
        bench.measure_nothing();
        QCOMPARE(bench.swarm.sent.size(), std::size_t{1});
        QVERIFY(bench.verdicts.own(bad) != nullptr);
        QCOMPARE(bench.verdicts.own(bad)->own, 12'300);
        bench.measure_nothing();
        bench.know({{bad, enough}}, 29);
        bench.measure_nothing();
        QCOMPARE(bench.swarm.sent.size(), std::size_t{1});
        bench.know({{bad, enough}}, 30);
        bench.measure_nothing();
        QCOMPARE(bench.swarm.sent.size(), std::size_t{2});
    }

    void a_member_without_a_seat_accuses_nobody() {
        JurorBench bench(9);
        while (bench.chain.height().value < 9) bench.play({10});
        bench.know({{key_of(8).id(), run::evidence_enough}}, 5);
        bench.measure_nothing();
        QCOMPARE(bench.trainer.plans.size(), std::size_t{1});
        QVERIFY(bench.swarm.sent.empty());
    }

    void a_suspended_person_is_not_accused() {
        JurorBench bench;
        bench.suspend(8);
        bench.know({{key_of(8).id(), run::evidence_enough}}, 0);
        bench.measure_nothing();
        QVERIFY(bench.swarm.sent.empty());
    }

    void an_absurd_figure_is_cut_to_what_a_verdict_holds() {
        JurorBench bench;
        bench.know({{key_of(8).id(), run::evidence_enough}}, 5, 5'000.0);
        bench.measure_nothing();
        QVERIFY(bench.verdicts.own(key_of(8).id()) != nullptr);
        QCOMPARE(bench.verdicts.own(key_of(8).id())->own, run::figure_max);
    }

    void a_suspended_person_begins_anew_and_so_it_is_kept() {
        JurorBench bench;
        const PeerId bad = key_of(8).id();
        bench.know({{bad, run::evidence_enough}}, 5);
        run::AcceptList list;
        list.suspensions = {{bad, {}}};
        bench.juror.settle(list);
        QVERIFY(bench.juror.tests().find(bad) == nullptr);
        bench.juror.load();
        QVERIFY(bench.juror.tests().find(bad) == nullptr);
    }
};

QTEST_APPLESS_MAIN(PeerVerdictsTest)
#include "test_peer_verdicts.moc"
