// The runs that were heard of: who has room, who goes, and that no number of strangers hides what somebody vouches for;
// and the messages that tell of them.
#include <QtTest>

#include "core/find/board_message.h"
#include "tests/unit/find/announcement_samples.h"

using namespace potluck;
using namespace potluck::find;
using run::Verdict;
using samples::now;

namespace {

const run::Ed25519Verifier verifier;

Source from(const std::string& address) { return {.address = address}; }

Source neighbour(const std::string& address) {
    return {.address = address, .reach = Source::Reach::local_network, .hand = Source::Hand::first};
}

Bytes announced(std::uint64_t host, std::uint64_t number, std::int64_t made = now) {
    const identity::Identity key = samples::key(host);
    Announcement one = samples::fresh(key, number);
    one.made = made;
    return sign(one, key);
}

/// Believes every signature: ten thousand genuine ones take seconds.
class Credulous final : public run::Verifier {
public:
    bool verify(const PeerId&, std::string_view, ByteSpan, const identity::Signature&) const override { return true; }
};

/// Of a host whose key nobody has, signed by another.
Bytes claimed(std::uint64_t number, std::int64_t made) {
    static const identity::Identity signer = samples::key(1);
    Announcement one = samples::fresh(signer, number);
    one.host.bytes = samples::run(number).bytes;
    one.made = made;
    return detail::encode_and_sign(one, signer);
}

std::string address(std::uint64_t number) { return "address " + std::to_string(number); }

}  // namespace

class TestRunBoard : public QObject {
    Q_OBJECT
private slots:
    void an_announcement_is_found() {
        RunBoard board(verifier);
        QCOMPARE(board.take(announced(1, 1), from("a"), now), Verdict::accepted);
        QCOMPARE(board.found(now).size(), std::size_t{1});
        QCOMPARE(board.found(now)[0].vouch, Vouch::nobody);
        QCOMPARE(board.held(now).size(), std::size_t{1});
        QVERIFY(board.held(now)[0] == announced(1, 1));
    }
    void an_hour_later_it_is_gone() {
        RunBoard board(verifier);
        board.take(announced(1, 1), from("a"), now);
        QCOMPARE(board.found(now + 3'599'999).size(), std::size_t{1});
        QVERIFY(board.found(now + 3'600'000).empty());
        QVERIFY(board.held(now + 3'600'000).empty());
        board.take(announced(2, 2, now + 3'600'000), from("a"), now + 3'600'000);
        QCOMPARE(board.size(), std::size_t{1});
    }
    void a_newer_one_replaces_an_older_one() {
        RunBoard board(verifier);
        QCOMPARE(board.take(announced(1, 1, now - 5), from("a"), now), Verdict::accepted);
        QCOMPARE(board.take(announced(1, 1, now), from("b"), now), Verdict::accepted);
        QCOMPARE(board.take(announced(1, 1, now), from("b"), now), Verdict::repeated);
        QCOMPARE(board.take(announced(1, 1, now - 5), from("a"), now), Verdict::stale);
        QCOMPARE(board.size(), std::size_t{1});
        QCOMPARE(board.found(now)[0].announcement.made, now);
    }
    void refusals_change_nothing_and_are_counted() {
        RunBoard board(verifier);
        Bytes forged = announced(1, 1);
        forged.back() ^= std::byte{1};
        QCOMPARE(board.take(forged, from("a"), now), Verdict::bad_signature);
        QCOMPARE(board.take(Bytes(10), from("a"), now), Verdict::malformed);
        QCOMPARE(board.take(Bytes(announcement_bytes_max + 1), from("a"), now), Verdict::too_large);
        QCOMPARE(board.take(announced(1, 1, now - 3'600'000), from("a"), now), Verdict::stale);
        QCOMPARE(board.take(announced(1, 1, now + 300'001), from("a"), now), Verdict::absurd);
        QCOMPARE(board.size(), std::size_t{0});
        const VerdictCounts expected{{Verdict::malformed, 1},
                                     {Verdict::bad_signature, 1},
                                     {Verdict::stale, 1},
                                     {Verdict::too_large, 1},
                                     {Verdict::absurd, 1}};
        QVERIFY(board.counts() == expected);
    }
    void a_forged_newer_one_does_not_replace_a_genuine_one() {
        RunBoard board(verifier);
        board.take(announced(1, 1), from("a"), now);
        Announcement forged = samples::fresh(samples::key(1));
        forged.made = now + 1;
        QCOMPARE(board.take(detail::encode_and_sign(forged, samples::key(2)), from("a"), now), Verdict::bad_signature);
        QCOMPARE(board.found(now)[0].announcement.made, now);
    }
    void a_host_has_four() {
        RunBoard board(verifier);
        for (std::uint64_t number = 1; number <= 4; ++number)
            board.take(announced(1, number, now + static_cast<std::int64_t>(number)), from(address(number)), now);
        QCOMPARE(board.size(), std::size_t{4});
        QCOMPARE(board.take(announced(1, 5, now), from("b"), now), Verdict::no_room);
        QCOMPARE(board.take(announced(1, 5, now + 9), from("b"), now), Verdict::accepted);
        QCOMPARE(board.size(), std::size_t{4});
        for (const FoundRun& run : board.found(now)) QVERIFY(run.announcement.run != samples::run(1));
    }
    void an_address_has_sixteen() {
        RunBoard board(verifier);
        for (std::uint64_t number = 1; number <= 16; ++number)
            QCOMPARE(board.take(announced(number, number, now + 1), from("a"), now), Verdict::accepted);
        QCOMPARE(board.take(announced(17, 17, now), from("a"), now), Verdict::no_room);
        QCOMPARE(board.take(announced(17, 17, now), from("b"), now), Verdict::accepted);
        QCOMPARE(board.size(), std::size_t{17});
    }
    void an_announcement_that_finds_no_room_pushes_nobody_out() {
        RunBoard board(verifier);
        // Four of host 1, the oldest of which would yield, and an address whose sixteen are newer than the newcomer.
        for (std::uint64_t number = 1; number <= 4; ++number)
            board.take(announced(1, number, now - 9), from(address(number)), now);
        for (std::uint64_t number = 11; number <= 26; ++number)
            board.take(announced(number, number, now), from("a"), now);
        QCOMPARE(board.take(announced(1, 5, now - 1), from("a"), now), Verdict::no_room);
        QCOMPARE(board.size(), std::size_t{20});
    }
    void all_together_are_512_and_the_oldest_goes() {
        RunBoard board(verifier);
        for (std::uint64_t number = 1; number <= announcements_max; ++number)
            board.take(announced(number, number, now + static_cast<std::int64_t>(number)), from(address(number)), now);
        QCOMPARE(board.size(), announcements_max);
        QCOMPARE(board.take(announced(9'999, 9'999, now), from("b"), now), Verdict::no_room);
        QCOMPARE(board.take(announced(9'999, 9'999, now + 9'999), from("b"), now), Verdict::accepted);
        QCOMPARE(board.size(), announcements_max);
        QVERIFY(board.found(now).back().announcement.run != samples::run(1));
    }
    void ten_thousand_strangers_hide_nothing_that_somebody_vouches_for() {
        const Credulous credulous;
        RunBoard board(credulous);
        Trust trust;
        trust.listed[{samples::run(1), samples::key(1).id()}] = "A cook's choice.";
        trust.friends.insert(samples::key(2).id());
        board.set_trust(trust);
        board.take(announced(1, 1, now - 3'000'000), from("a"), now);
        board.take(announced(2, 2, now - 3'000'000), from("a"), now);
        board.take(announced(3, 3, now - 3'000'000), neighbour("b"), now);
        // Each from an address of its own and newer than all before: the best that a stranger can do.
        for (std::uint64_t number = 10; number < 10'010; ++number) {
            const auto made = now + static_cast<std::int64_t>(number);
            QCOMPARE(board.take(claimed(number, made), from(address(number)), now), Verdict::accepted);
        }
        QCOMPARE(board.size(), announcements_max);
        const std::vector<FoundRun> found = board.found(now);
        QCOMPARE(found[0].announcement.run, samples::run(1));
        QCOMPARE(found[0].vouch, Vouch::list);
        QCOMPARE(found[0].line, std::string("A cook's choice."));
        QCOMPARE(found[1].vouch, Vouch::friends);
        QCOMPARE(found[2].vouch, Vouch::network);
        QCOMPARE(found[3].vouch, Vouch::nobody);
        // And what is vouched for has room among them.
        board.set_trust({.listed = {{{samples::run(4), samples::key(4).id()}, "Late."}}, .friends = {}});
        QCOMPARE(board.take(announced(4, 4, now - 3'000'000), from("a"), now), Verdict::accepted);
        QCOMPARE(board.size(), announcements_max);
        QCOMPARE(board.found(now)[0].line, std::string("Late."));
    }
    void ten_thousand_bad_ones_of_each_kind_change_nothing_data() {
        QTest::addColumn<Verdict>("verdict");
        for (const Verdict verdict : {Verdict::bad_signature, Verdict::stale, Verdict::absurd, Verdict::repeated,
                                      Verdict::too_large, Verdict::malformed, Verdict::wrong_author})
            QTest::newRow(run::name_of(verdict)) << verdict;
    }
    void ten_thousand_bad_ones_of_each_kind_change_nothing() {
        QFETCH(Verdict, verdict);
        RunBoard board(verifier);
        const Bytes genuine = announced(1, 1);
        board.take(genuine, from("a"), now);
        Bytes bad = genuine;
        if (verdict == Verdict::bad_signature) bad = announced(2, 2), bad.back() ^= std::byte{1};
        if (verdict == Verdict::stale) bad = announced(2, 2, now - announcement_lasts.count());
        if (verdict == Verdict::absurd) bad = announced(2, 2, now + clocks_differ_max.count() + 1);
        if (verdict == Verdict::too_large) bad.resize(announcement_bytes_max + 1);
        if (verdict == Verdict::malformed) bad.push_back(std::byte{0});
        if (verdict == Verdict::wrong_author) bad = sign(samples::decided(samples::key(2), 7, 4, 2), samples::key(2));
        constexpr std::uint64_t times = 10'000;
        for (std::uint64_t i = 0; i < times; ++i) board.take(bad, from(address(i)), now);
        QCOMPARE(board.counts().at(verdict), times);
        QCOMPARE(board.size(), std::size_t{1});
        QVERIFY(board.held(now) == std::vector<Bytes>{genuine});
    }
    void the_run_that_is_carried_yields_to_nothing_and_is_told_while_it_holds() {
        const Credulous credulous;
        RunBoard board(credulous);
        const HostedRun carried{samples::run(1), samples::key(1).id()};
        QVERIFY(board.carried(now).empty());
        board.carry(carried);
        QVERIFY(board.carried(now).empty());
        const Bytes told = announced(1, 1, now - 3'000'000);
        board.take(told, from("a"), now);
        for (std::uint64_t number = 10; number < 1'010; ++number)
            board.take(claimed(number, now + static_cast<std::int64_t>(number)), from(address(number)), now);
        QVERIFY(board.carried(now) == told);
        QCOMPARE(board.found(now)[0].announcement.run, samples::run(1));
        // As much as its host, but no longer than that has signed.
        QVERIFY(board.carried(now - 3'000'000 + announcement_lasts.count()).empty());
        QCOMPARE(board.said_of(carried, now)->made, now - 3'000'000);
        QVERIFY(!board.said_of({samples::run(1), samples::key(2).id()}, now));
        board.carry(std::nullopt);
        QVERIFY(board.carried(now).empty());
    }
    void a_list_vouches_for_a_run_of_its_host_only() {
        RunBoard board(verifier);
        board.set_trust({.listed = {{{samples::run(1), samples::key(1).id()}, "Good."}}, .friends = {}});
        board.take(announced(2, 1), from("a"), now);
        QCOMPARE(board.found(now)[0].vouch, Vouch::nobody);
        QVERIFY(board.found(now)[0].line.empty());
    }
    void an_announcement_passed_on_by_a_neighbour_is_not_of_this_network() {
        RunBoard board(verifier);
        Source passed = neighbour("b");
        passed.hand = Source::Hand::passed_on;
        board.take(announced(1, 1), passed, now);
        QCOMPARE(board.found(now)[0].vouch, Vouch::nobody);
        Source far = neighbour("b");
        far.reach = Source::Reach::internet;
        board.take(announced(1, 1), far, now);
        QCOMPARE(board.found(now)[0].vouch, Vouch::nobody);
        QCOMPARE(board.take(announced(1, 1), neighbour("b"), now), Verdict::repeated);
        QCOMPARE(board.found(now)[0].vouch, Vouch::network);
    }
    void a_computer_of_this_network_has_sixteen_too() {
        RunBoard board(verifier);
        for (std::uint64_t number = 1; number <= 20; ++number)
            board.take(announced(number, number), neighbour("a"), now);
        QCOMPARE(board.size(), announcements_per_address_max);
    }
    void a_list_may_name_more_than_four_of_a_host_and_sixteen_of_an_address() {
        RunBoard board(verifier);
        Trust trust;
        for (std::uint64_t number = 1; number <= 20; ++number)
            trust.listed[{samples::run(number), samples::key(1).id()}] = "One of many.";
        board.set_trust(trust);
        for (std::uint64_t number = 1; number <= 20; ++number)
            QCOMPARE(board.take(announced(1, number), from("a"), now), Verdict::accepted);
    }
    void an_own_announcement_stays() {
        RunBoard board(verifier);
        board.take_own(announced(1, 1, now - 3'000'000), now);
        for (std::uint64_t number = 10; number < 10 + announcements_max; ++number)
            board.take(announced(number, number, now), from(address(number)), now);
        QCOMPARE(board.size(), announcements_max);
        QCOMPARE(board.found(now)[0].announcement.run, samples::run(1));
    }

    void messages_are_read_as_they_were_written() {
        for (const BoardMessage& message :
             {BoardMessage(BoardQuestion{}), BoardMessage(BoardNote{Source::Hand::first, announced(1, 1)}),
              BoardMessage(BoardNote{Source::Hand::passed_on, announced(1, 1)})}) {
            QVERIFY(decode_board_message(encode(message)) == message);
        }
    }
    void bytes_that_are_no_message_are_not_decoded() {
        QVERIFY(!decode_board_message({}));
        QVERIFY(!decode_board_message(Bytes{std::byte{3}}));
        QVERIFY(!decode_board_message(Bytes{std::byte{0}, std::byte{0}}));
        QVERIFY(decode_board_message(Bytes(1 + announcement_bytes_max, std::byte{1})));
        QVERIFY(!decode_board_message(Bytes(2 + announcement_bytes_max, std::byte{1})));
    }
    void a_session_has_its_rate() {
        Budget budget;
        const TimePoint start{Duration{1'000}};
        for (int i = 0; i < 1'024; ++i) QVERIFY(budget.spend_announcement(start));
        QVERIFY(!budget.spend_announcement(start));
        QVERIFY(budget.spend_announcement(start + Duration{500}));
        QVERIFY(!budget.spend_announcement(start + Duration{500}));
        QVERIFY(budget.spend_announcement(start + Duration{3'600'000}));
    }
    void a_session_is_answered_once_in_ten_minutes() {
        Budget budget;
        const TimePoint start{Duration{1'000}};
        QVERIFY(budget.spend_answer(start));
        QVERIFY(!budget.spend_answer(start + Duration{599'999}));
        QVERIFY(budget.spend_answer(start + Duration{600'000}));
    }
    void all_sessions_together_are_answered_twelve_times_a_minute() {
        AnswerBudget budget;
        const TimePoint start{Duration{1'000}};
        for (int i = 0; i < 12; ++i) QVERIFY(budget.spend(start));
        QVERIFY(!budget.spend(start + Duration{59'999}));
        QVERIFY(budget.spend(start + Duration{60'000}));
    }
};

QTEST_APPLESS_MAIN(TestRunBoard)
#include "test_run_board.moc"
