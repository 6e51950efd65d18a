// A volunteer's windows: what becomes of tokens and movement when contributions are accepted, refused, late or lost.
#include <QTest>

#include <set>

#include "core/peer/contributor.h"
#include "core/run/sample_order.h"
#include "tests/unit/peer/ways/contributor_bench.h"

using namespace potluck;
using namespace potluck::peer;
using contributing::ContributorBench;

using Bench = ContributorBench;

class PeerContributorTest : public QObject {
    Q_OBJECT
private slots:
    void a_window_becomes_a_contribution_and_the_rest_stays_in_the_error_feedback() {
        Bench bench;
        QCOMPARE(bench.contributor.phase(), TrainerPhase::training);
        bench.contribute(0.25F, 640);
        QCOMPARE(bench.mediator.offers.size(), std::size_t{1});
        const run::ContributionMessage own = bench.mediator.offers[0];
        QCOMPARE(own.tokens.value, 640ULL);
        QCOMPARE(bench.contributor.record().pending_tokens().value, 640ULL);
        QVERIFY(std::abs(bench.error_sum() + bench.sum_of(own.payload) - bench.moved()) < 0.01);
        QCOMPARE(bench.contributor.phase(), TrainerPhase::ahead);
    }

    void the_record_is_saved_before_a_contribution_is_announced() {
        Bench bench;
        const std::uint64_t before = bench.disk.saves();
        bench.contribute(0.25F, 640);
        QVERIFY(bench.mediator.saves_when_offered > before);
        const auto saved = ContributionRecord::decode(*bench.disk.load_record());
        QCOMPARE(saved->pending.size(), std::size_t{1});
    }

    void training_goes_on_from_the_state_less_alpha_of_the_own_payload() {
        Bench bench;
        bench.contribute(0.25F, 640);
        QVERIFY(bench.trainer.last == bench.disk.scratch_place(Scratch::look_ahead).file.string());
        const std::span<const float> ahead = bench.disk.scratch(Scratch::look_ahead)->values;
        double sum = 0;
        for (const float value : ahead) sum += static_cast<double>(value) - 0.5;
        const double alpha = static_cast<double>(bench.context.manifest.recipe.outer.alpha);
        QVERIFY(std::abs(sum + alpha * bench.sum_of(bench.mediator.offers[0].payload)) < 0.01);
        QVERIFY(sum < 0);
    }

    void an_accepted_contribution_is_settled_and_leaves_no_trace() {
        Bench bench;
        bench.contribute(0.25F, 640);
        const double before = bench.error_sum();
        bench.put_into_chain({bench.entry_of(bench.mediator.offers[0])});
        bench.work.finish_all();
        QVERIFY(bench.contributor.record().pending.empty());
        QCOMPARE(bench.contributor.record().carried.value, 0ULL);
        QCOMPARE(bench.error_sum(), before);
    }

    void a_refused_contribution_returns_with_its_tokens_and_its_movement() {
        Bench bench;
        bench.contribute(0.25F, 640);
        const run::ContributionMessage own = bench.mediator.offers[0];
        bench.deliver(own.payload);
        bench.put_into_chain({{key_of(2).id(), {merkle_root(as_bytes("x")), 1, run::BlobKind::plain, {}}, {64}}});
        bench.work.finish_all();
        QCOMPARE(bench.contributor.record().carried.value, 640ULL);
        QVERIFY(bench.contributor.record().deferred.empty());
        QVERIFY(std::abs(bench.error_sum() - bench.moved()) < 0.01);
    }

    // Late for its list.

    void a_contribution_that_missed_its_list_is_credited_in_the_next() {
        Bench bench(1);
        bench.contribute(0.25F, 640);
        const run::ContributionMessage own = bench.mediator.offers[0];
        bench.swarm.blobs[own.payload.root] = std::make_shared<sim::MemoryBlob>(bench.published.at(own.payload.root));
        const double before = bench.error_sum();
        bench.put_into_chain({});
        bench.work.finish_all();
        QVERIFY(bench.contributor.record().pending == std::vector{own});
        QCOMPARE(bench.contributor.record().carried.value, 0ULL);
        bench.enter_next();
        bench.contributor.offer_again();
        QVERIFY(bench.mediator.offers == (std::vector{own, own}));
        run::Accepted entry = bench.entry_of(own);
        entry.late = true;
        bench.put_into_chain({entry});
        bench.work.finish_all();
        QVERIFY(bench.contributor.record().pending.empty());
        QCOMPARE(bench.contributor.record().carried.value, 0ULL);
        QCOMPARE(bench.error_sum(), before);
    }

    void a_contribution_that_missed_the_next_list_too_returns() {
        Bench bench(1);
        bench.contribute(0.25F, 640);
        const run::ContributionMessage own = bench.mediator.offers[0];
        bench.deliver(own.payload);
        for (int list = 0; list < 2; ++list) {
            QCOMPARE(bench.contributor.record().pending.size(), std::size_t{1});
            bench.put_into_chain({{key_of(2).id(), {merkle_root(as_bytes("x")), 1, run::BlobKind::plain, {}}, {64}}});
            bench.work.finish_all();
        }
        QVERIFY(bench.contributor.record().pending.empty());
        QCOMPARE(bench.contributor.record().carried.value, 640ULL);
        QVERIFY(std::abs(bench.error_sum() - bench.moved()) < 0.01);
    }

    void no_contribution_stays_on_offer_after_a_roll_back_or_at_the_end() {
        Bench bench(1);
        bench.contribute(0.25F, 640);
        run::AcceptList back = bench.unsigned_list_of({});
        back.actions = {Bench::by_host({.number = 1,
                                        .kind = run::ActionKind::roll_back,
                                        .key = {},
                                        .round = {0},
                                        .state = bench.context.manifest.initial_state,
                                        .previous = {}})};
        bench.contributor.settle(RoundId{0}, back);
        QVERIFY(bench.contributor.record().pending.empty());
        run::Manifest manifest = Bench::manifest_of(1);
        manifest.recipe.total_rounds = 1;
        manifest.recipe.warmup_rounds = 0;
        Bench last(manifest);
        last.contribute(0.25F, 640);
        last.contributor.settle(RoundId{0}, last.unsigned_list_of({}));
        QVERIFY(last.contributor.record().pending.empty());
        QCOMPARE(last.contributor.record().carried.value, 640ULL);
    }

    void a_contribution_late_during_an_absence_is_settled_at_start() {
        for (const bool is_listed : {false, true}) {
            Bench bench(1);
            bench.contribute(0.25F, 640);
            run::Accepted entry = bench.entry_of(bench.mediator.offers[0]);
            entry.late = true;
            QVERIFY(bench.chain.append(bench.list_of({}), StateDigest{}).ok());
            const auto restarted = [&] {
                Contributor next{{bench.context, bench.chain, bench.keeper, bench.machine, bench.shards, bench.losses,
                                  bench.disk, &bench.trainer, bench.payloads, bench.routes, bench.jobs, bench.errors,
                                  bench.mediator}};
                next.restore();
                return std::pair(next.record().pending_tokens().value, next.record().carried.value);
            };
            QVERIFY(restarted() == std::pair(std::uint64_t{640}, std::uint64_t{0}));
            std::vector<run::Accepted> entries;
            if (is_listed) entries.push_back(entry);
            QVERIFY(bench.chain.append(bench.list_of(entries), StateDigest{}).ok());
            QVERIFY(restarted() == std::pair(std::uint64_t{0}, std::uint64_t{is_listed ? 0U : 640U}));
        }
    }

    /// A slow computer encodes for longer than the others wait.
    void a_window_that_is_encoded_after_its_list_is_offered_late() {
        Bench bench(1);
        bench.contributor.close_window();
        bench.write_snapshot(0.25F);
        bench.contributor.on_snapshot({{640}, 1, 1.0});
        bench.put_into_chain({});
        bench.enter_next();
        bench.work.finish_all();
        QCOMPARE(bench.mediator.offers.size(), std::size_t{1});
        QVERIFY(bench.mediator.offers[0].round == RoundId{0});
        QCOMPARE(bench.contributor.record().pending.size(), std::size_t{1});
    }

    void a_late_contribution_that_a_retracted_list_held_is_on_offer_again_as_it_was() {
        Bench bench(1);
        bench.contribute(0.25F, 640);
        const run::ContributionMessage own = bench.mediator.offers[0];
        bench.put_into_chain({});
        bench.enter_next();
        run::Accepted entry = bench.entry_of(own);
        entry.late = true;
        const run::AcceptList list = bench.unsigned_list_of({entry});
        bench.contributor.settle(RoundId{1}, list);
        QVERIFY(bench.contributor.record().pending.empty());
        bench.contributor.take_back({list});
        QVERIFY(bench.contributor.record().pending == std::vector{own});
    }

    void contributions_that_come_too_late_send_less_until_several_were_in_time() {
        Bench bench;
        const std::uint32_t least = bench.context.manifest.recipe.k;
        run::AcceptList list = bench.unsigned_list_of({});
        list.k = 4 * least;
        const CheckedList dense = bench.committed(list, {1});
        POTLUCK_CHECK(bench.chain.append(dense, StateDigest{}).ok());
        QCOMPARE(bench.contributor.k(), 4 * least);
        bench.settle_one(false);
        QCOMPARE(bench.contributor.k(), 2 * least);
        // Never below what the recipe has.
        for (int i = 0; i < 3; ++i) bench.settle_one(false);
        QCOMPARE(bench.contributor.k(), least);
        for (unsigned i = 0; i < in_time_to_double - 1; ++i) bench.settle_one(true);
        bench.settle_one(false);
        for (unsigned i = 0; i < in_time_to_double - 1; ++i) bench.settle_one(true);
        QCOMPARE(bench.contributor.k(), least);
        bench.settle_one(true);
        QCOMPARE(bench.contributor.k(), 2 * least);
        for (unsigned i = 0; i < 3 * in_time_to_double; ++i) bench.settle_one(true);
        QCOMPARE(bench.contributor.k(), 4 * least);
        bench.settle_one(false);
        QCOMPARE(bench.contributor.k(), 2 * least);
        // Nor when the others send less than before.
        bench.settle_one(false);
        list.round = RoundId{1};
        list.previous = dense.hash;
        list.k = 2 * least;
        POTLUCK_CHECK(bench.chain.append(bench.committed(list, {1}), StateDigest{}).ok());
        QCOMPARE(bench.contributor.k(), least);
    }

    void a_contribution_sends_what_the_newest_list_allows() {
        Bench bench;
        const std::uint32_t least = bench.context.manifest.recipe.k;
        run::AcceptList list = bench.unsigned_list_of({});
        list.k = 2 * least;
        POTLUCK_CHECK(bench.chain.append(bench.committed(list, {1}), *bench.chain.digest_at(RoundId{0})).ok());
        bench.contribute(0.25F, 640);
        const Bytes& blob = bench.published.at(bench.mediator.offers.back().payload.root);
        numerics::PayloadView view;
        QVERIFY(numerics::PayloadView::parse(ByteSpan(blob).subspan(payload_author_bytes),
                                             bench.context.layout.parameters, numerics::sent_max,
                                             view) == numerics::PayloadFault::none);
        QCOMPARE(view.k(), 2 * least);
    }

    void a_contribution_in_a_retracted_list_is_on_offer_again() {
        Bench bench;
        bench.contribute(0.25F, 640);
        const run::ContributionMessage own = bench.mediator.offers[0];
        const run::AcceptList list = bench.unsigned_list_of({{bench.self.id(), own.payload, own.tokens}});
        bench.contributor.settle(RoundId{0}, list);
        QVERIFY(bench.contributor.record().pending.empty());
        bench.contributor.take_back({list});
        QVERIFY(bench.contributor.record().pending == std::vector{own});
        QVERIFY(ContributionRecord::decode(*bench.disk.load_record())->pending == std::vector{own});
        QCOMPARE(bench.contributor.record().carried.value, 0ULL);
        bench.swarm.blobs[own.payload.root] = std::make_shared<sim::MemoryBlob>(bench.published.at(own.payload.root));
        bench.contributor.offer_again();
        QCOMPARE(bench.mediator.offers.size(), std::size_t{2});
        // It returns like any other if the new list leaves it out.
        bench.deliver(own.payload);
        bench.contributor.settle(RoundId{0}, bench.unsigned_list_of({}));
        bench.work.finish_all();
        QCOMPARE(bench.contributor.record().carried.value, 640ULL);
    }

    void a_contribution_that_came_back_and_is_accepted_after_all_counts_once() {
        Bench bench;
        bench.contribute(0.25F, 640);
        const run::ContributionMessage own = bench.mediator.offers[0];
        bench.deliver(own.payload);
        bench.contributor.settle(RoundId{0}, bench.unsigned_list_of({}));
        bench.work.finish_all();
        QCOMPARE(bench.contributor.record().carried.value, 640ULL);
        const double with = bench.error_sum();
        bench.contributor.settle(RoundId{0}, bench.unsigned_list_of({{bench.self.id(), own.payload, own.tokens}}));
        bench.deliver(own.payload);
        QCOMPARE(bench.contributor.record().carried.value, 0ULL);
        QVERIFY(std::abs(with - bench.error_sum() - bench.sum_of(own.payload)) < 0.01);
    }

    void a_refused_contribution_whose_payload_was_released_is_fetched_and_returns() {
        Bench bench;
        bench.contribute(0.25F, 640);
        const run::ContributionMessage own = bench.mediator.offers[0];
        bench.payloads.release_before(RoundId{9});
        const std::size_t fetches = bench.swarm.fetched.size();
        bench.put_into_chain({{key_of(2).id(), {merkle_root(as_bytes("x")), 1, run::BlobKind::plain, {}}, {64}}});
        QCOMPARE(bench.contributor.accounting().deferred.size(), std::size_t{1});
        QCOMPARE(bench.swarm.fetched.size(), fetches + 1);
        const auto saved = ContributionRecord::decode(*bench.disk.load_record());
        QCOMPARE(saved->deferred.size(), std::size_t{1});
        bench.deliver(own.payload);
        QVERIFY(bench.contributor.accounting().deferred.empty());
        QVERIFY(std::abs(bench.error_sum() - bench.moved()) < 0.01);
    }

    void a_deferred_update_survives_the_end_of_the_process() {
        Bench bench;
        bench.contribute(0.25F, 640);
        const run::ContributionMessage own = bench.mediator.offers[0];
        bench.payloads.release_before(RoundId{9});
        bench.put_into_chain({{key_of(2).id(), {merkle_root(as_bytes("x")), 1, run::BlobKind::plain, {}}, {64}}});
        Contributor next{{bench.context, bench.chain, bench.keeper, bench.machine, bench.shards, bench.losses,
                          bench.disk, &bench.trainer, bench.payloads, bench.routes, bench.jobs, bench.errors,
                          bench.mediator}};
        next.restore();
        const auto content = std::make_shared<sim::MemoryBlob>(bench.published.at(own.payload.root));
        (void)bench.payloads.arrived(own.payload, content, TimePoint{});
        next.update_error_feedback();
        bench.work.finish_all();
        QVERIFY(next.record().deferred.empty());
        QVERIFY(std::abs(bench.error_sum() - bench.moved()) < 0.01);
    }

    void a_payload_that_was_added_back_is_forgotten() {
        Bench bench;
        bench.contribute(0.25F, 640);
        const run::ContributionMessage own = bench.mediator.offers[0];
        QVERIFY(bench.contributor.payloads_needed() == std::set<BlobId>{own.payload.root});
        bench.put_into_chain({{key_of(2).id(), {merkle_root(as_bytes("x")), 1, run::BlobKind::plain, {}}, {64}}});
        QVERIFY(bench.contributor.payloads_needed() == std::set<BlobId>{own.payload.root});
        QVERIFY(bench.swarm.forgotten.empty());
        bench.deliver(own.payload);
        QVERIFY(bench.contributor.payloads_needed().empty());
        QVERIFY(bench.swarm.forgotten == std::vector<BlobId>{own.payload.root});
        QVERIFY(!bench.payloads.find(own.payload.root));
    }

    void a_payload_stays_until_the_record_says_that_it_was_added_back() {
        Bench bench;
        bench.contribute(0.25F, 640);
        bool was_there = true;
        bench.disk.on_save = [&] { was_there = was_there && bench.swarm.forgotten.empty(); };
        bench.put_into_chain({{key_of(2).id(), {merkle_root(as_bytes("x")), 1, run::BlobKind::plain, {}}, {64}}});
        bench.deliver(bench.mediator.offers[0].payload);
        QVERIFY(was_there);
        QVERIFY(ContributionRecord::decode(*bench.disk.load_record())->deferred.empty());
    }

    void a_list_of_another_round_settles_nothing() {
        Bench bench;
        bench.contribute(0.25F, 640);
        bench.contributor.settle(RoundId{2}, {});
        QCOMPARE(bench.contributor.record().pending.size(), std::size_t{1});
        QCOMPARE(bench.contributor.record().carried.value, 0ULL);
    }

    void a_contribution_refused_during_an_absence_is_settled_at_start() {
        Bench bench;
        bench.contribute(0.25F, 640);
        const CheckedList checked =
            bench.list_of({{key_of(2).id(), {merkle_root(as_bytes("x")), 1, run::BlobKind::plain, {}}, {64}}});
        QVERIFY(bench.chain.append(checked, StateDigest{}).ok());
        Contributor next{{bench.context, bench.chain, bench.keeper, bench.machine, bench.shards, bench.losses,
                          bench.disk, &bench.trainer, bench.payloads, bench.routes, bench.jobs, bench.errors,
                          bench.mediator}};
        next.restore();
        QVERIFY(next.record().pending.empty());
        QCOMPARE(next.record().carried.value, 640ULL);
    }

    void a_round_that_is_over_returns_the_payload_that_was_not_published() {
        Bench bench;
        bench.contributor.close_window();
        bench.write_snapshot(0.25F);
        bench.contributor.on_snapshot({{640}, 1, 1.0});
        bench.machine.leave();
        bench.work.finish_all();
        QVERIFY(bench.mediator.offers.empty());
        QCOMPARE(bench.contributor.record().carried.value, 640ULL);
        QVERIFY(std::abs(bench.error_sum() - bench.moved()) < 0.01);
    }

    void a_full_disk_makes_room_for_what_is_contributed() {
        Bench bench;
        bench.swarm.full = true;
        bench.mediator.makes_room = [&] {
            bench.swarm.full = bench.mediator.rooms_asked < 3;
            return true;
        };
        bench.contributor.close_window();
        bench.write_snapshot(0.25F);
        bench.contributor.on_snapshot({{640}, 1, 1.0});
        bench.work.finish_all();
        QCOMPARE(bench.mediator.offers.size(), std::size_t{1});
        QCOMPARE(bench.mediator.rooms_asked, 3);
    }

    void a_full_disk_with_nothing_to_spare_returns_the_payload() {
        Bench bench;
        bench.swarm.full = true;
        bench.contributor.close_window();
        bench.write_snapshot(0.25F);
        bench.contributor.on_snapshot({{640}, 1, 1.0});
        bench.work.finish_all();
        QVERIFY(bench.mediator.offers.empty());
        QCOMPARE(bench.mediator.rooms_asked, 1);
        QCOMPARE(bench.contributor.record().carried.value, 640ULL);
        QVERIFY(std::abs(bench.error_sum() - bench.moved()) < 0.01);
    }

    void a_pause_keeps_tokens_and_movement_and_ends_the_trainer() {
        Bench bench;
        bench.contribute(0.25F, 640);
        const double before = bench.error_sum();
        bench.keeper.hold({RoundId{0}, bench.keeper.digest()});
        bench.contributor.rebase_to_state();
        bench.contributor.pause();
        QCOMPARE(bench.contributor.phase(), TrainerPhase::pausing);
        bench.write_snapshot(0.25F);
        bench.contributor.on_snapshot({{64}, 1, 1.0});
        bench.work.finish_all();
        QCOMPARE(bench.contributor.phase(), TrainerPhase::off);
        QCOMPARE(bench.trainer.count("stop"), 1L);
        QCOMPARE(bench.contributor.record().carried.value, 64ULL);
        QVERIFY(std::abs(bench.error_sum() - before - bench.moved()) < 0.01);
    }

    void a_trainer_that_does_not_answer_a_pause_is_stopped_after_a_second() {
        Bench bench;
        bench.contributor.pause();
        bench.context.set_now(bench.context.now() + pause_patience - Duration{1});
        bench.contributor.update_trainer();
        QCOMPARE(bench.contributor.phase(), TrainerPhase::pausing);
        bench.context.set_now(bench.context.now() + Duration{1});
        bench.contributor.update_trainer();
        QCOMPARE(bench.contributor.phase(), TrainerPhase::off);
    }

    void a_pause_keeps_the_moments_in_what_is_left_of_its_time() {
        Bench bench;
        QVERIFY(bench.trainer.started_at == RoundId{0});
        bench.contributor.pause();
        bench.context.set_now(bench.context.now() + Duration{400});
        bench.write_snapshot(0.25F);
        bench.contributor.on_snapshot({{64}, 1, 1.0});
        bench.work.finish_all();
        QCOMPARE(bench.trainer.count("stop"), 1L);
        QVERIFY(bench.trainer.kept.has_value());
        QVERIFY(bench.trainer.kept->round == RoundId{0});
        QVERIFY(bench.trainer.kept->patience == moments_patience - Duration{400});
    }

    void a_pause_whose_time_is_over_keeps_no_moments() {
        Bench bench;
        bench.contributor.pause();
        bench.context.set_now(bench.context.now() + moments_patience);
        bench.contributor.update_trainer();
        QCOMPARE(bench.trainer.count("stop"), 1L);
        QVERIFY(!bench.trainer.kept);
    }

    void a_finished_contributor_keeps_no_moments() {
        Bench bench;
        bench.machine.leave();
        bench.contributor.finish();
        bench.pause();
        QCOMPARE(bench.trainer.count("stop"), 1L);
        QVERIFY(!bench.trainer.kept);
    }

    void a_run_that_is_over_keeps_no_moments() {
        Bench bench;
        const RoundId last{bench.context.manifest.recipe.total_rounds};
        bench.keeper.hold({last, bench.commit(last.value, 0.25F)});
        bench.pause();
        QCOMPARE(bench.trainer.count("stop"), 1L);
        QVERIFY(!bench.trainer.kept);
    }

    void the_last_state_ends_the_trainer() {
        Bench bench;
        bench.contributor.update_trainer();
        QCOMPARE(bench.trainer.count("stop"), 0L);
        const RoundId last{bench.context.manifest.recipe.total_rounds};
        bench.keeper.hold({last, bench.commit(last.value, 0.25F)});
        bench.contributor.update_trainer();
        QCOMPARE(bench.trainer.count("stop"), 1L);
    }

    void moments_that_no_trainer_will_take_give_their_disk_back() {
        Bench bench;
        bench.pause();
        bench.keeper.hold({RoundId{moments_rounds_max}, bench.commit(moments_rounds_max, 0.25F)});
        bench.contributor.update_trainer();
        QCOMPARE(bench.trainer.count("forget"), 0L);
        bench.keeper.hold({RoundId{moments_rounds_max + 1}, bench.commit(moments_rounds_max + 1, 0.25F)});
        bench.contributor.update_trainer();
        bench.contributor.update_trainer();
        QCOMPARE(bench.trainer.count("forget"), 1L);
    }

    /// A node that starts paused does not know how old the file is.
    void moments_of_an_earlier_life_count_from_its_first_round() {
        Bench bench;
        Contributor next{{bench.context, bench.chain, bench.keeper, bench.machine, bench.shards, bench.losses,
                          bench.disk, &bench.trainer, bench.payloads, bench.routes, bench.jobs, bench.errors,
                          bench.mediator}};
        next.pause();
        next.update_trainer();
        bench.keeper.hold({RoundId{moments_rounds_max}, bench.commit(moments_rounds_max, 0.25F)});
        next.update_trainer();
        QCOMPARE(bench.trainer.count("forget"), 0L);
        bench.keeper.hold({RoundId{moments_rounds_max + 1}, bench.commit(moments_rounds_max + 1, 0.25F)});
        next.update_trainer();
        QCOMPARE(bench.trainer.count("forget"), 1L);
    }

    void a_trainer_that_cannot_run_here_is_not_started_again_until_the_owner_resumes() {
        Bench bench;
        bench.contributor.on_lost({ErrorCode::unavailable, "No memory."});
        QCOMPARE(bench.contributor.phase(), TrainerPhase::failed);
        bench.context.set_now(bench.context.now() + trainer_retry_max);
        bench.contributor.update_trainer();
        QCOMPARE(bench.contributor.phase(), TrainerPhase::failed);
        bench.contributor.resume();
        bench.contributor.update_trainer();
        QCOMPARE(bench.contributor.phase(), TrainerPhase::starting);
    }

    void a_trainer_that_crashes_again_and_again_is_started_every_minute() {
        Bench bench;
        for (const int wait : {1'000, 2'000, 4'000, 8'000, 16'000, 32'000, 60'000, 60'000}) {
            bench.contributor.on_lost({ErrorCode::io, "It crashed."});
            for (const int time : {wait - 1, 1}) {
                bench.context.set_now(bench.context.now() + Duration{time});
                bench.contributor.update_trainer();
                QCOMPARE(bench.contributor.phase(), time == 1 ? TrainerPhase::starting : TrainerPhase::off);
            }
        }
    }

    void a_finished_contributor_trains_no_more() {
        Bench bench;
        bench.machine.leave();
        bench.contributor.finish();
        QCOMPARE(bench.contributor.phase(), TrainerPhase::done);
        bench.contributor.update_trainer();
        QCOMPARE(bench.trainer.count("stop"), 1L);
    }

    // The host takes the model back.

    void starting_over_clears_error_feedback_and_carried_tokens() {
        Bench bench;
        bench.contribute(0.25F, 640);
        bench.deliver(bench.mediator.offers[0].payload);
        bench.put_into_chain({});
        bench.work.finish_all();
        QCOMPARE(bench.contributor.record().carried.value, 640ULL);
        QVERIFY(bench.error_sum() > 1);
        bench.start_over_in(1);
        bench.work.finish_all();
        QCOMPARE(bench.error_sum(), 0.0);
        QCOMPARE(bench.contributor.record().carried.value, 0ULL);
        QCOMPARE(ContributionRecord::decode(*bench.disk.load_record())->carried.value, 0ULL);
        QCOMPARE(bench.trainer.count("start"), 2L);
        QCOMPARE(bench.trainer.last, bench.disk.state_place(RoundId{1}).file.string());
        QCOMPARE(bench.contributor.phase(), TrainerPhase::starting);
        bench.contributor.check_invariants();
    }

    void starting_over_drops_payloads_deferred_for_error_feedback() {
        Bench bench;
        bench.contribute(0.25F, 640);
        bench.payloads.release_before(RoundId{9});
        bench.put_into_chain({});
        QCOMPARE(bench.contributor.record().deferred.size(), std::size_t{1});
        bench.start_over_in(1);
        bench.work.finish_all();
        QVERIFY(bench.contributor.record().deferred.empty());
        QVERIFY(ContributionRecord::decode(*bench.disk.load_record())->deferred.empty());
        QVERIFY(bench.contributor.payloads_needed().empty());
        bench.deliver(bench.mediator.offers[0].payload);
        QCOMPARE(bench.error_sum(), 0.0);
    }

    void starting_over_waits_for_the_state_that_the_model_goes_back_to() {
        Bench bench;
        bench.contribute(0.25F, 640);
        bench.put_into_chain({bench.entry_of(bench.mediator.offers[0])});
        const double before = bench.error_sum();
        bench.contributor.start_over();
        bench.contributor.update_start_over();
        QCOMPARE(bench.work.size(), std::size_t{0});
        QCOMPARE(bench.error_sum(), before);
        bench.keeper.hold({RoundId{1}, bench.commit(1, 0.5F)});
        bench.contributor.update_start_over();
        bench.work.finish_all();
        QCOMPARE(bench.error_sum(), 0.0);
    }

    void starting_over_waits_while_a_window_is_encoded() {
        Bench bench;
        bench.contributor.close_window();
        bench.start_over_in(0);  // the trainer has not answered yet
        QCOMPARE(bench.work.size(), std::size_t{0});
        bench.write_snapshot(0.25F);
        bench.contributor.on_snapshot({{640}, 1, 1.0});
        bench.contributor.update_start_over();
        QCOMPARE(bench.work.size(), std::size_t{1});
        bench.work.finish_all();
        QVERIFY(bench.error_sum() > 1);
        bench.contributor.update_start_over();
        bench.work.finish_all();
        QCOMPARE(bench.error_sum(), 0.0);
    }

    void starting_over_waits_while_a_payload_is_added_back() {
        Bench bench;
        bench.contribute(0.25F, 640);
        bench.deliver(bench.mediator.offers[0].payload);
        bench.put_into_chain({});
        QCOMPARE(bench.work.size(), std::size_t{1});
        bench.start_over_in(1);
        QCOMPARE(bench.work.size(), std::size_t{1});
        bench.work.finish_all();
        QVERIFY(bench.error_sum() > 1);
        bench.contributor.update_start_over();
        bench.work.finish_all();
        QCOMPARE(bench.error_sum(), 0.0);
        bench.contributor.check_invariants();
    }

    void error_feedback_is_not_used_while_it_is_cleared() {
        Bench bench;
        bench.start_over_in(0);
        QCOMPARE(bench.work.size(), std::size_t{1});
        bench.contributor.close_window();
        QCOMPARE(bench.trainer.count("snapshot"), 0L);
        QCOMPARE(bench.mediator.nothings, 1);
        bench.contributor.pause();
        bench.work.finish_all();
        QCOMPARE(bench.contributor.phase(), TrainerPhase::off);
        QCOMPARE(bench.trainer.count("stop"), 1L);
        QCOMPARE(bench.trainer.count("start"), 1L);
    }

    void a_contributor_starts_over_once() {
        Bench bench;
        bench.start_over_in(0);
        bench.work.finish_all();
        bench.contributor.on_started();
        bench.contribute(0.25F, 640);
        const double before = bench.error_sum();
        QVERIFY(before > 1);
        bench.contributor.update_start_over();
        bench.work.finish_all();
        QCOMPARE(bench.error_sum(), before);
        QCOMPARE(bench.trainer.count("start"), 2L);
    }

    void a_snapshot_without_tokens_offers_nothing() {
        Bench bench;
        bench.contribute(0.5F, 0);
        QVERIFY(bench.mediator.offers.empty());
        QCOMPARE(bench.mediator.nothings, 1);
    }

    void a_trainer_without_data_trains_as_soon_as_some_arrives() {
        Bench bench;
        const auto content = std::exchange(bench.swarm.blobs, {});
        bench.contributor.rebase_to_state();
        QCOMPARE(bench.trainer.calls.back(), std::string("idle"));
        bench.contributor.update_trainer();
        QCOMPARE(bench.trainer.calls.back(), std::string("idle"));
        bench.swarm.blobs = content;
        bench.contributor.update_trainer();
        bench.contributor.update_trainer();
        QCOMPARE(bench.trainer.calls.back(), std::string("train"));
        QCOMPARE(bench.trainer.count("train"), 2L);
    }
};

QTEST_APPLESS_MAIN(PeerContributorTest)
#include "test_peer_contributor.moc"
