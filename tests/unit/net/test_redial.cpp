// When addresses are dialled again, and whose are urgent.
#include <QTest>

#include "net/links/redial.h"

using namespace potluck;
using namespace potluck::net;

namespace {

using Endpoint = Redial::Endpoint;

PeerId peer(std::uint8_t number) {
    PeerId id;
    id.bytes[0] = std::byte{number};
    return id;
}
TimePoint at(Duration passed) { return TimePoint{Duration{1'000'000} + passed}; }
Endpoint address_of(const char* address) { return {boost::asio::ip::make_address(address), 7000}; }
bool nobody(const Endpoint&) { return false; }
bool everybody(const Endpoint&) { return true; }

const Endpoint hub = address_of("203.0.113.1"), member = address_of("203.0.113.2"), other = address_of("203.0.113.3");

/// When `address` is dialled in the next `passed`, looked at every 100 ms, in milliseconds from `begin`.
std::vector<int> dials(Redial& redial, const Endpoint& address, Duration begin, Duration passed) {
    std::vector<int> times;
    for (Duration now{0}; now < passed; now += Duration{100}) {
        const std::vector<Endpoint> due = redial.due(at(begin + now), Redial::Whom::everybody, nobody);
        if (std::ranges::find(due, address) != due.end()) times.push_back(static_cast<int>(now.count()));
    }
    return times;
}

/// Each wait lies within a fifth of the wanted one, in milliseconds and looked at every 100 of them.
bool are_about(const std::vector<int>& times, const std::vector<int>& waits) {
    for (std::size_t i = 0; i < waits.size(); ++i) {
        if (i + 1 >= times.size()) return false;
        const int wait = times[i + 1] - times[i];
        if (wait < waits[i] * 4 / 5 - 100 || wait > waits[i] * 6 / 5 + 100) return false;
    }
    return true;
}

}  // namespace

class RedialTest : public QObject {
    Q_OBJECT
private slots:
    void an_address_is_tried_at_once_and_then_less_and_less_often() {
        Redial redial(1);
        redial.add(member);
        const std::vector<int> times = dials(redial, member, Duration{0}, Duration{400'000});
        QCOMPARE(times.at(0), 0);
        QVERIFY(are_about(times, {2'000, 4'000, 8'000, 16'000, 32'000, 60'000, 60'000, 60'000}));
    }

    void a_connected_address_is_dialled_only_after_it_is_lost() {
        Redial redial(1);
        redial.add(member);
        QCOMPARE(redial.due(at(Duration{0}), Redial::Whom::everybody, nobody).size(), std::size_t{1});
        for (int passed = 0; passed < 600'000; passed += 100)
            QVERIFY(redial.due(at(Duration{passed}), Redial::Whom::everybody, everybody).empty());
        const std::vector<int> times = dials(redial, member, Duration{599'900}, Duration{60'000});
        QCOMPARE(times.at(0), 2'000);
        QVERIFY(are_about(times, {4'000, 8'000, 16'000}));
    }

    void a_lost_hub_is_dialled_after_one_two_four_and_then_every_five_seconds() {
        Redial redial(1);
        redial.add_hint(hub);
        redial.add(member);
        redial.met(peer(1), {hub});
        redial.met(peer(2), {member});
        redial.need({peer(1)}, {peer(1)}, at(Duration{0}));
        QVERIFY(redial.is_urgent(hub) && !redial.is_urgent(member));
        QVERIFY(redial.due(at(Duration{0}), Redial::Whom::everybody, everybody).empty());
        const std::vector<int> times = dials(redial, hub, Duration{0}, Duration{3'600'000});
        QCOMPARE(times.at(0), 1'000);
        QVERIFY(are_about(times, {2'000, 4'000, 5'000, 5'000, 5'000}));
        QVERIFY(times.size() > 3'600 / 6 && times.size() < 3'600 / 4);
    }

    /// Failed for minutes, so that its next turn is a minute away.
    void an_address_becomes_urgent_at_once_and_stays_so_while_it_is_missed() {
        Redial redial(1);
        redial.add(member);
        redial.met(peer(2), {member});
        QVERIFY(!dials(redial, member, Duration{0}, Duration{200'000}).empty());
        redial.need({peer(2)}, {peer(2)}, at(Duration{200'000}));
        std::vector<int> times = dials(redial, member, Duration{200'000}, Duration{30'000});
        QVERIFY(times.at(0) <= 1'000 && times.size() >= 6);
        redial.need({peer(2)}, {peer(2)}, at(Duration{230'000}));  // said at every heartbeat: changes nothing
        redial.need({}, {}, at(Duration{230'000}));
        QVERIFY(!redial.is_urgent(member));
        times = dials(redial, member, Duration{230'000}, Duration{400'000});
        QVERIFY(times.size() <= 12);
    }

    void repeating_a_need_delays_no_dial() {
        Redial redial(1);
        redial.add_hint(hub);
        int dialled = 0;
        for (Duration now{0}; now < Duration{60'000}; now += Duration{100}) {
            redial.need({peer(1)}, {peer(1)}, at(now));
            redial.add_hint(hub);  // a name is looked up again every minute
            dialled += static_cast<int>(redial.due(at(now), Redial::Whom::everybody, nobody).size());
        }
        QVERIFY2(dialled >= 60 / 6 && dialled <= 60 / 4 + 3, std::to_string(dialled).c_str());
    }

    void hints_are_urgent_whoever_is_missed_and_others_are_not() {
        Redial redial(1);
        redial.add_hint(hub);
        redial.add(other);
        redial.met(peer(3), {other});
        redial.need({peer(9)}, {peer(9)}, at(Duration{0}));  // has never been met
        QVERIFY(redial.is_urgent(hub) && !redial.is_urgent(other));
        redial.need({}, {}, at(Duration{0}));
        QVERIFY(!redial.is_urgent(hub));
    }

    void the_first_hints_are_urgent_and_those_beyond_the_limit_are_not() {
        Redial redial(1);
        const auto hint = [](std::size_t number) {
            return Endpoint{hub.address(), static_cast<std::uint16_t>(7'000 + number)};
        };
        for (std::size_t i = 0; i <= hints_max; ++i) redial.add_hint(hint(i));
        redial.need({peer(1)}, {peer(1)}, at(Duration{0}));
        QVERIFY(redial.is_urgent(hint(0)) && redial.is_urgent(hint(hints_max - 1)));
        QVERIFY(!redial.is_urgent(hint(hints_max)));
        QCOMPARE(redial.size(), hints_max + 1);  // it is dialled all the same
    }

    void a_member_that_moved_is_sought_where_it_was_seen_last_first() {
        Redial redial(1);
        const Endpoint first = address_of("203.0.113.10"), last = address_of("203.0.113.20");
        redial.met(peer(1), {first});
        for (int i = 11; i <= 19; ++i) redial.met(peer(1), {address_of(("203.0.113." + std::to_string(i)).c_str())});
        redial.met(peer(1), {last});
        redial.need({peer(1)}, {peer(1)}, at(Duration{0}));
        QVERIFY(redial.is_urgent(last) && !redial.is_urgent(first));
    }

    void members_that_lost_one_hub_dial_it_at_different_times() {
        std::set<int> seen;
        for (std::uint64_t seed = 0; seed < 40; ++seed) {
            Redial redial(seed);
            redial.add_hint(hub);
            redial.need({peer(1)}, {peer(1)}, at(Duration{0}));
            seen.insert(dials(redial, hub, Duration{0}, Duration{60'000}).back());
        }
        QVERIFY2(seen.size() >= 15, std::to_string(seen.size()).c_str());
    }

    void with_enough_sessions_only_deciders_and_hints_are_dialled() {
        Redial redial(1);
        redial.add_hint(hub);
        for (const Endpoint& address : {member, other}) redial.add(address);
        redial.met(peer(2), {member});
        redial.met(peer(3), {other});
        redial.need({peer(2)}, {}, at(Duration{0}));
        QVERIFY(!redial.is_urgent(hub) && !redial.is_urgent(member));
        QVERIFY(redial.due(at(Duration{0}), Redial::Whom::deciders, nobody) == (std::vector{hub, member}));
        QVERIFY(redial.due(at(Duration{0}), Redial::Whom::everybody, nobody) == std::vector{other});
    }

    /// Who starts again remembers two hundred.
    void others_are_dialled_eight_at_once_and_eight_a_second() {
        Redial redial(1);
        for (std::uint16_t i = 0; i < 200; ++i) redial.add({other.address(), static_cast<std::uint16_t>(7'001 + i)});
        redial.add_hint(hub);
        const auto dialled_at = [&](int passed) {
            return static_cast<int>(redial.due(at(Duration{passed}), Redial::Whom::everybody, nobody).size());
        };
        QCOMPARE(dialled_at(0), 1 + others_dialled_at_once);
        int dialled = 0;
        for (int passed = 100; passed <= 1'900; passed += 100) dialled += dialled_at(passed);
        QVERIFY2(dialled >= 14 && dialled <= 16, std::to_string(dialled).c_str());
        QVERIFY(dialled_at(60'000) <= 1 + others_dialled_at_once);
    }

    /// Nor do addresses that sort before it and lead nowhere keep one from its turn.
    void every_address_is_dialled_before_one_is_dialled_twice() {
        Redial redial(1);
        for (std::uint16_t i = 0; i < 40; ++i) redial.add({other.address(), static_cast<std::uint16_t>(7'001 + i)});
        std::set<Endpoint> dialled;
        for (int passed = 0; passed <= 4'200; passed += 100) {
            for (const Endpoint& one : redial.due(at(Duration{passed}), Redial::Whom::everybody, nobody))
                dialled.insert(one);
        }
        QCOMPARE(dialled.size(), std::size_t{40});
    }

    void no_more_members_are_located_than_are_remembered() {
        Redial redial(1);
        redial.need({peer(0)}, {peer(0)}, at(Duration{0}));
        redial.met(peer(0), {hub});
        for (std::size_t i = 1; i < 2 * located_max; ++i) {
            PeerId id = peer(static_cast<std::uint8_t>(i));
            id.bytes[1] = static_cast<std::byte>(i >> 8U);
            id.bytes[2] = std::byte{1};
            redial.met(id, {other});
        }
        QVERIFY(redial.is_urgent(hub));  // who is missed is not pushed out
        QVERIFY(redial.located() <= located_max);
    }
};

QTEST_APPLESS_MAIN(RedialTest)
#include "test_redial.moc"
