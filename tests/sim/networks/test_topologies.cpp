// Networks that are no mesh: whatever connected shape the links have, rounds go on, whoever sleeps, is slow or dies;
// and after any partition there is one chain within two rounds.
#include <QTest>

#include "tests/sim/checks.h"
#include "tests/sim/scenario.h"
#include "tests/sim/seeds.h"

using namespace potluck;
using namespace potluck::sim;

namespace {

enum class Shape { mesh, star_around_a_seat, star_around_a_volunteer, two_stars, chain, random_degree_3 };
constexpr std::array shapes{Shape::mesh,  Shape::star_around_a_seat, Shape::star_around_a_volunteer, Shape::two_stars,
                            Shape::chain, Shape::random_degree_3};

const char* name_of(Shape shape) {
    switch (shape) {
        case Shape::mesh: return "mesh";
        case Shape::star_around_a_seat: return "star around a seat";
        case Shape::star_around_a_volunteer: return "star around a volunteer";
        case Shape::two_stars: return "two stars with one link";
        case Shape::chain: return "chain";
        case Shape::random_degree_3: return "random graph of degree 3";
    }
    return "";
}

/// Four or seven seats, and four to six who train; every third seed among friends, whose committee may change.
WorldPlan plan_of(std::uint64_t seed, std::uint64_t rounds) {
    WorldPlan plan{.backbones = seed % 2 == 0 ? 4U : 7U, .volunteers = 4 + seed % 3, .rounds = rounds};
    plan.friends = seed % 3 == 0;
    return plan;
}

/// The hub of a star; of two stars the one without a seat, so that votes of both have to pass through it.
std::size_t hub_of(Shape shape, const World& world) {
    return shape == Shape::star_around_a_seat ? 1 : world.size() - 1;
}

Topology topology_of(Shape shape, World& world) {
    const std::size_t members = world.size();
    switch (shape) {
        case Shape::mesh: return mesh(members);
        case Shape::star_around_a_seat:
        case Shape::star_around_a_volunteer: return star(members, hub_of(shape, world));
        case Shape::two_stars: return two_stars(members, members - 2, members - 1);
        case Shape::chain: return chain(members, world.rng());
        case Shape::random_degree_3: return random_graph(members, 3, world.rng());
    }
    return {};
}

void use_homes(World& world, Shape shape) {
    Topology topology = topology_of(shape, world);
    draw_speeds(topology, world.rng());
    world.use(topology);
}

Duration some_time(World& world, int least, int most) {
    return world.network().between(Duration{least}, Duration{most});
}

/// Shapes as the rows of a test.
void add_shapes() {
    QTest::addColumn<int>("shape");
    for (const Shape shape : shapes) QTest::newRow(name_of(shape)) << static_cast<int>(shape);
}

void add_stars() {
    QTest::addColumn<int>("shape");
    for (const Shape shape : {Shape::star_around_a_seat, Shape::star_around_a_volunteer, Shape::two_stars}) {
        QTest::newRow(name_of(shape)) << static_cast<int>(shape);
    }
}

/// Rounds in which each volunteer was accepted, at least; but for `slow`.
std::uint64_t least_accepted(World& world, std::size_t slow) {
    std::uint64_t least = UINT64_MAX;
    for (std::size_t i = 0; i < world.size(); ++i) {
        if (world.home(i).backbone || i == slow) continue;
        least = std::min(least, world.home(0).ledger.credit_of(world.run(), world.home(i).id()).rounds);
    }
    return least;
}

/// Puts the computer of `member` to sleep, unless it sleeps or is off.
void put_to_sleep(World& world, std::size_t member, Duration time) {
    Home& home = world.home(member);
    if (home.alive() && !home.process->port->sleeps()) home.process->port->sleep(time);
}

}  // namespace

class TopologiesTest : public QObject {
    Q_OBJECT
private slots:
    void rounds_go_on_in_every_topology_data() { add_shapes(); }
    /// Nobody is far enough away to be left out of more than a round or two, but who is slow and far away may be.
    void rounds_go_on_in_every_topology() {
        QFETCH(int, shape);
        const std::string wrong = first_wrong(seeds(4), [&](std::uint64_t seed) -> std::string {
            World world(seed, plan_of(seed, 6));
            use_homes(world, static_cast<Shape>(shape));
            const std::size_t slow = world.rng().below(world.size());
            world.home(slow).slowness = 10;
            world.start_all();
            const std::string unfinished = finish_run(world, Duration{6 * 15'000});
            if (!unfinished.empty()) return unfinished;
            const std::uint64_t least = least_accepted(world, slow);
            return least >= 4 ? std::string() : "somebody was accepted in " + std::to_string(least) + " rounds of 6";
        });
        QVERIFY2(wrong.empty(), wrong.c_str());
    }

    void a_member_passes_the_end_of_a_window_on_once() {
        World world(1, plan_of(1, 6));
        use_homes(world, Shape::star_around_a_volunteer);
        std::map<std::tuple<PeerId, PeerId, Bytes>, int> told;
        world.network().on_send = [&](const PeerId& from, const PeerId& to, const run::Envelope& envelope) {
            if (envelope.kind == run::MessageKind::close && from != envelope.sender) ++told[{from, to, envelope.body}];
        };
        world.start_all();
        const std::string unfinished = finish_run(world, Duration{6 * 15'000});
        QVERIFY2(unfinished.empty(), unfinished.c_str());
        QVERIFY(!told.empty());
        QVERIFY(std::all_of(told.begin(), told.end(), [](const auto& one) { return one.second == 1; }));
    }

    void short_payloads_travel_with_their_messages_data() { add_shapes(); }
    /// Nobody can fetch a payload from anybody, as between homes whose routers let no connection in.
    void short_payloads_travel_with_their_messages() {
        QFETCH(int, shape);
        const std::string wrong = first_wrong(seeds(2), [&](std::uint64_t seed) -> std::string {
            World world(seed, plan_of(seed, 6));
            use_homes(world, static_cast<Shape>(shape));
            world.network().no_payload_fetches();
            world.start_all();
            const std::string unfinished = finish_run(world, Duration{6 * 15'000});
            if (!unfinished.empty()) return unfinished;
            const std::uint64_t least = least_accepted(world, world.size());
            return least >= 4 ? std::string() : "somebody was accepted in " + std::to_string(least) + " rounds of 6";
        });
        QVERIFY2(wrong.empty(), wrong.c_str());
    }

    /// Where everybody hears everybody, each payload goes over each link once.
    void a_payload_is_sent_once_to_each_member_of_a_mesh() {
        World world(1, {.backbones = 4, .volunteers = 4, .rounds = 30});
        use_homes(world, Shape::mesh);
        std::uint64_t sent = 0, contributions = 0;
        world.network().on_send = [&](const PeerId&, const PeerId&, const run::Envelope& envelope) {
            sent += envelope.payload.empty() ? 0 : 1;
        };
        world.start_all();
        QVERIFY(world.run_until([&] { return world.all_at(5); }, Duration{120'000}));
        sent = 0;
        world.on_list = [&](std::size_t member, RoundId round) {
            if (member != 0) return;
            contributions +=
                run::AcceptList::decode(world.home(0).ledger.list(world.run(), round)->list).value().entries.size();
        };
        QVERIFY(world.run_until([&] { return world.all_at(25); }, Duration{400'000}));
        QVERIFY(contributions > 0);
        const double copies = static_cast<double>(sent) / static_cast<double>(contributions);
        qInfo("%.2f copies of a payload for %zu others", copies, world.size() - 1);
        QVERIFY(copies <= 1.3 * static_cast<double>(world.size() - 1));
    }

    void sides_of_any_topology_have_one_chain_two_rounds_later_data() { add_shapes(); }
    void sides_of_any_topology_have_one_chain_two_rounds_later() {
        QFETCH(int, shape);
        const std::string wrong = first_wrong(seeds(6), [&](std::uint64_t seed) {
            World world(seed, plan_of(seed, 10));
            use_homes(world, static_cast<Shape>(shape));
            world.start_all();
            for (int time = 0; time < 2; ++time) {
                world.run_for(some_time(world, 4'000, 20'000));
                split_at_random(world);
                world.run_for(some_time(world, 1'000, 60'000));
                const std::string apart = heal_and_meet(world, Duration{60'000});
                if (!apart.empty()) return apart;
            }
            return finish_run(world, Duration{300'000});
        });
        QVERIFY2(wrong.empty(), wrong.c_str());
    }

    void the_hub_of_a_star_may_die_ten_times_data() { add_stars(); }
    void the_hub_of_a_star_may_die_ten_times() {
        QFETCH(int, shape);
        const std::string wrong = first_wrong(seeds(4), [&](std::uint64_t seed) {
            World world(seed, plan_of(seed, 8));
            use_homes(world, static_cast<Shape>(shape));
            const std::size_t hub = hub_of(static_cast<Shape>(shape), world);
            world.start_all();
            for (int time = 0; time < 10; ++time) {
                world.run_for(some_time(world, 200, 9'000));
                world.kill(hub, world.rng().below(2) == 0 ? Death::silent : Death::closes_sessions);
                world.run_for(some_time(world, 200, 9'000));
                world.start(hub);
            }
            const std::string apart = heal_and_meet(world, Duration{60'000});
            return apart.empty() ? finish_run(world, Duration{300'000}) : apart;
        });
        QVERIFY2(wrong.empty(), wrong.c_str());
    }

    void a_member_that_slept_for_minutes_goes_on_with_the_others_data() { add_shapes(); }
    /// One at a time, seats and hubs too; a sleeper hears and says nothing, and its sessions end after a while.
    void a_member_that_slept_for_minutes_goes_on_with_the_others() {
        QFETCH(int, shape);
        const std::string wrong = first_wrong(seeds(3), [&](std::uint64_t seed) -> std::string {
            World world(seed, plan_of(seed, 30));
            use_homes(world, static_cast<Shape>(shape));
            world.start_all();
            for (int time = 0; time < 3; ++time) {
                world.run_for(some_time(world, 3'000, 12'000));
                const std::size_t sleeper = world.rng().below(world.size());
                const Duration asleep = some_time(world, 20'000, 240'000);
                put_to_sleep(world, sleeper, asleep);
                world.run_for(asleep);
                const std::string apart = heal_and_meet(world, Duration{60'000});
                if (!apart.empty()) return "member " + std::to_string(sleeper) + " slept, then " + apart;
                for (std::size_t i = 0; i < world.size(); ++i) {
                    for (const auto& [verdict, count] : world.peer(i).verdicts()) {
                        if (verdict == run::Verdict::flood) return "a backlog counted as a flood";
                    }
                }
            }
            return finish_run(world, Duration{600'000});
        });
        QVERIFY2(wrong.empty(), wrong.c_str());
    }

    /// Ten rounds of silence cost a seat; who votes is not silent, whoever brings its votes.
    void seats_that_see_each_other_through_others_only_stay_seated() {
        const std::string wrong = first_wrong(seeds(2), [&](std::uint64_t seed) -> std::string {
            World world(seed, {.backbones = 4, .volunteers = 3, .rounds = 16});
            use_homes(world, Shape::star_around_a_volunteer);
            world.start_all();
            const std::string unfinished = finish_run(world, Duration{16 * 15'000});
            if (!unfinished.empty()) return unfinished;
            const std::size_t seats_left = world.home(0).ledger.head(world.run())->committee.size();
            return seats_left == 4 ? std::string() : std::to_string(seats_left) + " of 4 seats are left";
        });
        QVERIFY2(wrong.empty(), wrong.c_str());
    }

    void no_topology_divides_members_that_die_sleep_and_are_cut_off_data() { add_shapes(); }
    /// Everything at once, and then peace.
    void no_topology_divides_members_that_die_sleep_and_are_cut_off() {
        QFETCH(int, shape);
        const std::string wrong = first_wrong(seeds(6), [&](std::uint64_t seed) {
            World world(seed, plan_of(seed, 10));
            use_homes(world, static_cast<Shape>(shape));
            world.home(world.rng().below(world.size())).slowness = 20;
            world.start_all();
            churn(world, {.killed_each_round = 0.15, .trainer_crash = 0.05}, 0, world.now() + Duration{60'000});
            for (int time = 0; time < 4; ++time) {
                world.run_for(some_time(world, 1'000, 10'000));
                split_at_random(world);
                put_to_sleep(world, world.rng().below(world.size()), some_time(world, 1'000, 130'000));
                world.run_for(some_time(world, 1'000, 10'000));
                world.heal();
            }
            return finish_run(world, Duration{600'000});
        });
        QVERIFY2(wrong.empty(), wrong.c_str());
    }
};

QTEST_APPLESS_MAIN(TopologiesTest)
#include "test_topologies.moc"
