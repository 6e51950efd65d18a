// How much one proposal may make a member fetch, whom it names, what it may say of density, and the closing list.
#include <QTest>

#include <algorithm>

#include "tests/unit/peer/ballots_bench.h"

using namespace potluck;
using namespace potluck::peer;

using Bench = BallotsBench;

namespace {

/// Keys 20 and above are nobody's here: newcomers'.
constexpr std::uint8_t first_newcomer = 20;

run::BlobRef payload_named(std::uint8_t number) {
    run::BlobRef ref;
    ref.root.bytes[0] = std::byte{number};
    ref.root.bytes[1] = std::byte{1};
    ref.size = 100;
    return ref;
}

run::Accepted entry_of(std::uint8_t number) {
    return {.peer = key_of(number).id(), .payload = payload_named(number), .tokens = {64}, .newcomer = true};
}

/// The norm of the committee's member 2, the only one of whom more is known.
double known_norm(const Bench& bench) {
    for (const Bench::Made& made : bench.made_here) {
        if (made.entry.peer == key_of(2).id()) return made.payload->view.norm();
    }
    return 0;
}

/// A list of so many newcomers, signed by each.
run::AcceptList list_of_newcomers(const Bench& bench, std::size_t count) {
    std::vector<run::Accepted> entries;
    for (std::size_t i = 0; i < count; ++i) entries.push_back(entry_of(static_cast<std::uint8_t>(first_newcomer + i)));
    run::AcceptList list = bench.unsigned_list_of(std::move(entries));
    for (run::Accepted& entry : list.entries) {
        for (std::size_t i = 0; i < count; ++i) {
            const identity::Identity key = key_of(static_cast<std::uint8_t>(first_newcomer + i));
            if (key.id() != entry.peer) continue;
            entry.signature = key.sign(run::domain_of(run::MessageKind::contribution),
                                       run::signed_bytes(list.run, run::contribution_of(list, entry)));
        }
    }
    return list;
}

/// The next round, after `last`, in which this member's window has been open for long.
void go_on(Bench& bench, const run::AcceptList& last, std::optional<run::RoundBefore> before = std::nullopt) {
    const std::uint64_t next = bench.chain.height().value + 1;
    POTLUCK_CHECK(bench.chain.append(bench.committed(last, {1, 2, 3}), bench.commit(next, 0.5F)).ok());
    bench.keeper.hold({RoundId{next}, *bench.chain.digest_at(RoundId{next})});
    bench.machine.enter(RoundId{next}, bench.keeper.digest(), bench.chain.committee(), bench.context.now(),
                        std::move(before));
    bench.wait(window);
    bench.begin();
    bench.ballots->decide();
}

/// After a list that says `k`.
void go_on(Bench& bench, std::uint32_t k, std::optional<run::RoundBefore> before = std::nullopt) {
    run::AcceptList last = bench.unsigned_list_of({});
    last.k = k;
    go_on(bench, last, std::move(before));
}

/// After a list by which two seats suspend a person.
void go_on_without(Bench& bench, const PeerId& person) {
    run::AcceptList last = bench.unsigned_list_of({bench.contribution(6, 1.0F).entry});
    run::JurorVerdict verdict;
    verdict.person = person;
    last.suspensions = {{person, {{key_of(2).id(), verdict, {}}, {key_of(3).id(), verdict, {}}}}};
    go_on(bench, last);
}

/// All members' payloads came at once, or nobody's did.
enum class Links { fast, slow, unseen };

void see(Bench& bench, Links links) {
    if (links == Links::unseen) return;
    bench.exchange.closed(bench.context.now());
    bench.exchange.announced(key_of(5).id(), payload_named(5).root);
    if (links == Links::fast) bench.exchange.arrived(payload_named(5).root, bench.context.now());
}

/// What a member that has seen `links` votes on a list that says `next`, after lists that said `before`.
std::string vote_on_density(std::vector<std::uint32_t> before, std::uint32_t next, Links links) {
    for (std::size_t turn = 0; turn < 4; ++turn) {
        Bench bench(turn);
        for (const std::uint32_t k : before) go_on(bench, k);
        if (bench.ballots->proposes()) continue;
        see(bench, links);
        const Bench::Made made = bench.contribution(5, 1.0F);
        bench.deliver(made);
        run::AcceptList list = bench.unsigned_list_of({made.entry});
        list.k = next;
        for (const std::uint8_t who : turns()) {
            const identity::Identity author = key_of(who);
            if (author.id() == bench.ballots->proposer()) (void)bench.hear(bench.proposal_by(author, list, 0));
        }
        return bench.own_vote();
    }
    return "always proposes";
}

}  // namespace

class PeerProposalsTest : public QObject {
    Q_OBJECT
private slots:
    void payloads_of_64_newcomers_are_fetched_for_a_proposal_and_no_more() {
        for (const std::size_t count : {run::newcomers_max, run::newcomers_max + 1}) {
            Bench bench;
            (void)bench.hear(bench.proposal(list_of_newcomers(bench, count)));
            QCOMPARE(bench.swarm.fetched.size(), count == run::newcomers_max ? count : std::size_t{0});
            QCOMPARE(bench.own_vote(), std::string(count == run::newcomers_max ? "none" : "nil"));
        }
    }

    void payloads_that_their_authors_have_not_signed_are_not_fetched() {
        Bench bench;
        run::AcceptList list = list_of_newcomers(bench, 3);
        list.entries[1].signature[7] ^= std::byte{1};
        (void)bench.hear(bench.proposal(list));
        QVERIFY(bench.swarm.fetched.empty());
        QCOMPARE(bench.own_vote(), std::string("nil"));
    }

    void a_proposal_names_64_newcomers_those_in_time_first() {
        for (std::size_t turn = 0; turn < 4; ++turn) {
            Bench bench(turn);
            const StateDigest base = bench.keeper.digest();
            go_on(bench, bench.context.manifest.recipe.k, run::RoundBefore{base, {}});
            if (!bench.ballots->proposes()) continue;
            // In time and late by turns, so that no order of keys tells them apart.
            for (std::uint8_t i = 0; i < 80; ++i) {
                const auto number = static_cast<std::uint8_t>(first_newcomer + i);
                const bool late = i % 2 == 0;
                const run::ContributionMessage message{
                    RoundId{late ? 0U : 1U}, late ? base : bench.keeper.digest(), payload_named(number), {64}};
                QCOMPARE(bench.machine.contribution(key_of(number).id(), message, {}), Verdict::accepted);
                (void)bench.machine.payload_held(message.payload.root, key_of(number).id());
            }
            bench.ballots->reconsider();
            const run::AcceptList list = bench.own_list();
            QCOMPARE(list.entries.size(), run::newcomers_max);
            const auto in_time = std::count_if(list.entries.begin(), list.entries.end(),
                                               [](const run::Accepted& entry) { return !entry.late; });
            QCOMPARE(in_time, 40);
            return;
        }
        QFAIL("it is never this member's turn");
    }

    void the_closing_list_is_empty_and_changes_nothing() {
        run::Manifest manifest = manifest_of_four(1);
        manifest.recipe.measuring.every = 5;
        manifest.validation.records = 10;
        const auto vote_on_closing = [&](const std::function<void(Bench&, run::AcceptList&)>& change) {
            for (float value = 1.0F;; value += 1.0F) {
                Bench bench(manifest, 3);
                const CheckedList first = bench.committed(bench.good_list(value), {1, 2, 3});
                POTLUCK_CHECK(bench.chain.append(first, bench.keeper.digest()).ok());
                bench.machine.leave();
                bench.ballots->enter();
                bench.ballots->decide();
                if (bench.ballots->proposes()) continue;  // the order of turns follows from the list before
                run::AcceptList closing = bench.unsigned_list_of({});
                change(bench, closing);
                for (const std::uint8_t who : turns()) {
                    const identity::Identity author = key_of(who);
                    if (author.id() == bench.ballots->proposer())
                        (void)bench.hear(bench.proposal_by(author, closing, 0));
                }
                return bench.own_vote();
            }
        };
        QCOMPARE(vote_on_closing([](Bench&, run::AcceptList&) {}), std::string("list"));
        QCOMPARE(vote_on_closing([](Bench&, run::AcceptList& list) { list.committee = ids_of({1}); }),
                 std::string("nil"));
        // Its table is what this member has summed up itself.
        QCOMPARE(vote_on_closing([](Bench&, run::AcceptList& list) { list.table->size += 1; }), std::string("nil"));
        QCOMPARE(
            vote_on_closing([](Bench& bench, run::AcceptList& list) { list.entries = bench.good_list(9.0F).entries; }),
            std::string("nil"));
        // It may hold what members have measured of its base, but for newcomers.
        const auto measured_by = [&](std::uint8_t number) {
            return vote_on_closing([number](Bench& bench, run::AcceptList& list) {
                const identity::Identity key = key_of(number);
                const run::MeasuredLoss loss{list.round, 3'000'000, bench.context.manifest.tokens_measured()};
                list.measured = run::Measured{loss.round, loss.tokens, {{key.id(), loss.loss, {}}}};
                list.measured->losses[0].signature =
                    key.sign(run::domain_of(run::MessageKind::loss), run::signed_bytes(bench.context.run, loss));
            });
        };
        QCOMPARE(measured_by(2), std::string("list"));
        QCOMPARE(measured_by(20), std::string("nil"));
    }

    /// An offer that came before the list is held all the same.
    void a_proposal_names_nobody_whom_the_last_list_suspends() {
        run::Manifest manifest = manifest_of_four(50);
        manifest.recipe.measuring.jury = 0.03;
        for (std::size_t turn = 0; turn < 4; ++turn) {
            Bench bench(manifest, turn);
            go_on_without(bench, key_of(5).id());
            if (!bench.ballots->proposes()) continue;
            for (const std::uint8_t number : {std::uint8_t{5}, std::uint8_t{8}}) {
                const run::ContributionMessage message{RoundId{1}, bench.keeper.digest(), payload_named(number), {64}};
                QCOMPARE(bench.machine.contribution(key_of(number).id(), message, {}), Verdict::accepted);
                (void)bench.machine.payload_held(message.payload.root, key_of(number).id());
            }
            bench.ballots->reconsider();
            const run::AcceptList list = bench.own_list();
            QCOMPARE(list.entries.size(), std::size_t{1});
            QCOMPARE(list.entries[0].peer, key_of(8).id());
            return;
        }
        QFAIL("it is never this member's turn");
    }

    void a_list_says_the_median_norm_of_those_who_are_known_and_no_other_gets_a_vote() {
        run::Manifest manifest = manifest_of_four(50);
        manifest.recipe.strangers.newcomer_rms = 0.01;
        for (const double off : {0.0, 1.0}) {
            Bench bench(manifest, 3);
            run::AcceptList list = bench.good_list();
            list.bounds->norm = known_norm(bench) + off;
            (void)bench.hear(bench.proposal(list));
            QCOMPARE(bench.own_vote(), std::string(off == 0 ? "list" : "nil"));
        }
        Bench own(manifest, 0);
        for (const std::uint8_t who : {std::uint8_t{2}, std::uint8_t{5}}) {
            const Bench::Made made = own.contribution(who, who == 2 ? 1.0F : 9.0F);
            const run::ContributionMessage message{RoundId{0}, own.keeper.digest(), made.payload->ref, {64}};
            QCOMPARE(own.machine.contribution(key_of(who).id(), message, {}), Verdict::accepted);
            own.deliver(made);
            (void)own.machine.payload_held(made.payload->ref.root, made.payload->author);
        }
        own.ballots->decide();
        const run::AcceptList list = own.own_list();
        QVERIFY(list.bounds);
        QCOMPARE(list.bounds->norm, known_norm(own));
        for (const run::Accepted& entry : list.entries) QCOMPARE(entry.vouched, entry.peer == key_of(2).id());
        QCOMPARE(own.own_vote(), std::string("list"));
    }

    void a_change_of_density_that_ones_own_exchange_contradicts_gets_no_vote_data() {
        QTest::addColumn<int>("links");
        QTest::addColumn<bool>("rises");
        QTest::addColumn<bool>("falls");
        QTest::newRow("fast") << static_cast<int>(Links::fast) << true << false;
        QTest::newRow("slow") << static_cast<int>(Links::slow) << false << true;
        QTest::newRow("not seen") << static_cast<int>(Links::unseen) << true << true;
    }
    void a_change_of_density_that_ones_own_exchange_contradicts_gets_no_vote() {
        QFETCH(int, links);
        QFETCH(bool, rises);
        QFETCH(bool, falls);
        const std::uint32_t k = Fixture::manifest_of().recipe.k;
        const auto seen = static_cast<Links>(links);
        QCOMPARE(vote_on_density({2 * k}, 4 * k, seen), std::string(rises ? "list" : "nil"));
        QCOMPARE(vote_on_density({2 * k}, k, seen), std::string(falls ? "list" : "nil"));
        QCOMPARE(vote_on_density({2 * k}, 2 * k, seen), std::string("list"));
    }

    /// A payload that is on its way here is waited for, and has not taken too long yet.
    void a_rise_is_judged_once_its_payloads_are_here() {
        Bench bench;
        const Bench::Made made = bench.contribution(5, 1.0F);
        const BlobId payload = made.payload->ref.root;
        bench.exchange.closed(bench.context.now());
        bench.exchange.announced(key_of(5).id(), payload);
        run::AcceptList list = bench.unsigned_list_of({made.entry});
        list.k = 2 * bench.context.manifest.recipe.k;
        (void)bench.hear(bench.proposal(list));
        QCOMPARE(bench.own_vote(), std::string("none"));
        bench.exchange.arrived(payload, bench.context.now());
        bench.deliver(made);
        QCOMPARE(bench.own_vote(), std::string("list"));
    }

    void a_rise_soon_after_a_fall_gets_no_vote() {
        const std::uint32_t k = Fixture::manifest_of().recipe.k;
        QCOMPARE(vote_on_density({2 * k, k}, 2 * k, Links::fast), std::string("nil"));
        QCOMPARE(vote_on_density({2 * k, k}, k, Links::fast), std::string("list"));
    }

    void later_views_of_a_round_leave_density_as_it_is() {
        const std::uint32_t k = Fixture::manifest_of().recipe.k;
        for (const std::uint32_t turn : {0U, 1U}) {
            Bench bench(turn);
            const Bench::Made made = bench.contribution(5, 1.0F);
            const run::ContributionMessage message{RoundId{0}, bench.keeper.digest(), made.payload->ref, {64}};
            QCOMPARE(bench.machine.contribution(key_of(5).id(), message, {}), Verdict::accepted);
            (void)bench.machine.payload_held(made.payload->ref.root, made.payload->author);
            see(bench, Links::fast);
            for (std::uint32_t view = 0; view < turn; ++view) {
                bench.swarm.sent.clear();
                for (const std::uint8_t who : turns()) {
                    if (who != turns()[turn]) (void)bench.hear(bench.vote(who, Step::precommit, std::nullopt, view));
                }
                bench.tick_after(Duration{1'000} + view * Duration{500});
            }
            bench.ballots->reconsider();
            QCOMPARE(bench.own_proposals().size(), std::size_t{1});
            QCOMPARE(bench.own_list().k, turn == 0 ? 2 * k : k);
        }
    }
};

QTEST_APPLESS_MAIN(PeerProposalsTest)
#include "test_peer_proposals.moc"
