// How much contributions send where links differ: as much as they carry, less for who is slower, and nothing that keys
// which cost nothing could change.
#include <QTest>

#include "core/numerics/codec/sparse_codec.h"
#include "tests/sim/networks/topology.h"
#include "tests/sim/scenario.h"
#include "tests/sim/seeds.h"
#include "tests/sim/stranger.h"

using namespace potluck;
using namespace potluck::sim;

namespace {

constexpr std::uint32_t k_least = 16;
constexpr Duration window{20'000};  // a tenth of it is 2 s

WorldPlan plan_of(std::size_t volunteers, std::uint64_t rounds) {
    return {.volunteers = volunteers,
            .rounds = rounds,
            .work_max = Duration{0},
            .answer_max = Duration{0},
            .window = window,
            .friends = true,
            .k = k_least,
            .width = 96};
}

/// Fast links, but what these members send of everything takes `share` tenths of the window on each.
void use_links(World& world, const std::vector<std::size_t>& slow, double share) {
    Topology topology = mesh(world.size());
    set_speeds(topology, {Duration{20}, 1e6});
    world.use(topology);
    const std::uint64_t everything = numerics::payload_bytes_max(world.initial_state().size(), numerics::sent_max);
    const double rate = static_cast<double>(everything) / (share * 2'000);
    for (const std::size_t member : slow) world.network().limit_uplink(world.home(member).id(), rate);
}

std::uint64_t rounds_of(World& world, std::size_t member) {
    return world.home(0).ledger.credit_of(world.run(), world.home(member).id()).rounds;
}

}  // namespace

class SlowLinksTest : public QObject {
    Q_OBJECT
private slots:
    void fast_links_carry_everything() {
        const std::string wrong = first_wrong(seeds(3), [](std::uint64_t seed) -> std::string {
            World world(seed, plan_of(4, 12));
            use_links(world, {}, 1);
            world.start_all();
            if (const std::string failed = finish_run(world, Duration{12 * 40'000}); !failed.empty()) return failed;
            return world.newest_k() == numerics::sent_max ? "" : "sent at last: " + std::to_string(world.newest_k());
        });
        QVERIFY2(wrong.empty(), wrong.c_str());
    }

    /// Everything would take four tenths of the window.
    void slow_links_carry_what_fits_a_tenth_of_the_window() {
        const std::string wrong = first_wrong(seeds(3), [](std::uint64_t seed) -> std::string {
            World world(seed, plan_of(4, 20));
            use_links(world, {0, 1, 2, 3, 4}, 4);
            std::vector<std::uint32_t> said;
            world.on_list = [&](std::size_t member, RoundId) {
                if (member == 0) said.push_back(world.newest_k());
            };
            world.start_all();
            if (const std::string failed = finish_run(world, Duration{20 * 40'000}); !failed.empty()) return failed;
            for (std::size_t member = 1; member < world.size(); ++member) {
                if (rounds_of(world, member) < 18) return "a member was in few rounds";
            }
            for (std::size_t round = said.size() / 2; round < said.size(); ++round) {
                if (said[round] > 1024 || said[round] < 256) return "sent: " + std::to_string(said[round]);
            }
            return "";
        });
        QVERIFY2(wrong.empty(), wrong.c_str());
    }

    /// One of ten is so slow that its payload of everything misses the list.
    void a_volunteer_slower_than_nine_others_sends_less_and_is_credited() {
        const std::string wrong = first_wrong(seeds(1), [](std::uint64_t seed) -> std::string {
            World world(seed, plan_of(10, 24));
            use_links(world, {10}, 4);
            world.start_all();
            if (!world.run_until([&] { return world.all_at(23); }, Duration{24 * 60'000})) return "no end";
            const std::size_t slow = world.size() - 1;
            if (world.newest_k() != numerics::sent_max) return "sent at last: " + std::to_string(world.newest_k());
            if (rounds_of(world, slow) < 12) return "credited for " + std::to_string(rounds_of(world, slow));
            const peer::PeerView view = world.peer(slow).view();
            return view.k < view.k_allowed ? "" : "it sends " + std::to_string(view.k);
        });
        QVERIFY2(wrong.empty(), wrong.c_str());
    }

    /// Its payload takes longer than the others wait for it, in every round, and less of it would be less work.
    void a_contribution_late_for_every_list_counts_in_the_next() {
        const std::string wrong = first_wrong(seeds(3), [](std::uint64_t seed) -> std::string {
            for (const std::uint32_t rounds_late_max : {0U, 1U}) {
                WorldPlan plan = plan_of(4, 16);
                plan.k = plan.k_max = numerics::sent_max;
                plan.rounds_late_max = rounds_late_max;
                World world(seed, plan);
                const std::size_t slow = world.size() - 1;
                use_links(world, {slow}, 4);
                world.start_all();
                if (const std::string failed = finish_run(world, Duration{16 * 60'000}); !failed.empty()) return failed;
                const std::uint64_t credited = rounds_of(world, slow);
                const bool is_right = rounds_late_max == 0 ? credited <= 3 : credited >= 13;
                if (!is_right) return "credited for " + std::to_string(credited) + " of 16";
                if (rounds_of(world, 1) < 15) return "another was credited for few";
            }
            return "";
        });
        QVERIFY2(wrong.empty(), wrong.c_str());
    }

    void strangers_that_announce_and_never_deliver_change_nothing() {
        World world(1, plan_of(4, 12));
        use_links(world, {}, 1);
        world.start_all();
        QVERIFY(world.run_until([&] { return world.all_at(1); }, Duration{120'000}));
        std::vector<std::unique_ptr<Stranger>> strangers;
        for (std::size_t i = 0; i < 4; ++i) {
            strangers.push_back(std::make_unique<Stranger>(world, world_key(50 + i)));
            strangers.back()->folder().withholds = true;
        }
        std::set<std::uint64_t> offered;
        const auto announce = [&] {
            const std::uint64_t round = world.round_of(0);
            if (!offered.insert(round).second) return;
            const auto& ledger = world.home(0).ledger;
            const StateDigest base = *ledger.digest_after(world.run(), RoundId{round - 1});
            for (const auto& stranger : strangers) {
                stranger->broadcast(run::ContributionMessage{RoundId{round}, base, stranger->publish_payload(1), {64}});
            }
        };
        const auto at_end = [&] {
            announce();
            return world.all_at(11);
        };
        QVERIFY(world.run_until(at_end, Duration{12 * 60'000}));
        QVERIFY(offered.size() >= 9);
        QCOMPARE(world.newest_k(), numerics::sent_max);
    }
};

QTEST_APPLESS_MAIN(SlowLinksTest)
#include "test_slow_links.moc"
