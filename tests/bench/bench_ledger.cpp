// How long the node's loop is busy with one search for a person, and with ranking teams, in the leaderboard of a large
// run.
//
//   bench_ledger [people]
//
// A rare name, a name that everybody has, the beginning of a key and a name that nobody has; the best of seven each,
// in milliseconds. The ledger is in memory, as a file that is read again and again is too.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "core/base/check.h"
#include "tests/unit/ledger/ledger_chain.h"

namespace {

using namespace potluck;
using namespace potluck::test;

constexpr std::uint64_t people_usual = 100'000, people_per_list = 1'000, teams_usual = 2'000;
constexpr std::size_t shown_max = 100;
constexpr int repeats = 7;

void fill(ledger::Ledger& ledger, Chain& chain, std::uint64_t people) {
    for (std::uint64_t first = 1; first <= people; first += people_per_list) {
        std::vector<Chain::Share> shares;
        for (std::uint64_t i = first; i < std::min(first + people_per_list, people + 1); ++i)
            shares.push_back({.person = i, .tokens = 1 + i * 7919 % 1'000'003});
        POTLUCK_CHECK(add(ledger, chain.next(shares)).ok());
        for (const Chain::Share& share : shares) {
            ledger.remember_name(key(share.person), "person " + std::to_string(share.person));
            ledger.remember_team(key(share.person), "team " + std::to_string(share.person % teams_usual));
        }
    }
}

template <class Ask>
double milliseconds_of(const Ask& ask) {
    double best = 1e9;
    for (int i = 0; i < repeats; ++i) {
        const auto begin = std::chrono::steady_clock::now();
        (void)ask();
        const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - begin;
        best = std::min(best, taken.count());
    }
    return best;
}

}  // namespace

int main(int argc, char** argv) {
    const std::uint64_t people = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : people_usual;
    ledger::Ledger ledger = in_memory();
    Chain chain;
    fill(ledger, chain, people);
    std::printf("%llu people\n", static_cast<unsigned long long>(ledger.people(chain.run())));
    const std::pair<const char*, std::string> searches[] = {{"a rare name", "person " + std::to_string(people - 1)},
                                                            {"everybody's name", "person"},
                                                            {"a key", key(77).hex().substr(0, 12)},
                                                            {"nobody's name", "zzz"}};
    for (const auto& [what, part] : searches)
        std::printf("%-18s %8.1f ms\n", what,
                    milliseconds_of([&] { return ledger.find_people(chain.run(), part, shown_max); }));
    const ledger::OwnClaim own{key(77), "team 77"};
    std::printf("%-18s %8.1f ms\n", "teams",
                milliseconds_of([&] { return ledger.teams(chain.run(), own, "", shown_max); }));
    return 0;
}
