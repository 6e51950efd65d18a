#include <QTest>

#include <algorithm>

#include "core/run/round_machine.h"
#include "tests/unit/run_samples.h"

using namespace potluck;
using namespace potluck::run;

namespace {

PeerId peer(std::uint8_t fill) { return samples::id<PeerId>(fill); }
StateDigest base_digest() {
    StateDigest digest;
    digest.bytes.fill(std::byte{0xdd});
    return digest;
}
BlobRef payload(std::uint8_t fill) { return samples::plain_blob(fill, 100); }
RoundMachine::Signature signature(std::uint8_t fill) {
    RoundMachine::Signature bytes{};
    bytes.fill(std::byte{fill});
    return bytes;
}
TimePoint at(int milliseconds) { return TimePoint{Duration{100'000 + milliseconds}}; }

const PeerId self = peer(1), host = peer(2), backbone = peer(3), other = peer(4), third = peer(5);
enum class Turn { others, own };

RoundSettings settings(Role role) {
    RoundSettings s;
    s.self = self;
    s.role = role;
    s.window = Duration{10'000};
    s.collect = Duration{4'000};
    s.heartbeat = Duration{1'000};
    return s;
}

/// A machine in round 0 since at(0), which host and backbone decide.
RoundMachine machine_of(Role role) {
    RoundMachine machine(settings(role));
    machine.enter({0}, base_digest(), {host, backbone}, at(0));
    return machine;
}

RoundActions tick(RoundMachine& machine, int milliseconds, Turn turn = Turn::others) {
    return machine.tick(at(milliseconds), turn == Turn::own);
}

RoundMember training() { return {Role::volunteer, Phase::training, {0}, {500}}; }
ContributionMessage contribution(std::uint8_t fill) { return {{0}, base_digest(), payload(fill), {640}}; }

Verdict contribute(RoundMachine& machine, const PeerId& from, std::uint8_t fill) {
    return machine.contribution(from, contribution(fill), signature(fill));
}

StateDigest next_base() { return samples::id<StateDigest>(0xee); }
/// Round 1 of `machine`, after a list with a contribution of `other`.
void enter_next(RoundMachine& machine, int milliseconds = 20'000) {
    machine.enter({1}, next_base(), {host, backbone}, at(milliseconds), RoundBefore{base_digest(), {other}});
}
ContributionMessage next_contribution(std::uint8_t fill) { return {{1}, next_base(), payload(fill), {640}}; }

}  // namespace

class RoundMachineTest : public QObject {
    Q_OBJECT
private slots:
    void the_proposer_closes_after_the_window_and_says_so() {
        RoundMachine machine = machine_of(Role::backbone);
        QVERIFY(!tick(machine, 9'999, Turn::own).announce_close);
        const RoundActions actions = tick(machine, 10'000, Turn::own);
        QVERIFY(actions.announce_close == CloseMessage{{0}});
        QVERIFY(machine.closed());
    }

    void a_close_is_said_again_every_two_heartbeats_until_there_is_enough() {
        RoundMachine machine = machine_of(Role::backbone);
        machine.heard(other, training(), at(10'000));
        QVERIFY(tick(machine, 10'000, Turn::own).announce_close);
        QVERIFY(!tick(machine, 11'999, Turn::own).announce_close);
        QVERIFY(!tick(machine, 12'000, Turn::others).announce_close);
        QVERIFY(tick(machine, 12'000, Turn::own).announce_close);
        QCOMPARE(contribute(machine, other, 9), Verdict::accepted);
        (void)machine.payload_held(payload(9).root, other);
        const RoundActions enough = tick(machine, 13'950, Turn::own);
        QVERIFY(enough.decide && !enough.announce_close);
    }

    void a_backbone_takes_no_snapshot() {
        RoundMachine machine = machine_of(Role::backbone);
        QVERIFY(!tick(machine, 10'000, Turn::own).close_window);
    }

    void a_member_closes_at_the_word_of_any_committee_member() {
        for (const PeerId& author : {host, backbone}) {
            RoundMachine machine = machine_of(Role::volunteer);
            QCOMPARE(machine.on_close(author, {{0}}, at(6'000)), Verdict::accepted);
            QVERIFY(tick(machine, 6'000).close_window);
            QVERIFY(!tick(machine, 6'100).close_window);
        }
    }

    void only_seats_close_the_window() {
        RoundMachine machine = machine_of(Role::volunteer);
        QCOMPARE(machine.on_close(other, {{0}}, at(9'000)), Verdict::wrong_author);
        QCOMPARE(machine.on_close(self, {{0}}, at(9'000)), Verdict::wrong_author);
        QVERIFY(!tick(machine, 9'000).close_window);
    }

    void a_close_before_half_the_window_counts_for_nothing() {
        RoundMachine machine = machine_of(Role::volunteer);
        QVERIFY(!machine.open_long_enough(at(4'999)));
        QCOMPARE(machine.on_close(host, {{0}}, at(4'999)), Verdict::stale);
        QVERIFY(!tick(machine, 4'999).close_window);
        QVERIFY(!tick(machine, 5'000).close_window);
        QVERIFY(machine.open_long_enough(at(5'000)));
        QCOMPARE(machine.on_close(host, {{0}}, at(5'000)), Verdict::accepted);
        QVERIFY(tick(machine, 5'000).close_window);
    }

    void a_close_of_another_round_is_stale() {
        RoundMachine machine = machine_of(Role::volunteer);
        QCOMPARE(machine.on_close(host, {{1}}, at(9'000)), Verdict::stale);
        machine.leave();
        QCOMPARE(machine.on_close(host, {{0}}, at(9'000)), Verdict::stale);
    }

    void a_member_closes_by_itself_half_a_collect_later() {
        RoundMachine machine = machine_of(Role::volunteer);
        QVERIFY(!tick(machine, 11'999).close_window);
        QVERIFY(tick(machine, 12'000).close_window);
    }

    void the_owner_may_end_a_window_at_once() {
        RoundMachine machine = machine_of(Role::volunteer);
        machine.close_early();
        QVERIFY(tick(machine, 100).close_window);
    }

    void there_is_enough_when_everybody_who_trains_is_in() {
        for (const Turn turn : {Turn::others, Turn::own}) {
            RoundMachine machine = machine_of(Role::backbone);
            machine.heard(other, training(), at(11'500));
            (void)tick(machine, 12'000, turn);
            QCOMPARE(contribute(machine, other, 9), Verdict::accepted);
            QVERIFY(!tick(machine, 12'200, turn).decide);  // announced, not yet here
            (void)machine.payload_held(payload(9).root, other);
            QVERIFY(tick(machine, 12'300, turn).decide);
            QVERIFY(tick(machine, 12'400, turn).decide);  // and stays enough
            machine.heard(third, training(), at(12'500));
            QVERIFY(tick(machine, 12'500, turn).decide);
        }
    }

    /// Members that others pass on send no status here; a contribution that came too late shows that they are there.
    void a_contributor_late_for_the_round_before_is_waited_for() {
        RoundMachine machine = machine_of(Role::backbone);
        machine.enter({1}, base_digest(), {host, backbone}, at(0));
        QCOMPARE(contribute(machine, third, 8), Verdict::stale);  // of round 0
        ContributionMessage now = contribution(9);
        now.round = {1};
        (void)tick(machine, 12'000);
        QCOMPARE(machine.contribution(other, now, signature(9)), Verdict::accepted);
        (void)machine.payload_held(payload(9).root, other);
        QVERIFY(!tick(machine, 12'100).decide);
        QVERIFY(tick(machine, 16'000).decide);
        machine.enter({2}, base_digest(), {host, backbone}, at(20'000));
        now.round = {2};
        (void)tick(machine, 32'000);
        QCOMPARE(machine.contribution(other, now, signature(9)), Verdict::accepted);
        (void)machine.payload_held(payload(9).root, other);
        QVERIFY(tick(machine, 32'100).decide);
    }

    void a_member_is_waited_for_while_it_may_contribute_data() {
        QTest::addColumn<int>("role");
        QTest::addColumn<int>("phase");
        QTest::addColumn<int>("round");
        QTest::addColumn<int>("tokens");
        QTest::addColumn<int>("heard_at");
        QTest::addColumn<bool>("is_waited_for");
        const int volunteer = static_cast<int>(Role::volunteer), spine = static_cast<int>(Role::backbone);
        const int trains = static_cast<int>(Phase::training), collects = static_cast<int>(Phase::collecting);
        const int repairs = static_cast<int>(Phase::repairing);
        QTest::newRow("trains") << volunteer << trains << 0 << 0 << 10'000 << true;
        QTest::newRow("collects what it trained") << volunteer << collects << 0 << 1 << 10'000 << true;
        QTest::newRow("trained nothing") << volunteer << collects << 0 << 0 << 10'000 << false;
        QTest::newRow("is in another round") << volunteer << trains << 1 << 500 << 10'000 << false;
        QTest::newRow("repairs") << volunteer << repairs << 0 << 500 << 10'000 << false;
        QTest::newRow("is a backbone") << spine << trains << 0 << 500 << 10'000 << false;
        QTest::newRow("heard four heartbeats ago") << volunteer << trains << 0 << 500 << 6'000 << true;
        QTest::newRow("silent for longer") << volunteer << trains << 0 << 500 << 5'999 << false;
    }
    void a_member_is_waited_for_while_it_may_contribute() {
        QFETCH(const int, role);
        QFETCH(const int, phase);
        QFETCH(const int, round);
        QFETCH(const int, tokens);
        QFETCH(const int, heard_at);
        QFETCH(const bool, is_waited_for);
        RoundMachine machine = machine_of(Role::backbone);
        QCOMPARE(contribute(machine, other, 9), Verdict::accepted);
        (void)machine.payload_held(payload(9).root, other);
        machine.heard(third,
                      {static_cast<Role>(role),
                       static_cast<Phase>(phase),
                       {static_cast<std::uint64_t>(round)},
                       {static_cast<std::uint64_t>(tokens)}},
                      at(heard_at));
        QCOMPARE(!tick(machine, 10'000, Turn::own).decide, is_waited_for);
    }

    void a_lost_session_counts_as_death_until_it_is_heard_again() {
        RoundMachine machine = machine_of(Role::volunteer);
        machine.heard(other, training(), at(0));
        QVERIFY(machine.alive(other, at(4'000)));
        QVERIFY(!machine.alive(other, at(4'001)));
        machine.lost(other);
        QVERIFY(!machine.alive(other, at(100)));
        machine.heard(other, training(), at(200));
        QVERIFY(machine.alive(other, at(200)));
        QVERIFY(machine.alive(self, at(9'000)));
        QVERIFY(!machine.alive(third, at(200)));
    }

    void the_silent_are_waited_for_only_until_collect_is_over() {
        RoundMachine machine = machine_of(Role::backbone);
        (void)tick(machine, 10'000, Turn::own);
        (void)contribute(machine, other, 9);
        (void)machine.payload_held(payload(9).root, other);
        machine.heard(third, training(), at(13'900));
        QVERIFY(!tick(machine, 13'999, Turn::own).decide);
        QVERIFY(tick(machine, 14'000, Turn::own).decide);
    }

    void less_than_half_of_what_members_offer_is_worth_another_window() {
        for (const int here : {1, 2}) {
            RoundMachine machine = machine_of(Role::backbone);
            (void)tick(machine, 10'000, Turn::own);
            for (std::uint8_t fill = 6; fill < 10; ++fill) (void)contribute(machine, peer(fill), fill);
            for (std::uint8_t fill = 6; fill < 6 + here; ++fill)
                (void)machine.payload_held(payload(fill).root, peer(fill));
            machine.heard(third, training(), at(13'900));
            QCOMPARE(tick(machine, 14'000, Turn::own).decide, here == 2);
            QVERIFY(machine.closed());
            machine.heard(third, training(), at(23'900));
            QCOMPARE(tick(machine, 23'999, Turn::own).decide, here == 2);
            QVERIFY(tick(machine, 24'000, Turn::own).decide);
        }
    }

    void payloads_of_newcomers_and_those_of_no_use_are_not_waited_for_longer() {
        RoundMachine machine = machine_of(Role::backbone);
        (void)tick(machine, 10'000, Turn::own);
        for (std::uint8_t fill = 7; fill < 10; ++fill) (void)contribute(machine, peer(fill), fill);
        (void)machine.payload_held(payload(7).root, peer(7));
        for (std::uint8_t fill = 8; fill < 10; ++fill) (void)machine.payload_bad(payload(fill).root);
        for (std::uint8_t fill = 10; fill < 12; ++fill) {
            (void)machine.contribution(peer(fill), contribution(fill), signature(fill),
                                       {.session = other, .newcomer = true});
        }
        machine.heard(third, training(), at(13'900));
        QVERIFY(tick(machine, 14'000, Turn::own).decide);
    }

    /// Where nobody is past probation yet, two who offer what never comes hold nobody up.
    void newcomers_payloads_that_are_here_count_as_well() {
        RoundMachine machine = machine_of(Role::backbone);
        (void)tick(machine, 10'000, Turn::own);
        for (std::uint8_t fill = 6; fill < 10; ++fill) {
            (void)machine.contribution(peer(fill), contribution(fill), signature(fill),
                                       {.session = other, .newcomer = fill >= 8});
        }
        for (std::uint8_t fill = 8; fill < 10; ++fill) (void)machine.payload_held(payload(fill).root, peer(fill));
        machine.heard(third, training(), at(13'900));
        QVERIFY(tick(machine, 14'000, Turn::own).decide);
    }

    void a_proposer_need_not_wait_when_all_is_in_but_for_half_the_window() {
        RoundMachine machine = machine_of(Role::backbone);
        (void)contribute(machine, other, 9);
        (void)machine.payload_held(payload(9).root, other);
        QVERIFY(!tick(machine, 4'999, Turn::own).decide);
        QVERIFY(!machine.closed());
        QVERIFY(!tick(machine, 5'000).decide);  // not its turn
        QVERIFY(tick(machine, 5'000, Turn::own).decide);
        QVERIFY(machine.closed());
    }

    void an_empty_round_opens_again_for_everybody_by_its_own_clock() {
        for (const Turn turn : {Turn::others, Turn::own}) {
            RoundMachine machine = machine_of(Role::backbone);
            (void)tick(machine, 12'000, turn);
            QVERIFY(machine.closed());
            (void)tick(machine, 15'999, turn);
            QVERIFY(machine.closed() && !machine.reopened());
            QVERIFY(!tick(machine, 16'000, turn).decide);
            QVERIFY(!machine.closed());
            QVERIFY(machine.reopened());
            QVERIFY(machine.opened_at() == at(16'000));
            (void)tick(machine, 27'999, turn);
            QCOMPARE(machine.closed(), turn == Turn::own);
        }
    }

    void announced_payloads_that_never_came_do_not_keep_a_round_closed() {
        RoundMachine machine = machine_of(Role::backbone);
        (void)tick(machine, 10'000, Turn::own);
        (void)contribute(machine, other, 9);
        QVERIFY(!tick(machine, 14'000, Turn::own).decide);
        QVERIFY(machine.reopened());
    }

    void a_reopened_window_ends_with_the_first_payload() {
        RoundMachine machine = machine_of(Role::backbone);
        (void)tick(machine, 10'000, Turn::own);
        (void)tick(machine, 14'000, Turn::own);
        QVERIFY(machine.reopened() && !machine.closed());
        QVERIFY(machine.open_long_enough(at(14'000)));  // counted from the beginning of the round
        machine.heard(third, training(), at(14'000));
        (void)contribute(machine, other, 9);
        (void)machine.payload_held(payload(9).root, other);
        const RoundActions actions = tick(machine, 14'100, Turn::own);
        QVERIFY(machine.closed() && actions.announce_close);
        QVERIFY(!actions.decide);  // who trains is told first
        (void)contribute(machine, third, 8);
        (void)machine.payload_held(payload(8).root, third);
        QVERIFY(tick(machine, 14'200, Turn::own).decide);
    }

    void the_own_contribution_is_waited_for() {
        RoundMachine machine = machine_of(Role::volunteer);
        (void)contribute(machine, other, 9);
        (void)machine.payload_held(payload(9).root, other);
        QVERIFY(tick(machine, 12'000).close_window);
        QVERIFY(!tick(machine, 12'100).decide);
        machine.offered(contribution(8), signature(8), at(12'200));
        QVERIFY(tick(machine, 12'300).decide);
        QCOMPARE(machine.held_entries().size(), 2U);
    }

    void a_window_does_not_open_again_while_the_own_contribution_is_made() {
        RoundMachine machine = machine_of(Role::volunteer);
        QVERIFY(tick(machine, 12'000).close_window);
        (void)tick(machine, 17'000);
        QVERIFY(machine.closed());
        machine.nothing_offered(at(17'100));
        (void)tick(machine, 17'200);
        QVERIFY(machine.reopened());
    }

    void a_member_that_had_nothing_to_offer_answers_a_later_close() {
        RoundMachine machine = machine_of(Role::volunteer);
        QVERIFY(tick(machine, 12'000).close_window);
        machine.nothing_offered(at(12'100));
        QCOMPARE(machine.on_close(host, {{0}}, at(14'000)), Verdict::accepted);
        QVERIFY(!tick(machine, 14'000).close_window);  // within two heartbeats
        QCOMPARE(machine.on_close(host, {{0}}, at(14'100)), Verdict::accepted);
        QVERIFY(tick(machine, 14'100).close_window);
    }

    void a_peer_that_repeats_itself_counts_once() {
        RoundMachine machine = machine_of(Role::backbone);
        QCOMPARE(contribute(machine, other, 9), Verdict::accepted);
        QCOMPARE(contribute(machine, other, 8), Verdict::repeated);
        QCOMPARE(contribute(machine, other, 9), Verdict::repeated);
        (void)machine.payload_held(payload(8).root, other);
        (void)machine.payload_held(payload(9).root, other);
        QCOMPARE(machine.held_entries().size(), 1U);
        QVERIFY(machine.held_entries()[0].payload == payload(9));
    }

    void a_machine_holds_a_contribution_with_the_signature_that_was_checked() {
        RoundMachine machine = machine_of(Role::backbone);
        QVERIFY(!machine.holds(other, contribution(9), signature(9)));
        QCOMPARE(contribute(machine, other, 9), Verdict::accepted);
        QVERIFY(machine.holds(other, contribution(9), signature(9)));
        QVERIFY(!machine.holds(other, contribution(9), signature(8)));
        QVERIFY(!machine.holds(other, contribution(8), signature(9)));
        QVERIFY(!machine.holds(third, contribution(9), signature(9)));
        QVERIFY(machine.contribution_of(payload(9).root));
        machine.leave();
        QVERIFY(!machine.holds(other, contribution(9), signature(9)));
        QVERIFY(!machine.contribution_of(payload(9).root));
    }

    // Late for the list before.

    void a_contribution_to_the_round_before_counts_once_and_if_its_list_has_none_of_its_author() {
        RoundMachine machine = machine_of(Role::backbone);
        enter_next(machine);
        ContributionMessage wrong = contribution(7);
        wrong.base = next_base();
        QCOMPARE(machine.contribution(third, wrong, signature(7)), Verdict::wrong_base);
        QCOMPARE(contribute(machine, other, 8), Verdict::stale);
        QCOMPARE(contribute(machine, third, 9), Verdict::accepted);
        QCOMPARE(contribute(machine, third, 9), Verdict::repeated);
        QVERIFY(machine.holds(third, contribution(9), signature(9)));
        QVERIFY(machine.contribution_of(payload(9).root)->author == third);
        QVERIFY(machine.held_entries().empty());
        QVERIFY(machine.payload_held(payload(9).root, third).empty());
        QCOMPARE(machine.held_entries().size(), 1U);
        const Accepted entry = machine.held_entries()[0];
        QVERIFY(entry.peer == third && entry.late && entry.signature == signature(9));
    }

    void a_late_payload_is_its_maker_s_too_and_must_parse() {
        RoundMachine machine = machine_of(Role::backbone);
        enter_next(machine);
        QCOMPARE(contribute(machine, peer(6), 9), Verdict::accepted);
        QCOMPARE(contribute(machine, third, 9), Verdict::accepted);
        QVERIFY(machine.payload_held(payload(9).root, third) == std::vector{peer(6)});
        QVERIFY(machine.payload_bad(payload(9).root) == third);
        QVERIFY(machine.held_entries().empty());
    }

    void late_contributions_are_refused_if_not_allowed_or_two_rounds_old() {
        RoundMachine machine = machine_of(Role::backbone);
        machine.enter({1}, next_base(), {host, backbone}, at(20'000));
        QCOMPARE(contribute(machine, third, 9), Verdict::stale);
        machine.enter({2}, next_base(), {host, backbone}, at(40'000), RoundBefore{next_base(), {}});
        QCOMPARE(contribute(machine, third, 9), Verdict::stale);
    }

    void a_contribution_too_late_for_its_list_is_there_for_the_next() {
        RoundMachine machine = machine_of(Role::backbone);
        QCOMPARE(contribute(machine, other, 8), Verdict::accepted);
        QCOMPARE(contribute(machine, third, 9), Verdict::accepted);
        (void)machine.payload_held(payload(8).root, other);
        (void)machine.payload_held(payload(9).root, third);
        enter_next(machine);
        QCOMPARE(machine.held_entries().size(), 1U);
        QVERIFY(machine.held_entries()[0].peer == third && machine.held_entries()[0].late);
        enter_next(machine, 21'000);  // begun again, with another committee
        QCOMPARE(machine.held_entries().size(), 1U);
        machine.enter({2}, base_digest(), {host, backbone}, at(40'000), RoundBefore{next_base(), {}});
        QVERIFY(machine.held_entries().empty());
    }

    void a_contribution_from_before_a_gap_or_of_another_state_is_not_late() {
        RoundMachine machine = machine_of(Role::backbone);
        QCOMPARE(contribute(machine, third, 9), Verdict::accepted);
        (void)machine.payload_held(payload(9).root, third);
        machine.leave();
        enter_next(machine);
        QVERIFY(machine.held_entries().empty());
        machine = machine_of(Role::backbone);
        QCOMPARE(contribute(machine, third, 9), Verdict::accepted);
        (void)machine.payload_held(payload(9).root, third);
        machine.enter({1}, next_base(), {host, backbone}, at(20'000), RoundBefore{next_base(), {}});
        QVERIFY(machine.held_entries().empty());
    }

    void of_who_is_late_with_one_and_in_time_with_the_next_the_next_counts() {
        RoundMachine machine = machine_of(Role::backbone);
        enter_next(machine);
        QCOMPARE(contribute(machine, third, 9), Verdict::accepted);
        QCOMPARE(machine.contribution(third, next_contribution(10), signature(10)), Verdict::accepted);
        QCOMPARE(contribute(machine, peer(6), 11), Verdict::accepted);
        for (const std::uint8_t fill : {std::uint8_t{9}, std::uint8_t{10}})
            (void)machine.payload_held(payload(fill).root, third);
        (void)machine.payload_held(payload(11).root, peer(6));
        const std::vector<Accepted> entries = machine.held_entries();
        QCOMPARE(entries.size(), 2U);
        QVERIFY(entries[0].peer == third && !entries[0].late && entries[0].payload == payload(10));
        QVERIFY(entries[1].peer == peer(6) && entries[1].late);
    }

    void late_contributions_alone_are_not_enough_for_a_list() {
        RoundMachine machine = machine_of(Role::backbone);
        enter_next(machine, 0);
        QCOMPARE(contribute(machine, third, 9), Verdict::accepted);
        (void)machine.payload_held(payload(9).root, third);
        QVERIFY(!tick(machine, 9'900, Turn::own).announce_close);
        QVERIFY(tick(machine, 10'000, Turn::own).announce_close);
        QVERIFY(!tick(machine, 14'000, Turn::own).decide);
        QVERIFY(!machine.closed());
    }

    void an_own_late_contribution_is_listed_and_said_again() {
        RoundMachine machine = machine_of(Role::volunteer);
        enter_next(machine, 0);
        machine.offered(contribution(9), signature(9), at(100));
        QVERIFY(!machine.closed());
        QVERIFY(machine.held_entries()[0].peer == self && machine.held_entries()[0].late);
        QVERIFY(!tick(machine, 11'900).repeat_contribution);
        QVERIFY(tick(machine, 12'000).repeat_contribution);
        QVERIFY(!tick(machine, 12'100).repeat_contribution);
    }

    void members_of_the_last_lists_and_vouched_ones_are_waited_for_and_no_others() {
        std::uint64_t round = 1;
        const auto ends_without = [&](const PeerId& who, bool vouched, std::optional<std::vector<PeerId>> known) {
            RoundMachine machine(settings(Role::backbone));
            machine.enter({round}, next_base(), {host, backbone}, at(0), std::nullopt, {{}, std::move(known)});
            (void)machine.contribution(other, {{round}, next_base(), payload(9), {640}}, signature(9));
            (void)machine.payload_held(payload(9).root, other);
            RoundMember member = training();
            member.round = {round};
            member.vouched = vouched;
            machine.heard(who, member, at(9'900));
            (void)tick(machine, 9'950, Turn::own);
            return machine.closed();
        };
        QVERIFY(ends_without(third, false, std::vector{other}));
        QVERIFY(!ends_without(third, true, std::vector{other}));
        QVERIFY(!ends_without(third, false, std::vector{other, third}));
        QVERIFY(!ends_without(third, false, std::nullopt));  // before the first list nobody is known
        round = newcomers_awaited_every;
        QVERIFY(!ends_without(third, false, std::vector{other}));
    }

    void members_that_others_pass_on_are_waited_for_while_they_stand_in_the_last_lists() {
        std::uint64_t second = newcomers_awaited_every + 1;
        const auto ends = [&](std::vector<PeerId> known_then, std::vector<PeerId> known_now) {
            RoundMachine machine(settings(Role::backbone));
            machine.enter({second - 1}, next_base(), {host, backbone}, at(0), std::nullopt,
                          {{}, std::move(known_then)});
            (void)machine.contribution(third, {{second - 1}, next_base(), payload(9), {640}}, signature(9));
            machine.enter({second}, base_digest(), {host, backbone}, at(20'000), RoundBefore{next_base(), {other}},
                          {{}, std::move(known_now)});
            (void)machine.contribution(other, {{second}, base_digest(), payload(10), {640}}, signature(10));
            (void)machine.payload_held(payload(10).root, other);
            (void)tick(machine, 29'950, Turn::own);
            return machine.closed();
        };
        QVERIFY(!ends({other, third}, {other, third}));
        QVERIFY(ends({other, third}, {other}));
        QVERIFY(!ends({other}, {other, third}));
        second = newcomers_awaited_every;
        QVERIFY(!ends({other}, {other}));
    }

    void so_many_unknown_contributors_are_remembered_and_no_more() {
        const auto ends_without = [](std::size_t unknown) {
            RoundMachine machine(settings(Role::backbone));
            machine.enter({2}, next_base(), {host, backbone}, at(0), std::nullopt, {{}, std::vector{other}});
            for (std::size_t i = 0; i < unknown; ++i) {
                PeerId key;
                key.bytes[5] = static_cast<std::byte>(i + 1);
                (void)machine.contribution(key, {{2}, next_base(), payload(9), {640}}, signature(9));
            }
            (void)machine.contribution(third, {{2}, next_base(), payload(9), {640}}, signature(9));
            machine.enter({3}, base_digest(), {host, backbone}, at(20'000), RoundBefore{next_base(), {other}},
                          {{}, std::vector{other, third}});
            (void)machine.contribution(other, {{3}, base_digest(), payload(10), {640}}, signature(10));
            (void)machine.payload_held(payload(10).root, other);
            (void)tick(machine, 29'950, Turn::own);
            return machine.closed();
        };
        QVERIFY(!ends_without(unknown_contributors_max - 1));
        QVERIFY(ends_without(unknown_contributors_max));
    }

    void the_list_before_decides_which_newcomers_have_places() {
        const auto drawn = [](std::uint8_t previous, std::uint64_t round) {
            RoundMachine machine(settings(Role::backbone));
            RoundHistory history;
            history.previous.bytes[0] = std::byte{previous};
            machine.enter({1}, next_base(), {host, backbone}, at(20'000), RoundBefore{base_digest(), {}}, history);
            std::vector<PeerId> those;
            for (std::uint32_t number = 1; number <= 255; ++number) {
                const PeerId author = peer(static_cast<std::uint8_t>(number));
                ContributionMessage message = round == 0 ? contribution(1) : next_contribution(1);
                message.payload.root.bytes[1] = static_cast<std::byte>(number);
                const OfferOrigin origin{.session = author, .newcomer = true};
                const bool has_place = machine.has_place_for(author, message, origin);
                if ((machine.contribution(author, message, {}, origin) == Verdict::accepted) != has_place) return those;
                if (has_place) those.push_back(author);
            }
            return those;
        };
        for (const std::uint64_t round : {0U, 1U}) {
            QVERIFY(drawn(7, round).size() >= newcomers_max && drawn(7, round).size() < 255);
            QVERIFY(drawn(7, round) == drawn(7, round));
            QVERIFY(drawn(7, round) != drawn(8, round));
        }
    }

    void a_payload_that_a_late_offer_names_is_not_displaced() {
        std::size_t displaced = 0;
        for (std::uint8_t shares = 1; shares < 20; ++shares) {
            RoundMachine machine = machine_of(Role::backbone);
            const auto offer = [&](std::uint8_t author, ContributionMessage message, std::uint8_t fill) {
                message.payload = payload(fill);
                (void)machine.contribution(peer(author), message, {}, {.session = peer(author), .newcomer = true});
                return message;
            };
            (void)offer(250, contribution(0), 251);
            enter_next(machine);
            const ContributionMessage shared = offer(shares, next_contribution(0), 251);
            for (std::uint8_t author = 20; author < 250; ++author) (void)offer(author, next_contribution(0), author);
            displaced += machine.holds(peer(shares), shared, {}) ? 0 : 1;
            const std::vector<BlobId> gone = machine.take_displaced();
            QVERIFY(!gone.empty());
            QCOMPARE(std::count(gone.begin(), gone.end(), payload(251).root), 0);
        }
        QVERIFY(displaced > 5);
    }

    void a_held_payload_is_its_maker_s_whoever_offered_it_first() {
        RoundMachine machine = machine_of(Role::backbone);
        QCOMPARE(contribute(machine, peer(6), 9), Verdict::accepted);  // the copy may come sooner
        QCOMPARE(contribute(machine, other, 9), Verdict::accepted);
        QVERIFY(machine.payload_held(payload(9).root, other) == std::vector{peer(6)});
        QCOMPARE(machine.held_entries().size(), 1U);
        QCOMPARE(machine.held_entries()[0].peer, other);
        QCOMPARE(contribute(machine, third, 9), Verdict::accepted);  // and later
        QVERIFY(machine.payload_held(payload(9).root, other) == std::vector{third});
        QVERIFY(machine.payload_held(payload(9).root, other).empty());  // each is named once
        QCOMPARE(machine.held_entries().size(), 1U);
    }

    void a_copy_without_its_original_is_never_listed() {
        RoundMachine machine = machine_of(Role::backbone);
        machine.heard(third, training(), at(10'000));
        (void)contribute(machine, third, 9);
        QVERIFY(machine.payload_held(payload(9).root, other) == std::vector{third});
        (void)contribute(machine, peer(6), 7);
        (void)machine.payload_held(payload(7).root, peer(6));
        const RoundActions actions = tick(machine, 10'000, Turn::own);
        QVERIFY(actions.decide);  // the copier is not waited for
        QCOMPARE(machine.held_entries().size(), 1U);
        QCOMPARE(machine.held_entries()[0].peer, peer(6));
    }

    void a_copy_of_the_own_payload_is_out() {
        RoundMachine machine = machine_of(Role::volunteer);
        (void)contribute(machine, other, 9);
        machine.offered(contribution(9), signature(9), at(100));
        QVERIFY(machine.payload_held(payload(9).root, self) == std::vector{other});
        QCOMPARE(machine.held_entries().size(), 1U);
        QCOMPARE(machine.held_entries()[0].peer, self);
    }

    void contributions_to_another_state_or_round_are_refused() {
        RoundMachine machine = machine_of(Role::backbone);
        const auto verdict = [&](auto change) {
            ContributionMessage message = contribution(9);
            change(message);
            return machine.contribution(other, message, {});
        };
        QCOMPARE(verdict([](ContributionMessage& m) { m.base = {}; }), Verdict::wrong_base);
        QCOMPARE(verdict([](ContributionMessage& m) { m.round = {1}; }), Verdict::stale);
        QCOMPARE(verdict([](ContributionMessage& m) { m.tokens = {tokens_max + 1}; }), Verdict::malformed);
        QCOMPARE(verdict([](ContributionMessage& m) { m.tokens = {0}; }), Verdict::malformed);
        QVERIFY(machine.held_entries().empty());
        machine.leave();
        QCOMPARE(verdict([](ContributionMessage&) {}), Verdict::stale);
    }

    void a_round_has_3072_contributions() {
        RoundMachine machine = machine_of(Role::backbone);
        const auto offer = [&](std::size_t number) {
            PeerId from;
            ContributionMessage message = contribution(0);
            from.bytes[0] = message.payload.root.bytes[0] = static_cast<std::byte>(number >> 8U);
            from.bytes[1] = message.payload.root.bytes[1] = static_cast<std::byte>(number);
            const Verdict verdict = machine.contribution(from, message, {});
            (void)machine.payload_held(message.payload.root, from);
            return verdict;
        };
        for (std::size_t i = 0; i < accepted_max; ++i) QCOMPARE(offer(i), Verdict::accepted);
        QCOMPARE(offer(accepted_max), Verdict::flood);
        QCOMPARE(offer(17), Verdict::repeated);
        machine.offered(contribution(9), signature(9), at(100));  // the own one is taken all the same
        QCOMPARE(machine.held_entries().size(), accepted_max);
    }

    void as_many_members_are_known_as_there_is_room_for_and_who_is_gone_makes_room() {
        RoundMachine machine = machine_of(Role::backbone);
        const auto key = [](std::size_t number) {
            PeerId id;
            id.bytes[0] = static_cast<std::byte>(number >> 8U);
            id.bytes[1] = static_cast<std::byte>(number);
            id.bytes[2] = std::byte{0x55};
            return id;
        };
        for (std::size_t i = 0; i < members_max; ++i) machine.heard(key(i), {}, at(0));
        machine.heard(key(members_max), {}, at(0));
        QVERIFY(!machine.alive(key(members_max), at(0)));
        machine.lost(key(5));
        machine.heard(key(members_max), {}, at(0));
        QVERIFY(machine.alive(key(members_max), at(0)));
        QVERIFY(machine.alive(key(6), at(0)));
    }

    void a_payload_that_does_not_parse_is_never_listed() {
        RoundMachine machine = machine_of(Role::backbone);
        (void)contribute(machine, other, 9);
        QCOMPARE(machine.payload_bad(payload(9).root), std::optional(other));
        QVERIFY(!machine.payload_bad(payload(8).root));
        (void)machine.payload_held(payload(9).root, other);
        QVERIFY(machine.held_entries().empty());
        QVERIFY(!tick(machine, 10'000, Turn::own).decide);
        QVERIFY(!tick(machine, 14'000, Turn::own).decide);
    }

    void the_sender_of_a_bad_payload_is_not_waited_for() {
        RoundMachine machine = machine_of(Role::backbone);
        machine.heard(other, training(), at(10'000));
        (void)contribute(machine, other, 9);
        (void)contribute(machine, third, 8);
        (void)machine.payload_held(payload(8).root, third);
        (void)machine.payload_bad(payload(9).root);
        QVERIFY(tick(machine, 10'000, Turn::own).decide);
    }

    void copiers_of_a_bad_payload_are_not_waited_for() {
        RoundMachine machine = machine_of(Role::backbone);
        (void)contribute(machine, other, 9);
        (void)contribute(machine, third, 8);
        (void)machine.payload_held(payload(8).root, third);
        QCOMPARE(machine.payload_bad(payload(9).root), std::optional(other));
        // Strangers that offer the same again and again would hold up every round.
        for (const PeerId& copier : {peer(6), peer(7)}) {
            machine.heard(copier, training(), at(10'000));
            QCOMPARE(contribute(machine, copier, 9), Verdict::accepted);
        }
        QVERIFY(machine.payload_bad(payload(9).root).has_value());
        QVERIFY(!machine.payload_bad(payload(9).root));
        QVERIFY(tick(machine, 10'000, Turn::own).decide);
        QCOMPARE(machine.held_entries().size(), 1U);
    }

    void a_list_names_what_is_held_with_its_contributor_s_signature() {
        RoundMachine machine = machine_of(Role::backbone);
        (void)contribute(machine, third, 8);
        (void)contribute(machine, other, 9);
        (void)contribute(machine, peer(6), 7);
        (void)machine.payload_held(payload(9).root, other);
        (void)machine.payload_held(payload(8).root, third);
        const std::vector<Accepted> expected{{other, payload(9), {640}, false, signature(9)},
                                             {third, payload(8), {640}, false, signature(8)}};
        QVERIFY(machine.held_entries() == expected);
    }

    void an_own_contribution_stands_for_another_round_nowhere() {
        RoundMachine machine = machine_of(Role::volunteer);
        ContributionMessage late = contribution(9);
        late.round = {1};
        machine.offered(late, signature(9), at(100));
        QVERIFY(machine.held_entries().empty());
        QVERIFY(!machine.closed());
    }

    void an_unlisted_contribution_is_said_again_every_two_heartbeats() {
        RoundMachine machine = machine_of(Role::volunteer);
        (void)tick(machine, 12'000);
        machine.offered(contribution(9), signature(9), at(12'100));
        QVERIFY(!tick(machine, 14'000).repeat_contribution);
        QVERIFY(tick(machine, 14'100).repeat_contribution);
        QVERIFY(!tick(machine, 14'200).repeat_contribution);
    }

    void a_new_round_remembers_nothing_of_the_last() {
        RoundMachine machine = machine_of(Role::volunteer);
        (void)contribute(machine, other, 9);
        (void)machine.payload_held(payload(9).root, other);
        QCOMPARE(machine.on_close(host, {{0}}, at(6'000)), Verdict::accepted);
        (void)tick(machine, 6'000);
        machine.offered(contribution(8), signature(8), at(6'100));
        QVERIFY(tick(machine, 6'200).decide);
        machine.enter({1}, base_digest(), {other}, at(7'000));
        QVERIFY(!machine.closed() && !machine.reopened() && machine.held_entries().empty());
        QVERIFY(!tick(machine, 7'000).decide);
        QCOMPARE(machine.on_close(host, {{1}}, at(13'000)), Verdict::wrong_author);  // its seat is another's now
        QCOMPARE(machine.on_close(other, {{1}}, at(13'000)), Verdict::accepted);
    }

    void the_last_list_is_sent_to_who_is_one_round_behind() {
        RoundMachine machine(settings(Role::backbone));
        machine.enter({1}, base_digest(), {host}, at(0));
        machine.heard(other, training(), at(500));
        RoundMember repairing = training();
        repairing.phase = Phase::repairing;
        machine.heard(third, repairing, at(500));
        QVERIFY(tick(machine, 1'000).send_list_to.empty());
        machine.heard(other, training(), at(2'400));
        machine.heard(third, repairing, at(2'400));
        QCOMPARE(tick(machine, 2'500).send_list_to, std::vector{other});
        QVERIFY(tick(machine, 2'600).send_list_to.empty());
    }

    void a_run_that_is_over_still_passes_its_last_list_on() {
        RoundMachine machine = machine_of(Role::volunteer);
        machine.heard(other, training(), at(100));
        machine.end({1}, at(1'000));
        QVERIFY(!machine.playing());
        const RoundActions actions = tick(machine, 3'000);
        QCOMPARE(actions.send_list_to, std::vector{other});
        QVERIFY(!actions.decide && !actions.close_window && !actions.announce_close);
    }
};

QTEST_APPLESS_MAIN(RoundMachineTest)
#include "test_round_machine.moc"
