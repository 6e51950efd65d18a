// Seven seats of which two lie: no round is lost, nobody is divided, and a round takes no longer than the views of the
// liars whose turn it was first.
#include <QTest>

#include "core/run/agreement/committee.h"
#include "tests/sim/checks.h"
#include "tests/sim/networks/bad_seat.h"
#include "tests/sim/scenario.h"
#include "tests/sim/seeds.h"

using namespace potluck;
using namespace potluck::sim;

namespace {

constexpr std::size_t seats = 7;
constexpr std::uint64_t rounds = 6;
constexpr int mixed = -1;

/// Two of the seven, each pair as often as another.
std::set<std::size_t> liars_of(std::uint64_t seed) {
    const std::size_t first = seed % seats;
    return {first, (first + 1 + seed / seats % (seats - 1)) % seats};
}

SeatLie lie_of(int row, std::uint64_t seed, std::size_t which) {
    if (row != mixed) return static_cast<SeatLie>(row);
    return seat_lies[(seed + which * (1 + seed / seat_lies.size() % (seat_lies.size() - 1))) % seat_lies.size()];
}

/// What the views of the liars that propose first in `round` cost: each its three time-outs.
Duration lost_to_liars(World& world, const std::set<PeerId>& bad, const run::AcceptList& before) {
    const Duration heartbeat{1'000};
    const auto order = run::proposer_order(run::Committee::from_keys(before.committee).value(), before.hash());
    Duration lost{0};
    for (std::size_t view = 0; view < order.size() && bad.contains(order[view]); ++view) {
        lost += world.manifest().recipe.grace + 2 * heartbeat + 3 * static_cast<int>(view) * heartbeat / 2;
    }
    return lost;
}

/// When the first member had the list of each round.
struct Lists {
    std::map<RoundId, TimePoint> first_at;
    explicit Lists(World& world) {
        world.on_list = [this, &world](std::size_t, RoundId round) { first_at.try_emplace(round, world.now()); };
    }
};

std::string slow_round(World& world, const Lists& lists, const std::set<PeerId>& bad, std::size_t honest) {
    const run::Recipe& recipe = world.manifest().recipe;
    // Without its proposer's Close a window ends half of `collect` later, and who withholds is waited for.
    const Duration calm = recipe.window + recipe.collect / 2 + recipe.collect + Duration{2'000};
    for (RoundId round{1}; round.value < rounds; round = round.next()) {
        const auto before = world.home(honest).ledger.list(world.run(), RoundId{round.value - 1});
        const Duration took = lists.first_at.at(round) - lists.first_at.at(RoundId{round.value - 1});
        const Duration most = calm + lost_to_liars(world, bad, run::AcceptList::decode(before->list).value());
        if (took > most) {
            return "round " + std::to_string(round.value) + " took " + std::to_string(took.count()) + " of " +
                   std::to_string(most.count()) + " ms";
        }
    }
    return {};
}

}  // namespace

class BadSeatsTest : public QObject {
    Q_OBJECT
private slots:
    void two_liars_among_seven_seats_lose_no_round_data() {
        QTest::addColumn<int>("row");
        for (const SeatLie lie : seat_lies) QTest::newRow(name_of(lie)) << static_cast<int>(lie);
        QTest::newRow("two different lies") << mixed;
    }
    void two_liars_among_seven_seats_lose_no_round() {
        QFETCH(int, row);
        std::uint64_t lies = 0;
        Duration longest{0};
        const std::string wrong = first_wrong(seeds(6), [&](std::uint64_t seed) -> std::string {
            World world(seed, {.backbones = seats, .volunteers = 4, .rounds = rounds});
            const std::set<std::size_t> away = liars_of(seed);
            std::set<PeerId> bad;
            for (const std::size_t member : away) bad.insert(world.home(member).id());
            const Lists lists(world);
            std::vector<std::unique_ptr<BadSeat>> hostile;
            for (std::size_t i = 0; i < world.size(); ++i) {
                if (!away.contains(i)) world.start(i);
            }
            for (const std::size_t member : away) {
                hostile.push_back(std::make_unique<BadSeat>(world, member, lie_of(row, seed, hostile.size())));
            }
            const std::size_t honest = seats;
            bool lost = false;
            const auto over = [&] {
                for (std::size_t i = 0; i < world.size(); ++i) {
                    if (away.contains(i)) continue;
                    const peer::PeerView view = world.peer(i).view();
                    lost = lost || (view.round.value > 0 && view.why.reason == status::Reason::window_reopened);
                }
                return lost || world.all_at(rounds);
            };
            const bool ended = world.run_until(over, Duration{rounds * 40'000});
            if (!world.divided().empty()) return world.divided();
            if (lost) return "a window passed without a list";
            if (!ended) return "no list for a long time";
            const std::string unfinished = finish_run(world, Duration{60'000}, away);
            if (!unfinished.empty()) return unfinished;
            for (const auto& one : hostile) lies += one->lies();
            for (const auto& [round, at] : lists.first_at) {
                if (round.value > 0 && round.value < rounds) {
                    longest = std::max(longest, at - lists.first_at.at(RoundId{round.value - 1}));
                }
            }
            return slow_round(world, lists, bad, honest);
        });
        qInfo("%llu lies; the longest round took %lld ms", static_cast<unsigned long long>(lies),
              static_cast<long long>(longest.count()));
        QVERIFY2(wrong.empty(), wrong.c_str());
        QVERIFY(lies > 0 || row == static_cast<int>(SeatLie::silence));
    }

    void one_seat_holds_no_density_down() {
        for (const std::uint64_t seed : seeds(2)) {
            World world(seed, {.backbones = 4,
                               .volunteers = 4,
                               .rounds = 40,
                               .window = Duration{20'000},
                               .probation_rounds = 2,
                               .k = 128});
            for (std::size_t i = 0; i < world.size(); ++i) {
                if (i != 3) world.start(i);
            }
            const BadSeat liar(world, 3, SeatLie::sparseness);
            // Five times twice as much, after two rounds in which nobody's links are known.
            const bool risen = world.run_until([&] { return world.newest_k() == 4096; }, Duration{25 * 30'000});
            QVERIFY2(risen, std::to_string(world.newest_k()).c_str());
            const std::uint64_t round = world.round_of(0);
            QVERIFY(world.run_until([&] { return world.round_of(0) >= round + 8; }, Duration{400'000}));
            QVERIFY(world.newest_k() >= 2048U);  // what its links carry with little to spare
            QVERIFY(liar.lies() > 2);
        }
    }
};

QTEST_APPLESS_MAIN(BadSeatsTest)
#include "test_bad_seats.moc"
