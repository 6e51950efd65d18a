// Which state a member holds, with jobs that take their time: what happens meanwhile must not change what they see.
#include <QTest>

#include "core/numerics/outer/outer_step.h"
#include "tests/unit/peer/peer_fixture.h"

using namespace potluck;
using namespace potluck::peer;

namespace {

struct KeeperMediator final : StateKeeper::Mediator {
    Status append(const CheckedList&, const StateDigest& result) override {
        if (!appends) return Error{ErrorCode::no_space, "The disk is full."};
        appended.push_back(result);
        return {};
    }
    void on_applied(const CheckedList*) override { ++applied; }
    void on_state_dropped(RoundId round) override { dropped.push_back(round); }
    void status_changed() override {}
    bool appends = true;
    void step_computed(const StepOrigin& origin, ByteSpan step, const StateDigest& result) override {
        origins.push_back(origin);
        steps.emplace_back(step.begin(), step.end());
        results.push_back(result);
    }
    void step_refused(const Digest& list) override { refused.push_back(list); }
    std::vector<StepOrigin> origins;
    std::vector<Bytes> steps;
    std::vector<StateDigest> results;
    std::vector<Digest> refused;
    int applied = 0;
    std::vector<StateDigest> appended;
    std::vector<RoundId> dropped;
};

run::Manifest coded_manifest() {
    run::Manifest manifest = Fixture::manifest_of();
    manifest.recipe.outer.form = numerics::StepForm::coded;
    return manifest;
}

/// A step as a member gets it that takes it from others, and where it is said to lead.
StepPointer taken(const Bytes& encoded, std::uint64_t parameters, const StateDigest& result) {
    auto step = std::make_shared<AgreedStep>();
    step->blob = std::make_shared<sim::MemoryBlob>(step_blob(Digest{}, encoded));
    step->ref = {merkle_root(step->blob->bytes()), step->blob->bytes().size(), run::BlobKind::plain, {}};
    step->result = result;
    POTLUCK_CHECK(numerics::StepView::parse(step->blob->bytes().subspan(step_list_bytes), parameters, step->view) ==
                  numerics::PayloadFault::none);
    return step;
}

struct Bench : Fixture {
    explicit Bench(run::Manifest manifest = manifest_of()) : Fixture(std::move(manifest)) {}

    KeeperMediator mediator;
    StateKeeper keeper{{context, chain, disk, jobs, errors, mediator}};

    void apply(bool fresh, std::vector<run::SignedAction> actions = {}) {
        const Made made = payload_of(0.01F);
        run::AcceptList list = unsigned_list_of({made.entry});
        list.actions = std::move(actions);
        auto checked = std::make_shared<const CheckedList>(committed(list, {1}));
        keeper.apply(checked->list, {made.payload}, fresh ? checked : nullptr);
    }
    struct Weighed {
        Made made;
        std::uint64_t tokens = 0;
        bool newcomer = false;
        PeerId person{};
    };
    /// Whether a list of these leads to what F makes of `weights`, the plain way.
    [[nodiscard]] bool leads_to(const std::vector<Weighed>& contributions,
                                const std::vector<numerics::WeightedPayload>& weights) {
        hold_initial();
        std::vector<float> expected(context.layout.parameters);
        numerics::apply_outer_step_plain(disk.state(RoundId{0}).parameters, expected, weights,
                                         context.manifest.recipe.outer);
        run::AcceptList list;
        std::vector<PayloadPointer> payloads;
        for (const Weighed& one : contributions) {
            list.entries.push_back(one.made.entry);
            list.entries.back().tokens = {one.tokens};
            list.entries.back().newcomer = one.newcomer;
            list.entries.back().peer = key_of(static_cast<std::uint8_t>(list.entries.size())).id();
            list.entries.back().certificate.person = one.person;
            payloads.push_back(one.made.payload);
        }
        keeper.apply(list, payloads, nullptr);
        work.finish_all();
        const std::span<const float> found = disk.state(RoundId{1}).parameters;
        return std::equal(found.begin(), found.end(), expected.begin(), expected.end());
    }
    /// The host takes the model back to `state`, which it says was theta[round].
    void go_back(std::uint64_t round, const StateDigest& state) {
        run::AcceptList list;
        list.round = *keeper.round();
        list.actions = {by_host(roll_back_to(round, state, 1))};
        keeper.apply(list, {}, nullptr);
        work.finish_all();
    }
    StateStore::Held hold_initial() {
        keeper.hold({RoundId{0}, commit(0, 0.5F)});
        return *keeper.newest();
    }
};

}  // namespace

class PeerStateKeeperTest : public QObject {
    Q_OBJECT
private slots:
    void a_list_leads_to_the_next_state_once_its_job_is_done() {
        Bench bench;
        bench.hold_initial();
        bench.apply(true);
        QVERIFY(bench.keeper.applying());
        QCOMPARE(*bench.keeper.round(), RoundId{0});
        bench.work.finish_all();
        QVERIFY(!bench.keeper.applying());
        QCOMPARE(*bench.keeper.round(), RoundId{1});
        QCOMPARE(bench.mediator.appended.size(), std::size_t{1});
        QVERIFY(bench.mediator.appended[0] == bench.keeper.digest());
        QCOMPARE(bench.mediator.applied, 1);
        bench.keeper.check_invariants();
    }

    void a_payload_whose_bytes_have_changed_is_noticed_where_it_has_lain_for_long() {
        Bench bench;
        bench.hold_initial();
        const auto whole_after = [&](const run::BlobRef& named, bool fresh) {
            const Fixture::Made made = bench.payload_of(0.01F);
            run::AcceptList list = bench.unsigned_list_of({made.entry});
            list.entries[0].payload = named;
            const auto checked = std::make_shared<const CheckedList>(bench.committed(list, {1}));
            bench.keeper.apply(checked->list, {made.payload}, fresh ? checked : nullptr);
            bench.work.finish_all();
            return bench.keeper.whole_payloads();
        };
        const run::BlobRef right = bench.payload_of(0.01F).entry.payload;
        run::BlobRef other = right;
        other.root.bytes[0] ^= std::byte{1};
        QVERIFY(whole_after(right, false));
        QVERIFY(!whole_after(other, false));
        // It has just been fetched and checked.
        QVERIFY(whole_after(other, true));
    }

    void a_step_that_is_made_of_payloads_leads_whoever_takes_it_to_the_same_state() {
        Bench full(coded_manifest());
        full.hold_initial();
        full.apply(true);
        full.work.finish_all();
        QCOMPARE(full.mediator.steps.size(), std::size_t{1});
        QVERIFY(full.mediator.results[0] == full.keeper.digest());
        QVERIFY(full.mediator.origins[0].round == RoundId{0});

        Bench light(coded_manifest());
        light.hold_initial();
        const auto list = std::make_shared<const CheckedList>(
            light.committed(light.unsigned_list_of({light.payload_of(0.01F).entry}), {1}));
        QVERIFY(list->hash == full.mediator.origins[0].list);
        const StepPointer step = taken(full.mediator.steps[0], light.context.layout.parameters, full.keeper.digest());
        light.keeper.apply(list->list, {}, list, step);
        light.work.finish_all();
        QVERIFY(light.keeper.digest() == full.keeper.digest());
        QCOMPARE(*light.keeper.round(), RoundId{1});
        QCOMPARE(light.mediator.appended.size(), std::size_t{1});
        QVERIFY(light.mediator.steps.empty());  // it vouches for none that it has not made
    }

    void a_step_that_leads_elsewhere_leaves_the_state_as_it_was() {
        Bench full(coded_manifest());
        full.hold_initial();
        full.apply(true);
        full.work.finish_all();
        Bench light(coded_manifest());
        light.hold_initial();
        const auto list = std::make_shared<const CheckedList>(
            light.committed(light.unsigned_list_of({light.payload_of(0.01F).entry}), {1}));
        StateDigest other = full.keeper.digest();
        other.bytes[0] ^= std::byte{1};
        light.keeper.apply(list->list, {}, list, taken(full.mediator.steps[0], light.context.layout.parameters, other));
        light.work.finish_all();
        QCOMPARE(*light.keeper.round(), RoundId{0});
        QVERIFY(!light.keeper.holds(RoundId{1}));
        QVERIFY(light.mediator.appended.empty());
        QCOMPARE(light.mediator.refused.size(), std::size_t{1});
        QVERIFY(light.mediator.refused[0] == list->hash);
        QVERIFY(!light.keeper.applying());
    }

    /// It would lose its seat for good.
    void a_seat_vouches_for_no_step_of_a_payload_whose_bytes_have_changed() {
        for (const bool changed : {false, true}) {
            Bench bench(coded_manifest());
            bench.hold_initial();
            const Fixture::Made made = bench.payload_of(0.01F);
            run::AcceptList list = bench.unsigned_list_of({made.entry});
            if (changed) list.entries[0].payload.root.bytes[0] ^= std::byte{1};
            const auto checked = std::make_shared<const CheckedList>(bench.committed(list, {1}));
            bench.keeper.apply(checked->list, {made.payload}, checked);
            bench.work.finish_all();
            QCOMPARE(bench.mediator.steps.size(), std::size_t{changed ? 0U : 1U});
        }
    }

    void an_exact_run_makes_no_step() {
        Bench bench;
        bench.hold_initial();
        bench.apply(true);
        bench.work.finish_all();
        QCOMPARE(bench.mediator.applied, 1);
        QVERIFY(bench.mediator.steps.empty());
    }

    void a_state_whose_list_cannot_be_kept_is_dropped_and_tried_again_later() {
        Bench bench;
        bench.hold_initial();
        bench.mediator.appends = false;
        bench.apply(true);
        bench.work.finish_all();
        QCOMPARE(*bench.keeper.round(), RoundId{0});
        QVERIFY(!bench.keeper.holds(RoundId{1}));
        QVERIFY(!bench.keeper.may_apply());
        bench.context.set_now(bench.context.now() + fetch_again_after);
        QVERIFY(bench.keeper.may_apply());
    }

    void a_list_that_is_in_the_chain_already_is_not_appended_again() {
        Bench bench;
        bench.hold_initial();
        bench.apply(false);
        bench.work.finish_all();
        QCOMPARE(bench.mediator.appended.size(), std::size_t{0});
        QCOMPARE(*bench.keeper.round(), RoundId{1});
    }

    void contributions_weigh_their_tokens_up_to_four_medians() {
        Bench bench;
        const Bench::Made light = bench.payload_of(0.01F), heavy = bench.payload_of(-0.03F);
        QVERIFY(bench.leads_to({{light, 64}, {heavy, 200}}, {{&light.payload->view, 64}, {&heavy.payload->view, 200}}));
        QVERIFY(
            bench.leads_to({{light, 64}, {heavy, 6'400}}, {{&light.payload->view, 64}, {&heavy.payload->view, 256}}));
    }

    void newcomers_weigh_less_and_their_norms_are_clipped() {
        Bench bench;
        const Bench::Made old = bench.payload_of(0.01F), one = bench.payload_of(-0.5F), two = bench.payload_of(-0.4F);
        QVERIFY(
            bench.leads_to({{old, 64}, {one, 64, true}, {two, 64, true}},
                           {{&old.payload->view, 64}, {&one.payload->view, 8, true}, {&two.payload->view, 8, true}}));
    }

    /// However many computers contribute for a person, the norm of the first alone counts.
    void a_person_has_one_say_in_how_large_a_payload_may_be() {
        Bench bench;
        const PeerId person = key_of(77).id();
        const Bench::Made small = bench.payload_of(0.01F), one = bench.payload_of(-0.5F), two = bench.payload_of(-0.4F);
        const Bench::Made three = bench.payload_of(-0.3F);
        QVERIFY(bench.leads_to(
            {{small, 64}, {one, 64, false, person}, {two, 64, false, person}, {three, 64, false, person}},
            {{&small.payload->view, 64},
             {&one.payload->view, 64},
             {&two.payload->view, 64, false, true},
             {&three.payload->view, 64, false, true}}));
    }

    void a_contribution_of_no_weight_is_left_out() {
        Bench bench;
        const Bench::Made old = bench.payload_of(0.01F), one = bench.payload_of(-0.5F), two = bench.payload_of(-0.4F);
        QVERIFY(bench.leads_to({{old, 4}, {one, 1, true}, {two, 1, true}}, {{&old.payload->view, 4}}));
    }

    void a_roll_back_leads_to_the_state_that_it_names() {
        Bench bench;
        const StateDigest initial = bench.hold_initial().digest;
        bench.apply(false);
        bench.work.finish_all();
        const StateDigest trained = bench.keeper.digest();
        QVERIFY(trained != initial);
        bench.go_back(0, initial);
        QCOMPARE(*bench.keeper.round(), RoundId{2});
        QVERIFY(bench.keeper.digest() == initial);
        // The chain goes on from there, and the states before it stay what they were.
        QVERIFY(bench.disk.held()[1].digest == trained);
    }

    void a_roll_back_to_a_state_that_never_was_leaves_the_model_as_it_is() {
        Bench bench;
        bench.hold_initial();
        bench.apply(false);
        bench.work.finish_all();
        const StateDigest trained = bench.keeper.digest();
        bench.go_back(0, trained);
        QCOMPARE(*bench.keeper.round(), RoundId{2});
        QVERIFY(bench.keeper.digest() == trained);
        bench.go_back(7, bench.context.manifest.initial_state.root);  // nobody has come so far
        QCOMPARE(*bench.keeper.round(), RoundId{3});
        QVERIFY(bench.keeper.digest() == trained);
    }

    void other_actions_of_the_host_leave_the_model_to_the_contributions() {
        Bench bench, other;
        const StateDigest initial = bench.hold_initial().digest;
        other.hold_initial();
        bench.apply(false, {Bench::by_host(ban_of(5, 1))});
        other.apply(false);
        bench.work.finish_all();
        other.work.finish_all();
        QVERIFY(bench.keeper.digest() == other.keeper.digest() && bench.keeper.digest() != initial);
    }

    void a_verification_sees_the_state_it_was_asked_about_though_it_is_replaced_meanwhile() {
        Bench bench;
        const StateStore::Held held = bench.hold_initial();
        std::optional<std::vector<RoundId>> damaged;
        bench.keeper.verify({held}, [&](const std::vector<RoundId>& found) { damaged = found; });
        const StateDigest other = bench.commit(0, 2.0F);
        QVERIFY(other != held.digest);
        bench.work.finish_all();
        QVERIFY(damaged && damaged->empty());
    }

    void a_verification_sees_the_state_it_was_asked_about_though_it_is_dropped_meanwhile() {
        Bench bench;
        const StateStore::Held held = bench.hold_initial();
        std::optional<std::vector<RoundId>> damaged;
        bench.keeper.verify({held}, [&](const std::vector<RoundId>& found) { damaged = found; });
        bench.keeper.drop(held.round);
        bench.work.finish_all();
        QVERIFY(damaged && damaged->empty());
        QCOMPARE(bench.mediator.dropped.size(), std::size_t{1});
    }

    void a_list_is_applied_to_the_state_it_was_given_though_that_is_replaced_meanwhile() {
        Bench calm, raced;
        calm.hold_initial();
        raced.hold_initial();
        calm.apply(false);
        raced.apply(false);
        (void)raced.commit(0, 9.0F);
        calm.work.finish_all();
        raced.work.finish_all();
        QVERIFY(raced.keeper.digest() == calm.keeper.digest());
    }

    void a_damaged_state_is_found() {
        Bench bench;
        const StateStore::Held held = bench.hold_initial();
        QVERIFY(bench.disk.damage(5));
        std::vector<RoundId> damaged;
        bench.keeper.verify({held}, [&](const std::vector<RoundId>& found) { damaged = found; });
        bench.work.finish_all();
        QCOMPARE(damaged.size(), std::size_t{1});
    }

    void restoring_drops_what_the_chain_does_not_know() {
        Bench bench;
        (void)bench.commit(0, 0.5F);
        (void)bench.commit(3, 1.0F);
        bool sound = false;
        bench.keeper.restore([&](bool found) { sound = found; });
        QVERIFY(bench.keeper.checking());
        QVERIFY(!bench.keeper.round());
        bench.work.finish_all();
        QVERIFY(sound);
        QCOMPARE(*bench.keeper.round(), RoundId{0});
        QVERIFY(!bench.keeper.holds(RoundId{3}));
    }

    void restoring_takes_the_newest_state_and_says_whether_it_is_sound() {
        for (const std::uint64_t damaged : {0U, 1U}) {
            Bench bench;
            (void)bench.commit(0, 0.5F);
            QVERIFY(bench.chain.append(bench.list_of({bench.payload_of(1.0F).entry}), bench.commit(1, 1.0F)).ok());
            QVERIFY(bench.disk.damage(RoundId{damaged}, 5));
            std::optional<bool> sound;
            bench.keeper.restore([&](bool found) { sound = found; });
            bench.work.finish_all();
            QCOMPARE(*bench.keeper.round(), RoundId{1});
            QVERIFY(sound == (damaged == 0));
        }
    }

    void falling_back_takes_the_newest_sound_state_that_the_chain_leads_to() {
        Bench bench;
        (void)bench.commit(0, 0.5F);
        for (std::uint64_t round = 1; round <= 3; ++round) {
            const StateDigest next = bench.commit(round, static_cast<float>(round));
            QVERIFY(bench.chain.append(bench.list_of({bench.payload_of(1.0F).entry}), next).ok());
        }
        bench.keeper.hold(bench.disk.held().back());
        (void)bench.commit(4, 4.0F);  // of no list
        QVERIFY(bench.disk.damage(RoundId{3}, 5));
        bench.keeper.fall_back([] {});
        bench.work.finish_all();
        QCOMPARE(*bench.keeper.round(), RoundId{2});
        QVERIFY(!bench.keeper.holds(RoundId{3}));
        QVERIFY(bench.keeper.holds(RoundId{1}));
    }

    void falling_back_keeps_the_newest_sound_state() {
        Bench bench;
        (void)bench.commit(0, 0.5F);
        bench.keeper.hold(bench.disk.held().front());
        QVERIFY(bench.disk.damage(5));
        bool done = false;
        bench.keeper.fall_back([&] { done = true; });
        bench.work.finish_all();
        QVERIFY(done);
        QVERIFY(!bench.keeper.round());
        QVERIFY(!bench.keeper.holds(RoundId{0}));
    }
};

QTEST_APPLESS_MAIN(PeerStateKeeperTest)
#include "test_peer_state_keeper.moc"
