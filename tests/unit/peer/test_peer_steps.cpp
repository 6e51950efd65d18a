// Whose word on a step counts, how many must agree, what is fetched and kept, and what a light member does without.
#include <QTest>

#include "core/base/sha256.h"
#include "core/peer/states/steps.h"
#include "tests/unit/peer/peer_fixture.h"

using namespace potluck;
using namespace potluck::peer;

namespace {

run::Manifest coded_manifest() {
    run::Manifest manifest = Fixture::manifest_of();
    manifest.recipe.outer.form = numerics::StepForm::coded;
    manifest.recipe.window = Duration{10'000};
    for (std::uint8_t number = 2; number <= 4; ++number) manifest.backbones.push_back(key_of(number).id());
    for (std::uint8_t number = 20; number < 36; ++number) manifest.allowed.push_back(key_of(number).id());
    return manifest;
}

StateDigest digest_of(const char* text) { return {sha256(as_bytes(text)).bytes}; }

constexpr Duration slow{1'001}, fast{1'000};  // a tenth of the window, and longer

/// A member without a seat, number 9, that hears the seats 1 to 4.
struct Bench : Fixture {
    explicit Bench(std::uint8_t number = 9) : Fixture(coded_manifest(), number) {}

    /// A list of seats 1 to 4 that has one entry.
    run::AcceptList list() {
        run::AcceptList made = unsigned_list_of({payload_of(0.01F, key_of(5).id()).entry});
        made.committee = ids_of({1, 2, 3, 4});
        return made;
    }
    /// The step that F makes of list(): its blob.
    Bytes blob_of(const run::AcceptList& of) {
        const Made made = payload_of(0.01F, key_of(5).id());
        const numerics::WeightedPayload one[] = {{.payload = &made.payload->view, .weight = 1}};
        return step_blob(of.hash(), numerics::encode_step(one, context.layout.parameters, {}, 1));
    }
    run::StepMessage said_of(const run::AcceptList& of, const char* result = "next") {
        const Bytes blob = blob_of(of);
        return {of.round, of.hash(), {merkle_root(blob), blob.size(), run::BlobKind::plain, {}}, digest_of(result)};
    }
    run::Verdict hear(std::uint8_t seat, const run::StepMessage& message) {
        run::Envelope envelope{.run = context.run,
                               .sender = key_of(seat).id(),
                               .kind = run::MessageKind::step,
                               .body = run::encode_body(message)};
        if (steps.holds(envelope.sender, message)) return run::Verdict::repeated;
        return steps.on_step(envelope, message);
    }
    void bring(const run::AcceptList& of) {
        const Bytes blob = blob_of(of);
        steps.on_blob({merkle_root(blob), blob.size(), run::BlobKind::plain, {}},
                      std::make_shared<sim::MemoryBlob>(blob));
    }
    /// Seats 2 and 3 have signed its step, which is here.
    void take(const run::AcceptList& of) {
        POTLUCK_CHECK(chain.append(committed(of, {1, 2, 3}), {}).ok());
        for (const std::uint8_t seat : {std::uint8_t{2}, std::uint8_t{3}})
            POTLUCK_CHECK(hear(seat, said_of(of)) == run::Verdict::accepted);
        steps.want(of, of.hash());
        bring(of);
    }
    /// That of list(), for an audit.
    void bring_payload() {
        const Made made = payload_of(0.01F, key_of(5).id());
        POTLUCK_CHECK(payloads.arrived(made.payload->ref, made.payload->blob, context.now()) ==
                      Payloads::Outcome::held);
        steps.audits().look();
    }
    Made contribution_of(std::uint8_t author) {
        return payload_of(0.01F * static_cast<float>(++contributions), key_of(author).id());
    }
    void deliver(const Made& made) {
        payloads.want(made.payload->ref, chain.height(), {});
        POTLUCK_CHECK(payloads.arrived(made.payload->ref, made.payload->blob, context.now()) ==
                      Payloads::Outcome::held);
    }
    /// Of payloads so long that the step of two of them is shorter, as it is of many.
    run::AcceptList append(std::vector<run::Accepted> entries) {
        const std::uint32_t kept = numerics::kept_of_step(context.manifest.recipe.k);
        const std::uint64_t step = numerics::step_bytes_max(context.layout.parameters, kept);
        for (run::Accepted& entry : entries) entry.payload.size = std::max(entry.payload.size, 2 * step);
        run::AcceptList made = unsigned_list_of(std::move(entries));
        made.committee = ids_of({1, 2, 3, 4});
        POTLUCK_CHECK(chain.append(committed(made, {1, 2, 3}), {}).ok());
        return made;
    }
    /// A round whose list has payloads of these authors, which come so long after the window's end, in this order.
    void play(const std::vector<std::pair<std::uint8_t, Duration>>& arrivals) {
        std::vector<run::Accepted> entries;
        const TimePoint closed = context.now();
        for (const auto& [author, after] : arrivals) {
            const Made made = contribution_of(author);
            context.set_now(closed + after);
            deliver(made);
            entries.push_back(made.entry);
        }
        append(std::move(entries));
        steps.entered(chain.height(), closed);
    }
    /// A round whose step takes so long to come.
    void play_step(Duration taken) {
        const run::AcceptList made = append({contribution_of(5).entry});
        for (const std::uint8_t seat : {std::uint8_t{2}, std::uint8_t{3}})
            POTLUCK_CHECK(hear(seat, said_of(made)) == run::Verdict::accepted);
        const TimePoint closed = context.now();
        steps.want(made, made.hash());
        wait(taken);
        bring(made);
        steps.entered(chain.height(), closed);
    }
    void become_light() {
        for (std::uint32_t round = 0; round < rounds_to_light; ++round) play({{5, slow}});
        POTLUCK_CHECK(steps.light());
    }
    void wait(Duration time) { context.set_now(context.now() + time); }
    [[nodiscard]] std::size_t fetches_of(const BlobId& id) const {
        return static_cast<std::size_t>(std::count(swarm.fetched.begin(), swarm.fetched.end(), id));
    }

    int contributions = 0;  // each of another payload
    Members members;
    Payloads payloads{swarm, context.layout.parameters, context.manifest.recipe.k_max};
    Seats seats{context, chain, members};
    Steps steps{{context, chain, members, payloads, disk, jobs, seats, errors}};
};

}  // namespace

class PeerStepsTest : public QObject {
    Q_OBJECT
private slots:
    void a_step_is_fetched_once_more_seats_agree_than_may_lie() {
        Bench bench;
        const run::AcceptList list = bench.list();
        const run::StepMessage said = bench.said_of(list);
        bench.steps.want(list, list.hash());
        QCOMPARE(bench.hear(2, said), run::Verdict::accepted);
        QCOMPARE(bench.hear(2, said), run::Verdict::repeated);
        bench.steps.want(list, list.hash());
        QCOMPARE(bench.fetches_of(said.step.root), std::size_t{0});
        QCOMPARE(bench.hear(3, said), run::Verdict::accepted);
        bench.steps.want(list, list.hash());
        bench.steps.want(list, list.hash());
        QCOMPARE(bench.fetches_of(said.step.root), std::size_t{1});
        QVERIFY(bench.steps.find(list.hash()) == nullptr);
        bench.bring(list);
        const StepPointer step = bench.steps.find(list.hash());
        QVERIFY(step != nullptr);
        QVERIFY(step->result == digest_of("next"));
        QVERIFY(!bench.steps.gave_up(list.hash()));
    }

    void seats_that_say_different_things_do_not_add_up() {
        Bench bench;
        const run::AcceptList list = bench.list();
        QCOMPARE(bench.hear(2, bench.said_of(list)), run::Verdict::accepted);
        QCOMPARE(bench.hear(3, bench.said_of(list, "another")), run::Verdict::accepted);
        QCOMPARE(bench.hear(3, bench.said_of(list)), run::Verdict::contradicting);
        bench.steps.want(list, list.hash());
        QVERIFY(bench.swarm.fetched.empty());
    }

    void words_of_another_list_do_not_count() {
        Bench bench;
        const run::AcceptList list = bench.list();
        run::AcceptList other = list;
        other.k += 1;
        for (const std::uint8_t seat : std::vector<std::uint8_t>{2, 3, 4})
            QCOMPARE(bench.hear(seat, bench.said_of(other)), run::Verdict::accepted);
        bench.steps.want(list, list.hash());
        QVERIFY(bench.swarm.fetched.empty());
    }

    void only_seats_of_the_list_count() {
        Bench bench;
        run::AcceptList list = bench.list();
        list.committee = ids_of({1, 2, 5, 6});
        const run::StepMessage said = bench.said_of(list);
        // Seats of today that the list replaces.
        QCOMPARE(bench.hear(3, said), run::Verdict::accepted);
        QCOMPARE(bench.hear(4, said), run::Verdict::accepted);
        QCOMPARE(bench.hear(7, said), run::Verdict::wrong_author);
        bench.steps.want(list, list.hash());
        QVERIFY(bench.swarm.fetched.empty());
    }

    void steps_from_possible_seats_take_no_room_from_real_seats() {
        Bench bench;
        const run::AcceptList list = bench.list();
        const run::StepMessage said = bench.said_of(list);
        for (std::size_t i = 0; i < step_signers_max; ++i)
            QCOMPARE(bench.hear(static_cast<std::uint8_t>(20 + i), said), run::Verdict::accepted);
        QCOMPARE(bench.hear(2, said), run::Verdict::no_room);
        bench.steps.want(list, list.hash());
        QVERIFY(bench.swarm.fetched.empty());
        QCOMPARE(bench.hear(2, said), run::Verdict::accepted);
        QCOMPARE(bench.hear(3, said), run::Verdict::accepted);
        bench.steps.want(list, list.hash());
        QCOMPARE(bench.fetches_of(said.step.root), std::size_t{1});
    }

    void answers_to_strangers_are_bounded() {
        Bench bench;
        const run::StepMessage said = bench.said_of(bench.list());
        QCOMPARE(bench.hear(2, said), run::Verdict::accepted);
        for (std::size_t i = 0; i < step_answers_max; ++i) {
            PeerId stranger;
            stranger.bytes[0] = static_cast<std::byte>(i);
            stranger.bytes[1] = static_cast<std::byte>(i >> 8U);
            QCOMPARE(bench.steps.on_request(stranger, {said.round}), run::Verdict::accepted);
        }
        QCOMPARE(bench.steps.on_request(key_of(5).id(), {said.round}), run::Verdict::no_room);
        QCOMPARE(bench.swarm.sent_to.size(), step_answers_max);
    }

    void a_blob_of_another_list_or_no_step_at_all_is_refused() {
        Bench bench;
        const run::AcceptList list = bench.list();
        run::StepMessage said = bench.said_of(list);
        const Bytes wrong = step_blob(Digest{}, ByteSpan(bench.blob_of(list)).subspan(step_list_bytes));
        said.step = {merkle_root(wrong), wrong.size(), run::BlobKind::plain, {}};
        QCOMPARE(bench.hear(2, said), run::Verdict::accepted);
        QCOMPARE(bench.hear(3, said), run::Verdict::accepted);
        bench.steps.want(list, list.hash());
        bench.steps.on_blob(said.step, std::make_shared<sim::MemoryBlob>(wrong));
        QVERIFY(bench.steps.find(list.hash()) == nullptr);
        QVERIFY(bench.steps.gave_up(list.hash()));
    }

    void a_step_that_leads_elsewhere_is_not_taken_again() {
        Bench bench;
        const run::AcceptList list = bench.list();
        QCOMPARE(bench.hear(2, bench.said_of(list)), run::Verdict::accepted);
        QCOMPARE(bench.hear(3, bench.said_of(list)), run::Verdict::accepted);
        bench.steps.want(list, list.hash());
        bench.bring(list);
        bench.steps.refuse(list.hash());
        bench.bring(list);
        bench.steps.want(list, list.hash());
        QVERIFY(bench.steps.find(list.hash()) == nullptr);
        QVERIFY(bench.steps.gave_up(list.hash()));
        QCOMPARE(bench.fetches_of(bench.said_of(list).step.root), std::size_t{1});
    }

    void patience_ends_where_nothing_comes() {
        Bench bench;
        const run::AcceptList list = bench.list();
        QVERIFY(!bench.steps.gave_up(list.hash()));
        bench.steps.want(list, list.hash());
        bench.wait(step_patience - Duration{1});
        QVERIFY(!bench.steps.gave_up(list.hash()));
        QCOMPARE(bench.hear(2, bench.said_of(list)), run::Verdict::accepted);
        QCOMPARE(bench.hear(3, bench.said_of(list)), run::Verdict::accepted);
        bench.steps.want(list, list.hash());  // the fetch begins: patience begins anew
        bench.wait(step_patience - Duration{1});
        QVERIFY(!bench.steps.gave_up(list.hash()));
        bench.wait(Duration{1});
        QVERIFY(bench.steps.gave_up(list.hash()));
    }

    void a_fetch_that_failed_is_begun_again() {
        Bench bench;
        const run::AcceptList list = bench.list();
        const run::StepMessage said = bench.said_of(list);
        QCOMPARE(bench.hear(2, said), run::Verdict::accepted);
        QCOMPARE(bench.hear(3, said), run::Verdict::accepted);
        bench.steps.want(list, list.hash());
        bench.steps.on_blob_failed(said.step.root);
        bench.steps.want(list, list.hash());
        QCOMPARE(bench.fetches_of(said.step.root), std::size_t{2});
    }

    void a_seats_step_is_published_signed_and_sent_on_request() {
        Bench bench(2);
        const run::AcceptList list = bench.list();
        const Bytes blob = bench.blob_of(list);
        const ByteSpan step = ByteSpan(blob).subspan(step_list_bytes);
        bench.steps.computed({list.round, list.hash(), list.committee}, step, digest_of("next"));
        QVERIFY(bench.swarm.published.contains(merkle_root(blob)));
        QCOMPARE(bench.swarm.sent.size(), std::size_t{1});
        QVERIFY(run::decode_body(run::MessageKind::step, bench.swarm.sent[0].body).value() ==
                run::Message(bench.said_of(list)));
        QCOMPARE(bench.steps.on_request(key_of(9).id(), {list.round}), run::Verdict::accepted);
        QCOMPARE(bench.swarm.sent.size(), std::size_t{2});
        QVERIFY(bench.swarm.sent[1] == bench.swarm.sent[0]);
        QCOMPARE(bench.steps.on_request(key_of(9).id(), {list.round}), run::Verdict::repeated);
        bench.wait(step_asked_again_after);
        QCOMPARE(bench.steps.on_request(key_of(9).id(), {list.round}), run::Verdict::accepted);
        QCOMPARE(bench.steps.on_request(key_of(9).id(), {list.round.next()}), run::Verdict::stale);
    }

    void a_member_without_a_seat_publishes_and_signs_nothing() {
        Bench bench;
        const run::AcceptList list = bench.list();
        bench.steps.computed({list.round, list.hash(), list.committee}, as_bytes("step"), digest_of("next"));
        QCOMPARE(bench.swarm.published.size(), std::size_t{1});
        QVERIFY(bench.swarm.sent.empty());
    }

    void rounds_out_of_reach_and_sizes_of_no_step_are_refused() {
        Bench bench;
        run::AcceptList list = bench.list();
        run::StepMessage said = bench.said_of(list);
        said.round.value = step_rounds_ahead;
        QCOMPARE(bench.hear(2, said), run::Verdict::accepted);
        said.round.value = step_rounds_ahead + 1;
        QCOMPARE(bench.hear(2, said), run::Verdict::stale);
        said.round = list.round;
        said.step.size = step_list_bytes;
        QCOMPARE(bench.hear(3, said), run::Verdict::too_large);
        said.step.size = step_list_bytes +
                         numerics::step_bytes_max(bench.context.layout.parameters,
                                                  numerics::kept_of_step(bench.context.manifest.recipe.k_max)) +
                         1;
        QCOMPARE(bench.hear(3, said), run::Verdict::too_large);
        --said.step.size;
        QCOMPARE(bench.hear(3, said), run::Verdict::accepted);
    }

    void a_step_is_asked_of_its_signers_and_of_all_neighbours() {
        Bench bench;
        const run::AcceptList list = bench.list();
        for (const std::uint8_t seat : {std::uint8_t{2}, std::uint8_t{3}})
            QCOMPARE(bench.hear(seat, bench.said_of(list)), run::Verdict::accepted);
        bench.steps.want(list, list.hash());
        QCOMPARE(bench.swarm.fetched, std::vector{bench.said_of(list).step.root});
        std::vector<PeerId> sources = bench.swarm.sources[0];
        std::sort(sources.begin(), sources.end());
        QCOMPARE(sources, ids_of({2, 3}));
        QVERIFY(bench.swarm.of_all_neighbours[0]);
    }

    void a_member_that_comes_to_a_run_of_many_contributions_begins_light() {
        Bench few, many, entered, restarted;
        run::AcceptList list = few.list();
        const std::uint64_t step =
            numerics::step_bytes_max(few.context.layout.parameters, numerics::kept_of_step(list.k));
        list.entries[0].payload.size = steps_to_be_light * step;
        few.steps.begin_with(list);
        QVERIFY(!few.steps.light());
        ++list.entries[0].payload.size;
        few.steps.begin_with(list);
        QVERIFY(!few.steps.light());  // what it has begun with stands
        many.steps.begin_with(list);
        QVERIFY(many.steps.light());
        restarted.append(list.entries);
        restarted.steps.entered(restarted.chain.height(), std::nullopt);
        QVERIFY(restarted.steps.light());
        entered.steps.entered(RoundId{0}, std::nullopt);
        entered.steps.begin_with(list);
        QVERIFY(!entered.steps.light());
    }

    void a_seat_that_comes_back_is_full_from_the_start() {
        Bench bench(1);
        run::AcceptList list = bench.list();
        list.entries[0].payload.size = 1U << 30U;
        QVERIFY(bench.context.seated_in(bench.chain.committee()));
        bench.steps.begin_with(list);
        QVERIFY(!bench.steps.light());
    }

    void a_neighbour_that_is_further_is_asked_what_seats_say() {
        Bench bench;
        const PeerId ahead = key_of(2).id(), beside = key_of(3).id();
        for (const PeerId& peer : {ahead, beside}) bench.members.joined(peer);
        const run::AcceptList list = bench.list();
        run::StatusMessage status;
        status.sequence = 1;
        status.round = list.round.next();
        QCOMPARE(bench.members.take(ahead, status, Source::itself, bench.context.now(), Duration{4'000}),
                 run::Verdict::accepted);
        status.round = list.round;
        QCOMPARE(bench.members.take(beside, status, Source::itself, bench.context.now(), Duration{4'000}),
                 run::Verdict::accepted);
        bench.steps.want(list, list.hash());
        QVERIFY(bench.swarm.sent_to.empty());
        bench.wait(step_asked_again_after);
        bench.steps.want(list, list.hash());
        bench.steps.want(list, list.hash());
        QCOMPARE(bench.swarm.sent_to.size(), std::size_t{1});
        QVERIFY(bench.swarm.sent_to[0].first == ahead);
        QCOMPARE(bench.swarm.sent_to[0].second.kind, run::MessageKind::step_request);
    }

    void a_step_that_this_member_knows_to_be_false_is_not_taken() {
        Bench bench;
        const run::AcceptList list = bench.list();
        QCOMPARE(bench.hear(2, bench.said_of(list)), run::Verdict::accepted);
        QCOMPARE(bench.hear(3, bench.said_of(list)), run::Verdict::accepted);
        bench.steps.want(list, list.hash());
        bench.bring(list);
        QVERIFY(bench.steps.find(list.hash()) != nullptr);
        run::BlobRef other = bench.said_of(list).step;
        other.root.bytes[0] ^= std::byte{1};
        bench.steps.audits().computed(list.round, list.hash(), other);
        QVERIFY(bench.steps.find(list.hash()) == nullptr);
        QVERIFY(bench.steps.gave_up(list.hash()));
        QVERIFY(bench.steps.misled(list.hash()));
        bench.steps.refuse(list.hash());
        QVERIFY(!bench.steps.misled(list.hash()));
    }

    void a_seat_whose_state_is_another_makes_a_light_member_audit_once() {
        Bench bench;
        const run::AcceptList list = bench.list();
        POTLUCK_CHECK(bench.chain.append(bench.committed(list, {1, 2, 3}), {}).ok());
        QCOMPARE(bench.hear(2, bench.said_of(list)), run::Verdict::accepted);
        QCOMPARE(bench.hear(3, bench.said_of(list)), run::Verdict::accepted);
        bench.steps.want(list, list.hash());
        bench.bring(list);
        const BlobId payload = list.entries[0].payload.root;
        bench.steps.heard_result(key_of(2).id(), list.hash(), digest_of("next"));
        bench.steps.heard_result(key_of(9).id(), list.hash(), digest_of("other"));  // it has no seat
        bench.steps.heard_result(key_of(4).id(), Digest{}, digest_of("other"));
        QCOMPARE(bench.fetches_of(payload), std::size_t{0});
        bench.steps.heard_result(key_of(4).id(), list.hash(), digest_of("other"));
        QCOMPARE(bench.fetches_of(payload), std::size_t{1});
        QVERIFY(!bench.steps.misled(list.hash()));
        // The step is true, as it turns out; the seat is not listened to again.
        const auto made = bench.payload_of(0.01F, key_of(5).id());
        QCOMPARE(bench.payloads.arrived(made.payload->ref, made.payload->blob, bench.context.now()),
                 Payloads::Outcome::held);
        bench.steps.audits().look();
        bench.work.finish_all();
        QCOMPARE(bench.steps.audits().audited(), 1U);
        bench.steps.heard_result(key_of(4).id(), list.hash(), digest_of("other"));
        bench.steps.audits().look();
        QCOMPARE(bench.work.size(), std::size_t{0});
    }

    void a_seat_whose_word_has_led_to_an_audit_is_listened_to_again_after_it_had_none() {
        for (const bool leaves : {false, true}) {
            Bench bench;
            const auto jobs_after_doubt = [&](const run::AcceptList& list) {
                bench.steps.heard_result(key_of(4).id(), list.hash(), digest_of("other"));
                return bench.work.size();
            };
            const run::AcceptList first = bench.list();
            bench.take(first);
            QCOMPARE(jobs_after_doubt(first), std::size_t{0});
            bench.bring_payload();
            bench.work.finish_all();
            QCOMPARE(bench.steps.audits().audited(), 1U);
            run::AcceptList next = bench.list();
            if (leaves) next.committee = ids_of({1, 2, 3, 5});
            POTLUCK_CHECK(bench.chain.append(bench.committed(next, {1, 2, 3}), {}).ok());
            bench.steps.entered(RoundId{steps_kept}, std::nullopt);
            QCOMPARE(jobs_after_doubt(first), std::size_t{0});
            // Now the step of the first list is forgotten.
            bench.steps.entered(RoundId{steps_kept + 1}, std::nullopt);
            const run::AcceptList last = bench.list();
            bench.take(last);
            QCOMPARE(jobs_after_doubt(last), std::size_t{leaves ? 1U : 0U});
        }
    }

    void words_of_rounds_whose_steps_are_forgotten_are_stale() {
        Bench bench;
        const run::AcceptList first = bench.list();
        const run::StepMessage said = bench.said_of(first);
        const auto append = [&](const run::AcceptList& list) {
            POTLUCK_CHECK(bench.chain.append(bench.committed(list, {1, 2, 3}), {}).ok());
        };
        append(first);
        while (bench.chain.height().value < steps_kept) append(bench.list());
        QCOMPARE(bench.hear(2, said), run::Verdict::accepted);
        append(bench.list());
        QCOMPARE(bench.hear(3, said), run::Verdict::stale);
    }

    void steps_of_old_rounds_are_forgotten() {
        Bench bench(2);
        const run::AcceptList list = bench.list();
        bench.steps.computed({list.round, list.hash(), list.committee}, as_bytes("step"), digest_of("next"));
        bench.steps.entered(RoundId{steps_kept}, std::nullopt);
        QVERIFY(bench.swarm.forgotten.empty());
        bench.steps.entered(RoundId{steps_kept + 1}, std::nullopt);
        QCOMPARE(bench.swarm.forgotten.size(), std::size_t{1});
        QCOMPARE(bench.steps.on_request(key_of(9).id(), {list.round}), run::Verdict::stale);
    }

    void a_step_that_comes_nearer_is_waited_for() {
        Bench bench;
        const run::AcceptList list = bench.list();
        const run::StepMessage said = bench.said_of(list);
        QCOMPARE(bench.hear(2, said), run::Verdict::accepted);
        QCOMPARE(bench.hear(3, said), run::Verdict::accepted);
        bench.steps.want(list, list.hash());
        bench.wait(step_patience - Duration{1});
        bench.swarm.blobs[said.step.root] = nullptr;
        bench.steps.want(list, list.hash());
        bench.wait(step_patience - Duration{1});
        QVERIFY(!bench.steps.gave_up(list.hash()));
        bench.wait(Duration{1});
        QVERIFY(bench.steps.gave_up(list.hash()));
    }

    void a_past_step_is_of_its_own_list_and_of_a_seat_that_the_list_names() {
        Bench bench;
        const run::AcceptList list = bench.list();
        const run::StepMessage said = bench.said_of(list);
        POTLUCK_CHECK(bench.chain.append(bench.committed(list, {1, 2, 3}), {}).ok());
        run::StepMessage other = said;
        other.list = Digest{};
        QCOMPARE(bench.hear(2, other), run::Verdict::wrong_author);
        QCOMPARE(bench.hear(20, said), run::Verdict::wrong_author);  // trusted, but without a seat
        QCOMPARE(bench.hear(2, said), run::Verdict::accepted);
    }

    void a_step_that_is_computed_long_after_its_round_is_not_offered() {
        Bench bench(2);
        const run::AcceptList first = bench.list();
        const auto compute = [&] {
            bench.steps.computed({first.round, first.hash(), first.committee}, as_bytes("step"), digest_of("next"));
        };
        for (std::uint64_t round = 0; round < steps_kept; ++round)
            POTLUCK_CHECK(bench.chain.append(bench.committed(bench.list(), {1, 2, 3}), {}).ok());
        compute();
        QCOMPARE(bench.swarm.published.size(), std::size_t{1});
        bench.swarm.published.clear();
        POTLUCK_CHECK(bench.chain.append(bench.committed(bench.list(), {1, 2, 3}), {}).ok());
        compute();
        QVERIFY(bench.swarm.published.empty());
    }

    void a_member_whose_line_took_payloads_too_long_is_light() {
        Bench bench;
        bench.play({{5, slow}});
        QVERIFY(!bench.steps.light());
        bench.play({{5, slow}});
        QVERIFY(bench.steps.light());
        Bench quick;
        for (int round = 0; round < 4; ++round) quick.play({{5, fast}});
        QVERIFY(!quick.steps.light());
    }

    void a_members_own_payload_says_nothing_of_its_line() {
        Bench bench;
        for (int round = 0; round < 4; ++round) bench.play({{5, fast}, {9, slow}});
        QVERIFY(!bench.steps.light());
        Bench alone;
        for (int round = 0; round < 4; ++round) alone.play({{9, slow}});
        QVERIFY(!alone.steps.light());
        // Rounds of its own payload alone do not count as quick ones.
        alone.play({{5, slow}});
        alone.play({{9, fast}});
        alone.play({{5, slow}});
        QVERIFY(alone.steps.light());
    }

    void a_round_that_was_not_seen_says_nothing_of_the_line() {
        Bench bench;
        bench.play({{5, slow}});
        // One payload of two never came here.
        const Fixture::Made here = bench.contribution_of(5), missing = bench.contribution_of(6);
        bench.deliver(here);
        bench.append({here.entry, missing.entry});
        bench.steps.entered(bench.chain.height(), bench.context.now());
        // Nobody knows when the window ended.
        const Fixture::Made late = bench.contribution_of(5);
        bench.deliver(late);
        bench.append({late.entry});
        bench.steps.entered(bench.chain.height(), std::nullopt);
        QVERIFY(!bench.steps.light());
        bench.play({{5, slow}});
        QVERIFY(bench.steps.light());
    }

    void a_seat_is_never_light() {
        Bench bench(2);
        for (int round = 0; round < 4; ++round) bench.play({{5, slow}});
        QVERIFY(!bench.steps.light());
    }

    void a_light_member_whose_steps_come_fast_is_full_after_four_rounds() {
        Bench quick, late;
        quick.become_light();
        late.become_light();
        for (std::uint32_t round = 0; round < rounds_to_full_min; ++round) {
            QVERIFY(quick.steps.light());
            quick.play_step(Duration{10});
            late.play_step(Duration{5'000});
        }
        QVERIFY(!quick.steps.light());
        QVERIFY(late.steps.light());
    }

    void payloads_that_a_light_member_takes_say_nothing_of_its_way_back() {
        Bench bench;
        bench.become_light();
        for (std::uint32_t round = 1; round < rounds_to_full_min; ++round) bench.play_step(Duration{10});
        bench.play({{5, slow}});
        QVERIFY(bench.steps.light());
        bench.play_step(Duration{10});
        QVERIFY(!bench.steps.light());
    }

    void a_member_that_is_further_but_no_neighbour_is_asked_nothing() {
        Bench bench;
        const run::AcceptList list = bench.list();
        run::StatusMessage status;
        status.sequence = 1;
        status.round = list.round.next();
        QCOMPARE(bench.members.take(key_of(2).id(), status, Source::others, bench.context.now()),
                 run::Verdict::accepted);
        bench.steps.want(list, list.hash());
        bench.wait(step_asked_again_after);
        bench.steps.want(list, list.hash());
        QVERIFY(bench.swarm.sent_to.empty());
    }
};

QTEST_APPLESS_MAIN(PeerStepsTest)
#include "test_peer_steps.moc"
