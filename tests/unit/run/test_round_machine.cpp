#include <QTest>

#include <set>

#include "core/run/round_machine.h"

using namespace potluck;
using namespace potluck::run;

namespace {

PeerId peer(std::uint8_t fill) {
    PeerId id;
    id.bytes.fill(std::byte{fill});
    return id;
}
StateDigest base_digest() {
    StateDigest digest;
    digest.bytes.fill(std::byte{0xdd});
    return digest;
}
BlobRef payload(std::uint8_t fill) {
    BlobRef ref;
    ref.root.bytes.fill(std::byte{fill});
    ref.size = 100;
    return ref;
}
TimePoint at(int milliseconds) { return TimePoint{Duration{100'000 + milliseconds}}; }

const PeerId self = peer(1), host = peer(2), backbone = peer(3), other = peer(4);

RoundSettings settings(Role role, std::vector<PeerId> backbones) {
    RoundSettings s;
    s.rules.host = host;
    s.rules.backbones = std::move(backbones);
    s.self = self;
    s.role = role;
    s.window = Duration{10'000};
    s.collect = Duration{4'000};
    s.grace = Duration{2'000};
    s.heartbeat = Duration{1'000};
    return s;
}

/// A machine in round 0 since at(0).
RoundMachine machine_of(Role role, std::vector<PeerId> backbones) {
    RoundMachine machine(settings(role, std::move(backbones)));
    machine.enter({0}, base_digest(), nullptr, at(0));
    return machine;
}

RoundMember training() { return {Role::volunteer, Phase::training, {0}, {}, {500}}; }
ContributionMessage contribution(std::uint8_t fill) { return {{0}, base_digest(), payload(fill), {640}}; }

AcceptList list_of(std::uint32_t view, const PeerId& leader) {
    AcceptList list;
    list.view = view;
    list.leader = leader;
    list.base = base_digest();
    list.entries = {{other, payload(9), {640}}};
    return list;
}

}  // namespace

class RoundMachineTest : public QObject {
    Q_OBJECT
private slots:
    void the_leader_closes_after_the_window_and_says_so() {
        RoundMachine machine = machine_of(Role::backbone, {self});
        QVERIFY(!machine.tick(at(9'999)).announce_close);
        const RoundActions actions = machine.tick(at(10'000));
        QVERIFY(actions.announce_close.has_value());
        QCOMPARE(actions.announce_close->round, RoundId{0});
    }

    void a_backbone_takes_no_snapshot() {
        RoundMachine machine = machine_of(Role::backbone, {self});
        QVERIFY(!machine.tick(at(10'000)).close_window);
    }

    void a_member_closes_at_the_leaders_word() {
        RoundMachine machine = machine_of(Role::volunteer, {backbone});
        machine.heard(backbone, {Role::backbone, Phase::training, {0}, {}, {}}, at(0));
        QCOMPARE(machine.on_close(backbone, {{0}, 0}, at(3'000)), Verdict::accepted);
        QVERIFY(machine.tick(at(3'000)).close_window);
        QVERIFY(!machine.tick(at(3'100)).close_window);
    }

    void a_member_closes_by_itself_half_a_collect_later() {
        RoundMachine machine = machine_of(Role::volunteer, {backbone});
        for (int second = 0; second <= 12; ++second) {
            machine.heard(backbone, {Role::backbone, Phase::training, {0}, {}, {}}, at(1'000 * second));
        }
        QVERIFY(!machine.tick(at(11'999)).close_window);
        QVERIFY(machine.tick(at(12'000)).close_window);
    }

    void a_stranger_cannot_close_the_window() {
        RoundMachine machine = machine_of(Role::volunteer, {backbone});
        machine.heard(backbone, {Role::backbone, Phase::training, {0}, {}, {}}, at(0));
        QCOMPARE(machine.on_close(other, {{0}, 0}, at(1'000)), Verdict::wrong_leader);
        QCOMPARE(machine.on_close(other, {{0}, 900}, at(1'000)), Verdict::wrong_leader);
        QVERIFY(!machine.tick(at(1'000)).close_window);
    }

    void the_leader_signs_when_everybody_who_trains_is_in() {
        RoundMachine machine = machine_of(Role::backbone, {self});
        machine.heard(other, training(), at(9'500));
        (void)machine.tick(at(10'000));
        QCOMPARE(machine.contribution(other, contribution(9)), Verdict::accepted);
        QVERIFY(!machine.tick(at(10'200)).sign);
        machine.payload_held(payload(9).root);
        const auto signed_list = machine.tick(at(10'300)).sign;
        QVERIFY(signed_list.has_value());
        QCOMPARE(signed_list->entries.size(), 1U);
        QCOMPARE(signed_list->leader, self);
        QVERIFY(!machine.tick(at(10'400)).sign);
    }

    void the_leader_waits_for_the_silent_only_until_collect_is_over() {
        RoundMachine machine = machine_of(Role::backbone, {self});
        (void)machine.tick(at(10'000));
        (void)machine.contribution(other, contribution(9));
        machine.payload_held(payload(9).root);
        machine.heard(peer(5), training(), at(13'900));
        QVERIFY(!machine.tick(at(13'999)).sign);
        QVERIFY(machine.tick(at(14'000)).sign);
    }

    void an_empty_round_stays_open() {
        RoundMachine machine = machine_of(Role::backbone, {self});
        (void)machine.tick(at(10'000));
        QVERIFY(machine.closed());
        QVERIFY(!machine.tick(at(14'000)).sign);
        QVERIFY(!machine.closed());
        QVERIFY(machine.reopened());
    }

    void a_peer_that_repeats_itself_counts_once() {
        RoundMachine machine = machine_of(Role::backbone, {self});
        QCOMPARE(machine.contribution(other, contribution(9)), Verdict::accepted);
        QCOMPARE(machine.contribution(other, contribution(8)), Verdict::repeated);
    }

    void contributions_to_another_state_or_round_are_refused() {
        RoundMachine machine = machine_of(Role::backbone, {self});
        ContributionMessage message = contribution(9);
        message.base = {};
        QCOMPARE(machine.contribution(other, message), Verdict::wrong_base);
        message = contribution(9);
        message.round = {1};
        QCOMPARE(machine.contribution(other, message), Verdict::stale);
        message = contribution(9);
        message.tokens = {tokens_max + 1};
        QCOMPARE(machine.contribution(other, message), Verdict::malformed);
    }

    void a_payload_that_does_not_parse_is_never_listed() {
        RoundMachine machine = machine_of(Role::backbone, {self});
        (void)machine.contribution(other, contribution(9));
        QCOMPARE(machine.payload_bad(payload(9).root), std::optional(other));
        machine.payload_held(payload(9).root);
        QVERIFY(!machine.tick(at(10'000)).sign);
        QVERIFY(!machine.tick(at(14'000)).sign);
    }

    void a_dead_leader_is_passed_over_at_once() {
        RoundMachine machine = machine_of(Role::volunteer, {backbone, self});
        machine.heard(backbone, {Role::backbone, Phase::training, {0}, {}, {}}, at(0));
        QCOMPARE(machine.leader_at(at(4'000)).leader, backbone);
        QCOMPARE(machine.leader_at(at(4'001)).leader, self);
        QCOMPARE(machine.leader_at(at(4'001)).view, 1U);
    }

    void a_lost_session_counts_as_death_until_it_is_heard_again() {
        RoundMachine machine = machine_of(Role::volunteer, {backbone, self});
        machine.heard(backbone, {Role::backbone, Phase::training, {0}, {}, {}}, at(0));
        machine.lost(backbone);
        QCOMPARE(machine.leader_at(at(100)).leader, self);
        machine.heard(backbone, {Role::backbone, Phase::training, {0}, {}, {}}, at(200));
        QCOMPARE(machine.leader_at(at(200)).leader, backbone);
    }

    void a_living_leader_that_does_nothing_has_until_collect_and_grace() {
        RoundMachine machine = machine_of(Role::volunteer, {backbone, self});
        for (int second = 0; second <= 17; ++second) {
            machine.heard(backbone, {Role::backbone, Phase::training, {0}, {}, {}}, at(1'000 * second));
            (void)machine.tick(at(1'000 * second));
        }
        QVERIFY(machine.closed());
        const int closed_at = 12'000;  // by itself
        QCOMPARE(machine.leader_at(at(closed_at + 5'999)).leader, backbone);
        QCOMPARE(machine.leader_at(at(closed_at + 6'000)).leader, self);
    }

    void past_the_order_members_lead_in_turn() {
        RoundMachine machine = machine_of(Role::volunteer, {});
        machine.heard(other, training(), at(0));
        (void)machine.tick(at(12'000));
        std::set<PeerId> leaders;
        for (int turn = 0; turn < 2; ++turn) {
            machine.heard(other, training(), at(18'000 + turn * 2'000));
            const Leadership leadership = machine.leader_at(at(18'000 + turn * 2'000));
            QVERIFY(leadership.view >= 1U);
            leaders.insert(leadership.leader);
        }
        QCOMPARE(leaders.size(), 2U);
    }

    void a_list_of_a_later_view_waits_for_its_turn() {
        RoundMachine machine = machine_of(Role::volunteer, {backbone, other});
        machine.heard(backbone, {Role::backbone, Phase::training, {0}, {}, {}}, at(0));
        QVERIFY(machine.is_eligible(list_of(0, backbone), at(100)));
        QVERIFY(!machine.is_eligible(list_of(1, other), at(100)));
        machine.lost(backbone);
        QVERIFY(machine.is_eligible(list_of(1, other), at(200)));
    }

    void a_list_that_most_others_follow_is_eligible() {
        RoundMachine machine = machine_of(Role::volunteer, {backbone, other});
        const AcceptList list = list_of(1, other);
        machine.heard(backbone, {Role::backbone, Phase::training, {0}, {}, {}}, at(0));
        machine.heard(other, {Role::volunteer, Phase::training, {1}, list.hash(), {}}, at(0));
        QVERIFY(machine.is_eligible(list, at(100)));
        QVERIFY(!machine.is_eligible(list_of(1, peer(7)), at(100)));
    }

    void a_view_that_was_given_up_does_not_come_back() {
        RoundMachine machine = machine_of(Role::volunteer, {backbone, self});
        machine.heard(backbone, {Role::backbone, Phase::training, {0}, {}, {}}, at(0));
        machine.advance_view(0);
        QVERIFY(!machine.is_eligible(list_of(0, backbone), at(100)));
        QCOMPARE(machine.leader_at(at(100)).leader, self);
    }

    void a_view_that_was_given_up_may_be_followed_by_an_own_list() {
        RoundMachine machine = machine_of(Role::backbone, {self, other});
        (void)machine.tick(at(10'000));
        (void)machine.contribution(other, contribution(9));
        machine.payload_held(payload(9).root);
        const auto first = machine.tick(at(14'000)).sign;
        QVERIFY(first.has_value());
        QCOMPARE(first->view, 0U);
        QVERIFY(!machine.tick(at(14'100)).sign);
        // Its payloads turned out unobtainable, and nobody else is there to lead: the second list is of a later view.
        machine.advance_view(0);
        const auto second = machine.tick(at(14'200)).sign;
        QVERIFY(second.has_value());
        QVERIFY(second->view > 0U);
    }

    void a_list_of_a_later_view_that_was_given_up_leaves_the_leader_its_own_turn() {
        RoundMachine machine = machine_of(Role::backbone, {self});
        (void)machine.tick(at(10'000));
        (void)machine.contribution(other, contribution(9));
        machine.payload_held(payload(9).root);
        machine.advance_view(6);
        const auto first = machine.tick(at(14'000)).sign;
        QVERIFY(first.has_value());
        QCOMPARE(first->view, 7U);
        machine.advance_view(7);
        const auto second = machine.tick(at(14'100)).sign;
        QVERIFY(second.has_value());
        QCOMPARE(second->view, 8U);
    }

    void a_member_that_repairs_does_not_lead() {
        RoundMachine machine = machine_of(Role::volunteer, {backbone, self});
        machine.heard(backbone, {Role::backbone, Phase::training, {0}, {}, {}}, at(0));
        QCOMPARE(machine.leader_at(at(100)).leader, backbone);
        machine.heard(backbone, {Role::backbone, Phase::repairing, {0}, {}, {}}, at(200));
        QCOMPARE(machine.leader_at(at(200)).leader, self);
        QCOMPARE(machine.leader_at(at(200)).view, 1U);
        machine.heard(backbone, {Role::backbone, Phase::training, {0}, {}, {}}, at(300));
        QCOMPARE(machine.leader_at(at(300)).leader, backbone);
    }

    void a_backbone_that_joins_does_not_lead() {
        RoundMachine machine = machine_of(Role::volunteer, {backbone, self});
        machine.heard(backbone, {Role::backbone, Phase::joining, {0}, {}, {}}, at(0));
        QCOMPARE(machine.leader_at(at(100)).leader, self);
    }

    void the_leader_lists_only_payloads_that_it_holds() {
        RoundMachine machine = machine_of(Role::backbone, {self});
        (void)machine.tick(at(10'000));
        (void)machine.contribution(other, contribution(9));
        (void)machine.contribution(peer(5), contribution(8));
        machine.payload_held(payload(9).root);
        const auto signed_list = machine.tick(at(14'000)).sign;
        QVERIFY(signed_list.has_value());
        QCOMPARE(signed_list->entries.size(), 1U);
        QCOMPARE(signed_list->entries[0].peer, other);
    }

    void a_list_that_too_few_others_follow_waits() {
        RoundMachine machine = machine_of(Role::volunteer, {backbone, other});
        const AcceptList list = list_of(1, other);
        machine.heard(backbone, {Role::backbone, Phase::training, {0}, {}, {}}, at(0));
        machine.heard(peer(5), training(), at(0));
        machine.heard(other, {Role::volunteer, Phase::training, {1}, list.hash(), {}}, at(0));
        QVERIFY(!machine.is_eligible(list, at(100)));
        machine.heard(peer(5), {Role::volunteer, Phase::training, {1}, list.hash(), {}}, at(100));
        QVERIFY(machine.is_eligible(list, at(100)));
    }

    void a_repairing_member_has_no_turn_past_the_order() {
        RoundMachine machine = machine_of(Role::volunteer, {});
        (void)machine.tick(at(12'000));
        for (int turn = 0; turn < 6; ++turn) {
            const int time = 18'000 + turn * 2'000;
            machine.heard(other, {Role::volunteer, Phase::repairing, {0}, {}, {}}, at(time));
            QCOMPARE(machine.leader_at(at(time)).leader, self);
        }
    }

    void an_unlisted_contribution_is_said_again_every_two_heartbeats() {
        RoundMachine machine = machine_of(Role::volunteer, {backbone});
        (void)machine.tick(at(12'000));
        machine.offered(contribution(9), at(12'100));
        QVERIFY(!machine.tick(at(14'000)).repeat_contribution);
        QVERIFY(machine.tick(at(14'100)).repeat_contribution);
        QVERIFY(!machine.tick(at(14'200)).repeat_contribution);
    }

    void the_last_list_is_sent_to_who_is_one_round_behind() {
        RoundMachine machine(settings(Role::backbone, {self}));
        AcceptList previous = list_of(0, self);
        machine.enter({1}, base_digest(), &previous, at(0));
        machine.heard(other, training(), at(500));
        QVERIFY(machine.tick(at(1'000)).send_list_to.empty());
        machine.heard(other, training(), at(2'400));
        QCOMPARE(machine.tick(at(2'500)).send_list_to, std::vector{other});
        QVERIFY(machine.tick(at(2'600)).send_list_to.empty());
    }

    void shallow_forks_go_to_the_lower_view_and_deep_ones_to_the_longer_chain() {
        Digest low, high;
        high.bytes.fill(std::byte{9});
        QVERIFY(other_branch_wins({1, low, 1}, {0, high, 1}));
        QVERIFY(other_branch_wins({1, low, 2}, {0, high, 1}));
        QVERIFY(!other_branch_wins({0, low, 1}, {0, high, 2}));
        QVERIFY(other_branch_wins({0, high, 2}, {0, low, 2}));
        QVERIFY(other_branch_wins({0, low, 2}, {1, high, 3}));
        QVERIFY(!other_branch_wins({1, low, 3}, {0, high, 2}));
    }

    void a_list_links_only_to_its_predecessor_and_its_rightful_leader() {
        const RunRules rules = settings(Role::volunteer, {backbone}).rules;
        QCOMPARE(check_link(list_of(0, backbone), nullptr, rules), Verdict::accepted);
        QCOMPARE(check_link(list_of(0, other), nullptr, rules), Verdict::wrong_leader);
        QCOMPARE(check_link(list_of(1, host), nullptr, rules), Verdict::accepted);
        QCOMPARE(check_link(list_of(2, other), nullptr, rules), Verdict::accepted);
        const AcceptList first = list_of(0, backbone);
        AcceptList second = list_of(0, backbone);
        second.round = {1};
        QCOMPARE(check_link(second, &first, rules), Verdict::wrong_base);
        second.previous = first.hash();
        QCOMPARE(check_link(second, &first, rules), Verdict::accepted);
        QCOMPARE(check_link(first, &first, rules), Verdict::stale);
    }

    void an_allow_list_holds_for_contributors_and_leaders() {
        RunRules rules = settings(Role::volunteer, {backbone}).rules;
        rules.allowed = {peer(7)};
        QCOMPARE(check_link(list_of(0, backbone), nullptr, rules), Verdict::not_allowed);
        rules.allowed = {other};
        QCOMPARE(check_link(list_of(0, backbone), nullptr, rules), Verdict::accepted);
        QCOMPARE(check_link(list_of(5, peer(8)), nullptr, rules), Verdict::not_allowed);
    }
};

QTEST_APPLESS_MAIN(RoundMachineTest)
#include "test_round_machine.moc"
