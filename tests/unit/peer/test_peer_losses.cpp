// What members have measured: whom this member hears, who measures, and what of it a list takes.
#include <QTest>

#include "core/peer/jury/losses.h"
#include "tests/unit/peer/peer_fixture.h"

using namespace potluck;
using namespace potluck::peer;
using run::Verdict;

namespace {

/// A run of one seat, key 1's; keys 2 to 9 are on its allow list. This member is key 4.
struct Bench : Fixture {
    explicit Bench(std::uint8_t number = 4) : Fixture(manifest_of_curve(), number) {}
    static run::Manifest manifest_of_curve() {
        run::Manifest manifest = manifest_of();
        for (std::uint8_t i = 2; i < 10; ++i) manifest.allowed.push_back(key_of(i).id());
        std::sort(manifest.allowed.begin(), manifest.allowed.end());
        manifest.recipe.total_rounds = 1'000;
        manifest.recipe.measuring.every = 10;
        manifest.recipe.probation_rounds = 3;
        manifest.validation.records = 10;
        return manifest;
    }
    void append(const run::AcceptList& list) { POTLUCK_CHECK(chain.append(committed(list, {1}), {}).ok()); }
    void reach(std::uint64_t height) {
        while (chain.height().value < height) append(unsigned_list_of({payload_of(1.0F).entry}));
    }
    [[nodiscard]] run::MeasuredLoss loss_of(std::uint64_t round, std::uint32_t loss = 3'000'000) const {
        return {{round}, loss, context.manifest.tokens_measured()};
    }
    [[nodiscard]] static identity::Signature signed_by_key(const identity::Identity& key,
                                                           const run::MeasuredLoss& loss) {
        return key.sign(run::domain_of(run::MessageKind::loss), run::signed_bytes(run_id(), loss));
    }
    Verdict receive(const identity::Identity& key, const run::MeasuredLoss& loss) {
        const Verdict verdict = losses.judge(key.id(), loss);
        if (verdict == Verdict::accepted)
            losses.take(context.envelope_signed_by(key.id(), loss, signed_by_key(key, loss)), loss);
        return verdict;
    }
    Verdict receive(std::uint8_t number, const run::MeasuredLoss& loss) { return receive(key_of(number), loss); }
    /// These volunteers are here.
    void meet(const std::vector<std::uint8_t>& numbers) {
        for (const std::uint8_t number : numbers) {
            run::StatusMessage status;
            status.sequence = 1;
            static_cast<void>(members.take(key_of(number).id(), status, Source::others, context.now()));
        }
    }
    Members members;
    Losses losses{{context, chain, members, disk}};
};

}  // namespace

class PeerLossesTest : public QObject {
    Q_OBJECT
private slots:
    void seats_and_members_past_their_probation_are_heard() {
        Bench bench;
        bench.reach(21);
        QCOMPARE(bench.receive(1, bench.loss_of(20)), Verdict::accepted);
        QCOMPARE(bench.receive(5, bench.loss_of(20)), Verdict::accepted);
        QCOMPARE(bench.losses.held({20}), std::size_t{2});
        // Said again, or something else of the same state.
        QCOMPARE(bench.receive(5, bench.loss_of(20)), Verdict::repeated);
        QCOMPARE(bench.receive(5, bench.loss_of(20, 9)), Verdict::repeated);
        run::MeasuredLoss other = bench.loss_of(20);
        ++other.tokens;
        QCOMPARE(bench.receive(6, other), Verdict::malformed);
        run::Manifest open = Bench::manifest_of_curve();
        open.allowed.clear();
        struct Open : Fixture {
            explicit Open(run::Manifest manifest) : Fixture(std::move(manifest), 4) {}
            Members members;
            Losses losses{{context, chain, members, disk}};
        } strangers(open);
        const run::MeasuredLoss first = bench.loss_of(0);
        QCOMPARE(strangers.losses.judge(key_of(5).id(), first), Verdict::wrong_author);
        QCOMPARE(strangers.losses.judge(key_of(1).id(), first), Verdict::accepted);
        run::Manifest without = open;
        without.recipe.measuring.every = 0;
        Open none(without);
        QCOMPARE(none.losses.judge(key_of(1).id(), first), Verdict::not_allowed);
    }

    void a_loss_counts_for_nine_rounds_and_a_little_ahead() {
        Bench bench;
        bench.reach(20 - loss_rounds_ahead - 1);
        QCOMPARE(bench.receive(5, bench.loss_of(20)), Verdict::stale);
        bench.reach(20 - loss_rounds_ahead);
        QCOMPARE(bench.receive(5, bench.loss_of(20)), Verdict::accepted);
        QCOMPARE(bench.receive(6, bench.loss_of(19)), Verdict::stale);
        bench.reach(20 + run::measured_within);
        QCOMPARE(bench.receive(6, bench.loss_of(20)), Verdict::accepted);
        bench.losses.settle();
        QCOMPARE(bench.losses.held({20}), std::size_t{2});
        bench.reach(21 + run::measured_within);
        QCOMPARE(bench.receive(7, bench.loss_of(20)), Verdict::stale);
        bench.losses.settle();
        QCOMPARE(bench.losses.held({20}), std::size_t{0});
    }

    /// However many keys are past their probation, so many losses of a state are held, the seats' among them.
    void a_flood_of_losses_is_bounded_and_seats_have_room() {
        run::Manifest manifest = Bench::manifest_of_curve();
        std::vector<identity::Identity> crowd;
        for (std::uint8_t i = 0; i < 60; ++i) {
            std::array<std::byte, 32> seed{};
            seed[0] = std::byte{7};
            seed[1] = static_cast<std::byte>(i);
            crowd.push_back(identity::Identity::from_seed(seed));
            manifest.allowed.push_back(crowd.back().id());
        }
        std::sort(manifest.allowed.begin(), manifest.allowed.end());
        struct Crowd : Fixture {
            explicit Crowd(run::Manifest run_manifest) : Fixture(std::move(run_manifest), 4) {}
            Members members;
            Losses losses{{context, chain, members, disk}};
        } bench(manifest);
        const run::MeasuredLoss loss{{0}, 5, bench.context.manifest.tokens_measured()};
        std::size_t full = 0;
        for (const identity::Identity& key : crowd) {
            const Verdict verdict = bench.losses.judge(key.id(), loss);
            if (verdict == Verdict::no_room) {
                ++full;
                continue;
            }
            QCOMPARE(verdict, Verdict::accepted);
            bench.losses.take(bench.context.envelope_signed_by(key.id(), loss, Bench::signed_by_key(key, loss)), loss);
            QVERIFY(bench.losses.held({0}) <= losses_of_state_max);
        }
        QVERIFY(full > 0);
        QCOMPARE(bench.losses.held({0}), losses_of_state_max);
        QCOMPARE(bench.losses.judge(key_of(1).id(), loss), Verdict::accepted);
        bench.losses.take(bench.context.envelope_signed_by(key_of(1).id(), loss, {}), loss);
        QCOMPARE(bench.losses.held({0}), losses_of_state_max);
        QCOMPARE(bench.losses.judge(key_of(1).id(), loss), Verdict::repeated);
    }

    void a_list_takes_at_most_seven_seats_first() {
        Bench bench;
        bench.reach(20);
        for (std::uint8_t number = 1; number < 10; ++number) {
            if (number != 4) QCOMPARE(bench.receive(number, bench.loss_of(20, number)), Verdict::accepted);
        }
        QVERIFY(!bench.losses.to_propose());  // L[20] leads to another state
        bench.reach(21);
        const auto due = bench.losses.to_propose();
        QVERIFY(due && due->round == RoundId{20});
        QCOMPARE(due->losses.size(), run::losses_per_list_max);
        bool has_seat = false;
        for (std::size_t i = 0; i < due->losses.size(); ++i) {
            has_seat = has_seat || due->losses[i].member == key_of(1).id();
            QVERIFY(i == 0 || due->losses[i - 1].member < due->losses[i].member);
        }
        QVERIFY(has_seat);
        // The list is one that everybody takes, and then the curve has its point.
        run::AcceptList list = bench.unsigned_list_of({bench.payload_of(1.0F).entry});
        list.measured = *due;
        QVERIFY(bench.losses.are_established(list));
        CheckedList checked;
        QCOMPARE(bench.chain.read(list.encode(), bench.chain.head(), bench.chain.rules(), checked), Verdict::accepted);
        run::AcceptList forged = list;
        forged.measured->losses[0].loss += 1;
        QCOMPARE(bench.chain.read(forged.encode(), bench.chain.head(), bench.chain.rules(), checked),
                 Verdict::bad_signature);
        forged = list;
        ++forged.measured->tokens;
        QCOMPARE(bench.chain.read(forged.encode(), bench.chain.head(), bench.chain.rules(), checked), Verdict::absurd);
        bench.append(list);
        bench.losses.settle();
        QCOMPARE(bench.losses.held({20}), std::size_t{0});
        QCOMPARE(bench.chain.rules().curve.points.size(), std::size_t{1});
        // A restart reads it again, and a retraction takes it back.
        const run::LossCurve curve = bench.chain.rules().curve;
        bench.chain.load();
        QVERIFY(bench.chain.rules().curve == curve);
        QVERIFY(bench.ledger.losses(bench.context.run) == curve);
        QVERIFY(bench.chain.retract(RoundId{21}).ok());
        QVERIFY(bench.chain.rules().curve.points.empty());
        QVERIFY(bench.ledger.losses(bench.context.run).points.empty());
    }

    void a_list_waits_two_rounds_for_losses_that_are_still_to_come() {
        Bench bench;
        bench.meet({5, 6});
        bench.reach(21);
        QCOMPARE(bench.receive(5, bench.loss_of(20)), Verdict::accepted);
        QVERIFY(!bench.losses.to_propose());
        bench.reach(20 + rounds_to_gather);
        QVERIFY(!bench.losses.to_propose());
        bench.reach(21 + rounds_to_gather);
        QCOMPARE(bench.losses.to_propose()->losses.size(), std::size_t{1});
        Bench quick;
        quick.meet({5, 6});
        quick.reach(21);
        quick.losses.sign({20}, 3.0);
        QCOMPARE(quick.receive(5, quick.loss_of(20)), Verdict::accepted);
        QCOMPARE(quick.receive(6, quick.loss_of(20)), Verdict::accepted);
        QCOMPARE(quick.losses.to_propose()->losses.size(), std::size_t{3});
    }

    void losses_of_newcomers_make_a_list_invalid() {
        Bench bench;
        run::AcceptList list = bench.unsigned_list_of({bench.payload_of(1.0F).entry});
        QVERIFY(bench.losses.are_established(list));
        list.measured = run::Measured{{0}, 8, {{key_of(5).id(), 5, {}}}};
        QVERIFY(bench.losses.are_established(list));
        PeerId stranger;
        stranger.bytes.fill(std::byte{0x77});
        list.measured->losses[0].member = stranger;
        QVERIFY(!bench.losses.are_established(list));
        list.measured->losses[0].certificate = {key_of(5).id(), {}};
        QVERIFY(bench.losses.are_established(list));
    }

    /// Of a run whose only seat has no trainer a few others have the lot, and all know who.
    void seats_and_the_lowest_lots_measure() {
        Bench seat(1);
        seat.meet({2, 3, 4, 5, 6, 7, 8, 9});
        seat.commit(0, 0.5F);
        QVERIFY(seat.losses.due() == RoundId{0});
        std::size_t drawn = 0;
        for (std::uint8_t number = 2; number < 10; ++number) {
            Bench bench(number);
            std::vector<std::uint8_t> others{1, 2, 3, 4, 5, 6, 7, 8, 9};
            std::erase(others, number);
            bench.meet(others);
            QVERIFY(!bench.losses.due());  // the state is not here
            bench.commit(0, 0.5F);
            drawn += bench.losses.due() ? 1 : 0;
        }
        QCOMPARE(drawn, measurers_by_lot);
        seat.losses.sign({0}, 3.0);
        QVERIFY(!seat.losses.due());
        QCOMPARE(seat.losses.held({0}), std::size_t{1});
        QCOMPARE(seat.swarm.sent.size(), std::size_t{1});
    }

    void own_losses_are_said_again_and_all_are_told_to_who_joins() {
        Bench bench;
        bench.reach(21);
        bench.losses.sign({20}, 3.0);
        bench.losses.sign({20}, std::nan(""));
        QCOMPARE(bench.swarm.sent.size(), std::size_t{1});
        QCOMPARE(bench.receive(5, bench.loss_of(20)), Verdict::accepted);
        bench.losses.repeat();
        QCOMPARE(bench.swarm.sent.size(), std::size_t{2});
        bench.losses.tell({key_of(7).id()});
        QCOMPARE(bench.swarm.sent_to.size(), std::size_t{2});
    }
};

QTEST_APPLESS_MAIN(PeerLossesTest)
#include "test_peer_losses.moc"
