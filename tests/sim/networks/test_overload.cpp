// Runs that are larger than the lines of those who decide: what a line does not carry in time must not keep back what
// it does carry.
#include <QTest>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "core/numerics/codec/sparse_codec.h"
#include "tests/sim/scenario.h"
#include "tests/sim/seeds.h"

using namespace potluck;
using namespace potluck::sim;

namespace {

constexpr std::size_t volunteers = 24;
constexpr Duration window{6'000};

/// Payloads are too long for messages. Members wait for them for half of the window.
WorldPlan plan_of() {
    return {.volunteers = volunteers,
            .rounds = 40,
            .work_max = Duration{0},
            .answer_max = Duration{0},
            .window = window,
            .collect = window / 2,
            .friends = true,
            .k = numerics::sent_max,
            .width = 150,
            .step = numerics::StepForm::coded};
}

run::AcceptList list_of(World& world, std::uint64_t round) {
    return run::AcceptList::decode(world.home(0).ledger.list(world.run(), RoundId{round})->list).value();
}

/// Places in the round's lottery, from 0 on, by member.
std::map<PeerId, std::size_t> places_of(World& world, const run::AcceptList& list) {
    std::vector<std::pair<Digest, PeerId>> lots;
    for (std::size_t member = 1; member < world.size(); ++member)
        lots.emplace_back(run::lot_of(list.previous, world.home(member).id()), world.home(member).id());
    std::sort(lots.begin(), lots.end());
    std::map<PeerId, std::size_t> places;
    for (const auto& [lot, member] : lots) places.emplace(member, places.size());
    return places;
}

std::string check_rounds(World& world, std::uint64_t first, std::uint64_t rounds, std::size_t least) {
    std::set<PeerId> accepted;
    std::vector<std::size_t> drawn;  // places of those whose contributions had to come over the line
    for (std::uint64_t round = first; round < first + rounds; ++round) {
        const run::AcceptList list = list_of(world, round);
        const auto places = places_of(world, list);
        const std::vector<PeerId> seats = list_of(world, round - 1).committee;
        if (list.entries.size() < least) {
            return "only " + std::to_string(list.entries.size()) + " contributions count in a round";
        }
        for (const run::Accepted& entry : list.entries) {
            accepted.insert(entry.peer);
            // What seats have made themselves is there in any case.
            if (!run::has_seat(seats, entry.peer)) drawn.push_back(places.at(entry.peer));
        }
    }
    const double sum = std::accumulate(drawn.begin(), drawn.end(), 0.0);
    if (drawn.empty() || sum / static_cast<double>(drawn.size()) > volunteers * 0.4) return "lots decide nothing";
    return accepted.size() < volunteers * 3 / 4 ? "the same members count in all rounds" : "";
}

}  // namespace

class OverloadTest : public QObject {
    Q_OBJECT
private slots:
    void a_line_that_does_not_carry_a_round_brings_some_contributions_whole_data() {
        QTest::addColumn<double>("windows");
        QTest::addColumn<std::size_t>("least");
        QTest::newRow("in a window") << 1.0 << volunteers / 2;
        QTest::newRow("in four windows") << 4.0 << volunteers / 6;
    }

    /// Seats are homes, whose lines bring all contributions in so many windows. All at once would share a line, and
    /// none would be here in time: lists would hold what their proposers have made.
    void a_line_that_does_not_carry_a_round_brings_some_contributions_whole() {
        QFETCH(const double, windows);
        QFETCH(const std::size_t, least);
        const std::string wrong = first_wrong(seeds(1), [&](std::uint64_t seed) -> std::string {
            World world(seed, plan_of());
            const std::size_t payload = world.initial_state().size() / 4;  // two bits for each value
            const double rate =
                static_cast<double>(payload * volunteers) / (windows * static_cast<double>(window.count()));
            for (std::size_t member = 0; member < world.size(); ++member)
                world.network().limit_line(world.home(member).id(), rate);
            world.start_all();
            const auto is_told = [&] { return world.peer(0).view().offers > 0; };
            if (!world.run_until(is_told, Duration{500'000})) return "nobody is told that a line does not carry all";
            const std::uint64_t first = world.round_of(0) + 3;
            constexpr std::uint64_t rounds = 6;
            if (!world.run_until([&] { return world.round_of(0) >= first + rounds; }, Duration{500'000}))
                return "the run stands still";
            const peer::PeerView view = world.peer(0).view();
            if (view.offers <= view.offers_in_time || view.offers_in_time < least / 2) return "what came is not told";
            return check_rounds(world, first, rounds, least);
        });
        QVERIFY2(wrong.empty(), wrong.c_str());
    }
};

QTEST_APPLESS_MAIN(OverloadTest)
#include "test_overload.moc"
