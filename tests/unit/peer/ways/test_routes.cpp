// Where contributions go: everywhere while everybody is full, and else to full neighbours and towards seats.
#include <QTest>

#include "core/peer/presence/routes.h"
#include "tests/unit/peer/peer_fixture.h"

using namespace potluck;
using namespace potluck::peer;
using Reach = Routes::Reach;

namespace {

/// Key 1, whose neighbours are the keys 2 to 9: 2 and 3 are full, the others light. The seats are 21 to 24, of which
/// the neighbours 4 to 7 tell, in this order.
struct Bench : Fixture {
    Bench() {
        for (std::uint8_t who = 2; who <= 9; ++who) {
            members.joined(id(who));
            swarm.around.push_back(id(who));
            hear(who, who, who > 3);
        }
        for (std::uint8_t seat = 21; seat <= 24; ++seat) hear(static_cast<std::uint8_t>(seat - 17), seat, false);
        swarm.sent_to.clear();
        swarm.sent.clear();
    }
    static PeerId id(std::uint8_t who) { return key_of(who).id(); }
    /// `from` brings the next status of `who`.
    void hear(std::uint8_t from, std::uint8_t who, bool light) {
        run::StatusMessage status;
        status.sequence = ++sequence;
        status.light = light;
        const Source source = from == who ? Source::itself : Source::others;
        POTLUCK_CHECK(members.take(id(who), status, source, context.now()) == run::Verdict::accepted);
        const run::Envelope envelope{context.run, id(who), run::MessageKind::status, run::encode_body(status), {}};
        gossip.take(id(from), envelope, status.sequence, Gossip::Urgency::waits);
    }
    void all_are_full() {
        for (std::uint8_t who = 4; who <= 9; ++who) hear(who, who, false);
        swarm.sent_to.clear();
    }
    void forget_ways() {
        for (std::uint8_t who = 4; who <= 7; ++who) members.left(id(who));
    }
    /// Seats' statuses come from neighbour 8, too, for all seats but the last.
    void let_8_hear_all_but_the_fourth() {
        for (const std::uint8_t seat : std::vector<std::uint8_t>{21, 22, 23}) {
            hear(8, seat, false);
            hear(static_cast<std::uint8_t>(seat - 17), seat, false);
        }
        swarm.sent_to.clear();
    }
    /// To whom a contribution of `author` goes that has come from the neighbour `from`, by number.
    std::set<int> passed_on(std::uint8_t author = 30, std::uint8_t from = 2, std::uint64_t round = 5) {
        run::Envelope contribution{context.run, id(author), run::MessageKind::contribution, {}, {}};
        contribution.payload = {std::byte{1}};
        routes.pass_on(contribution, RoundId{round}, seats, id(from));
        return receivers([](const run::Envelope& one) { return one.payload.empty(); });
    }
    std::set<int> receivers(const std::function<bool(const run::Envelope&)>& is_right) {
        std::set<int> numbers;
        for (const auto& [to, envelope] : std::exchange(swarm.sent_to, {})) {
            for (std::uint8_t number = 2; number < 30; ++number) {
                if (id(number) == to) numbers.insert(is_right(envelope) ? number : -1);
            }
        }
        return numbers;
    }
    static std::set<int> light_ones(const std::set<int>& receivers) {
        std::set<int> light;
        for (const int one : receivers) {
            if (one > 3) light.insert(one);
        }
        return light;
    }
    run::ContributionMessage own() const {
        return {RoundId{5}, {}, {merkle_root(as_bytes("x")), 1, run::BlobKind::plain, {}}, {64}, {}};
    }

    std::uint64_t sequence = 0;
    std::vector<PeerId> seats = ids_of({21, 22, 23, 24});
    Members members;
    Gossip gossip{context, members};
    Routes routes{context, members, gossip};
};

}  // namespace

class RoutesTest : public QObject {
    Q_OBJECT
private slots:
    void where_nobody_is_light_every_neighbour_hears_of_it_but_author_and_deliverer() {
        Bench bench;
        bench.all_are_full();
        QCOMPARE(bench.passed_on(), (std::set<int>{3, 4, 5, 6, 7, 8, 9}));
        QCOMPARE(bench.passed_on(9, 3), (std::set<int>{2, 4, 5, 6, 7, 8}));
    }

    void full_neighbours_hear_of_it_and_light_ones_on_the_way_to_two_of_four_seats() {
        Bench bench;
        const std::set<int> receivers = bench.passed_on();
        QVERIFY(receivers.contains(3) && !receivers.contains(2));
        const std::set<int> light = Bench::light_ones(receivers);
        QCOMPARE(light.size(), std::size_t{2});
        QVERIFY(!light.contains(8) && !light.contains(9));
        QCOMPARE(bench.passed_on(), receivers);
    }

    void other_seats_are_chosen_for_other_rounds_and_authors() {
        Bench bench;
        std::set<std::set<int>> by_round, by_author;
        for (std::uint8_t i = 0; i < 30; ++i) {
            by_round.insert(Bench::light_ones(bench.passed_on(30, 2, i)));
            by_author.insert(Bench::light_ones(bench.passed_on(static_cast<std::uint8_t>(30 + i))));
        }
        QVERIFY(by_round.size() >= 4);
        QVERIFY(by_author.size() >= 4);
    }

    void a_way_leads_over_the_neighbour_that_brought_the_newest_status() {
        Bench bench;
        bench.seats = {Bench::id(21)};
        QCOMPARE(Bench::light_ones(bench.passed_on()), std::set<int>{4});
        bench.hear(8, 21, false);
        bench.swarm.sent_to.clear();
        QCOMPARE(Bench::light_ones(bench.passed_on()), std::set<int>{8});
        bench.members.left(Bench::id(8));
        std::erase(bench.swarm.around, Bench::id(8));
        QVERIFY(!bench.gossip.way_to(Bench::id(21)));
        bench.members.joined(Bench::id(21));
        QVERIFY(bench.gossip.way_to(Bench::id(21)) == Bench::id(21));
    }

    /// Else the paths to two seats would cross and fork at every hop.
    void it_goes_on_to_those_seats_alone_that_its_deliverer_hears_through_here() {
        Bench bench;
        bench.let_8_hear_all_but_the_fourth();
        int towards_the_fourth = 0;
        for (std::uint64_t round = 0; round < 30; ++round) {
            const std::set<int> from_others = Bench::light_ones(bench.passed_on(30, 2, round));
            const bool is_chosen = from_others.contains(7);
            towards_the_fourth += is_chosen ? 1 : 0;
            QCOMPARE(Bench::light_ones(bench.passed_on(30, 8, round)), is_chosen ? std::set<int>{7} : from_others);
        }
        QVERIFY(towards_the_fourth > 0 && towards_the_fourth < 30);
    }

    void a_seat_tells_all_other_seats() {
        Bench bench;
        bench.seats = ids_of({1, 21, 22, 24});
        QCOMPARE(Bench::light_ones(bench.passed_on()), (std::set<int>{4, 5, 7}));
        bench.let_8_hear_all_but_the_fourth();
        QCOMPARE(Bench::light_ones(bench.passed_on(30, 8)), (std::set<int>{4, 5, 7}));
    }

    void where_no_way_to_a_seat_is_known_every_neighbour_hears_of_it() {
        Bench bench;
        bench.forget_ways();
        QCOMPARE(bench.passed_on(), (std::set<int>{3, 4, 5, 6, 7, 8, 9}));
        bench.seats = {bench.self.id()};
        QCOMPARE(bench.passed_on(), std::set<int>{3});
        bench.seats = {Bench::id(30)};
        QCOMPARE(bench.passed_on(30), std::set<int>{3});
    }

    void an_own_contribution_brings_its_payload_to_full_neighbours_alone() {
        Bench bench;
        const Bytes payload{std::byte{7}};
        const auto is_right = [](const PeerId& to, const run::Envelope& envelope) {
            const bool is_full = to == Bench::id(2) || to == Bench::id(3);
            return envelope.payload.empty() != is_full;
        };
        for (const Reach reach : {Reach::seats, Reach::all_neighbours}) {
            bench.routes.send(bench.own(), payload, bench.seats, reach);
            const auto sent = std::exchange(bench.swarm.sent_to, {});
            QCOMPARE(sent.size(), reach == Reach::seats ? std::size_t{4} : std::size_t{8});
            for (const auto& [to, envelope] : sent) QVERIFY(is_right(to, envelope));
        }
        bench.all_are_full();
        bench.swarm.sent.clear();
        bench.routes.send(bench.own(), payload, bench.seats, Reach::seats);
        QCOMPARE(bench.swarm.sent.size(), std::size_t{1});  // to all at once
        QVERIFY(!bench.swarm.sent[0].payload.empty());
    }
};

QTEST_APPLESS_MAIN(RoutesTest)
#include "test_routes.moc"
