// What a host has signed in the lists that a member of the committee proposes and votes for.
#include <QTest>

#include "tests/unit/peer/ballots_bench.h"

using namespace potluck;
using namespace potluck::peer;

namespace {

const std::string none = "none", nil = "nil", for_list = "list";

struct Bench : BallotsBench {
    using BallotsBench::BallotsBench;

    Verdict receive(const run::HostAction& action) { return moderation.receive(by_host(action)); }
    /// To the state of this round, which all have.
    [[nodiscard]] run::HostAction roll_back() const { return roll_back_to(0, keeper.digest(), 1); }
    [[nodiscard]] run::AcceptList roll_back_list() const {
        run::AcceptList list = unsigned_list_of({});
        list.actions = {by_host(roll_back())};
        return list;
    }
    /// The window has just begun.
    void open_window() {
        begin();
        machine.enter(chain.height(), keeper.digest(), chain.committee(), context.now());
    }
    /// Nobody contributes, so that it begins once more.
    void pass_empty_window() {
        wait(window);
        (void)machine.tick(context.now(), true);
        machine.nothing_offered(context.now());
        wait(window);  // longer than there is to collect
        (void)machine.tick(context.now(), true);
    }
    /// A payload of `who` is here before the window's end.
    void take_contribution(std::uint8_t who, float value) {
        const Made made = contribution(who, value);
        deliver(made);
        hold(who, made);
    }
    /// The machine hears of what was delivered; the ballots are not asked again.
    void hold(std::uint8_t who, const Made& made) {
        const run::ContributionMessage message{chain.height(), keeper.digest(), made.payload->ref, {64}};
        const auto signature =
            key_of(who).sign(run::domain_of(run::MessageKind::contribution), run::signed_bytes(context.run, message));
        POTLUCK_CHECK(machine.contribution(key_of(who).id(), message, signature) == Verdict::accepted);
        (void)machine.payload_held(made.payload->ref.root, made.payload->author);
    }
    /// L[0] is committed with these actions, and round 1 has been open for long.
    void enter_second_round(const run::AcceptList& first) {
        const StateDigest digest = commit(1, 0.5F);
        POTLUCK_CHECK(chain.append(committed(first, {1, 2, 3}), digest).ok());
        keeper.hold({RoundId{1}, digest});
        open_window();
        wait(window);
        ballots->decide();
    }
};

/// L[0] with a ban of 5 and with the host's word for 6.
run::AcceptList moderated_list() {
    Fixture bench(manifest_of_four(50));
    run::AcceptList list = bench.unsigned_list_of({});
    list.actions = {Fixture::by_host(ban_of(5, 1)), Fixture::by_host(action_of(run::ActionKind::allow, 6, 2))};
    return list;
}

/// The place in turns() of who proposes first after `previous`.
std::size_t turn_after(const Digest& previous) {
    const PeerId first = run::proposer_order(*run::Committee::from_keys(ids_of({1, 2, 3, 4})), previous).front();
    for (std::size_t turn = 0; turn < 4; ++turn) {
        if (key_of(turns()[turn]).id() == first) return turn;
    }
    return 0;
}

/// The vote on a list without contributions, a moment after the window began.
std::string early_vote_on(const std::function<void(Bench&, run::AcceptList&)>& change) {
    Bench bench;
    bench.open_window();
    bench.ballots->decide();
    run::AcceptList list = bench.roll_back_list();
    change(bench, list);
    POTLUCK_CHECK(bench.hear(bench.proposal(list)) == Verdict::accepted);
    return bench.own_vote();
}

}  // namespace

class PeerModeratedBallotsTest : public QObject {
    Q_OBJECT
private slots:
    void signed_host_actions_stand_in_the_next_list() {
        Bench bench(0);
        const run::SignedAction first = Bench::by_host(ban_of(5, 1)), second = Bench::by_host(ban_of(6, 2));
        QCOMPARE(bench.moderation.receive(first), Verdict::accepted);
        QCOMPARE(bench.moderation.receive(second), Verdict::accepted);
        bench.take_contribution(7, 1.0F);
        bench.ballots->reconsider();
        QCOMPARE(bench.own_proposals().size(), std::size_t{1});
        const run::AcceptList list = bench.own_list();
        QCOMPARE(list.actions_before, 0U);
        QVERIFY(list.actions == (std::vector{first, second}));
        QCOMPARE(list.entries.size(), std::size_t{1});
        QCOMPARE(bench.own_vote(), for_list);
    }

    void a_ban_waits_for_the_next_contributions() {
        Bench bench(0);
        QCOMPARE(bench.receive(ban_of(5, 1)), Verdict::accepted);
        bench.ballots->decide_early();
        bench.ballots->reconsider();
        QVERIFY(bench.own_proposals().empty());
    }

    void a_list_that_only_lets_somebody_in_needs_a_window_without_contributions() {
        for (const bool is_over : {false, true}) {
            Bench bench;
            bench.open_window();
            if (is_over) bench.pass_empty_window();
            QCOMPARE(bench.machine.reopened(), is_over);
            QCOMPARE(bench.receive(action_of(run::ActionKind::allow, 6, 1)), Verdict::accepted);
            bench.ballots->decide_early();
            run::AcceptList list = bench.unsigned_list_of({});
            list.actions = {Bench::by_host(action_of(run::ActionKind::allow, 6, 1))};
            QCOMPARE(bench.hear(bench.proposal(list)), Verdict::accepted);
            QCOMPARE(bench.own_vote(), is_over ? for_list : none);
        }
    }

    void a_ban_needs_contributions_after_an_empty_window_too() {
        Bench bench;
        bench.open_window();
        bench.pass_empty_window();
        bench.ballots->decide();
        run::AcceptList list = bench.unsigned_list_of({});
        list.actions = {Bench::by_host(ban_of(6, 1))};
        QCOMPARE(bench.hear(bench.proposal(list)), Verdict::accepted);
        QCOMPARE(bench.own_vote(), nil);
    }

    void a_list_of_others_may_hold_what_this_member_has_not_heard_of() {
        Bench bench;
        run::AcceptList list = bench.good_list();
        list.actions = {Bench::by_host(ban_of(6, 1))};
        QCOMPARE(bench.hear(bench.proposal(list)), Verdict::accepted);
        QCOMPARE(bench.own_vote(), for_list);
    }

    void a_list_with_an_action_of_somebody_else_gets_no_vote() {
        for (const std::uint8_t author : {std::uint8_t{2}, std::uint8_t{5}}) {
            Bench bench;
            run::AcceptList list = bench.good_list();
            list.actions = {signed_by(author, ban_of(6, 1), bench.context.run)};
            QCOMPARE(bench.hear(bench.proposal(list)), Verdict::accepted);
            QCOMPARE(bench.own_vote(), nil);
        }
    }

    void a_roll_back_gets_a_vote_without_waiting_for_the_window() {
        QCOMPARE(early_vote_on([](Bench&, run::AcceptList&) {}), for_list);
        // A list of contributions has to wait.
        QCOMPARE(early_vote_on([](Bench& bench, run::AcceptList& list) { list = bench.good_list(); }), none);
    }

    void a_member_that_waits_for_a_roll_back_votes_before_the_window_ends() {
        for (const bool is_known : {false, true}) {
            Bench bench;
            bench.open_window();
            if (is_known) QCOMPARE(bench.receive(bench.roll_back()), Verdict::accepted);
            bench.ballots->decide_early();
            QCOMPARE(bench.hear(bench.proposal(bench.roll_back_list())), Verdict::accepted);
            QCOMPARE(bench.own_vote(), is_known ? for_list : none);
        }
    }

    void a_roll_back_that_changes_the_committee_gets_none() {
        QCOMPARE(early_vote_on([](Bench& bench, run::AcceptList& list) {
                     bench.second_leaves();
                     list.committee = heirs_of(turns()[1]);
                 }),
                 nil);
        QCOMPARE(early_vote_on([](Bench&, run::AcceptList& list) { list.committee = ids_of({1}); }), nil);
    }

    void a_roll_back_that_somebody_else_has_signed_gets_none() {
        QCOMPARE(early_vote_on([](Bench& bench, run::AcceptList& list) {
                     list.actions = {signed_by(2, bench.roll_back(), bench.context.run)};
                 }),
                 nil);
        QCOMPARE(early_vote_on([](Bench& bench, run::AcceptList& list) {
                     list.actions = {signed_by(1, bench.roll_back(), RunId{})};
                 }),
                 nil);
    }

    void a_roll_back_to_what_has_not_been_gets_none() {
        QCOMPARE(early_vote_on([](Bench& bench, run::AcceptList& list) {
                     list.actions = {Bench::by_host(roll_back_to(1, bench.keeper.digest(), 1))};
                 }),
                 nil);
    }

    void a_ban_alone_makes_no_list() {
        QCOMPARE(early_vote_on([](Bench&, run::AcceptList& list) { list.actions = {Bench::by_host(ban_of(5, 1))}; }),
                 nil);
    }

    void a_roll_back_is_proposed_at_once_and_alone() {
        Bench bench(0);
        bench.open_window();
        bench.take_contribution(7, 1.0F);
        bench.second_leaves();
        QCOMPARE(bench.receive(bench.roll_back()), Verdict::accepted);
        QCOMPARE(bench.receive(ban_of(5, 2)), Verdict::accepted);
        bench.ballots->decide_early();
        QCOMPARE(bench.own_proposals().size(), std::size_t{1});
        const run::AcceptList list = bench.own_list();
        QVERIFY(list.roll_back() != nullptr && *list.roll_back() == bench.roll_back());
        QVERIFY(list.entries.empty());
        QVERIFY(list.committee == bench.chain.committee());
        QCOMPARE(bench.own_vote(), for_list);
    }

    void without_a_roll_back_nothing_is_proposed_early() {
        Bench bench(0);
        bench.open_window();
        bench.take_contribution(7, 1.0F);
        QCOMPARE(bench.receive(ban_of(5, 1)), Verdict::accepted);
        bench.ballots->decide_early();
        QVERIFY(bench.own_proposals().empty());
        // Nor has a turn begun, which would end with a vote against whatever is proposed in it.
        bench.tick_after(bench.context.manifest.recipe.grace);
        QCOMPARE(bench.own_vote(), none);
    }

    void a_roll_back_that_came_during_the_window_s_end_is_proposed_too() {
        Bench bench(0);
        QCOMPARE(bench.receive(bench.roll_back()), Verdict::accepted);
        bench.ballots->reconsider();
        QCOMPARE(bench.own_proposals().size(), std::size_t{1});
        QVERIFY(bench.own_list().roll_back() != nullptr);
    }

    void contributions_of_the_banned_are_left_out_of_the_next_list() {
        const run::AcceptList first = moderated_list();
        Bench bench(turn_after(first.hash()));
        bench.enter_second_round(first);
        std::map<std::uint8_t, Bench::Made> made;
        for (const std::uint8_t who : std::vector<std::uint8_t>{5, 6, 7}) {
            made[who] = bench.contribution(who, static_cast<float>(who));
            bench.deliver(made[who]);
        }
        for (const auto& [who, one] : made) bench.hold(who, one);
        bench.ballots->reconsider();
        QCOMPARE(bench.own_proposals().size(), std::size_t{1});
        const run::AcceptList list = bench.own_list();
        QCOMPARE(list.actions_before, 2U);
        QVERIFY(list.actions.empty());
        std::vector<PeerId> contributors;
        for (const run::Accepted& entry : list.entries) {
            contributors.push_back(entry.peer);
            // The host has vouched for 6.
            QCOMPARE(entry.newcomer, entry.peer == key_of(7).id());
        }
        QVERIFY(contributors == ids_of({6, 7}));
    }

    void a_proposer_with_only_banned_contributions_proposes_nothing() {
        const run::AcceptList first = moderated_list();
        Bench bench(turn_after(first.hash()));
        bench.enter_second_round(first);
        bench.take_contribution(5, 1.0F);
        bench.ballots->reconsider();
        QVERIFY(bench.own_proposals().empty());
    }

    void the_closing_list_holds_no_action() {
        Bench bench(0, 0);
        QVERIFY(bench.context.is_last(RoundId{0}));
        QCOMPARE(bench.receive(ban_of(5, 1)), Verdict::accepted);
        bench.votes.bytes.reset();  // what it has proposed without the action
        bench.swarm.sent.clear();
        bench.begin();
        bench.ballots->decide();
        QCOMPARE(bench.own_proposals().size(), std::size_t{1});
        QVERIFY(bench.own_list().actions.empty());
        QCOMPARE(bench.own_vote(), for_list);
    }

    void a_closing_list_with_an_action_gets_no_vote() {
        for (const bool is_moderated : {false, true}) {
            Bench bench(3, 0);
            run::AcceptList list = bench.unsigned_list_of({});
            if (is_moderated) list.actions = {Bench::by_host(bench.roll_back())};
            QCOMPARE(bench.hear(bench.proposal(list)), Verdict::accepted);
            QCOMPARE(bench.own_vote(), is_moderated ? nil : for_list);
        }
    }
};

QTEST_APPLESS_MAIN(PeerModeratedBallotsTest)
#include "test_peer_moderated_ballots.moc"
