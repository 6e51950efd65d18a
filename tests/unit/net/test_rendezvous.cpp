// Who asks whom for an introduction, who dials, what nobody can make a member do. The routers are in tests/homes.
#include <QTest>

#include <algorithm>
#include <set>
#include <string>

#include "net/rendezvous.h"

using namespace potluck;
using namespace potluck::net;

namespace {

PeerId peer(std::uint8_t number) {
    PeerId id;
    id.bytes[0] = std::byte{number};
    return id;
}
TimePoint at(int milliseconds) { return TimePoint{Duration{1'000'000 + milliseconds}}; }
lt::tcp::endpoint place(const char* address, std::uint16_t port = 7000) {
    return {boost::asio::ip::make_address(address), port};
}

/// Who is asked about in `passed` from then on, looked at every 100 ms; one neighbour, who knows nobody.
std::set<PeerId> asked_about(Rendezvous& rendezvous, TimePoint from, Duration passed) {
    std::set<PeerId> wanted;
    for (Duration now{0}; now < passed; now += Duration{100}) {
        for (const auto& one : rendezvous.questions({peer(200)}, from + now)) wanted.insert(one.wanted);
    }
    return wanted;
}

constexpr std::uint64_t secret = 7;
constexpr std::uint8_t self = 5, lower = 3, higher = 9, introducer = 100, another = 101;

}  // namespace

class RendezvousTest : public QObject {
    Q_OBJECT
private slots:
    void both_ask_and_the_lower_key_dials_and_the_higher_opens_its_way() {
        Rendezvous rendezvous(peer(self), secret);
        rendezvous.seek({peer(lower), peer(higher)}, {}, at(0));
        const auto questions = rendezvous.questions({peer(introducer)}, at(0));
        QCOMPARE(questions.size(), std::size_t{2});
        for (const auto& one : questions) QVERIFY(one.introducer == peer(introducer));
        QVERIFY(rendezvous.introduced(peer(higher), place("203.0.113.9"), at(0)));
        QVERIFY(rendezvous.introduced(peer(lower), place("203.0.113.3"), at(0)));
        const auto actions = rendezvous.due(at(0));
        QCOMPARE(actions.size(), std::size_t{2});
        for (const Rendezvous::Action& action : actions) {
            QCOMPARE(action.dials, action.to == place("203.0.113.9"));
            QVERIFY(action.dials || action.to == place("203.0.113.3"));
        }
    }

    void an_introduction_leads_to_three_attempts() {
        Rendezvous rendezvous(peer(self), secret);
        rendezvous.seek({peer(higher)}, {}, at(0));
        QVERIFY(rendezvous.introduced(peer(higher), place("203.0.113.9"), at(0)));
        int acts = 0;
        for (int now = 0; now < 60'000; now += 100) acts += static_cast<int>(rendezvous.due(at(now)).size());
        QCOMPARE(acts, acts_max);
        QVERIFY(rendezvous.introduced(peer(higher), place("203.0.113.9"), at(60'000)));
        QCOMPARE(rendezvous.due(at(60'000)).size(), std::size_t{1});
        QVERIFY(rendezvous.due(at(60'000) + act_again - Duration{1}).empty());
        QCOMPARE(rendezvous.due(at(60'000) + act_again).size(), std::size_t{1});
    }

    /// Who says it again while the attempt goes on does not make it longer, or point it elsewhere.
    void an_attempt_goes_on_as_it_was_begun() {
        Rendezvous rendezvous(peer(self), secret);
        rendezvous.seek({peer(higher)}, {}, at(0));
        int acts = 0;
        for (int now = 0; now < 1'000; now += 10) {
            QVERIFY(rendezvous.introduced(peer(higher), place(now == 0 ? "203.0.113.9" : "198.51.100.1"), at(now)));
            for (const Rendezvous::Action& action : rendezvous.due(at(now))) {
                ++acts;
                QVERIFY(action.to == place("203.0.113.9"));
            }
        }
        QCOMPARE(acts, 1);
    }

    void introductions_to_unsought_members_and_useless_addresses_are_refused() {
        Rendezvous rendezvous(peer(self), secret);
        QVERIFY(!rendezvous.introduced(peer(higher), place("203.0.113.9"), at(0)));
        rendezvous.seek({peer(higher)}, {}, at(0));
        for (const char* nowhere : {"127.0.0.1", "0.0.0.0", "224.0.0.1", "255.255.255.255", "::1", "::", "ff02::1"}) {
            QVERIFY2(!rendezvous.introduced(peer(higher), place(nowhere), at(0)), nowhere);
        }
        QVERIFY(!rendezvous.introduced(peer(higher), place("203.0.113.9", 0), at(0)));
        QVERIFY(rendezvous.due(at(0)).empty());
        for (const char* somewhere : {"203.0.113.9", "192.168.1.7", "2001:db8::9"}) {
            Rendezvous fresh(peer(self), secret);
            fresh.seek({peer(higher)}, {}, at(0));
            QVERIFY2(fresh.introduced(peer(higher), place(somewhere), at(0)), somewhere);
        }
    }

    void a_member_that_was_met_or_is_gone_is_sought_no_more() {
        Rendezvous rendezvous(peer(self), secret);
        rendezvous.seek({peer(higher), peer(higher + 1)}, {}, at(0));
        QVERIFY(rendezvous.introduced(peer(higher), place("203.0.113.9"), at(0)));
        rendezvous.met(peer(higher));
        QVERIFY(rendezvous.due(at(0)).empty());
        rendezvous.seek({}, {}, at(0));
        QVERIFY(rendezvous.questions({peer(introducer)}, at(0)).empty());
    }

    void each_neighbour_is_asked_in_turn_and_then_more_rarely() {
        Rendezvous rendezvous(peer(self), secret);
        rendezvous.seek({peer(higher)}, {}, at(0));
        const std::vector neighbours{peer(introducer), peer(another)};
        std::vector<PeerId> asked;
        std::vector<int> times;
        for (int now = 0; now < 40'000; now += 100) {
            for (const Rendezvous::Question& question : rendezvous.questions(neighbours, at(now))) {
                asked.push_back(question.introducer);
                times.push_back(now);
            }
        }
        QVERIFY(asked.size() >= 4);
        for (std::size_t i = 0; i < 4; ++i) QVERIFY(asked[i] == neighbours[i % 2]);
        QCOMPARE(times[1] - times[0], static_cast<int>(seek_again_first.count()));
        QCOMPARE(times[2] - times[1], static_cast<int>(seek_again_first.count()));
        QCOMPARE(times[3] - times[2], static_cast<int>(2 * seek_again_first.count()));
        int last = times.back(), longest = 0;
        for (int now = 40'000; now < 4'000'000; now += 1'000) {
            if (rendezvous.questions(neighbours, at(now)).empty()) continue;
            longest = std::max(longest, now - last);
            last = now;
        }
        QVERIFY(std::abs(longest - static_cast<int>(seek_again_longest.count())) <= 1'000);
    }

    void with_many_sessions_nobody_is_sought() {
        Rendezvous rendezvous(peer(self), secret);
        rendezvous.seek({peer(higher)}, {}, at(0));
        std::vector<PeerId> neighbours;
        for (std::size_t i = 0; i < sessions_wanted; ++i)
            neighbours.push_back(peer(static_cast<std::uint8_t>(100 + i)));
        QVERIFY(rendezvous.questions(neighbours, at(0)).empty());
        neighbours.pop_back();
        QCOMPARE(rendezvous.questions(neighbours, at(0)).size(), std::size_t{1});
        QVERIFY(rendezvous.questions({}, at(100'000)).empty());
    }

    void so_many_are_sought_and_no_more() {
        Rendezvous rendezvous(peer(0), secret);
        std::vector<PeerId> all;
        for (std::uint8_t i = 0; i < members_sought_max + 10; ++i)
            all.push_back(peer(static_cast<std::uint8_t>(i + 1)));
        rendezvous.seek(all, {}, at(0));
        QCOMPARE(asked_about(rendezvous, at(0), Duration{600'000}).size(), members_sought_max);
    }

    /// Who asked about everybody at once would have a session with everybody.
    void a_newcomer_asks_about_as_many_as_it_lacks_and_then_about_others() {
        Rendezvous rendezvous(peer(0), secret);
        std::vector<PeerId> all;
        for (std::uint8_t i = 1; i <= 40; ++i) all.push_back(peer(i));
        rendezvous.seek(all, {}, at(0));
        const auto first = asked_about(rendezvous, at(0), place_kept);
        QCOMPARE(first.size(), sessions_wanted - 1);
        const auto next = asked_about(rendezvous, at(0) + place_kept, Duration{100});
        QCOMPARE(std::ranges::count_if(next, [&](const PeerId& one) { return !first.contains(one); }),
                 static_cast<std::ptrdiff_t>(sessions_wanted - 1));
        // One of them is met: it is a session, and has a place no more.
        rendezvous.met(*next.begin());
        const auto questions = rendezvous.questions({peer(200), *next.begin()}, at(0) + place_kept + Duration{200});
        for (const auto& one : questions) QVERIFY(first.contains(one.wanted) || next.contains(one.wanted));
    }

    /// A hundred made-up keys of which each is lower than all others.
    void attackers_cannot_choose_which_members_are_sought() {
        std::vector<PeerId> all;
        for (int i = 0; i < 1'000; ++i) {
            PeerId id = peer(static_cast<std::uint8_t>(i < 900 ? 1 : 2));
            id.bytes[1] = static_cast<std::byte>(i);
            id.bytes[2] = static_cast<std::byte>(i >> 8);
            all.push_back(id);
        }
        const auto is_honest = [](const PeerId& one) { return one.bytes[0] == std::byte{2}; };
        std::set<PeerId> reached;
        for (std::uint64_t own = 0; own < 50; ++own) {
            Rendezvous rendezvous(peer(0), own);
            rendezvous.seek(all, {}, at(0));
            for (const PeerId& one : asked_about(rendezvous, at(0), draw_again_after)) {
                if (is_honest(one)) reached.insert(one);
            }
        }
        QVERIFY2(reached.size() >= 40, std::to_string(reached.size()).c_str());
        // Those who are not drawn come later.
        Rendezvous rendezvous(peer(0), secret);
        std::set<PeerId> later;
        for (int draw = 0; draw < 200; ++draw) {
            const TimePoint now = at(static_cast<int>(draw * draw_again_after.count()));
            rendezvous.seek(all, {}, now);
            rendezvous.seek(all, {}, now + Duration{1});
            later.merge(asked_about(rendezvous, now, draw_again_after));
        }
        QVERIFY2(later.size() >= 900, std::to_string(later.size()).c_str());
    }

    void deciders_are_sought_first() {
        std::vector<PeerId> all;
        for (std::uint8_t i = 1; i <= 200; ++i) all.push_back(peer(i));
        const std::set<PeerId> deciders{peer(77), peer(199), peer(200)};
        for (std::uint64_t own = 0; own < 20; ++own) {
            Rendezvous rendezvous(peer(0), own);
            rendezvous.seek(all, deciders, at(0));
            const auto questions = rendezvous.questions({peer(201)}, at(0));
            QCOMPARE(questions.size(), sessions_wanted - 1);
            QCOMPARE(std::ranges::count_if(questions, [&](const auto& one) { return deciders.contains(one.wanted); }),
                     3);
        }
    }

    /// It may know all whom nobody here knew.
    void a_neighbour_that_comes_back_is_asked_at_once_for_everybody() {
        Rendezvous rendezvous(peer(self), secret);
        rendezvous.seek({peer(higher), peer(higher + 1)}, {}, at(0));
        for (int now = 0; now < 600'000; now += 100)
            static_cast<void>(rendezvous.questions({peer(introducer)}, at(now)));
        QVERIFY(rendezvous.questions({peer(introducer), peer(another)}, at(600'000)).empty());
        rendezvous.met(peer(another));
        const auto questions = rendezvous.questions({peer(introducer), peer(another)}, at(600'000));
        QCOMPARE(questions.size(), std::size_t{2});
        for (const auto& one : questions) QVERIFY(one.introducer == peer(another));
        QVERIFY(rendezvous.questions({peer(introducer), peer(another)}, at(600'100)).empty());
        const auto next = rendezvous.questions({peer(introducer), peer(another)}, at(600'000) + seek_again_first);
        QCOMPARE(next.size(), std::size_t{2});
    }

    void a_session_is_introduced_to_a_few_at_once_and_then_one_a_second() {
        Rendezvous rendezvous(peer(self), secret);
        int told = 0;
        for (int i = 0; i < 100; ++i) told += rendezvous.may_introduce(peer(lower), at(0)) ? 1 : 0;
        QCOMPARE(told, static_cast<int>(introductions_at_once));
        QVERIFY(rendezvous.may_introduce(peer(higher), at(0)));  // another session has its own
        QVERIFY(!rendezvous.may_introduce(peer(lower), at(900)));
        QVERIFY(rendezvous.may_introduce(peer(lower), at(2'000)));
        told = 0;
        for (int i = 0; i < 100; ++i) told += rendezvous.may_introduce(peer(lower), at(3'600'000)) ? 1 : 0;
        QCOMPARE(told, static_cast<int>(introductions_at_once));
    }
};

QTEST_APPLESS_MAIN(RendezvousTest)
#include "test_rendezvous.moc"
