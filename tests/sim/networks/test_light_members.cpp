// What a round costs a light member, by kind of message, among 64 members and among many: four seats add up all
// contributions, and everybody else takes the step and passes contributions on towards them. Lists have an entry for
// each contribution, so it is told apart what grows with contributions and what with members.
#include <QTest>

#include <algorithm>
#include <numeric>
#include <set>

#include "tests/sim/checks.h"
#include "tests/sim/networks/topology.h"
#include "tests/sim/scenario.h"
#include "tests/sim/seeds.h"

using namespace potluck;
using namespace potluck::sim;

namespace {

constexpr std::size_t seats = 4, neighbours = 8, first_volunteers = 16;
/// Between two looks at all members, each of whom is asked for all that it shows.
constexpr Duration look_pause{2'000};

/// Of one light member in one round, on average.
struct Cost {
    double seconds = 0;                                    // of a round
    std::array<double, message_kinds> sent{}, received{};  // bytes
    double contributions = 0;                              // messages received
    double list_bytes = 0;

    [[nodiscard]] double of(run::MessageKind kind) const {
        return sent[static_cast<std::size_t>(kind)] + received[static_cast<std::size_t>(kind)];
    }
    /// All but the list, which has an entry for each contribution.
    [[nodiscard]] double beside_lists() const {
        const double all =
            std::accumulate(sent.begin(), sent.end(), 0.0) + std::accumulate(received.begin(), received.end(), 0.0);
        return all - of(run::MessageKind::list);
    }
};

WorldPlan plan_of(std::size_t volunteers) {
    return {.backbones = seats,
            .volunteers = volunteers,
            .rounds = 60,
            .checkpoint_every = 2,
            .links = {.blob_delay_min = Duration{800}, .blob_delay_max = Duration{2'000}},
            .work_max = Duration{0},
            .answer_max = Duration{0},
            .window = Duration{6'000},
            .collect = Duration{8'000},
            .friends = true,
            .fit_rounds = 1'000,
            .k = 1024,
            .k_max = 1024,
            .step = numerics::StepForm::coded};
}

/// Strangers, of whom nobody but the seats is vouched for: a member hears of a sample of them.
WorldPlan plan_of_strangers(std::size_t volunteers) {
    WorldPlan plan = plan_of(volunteers);
    plan.friends = false;
    return plan;
}

/// Whether the first `volunteers` have begun and are light.
bool are_light(World& world, std::size_t volunteers) {
    for (std::size_t member = seats; member < seats + volunteers; ++member) {
        if (!world.home(member).alive() || !world.peer(member).view().light) return false;
    }
    return true;
}

run::AcceptList newest_list(World& world) {
    const RoundId newest{world.round_of(0) - 1};
    return run::AcceptList::decode(world.home(0).ledger.list(world.run(), newest)->list).value();
}

/// Seats and the first volunteers begin, and these become light one after the other.
void start_first(World& world) {
    Topology topology = random_graph(world.size(), neighbours, world.rng());
    // So that those who begin hear each other, and who comes later finds somebody there.
    for (std::size_t member = 1; member < world.size(); ++member) {
        const std::size_t early = seats + first_volunteers;
        const std::size_t known = member < early ? member - 1 : world.rng().below(std::max(early, member / 4));
        topology.links.push_back({.a = known, .b = member});
    }
    // Who decides is sought first, by whoever decides, too (net/rendezvous.h).
    for (std::size_t a = 0; a < seats; ++a)
        for (std::size_t b = a + 1; b < seats; ++b) topology.links.push_back({.a = a, .b = b});
    set_speeds(topology, {Duration{20}, 0});
    world.use(topology);
    world.network().fetch_from_anybody();
    for (std::size_t member = 0; member < seats + first_volunteers; ++member) world.start(member);
    QVERIFY(world.run_until([&] { return are_light(world, first_volunteers); }, Duration{200'000}));
}

/// The others come to a run whose contributions are many: it grows by four each time. Only the first `trainers` train;
/// the others are paused: they take steps, audit them and pass messages on.
void begin(World& world, std::size_t trainers) {
    start_first(world);
    const std::size_t volunteers = world.size() - seats;
    for (std::size_t here = first_volunteers; here < volunteers && !QTest::currentTestFailed();) {
        const std::size_t more = std::min(volunteers, 4 * here);
        for (; here < more; ++here) {
            world.start(seats + here);
            if (here >= trainers) world.peer(seats + here).pause(world.now());
        }
        const auto are_in = [&] {
            return newest_list(world).entries.size() == std::min(here, trainers) && are_light(world, here);
        };
        QVERIFY(world.run_until(are_in, Duration{400'000}, look_pause));
    }
}

Cost cost_of(const WorldPlan& plan, std::size_t trainers) {
    World world(1, plan);
    const std::size_t volunteers = plan.volunteers;
    begin(world, trainers);
    if (QTest::currentTestFailed()) return {};
    Cost cost;
    std::map<PeerId, bool> is_light;
    for (std::size_t member = 0; member < world.size(); ++member) is_light[world.home(member).id()] = member >= seats;
    // Until everybody knows whom it hears through whom.
    constexpr std::uint64_t rounds = 2;
    const std::uint64_t first = world.round_of(0) + 5;
    // In the middle of a window nothing of the round before is on its way.
    const auto pass_time_until_amid = [&](std::uint64_t round) {
        if (!world.run_until([&] { return world.round_of(0) >= round; }, Duration{120'000}))
            qFatal("the run stands still");
        world.run_for(plan.window / 2);
    };
    pass_time_until_amid(first);
    const TimePoint begun = world.now();
    const double shares = static_cast<double>(volunteers) * rounds;
    world.network().on_send = [&](const PeerId& from, const PeerId& to, const run::Envelope& envelope) {
        const auto kind = static_cast<std::size_t>(envelope.kind);
        const auto bytes = static_cast<double>(envelope.body.size() + envelope.payload.size() + 133);
        if (is_light.at(from)) cost.sent[kind] += bytes / shares;
        if (is_light.at(to)) cost.received[kind] += bytes / shares;
        if (is_light.at(to) && envelope.kind == run::MessageKind::contribution) cost.contributions += 1 / shares;
    };
    pass_time_until_amid(first + rounds);
    world.network().on_send = nullptr;
    cost.seconds = static_cast<double>((world.now() - begun).count()) / 1e3 / rounds;
    const auto all_follow = [&] { return world.all_at(first + rounds); };
    if (!world.run_until(all_follow, Duration{30'000}, look_pause)) qFatal("members stay behind");
    const run::AcceptList list = newest_list(world);
    cost.list_bytes = static_cast<double>(list.encode().size());
    qInfo("%zu light members, %zu contributions in the last list of %.0f bytes; of each, in a round of %.1f s:",
          volunteers, list.entries.size(), cost.list_bytes, cost.seconds);
    for (std::size_t kind = 1; kind < message_kinds; ++kind) {
        if (cost.sent[kind] + cost.received[kind] == 0) continue;
        qInfo("  kind %zu: %.0f bytes sent, %.0f received", kind, cost.sent[kind], cost.received[kind]);
    }
    qInfo("  %.1f contributions heard; beside the list %.0f bytes", cost.contributions, cost.beside_lists());
    return cost;
}

void check(const Cost& cost, const Cost& of_few) {
    QVERIFY(cost.beside_lists() <= 1.1 * of_few.beside_lists());
    // It takes the list once, and hears of the contributions of its neighbours and of some on their way.
    QVERIFY(cost.received[static_cast<std::size_t>(run::MessageKind::list)] <= 1.1 * cost.list_bytes);
    QVERIFY(cost.contributions <= 2.0 * neighbours);
}

}  // namespace

class LightMembersTest : public QObject {
    Q_OBJECT
private slots:
    void a_round_costs_a_light_member_the_same_among_64_and_among_many() {
        const std::size_t most = length(128, 256);
        const Cost few = cost_of(plan_of(64), 64), many = cost_of(plan_of(most), most);
        if (QTest::currentTestFailed()) return;
        check(few, few);
        check(many, few);
    }

    void members_that_do_not_train_cost_a_light_member_nothing() {
        constexpr std::size_t trainers = 32;
        const Cost few = cost_of(plan_of_strangers(64), trainers);
        const Cost many = cost_of(plan_of_strangers(length(160, 256)), trainers);
        if (QTest::currentTestFailed()) return;
        check(many, few);
        QVERIFY(many.beside_lists() + many.of(run::MessageKind::list) <=
                1.1 * (few.beside_lists() + few.of(run::MessageKind::list)));
    }

    /// A thousand take minutes of a core, so somebody has to ask for them.
    void thousands_cost_a_light_member_what_64_do() {
        constexpr std::size_t few_members = 64;
        const std::size_t most = members_wanted();
        if (most <= few_members) QSKIP("takes minutes for a thousand: POTLUCK_SIM_MEMBERS=1024");
        const WorldPlan plan = plan_of_strangers(most);
        const Cost few = cost_of(plan_of_strangers(few_members), few_members);
        const Cost many = cost_of(plan, few_members);
        if (QTest::currentTestFailed()) return;
        check(many, few);
        const Duration until_the_list{3'000};
        QVERIFY(many.seconds * 1e3 <=
                static_cast<double>((plan.window + plan.links.blob_delay_max + until_the_list).count()));
    }

    /// It begins with a checkpoint of some rounds before.
    void a_newcomer_follows_a_large_run_by_its_steps_alone() {
        WorldPlan plan = plan_of(first_volunteers + 1);
        plan.checkpoint_every = 6;
        World world(1, plan);
        const std::size_t newcomer = world.size() - 1;
        start_first(world);
        if (QTest::currentTestFailed()) return;
        QVERIFY(world.run_until([&] { return world.round_of(0) % 6 == 4; }, Duration{200'000}));
        const std::uint64_t begun = world.round_of(0);
        world.start(newcomer);
        QVERIFY(world.run_until([&] { return world.round_of(newcomer) >= begun; }, Duration{60'000}));
        QVERIFY(world.peer(newcomer).view().light);
        std::size_t taken = 0;
        for (std::uint64_t round = 0; round < world.round_of(newcomer); ++round) {
            const auto list = run::AcceptList::decode(world.home(0).ledger.list(world.run(), RoundId{round})->list);
            for (const run::Accepted& entry : list->entries) {
                const bool is_own = entry.peer == world.home(newcomer).id();
                taken += !is_own && world.home(newcomer).folder.blobs.contains(entry.payload.root) ? 1 : 0;
            }
        }
        QCOMPARE(taken, std::size_t{0});
    }

    /// Every fourth light member passes on nothing but what it has made itself.
    void contributions_get_past_members_that_swallow_them() {
        constexpr std::size_t volunteers = 48;
        World world(1, plan_of(volunteers));
        begin(world, volunteers);
        if (QTest::currentTestFailed()) return;
        std::set<PeerId> swallow;
        for (std::size_t member = seats; member < world.size(); member += 4) swallow.insert(world.home(member).id());
        std::uint64_t swallowed = 0;
        world.network().rewrites = [&](const PeerId& from, const PeerId&, const run::Envelope& envelope) {
            const bool is_lost =
                envelope.kind == run::MessageKind::contribution && envelope.sender != from && swallow.contains(from);
            swallowed += is_lost ? 1 : 0;
            return is_lost ? std::nullopt : std::optional(envelope);
        };
        constexpr std::uint64_t rounds = 8;
        const std::uint64_t first = world.round_of(0) + 1;
        QVERIFY(world.run_until([&] { return world.all_at(first + rounds); }, Duration{rounds * 20'000}));
        std::map<PeerId, std::uint64_t> accepted;
        for (std::uint64_t round = first; round < first + rounds; ++round) {
            const auto list = run::AcceptList::decode(world.home(0).ledger.list(world.run(), RoundId{round})->list);
            for (const run::Accepted& entry : list->entries) ++accepted[entry.peer];
        }
        std::uint64_t least = rounds, all = 0;
        for (std::size_t member = seats; member < world.size(); ++member) {
            least = std::min(least, accepted[world.home(member).id()]);
            all += accepted[world.home(member).id()];
        }
        qInfo("%llu messages swallowed; accepted were %.3f of all contributions, of each member %llu of %llu at least",
              static_cast<unsigned long long>(swallowed),
              static_cast<double>(all) / static_cast<double>(rounds * volunteers),
              static_cast<unsigned long long>(least), static_cast<unsigned long long>(rounds));
        QVERIFY(swallowed > 0);
        QVERIFY(all * 10 >= rounds * volunteers * 9);
        QVERIFY(least * 2 >= rounds);
    }
};

QTEST_APPLESS_MAIN(LightMembersTest)
#include "test_light_members.moc"
