// The machine among its likes, over thousands of seeds. POTLUCK_SIM_SEED replays one, POTLUCK_SIM_SEEDS says how many.
#include <QTest>

#include "tests/sim/seeds.h"
#include "tests/unit/run/agreement/agreement_world.h"

using namespace potluck;
using namespace potluck::run;
using namespace potluck::run::testing;

namespace {

constexpr std::uint32_t views_after_healing_max = 8;  // 40,000 seeds took 6 at most

/// Committee sizes and as many liars as they stand.
Story troubled_story(std::uint64_t seed) {
    Rng rng(seed);
    Story story;
    story.seed = seed;
    const std::size_t sizes[] = {1, 4, 7, 4, 7, 4, 7, 2, 3, 5, 6};
    story.size = sizes[rng.below(std::size(sizes))];
    const std::size_t faults = (story.size - 1) / 3;
    for (std::size_t i = 0; i < faults && rng.below(4) != 0; ++i)
        story.liars.push_back(static_cast<Lie>(rng.below(lies)));
    story.loss = rng.unit() * 0.6;
    story.repeat = Duration{rng.below(2) == 0 ? 200 : 2'000};
    story.doubled = rng.unit() * 0.3;
    story.troubled_delay_max = Duration{20 + static_cast<std::int64_t>(rng.below(400))};
    story.heals = Duration{200 + static_cast<std::int64_t>(rng.below(3'500))};
    story.crash = rng.below(3) == 0 ? 0 : rng.unit() * 0.25;
    story.splits = rng.below(2) == 0;
    story.power_cut = rng.below(4) == 0;
    return story;
}

QByteArray about(const Story& story, const World& world) {
    return QByteArray::fromStdString("seed " + std::to_string(story.seed) + ", size " + std::to_string(story.size) +
                                     ", liars " + std::to_string(story.liars.size()) + ", decided " +
                                     std::to_string(world.decided()) + ", view " + std::to_string(world.view()) +
                                     " (healed in " + std::to_string(world.view_when_healed()) + "), " +
                                     std::to_string(world.now().count()) + " ms: " + world.failure());
}

}  // namespace

class AgreementSimTest : public QObject {
    Q_OBJECT
private slots:
    /// Loss, doubling, delays, splits, crashes at every write and between messages, power cuts and liars, until the
    /// network heals; then everybody decides within few views.
    void one_list_is_decided_whatever_happens_before_the_network_heals() {
        std::uint64_t crashes = 0, convicted = 0, late = 0;
        for (const std::uint64_t seed : sim::seeds(2'000)) {
            const Story story = troubled_story(seed);
            World world(story);
            world.run_until(story.heals + Duration{20'000});
            QVERIFY2(world.failure().empty() && world.everybody_decided(), about(story, world));
            QVERIFY2(world.view() <= world.view_when_healed() + views_after_healing_max, about(story, world));
            crashes += world.crashes();
            convicted += world.convicted().size();
            late += world.view() > 2 ? 1 : 0;
        }
        // The stories are troubled indeed: members die, liars are caught, views are lost.
        if (std::getenv("POTLUCK_SIM_SEED") == nullptr && std::getenv("POTLUCK_SIM_SEEDS") == nullptr) {
            QVERIFY2(crashes > 2'000 && convicted > 500 && late > 100,
                     qPrintable(QString("%1 %2 %3").arg(crashes).arg(convicted).arg(late)));
        }
    }

    /// One honest member decides alone, because most messages are lost, and liars vote for whatever comes next: only
    /// the locks of the others keep them from deciding another list.
    void a_lone_decision_is_not_contradicted_later() {
        const Lie loud[] = {Lie::equivocates, Lie::votes_for_everything, Lie::flips_a_coin};
        for (const std::uint64_t seed : sim::seeds(1'500)) {
            Story story;
            story.seed = seed;
            story.liars = {loud[seed % 3]};
            story.loss = 0.3;
            story.repeat = Duration{600};
            story.troubled_delay_max = Duration{60};
            story.heals = Duration{3'000};
            World world(story);
            world.run_until(story.heals + Duration{20'000});
            QVERIFY2(world.failure().empty() && world.everybody_decided(), about(story, world));
        }
    }

    void a_minority_decides_nothing_and_loses_nothing_by_waiting_data() {
        QTest::addColumn<int>("size");
        QTest::addColumn<int>("island");
        QTest::addColumn<int>("deciding");
        QTest::newRow("2 | 2") << 4 << 2 << 0;
        QTest::newRow("1 | 3") << 4 << 1 << 3;
        QTest::newRow("3 | 4") << 7 << 3 << 0;
        QTest::newRow("2 | 5") << 7 << 2 << 5;
        QTest::newRow("1 | 1") << 2 << 1 << 0;
        QTest::newRow("1 | 2") << 3 << 1 << 0;
    }
    void a_minority_decides_nothing_and_loses_nothing_by_waiting() {
        QFETCH(const int, size);
        QFETCH(const int, island);
        QFETCH(const int, deciding);
        for (const std::uint64_t seed : sim::seeds(60)) {
            Story story;
            story.seed = seed;
            story.size = static_cast<std::size_t>(size);
            World world(story);
            std::set<std::size_t> group;
            for (int i = 0; i < island; ++i) group.insert((seed + static_cast<std::size_t>(i)) % story.size);
            world.isolate(group);
            world.run_until(Duration{20'000});
            QVERIFY2(world.failure().empty(), about(story, world));
            QCOMPARE(static_cast<int>(world.decided()), deciding);
            const std::uint32_t view = world.view();
            QVERIFY2(view <= static_cast<std::uint32_t>(island), about(story, world));  // no quorum, no time-outs
            world.join();
            world.run_until(Duration{30'000});
            QVERIFY2(world.everybody_decided() && world.failure().empty(), about(story, world));
            QVERIFY2(world.view() <= view + 2, about(story, world));
        }
    }

    void seven_of_whom_two_lie_lose_at_most_two_views() {
        for (const std::uint64_t seed : sim::seeds(600)) {
            Story story;
            story.seed = seed;
            story.size = 7;
            story.liars = {static_cast<Lie>(seed % lies), static_cast<Lie>(seed / lies % lies)};
            World world(story);
            world.run_until(Duration{20'000});
            QVERIFY2(world.failure().empty() && world.everybody_decided(), about(story, world));
            QVERIFY2(*world.decided_view() <= 2, about(story, world));
        }
    }

    void honest_members_decide_in_the_first_view_and_send_two_votes_each() {
        for (const std::uint64_t seed : sim::seeds(200)) {
            for (const std::size_t size : {1U, 4U, 7U}) {
                Story story;
                story.seed = seed;
                story.size = size;
                story.repeat = Duration{2'000};
                World world(story);
                world.run_until(Duration{20'000});
                QVERIFY2(world.failure().empty() && world.everybody_decided(), about(story, world));
                QCOMPARE(*world.decided_view(), 0U);
                // One proposal, and two votes of each member to each other.
                QVERIFY2(world.messages() <= (2 * size + 1) * (size - 1), about(story, world));
            }
        }
    }
};

QTEST_APPLESS_MAIN(AgreementSimTest)
#include "test_agreement_sim.moc"
