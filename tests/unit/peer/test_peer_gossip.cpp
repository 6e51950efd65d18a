#include <QTest>

#include "core/peer/presence/gossip.h"
#include "tests/unit/peer/peer_fixture.h"

using namespace potluck;
using namespace potluck::peer;
using run::Verdict;

namespace {

/// One of more members than key_of() has numbers for.
PeerId numbered(std::size_t number) {
    PeerId id;
    id.bytes[0] = static_cast<std::byte>(number);
    id.bytes[1] = static_cast<std::byte>(number >> 8U);
    id.bytes[2] = std::byte{1};
    return id;
}

/// The host, whose neighbours are the keys 2, 3 and 4; it hears of others through them.
struct Bench : Fixture {
    Bench() { meet({2, 3, 4}); }

    static PeerId id(std::uint8_t who) { return key_of(who).id(); }
    void meet(const std::vector<std::uint8_t>& numbers) {
        for (const std::uint8_t who : numbers) {
            members.joined(id(who));
            swarm.around.push_back(id(who));
        }
    }
    void wait(int milliseconds) { context.set_now(context.now() + Duration{milliseconds}); }

    /// The first status of an author.
    run::Envelope first_status_of(const PeerId& author) const {
        run::StatusMessage status;
        status.sequence = 1;
        return {context.run, author, run::MessageKind::status, run::encode_body(status), {}};
    }
    run::Envelope status_of(std::uint8_t who, std::uint64_t sequence) const {
        run::StatusMessage status;
        status.sequence = sequence;
        run::Envelope envelope{context.run, id(who), run::MessageKind::status, run::encode_body(status), {}};
        envelope.signature[0] = std::byte{who};  // Gossip does not look at it; it must arrive as it came
        return envelope;
    }
    Verdict hear(std::uint8_t from, std::uint8_t who, std::uint64_t sequence,
                 Gossip::Urgency urgency = Gossip::Urgency::waits) {
        run::StatusMessage status;
        status.sequence = sequence;
        const Source source = from == who ? Source::itself : Source::others;
        const Verdict verdict = members.take(id(who), status, source, context.now());
        if (verdict == Verdict::accepted) {
            gossip.take(id(from), status_of(who, sequence), sequence, urgency);
        } else {
            gossip.take_old(id(from), status_of(who, sequence), sequence);
        }
        return verdict;
    }
    /// To whom the status went since the last look, by number; what else was sent is a failure.
    std::set<int> sent(std::uint8_t who, std::uint64_t sequence) {
        std::set<int> numbers;
        for (const auto& [to, envelope] : std::exchange(swarm.sent_to, {})) {
            if (envelope != status_of(who, sequence)) return {-1};
            for (int number = 2; number < 60; ++number) {
                if (id(static_cast<std::uint8_t>(number)) == to && !numbers.insert(number).second) return {-2};
            }
        }
        return numbers;
    }

    Members members;
    Gossip gossip{context, members};
};
constexpr Gossip::Urgency urgent = Gossip::Urgency::urgent;

}  // namespace

class PeerGossipTest : public QObject {
    Q_OBJECT
private slots:
    void a_status_is_passed_on_once_as_it_was_signed_and_not_to_whom_it_came_from() {
        Bench bench;
        QCOMPARE(bench.hear(2, 9, 100, urgent), Verdict::accepted);
        QCOMPARE(bench.sent(9, 100), (std::set<int>{3, 4}));
        for (int i = 0; i < 40; ++i) {
            bench.wait(100);
            bench.gossip.tick();
        }
        QVERIFY(bench.sent(9, 100).empty());
    }

    void a_quiet_member_is_missed_three_times_as_late() {
        constexpr Duration second{1'000};
        QVERIFY(is_quiet(run::Phase::paused, Duration{0}, second));
        QVERIFY(is_quiet(run::Phase::finished, Duration{0}, second));
        QVERIFY(!is_quiet(run::Phase::collecting, 60 * second, second));
        QVERIFY(!is_quiet(run::Phase::training, heartbeats_before_close * second, second));
        QVERIFY(is_quiet(run::Phase::training, (heartbeats_before_close + 1) * second, second));
        QVERIFY(!is_quiet(run::Phase::training, -heartbeats_before_close * second, second));
        QVERIFY(is_quiet(run::Phase::training, -(heartbeats_before_close + 1) * second, second));

        Bench bench;
        const Duration heartbeat = bench.context.settings.heartbeat;
        const auto say = [&](run::Phase phase) {
            static std::uint64_t sequence = 100;
            run::StatusMessage status;
            status.sequence = ++sequence;
            status.phase = phase;
            QCOMPARE(bench.members.take(Bench::id(2), status, Source::itself, bench.context.now()), Verdict::accepted);
        };
        say(run::Phase::collecting);
        QCOMPARE(bench.gossip.patience(Bench::id(2)), run::heartbeats_to_live * heartbeat);
        say(run::Phase::paused);
        QCOMPARE(bench.gossip.patience(Bench::id(2)), 3 * run::heartbeats_to_live * heartbeat);
        QCOMPARE(bench.gossip.silence(Bench::id(2)), 3 * run::heartbeats_to_live * heartbeat);
    }

    /// What a neighbour said while this computer slept comes at once, and the author's newest came before it.
    void a_backlog_of_old_statuses_is_answered_within_limits() {
        Bench bench;
        QCOMPARE(bench.hear(2, 9, 1'000), Verdict::accepted);
        bench.swarm.sent_to.clear();
        for (std::uint64_t old = 100; old < 700; ++old) static_cast<void>(bench.hear(3, 9, old));
        const std::size_t answers = bench.swarm.sent_to.size();
        QVERIFY2(answers > 0 && answers <= 256, std::to_string(answers).c_str());
    }

    void a_neighbours_own_status_is_not_sent_back_to_it() {
        Bench bench;
        QCOMPARE(bench.hear(2, 2, 100, urgent), Verdict::accepted);
        QCOMPARE(bench.sent(2, 100), (std::set<int>{3, 4}));
    }

    void a_change_goes_on_at_once_and_the_rest_at_the_pace() {
        Bench bench;
        (void)bench.hear(2, 9, 100, urgent);
        (void)bench.sent(9, 100);
        QCOMPARE(bench.gossip.pace(Bench::id(9)), Duration{3'000});
        for (std::uint64_t second = 1; second <= 2; ++second) {
            bench.wait(1'000);
            (void)bench.hear(2, 9, 100 + second);
            bench.gossip.tick();
            QVERIFY(bench.sent(9, 100 + second).empty());
        }
        bench.wait(900);  // a little early
        (void)bench.hear(2, 9, 103);
        QCOMPARE(bench.sent(9, 103), (std::set<int>{3, 4}));
        bench.wait(10);
        (void)bench.hear(2, 9, 104, urgent);
        QCOMPARE(bench.sent(9, 104), (std::set<int>{3, 4}));
    }

    void a_delayed_status_goes_out_when_due_and_is_the_newest_then() {
        Bench bench;
        (void)bench.hear(2, 9, 100, urgent);
        (void)bench.sent(9, 100);
        bench.wait(500);
        (void)bench.hear(2, 9, 101);
        bench.wait(500);
        (void)bench.hear(2, 9, 102);
        bench.wait(1'400);
        bench.gossip.tick();
        QVERIFY(bench.sent(9, 102).empty());
        bench.wait(100);
        bench.gossip.tick();
        QCOMPARE(bench.sent(9, 102), (std::set<int>{3, 4}));
    }

    void neighbours_that_both_have_a_status_stop_sending_it_to_each_other() {
        Bench bench;
        (void)bench.hear(2, 9, 100, urgent);
        (void)bench.sent(9, 100);
        bench.wait(100);
        QCOMPARE(bench.hear(3, 9, 100), Verdict::repeated);  // sent before ours arrived: it was told already
        QVERIFY(bench.sent(9, 100).empty());
        bench.wait(1'000);
        (void)bench.hear(2, 9, 101);
        QVERIFY(bench.sent(9, 101).empty());
        QCOMPARE(bench.hear(4, 9, 101), Verdict::repeated);  // it does not know that we have it
        QCOMPARE(bench.sent(9, 101), (std::set<int>{4}));
        QCOMPARE(bench.hear(4, 9, 101), Verdict::repeated);
        QVERIFY(bench.sent(9, 101).empty());
        bench.wait(5'000);
        (void)bench.hear(2, 9, 102, urgent);
        QVERIFY(bench.sent(9, 102).empty());
    }

    /// Else it would go on for as long as both are there.
    void a_neighbour_that_forgets_we_need_no_relay_is_reminded() {
        Bench bench;
        (void)bench.hear(2, 9, 100, urgent);
        (void)bench.hear(3, 9, 100);
        (void)bench.sent(9, 100);
        bench.wait(3'000);
        (void)bench.hear(2, 9, 101);
        QCOMPARE(bench.sent(9, 101), (std::set<int>{4}));
        QCOMPARE(bench.hear(3, 9, 101), Verdict::repeated);
        QCOMPARE(bench.sent(9, 101), (std::set<int>{3}));
        QCOMPARE(bench.hear(3, 9, 101), Verdict::repeated);
        QVERIFY(bench.sent(9, 101).empty());
        bench.wait(3'000);
        (void)bench.hear(2, 9, 102);
        (void)bench.sent(9, 102);
        bench.wait(heartbeats_to_ask * 1'000);
        QCOMPARE(bench.hear(3, 9, 102), Verdict::repeated);  // it asks, for it has heard nothing since
        QVERIFY(bench.sent(9, 102).empty());
    }

    void a_neighbour_that_lags_gets_the_newest_status_and_the_next() {
        Bench bench;
        (void)bench.hear(2, 9, 100, urgent);
        (void)bench.hear(3, 9, 100);
        (void)bench.sent(9, 100);
        bench.wait(5'000);
        (void)bench.hear(2, 9, 105, urgent);
        QCOMPARE(bench.sent(9, 105), (std::set<int>{4}));
        QCOMPARE(bench.hear(3, 9, 100), Verdict::stale);
        QCOMPARE(bench.sent(9, 105), (std::set<int>{3}));
        bench.wait(100);
        (void)bench.hear(2, 9, 106, urgent);
        QCOMPARE(bench.sent(9, 106), (std::set<int>{3, 4}));
    }

    /// Its clock was set back, or another process has its key: either way it has to know.
    void an_author_that_counts_too_low_is_shown_what_it_said() {
        Bench bench;
        (void)bench.hear(2, 2, 100, urgent);
        (void)bench.sent(2, 100);
        QCOMPARE(bench.hear(2, 2, 50), Verdict::stale);
        QCOMPARE(bench.sent(2, 100), (std::set<int>{2}));
    }

    void others_are_asked_for_a_member_that_falls_silent() {
        Bench bench;
        (void)bench.hear(2, 9, 100, urgent);
        (void)bench.hear(3, 9, 100);
        (void)bench.hear(4, 9, 100);
        (void)bench.sent(9, 100);
        bench.wait(static_cast<int>(bench.gossip.patience(Bench::id(9)).count() / 2) - 1);
        bench.gossip.tick();
        QVERIFY(bench.sent(9, 100).empty());
        bench.wait(1);
        bench.gossip.tick();
        QCOMPARE(bench.sent(9, 100), (std::set<int>{2, 3, 4}));  // also those that hear of it without us
        bench.gossip.tick();
        QVERIFY(bench.sent(9, 100).empty());
    }

    /// Else everybody would stop telling whoever asks.
    void a_neighbour_that_requests_a_status_is_still_sent_the_next() {
        Bench bench;
        (void)bench.hear(2, 9, 100, urgent);
        (void)bench.sent(9, 100);
        bench.wait(heartbeats_to_ask * 1'000);
        QCOMPARE(bench.hear(3, 9, 100), Verdict::repeated);
        QVERIFY(bench.sent(9, 100).empty());
        (void)bench.hear(2, 9, 101, urgent);
        QCOMPARE(bench.sent(9, 101), (std::set<int>{3, 4}));
    }

    void others_are_asked_soon_for_a_member_whose_session_ended() {
        Bench bench;
        (void)bench.hear(2, 2, 100, urgent);
        (void)bench.hear(3, 2, 100);
        (void)bench.sent(2, 100);
        bench.members.left(Bench::id(2));
        bench.members.remove(Bench::id(2));
        std::erase(bench.swarm.around, Bench::id(2));
        bench.gossip.left(Bench::id(2));
        bench.wait(heartbeats_to_ask * 1'000);
        bench.gossip.tick();
        QCOMPARE(bench.sent(2, 100), (std::set<int>{3, 4}));
        QCOMPARE(bench.hear(3, 2, 105), Verdict::accepted);
    }

    /// Its next status would not be missed for long.
    void others_are_asked_soon_for_a_quiet_member_whose_session_ended() {
        Bench bench;
        run::StatusMessage status;
        status.sequence = 100;
        status.phase = run::Phase::paused;
        QCOMPARE(bench.members.take(Bench::id(2), status, Source::itself, bench.context.now()), Verdict::accepted);
        bench.gossip.take(Bench::id(2), bench.status_of(2, 100), 100, urgent);
        (void)bench.sent(2, 100);
        bench.members.left(Bench::id(2));
        bench.members.remove(Bench::id(2));
        std::erase(bench.swarm.around, Bench::id(2));
        bench.gossip.left(Bench::id(2));
        bench.wait(1'999);
        bench.gossip.tick();
        QVERIFY(bench.sent(2, 100).empty());
        bench.wait(1);
        bench.gossip.tick();
        QCOMPARE(bench.sent(2, 100), (std::set<int>{3, 4}));
    }

    void a_removed_members_status_is_not_passed_on() {
        Bench bench;
        (void)bench.hear(2, 9, 100, urgent);
        (void)bench.sent(9, 100);
        bench.wait(100);
        (void)bench.hear(2, 9, 101);
        bench.members.remove(Bench::id(9));
        bench.wait(3'000);
        bench.gossip.tick();
        QVERIFY(bench.sent(9, 101).empty());
    }

    void the_same_bytes_need_no_second_look() {
        Bench bench;
        (void)bench.hear(2, 9, 100, urgent);
        QVERIFY(bench.gossip.take_repeated(Bench::id(3), bench.status_of(9, 100)));
        run::Envelope other = bench.status_of(9, 100);
        other.signature[5] = std::byte{1};
        QVERIFY(!bench.gossip.take_repeated(Bench::id(3), other));
        QVERIFY(!bench.gossip.take_repeated(Bench::id(3), bench.status_of(8, 100)));
    }

    void the_pace_grows_with_those_who_are_known_and_trusted_members_have_their_own() {
        Bench bench;
        Members members({Bench::id(40)});
        Gossip gossip(bench.context, members);
        for (std::uint8_t who = 40; who < 60; ++who) {
            const PeerId id = Bench::id(who);
            run::StatusMessage status;
            status.sequence = 1;
            QCOMPARE(members.take(id, status, Source::others, bench.context.now()), Verdict::accepted);
            gossip.take(Bench::id(2), bench.status_of(who, 1), 1, urgent);
        }
        QCOMPARE(gossip.pace(Bench::id(41)), Duration{6'667});  // twenty at three a second
        QCOMPARE(gossip.pace(Bench::id(40)), Duration{3'000});
        QCOMPARE(gossip.patience(Bench::id(41)), paces_to_live * Duration{6'667});
        members.joined(Bench::id(41));
        QCOMPARE(gossip.patience(Bench::id(41)), Duration{4'000});
        bench.wait(1'000'000);
        members.expire(bench.context.now(), [](const PeerId&) { return Duration{1}; });
        gossip.tick();
        QCOMPARE(gossip.pace(Bench::id(41)), Duration{3'000});
    }

    void whom_the_host_vouches_for_is_looked_up_at_every_heartbeat() {
        Bench bench;
        Members members;
        Gossip gossip(bench.context, members);
        std::vector<PeerId> all;
        for (std::uint8_t who = 40; who < 60; ++who) {
            all.push_back(Bench::id(who));
            run::StatusMessage status;
            status.sequence = 1;
            QCOMPARE(members.take(all.back(), status, Source::others, bench.context.now()), Verdict::accepted);
            gossip.take(Bench::id(2), bench.status_of(who, 1), 1, urgent);
        }
        std::sort(all.begin(), all.end());
        members.trust(all);
        bench.wait(1'000);
        gossip.tick();
        QCOMPARE(gossip.pace(Bench::id(40)), Duration{6'667});  // twenty of them
        members.trust({});
        bench.wait(999);
        gossip.tick();
        members.trust(all);
        QCOMPARE(gossip.pace(Bench::id(40)), Duration{6'667});
        members.trust({all[0]});
        bench.wait(1);
        gossip.tick();
        QCOMPARE(gossip.pace(all[0]), Duration{3'000});
        members.trust(all);
        bench.wait(1'000'000);
        members.expire(bench.context.now(), [](const PeerId&) { return Duration{1}; });
        gossip.tick();
        QCOMPARE(gossip.pace(Bench::id(40)), Duration{3'000});  // none of them is here any more
    }

    /// At most three a second and link, 256 at once and the neighbours of one more; the host's friends first.
    void relayed_statuses_are_limited_and_trusted_members_come_first() {
        Bench bench;
        Members members({Bench::id(250)});
        for (const std::uint8_t who : std::vector<std::uint8_t>{2, 3, 4}) members.joined(Bench::id(who));
        Gossip gossip(bench.context, members);
        std::map<PeerId, std::uint64_t> sequences;
        const auto change = [&](std::uint8_t who) {
            run::StatusMessage status;
            status.sequence = ++sequences[Bench::id(who)];
            (void)members.take(Bench::id(who), status, Source::others, bench.context.now());
            gossip.take(Bench::id(2), bench.status_of(who, status.sequence), status.sequence, urgent);
        };
        for (int who = 60; who < 250; ++who) change(static_cast<std::uint8_t>(who));
        const std::size_t burst = bench.swarm.sent_to.size();
        QCOMPARE(burst, static_cast<std::size_t>(relayed_at_once));  // two neighbours for each
        change(250);
        QCOMPARE(bench.swarm.sent_to.size(), burst);
        bench.wait(1'000);
        gossip.tick();
        QVERIFY(bench.swarm.sent_to.size() > burst);
        QVERIFY(bench.swarm.sent_to[burst].second.sender == Bench::id(250));
        for (int i = 0; i < 40; ++i) {
            bench.wait(100);
            gossip.tick();
        }
        const double more = static_cast<double>(bench.swarm.sent_to.size() - burst);
        QVERIFY2(more <= 5 * 3 * relayed_per_second + 3, qPrintable(QString::number(more)));
    }

    /// Three a second on each of two hundred links would be six hundred.
    void messages_to_all_neighbours_together_have_a_limit() {
        Bench bench;
        bench.swarm.around.clear();
        for (std::size_t i = 0; i < 200; ++i) bench.swarm.around.push_back(numbered(i));
        run::StatusMessage status;
        status.sequence = 1;
        for (std::size_t author = 1'000; author < 1'020; ++author) {
            QCOMPARE(bench.members.take(numbered(author), status, Source::others, bench.context.now()),
                     Verdict::accepted);
            bench.gossip.take(numbered(0), bench.first_status_of(numbered(author)), 1, urgent);
        }
        const std::size_t burst = bench.swarm.sent_to.size();
        for (int i = 0; i < 40; ++i) {
            bench.wait(100);
            bench.gossip.tick();
        }
        const double more = static_cast<double>(bench.swarm.sent_to.size() - burst);
        QVERIFY2(more > 0 && more <= 4 * 300 + 199, qPrintable(QString::number(more)));
    }

    /// 256 authors, of each of whom 256 neighbours hear without us.
    void marks_are_kept_up_to_a_limit_and_those_beyond_it_are_told_too_often() {
        QCOMPARE(marks_max, std::size_t{256 * 256});
        Bench bench;
        bench.swarm.around.clear();
        for (std::size_t author = 1'000; author < 1'256; ++author) {
            const run::Envelope newest = bench.first_status_of(numbered(author));
            bench.gossip.take(numbered(0), newest, 1, urgent);
            for (std::size_t neighbour = 1; neighbour < 256; ++neighbour)
                bench.gossip.take_old(numbered(neighbour), newest, 1);
        }
        bench.swarm.sent_to.clear();
        bench.swarm.around = {numbered(0), numbered(1)};
        bench.wait(10'000);
        const auto told_of = [&](std::size_t author) {
            run::StatusMessage status;
            status.sequence = 1;
            static_cast<void>(bench.members.take(numbered(author), status, Source::others, bench.context.now()));
            bench.gossip.take(numbered(0), bench.first_status_of(numbered(author)), 1, urgent);
            return std::exchange(bench.swarm.sent_to, {}).size();
        };
        QCOMPARE(told_of(2'000), std::size_t{2});  // also the one that brought it
        bench.gossip.left(numbered(5));
        QCOMPARE(told_of(2'001), std::size_t{1});
    }

    void authors_are_kept_up_to_a_limit() {
        Bench bench;
        for (std::size_t author = 0; author <= relayed_authors_max; ++author)
            bench.gossip.take(Bench::id(2), bench.first_status_of(numbered(author)), 1, urgent);
        const auto is_kept = [&](std::size_t author) {
            return bench.gossip.take_repeated(Bench::id(3), bench.first_status_of(numbered(author)));
        };
        QVERIFY(is_kept(0) && is_kept(relayed_authors_max - 1));
        QVERIFY(!is_kept(relayed_authors_max));
    }
};

QTEST_APPLESS_MAIN(PeerGossipTest)
#include "test_peer_gossip.moc"
