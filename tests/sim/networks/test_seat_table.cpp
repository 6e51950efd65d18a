// How many seats may lie or be off, and what happens: every cell of the table in docs/threat-model.md, for committees
// of 1, 4 and 7. Nobody waits in line for a seat, so nothing heals: what is missing is missing.
//
//   honest seats here >= quorum            rounds go on
//   honest seats here + liars < quorum     the run waits, and goes on when enough are back
//   in between                             the liars decide whether it goes on, and nothing else
//
// In no cell does the committee change, anybody hold another list or digest, or a liar earn credit.
#include <QTest>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/run/agreement/committee_change.h"
#include "tests/sim/checks.h"
#include "tests/sim/networks/bad_seat.h"
#include "tests/sim/scenario.h"
#include "tests/sim/seeds.h"

using namespace potluck;
using namespace potluck::sim;

namespace {

struct Cell {
    std::size_t seats = 1, liars = 0, off = 0;
    bool host_off = false;
    [[nodiscard]] std::size_t honest_here() const { return seats - liars - off; }
    [[nodiscard]] std::size_t quorum() const { return 2 * seats / 3 + 1; }
};

/// Longer than the silence after which a seat may be given to another.
constexpr std::uint64_t rounds_watched = 2 * run::silent_rounds_max;
constexpr Duration round_usual{4'000};

/// Those that are off come first or, where the host stays, after it; the liars are the last seats.
std::set<std::size_t> seats_off(const Cell& cell) {
    std::set<std::size_t> off;
    for (std::size_t i = 0; i < cell.off; ++i) off.insert(cell.host_off ? i : i + 1);
    return off;
}

std::string goes_wrong(const Cell& cell, std::uint64_t seed) {
    World world(seed, {.backbones = cell.seats,
                       .volunteers = 2,
                       .rounds = 80,
                       .window = Duration{2'000},
                       .collect = Duration{1'000},
                       .grace = Duration{1'500}});
    std::set<std::size_t> lying;
    for (std::size_t i = cell.seats - cell.liars; i < cell.seats; ++i) lying.insert(i);
    std::vector<std::unique_ptr<BadSeat>> hostile;
    for (std::size_t i = 0; i < world.size(); ++i) {
        if (!lying.contains(i)) world.start(i);
    }
    for (const std::size_t i : lying)
        hostile.push_back(std::make_unique<BadSeat>(world, i, seat_lies[(seed + i) % seat_lies.size()]));
    const auto honest = [&](std::uint64_t round) { return world.all_at(round); };
    if (!world.run_until([&] { return honest(2); }, Duration{200'000})) return "does not begin";

    const std::set<std::size_t> off = seats_off(cell);
    for (const std::size_t i : off) world.kill(i, Death::silent);
    const std::size_t volunteer = cell.seats;
    world.run_for(Duration{10'000});  // the round under way may end
    const std::uint64_t before = world.round_of(volunteer);
    // Whoever is off or lies costs the rounds in which it is to propose a view or two.
    const int slowness = cell.liars > 0 ? 4 : cell.off > 0 ? 2 : 1;
    const Duration watched = static_cast<int>(rounds_watched) * slowness * round_usual;
    (void)world.run_until([&] { return world.round_of(volunteer) >= before + rounds_watched; }, watched);
    const std::uint64_t moved = world.round_of(volunteer) - before;
    if (cell.honest_here() >= cell.quorum() && moved < rounds_watched)
        return "moves only " + std::to_string(moved) + " rounds with a quorum here";
    if (cell.honest_here() + cell.liars < cell.quorum() && moved > 0)
        return "moves " + std::to_string(moved) + " rounds without a quorum";
    if (world.committee_of(volunteer) != world.first_committee()) return "the committee has changed";

    for (const std::size_t i : off) world.start(i);
    const std::uint64_t back = world.round_of(volunteer);
    if (!world.run_until([&] { return honest(back + 2); }, 10 * slowness * round_usual))
        return "does not go on when all are back";
    for (std::size_t i = 0; i < world.size(); ++i) {
        if (lying.contains(i)) continue;
        if (world.committee_of(i) != world.first_committee()) return "the committee has changed in the end";
        for (const std::size_t liar : lying) {
            const ledger::Credit credit = world.home(i).ledger.credit_of(world.run(), world.home(liar).id());
            if (credit.tokens.value > 0) return "a liar was credited";
        }
    }
    if (!world.divided().empty()) return world.divided();
    return follows_rules(world) ? std::string() : "a digest is not what F gives";
}

}  // namespace

class SeatTableTest : public QObject {
    Q_OBJECT
private slots:
    void liars_gain_nothing_but_time_data() {
        QTest::addColumn<int>("seats");
        QTest::addColumn<int>("liars");
        QTest::addColumn<int>("off");
        QTest::addColumn<bool>("host_off");
        for (const int seats : {1, 4, 7}) {
            const int faults = (seats - 1) / 3;
            for (int liars = 0; liars <= faults; ++liars) {
                for (int off = 0; off <= std::min(seats - liars, faults + 2); ++off) {
                    for (const bool host : {false, true}) {
                        if (host ? off == 0 : off + 1 + liars > seats) continue;
                        QTest::addRow("%d seats, %d lie, %d off%s", seats, liars, off, host ? ", the host too" : "")
                            << seats << liars << off << host;
                    }
                }
            }
        }
    }
    void liars_gain_nothing_but_time() {
        QFETCH(int, seats);
        QFETCH(int, liars);
        QFETCH(int, off);
        QFETCH(bool, host_off);
        const Cell cell{static_cast<std::size_t>(seats), static_cast<std::size_t>(liars), static_cast<std::size_t>(off),
                        host_off};
        for (const std::uint64_t seed : seeds(1)) {
            const std::string wrong = goes_wrong(cell, seed);
            QVERIFY2(wrong.empty(), at_seed(seed, wrong).c_str());
        }
    }
};

QTEST_APPLESS_MAIN(SeatTableTest)
#include "test_seat_table.moc"
