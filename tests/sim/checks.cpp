#include "tests/sim/checks.h"

#include <algorithm>

namespace potluck::sim {

namespace {

/// The living member with the longest chain.
std::size_t furthest(World& world) {
    std::size_t best = 0;
    std::uint64_t length = 0;
    for (std::size_t i = 0; i < world.size(); ++i) {
        const std::uint64_t own = world.home(i).ledger.totals(world.run()).rounds.value;
        if (world.home(i).alive() && own >= length) {
            best = i;
            length = own;
        }
    }
    return best;
}

}  // namespace

std::string agreement(World& world) {
    const std::size_t reference = furthest(world);
    const ledger::Ledger& truth = world.home(reference).ledger;
    for (std::size_t i = 0; i < world.size(); ++i) {
        if (!world.home(i).alive()) continue;
        const ledger::Ledger& own = world.home(i).ledger;
        if (const Status chain = own.verify_chain(world.run()); !chain.ok()) return chain.error().message;
        const std::uint64_t length = own.totals(world.run()).rounds.value;
        for (RoundId round{0}; round.value < length; round = round.next()) {
            const std::string where = "member " + std::to_string(i) + " round " + std::to_string(round.value);
            if (own.list(world.run(), round) != truth.list(world.run(), round)) return where + ": another list";
            if (own.digest_after(world.run(), round) != truth.digest_after(world.run(), round)) {
                return where + ": another digest";
            }
        }
        for (const peer::StateStore::Held& held : world.home(i).disk.held()) {
            if (held.round.value == 0 || held.round.value > length) continue;
            if (held.digest != truth.digest_after(world.run(), RoundId{held.round.value - 1})) {
                return "member " + std::to_string(i) + " holds another state of round " +
                       std::to_string(held.round.value);
            }
        }
    }
    return {};
}

std::string conservation(World& world) {
    const ledger::Ledger& truth = world.home(furthest(world)).ledger;
    for (std::size_t i = 0; i < world.size(); ++i) {
        Home& home = world.home(i);
        if (home.backbone || home.folder.withholds) continue;
        const std::uint64_t trained = home.trained_before + (home.alive() ? home.saved : 0);
        peer::ContributionRecord record;
        if (const auto bytes = home.disk.load_record()) {
            record = peer::ContributionRecord::decode(*bytes).value_or(peer::ContributionRecord{});
        }
        const std::uint64_t credited = truth.credit_of(world.run(), home.id()).tokens.value;
        const std::uint64_t booked = credited + record.carried.value + record.pending_tokens().value;
        if (trained != booked) {
            return "member " + std::to_string(i) + " trained " + std::to_string(trained) + " but has " +
                   std::to_string(credited) + " credited, " + std::to_string(record.carried.value) + " carried, " +
                   std::to_string(record.pending_tokens().value) + " pending";
        }
    }
    return {};
}

}  // namespace potluck::sim
