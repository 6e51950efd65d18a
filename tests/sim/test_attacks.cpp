// Members that lie in every way a message can: the run goes on, the honest agree, the model gets what they trained, and
// the liar gets no credit. Which line stops which forgery is in test_forgeries.cpp.
#include <QTest>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "core/base/check.h"
#include "core/base/sha256.h"
#include "tests/sim/attacker.h"
#include "tests/sim/checks.h"
#include "tests/sim/scenario.h"
#include "tests/sim/seeds.h"
#include "tests/sim/stranger.h"

using namespace potluck;
using namespace potluck::sim;

namespace {

std::uint64_t count_of(World& world, std::size_t member, run::Verdict verdict) {
    for (const auto& [kind, count] : world.peer(member).verdicts()) {
        if (kind == verdict) return count;
    }
    return 0;
}

WorldPlan besieged(std::size_t backbones) { return {.backbones = backbones, .volunteers = 4, .rounds = 4}; }

/// Contributions that come before the honest have loaded the model end round 0 without them.
std::uint64_t rounds_forgiven(Lie lie) { return lie == Lie::broken_payload || lie == Lie::withheld_payload ? 1 : 0; }

/// What the honest must have of a finished run: every round of every volunteer, in the books and in the model.
std::string harm_done(World& world, std::uint64_t forgiven) {
    for (std::size_t i = 0; i < world.size(); ++i) {
        if (world.home(i).backbone) continue;
        const ledger::Credit credit = world.home(0).ledger.credit_of(world.run(), world.home(i).id());
        if (credit.rounds + forgiven < world.manifest().recipe.total_rounds) {
            return "honest member " + std::to_string(i) + " has " + std::to_string(credit.rounds) + " rounds";
        }
    }
    const RoundId last{world.manifest().recipe.total_rounds};
    const double before = FakeTrainer::distance(world.initial_state());
    const double after = FakeTrainer::distance(world.home(0).disk.state(last).parameters);
    if (after > 0.9 * before) return "the model came no nearer: " + std::to_string(after / before);
    return {};
}

std::string attacked(std::uint64_t seed, Lie lie, std::size_t attackers, std::size_t backbones) {
    World world(seed, besieged(backbones));
    world.start_all();
    std::vector<std::unique_ptr<Attacker>> hostile;
    for (std::size_t i = 0; i < attackers; ++i) {
        hostile.push_back(std::make_unique<Attacker>(world, lie, static_cast<std::uint8_t>(i)));
    }
    // With a member that never contributes each round lasts window + collect, and a little.
    const std::string wrong = finish_run(world, Duration{4 * 16'000});
    if (!wrong.empty()) return wrong;
    for (const auto& one : hostile) {
        if (world.home(0).ledger.credit_of(world.run(), one->id()).tokens.value > 0) return "the liar was credited";
    }
    return harm_done(world, rounds_forgiven(lie));
}

/// Verdicts of member 0 after twenty seconds beside one attacker.
std::map<run::Verdict, std::uint64_t> verdicts_beside(Lie lie) {
    World world(3, {});
    world.start_all();
    Attacker attacker(world, lie, 1);
    world.run_for(Duration{20'000});
    std::map<run::Verdict, std::uint64_t> counts;
    for (const auto& [verdict, count] : world.peer(0).verdicts()) counts[verdict] = count;
    return counts;
}

/// Strangers whose keys come before those of all members: of equal claims, theirs are seen first.
std::vector<std::unique_ptr<Stranger>> strangers_before_all(World& world, std::size_t count) {
    std::vector<std::unique_ptr<Stranger>> strangers;
    for (int number = 0; number < 256 && strangers.size() < count; ++number) {
        identity::Identity key = hostile_key(static_cast<std::uint8_t>(number));
        bool first = true;
        for (std::size_t i = 0; i < world.size(); ++i) first = first && key.id() < world.home(i).id();
        if (first) strangers.push_back(std::make_unique<Stranger>(world, std::move(key)));
    }
    POTLUCK_CHECK(strangers.size() == count);
    return strangers;
}

/// Runs until `done` while each of `liars` tells `member` the same lie once a second: as often as others tell their
/// status, because more is a flood.
bool lied_to_until(World& world, const std::vector<std::unique_ptr<Stranger>>& liars, std::size_t member,
                   run::StatusMessage& lie, const std::function<bool()>& done, Duration limit) {
    TimePoint lies_at = world.now();
    const auto lie_and_look = [&] {
        if (world.now() >= lies_at) {
            lies_at = world.now() + Duration{1'000};
            ++lie.sequence;
            for (const auto& liar : liars) liar->send(member, lie);
        }
        return done();
    };
    return world.run_until(lie_and_look, limit);
}

/// Starts `member` where only `liars` are heard, so that their lies are there before anybody's truth. heal() ends it.
void start_among(World& world, const std::vector<std::unique_ptr<Stranger>>& liars, std::size_t member) {
    std::map<PeerId, int> groups{{world.home(member).id(), 1}};
    for (const auto& liar : liars) groups[liar->id()] = 1;
    world.network().split(groups);
    world.start(member);
}

run::StatusMessage own_status_of(World& world, std::size_t member) {
    const peer::PeerView view = world.peer(member).view();
    const auto self =
        std::find_if(view.members.begin(), view.members.end(), [](const auto& one) { return one.is_self; });
    return self->status;
}

}  // namespace

class AttacksTest : public QObject {
    Q_OBJECT
private slots:
    void liars_neither_stop_the_run_nor_earn_credit_data() {
        QTest::addColumn<int>("lie");
        for (const Lie lie : all_lies) {
            QTest::addRow("lie %d", static_cast<int>(lie)) << static_cast<int>(lie);
        }
    }
    void liars_neither_stop_the_run_nor_earn_credit() {
        QFETCH(int, lie);
        for (const std::uint64_t seed : seeds(3)) {
            const std::string wrong = attacked(seed, static_cast<Lie>(lie), 1 + seed % 3, seed % 2);
            QVERIFY2(wrong.empty(), ("seed " + std::to_string(seed) + ": " + wrong).c_str());
        }
    }

    /// Noise that decodes passes for work. It earns four medians at most, and a fifth of a list with all newcomers.
    void a_claim_of_2_to_the_40_tokens_is_capped() {
        for (const std::uint64_t seed : seeds(3)) {
            World world(seed, besieged(1));
            world.start_all();
            world.run_for(Duration{3'000});
            Attacker attacker(world, Lie::vast_claim, 1);
            const std::string wrong = finish_run(world, Duration{4 * 16'000});
            QVERIFY2(wrong.empty(), ("seed " + std::to_string(seed) + ": " + wrong).c_str());
            std::uint64_t honest = 0;
            for (std::size_t i = 1; i < world.size(); ++i) {
                const ledger::Credit credit = world.home(0).ledger.credit_of(world.run(), world.home(i).id());
                QCOMPARE(credit.rounds, 4U);
                honest += credit.tokens.value;
            }
            const ledger::Credit claimed = world.home(0).ledger.credit_of(world.run(), attacker.id());
            QVERIFY(claimed.rounds > 0);
            QVERIFY(claimed.tokens.value <= 2 * honest);
        }
    }

    void a_late_joiner_does_not_take_a_forged_checkpoint() {
        for (const std::uint64_t seed : seeds(4)) {
            World world(seed, {.volunteers = 3, .rounds = 12});
            for (std::size_t i = 0; i + 1 < world.size(); ++i) world.start(i);
            Attacker attacker(world, Lie::forged_checkpoint, 1);
            QVERIFY(world.run_until([&] { return world.all_at(7); }, Duration{300'000}));
            const std::size_t late = world.size() - 1;
            world.start(late);
            const auto in_step = [&] { return world.round_of(late) >= world.round_of(0); };
            QVERIFY(world.run_until(in_step, Duration{15'000}));
            QVERIFY(!attacker.forged_state().is_zero());
            QVERIFY(!world.home(late).folder.blobs.contains(attacker.forged_state()));
            const std::string wrong = finish_run(world, Duration{300'000});
            QVERIFY2(wrong.empty(), wrong.c_str());
            // The joiner did not compute what came before the true checkpoint.
            const DigestOrigins origins = digest_origins(world);
            QCOMPARE(origins.wrong, 0U);
            QVERIFY(origins.copied >= 5);
        }
    }

    /// A checkpoint's root is the chain's, and its info-hash is what somebody says.
    void a_late_joiner_is_not_kept_by_a_false_reference_data() {
        QTest::addColumn<bool>("host_is_there");
        QTest::addColumn<int>("patience");
        QTest::newRow("the host's reference is believed first") << true << 15'000;
        QTest::newRow("another's after twenty seconds without progress") << false << 45'000;
    }
    void a_late_joiner_is_not_kept_by_a_false_reference() {
        QFETCH(bool, host_is_there);
        QFETCH(int, patience);
        World world(5, {.volunteers = 4, .rounds = 40});
        const std::size_t late = world.size() - 1;
        for (std::size_t i = 0; i < late; ++i) world.start(i);
        QVERIFY(world.run_until([&] { return world.all_at(10); }, Duration{300'000}));
        if (!host_is_there) world.kill(0, Death::closes_sessions);
        const auto liar = strangers_before_all(world, 1);
        run::StatusMessage lie = own_status_of(world, 1);
        QVERIFY(lie.checkpoint.size > 0);
        lie.checkpoint.info_hash = sha256(as_bytes("nowhere"));
        start_among(world, liar, late);
        const auto heard_the_lie = [&] {
            const auto members = world.peer(late).view().members;
            return std::any_of(members.begin(), members.end(), [&](const peer::MemberView& one) {
                return one.id == liar[0]->id() && one.status.checkpoint == lie.checkpoint;
            });
        };
        QVERIFY(lied_to_until(world, liar, late, lie, heard_the_lie, Duration{5'000}));
        world.heal();
        const auto holds_a_state = [&] { return world.round_of(late) + 1 >= world.round_of(1); };
        QVERIFY(lied_to_until(world, liar, late, lie, holds_a_state, Duration{patience}));
    }

    void many_who_say_to_be_ahead_keep_no_late_joiner() {
        World world(6, {.volunteers = 4, .rounds = 400});  // more than they claim
        const std::size_t late = world.size() - 1;
        for (std::size_t i = 0; i < late; ++i) world.start(i);
        QVERIFY(world.run_until([&] { return world.all_at(10); }, Duration{300'000}));
        const auto liars = strangers_before_all(world, 24);
        run::StatusMessage lie = own_status_of(world, 1);
        lie.round.value += 300;
        std::size_t asked_in_vain = 0;
        world.network().on_send = [&](const PeerId&, const PeerId& to, const run::Envelope& envelope) {
            const bool is_liar =
                std::any_of(liars.begin(), liars.end(), [&](const auto& one) { return one->id() == to; });
            if (envelope.kind == run::MessageKind::history_request && is_liar) ++asked_in_vain;
        };
        start_among(world, liars, late);
        const auto asks_a_liar = [&] { return asked_in_vain > 0; };
        QVERIFY(lied_to_until(world, liars, late, lie, asks_a_liar, Duration{10'000}));
        world.heal();
        const auto is_in_step = [&] { return world.round_of(late) + 1 >= world.round_of(0); };
        QVERIFY(lied_to_until(world, liars, late, lie, is_in_step, Duration{12'000}));
    }

    void forgeries_are_counted_as_forged_or_not_allowed() {
        auto counts = verdicts_beside(Lie::forgery);
        // Every second a goodbye that is not the sender's own, and a contribution with another's signature.
        QVERIFY(counts[run::Verdict::not_allowed] >= 5);
        QVERIFY(counts[run::Verdict::bad_signature] >= 5);
        QCOMPARE(counts[run::Verdict::flood], 0U);
        QCOMPARE(counts[run::Verdict::bad_payload], 0U);
    }

    void replays_from_another_session_are_old_or_not_allowed() {
        auto counts = verdicts_beside(Lie::replay);
        QVERIFY(counts[run::Verdict::not_allowed] >= 1);
        QVERIFY(counts[run::Verdict::stale] + counts[run::Verdict::repeated] >= 15);
        QCOMPARE(counts[run::Verdict::bad_signature], 0U);
    }

    void a_flood_is_counted_as_a_flood() {
        auto counts = verdicts_beside(Lie::flood);
        QVERIFY(counts[run::Verdict::flood] >= 50);
        QCOMPARE(counts[run::Verdict::bad_signature], 0U);
        QCOMPARE(counts[run::Verdict::not_allowed], 0U);
    }

    void a_payload_that_does_not_decode_is_counted_as_bad() {
        auto counts = verdicts_beside(Lie::broken_payload);
        QVERIFY(counts[run::Verdict::bad_payload] >= 1);
        QCOMPARE(counts[run::Verdict::bad_signature], 0U);
        QCOMPARE(counts[run::Verdict::not_allowed], 0U);
    }

    void strangers_to_an_allow_list_are_not_heard() {
        World world(4, {.friends = true});
        world.start_all();
        Attacker stranger(world, Lie::silence, 1);
        world.run_for(Duration{10'000});
        QVERIFY(count_of(world, 0, run::Verdict::not_allowed) > 0);
        for (const peer::MemberView& member : world.peer(0).view().members) QVERIFY(member.id != stranger.id());
    }
};

QTEST_APPLESS_MAIN(AttacksTest)
#include "test_attacks.moc"
