#include <QTest>

#include <limits>

#include "core/peer/peer_view.h"
#include "core/peer/presence/members.h"

using namespace potluck;
using namespace potluck::peer;
using run::MessageKind;
using run::Verdict;

namespace {

PeerId peer_of(std::uint32_t number) {
    PeerId id;
    std::memcpy(id.bytes.data(), &number, sizeof number);
    return id;
}
run::StatusMessage status_of(std::uint64_t sequence) {
    run::StatusMessage status;
    status.sequence = sequence;
    return status;
}
TimePoint at(int milliseconds) { return TimePoint{Duration{milliseconds}}; }
Verdict take(Members& members, std::uint32_t peer, std::uint64_t sequence, int now = 0,
             Source source = Source::itself) {
    return members.take(peer_of(peer), status_of(sequence), source, at(now));
}
Verdict relayed(Members& members, std::uint32_t peer, std::uint64_t sequence, int now = 0) {
    return take(members, peer, sequence, now, Source::others);
}
Verdict count_as(Members& members, Verdict verdict, Source source = Source::itself) {
    return members.count(peer_of(1), MessageKind::status, verdict, source) ? Verdict::flood : Verdict::accepted;
}
void expire(Members& members, int now, int patience) {
    members.expire(at(now), [&](const PeerId&) { return Duration{patience}; });
}

}  // namespace

class PeerMembersTest : public QObject {
    Q_OBJECT
private slots:
    void an_older_status_is_stale() {
        Members members;
        QCOMPARE(take(members, 1, 5), Verdict::accepted);
        QCOMPARE(take(members, 1, 5, 1), Verdict::stale);
        QCOMPARE(take(members, 1, 4, 1), Verdict::stale);
        QCOMPARE(take(members, 1, 6, 1), Verdict::accepted);
    }

    void a_team_is_what_a_computer_says_or_else_another_of_its_person() {
        Members members;
        std::uint64_t sequence = 0;
        const auto say = [&](std::uint32_t peer, const std::string& team, std::uint32_t person) {
            run::StatusMessage status = status_of(++sequence);
            status.team = team;
            if (person != peer) status.certificate.person = peer_of(person);
            return members.take(peer_of(peer), status, Source::itself, at(0));
        };
        QCOMPARE(members.team_of(peer_of(1)), std::string());
        QCOMPARE(say(1, "Graz", 1), Verdict::accepted);
        QCOMPARE(say(2, "", 1), Verdict::accepted);
        QCOMPARE(say(3, "", 3), Verdict::accepted);
        QCOMPARE(members.team_of(peer_of(2)), std::string("Graz"));
        QCOMPARE(members.team_of(peer_of(3)), std::string());
        QCOMPARE(say(2, "Wien", 1), Verdict::accepted);
        QCOMPARE(members.team_of(peer_of(2)), std::string("Wien"));
        QCOMPARE(members.team_of(peer_of(1)), std::string("Graz"));
        QCOMPARE(say(1, "", 1), Verdict::accepted);
        members.remove(peer_of(2));
        QCOMPARE(members.team_of(peer_of(1)), std::string());
    }

    void a_status_passed_on_by_two_neighbours_counts_once() {
        Members members;
        QCOMPARE(relayed(members, 1, 5), Verdict::accepted);
        QCOMPARE(relayed(members, 1, 5), Verdict::repeated);
        QCOMPARE(relayed(members, 1, 4), Verdict::stale);
        QCOMPARE(members.all().size(), 1U);
    }

    /// Else anybody who has written down what a member said could bring it back.
    void an_old_status_brings_no_departed_member_back() {
        Members members;
        members.joined(peer_of(1));
        QCOMPARE(take(members, 1, 500), Verdict::accepted);
        members.left(peer_of(1));
        members.remove(peer_of(1));
        QCOMPARE(relayed(members, 1, 400, 1), Verdict::stale);
        QCOMPARE(relayed(members, 1, 500, 1), Verdict::repeated);
        members.joined(peer_of(1));
        QCOMPARE(take(members, 1, 500, 2), Verdict::stale);
        QVERIFY(members.all().empty());
        QCOMPARE(take(members, 1, 501, 3), Verdict::accepted);
        expire(members, 10'000, 4'000);
        QVERIFY(members.all().empty());
        QCOMPARE(relayed(members, 1, 501, 10'001), Verdict::repeated);
        QCOMPARE(relayed(members, 1, 502, 10'001), Verdict::accepted);
    }

    void sequences_of_trusted_keys_are_kept_whoever_else_comes() {
        Members members({peer_of(7)});
        QCOMPARE(relayed(members, 7, 5), Verdict::accepted);
        QCOMPARE(relayed(members, 8, 6), Verdict::accepted);
        members.remove(peer_of(7));
        members.remove(peer_of(8));
        for (std::uint32_t i = 0; i < sequences_max; ++i) {
            QCOMPARE(relayed(members, 1'000 + i, 100), Verdict::accepted);
            members.remove(peer_of(1'000 + i));
        }
        QCOMPARE(relayed(members, 7, 5), Verdict::repeated);
        QCOMPARE(relayed(members, 8, 6), Verdict::accepted);  // forgotten: it was the oldest
    }

    void while_a_session_speaks_nobody_else_speaks_for_its_member() {
        Members members;
        members.joined(peer_of(1));
        QCOMPARE(take(members, 1, 5, 0), Verdict::accepted);
        QCOMPARE(relayed(members, 1, 9, 4'000), Verdict::repeated);
        QCOMPARE(members.find(peer_of(1))->status.sequence, 5ULL);
        QCOMPARE(relayed(members, 1, 9, 4'001), Verdict::accepted);
        QCOMPARE(take(members, 1, 10, 4'100), Verdict::accepted);
        members.left(peer_of(1));
        QCOMPARE(relayed(members, 1, 11, 4'200), Verdict::accepted);
    }

    void only_who_has_a_session_can_be_asked() {
        Members members;
        members.joined(peer_of(1));
        QCOMPARE(take(members, 1, 5), Verdict::accepted);
        QCOMPARE(relayed(members, 2, 5), Verdict::accepted);
        QCOMPARE(members.neighbours(), std::vector<PeerId>{peer_of(1)});
        members.left(peer_of(1));
        QVERIFY(members.neighbours().empty());
        QCOMPARE(members.all().size(), 2U);
    }

    void a_members_relay_stays_the_same_while_it_is_a_neighbour() {
        Members members;
        members.joined(peer_of(1));
        members.joined(peer_of(2));
        members.heard_through(peer_of(9), peer_of(1));  // nobody has been heard of
        QCOMPARE(relayed(members, 9, 5), Verdict::accepted);
        QVERIFY(!members.find(peer_of(9))->through);
        members.heard_through(peer_of(9), peer_of(9));
        QVERIFY(!members.find(peer_of(9))->through);
        members.heard_through(peer_of(9), peer_of(1));
        members.heard_through(peer_of(9), peer_of(2));
        QVERIFY(members.find(peer_of(9))->through == peer_of(1));
        members.left(peer_of(1));
        members.heard_through(peer_of(9), peer_of(2));
        QVERIFY(members.find(peer_of(9))->through == peer_of(2));
    }

    void member_views_say_how_each_member_is_connected() {
        Members members;
        members.joined(peer_of(1));
        QCOMPARE(take(members, 1, 5), Verdict::accepted);
        QCOMPARE(relayed(members, 2, 5), Verdict::accepted);
        members.heard_through(peer_of(2), peer_of(1));
        const auto views = member_views({peer_of(3), {}, true}, members, {peer_of(1), peer_of(3)});
        QCOMPARE(views.size(), 3U);
        QVERIFY(views[0].is_self && views[0].is_seated && !views[0].is_connected && !views[0].through);
        QVERIFY(views[1].id == peer_of(1) && views[1].is_connected && views[1].is_seated && !views[1].through);
        QVERIFY(views[2].id == peer_of(2) && !views[2].is_connected && !views[2].is_seated);
        QVERIFY(views[2].through == peer_of(1));
        members.joined(peer_of(2));
        QVERIFY(!member_views({peer_of(3), {}, true}, members, {})[2].through);
    }

    void a_list_tells_of_members_beyond_those_that_are_known_once_these_are_a_sample() {
        Members members({peer_of(3'000'000)});
        run::AcceptList list;
        for (const std::uint32_t number : std::vector<std::uint32_t>{1, 7, 2'000'000, 2'000'001, 3'000'000}) {
            run::Accepted& entry = list.entries.emplace_back();
            entry.peer = peer_of(number);
            entry.tokens = {300};
        }
        const auto beyond = [&](const run::AcceptList* newest) {
            return members_beyond(members, peer_of(2'000'001), newest, Duration{2'000});
        };
        for (std::uint32_t i = 1; i < relayed_members_max; ++i) QCOMPARE(relayed(members, i, 1), Verdict::accepted);
        QCOMPARE(relayed(members, 3'000'000, 1), Verdict::accepted);
        members.joined(peer_of(relayed_members_max));
        QCOMPARE(take(members, relayed_members_max, 1), Verdict::accepted);
        QVERIFY(!members.is_sample());
        QCOMPARE(beyond(&list).members, std::size_t{0});
        members.left(peer_of(relayed_members_max));
        QVERIFY(members.is_sample());
        QCOMPARE(beyond(&list).members, std::size_t{1});  // 2,000,000
        QCOMPARE(beyond(&list).tokens_per_second, 150.0);
        QCOMPARE(beyond(nullptr).members, std::size_t{0});
    }

    void there_is_room_for_a_limited_number_of_members() {
        Members members;
        for (std::uint32_t i = 0; i < run::members_max; ++i) QCOMPARE(take(members, i, 1), Verdict::accepted);
        QCOMPARE(take(members, 1'000'000, 1), Verdict::no_room);
        QCOMPARE(members.all().size(), run::members_max);
        QCOMPARE(take(members, 3, 2), Verdict::accepted);
    }

    void sessions_beyond_the_limit_are_not_heard() {
        Members members;
        QVERIFY(members.admit_message(peer_of(1'000'000), MessageKind::status, at(0)));
        for (std::uint32_t i = 0; i < run::members_max; ++i) members.joined(peer_of(i));
        members.joined(peer_of(1'000'000));
        QVERIFY(!members.is_neighbour(peer_of(1'000'000)));
        QVERIFY(!members.admit_message(peer_of(1'000'000), MessageKind::status, at(0)));
        members.joined(peer_of(3));
        QVERIFY(members.admit_message(peer_of(3), MessageKind::status, at(0)));
    }

    void made_up_members_leave_room_for_neighbours_and_trusted_keys() {
        Members members({peer_of(2'000'000)});
        for (std::uint32_t i = 0; i < relayed_members_max; ++i) QCOMPARE(relayed(members, i, 1), Verdict::accepted);
        QCOMPARE(relayed(members, 1'000'000, 1), Verdict::no_room);
        members.joined(peer_of(1'000'000));
        QCOMPARE(take(members, 1'000'000, 1), Verdict::accepted);
        QCOMPARE(relayed(members, 2'000'000, 1), Verdict::accepted);
    }

    void room_for_made_up_members_follows_whatever_changes_it() {
        Members members;
        // A neighbour takes no room, so members are never too few to be a sample.
        members.joined(peer_of(2'000'000));
        QCOMPARE(take(members, 2'000'000, 1), Verdict::accepted);
        std::uint32_t next = 0;
        for (; next < relayed_members_max; ++next) QCOMPARE(relayed(members, next, 1), Verdict::accepted);
        // There is room for one more, and no more than that.
        const auto has_made_room_for_one = [&] {
            const bool has_room = relayed(members, next, 1) == Verdict::accepted;
            ++next;
            return has_room && relayed(members, 1'000'000, 1) == Verdict::no_room;
        };
        QVERIFY(!has_made_room_for_one());
        members.remove(peer_of(0));
        QVERIFY(has_made_room_for_one());
        members.joined(peer_of(1));
        QVERIFY(has_made_room_for_one());
        members.trust({peer_of(2)});
        QVERIFY(has_made_room_for_one());
        run::StatusMessage status = status_of(2);
        status.certificate.person = peer_of(2);
        QCOMPARE(members.take(peer_of(3), status, Source::others, at(0)), Verdict::accepted);
        QVERIFY(has_made_room_for_one());
        members.expire(at(10'000), [](const PeerId& peer) { return Duration{peer == peer_of(4) ? 0 : 60'000}; });
        QVERIFY(has_made_room_for_one());
        members.left(peer_of(1));
        members.remove(peer_of(5));
        QVERIFY(!has_made_room_for_one());
    }

    void a_member_is_the_person_s_whose_computer_it_says_it_is() {
        Members members({peer_of(7)});
        run::StatusMessage status = status_of(5);
        status.certificate.person = peer_of(7);
        QVERIFY(members.person_of(peer_of(1)) == peer_of(1) && !members.trusts(peer_of(1)));
        QCOMPARE(members.take(peer_of(1), status, Source::itself, at(0)), Verdict::accepted);
        QVERIFY(members.person_of(peer_of(1)) == peer_of(7) && members.trusts(peer_of(1)));
        members.remove(peer_of(1));
        QVERIFY(members.trusts(peer_of(1)));  // as its sequence, that is known beyond its absence
        QCOMPARE(take(members, 1, 6), Verdict::accepted);
        QVERIFY(!members.trusts(peer_of(1)));
    }

    void a_trusted_person_has_room_for_sixteen_computers_that_others_tell_of() {
        Members members({peer_of(2'000'000)});
        for (std::uint32_t i = 0; i < relayed_members_max; ++i) QCOMPARE(relayed(members, i, 1), Verdict::accepted);
        run::StatusMessage status = status_of(1);
        status.certificate.person = peer_of(2'000'000);
        for (std::uint32_t i = 0; i < run::devices_per_person_max; ++i) {
            QCOMPARE(members.take(peer_of(1'000'000 + i), status, Source::others, at(0)), Verdict::accepted);
        }
        QCOMPARE(members.take(peer_of(1'500'000), status, Source::others, at(0)), Verdict::no_room);
        members.joined(peer_of(1'500'000));
        QCOMPARE(members.take(peer_of(1'500'000), status, Source::itself, at(0)), Verdict::accepted);
    }

    void sequences_of_a_trusted_person_s_computers_have_a_limit() {
        Members members({peer_of(7)});
        run::StatusMessage status = status_of(100);
        status.certificate.person = peer_of(7);
        QCOMPARE(take(members, 1, 5), Verdict::accepted);
        members.remove(peer_of(1));
        for (std::uint32_t i = 0; i < sequences_max; ++i) {
            QCOMPARE(members.take(peer_of(1'000 + i), status, Source::itself, at(0)), Verdict::accepted);
            members.remove(peer_of(1'000 + i));
        }
        QVERIFY(!members.sequence_of(peer_of(1)));
        status.sequence = 101;
        QCOMPARE(members.take(peer_of(900'000), status, Source::itself, at(0)), Verdict::accepted);
        std::size_t kept = 0;
        for (std::uint32_t i = 0; i < sequences_max; ++i) kept += members.sequence_of(peer_of(1'000 + i)) ? 1 : 0;
        QCOMPARE(kept, sequences_max - 1);
    }

    void a_neighbour_that_talks_too_much_is_cut_short_and_recovers() {
        Members members;
        members.joined(peer_of(1));
        int admitted = 0;
        for (int i = 0; i < 2'000; ++i) {
            for (const MessageKind kind : {MessageKind::contribution, MessageKind::ballot, MessageKind::status})
                admitted += members.admit_message(peer_of(1), kind, at(0)) ? 1 : 0;
        }
        QCOMPARE(admitted, static_cast<int>(session_budget.at_once));
        QVERIFY(members.admit_message(peer_of(1), MessageKind::status, at(1'000)));
    }

    void a_backlog_after_sleep_is_no_flood() {
        const MessageBudget budget = budget_of(MessageKind::ballot);
        const auto admitted_after = [&](Duration sleep) {
            Members members;
            members.joined(peer_of(1));
            members.was_away(sleep);
            int admitted = 0;
            // In two parts, so that filling the bucket takes nothing away.
            for (const int time : {0, 0}) {
                for (int i = 0; i < 20'000; ++i)
                    admitted += members.admit_message(peer_of(1), MessageKind::ballot, at(time)) ? 1 : 0;
            }
            return admitted;
        };
        QCOMPARE(admitted_after(Duration{0}), static_cast<int>(budget.at_once));
        QCOMPARE(admitted_after(Duration{10'000}), static_cast<int>(budget.at_once + 10 * budget.per_second));
        const int most = static_cast<int>(budget.at_once + 120 * budget.per_second);
        QCOMPARE(admitted_after(backlog_max), most);
        QCOMPARE(admitted_after(10 * backlog_max), most);
    }

    void a_flood_of_one_kind_leaves_room_for_the_others() {
        for (std::uint8_t number = 1; number < message_kinds; ++number) {
            const auto flooding = static_cast<MessageKind>(number);
            Members members;
            members.joined(peer_of(1));
            int admitted = 0;
            for (int i = 0; i < 5'000; ++i) admitted += members.admit_message(peer_of(1), flooding, at(0)) ? 1 : 0;
            QCOMPARE(admitted, static_cast<int>(budget_of(flooding).at_once));
            for (std::uint8_t other = 1; other < message_kinds; ++other) {
                const auto kind = static_cast<MessageKind>(other);
                if (kind != flooding) QVERIFY(members.admit_message(peer_of(1), kind, at(0)));
            }
            // What was refused has used nothing up.
            const int later = static_cast<int>(1'000 / budget_of(flooding).per_second) + 1;
            QVERIFY(members.admit_message(peer_of(1), flooding, at(later)));
            QVERIFY(!members.admit_message(peer_of(1), flooding, at(later)));
        }
    }

    void each_kind_of_message_has_a_budget_of_its_own() {
        struct Row {
            MessageKind kind;
            int at_once, in_the_next_second;
        };
        for (const Row& row : std::vector<Row>{{MessageKind::status, 300, 50},
                                               {MessageKind::close, 60, 10},
                                               {MessageKind::contribution, 600, 100},
                                               {MessageKind::payload_request, 600, 100},
                                               {MessageKind::ballot, 600, 100},
                                               {MessageKind::history_request, 24, 2},
                                               {MessageKind::committee_request, 24, 2},
                                               {MessageKind::history, 8, 2},
                                               {MessageKind::committee, 8, 2},
                                               {MessageKind::step, 300, 70},
                                               {MessageKind::step_request, 32, 4},
                                               {MessageKind::verdict, 300, 10},
                                               {MessageKind::loss, 300, 20},
                                               {MessageKind::list_request, 16, 4},
                                               {MessageKind::list, 16, 4},
                                               {MessageKind::layer_request, 32, 4},
                                               {MessageKind::layer, 32, 4},
                                               {MessageKind::goodbye, 4, 1},
                                               {MessageKind::host_action, 300, 10}}) {
            Members members;
            members.joined(peer_of(1));
            const auto admitted_at = [&](int time) {
                int admitted = 0;
                for (int i = 0; i < 1'000; ++i)
                    admitted += members.admit_message(peer_of(1), row.kind, at(time)) ? 1 : 0;
                return admitted;
            };
            QCOMPARE(admitted_at(0), row.at_once);
            QCOMPARE(admitted_at(1'000), row.in_the_next_second);
        }
    }

    void a_number_that_no_kind_has_is_no_way_around_the_budget() {
        Members members;
        members.joined(peer_of(1));
        int admitted = 0;
        for (int i = 0; i < 1'000; ++i)
            admitted += members.admit_message(peer_of(1), static_cast<MessageKind>(200), at(0)) ? 1 : 0;
        QCOMPARE(admitted, 4);
    }

    void many_offences_of_one_session_are_reported_once() {
        Members members;
        members.joined(peer_of(1));
        int reports = 0;
        for (std::uint32_t i = 0; i < 3 * offences_max; ++i) {
            reports += count_as(members, Verdict::malformed) == Verdict::flood ? 1 : 0;
        }
        QCOMPARE(reports, 1);
        QCOMPARE(members.verdicts().front().second, static_cast<std::uint64_t>(3 * offences_max));
    }

    void lies_that_cannot_be_mistakes_are_offences() {
        for (const Verdict lie :
             {Verdict::malformed, Verdict::bad_signature, Verdict::flood, Verdict::too_large, Verdict::absurd}) {
            Members members;
            members.joined(peer_of(1));
            for (std::uint32_t i = 0; i + 1 < offences_max; ++i) QCOMPARE(count_as(members, lie), Verdict::accepted);
            QCOMPARE(count_as(members, lie), Verdict::flood);
        }
    }

    void honest_disagreement_is_no_offence() {
        Members members;
        members.joined(peer_of(1));
        for (std::uint32_t i = 0; i < 3 * offences_max; ++i) {
            QCOMPARE(count_as(members, Verdict::wrong_base), Verdict::accepted);
            QCOMPARE(count_as(members, Verdict::no_room), Verdict::accepted);
        }
    }

    /// A hub is not to be blamed for what strangers make it pass on; for what nobody may pass on it is.
    void passing_on_too_much_is_no_offence_but_passing_on_lies_is() {
        Members members;
        members.joined(peer_of(1));
        for (std::uint32_t i = 0; i < 3 * offences_max; ++i)
            QCOMPARE(count_as(members, Verdict::flood, Source::others), Verdict::accepted);
        for (std::uint32_t i = 0; i + 1 < offences_max; ++i)
            QCOMPARE(count_as(members, Verdict::bad_signature, Source::others), Verdict::accepted);
        QCOMPARE(count_as(members, Verdict::bad_signature, Source::others), Verdict::flood);
    }

    /// What this member passes on makes its neighbours ask.
    void questions_that_come_too_fast_are_no_offence() {
        Members members;
        members.joined(peer_of(1));
        for (std::uint32_t i = 0; i < 3 * offences_max; ++i)
            QVERIFY(!members.count(peer_of(1), MessageKind::payload_request, Verdict::flood, Source::itself));
        for (std::uint32_t i = 0; i + 1 < offences_max; ++i)
            QVERIFY(!members.count(peer_of(1), MessageKind::payload_request, Verdict::malformed, Source::itself));
        QVERIFY(members.count(peer_of(1), MessageKind::payload_request, Verdict::malformed, Source::itself));
    }

    void refusals_are_counted_by_kind_and_reason() {
        Members members;
        (void)members.count(peer_of(1), MessageKind::status, Verdict::accepted, Source::itself);
        for (int i = 0; i < 3; ++i)
            (void)members.count(peer_of(1), MessageKind::status, Verdict::absurd, Source::itself);
        (void)members.count(peer_of(2), MessageKind::history_request, Verdict::flood, Source::itself);
        const std::vector<Refusal> refusals = members.refusals();
        QCOMPARE(refusals.size(), 2U);
        QVERIFY(refusals[0].kind == MessageKind::status && refusals[0].verdict == Verdict::absurd);
        QCOMPARE(refusals[0].count, 3ULL);
        QVERIFY(refusals[1].kind == MessageKind::history_request && refusals[1].verdict == Verdict::flood);
        QCOMPARE(members.verdicts().size(), 3U);
    }

    void a_silent_member_is_dropped() {
        Members members;
        (void)take(members, 1, 1);
        expire(members, 4'000, 4'000);
        QVERIFY(members.find(peer_of(1)) != nullptr);
        // What is old does not keep anybody here.
        QCOMPARE(relayed(members, 1, 1, 4'000), Verdict::repeated);
        expire(members, 4'001, 4'000);
        QVERIFY(members.find(peer_of(1)) == nullptr);
    }

    void figures_that_no_computer_has_are_not_credible() {
        run::Recipe recipe;
        recipe.total_rounds = 50;
        recipe.window = Duration{60'000};
        run::StatusMessage sound = status_of(1);
        sound.round = {50};
        sound.checkpoint_round = {50};
        sound.tokens_per_second = tokens_per_second_max;
        sound.window_tokens = {60ULL * windows_offered_max * tokens_per_second_max};
        QVERIFY(is_credible(sound, recipe));
        const auto is_refused = [&](auto&& change) {
            run::StatusMessage status = sound;
            change(status);
            return !is_credible(status, recipe);
        };
        QVERIFY(is_refused([](auto& status) { ++status.round.value; }));
        QVERIFY(is_refused([](auto& status) { ++status.checkpoint_round.value; }));
        QVERIFY(is_refused([](auto& status) { ++status.tokens_per_second; }));
        QVERIFY(is_refused([](auto& status) { ++status.window_tokens.value; }));
        // The shortest windows allow as much as those of a minute: refused contributions pile up.
        recipe.window = Duration{1};
        QVERIFY(is_credible(sound, recipe));
    }
};

QTEST_APPLESS_MAIN(PeerMembersTest)
#include "test_peer_members.moc"
