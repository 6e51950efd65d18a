// Who may take part, who may decide, and which list may follow which.
#include <QTest>

#include "core/run/run_rules.h"
#include "tests/unit/run_samples.h"

using namespace potluck;
using namespace potluck::run;

namespace {

PeerId peer(std::uint8_t fill) { return samples::id<PeerId>(fill); }
BlobRef payload(std::uint8_t fill) { return samples::plain_blob(fill, 100); }

const PeerId host = peer(2), backbone = peer(3), other = peer(4), third = peer(5);

RunRules rules_of_run() {
    RunRules rules;
    rules.host = host;
    rules.backbones = {backbone};
    return rules;
}

HostAction action_of(ActionKind kind, const PeerId& key, std::uint32_t number = 1) {
    return {.number = number, .kind = kind, .key = key, .round = {}, .state = {}, .previous = {}};
}

HostAction roll_back_to(std::uint64_t round) {
    return {
        .number = 1, .kind = ActionKind::roll_back, .key = {}, .round = {round}, .state = payload(8), .previous = {}};
}

AcceptList list_of(const PeerId& contributor) {
    AcceptList list;
    list.committee = {host, backbone};
    list.entries = {{contributor, payload(9), {640}, false, {}}};
    return list;
}

}  // namespace

class RunRulesTest : public QObject {
    Q_OBJECT
private slots:
    void a_list_suspends_by_fresh_verdicts_of_enough_seats() {
        RunRules rules = rules_of_run();
        rules.has_jury = true;
        rules.vouched = {peer(6), peer(7)};
        AcceptList before = list_of(other);
        before.round = {200};
        before.committee = {host, backbone, peer(6), peer(7)};
        JurorVerdict verdict;
        verdict.person = third;
        verdict.first = {190};
        verdict.last = {200};
        AcceptList good = list_of(other);
        good.round = {201};
        good.previous = before.hash();
        good.committee = before.committee;
        good.suspensions = {{third, {{host, verdict, {}}, {backbone, verdict, {}}}}};
        const auto verdict_of = [&](const RunRules& given, auto change) {
            AcceptList list = good;
            change(list.suspensions[0]);
            return check_link(list, &before, given);
        };
        QCOMPARE(check_link(good, &before, rules), Verdict::accepted);
        QCOMPARE(faults_of(1), std::size_t{0});
        QCOMPARE(faults_of(4), std::size_t{1});
        QCOMPARE(faults_of(7), std::size_t{2});
        RunRules without = rules;
        without.has_jury = false;
        QCOMPARE(check_link(good, &before, without), Verdict::not_allowed);
        // Missing, of no seat, one too many.
        QCOMPARE(verdict_of(rules, [](Suspension& one) { one.verdicts.pop_back(); }), Verdict::not_allowed);
        QCOMPARE(verdict_of(rules, [](Suspension& one) { one.verdicts[1].juror = other; }), Verdict::not_allowed);
        QCOMPARE(verdict_of(rules,
                            [&](Suspension& one) {
                                one.verdicts.push_back({peer(6), verdict, {}});
                            }),
                 Verdict::not_allowed);
        // Old, of a round that is not over, of another suspension.
        const auto last = [&](std::uint64_t round) {
            return verdict_of(rules, [&](Suspension& one) { one.verdicts[0].verdict.last = {round}; });
        };
        QCOMPARE(last(201 - verdict_rounds_max), Verdict::accepted);
        QCOMPARE(last(200 - verdict_rounds_max), Verdict::not_allowed);
        QCOMPARE(last(201), Verdict::not_allowed);
        QCOMPARE(verdict_of(rules, [](Suspension& one) { one.verdicts[0].verdict.times = 1; }), Verdict::not_allowed);
        // In force from the next list on, and once.
        rules.follow(good);
        QVERIFY(rules.may_contribute(other, {202}) && !rules.may_contribute(third, {202}));
        QVERIFY(rules.admits(third));
        QCOMPARE(check_link(good, &before, rules), Verdict::not_allowed);
        AcceptList its = list_of(third);
        its.round = {202};
        its.previous = good.hash();
        QCOMPARE(check_link(its, &good, rules), Verdict::not_allowed);
        rules.suspended[0].until = {202};
        its.committee = good.committee;
        QCOMPARE(check_link(its, &good, rules), Verdict::accepted);
        // The same verdicts again, after it is over.
        QVERIFY(!may_suspend(good.suspensions[0], good.committee, {252}, rules));
        JurorVerdict again = verdict;
        again.times = 1;
        const Suspension second{third, {{host, again, {}}, {backbone, again, {}}}};
        QVERIFY(may_suspend(second, good.committee, {252}, rules));
        rules.suspended[0].until = {253};
        QVERIFY(!may_suspend(second, good.committee, {252}, rules));
    }

    void the_host_lifts_a_suspension() {
        RunRules rules = rules_of_run();
        suspend(rules.suspended, third, {5});
        AcceptList list = list_of(other);
        list.actions = {{action_of(ActionKind::lift, third), {}}};
        QCOMPARE(check_link(list, nullptr, rules), Verdict::accepted);
        rules.follow(list);
        QCOMPARE(rules.actions, 1U);
        QVERIFY(rules.may_contribute(third, {6}));
        list.actions[0].action.key = unvouched_keys;
        QCOMPARE(check_link(list, nullptr, rules_of_run()), Verdict::not_allowed);
    }

    void a_list_links_only_to_its_predecessor() {
        const RunRules rules = rules_of_run();
        const AcceptList first = list_of(other);
        QCOMPARE(check_link(first, nullptr, rules), Verdict::accepted);
        AcceptList of_another_run = first;
        of_another_run.run.bytes[0] = std::byte{1};
        QCOMPARE(check_link(of_another_run, nullptr, rules), Verdict::wrong_run);
        AcceptList second = list_of(other);
        second.round = {1};
        QCOMPARE(check_link(second, nullptr, rules), Verdict::stale);
        QCOMPARE(check_link(second, &first, rules), Verdict::wrong_base);
        second.previous = first.hash();
        QCOMPARE(check_link(second, &first, rules), Verdict::accepted);
        QCOMPARE(check_link(first, &first, rules), Verdict::stale);
    }

    void only_who_is_trusted_has_a_seat() {
        RunRules rules = rules_of_run();
        AcceptList list = list_of(other);
        list.committee = {host, backbone, other};  // who contributes for years is no more trusted for it
        QCOMPARE(check_link(list, nullptr, rules), Verdict::not_allowed);
        rules.allowed = {other};
        QCOMPARE(check_link(list, nullptr, rules), Verdict::accepted);
    }

    void an_allow_list_holds_for_contributors() {
        RunRules rules = rules_of_run();
        rules.allowed = {peer(7)};
        QCOMPARE(check_link(list_of(other), nullptr, rules), Verdict::not_allowed);
        QCOMPARE(check_link(list_of(host), nullptr, rules), Verdict::accepted);
        QCOMPARE(check_link(list_of(backbone), nullptr, rules), Verdict::accepted);
        rules.allowed = {other};
        QCOMPARE(check_link(list_of(other), nullptr, rules), Verdict::accepted);
    }

    void host_backbones_and_the_allow_list_are_trusted() {
        RunRules rules = rules_of_run();
        QVERIFY(rules.trusts(host) && rules.trusts(backbone));
        QVERIFY(!rules.trusts(other) && rules.admits(other));
        rules.allowed = {host, third, peer(6)};
        QVERIFY(rules.trusts(third) && rules.trusts(peer(6)));
        QVERIFY(!rules.trusts(other) && !rules.admits(other));
        QVERIFY(rules.trusted() == (std::vector{host, backbone, third, peer(6)}));
    }

    void a_ban_takes_admission_and_trust() {
        RunRules rules = rules_of_run();
        rules.allowed = {other};
        for (const PeerId& key : {other, backbone}) {
            QVERIFY(rules.admits(key) && rules.trusts(key));
            rules.apply(action_of(ActionKind::ban, key));
            QVERIFY(!rules.admits(key) && !rules.trusts(key));
        }
        QVERIFY(rules.trusted() == std::vector{host});
        rules = rules_of_run();
        QVERIFY(rules.admits(third));  // an open run admits anybody, but for whom the host has banned
        rules.apply(action_of(ActionKind::ban, third));
        QVERIFY(!rules.admits(third) && rules.admits(other));
    }

    void the_banned_are_kept_in_order_and_nobody_twice() {
        RunRules rules = rules_of_run();
        for (const PeerId& key : {third, other, peer(9), other}) rules.apply(action_of(ActionKind::ban, key));
        QVERIFY(rules.banned == (std::vector{other, third, peer(9)}));
        for (const PeerId& key : {third, other, peer(9), other}) rules.apply(action_of(ActionKind::allow, key));
        QVERIFY(rules.banned.empty());
        QVERIFY(rules.vouched == (std::vector{other, third, peer(9)}));
    }

    void a_readmitted_member_is_what_it_was_before_the_ban() {
        RunRules rules = rules_of_run();
        rules.apply(action_of(ActionKind::ban, backbone, 1));
        rules.apply(action_of(ActionKind::ban, third, 2));
        rules.apply(action_of(ActionKind::readmit, backbone, 3));
        QVERIFY(rules.trusts(backbone) && !rules.admits(third));
        rules.apply(action_of(ActionKind::readmit, third, 4));
        QVERIFY(rules.admits(third) && !rules.trusts(third));
    }

    void a_vouched_key_joins_a_closed_run_and_may_have_a_seat() {
        RunRules rules = rules_of_run();
        rules.allowed = {peer(7)};
        QVERIFY(!rules.admits(other));
        rules.apply(action_of(ActionKind::allow, other));
        QVERIFY(rules.admits(other) && rules.trusts(other) && !rules.admits(third));
        QVERIFY(rules.trusted() == (std::vector{host, backbone, other, peer(7)}));
        AcceptList list = list_of(other);
        list.committee = {host, backbone, other};
        list.actions_before = 1;
        QCOMPARE(check_link(list, nullptr, rules), Verdict::accepted);
    }

    void vouching_for_a_key_does_not_close_an_open_run() {
        RunRules rules = rules_of_run();
        rules.apply(action_of(ActionKind::allow, other));
        QVERIFY(rules.trusts(other));
        QVERIFY(rules.admits(third) && !rules.trusts(third));
    }

    void vouching_for_a_key_takes_its_ban_back() {
        RunRules rules = rules_of_run();
        rules.apply(action_of(ActionKind::ban, other, 1));
        rules.apply(action_of(ActionKind::allow, other, 2));
        QVERIFY(rules.admits(other) && rules.trusts(other));
        rules.apply(action_of(ActionKind::ban, other, 3));
        QVERIFY(!rules.admits(other) && !rules.trusts(other));
        rules.apply(action_of(ActionKind::readmit, other, 4));
        QVERIFY(rules.trusts(other));  // it was vouched for before
    }

    void a_closed_run_admits_only_whom_its_host_trusts() {
        RunRules rules = rules_of_run();
        rules.apply(action_of(ActionKind::allow, other, 1));
        rules.apply(action_of(ActionKind::ban, unvouched_keys, 2));
        QVERIFY(rules.closed());
        QVERIFY(rules.admits(host) && rules.admits(backbone) && rules.admits(other));
        QVERIFY(!rules.admits(third) && !rules.bans(third));
        QVERIFY(rules.trusted() == (std::vector{host, backbone, other}));
        rules.apply(action_of(ActionKind::ban, other, 3));
        QVERIFY(!rules.admits(other));
        rules.apply(action_of(ActionKind::allow, third, 4));
        QVERIFY(rules.closed() && rules.admits(third));
        rules.apply(action_of(ActionKind::readmit, unvouched_keys, 5));
        QVERIFY(!rules.closed() && rules.admits(peer(9)) && !rules.trusts(peer(9)) && !rules.admits(other));
    }

    void the_number_of_the_last_action_is_how_many_are_in_force() {
        RunRules rules = rules_of_run();
        QCOMPARE(rules.actions, 0U);
        rules.apply(action_of(ActionKind::ban, other, 1));
        rules.apply(action_of(ActionKind::readmit, other, 2));
        rules.apply(
            {.number = 3, .kind = ActionKind::roll_back, .key = {}, .round = {}, .state = payload(8), .previous = {}});
        QCOMPARE(rules.actions, 3U);
        QVERIFY(rules.banned.empty() && rules.vouched.empty());
    }

    void a_list_follows_the_actions_that_are_in_force() {
        RunRules rules = rules_of_run();
        AcceptList list = list_of(other);
        list.actions_before = 1;
        QCOMPARE(check_link(list, nullptr, rules), Verdict::stale);
        rules.actions = 1;
        QCOMPARE(check_link(list, nullptr, rules), Verdict::accepted);
        rules.actions = 2;
        QCOMPARE(check_link(list, nullptr, rules), Verdict::stale);
    }

    void no_list_bans_the_host() {
        const RunRules rules = rules_of_run();
        AcceptList list = list_of(other);
        list.actions = {{action_of(ActionKind::ban, third), {}}};
        QCOMPARE(check_link(list, nullptr, rules), Verdict::accepted);
        list.actions.push_back({action_of(ActionKind::ban, host, 2), {}});
        QCOMPARE(check_link(list, nullptr, rules), Verdict::not_allowed);
        list.actions.back().action.kind = ActionKind::allow;
        QCOMPARE(check_link(list, nullptr, rules), Verdict::accepted);
    }

    void no_list_vouches_for_keys_that_nobody_vouches_for() {
        AcceptList list = list_of(other);
        list.actions = {{action_of(ActionKind::ban, unvouched_keys), {}}};
        QCOMPARE(check_link(list, nullptr, rules_of_run()), Verdict::accepted);
        list.actions[0].action.kind = ActionKind::readmit;
        QCOMPARE(check_link(list, nullptr, rules_of_run()), Verdict::accepted);
        list.actions[0].action.kind = ActionKind::allow;
        QCOMPARE(check_link(list, nullptr, rules_of_run()), Verdict::not_allowed);
    }

    void no_list_goes_back_to_what_has_not_been() {
        const RunRules rules = rules_of_run();
        AcceptList before = list_of(other);
        before.round = {6};
        AcceptList list = before;
        list.round = {7};
        list.previous = before.hash();
        list.entries.clear();
        for (const std::uint64_t round : {0U, 6U, 7U}) {
            list.actions = {{roll_back_to(round), {}}};
            QCOMPARE(check_link(list, &before, rules), Verdict::accepted);
        }
        list.actions = {{roll_back_to(8), {}}};
        QCOMPARE(check_link(list, &before, rules), Verdict::not_allowed);
    }

    void a_late_entry_is_of_a_member_that_the_list_before_does_not_have_in_time() {
        const RunRules rules = rules_of_run();
        AcceptList list = list_of(other);
        list.entries[0].late = true;
        QCOMPARE(check_link(list, nullptr, rules), Verdict::not_allowed);
        const auto verdict_after = [&](AcceptList before) {
            list.round = before.round.next();
            list.previous = before.hash();
            return check_link(list, &before, rules);
        };
        QCOMPARE(verdict_after(list_of(other)), Verdict::not_allowed);
        QCOMPARE(verdict_after(list_of(third)), Verdict::accepted);
        AcceptList late_before = list_of(other);
        late_before.round = {1};
        late_before.entries[0].late = true;
        QCOMPARE(verdict_after(late_before), Verdict::accepted);
        AcceptList back = list_of(other);
        back.round = {6};
        back.entries.clear();
        back.actions = {{roll_back_to(1), {}}};
        list.actions_before = 1;
        RunRules after = rules;
        after.apply(back.actions[0].action);
        list.round = {7};
        list.previous = back.hash();
        QCOMPARE(check_link(list, &back, after), Verdict::not_allowed);
        list.entries[0].late = false;
        QCOMPARE(check_link(list, &back, after), Verdict::accepted);
    }

    void an_action_holds_from_the_next_list_on() {
        const RunRules rules = rules_of_run();
        AcceptList list = list_of(other);
        list.actions = {{action_of(ActionKind::ban, other), {}}};
        QCOMPARE(check_link(list, nullptr, rules), Verdict::accepted);
        RunRules after = rules;
        after.apply(list.actions[0].action);
        AcceptList next = list_of(other);
        next.round = {1};
        next.previous = list.hash();
        next.actions_before = 1;
        QCOMPARE(check_link(next, &list, after), Verdict::not_allowed);
        next.entries[0].peer = third;
        QCOMPARE(check_link(next, &list, after), Verdict::accepted);
    }

    void a_banned_member_keeps_its_seat_until_others_decide_and_gets_none() {
        RunRules rules = rules_of_run();
        const AcceptList before = list_of(other);
        rules.apply(action_of(ActionKind::ban, backbone));
        AcceptList list = list_of(other);
        list.round = {1};
        list.previous = before.hash();
        list.actions_before = 1;
        QCOMPARE(check_link(list, &before, rules), Verdict::accepted);
        list.committee = {host};
        QCOMPARE(check_link(list, &before, rules), Verdict::accepted);
        AcceptList again = list_of(other);
        again.round = {2};
        again.previous = list.hash();
        again.actions_before = 1;
        QCOMPARE(check_link(again, &list, rules), Verdict::not_allowed);
    }

    void a_replacement_is_carried_by_the_first_list_of_its_term() {
        const RunRules rules = rules_of_run();
        const AcceptList first = list_of(other);
        AcceptList second = list_of(other);
        second.round = {1};
        second.previous = first.hash();
        second.term = 1;
        QCOMPARE(check_link(second, &first, rules), Verdict::stale);  // nobody has replaced anything
        HostAction action = action_of(ActionKind::replace, {});
        action.term = 1;
        action.round = {1};
        action.previous = first.hash();
        action.committee = {host};
        second.actions = {{action, {}}};
        QCOMPARE(check_link(second, &first, rules), Verdict::accepted);
        QVERIFY(committee_of(second, &first, rules) == std::vector{host});
        QVERIFY(committee_of(list_of(other), &first, rules) == first.committee);
        const auto verdict_with = [&](const std::function<void(AcceptList&, HostAction&)>& change) {
            AcceptList changed = second;
            change(changed, changed.actions[0].action);
            return check_link(changed, &first, rules);
        };
        QCOMPARE(verdict_with([](AcceptList& list, HostAction&) { list.term = 2; }), Verdict::wrong_base);
        QCOMPARE(verdict_with([](AcceptList&, HostAction& one) { one.round = {2}; }), Verdict::wrong_base);
        QCOMPARE(verdict_with([](AcceptList&, HostAction& one) { one.previous = {}; }), Verdict::wrong_base);
        QCOMPARE(verdict_with([](AcceptList& list, HostAction& one) { list.term = one.term = 0; }),
                 Verdict::wrong_base);
        QCOMPARE(verdict_with([](AcceptList&, HostAction& one) { one.committee = {third}; }), Verdict::not_allowed);
        QCOMPARE(verdict_with([](AcceptList&, HostAction& one) {
                     one.committee = {host, backbone};
                 }),
                 Verdict::not_allowed);
        AcceptList later = list_of(other);
        later.round = {2};
        later.previous = second.hash();
        later.actions_before = 1;
        RunRules after = rules;
        after.apply(action);
        QCOMPARE(check_link(later, &second, after), Verdict::stale);  // the old term is over
        later.term = 1;
        QCOMPARE(check_link(later, &second, after), Verdict::accepted);
    }

    void the_first_committee_is_the_host_and_the_first_backbones() {
        const auto committee = [](std::vector<PeerId> backbones) {
            RunRules rules;
            rules.host = peer(9);
            rules.backbones = std::move(backbones);
            return rules.first_committee();
        };
        QVERIFY(committee({}) == std::vector{peer(9)});
        QVERIFY(committee({peer(1), peer(2)}) == std::vector{peer(9)});
        const std::vector<PeerId> four{peer(1), peer(2), peer(3), peer(9)};
        QVERIFY(committee({peer(2), peer(1), peer(3)}) == four);
        QVERIFY(committee({peer(2), peer(9), peer(1), peer(3)}) == four);
        QVERIFY(committee({peer(2), peer(1), peer(3), peer(8), peer(7)}) == four);
        QCOMPARE(committee({peer(1), peer(2), peer(3), peer(4), peer(5), peer(6), peer(7)}).size(), 7U);
    }
};

QTEST_APPLESS_MAIN(RunRulesTest)
#include "test_run_rules.moc"
