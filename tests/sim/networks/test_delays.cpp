// What the agreement adds to a round: from the moment in which every seat has all contributions to the moment in which
// the last member has the list. Work takes no time here; what is left are the messages.
#include <QTest>

#include "tests/sim/scenario.h"
#include "tests/sim/seeds.h"

using namespace potluck;
using namespace potluck::sim;

namespace {

constexpr std::uint64_t rounds = 8;

struct Overhead {
    Duration longest{0}, sum{0};
    int count = 0;
};

/// Over the rounds of one world in which members are linked pairwise, `latency` apart.
void measure(std::uint64_t seed, std::size_t seats, Duration latency, Overhead& all) {
    World world(
        seed,
        {.backbones = seats, .volunteers = 4, .rounds = rounds, .work_max = Duration{0}, .answer_max = Duration{0}});
    Topology topology = mesh(world.size());
    set_speeds(topology, {latency, 0});
    world.use(topology);
    std::map<RoundId, std::size_t> holders;
    world.on_list = [&](std::size_t, RoundId round) {
        // Round 0 begins while members still load the model, and the closing list takes nothing.
        if (++holders[round] < world.size() || round.value == 0 || round.value == rounds) return;
        TimePoint all_in;
        for (std::size_t seat = 0; seat < seats; ++seat) {
            all_in = std::max(all_in, world.home(seat).process->port->payload_arrived_at());
        }
        const Duration took = world.now() - all_in;
        all.longest = std::max(all.longest, took);
        all.sum += took;
        ++all.count;
    };
    world.start_all();
    const std::string wrong = finish_run(world, Duration{rounds * 12'000});
    QVERIFY2(wrong.empty(), ("seed " + std::to_string(seed) + ": " + wrong).c_str());
}

}  // namespace

class DelaysTest : public QObject {
    Q_OBJECT
private slots:
    void agreement_adds_three_message_delays_and_little_more_data() {
        QTest::addColumn<int>("seats");
        QTest::addColumn<int>("latency_ms");
        QTest::addColumn<int>("most_ms");
        for (const int seats : {4, 7}) {
            QTest::addRow("%d seats, links without latency", seats) << seats << 0 << 50;
            QTest::addRow("%d seats, links of 50 ms", seats) << seats << 50 << 500;
        }
    }
    void agreement_adds_three_message_delays_and_little_more() {
        QFETCH(int, seats);
        QFETCH(int, latency_ms);
        QFETCH(int, most_ms);
        Overhead all;
        for (const std::uint64_t seed : seeds(5)) {
            measure(seed, static_cast<std::size_t>(seats), Duration{latency_ms}, all);
        }
        QVERIFY(all.count > 0);
        qInfo("%d rounds: %lld ms on average, %lld ms at most", all.count,
              static_cast<long long>(all.sum.count() / all.count), static_cast<long long>(all.longest.count()));
        QVERIFY(all.longest <= Duration{most_ms});
    }
};

QTEST_APPLESS_MAIN(DelaysTest)
#include "test_delays.moc"
