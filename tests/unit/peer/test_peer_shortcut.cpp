// How a member that is behind gets to where the others are: what of an answer on the short way is refused, and when
// lists, payloads or a checkpoint are asked for without one. Whole ways, with liars on them, are walked in tests/sim.
#include <QTest>

#include "core/peer/catch_up.h"
#include "core/peer/shortcut.h"
#include "core/proof/true_step.h"
#include "tests/unit/peer/ballots_bench.h"
#include "tests/unit/peer/peer_fixture.h"

using namespace potluck;
using namespace potluck::peer;
using run::Verdict;

namespace {

/// Believes every signature: 64 MiB of lists have a quarter of a million.
class Credulous final : public run::Verifier {
public:
    bool verify(const PeerId&, std::string_view, ByteSpan, const identity::Signature&) const override { return true; }
};

struct Silence final : Shortcut::Mediator {
    bool jumps = true;
    bool may_jump() const override { return jumps; }
    RoundId offered;
    RoundId checkpoint_offered() const override { return offered; }
    PeerId history_source(const std::vector<PeerId>& ahead) override { return ahead.front(); }
    void jumped(std::uint64_t) override {}
};

run::Manifest long_manifest() {
    run::Manifest manifest = Fixture::manifest_of();
    manifest.recipe.total_rounds = 1'000'000;
    manifest.recipe.table_every = 1'000;
    return manifest;
}

/// Every second list names a table.
run::Manifest manifest_with_tables() {
    run::Manifest manifest = Fixture::manifest_of();
    manifest.recipe.table_every = 2;
    return manifest;
}

/// A newcomer, number 9, that the host leads on from this round.
struct Bench : Fixture {
    explicit Bench(std::uint64_t round = 900'000) : Fixture(long_manifest(), 9) {
        meet_far_ahead(1, round);
        shortcut.tick();
    }
    void meet_far_ahead(std::uint8_t number, std::uint64_t round = 900'000) {
        members.joined(key_of(number).id());
        run::StatusMessage status;
        status.sequence = 1;
        status.round = RoundId{round};
        POTLUCK_CHECK(members.take(key_of(number).id(), status, Source::itself, context.now()) == Verdict::accepted);
    }
    void wait(Duration time) {
        context.set_now(context.now() + time);
        shortcut.tick();
    }
    /// L[round], which follows a list of `previous`.
    [[nodiscard]] run::AcceptList list(std::uint64_t round, const Digest& previous = {}) const {
        run::AcceptList made;
        made.run = context.run;
        made.round = RoundId{round};
        made.previous = previous;
        made.committee = ids_of({1});
        return made;
    }
    static run::CommittedList committed_of(const run::AcceptList& list) {
        return {list.encode(), run::encode(certificate_of(list, ids_of({1}), {1}))};
    }
    Verdict answer(std::vector<run::CommittedList> lists) {
        return shortcut.on_answer(key_of(1).id(), {std::move(lists)});
    }
    /// The last two lists of a way: the second names a table of `bytes`.
    [[nodiscard]] std::vector<run::CommittedList> goal(std::uint64_t bytes) const {
        const run::AcceptList before = list(999);
        run::AcceptList named = list(1'000, before.hash());
        named.table = run::BlobRef{merkle_root(as_bytes("table")), bytes, run::BlobKind::plain, {}};
        return {committed_of(before), committed_of(named)};
    }

    Members members;
    Silence silence;
    Credulous credulous;
    Shortcut shortcut{{context, chain, credulous, members, errors, silence}};
};

/// The host of four seats, whose lists of rounds 0 to 256 changed the committee, and whose list of round 260 is the
/// first that names a table.
struct Ahead : Fixture {
    Ahead() : Fixture(manifest()) {
        for (std::uint64_t round = 0; round <= 260; ++round) {
            run::AcceptList list = unsigned_list_of({});
            if (round <= 256) list.committee = round % 2 == 0 ? heirs_of(4) : ids_of({1, 2, 3, 4});
            POTLUCK_CHECK(chain.append(committed(list, {1, 2, 3}), {}).ok());
        }
        silence.offered = RoundId{260};
    }
    static run::Manifest manifest() {
        run::Manifest manifest = manifest_of_four(1'000);
        manifest.recipe.table_every = 260;
        return manifest;
    }
    /// Rounds of the lists that a member is sent which asks from this one on.
    std::vector<std::uint64_t> rounds_from(std::uint64_t first) {
        POTLUCK_CHECK(shortcut.on_request(key_of(5).id(), {RoundId{first}}) == Verdict::accepted);
        const auto message = run::decode_body(run::MessageKind::committee, swarm.sent_to.back().second.body);
        if (!message.ok()) return {};
        std::vector<std::uint64_t> rounds;
        for (const run::CommittedList& one : std::get<run::CommitteeMessage>(*message).lists)
            rounds.push_back(run::AcceptList::decode(one.list)->round.value);
        return rounds;
    }

    Members members;
    Silence silence;
    Shortcut shortcut{{context, chain, keyring, members, errors, silence}};
};

/// first, first + 1, ... last
std::vector<std::uint64_t> range(std::uint64_t first, std::uint64_t last) {
    std::vector<std::uint64_t> rounds;
    for (std::uint64_t round = first; round <= last; ++round) rounds.push_back(round);
    return rounds;
}

struct SeederSilence final : Seeder::Mediator {
    std::optional<StateStore::Held> newest_state() const override { return std::nullopt; }
    bool in_use(RoundId) const override { return false; }
    void drop_state(RoundId) override {}
    void status_changed() override {}
};

/// A member, number 9, whose neighbours are ahead of it in a run that the host decides alone.
struct Behind : Fixture, CatchUp::Mediator {
    explicit Behind(run::Manifest run_manifest = long_manifest()) : Fixture(std::move(run_manifest), 9) {
        catch_up.start();
    }
    bool takes_shortcut() const override { return is_on_shortcut; }
    void appended(const CheckedList&) override {}
    void entered() override { ++rounds_entered; }
    void advance() override {}

    void wait(Duration time) { context.set_now(context.now() + time); }
    /// theta[round] as every other member has it.
    StateDigest state_of(std::uint64_t round) { return commit_to(elsewhere, round, static_cast<float>(round)); }
    std::shared_ptr<sim::MemoryBlob> content_of(std::uint64_t round) {
        (void)state_of(round);
        const State state = elsewhere.state(RoundId{round});
        return std::make_shared<sim::MemoryBlob>(Bytes(state.file.begin(), state.file.end()));
    }
    /// Lists up to this height are held, each with one payload that is not, and theta[0].
    void reach(std::uint64_t height) {
        while (chain.height().value < height) {
            const std::uint64_t next = chain.height().value + 1;
            const Made made = payload_of(1.0F, key_of(static_cast<std::uint8_t>(1 + next)).id());
            POTLUCK_CHECK(chain.append(list_of({made.entry}), state_of(next)).ok());
        }
        keeper.hold({RoundId{0}, context.manifest.initial_state.root});
    }
    /// The chain goes on with L[4], the list of round 3 before it, and what led to theta[2] was never seen.
    void begin_at_4() {
        Fixture host(context.manifest);
        while (host.chain.height().value <= 4) {
            const std::uint64_t next = host.chain.height().value + 1;
            const Made made = host.payload_of(static_cast<float>(next));
            POTLUCK_CHECK(host.chain.append(host.list_of({made.entry}), state_of(next)).ok());
        }
        POTLUCK_CHECK(chain
                          .begin_at({.table = host.chain.tables().back().content,
                                     .changes = {},
                                     .before = *host.chain.committed_at(RoundId{3}),
                                     .result = state_of(4)})
                          .ok());
        keeper.hold({RoundId{4}, state_of(4)});
    }
    /// L[height], which takes the model back.
    CheckedList list_back_to(std::uint64_t round, const StateDigest& state) {
        run::AcceptList list = unsigned_list_of({});
        list.actions = {by_host(roll_back_to(round, state, 1))};
        return committed(list, {1});
    }
    [[nodiscard]] BlobId payload_of_round(std::uint64_t round) const {
        return chain.list_at(RoundId{round})->entries.front().payload.root;
    }
    /// A status in `round` that offers theta[checkpoint]; none if that is 0.
    run::StatusMessage status_of(std::uint64_t round, std::uint64_t checkpoint = 0) {
        run::StatusMessage status;
        status.sequence = ++sequence;
        status.round = RoundId{round};
        status.checkpoint_round = RoundId{checkpoint};
        if (checkpoint > 0)
            status.checkpoint = {state_of(checkpoint), context.layout.file_size(), run::BlobKind::open, {}};
        return status;
    }
    void hear(std::uint8_t neighbour, const run::StatusMessage& status) {
        const PeerId id = key_of(neighbour).id();
        if (!members.is_neighbour(id)) members.joined(id);
        POTLUCK_CHECK(members.take(id, status, Source::itself, context.now()) == Verdict::accepted);
    }
    void hear_through_others(std::uint8_t number, const run::StatusMessage& status) {
        POTLUCK_CHECK(members.take(key_of(number).id(), status, Source::others, context.now()) == Verdict::accepted);
    }
    [[nodiscard]] std::ptrdiff_t fetches_of(const BlobId& id) const {
        return std::count(swarm.fetched.begin(), swarm.fetched.end(), id);
    }
    [[nodiscard]] bool forgot(const BlobId& id) const {
        return std::count(swarm.forgotten.begin(), swarm.forgotten.end(), id) > 0;
    }
    std::ptrdiff_t questions_after(Duration time) {
        wait(time);
        catch_up.ask_history();
        return std::count_if(swarm.sent.begin(), swarm.sent.end(),
                             [](const run::Envelope& one) { return one.kind == run::MessageKind::history_request; });
    }
    [[nodiscard]] bool fetches_after(Duration time) {
        wait(time);
        catch_up.step();
        return catch_up.fetching();
    }

    bool is_on_shortcut = false;
    int rounds_entered = 0;
    std::uint64_t sequence = 0;
    sim::Disk elsewhere{"elsewhere", context.layout};
    VoteFile votes;
    KeeperSilence keeper_silence;
    BallotsMediator ballots_mediator;
    SeederSilence seeder_silence;
    Members members;
    run::RoundMachine machine{round_settings(context)};
    run::Exchange exchange;
    Payloads payloads{swarm, context.layout.parameters, context.manifest.recipe.k_max};
    Seats seats{context, chain, members};
    Steps steps{{context, chain, members, payloads, disk, jobs, seats, errors}};
    StateKeeper keeper{{context, chain, disk, jobs, errors, keeper_silence}};
    Moderation moderation{context, chain, ledger, errors};
    Verdicts verdicts{{context, chain, members}};
    Losses losses{{context, chain, members, disk}};
    Ballots ballots{{context, chain, keeper, machine, exchange, keyring, votes, payloads, steps, seats, moderation,
                     verdicts, losses, errors, ballots_mediator}};
    Seeder seeder{{context, chain, disk, payloads, errors, seeder_silence}};
    CatchUp catch_up{{context, chain, keeper, members, payloads, steps, seeder, moderation, ballots, errors, *this}};
};

/// A run of coded steps that four seats decide.
run::Manifest manifest_of_four_seats() {
    run::Manifest manifest = long_manifest();
    manifest.recipe.outer.form = numerics::StepForm::coded;
    for (std::uint8_t number = 2; number <= 4; ++number) manifest.backbones.push_back(key_of(number).id());
    return manifest;
}

/// A member that has made the state of round 1 itself and has convicted these seats of a false step of L[0]. Others
/// have a history that goes on from another state; seats 1 to 3 have signed it.
struct Deceived : Behind {
    explicit Deceived(const std::vector<std::uint8_t>& liars) : Behind(manifest_of_four_seats()) {
        const Made made = payload_of(0.01F, key_of(5).id());
        const CheckedList first = committed(unsigned_list_of({made.entry}), {1, 2, 3});
        POTLUCK_CHECK(chain.append(first, state_of(1)).ok());
        payloads.want_accepted(first.list, context.now());
        POTLUCK_CHECK(payloads.arrived(made.payload->ref, made.payload->blob, context.now()) ==
                      Payloads::Outcome::held);
        const auto step = proof::true_step(first.list, {made.payload->blob->bytes()},
                                           {context.manifest.recipe, context.layout.parameters}, 1);
        steps.audits().computed(first.list.round, first.hash, **step);
        for (const std::uint8_t liar : liars) {
            const run::StepMessage lie{
                first.list.round, first.hash, {merkle_root(as_bytes("lie")), 100, run::BlobKind::plain, {}}, {}};
            steps.audits().heard(
                {key_of(liar).id(), lie,
                 key_of(liar).sign(run::domain_of(run::MessageKind::step), run::signed_bytes(context.run, lie))});
        }
        work.finish_all();
        POTLUCK_CHECK(steps.audits().lies().size() == liars.size());
        POTLUCK_CHECK(others.chain.append(first, other).ok());
    }
    /// L[1] and L[2] of the others.
    Verdict take_history() {
        const auto next = [&] {
            return others.committed(others.unsigned_list_of({others.payload_of(0.02F, key_of(5).id()).entry}),
                                    {1, 2, 3});
        };
        const CheckedList second = next();
        POTLUCK_CHECK(others.chain.append(second, state_of(2)).ok());
        hear(1, status_of(5));
        POTLUCK_CHECK(questions_after(Duration{0}) == 1);
        return catch_up.on_history(key_of(1).id(), run::HistoryMessage{{second.committed, next().committed}});
    }

    Fixture others{manifest_of_four_seats()};
    StateDigest other = state_of(7);
};

/// A list as long as a message may carry.
run::AcceptList long_list(const Bench& bench, std::uint64_t round) {
    run::AcceptList list = bench.list(round);
    for (std::size_t i = 0; i < run::accepted_max; ++i) {
        run::Accepted entry;
        entry.peer.bytes[0] = static_cast<std::byte>(i >> 8U);
        entry.peer.bytes[1] = static_cast<std::byte>(i);
        entry.peer.bytes[2] = std::byte{1};
        entry.payload = {merkle_root(entry.peer.bytes), 100, run::BlobKind::plain, {}};
        entry.tokens = TokenCount{1};
        list.entries.push_back(entry);
    }
    return list;
}

}  // namespace

class PeerShortcutTest : public QObject {
    Q_OBJECT
private slots:
    void a_table_at_the_end_of_the_way_is_fetched() {
        Bench bench;
        QCOMPARE(bench.answer(bench.goal(run::table_bytes_max)), Verdict::accepted);
        QCOMPARE(bench.swarm.fetched, std::vector<BlobId>{merkle_root(as_bytes("table"))});
        QCOMPARE(bench.answer(bench.goal(1)), Verdict::stale);
    }

    void a_table_longer_than_any_is_refused() {
        Bench bench;
        QCOMPARE(bench.answer(bench.goal(run::table_bytes_max + 1)), Verdict::too_large);
        QVERIFY(bench.swarm.fetched.empty());
        QVERIFY(!bench.shortcut.active());
    }

    void an_answer_beyond_the_goal_is_malformed() {
        Bench bench;
        std::vector<run::CommittedList> lists = bench.goal(100);
        lists.push_back(Bench::committed_of(bench.list(1'001, bench.list(1'000).hash())));
        QCOMPARE(bench.answer(lists), Verdict::malformed);
        QVERIFY(bench.swarm.fetched.empty());
        QVERIFY(!bench.shortcut.active());
    }

    void a_way_is_as_long_as_64_mebibytes() {
        Bench bench;
        std::size_t bytes = 0;
        for (std::uint64_t round = 1;; round += 2) {  // neighbours would have to name each other
            const run::CommittedList next = Bench::committed_of(long_list(bench, round));
            bytes += next.list.size() + next.certificate.size();
            const Verdict expected = bytes > shortcut_bytes_max ? Verdict::too_large : Verdict::accepted;
            QCOMPARE(bench.answer({next}), expected);
            if (expected != Verdict::accepted) break;
        }
        QVERIFY(!bench.shortcut.active());
    }

    void a_member_that_says_nothing_for_three_heartbeats_is_given_up_and_asked_again_after_a_pause() {
        Bench bench;
        bench.wait(3 * bench.context.settings.heartbeat - Duration{1});
        QVERIFY(bench.shortcut.active());
        bench.wait(Duration{1});
        QVERIFY(!bench.shortcut.active());
        bench.wait(Duration{0});  // there is nobody else to ask
        bench.wait(shortcut_pause - Duration{1});
        QVERIFY(!bench.shortcut.active());
        bench.wait(Duration{1});
        QVERIFY(bench.shortcut.active());
    }

    void a_table_of_which_nothing_comes_for_20_seconds_is_given_up() {
        Bench bench;
        QCOMPARE(bench.answer(bench.goal(100)), Verdict::accepted);
        bench.wait(table_stalled_after - Duration{1});
        QVERIFY(bench.shortcut.active() && bench.swarm.forgotten.empty());
        bench.wait(Duration{1});
        QVERIFY(!bench.shortcut.active());
        QCOMPARE(bench.swarm.forgotten, std::vector<BlobId>{merkle_root(as_bytes("table"))});
    }

    void lists_in_between_wait_for_three_tries_and_there_is_a_pause_after_eight() {
        Bench bench;
        for (std::uint8_t number = 2; number < 20; ++number) bench.meet_far_ahead(number);
        for (std::size_t tries = 1; tries <= 8; ++tries) {
            QCOMPARE(bench.swarm.sent.size(), tries);
            QCOMPARE(bench.shortcut.active(), tries <= 3);
            bench.wait(3 * bench.context.settings.heartbeat);  // gives one up
            bench.wait(Duration{0});                           // asks another
        }
        QCOMPARE(bench.swarm.sent.size(), std::size_t{8});
    }

    void a_member_is_far_ahead_beyond_a_table() {
        QVERIFY(!Bench(1'000).shortcut.active());
        QVERIFY(Bench(1'001).shortcut.active());
    }

    void no_way_begins_while_the_chain_may_not_jump() {
        Bench bench;
        bench.meet_far_ahead(2);
        bench.silence.jumps = false;
        bench.wait(3 * bench.context.settings.heartbeat);  // the first one is given up
        bench.wait(Duration{0});
        QCOMPARE(bench.swarm.sent.size(), std::size_t{1});
        bench.silence.jumps = true;
        bench.wait(Duration{0});
        QCOMPARE(bench.swarm.sent.size(), std::size_t{2});
    }

    void an_empty_answer_ends_the_way() {
        Bench bench;
        QCOMPARE(bench.answer({}), Verdict::accepted);
        QVERIFY(!bench.shortcut.active());
        QCOMPARE(bench.swarm.sent.size(), std::size_t{1});
    }

    void a_table_that_cannot_be_fetched_ends_the_way() {
        Bench bench;
        QCOMPARE(bench.answer(bench.goal(100)), Verdict::accepted);
        bench.shortcut.blob_failed(merkle_root(as_bytes("another")));
        QVERIFY(bench.shortcut.active());
        bench.shortcut.blob_failed(merkle_root(as_bytes("table")));
        QVERIFY(!bench.shortcut.active());
    }

    void the_short_way_is_told_in_pages_of_256_lists_and_the_last_names_a_table() {
        Ahead bench;
        QVERIFY(bench.rounds_from(0) == range(0, 255));
        // One page has no room for the last two.
        QVERIFY(bench.rounds_from(2) == range(2, 256));
        std::vector<std::uint64_t> last = range(3, 256);
        last.insert(last.end(), {259, 260});
        QVERIFY(bench.rounds_from(3) == last);
        QVERIFY((bench.rounds_from(257) == std::vector<std::uint64_t>{259, 260}));
        QVERIFY((bench.rounds_from(259) == std::vector<std::uint64_t>{259, 260}));
        QVERIFY(bench.rounds_from(260).empty());
        bench.silence.offered = RoundId{259};
        QVERIFY(bench.rounds_from(0).empty());
    }

    void a_state_before_all_lists_is_kept_where_the_next_list_goes_back_to_it() {
        for (const bool is_in_chain : {false, true}) {
            Behind bench(manifest_with_tables());
            bench.begin_at_4();
            const CheckedList list = bench.list_back_to(2, bench.state_of(2));
            if (is_in_chain) {
                POTLUCK_CHECK(bench.chain.append(list, bench.state_of(2)).ok());
            } else {
                bench.ballots.learn(list);
            }
            QVERIFY(!bench.catch_up.has_inputs_of(list.list));
            QVERIFY(bench.catch_up.fetches(bench.state_of(2)));
            bench.catch_up.on_content(bench.content_of(2));
            bench.work.finish_all();
            QVERIFY(bench.catch_up.has_inputs_of(list.list));
            QVERIFY(bench.keeper.round() == RoundId{4});
        }
    }

    /// The next list goes back to theta[2] of round 2, or nothing is decided yet.
    void a_state_that_the_next_list_does_not_go_back_to_is_not_kept() {
        struct Case {
            std::uint64_t round, content;
        };
        for (const Case& one : {Case{1, 2}, Case{2, 3}, Case{2, 2}}) {
            Behind bench(manifest_with_tables());
            bench.begin_at_4();
            const CheckedList list = bench.list_back_to(one.round, bench.state_of(one.content));
            if (one.round != one.content) bench.ballots.learn(bench.list_back_to(2, bench.state_of(2)));
            QVERIFY(!bench.catch_up.has_inputs_of(list.list));
            bench.catch_up.on_content(bench.content_of(one.content));
            bench.work.finish_all();
            QVERIFY(!bench.catch_up.fetching());
            QVERIFY(!bench.keeper.holds(RoundId{one.round}));
        }
    }

    void a_lonely_newcomer_looks_around_for_three_heartbeats() {
        Behind bench;
        const std::vector<BlobId> initial{bench.context.manifest.initial_state.root};
        bench.catch_up.find_first_state();
        bench.wait(Duration{2'999});
        bench.catch_up.find_first_state();
        QVERIFY(bench.swarm.fetched.empty());
        bench.wait(Duration{1});
        bench.catch_up.find_first_state();
        QCOMPARE(bench.swarm.fetched, initial);
        Behind host;  // it has the state already
        host.swarm.blobs[initial.front()] = std::make_shared<sim::MemoryBlob>(Bytes(1));
        host.catch_up.find_first_state();
        QCOMPARE(host.swarm.fetched, initial);
    }

    void a_newcomer_waits_a_minute_for_the_chain_up_to_a_checkpoint() {
        Behind bench;
        bench.hear(2, bench.status_of(10, 4));
        bench.catch_up.find_first_state();
        bench.wait(Duration{59'999});
        bench.catch_up.find_first_state();
        QVERIFY(bench.swarm.fetched.empty());
        bench.wait(Duration{1});
        bench.catch_up.find_first_state();
        QCOMPARE(bench.swarm.fetched.size(), std::size_t{1});
        Behind early;  // three rounds are replayed
        early.hear(2, early.status_of(10, 3));
        early.catch_up.find_first_state();
        QCOMPARE(early.swarm.fetched.size(), std::size_t{1});
        Behind apart;  // nobody could be asked for the checkpoint
        apart.hear_through_others(2, apart.status_of(10, 4));
        apart.catch_up.find_first_state();
        QCOMPARE(apart.swarm.fetched.size(), std::size_t{1});
    }

    void the_initial_state_is_given_up_for_a_checkpoint() {
        Behind bench;
        bench.wait(Duration{3'000});
        bench.catch_up.find_first_state();
        QVERIFY(bench.catch_up.fetches(bench.context.manifest.initial_state.root));
        bench.reach(4);
        bench.hear(2, bench.status_of(4, 4));
        bench.catch_up.find_first_state();
        QVERIFY(bench.catch_up.fetches(bench.state_of(4)));
        QVERIFY(bench.forgot(bench.context.manifest.initial_state.root));
    }

    void a_checkpoint_is_taken_where_it_is_more_than_three_rounds_ahead() {
        Behind bench;
        bench.reach(4);
        bench.hear(2, bench.status_of(4, 3));
        QVERIFY(!bench.fetches_after(Duration{0}));
        bench.hear(2, bench.status_of(4, 4));
        QVERIFY(bench.fetches_after(Duration{0}));
        QVERIFY(bench.catch_up.fetches(bench.state_of(4)));
    }

    void a_checkpoint_that_cannot_be_the_state_is_not_fetched() {
        Behind bench;
        bench.reach(4);
        run::StatusMessage longer = bench.status_of(4, 4);
        ++longer.checkpoint.size;
        bench.hear(2, longer);
        QVERIFY(!bench.fetches_after(Duration{0}));
        run::StatusMessage other = bench.status_of(4, 4);
        other.checkpoint.root = bench.state_of(3);
        bench.hear(2, other);
        QVERIFY(!bench.fetches_after(Duration{0}));
        bench.hear_through_others(3, bench.status_of(4, 4));
        QVERIFY(!bench.fetches_after(Duration{0}));
    }

    void a_checkpoint_is_taken_where_payloads_do_not_come_for_three_graces() {
        Behind bench;
        bench.reach(2);
        bench.hear(2, bench.status_of(2, 2));
        QVERIFY(!bench.fetches_after(Duration{0}));
        QVERIFY(!bench.fetches_after(3 * bench.context.manifest.recipe.grace - Duration{1}));
        QVERIFY(bench.fetches_after(Duration{1}));
        Behind slow;
        slow.reach(2);
        slow.hear(2, slow.status_of(2, 2));
        QVERIFY(!slow.fetches_after(Duration{0}));
        slow.swarm.blobs[slow.payload_of_round(0)] = nullptr;  // it comes nearer
        QVERIFY(!slow.fetches_after(Duration{10'000}));
        QVERIFY(!slow.fetches_after(3 * slow.context.manifest.recipe.grace - Duration{1}));
        QVERIFY(slow.fetches_after(Duration{1}));
    }

    void any_checkpoint_will_do_while_the_newest_state_cannot_be_mended() {
        Behind bench;
        bench.reach(1);
        bench.hear(2, bench.status_of(1, 1));
        QVERIFY(!bench.fetches_after(Duration{0}));
        bench.catch_up.fell_back();
        bench.catch_up.caught_up();
        QVERIFY(!bench.fetches_after(Duration{0}));
        bench.catch_up.fell_back();
        QVERIFY(bench.fetches_after(Duration{0}));
    }

    void payloads_of_eight_rounds_are_fetched_beside_each_other() {
        Behind bench;
        bench.reach(12);
        QVERIFY(!bench.fetches_after(Duration{0}));
        for (const std::uint64_t round : {0U, 1U, 7U})
            QCOMPARE(bench.fetches_of(bench.payload_of_round(round)), std::ptrdiff_t{1});
        QCOMPARE(bench.fetches_of(bench.payload_of_round(8)), std::ptrdiff_t{0});
    }

    void a_checkpoint_that_stalls_makes_room_for_the_next_reference() {
        Behind bench;
        bench.reach(4);
        for (const std::uint8_t neighbour : {std::uint8_t{2}, std::uint8_t{3}}) {
            run::StatusMessage status = bench.status_of(4, 4);
            status.checkpoint.info_hash.bytes[0] = std::byte{neighbour};
            bench.hear(neighbour, status);
        }
        QVERIFY(bench.fetches_after(Duration{0}));
        const std::vector<PeerId> first = bench.swarm.sources.back();
        QVERIFY(bench.fetches_after(Duration{19'999}));
        bench.swarm.blobs[bench.state_of(4)] = nullptr;  // it comes nearer
        QVERIFY(bench.fetches_after(Duration{0}));
        QVERIFY(bench.fetches_after(Duration{19'999}));
        QVERIFY(!bench.fetches_after(Duration{1}));
        QVERIFY(bench.forgot(bench.state_of(4)));
        QVERIFY(bench.fetches_after(Duration{0}));
        QCOMPARE(first.size(), std::size_t{1});
        QCOMPARE(bench.swarm.sources.back().size(), std::size_t{1});
        QVERIFY(bench.swarm.sources.back() != first);
    }

    void a_reference_that_was_a_lie_is_not_tried_again_at_once() {
        Behind bench;
        bench.reach(4);
        bench.hear(2, bench.status_of(4, 4));
        QVERIFY(bench.fetches_after(Duration{0}));
        bench.catch_up.on_fetch_failed(bench.state_of(3), {ErrorCode::untrusted, "another blob"});
        QVERIFY(bench.catch_up.fetching());
        bench.catch_up.on_fetch_failed(bench.state_of(4), {ErrorCode::io, "no line"});
        QVERIFY(bench.fetches_after(Duration{0}));
        bench.catch_up.on_fetch_failed(bench.state_of(4), {ErrorCode::untrusted, "wrong bytes"});
        QVERIFY(!bench.fetches_after(Duration{0}));
    }

    void a_fetched_checkpoint_is_written_once_and_offered() {
        for (const std::uint64_t height : {4U, 5U}) {
            Behind bench;
            bench.reach(height);
            bench.hear(2, bench.status_of(height, 4));
            QVERIFY(bench.fetches_after(Duration{0}));
            bench.catch_up.on_content(bench.content_of(4));
            bench.catch_up.on_content(bench.content_of(4));
            bench.catch_up.on_fetch_failed(bench.state_of(4), {ErrorCode::cancelled, "too late"});
            QVERIFY(bench.catch_up.adopting());
            QCOMPARE(bench.work.size(), std::size_t{1});
            bench.work.finish_all();
            QVERIFY(!bench.catch_up.fetching());
            QVERIFY(bench.keeper.round() == RoundId{4});
            QVERIFY(bench.forgot(bench.state_of(4)));
            QCOMPARE(bench.swarm.files.size(), std::size_t{1});
            QCOMPARE(bench.rounds_entered, height == 4 ? 1 : 0);
        }
    }

    void a_checkpoint_of_wrong_bytes_is_not_fetched_again() {
        Behind bench;
        bench.reach(4);
        bench.hear(2, bench.status_of(4, 4));
        QVERIFY(bench.fetches_after(Duration{0}));
        bench.catch_up.on_content(std::make_shared<sim::MemoryBlob>(Bytes(77)));
        bench.work.finish_all();
        QVERIFY(!bench.fetches_after(Duration{0}));
        QVERIFY(!bench.fetches_after(Duration{10'000}));
        QCOMPARE(bench.fetches_of(bench.state_of(4)), std::ptrdiff_t{1});
    }

    void a_member_two_rounds_ahead_is_asked_at_once_and_again_after_three_heartbeats() {
        Behind bench;
        bench.hear(2, bench.status_of(2));
        bench.is_on_shortcut = true;
        QCOMPARE(bench.questions_after(Duration{0}), std::ptrdiff_t{0});
        bench.is_on_shortcut = false;
        QCOMPARE(bench.questions_after(Duration{0}), std::ptrdiff_t{1});
        QCOMPARE(bench.questions_after(Duration{2'999}), std::ptrdiff_t{1});
        QCOMPARE(bench.questions_after(Duration{1}), std::ptrdiff_t{2});
        Behind apart;
        apart.hear_through_others(2, apart.status_of(2));
        QCOMPARE(apart.questions_after(Duration{0}), std::ptrdiff_t{0});
    }

    void a_member_one_round_ahead_is_asked_after_two_heartbeats() {
        Behind bench;
        bench.hear(2, bench.status_of(1));
        QCOMPARE(bench.questions_after(Duration{0}), std::ptrdiff_t{0});
        QCOMPARE(bench.questions_after(Duration{1'999}), std::ptrdiff_t{0});
        QCOMPARE(bench.questions_after(Duration{1}), std::ptrdiff_t{1});
    }

    void the_closing_list_is_asked_for_every_half_minute() {
        run::Manifest manifest = long_manifest();
        manifest.recipe.total_rounds = 3;
        Behind bench(manifest);
        bench.reach(3);
        bench.keeper.hold({RoundId{3}, bench.state_of(3)});
        bench.hear(2, bench.status_of(3));
        QCOMPARE(bench.questions_after(Duration{0}), std::ptrdiff_t{1});
        QCOMPARE(bench.questions_after(Duration{29'999}), std::ptrdiff_t{1});
        QCOMPARE(bench.questions_after(Duration{1}), std::ptrdiff_t{2});
    }

    void a_history_with_a_forged_list_is_refused_whole() {
        Behind bench;
        Fixture ahead(long_manifest());
        bench.hear(1, bench.status_of(5));
        QCOMPARE(bench.questions_after(Duration{0}), std::ptrdiff_t{1});
        const CheckedList first = ahead.list_of({ahead.payload_of(1.0F).entry});
        QVERIFY(ahead.chain.append(first, bench.state_of(1)).ok());
        CheckedList second = ahead.list_of({ahead.payload_of(2.0F).entry});
        second.committed.certificate.back() ^= std::byte{1};
        QCOMPARE(bench.catch_up.on_history(key_of(1).id(), run::HistoryMessage{{first.committed, second.committed}}),
                 Verdict::bad_signature);
        QCOMPARE(bench.chain.height(), RoundId{0});
    }

    void a_history_is_read_under_the_rules_that_its_lists_bring_into_force() {
        Behind bench;
        Fixture ahead(long_manifest());
        bench.hear(1, bench.status_of(5));
        QCOMPARE(bench.questions_after(Duration{0}), std::ptrdiff_t{1});
        run::AcceptList banning = ahead.unsigned_list_of({});
        banning.actions = {Fixture::by_host(ban_of(5, 1))};
        const CheckedList first = ahead.committed(banning, {1});
        QVERIFY(ahead.chain.append(first, bench.state_of(1)).ok());
        const CheckedList second = ahead.list_of({ahead.payload_of(2.0F).entry});
        QCOMPARE(bench.catch_up.on_history(key_of(1).id(), run::HistoryMessage{{first.committed, second.committed}}),
                 Verdict::accepted);
        QCOMPARE(bench.chain.height(), RoundId{1});
        QVERIFY(bench.ballots.decision() != nullptr);
    }

    void a_history_that_begins_with_another_model_is_not_taken() {
        Behind bench;
        run::Manifest manifest = long_manifest();
        manifest.initial_state.root = bench.state_of(7);
        Fixture ahead(manifest);
        bench.hear(1, bench.status_of(5));
        QCOMPARE(bench.questions_after(Duration{0}), std::ptrdiff_t{1});
        const CheckedList first = ahead.list_of({ahead.payload_of(1.0F).entry});
        QVERIFY(ahead.chain.append(first, bench.state_of(1)).ok());
        const CheckedList second = ahead.list_of({ahead.payload_of(2.0F).entry});
        (void)bench.catch_up.on_history(key_of(1).id(), run::HistoryMessage{{first.committed, second.committed}});
        QCOMPARE(bench.chain.height(), RoundId{0});
        QVERIFY(!bench.errors.last().empty());
    }

    void a_history_that_leads_elsewhere_is_followed_where_more_have_signed_it_than_may_lie() {
        Deceived bench({2});
        QCOMPARE(bench.take_history(), Verdict::accepted);
        QCOMPARE(bench.chain.height(), RoundId{2});
        QVERIFY(bench.chain.digest_at(RoundId{1}) == bench.other);
        QVERIFY(bench.ballots.decision() != nullptr);
    }

    void a_history_that_leads_elsewhere_by_the_word_of_liars_is_not_followed() {
        Deceived bench({2, 3});
        QCOMPARE(bench.take_history(), Verdict::accepted);
        QCOMPARE(bench.chain.height(), RoundId{1});
        QVERIFY(bench.chain.digest_at(RoundId{1}) == bench.state_of(1));
        QVERIFY(bench.ballots.decision() == nullptr);
        QCOMPARE(bench.errors.last(), std::string(decided_by_liars));
    }

    void a_jump_ends_what_is_under_way() {
        Behind bench;
        bench.reach(4);
        bench.hear(1, bench.status_of(6, 4));
        QCOMPARE(bench.questions_after(Duration{0}), std::ptrdiff_t{1});
        QVERIFY(bench.fetches_after(Duration{0}));
        bench.catch_up.jumped();
        QVERIFY(!bench.catch_up.fetching());
        QVERIFY(bench.forgot(bench.state_of(4)));
        const CheckedList next = bench.list_of({});
        QCOMPARE(bench.catch_up.on_history(key_of(1).id(), run::HistoryMessage{{next.committed}}), Verdict::stale);
    }

    void the_time_to_the_first_step_is_taken_once() {
        Behind bench;
        bench.wait(Duration{5'000});
        bench.catch_up.first_step();
        bench.wait(Duration{5'000});
        bench.catch_up.first_step();
        QVERIFY(bench.catch_up.join_to_first_step() == Duration{5'000});
    }
};

QTEST_APPLESS_MAIN(PeerShortcutTest)
#include "test_peer_shortcut.moc"
