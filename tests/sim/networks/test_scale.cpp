// Figures of size: what a member sends in a round must not grow with the members, and a crowd of strangers gets no seat
// and no more than a fifth of a list.
#include <QTest>

#include <iterator>
#include <numeric>
#include <sstream>

#include "tests/sim/networks/crowd.h"
#include "tests/sim/scenario.h"
#include "tests/sim/seeds.h"

using namespace potluck;
using namespace potluck::sim;

namespace {

constexpr std::size_t neighbours = 8;
constexpr std::size_t seats = 4;

constexpr std::array<const char*, message_kinds> kinds{"payload", "status",          "close",       "contribution",
                                                       "ballot",  "history request", "history",     "layer request",
                                                       "layer",   "goodbye",         "host action", "payload request"};

/// What one member sends in one round, on average.
struct Figures {
    std::array<double, message_kinds> messages{}, bytes{};
    double verifications = 0;
    double contributions_per_link = 0;  // how often each was sent over each link, in either direction
    double seconds = 0;                 // that a round took

    [[nodiscard]] double of(run::MessageKind kind) const { return messages[static_cast<std::size_t>(kind)]; }
    [[nodiscard]] double bytes_in_all() const { return std::accumulate(bytes.begin(), bytes.end(), 0.0); }
    [[nodiscard]] double bytes_beside_statuses() const {
        return bytes_in_all() - bytes[static_cast<std::size_t>(run::MessageKind::status)];
    }
};

struct Size {
    std::size_t members = 0;
    std::size_t trainers = 0;  // the others are paused: they relay, hold states and apply lists
};

std::ostream& operator<<(std::ostream& out, const Size& size) {
    return out << size.members << " members, " << size.trainers << " of them train";
}

void print(const Size& size, const Figures& figures) {
    std::ostringstream text;
    text << size << "; of each, in a round of " << figures.seconds << " s:";
    for (std::size_t kind = 0; kind < message_kinds; ++kind) {
        if (figures.messages[kind] == 0) continue;
        text << "\n  " << kinds[kind] << ": " << figures.messages[kind] << " messages, " << figures.bytes[kind]
             << " bytes";
    }
    text << "\n  in all " << figures.bytes_in_all() << " bytes, " << figures.verifications
         << " signatures looked at; each contribution " << figures.contributions_per_link << " times over each link";
    qInfo("%s", text.str().c_str());
}

/// Runs until every member has each of `rounds` lists after the first.
void measure(const Size& size, std::uint64_t rounds, Figures& figures) {
    World world(1, {.backbones = seats,
                    .volunteers = size.members - seats,
                    .rounds = rounds + 2,
                    .links = {},
                    .damage_may_spread = false});
    Topology topology = random_graph(world.size(), neighbours, world.rng());
    set_speeds(topology, {Duration{20}, 0});
    world.use(topology);
    std::map<RoundId, std::size_t> holders;
    world.on_list = [&](std::size_t, RoundId round) { ++holders[round]; };
    world.start_all();
    for (std::size_t i = seats + size.trainers; i < world.size(); ++i) world.peer(i).pause(world.now());
    const auto all_have = [&](std::uint64_t round) { return holders[RoundId{round}] == world.size(); };
    QVERIFY(world.run_until([&] { return all_have(0); }, Duration{60'000}));
    const auto before = world.network().traffic();
    const std::uint64_t verified_before = world.verifications();
    const TimePoint began = world.now();
    QVERIFY(world.run_until([&] { return all_have(rounds); }, Duration{rounds * 20'000}));
    QVERIFY2(world.divided().empty(), world.divided().c_str());
    const auto list = run::AcceptList::decode(world.home(0).ledger.list(world.run(), RoundId{rounds})->list).value();
    QCOMPARE(list.entries.size(), size.trainers);
    const double shares = static_cast<double>(size.members * rounds);
    for (std::size_t kind = 0; kind < message_kinds; ++kind) {
        const Traffic& now = world.network().traffic()[kind];
        figures.messages[kind] = static_cast<double>(now.messages - before[kind].messages) / shares;
        figures.bytes[kind] = static_cast<double>(now.bytes - before[kind].bytes) / shares;
    }
    figures.verifications = static_cast<double>(world.verifications() - verified_before) / shares;
    figures.contributions_per_link = figures.of(run::MessageKind::contribution) * static_cast<double>(size.members) /
                                     static_cast<double>(topology.links.size() * size.trainers);
    figures.seconds = static_cast<double>((world.now() - began).count()) / 1e3 / static_cast<double>(rounds);
    print(size, figures);
}

/// Lists of a run that a crowd has joined.
struct Shares {
    double of_newcomers = 0;  // the largest share of a list that strangers on probation had
    double of_all = 0;        // and all strangers
    std::uint64_t lists = 0;
};

double share_of(const run::AcceptList& list, const std::function<bool(const run::Accepted&)>& counts) {
    const std::vector<TokenCount> weights = run::weights_of(list);
    double part = 0, whole = 0;
    for (std::size_t i = 0; i < weights.size(); ++i) {
        whole += static_cast<double>(weights[i].value);
        if (counts(list.entries[i])) part += static_cast<double>(weights[i].value);
    }
    return part / whole;
}

/// Four seats and four who train; once these have been accepted often enough to count in full, the crowd comes.
void crowded(std::uint64_t rounds, const Crowd::Plan& plan, Shares& shares) {
    constexpr std::uint32_t probation = 10;
    World world(1, {.backbones = seats,
                    .volunteers = 4,
                    .rounds = rounds + 2 * probation,
                    .checkpoint_every = 50,
                    .window = Duration{1'000},
                    .collect = Duration{1'000},
                    .fit_rounds = 1,
                    .probation_rounds = probation});
    world.start_all();
    QVERIFY(world.run_until([&] { return world.all_at(probation + 2); }, Duration{120'000}));
    Crowd crowd(world, plan);
    bool seated = false;
    world.on_list = [&](std::size_t member, RoundId round) {
        if (member != 0) return;
        const auto list = run::AcceptList::decode(world.home(0).ledger.list(world.run(), round)->list).value();
        seated = seated || list.committee != world.first_committee();
        const auto is_strange = [&](const run::Accepted& entry) { return crowd.knows(entry.peer); };
        const auto is_new = [&](const run::Accepted& entry) { return is_strange(entry) && entry.newcomer; };
        shares.of_newcomers = std::max(shares.of_newcomers, share_of(list, is_new));
        shares.of_all = std::max(shares.of_all, share_of(list, is_strange));
        shares.lists += std::any_of(list.entries.begin(), list.entries.end(), is_strange) ? 1 : 0;
    };
    const std::uint64_t last = rounds + probation + 2;
    QVERIFY(world.run_until([&] { return world.rounds_committed() >= last; }, Duration{rounds * 10'000}));
    QVERIFY2(world.divided().empty(), world.divided().c_str());
    QVERIFY2(!seated, "the committee has changed");
    for (std::size_t i = seats; i < world.size(); ++i) {
        QVERIFY(world.home(0).ledger.credit_of(world.run(), world.home(i).id()).rounds + 2 >= last);
    }
}

}  // namespace

class ScaleTest : public QObject {
    Q_OBJECT
private slots:
    void a_members_messages_do_not_grow_with_the_swarm() {
        const Size sizes[] = {{50, 24}, {200, 24}, {length(300, 1'000), 24}};
        Figures figures[std::size(sizes)];
        for (std::size_t i = 0; i < std::size(sizes); ++i) {
            measure(sizes[i], 2, figures[i]);
            if (QTest::currentTestFailed()) return;
        }
        const Figures& least = figures[0];
        for (const Figures& more : figures) {
            QVERIFY(more.contributions_per_link <= 2);
            // Its own each second and at each change of phase, and those that it passes on
            // (core/peer/presence/gossip.h).
            QVERIFY(more.of(run::MessageKind::status) <= neighbours * (6 + 5 * more.seconds));
            QVERIFY(more.of(run::MessageKind::ballot) <= 1.2 * least.of(run::MessageKind::ballot));
            QVERIFY(more.verifications - more.of(run::MessageKind::status) <= 1.2 * least.verifications);
            // One of the copies of each contribution is looked at.
            const double others = std::accumulate(more.messages.begin() + 1, more.messages.end(), 0.0) -
                                  more.of(run::MessageKind::contribution);
            QVERIFY(more.verifications <= 2 * others + 2 * static_cast<double>(sizes[0].trainers));
            QVERIFY(more.bytes_beside_statuses() <= 1.2 * least.bytes_beside_statuses());
        }
    }

    /// When all contribute, everything else stays what it was.
    void contributions_cross_a_link_twice_at_most_when_all_train() {
        const std::size_t most = length(100, 400);
        for (const Size& size : {Size{50, 50 - seats}, Size{most, most - seats}}) {
            Figures figures;
            measure(size, 2, figures);
            if (QTest::currentTestFailed()) return;
            QVERIFY(figures.contributions_per_link <= 2);
            QVERIFY(figures.messages[0] <= static_cast<double>(size.trainers));  // payloads, once each
        }
    }

    void a_thousand_strangers_that_stay_get_no_seat() {
        Shares shares;
        crowded(length(40, 1'000), {}, shares);
        if (QTest::currentTestFailed()) return;
        qInfo("%llu lists; newcomers among the strangers weighed %.3f of a list at most, all of them %.3f",
              static_cast<unsigned long long>(shares.lists), shares.of_newcomers, shares.of_all);
        QVERIFY(shares.lists >= length(38, 990));
        QVERIFY(shares.of_newcomers > 0.1);
        QVERIFY(shares.of_newcomers <= 0.2);
    }

    void a_thousand_strangers_with_ever_new_keys_weigh_a_fifth_at_most() {
        Shares shares;
        crowded(length(40, 1'000), {.keys = 1'000, .contributors = 40, .contributions_max = 10}, shares);
        if (QTest::currentTestFailed()) return;
        QVERIFY(shares.lists >= length(38, 990));
        QVERIFY(shares.of_all > 0.1);
        QVERIFY(shares.of_all <= 0.2);
    }
};

QTEST_APPLESS_MAIN(ScaleTest)
#include "test_scale.moc"
