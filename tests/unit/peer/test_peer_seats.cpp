// Who should sit in the committee, as one member sees it.
#include <QTest>

#include "core/peer/chain/seats.h"
#include "tests/unit/peer/peer_fixture.h"

using namespace potluck;
using namespace potluck::peer;

namespace {

constexpr std::uint32_t fit_rounds = 4;

/// A run of the host and, on its allow list, keys 2 to 5.
run::Manifest manifest_of_friends() {
    run::Manifest manifest = Fixture::manifest_of();
    manifest.recipe.fit_rounds = fit_rounds;
    manifest.allowed = ids_of({2, 3, 4, 5});
    return manifest;
}

/// The same with a first committee of four; key 5 is on the allow list.
run::Manifest manifest_of_four() {
    run::Manifest manifest = manifest_of_friends();
    manifest.backbones = {key_of(2).id(), key_of(3).id(), key_of(4).id()};
    return manifest;
}

struct Bench : Fixture {
    using Fixture::Fixture;

    void hear(std::uint8_t who, run::Phase phase = run::Phase::training, std::uint64_t behind = 0) {
        run::StatusMessage status;
        status.sequence = ++sequence;
        status.role = backbones.contains(who) ? run::Role::backbone : run::Role::volunteer;
        status.phase = phase;
        status.light = light.contains(who);
        status.round = RoundId{chain.height().value - std::min(behind, chain.height().value)};
        if (const auto owner = owners.find(who); owner != owners.end()) status.certificate = computer(who);
        POTLUCK_CHECK(members.take(key_of(who).id(), status, Source::itself, context.now()) == run::Verdict::accepted);
    }
    /// The certificate of `who`, which is another's computer.
    [[nodiscard]] run::DeviceCertificate computer(std::uint8_t who) const {
        return run::certify(key_of(owners.at(who)), key_of(who).id());
    }
    void lose(std::uint8_t who) { members.remove(key_of(who).id()); }
    /// A list in which the host and these members contribute.
    void append(const std::vector<std::uint8_t>& contributors) {
        std::vector<run::Accepted> entries;
        for (const std::uint8_t who : contributors) {
            const std::string text = std::to_string(who) + " " + std::to_string(chain.height().value);
            entries.push_back({key_of(who).id(), {merkle_root(as_bytes(text)), 10, run::BlobKind::plain, {}}, {64}});
            if (owners.contains(who)) entries.back().certificate = computer(who);
        }
        POTLUCK_CHECK(chain.append(list_of(entries), StateDigest{}).ok());
    }
    /// A list that brings this action of the host into force.
    void moderate(const run::HostAction& action) {
        run::AcceptList list = unsigned_list_of({});
        list.actions = {by_host(action)};
        POTLUCK_CHECK(chain.append(committed(list, {1}), StateDigest{}).ok());
    }
    /// Rounds in which these members are here, in step, and contribute.
    void play(std::uint64_t rounds, const std::vector<std::uint8_t>& who) {
        for (std::uint64_t round = 0; round < rounds; ++round) {
            for (const std::uint8_t one : who) hear(one);
            append(who);
            seats.count_round();
        }
    }

    Members members;
    Seats seats{context, chain, members};
    std::set<std::uint8_t> backbones;             // members that say they train nothing
    std::set<std::uint8_t> light;                 // members that say they take sums
    std::map<std::uint8_t, std::uint8_t> owners;  // members that are another's computers
    std::uint64_t sequence = 0;
};

}  // namespace

class PeerSeatsTest : public QObject {
    Q_OBJECT
private slots:
    void the_committee_grows_to_four_when_three_others_are_fit() {
        Bench bench(manifest_of_friends());
        bench.play(fit_rounds - 1, {2, 3, 4});
        QVERIFY(bench.seats.committee_to_propose() == ids_of({1}));
        bench.play(1, {2, 3, 4});
        QVERIFY(bench.seats.committee_to_propose() == ids_of({1, 2, 3, 4}));
        QVERIFY(bench.seats.accepts(ids_of({1, 2, 3, 4})));
    }

    void a_member_that_takes_sums_gets_a_seat_after_those_that_do_not() {
        for (const std::uint8_t slow : std::vector<std::uint8_t>{2, 3, 4, 5}) {
            Bench bench(manifest_of_friends());
            bench.light = {slow};
            bench.play(fit_rounds, {2, 3, 4, 5});
            std::vector<std::uint8_t> others{1, 2, 3, 4, 5};
            std::erase(others, slow);
            QVERIFY(bench.seats.committee_to_propose() == ids_of(others));
        }
    }

    void two_fit_members_are_too_few() {
        Bench bench(manifest_of_friends());
        bench.play(2 * fit_rounds, {2, 3});
        QVERIFY(bench.seats.committee_to_propose() == ids_of({1}));
    }

    void a_banned_member_loses_its_seat_at_once_and_gets_none() {
        Bench bench(manifest_of_four());
        bench.play(fit_rounds, {2, 3, 4, 5});
        QVERIFY(bench.seats.committee_to_propose() == ids_of({1, 2, 3, 4}));
        QVERIFY(!bench.seats.accepts(ids_of({1, 2, 3, 5})));
        bench.moderate(ban_of(4, 1));
        QVERIFY(bench.seats.committee_to_propose() == ids_of({1, 2, 3, 5}));
        QVERIFY(bench.seats.accepts(ids_of({1, 2, 3, 5})));
        bench.play(2 * fit_rounds, {2, 3, 4, 5});
        QVERIFY(bench.seats.committee_to_propose() == ids_of({1, 2, 3, 5}));
        bench.moderate(action_of(run::ActionKind::readmit, 4, 2));
        QVERIFY(bench.seats.committee_to_propose() == ids_of({1, 2, 3, 4}));
    }

    void whom_the_host_vouches_for_may_get_a_seat() {
        run::Manifest manifest = manifest_of_friends();
        manifest.allowed.clear();
        Bench bench(manifest);
        for (const std::uint8_t who : std::vector<std::uint8_t>{2, 3, 4}) {
            QVERIFY(bench.seats.committee_to_propose() == ids_of({1}));
            bench.moderate(action_of(run::ActionKind::allow, who, who - 1U));
            bench.play(fit_rounds, {2, 3, 4});
        }
        QVERIFY(bench.seats.committee_to_propose() == ids_of({1, 2, 3, 4}));
        QVERIFY(bench.seats.accepts(ids_of({1, 2, 3, 4})));
    }

    void strangers_get_no_seat_however_long_they_stay() {
        run::Manifest manifest = manifest_of_friends();
        manifest.allowed.clear();
        Bench bench(manifest);
        bench.play(5 * fit_rounds, {2, 3, 4});
        QVERIFY(bench.seats.committee_to_propose() == ids_of({1}));
        QVERIFY(!bench.seats.accepts(ids_of({1, 2, 3, 4})));
    }

    void the_committee_without_a_leaving_member_is_known_beforehand() {
        Bench bench(manifest_of_friends());
        bench.play(fit_rounds, {2});
        QVERIFY(bench.seats.committee_without_self() == ids_of({2}));
        QVERIFY(bench.seats.committee_to_propose() == ids_of({1}));  // it has not begun to leave
        bench.lose(2);
        QVERIFY(bench.seats.committee_without_self().empty());
        Bench four(manifest_of_four());
        four.play(fit_rounds, {2, 3, 4, 5});
        QVERIFY(four.seats.committee_without_self() == ids_of({2, 3, 4, 5}));
    }

    void strangers_would_not_decide_without_the_host() {
        run::Manifest manifest = manifest_of_friends();
        manifest.allowed.clear();
        Bench bench(manifest);
        bench.play(5 * fit_rounds, {2, 3, 4});
        QVERIFY(bench.seats.committee_without_self().empty());
        bench.moderate(action_of(run::ActionKind::allow, 3, 1));
        bench.play(1, {2, 3, 4});
        QVERIFY(bench.seats.committee_without_self() == ids_of({3}));
    }

    void an_absent_member_gets_no_seat() {
        Bench bench(manifest_of_friends());
        bench.play(fit_rounds, {2, 3, 4});
        bench.lose(4);
        QVERIFY(bench.seats.committee_to_propose() == ids_of({1}));
        QVERIFY(!bench.seats.accepts(ids_of({1, 2, 3, 4})));
        bench.hear(4);
        QVERIFY(bench.seats.accepts(ids_of({1, 2, 3, 4})));
    }

    void a_member_out_of_step_is_not_fit() {
        const auto seated_with = [](const std::function<void(Bench&)>& hear_four) {
            Bench bench(manifest_of_friends());
            for (std::uint32_t round = 0; round < fit_rounds; ++round) {
                for (const std::uint8_t who : {std::uint8_t{2}, std::uint8_t{3}}) bench.hear(who);
                bench.append({2, 3, 4});
                hear_four(bench);
                bench.seats.count_round();
            }
            return bench.seats.committee_to_propose().size();
        };
        QCOMPARE(seated_with([](Bench& bench) { bench.hear(4); }), std::size_t{4});
        QCOMPARE(seated_with([](Bench& bench) { bench.hear(4, run::Phase::training, 1); }), std::size_t{4});
        QCOMPARE(seated_with([](Bench& bench) { bench.hear(4, run::Phase::training, 2); }), std::size_t{1});
        QCOMPARE(seated_with([](Bench& bench) { bench.hear(4, run::Phase::joining); }), std::size_t{1});
        QCOMPARE(seated_with([](Bench& bench) { bench.hear(4, run::Phase::repairing); }), std::size_t{1});
    }

    void a_volunteer_is_measured_by_its_contributions_and_a_backbone_by_being_there() {
        const auto seated = [](bool backbone) {
            Bench bench(manifest_of_friends());
            if (backbone) bench.backbones = {4};
            for (std::uint32_t round = 0; round < fit_rounds; ++round) {
                for (const std::uint8_t who : {std::uint8_t{2}, std::uint8_t{3}, std::uint8_t{4}}) bench.hear(who);
                bench.append({2, 3});
                bench.seats.count_round();
            }
            return bench.seats.committee_to_propose().size();
        };
        QCOMPARE(seated(false), std::size_t{1});
        QCOMPARE(seated(true), std::size_t{4});
    }

    void backbones_are_fit_after_as_many_rounds_as_volunteers() {
        Bench bench(manifest_of_friends());
        bench.backbones = {2, 3, 4};
        bench.play(fit_rounds - 1, {2, 3, 4});
        QVERIFY(bench.seats.committee_to_propose() == ids_of({1}));
        bench.play(1, {2, 3, 4});
        QVERIFY(bench.seats.committee_to_propose() == ids_of({1, 2, 3, 4}));
    }

    void only_the_last_rounds_count() {
        Bench bench(manifest_of_friends());
        // Of all rounds, one missed would be few enough.
        constexpr std::uint32_t rounds_that_allow_one = 1000 / (1000 - run::in_step_fit_min);
        bench.play(rounds_that_allow_one, {2, 3, 4});
        QVERIFY(bench.seats.committee_to_propose() == ids_of({1, 2, 3, 4}));
        bench.lose(4);
        bench.play(1, {2, 3});
        bench.hear(4);
        QVERIFY(bench.seats.committee_to_propose() == ids_of({1}));
    }

    void a_member_may_miss_one_round_of_twenty() {
        for (const std::uint64_t missed : {1U, 2U}) {
            run::Manifest manifest = manifest_of_friends();
            manifest.recipe.fit_rounds = 20;
            Bench bench(manifest);
            bench.backbones = {4};
            bench.play(20 - missed, {2, 3, 4});
            bench.lose(4);
            bench.play(missed, {2, 3});
            bench.hear(4);
            QCOMPARE(bench.seats.committee_to_propose().size(), std::size_t{missed == 1 ? 4U : 1U});
        }
    }

    void a_member_whose_votes_arrive_through_others_is_in_step() {
        for (const bool votes : {false, true}) {
            Bench bench(manifest_of_friends());
            bench.backbones = {4};
            for (std::uint32_t round = 0; round < fit_rounds; ++round) {
                if (votes) bench.seats.heard(key_of(4).id());
                bench.play(1, {2, 3});
            }
            bench.hear(4);
            QCOMPARE(bench.seats.committee_to_propose().size(), std::size_t{votes ? 4U : 1U});
        }
    }

    void an_untried_member_that_was_in_step_comes_before_one_that_was_not() {
        for (const std::uint8_t steady : {std::uint8_t{5}, std::uint8_t{6}}) {
            const auto late = static_cast<std::uint8_t>(11 - steady);
            run::Manifest manifest = manifest_of_four();
            manifest.allowed = ids_of({2, 3, 4, 5, 6});
            Bench bench(manifest);
            for (int round = 0; round < 2; ++round) {
                for (const std::uint8_t who : std::vector<std::uint8_t>{2, 3, 4, steady}) bench.hear(who);
                bench.append({2, 3, 4});
                bench.hear(late, run::Phase::training, 2);
                bench.seats.count_round();
            }
            bench.hear(4, run::Phase::leaving);
            QVERIFY(bench.seats.committee_to_propose() == ids_of({1, 2, 3, steady}));
        }
    }

    void the_committee_as_it_is_is_always_accepted() {
        Bench bench(manifest_of_four());
        QVERIFY(bench.seats.accepts(ids_of({1, 2, 3, 4})));
        QVERIFY(bench.seats.committee_to_propose() == ids_of({1, 2, 3, 4}));
    }

    void only_sizes_that_stand_liars_are_accepted() {
        run::Manifest manifest = manifest_of_friends();
        manifest.allowed = ids_of({2, 3, 4, 5, 6, 7, 8});
        Bench bench(manifest);
        for (std::uint8_t who = 2; who < 9; ++who) bench.hear(who);
        std::vector<std::uint8_t> numbers{1};
        for (std::uint8_t who = 2; who < 8; ++who) {
            numbers.push_back(who);
            QCOMPARE(bench.seats.accepts(ids_of(numbers)), numbers.size() == 4 || numbers.size() == 7);
        }
    }

    void a_long_silent_seat_is_replaced() {
        Bench bench(manifest_of_four());
        bench.play(fit_rounds, {2, 3, 4, 5});
        bench.lose(4);
        bench.play(run::silent_rounds_max - 1, {2, 3, 5});
        QVERIFY(bench.seats.committee_to_propose() == ids_of({1, 2, 3, 4}));
        bench.play(1, {2, 3, 5});
        QVERIFY(bench.seats.committee_to_propose() == ids_of({1, 2, 3, 5}));
        QVERIFY(bench.seats.accepts(ids_of({1, 2, 3, 5})));
    }

    void a_seat_whose_votes_arrive_through_others_is_not_silent() {
        Bench bench(manifest_of_four());
        bench.play(fit_rounds, {2, 3, 4, 5});
        bench.lose(4);
        for (std::uint32_t round = 0; round < run::silent_rounds_max; ++round) {
            bench.seats.heard(key_of(4).id());
            bench.play(1, {2, 3, 5});
        }
        QVERIFY(bench.seats.committee_to_propose() == ids_of({1, 2, 3, 4}));
        QVERIFY(!bench.seats.accepts(ids_of({1, 2, 3, 5})));
        bench.play(run::silent_rounds_max, {2, 3, 5});
        QVERIFY(bench.seats.committee_to_propose() == ids_of({1, 2, 3, 5}));
    }

    void a_present_member_keeps_its_seat() {
        Bench bench(manifest_of_four());
        bench.play(fit_rounds, {2, 3, 4, 5});
        QVERIFY(!bench.seats.accepts(ids_of({1, 2, 3, 5})));
        QVERIFY(!bench.seats.accepts(ids_of({1})));
        QVERIFY(!bench.seats.accepts(ids_of({5})));
    }

    void a_moment_of_silence_costs_no_seat() {
        Bench bench(manifest_of_four());
        bench.play(fit_rounds, {2, 3, 4, 5});
        bench.lose(4);
        for (std::uint32_t round = 0; round < silent_rounds_excused; ++round) {
            QVERIFY(!bench.seats.accepts(ids_of({1, 2, 3, 5})));
            QVERIFY(!bench.seats.accepts(ids_of({2})));
            bench.play(1, {2, 3, 5});
        }
        QVERIFY(bench.seats.accepts(ids_of({1, 2, 3, 5})));
        QVERIFY(!bench.seats.accepts(ids_of({2})));  // a whole one can be had
        bench.hear(4);
        QVERIFY(!bench.seats.accepts(ids_of({1, 2, 3, 5})));
    }

    void a_smaller_committee_is_refused_however_many_seats_are_away() {
        Bench bench(manifest_of_four());
        bench.play(fit_rounds, {2, 3, 4});
        std::vector<std::uint8_t> others{2, 3, 4};
        while (!others.empty()) {
            bench.lose(others.back());
            others.pop_back();
            // Rounds go on by what somebody without a seat contributes.
            bench.play(run::silent_rounds_max + 1, others.empty() ? std::vector<std::uint8_t>{1} : others);
            QVERIFY(bench.seats.committee_to_propose() == ids_of({1, 2, 3, 4}));
            for (std::uint8_t who = 1; who < 5; ++who) QVERIFY(!bench.seats.accepts(ids_of({who})));
        }
    }

    void a_member_that_has_counted_no_round_changes_nothing() {
        Bench bench(manifest_of_four());
        bench.hear(2);
        QVERIFY(bench.seats.committee_to_propose() == ids_of({1, 2, 3, 4}));
        bench.hear(5);
        bench.moderate(ban_of(4, 1));
        QVERIFY(bench.seats.committee_to_propose() == ids_of({1, 2, 3, 4}));
        bench.seats.count_round();
        QVERIFY(bench.seats.committee_to_propose() == ids_of({1, 2, 3, 5}));
    }

    void only_silence_in_a_row_counts() {
        Bench bench(manifest_of_four());
        bench.play(fit_rounds, {2, 3, 4, 5});
        for (int time = 0; time < 3; ++time) {
            bench.lose(4);
            bench.play(silent_rounds_excused - 1, {2, 3, 5});
            QVERIFY(!bench.seats.accepts(ids_of({1, 2, 3, 5})));
            bench.play(1, {2, 3, 4, 5});
        }
    }

    void the_convicted_leave_and_never_return() {
        Bench bench(manifest_of_four());
        bench.play(fit_rounds, {2, 3, 4, 5});
        bench.seats.convict(key_of(4).id(), key_of(4).id());
        QVERIFY(bench.seats.committee_to_propose() == ids_of({1, 2, 3, 5}));
        QVERIFY(bench.seats.accepts(ids_of({1, 2, 3, 5})));
        QVERIFY(!bench.seats.accepts(ids_of({1, 2, 4, 5})));

        Bench without(manifest_of_friends());
        without.play(fit_rounds, {2, 3, 4});
        without.seats.convict(key_of(4).id(), key_of(4).id());
        QVERIFY(without.seats.committee_to_propose() == ids_of({1}));
        QVERIFY(!without.seats.accepts(ids_of({1, 2, 3, 4})));
    }

    void a_trusted_persons_computers_are_fit_one_by_one_and_one_sits() {
        Bench bench(manifest_of_friends());
        bench.owners = {{12, 2}, {13, 3}, {22, 2}};
        // Key 4 itself, a computer of 3, and two of 2, whose own keys are nowhere.
        bench.play(fit_rounds, {4, 12, 13, 22});
        const std::vector<PeerId> next = bench.seats.committee_to_propose();
        QCOMPARE(next.size(), std::size_t{4});
        QVERIFY(next == ids_of({1, 4, 12, 13}) || next == ids_of({1, 4, 13, 22}));
        QVERIFY(bench.seats.accepts(next));
        const run::Owners owners = bench.seats.owners_of(next);
        QCOMPARE(owners.size(), std::size_t{2});
        QVERIFY(run::certificate_in(owners, key_of(13).id()) == bench.computer(13));

        Bench fewer(manifest_of_friends());
        fewer.owners = {{12, 2}, {22, 2}};
        fewer.play(fit_rounds, {4, 12, 22});
        QVERIFY(fewer.seats.committee_to_propose() == ids_of({1}));
        Bench strangers(manifest_of_friends());
        strangers.owners = {{12, 7}, {13, 8}, {22, 9}};  // of persons whom the host does not trust
        strangers.play(fit_rounds, {12, 13, 22});
        QVERIFY(strangers.seats.committee_to_propose() == ids_of({1}));
        QVERIFY(!strangers.seats.accepts(ids_of({1, 12, 13, 22})));
    }

    void a_conviction_is_for_all_computers_of_a_person() {
        Bench bench(manifest_of_friends());
        bench.owners = {{12, 2}, {22, 2}, {13, 3}, {14, 4}, {15, 5}};
        bench.play(fit_rounds, {12, 13, 14});
        bench.seats.convict(key_of(12).id(), key_of(2).id());
        bench.play(fit_rounds, {13, 14, 22});
        QVERIFY(bench.seats.committee_to_propose() == ids_of({1}));
        QVERIFY(!bench.seats.accepts(ids_of({1, 13, 14, 22})));
        bench.play(fit_rounds, {13, 14, 15});
        QVERIFY(bench.seats.committee_to_propose() == ids_of({1, 13, 14, 15}));
    }

    void a_persons_key_stands_for_the_computer_that_is_here() {
        Bench bench(manifest_of_friends());
        bench.owners = {{12, 2}};
        bench.hear(12);
        bench.hear(3);
        QVERIFY(bench.seats.device_of(key_of(2).id()) == key_of(12).id());
        QVERIFY(bench.seats.device_of(key_of(12).id()) == key_of(12).id());
        QVERIFY(bench.seats.device_of(key_of(3).id()) == key_of(3).id());
        QVERIFY(bench.seats.device_of(key_of(4).id()) == key_of(4).id());
    }

    void a_leaving_member_hands_its_seat_to_the_fittest() {
        Bench bench(manifest_of_four());
        bench.play(fit_rounds, {2, 3, 4, 5});
        QVERIFY(!bench.seats.hand_over_due());
        QVERIFY(!bench.seats.hands_over(ids_of({1, 2, 3, 5})));
        bench.hear(4, run::Phase::leaving);
        QVERIFY(bench.seats.hand_over_due());
        QVERIFY(bench.seats.committee_to_propose() == ids_of({1, 2, 3, 5}));
        QVERIFY(bench.seats.accepts(ids_of({1, 2, 3, 5})));
        QVERIFY(bench.seats.hands_over(ids_of({1, 2, 3, 5})));
        // Another's seat is not at stake, and one that stays nobody's is not handed over.
        QVERIFY(!bench.seats.hands_over(ids_of({1, 2, 4, 5})));
        QVERIFY(!bench.seats.accepts(ids_of({1, 2, 4, 5})));
    }

    void a_leaving_member_gets_no_seat_and_begins_anew() {
        Bench bench(manifest_of_friends());
        bench.play(fit_rounds, {2, 3, 4});
        bench.hear(4, run::Phase::leaving);
        QVERIFY(!bench.seats.hand_over_due());
        QVERIFY(bench.seats.committee_to_propose() == ids_of({1}));
        QVERIFY(!bench.seats.accepts(ids_of({1, 2, 3, 4})));
        bench.seats.count_round();
        bench.play(fit_rounds - 2, {2, 3, 4});
        QVERIFY(bench.seats.committee_to_propose() == ids_of({1}));
        bench.play(2, {2, 3, 4});
        QVERIFY(bench.seats.committee_to_propose() == ids_of({1, 2, 3, 4}));
    }

    void the_only_seat_goes_to_whoever_is_here() {
        Bench bench(manifest_of_friends());
        bench.append({2});
        bench.seats.leave();
        QVERIFY(!bench.seats.hand_over_due());
        QVERIFY(bench.seats.may_go());  // nobody to hand it to
        bench.hear(2);
        QVERIFY(bench.seats.hand_over_due());
        QVERIFY(bench.seats.committee_to_propose() == ids_of({2}));
        QVERIFY(!bench.seats.may_go());
    }

    void a_leaving_member_waits_until_its_heir_knows() {
        Bench bench(manifest_of_friends());
        bench.hear(2);
        bench.seats.leave();
        run::AcceptList list = bench.unsigned_list_of({});
        list.committee = ids_of({2});
        QVERIFY(bench.chain.append(bench.committed(list, {1}), StateDigest{}).ok());
        QVERIFY(!bench.seats.may_go());
        bench.hear(2, run::Phase::training, 1);
        QVERIFY(!bench.seats.may_go());
        bench.hear(2);
        QVERIFY(bench.seats.may_go());
    }

    void a_member_that_stays_after_all_may_have_a_seat_again() {
        Bench bench(manifest_of_friends());
        bench.hear(2);
        bench.seats.leave();
        QVERIFY(bench.seats.hand_over_due());
        QVERIFY(!bench.seats.may_go());
        bench.seats.stay();
        QVERIFY(!bench.seats.hand_over_due());
        QVERIFY(bench.seats.may_go());
        QVERIFY(bench.seats.committee_to_propose() == ids_of({1}));
        // The seat has gone meanwhile, and comes back as it went.
        run::AcceptList list = bench.unsigned_list_of({});
        list.committee = ids_of({2});
        QVERIFY(bench.chain.append(bench.committed(list, {1}), StateDigest{}).ok());
        bench.hear(2, run::Phase::leaving);
        QVERIFY(bench.seats.committee_to_propose() == ids_of({1}));
    }

    void a_member_without_a_seat_may_go_at_once() {
        run::Manifest manifest = manifest_of_four();
        manifest.host = key_of(6).id();
        Bench bench(manifest);
        bench.seats.leave();
        QVERIFY(bench.seats.may_go());
    }

    void the_seats_that_are_here_are_counted() {
        Bench bench(manifest_of_four());
        QCOMPARE(bench.seats.seated_here(), std::size_t{1});
        bench.hear(2);
        bench.hear(5);
        QCOMPARE(bench.seats.seated_here(), std::size_t{2});
    }
};

QTEST_APPLESS_MAIN(PeerSeatsTest)
#include "test_peer_seats.moc"
