#include "app/demo/turns.h"

#include <algorithm>

namespace potluck::node {

namespace {

constexpr std::uint64_t rounds_away = 2;  // that a killed volunteer misses

}  // namespace

Turns Turns::of(std::uint64_t rounds) {
    Turns turns;
    turns.late_join = std::max<std::uint64_t>(1, rounds * 3 / 10);
    turns.kill = std::max(turns.late_join + 1, rounds * 2 / 5);
    turns.comeback = std::min(turns.kill + rounds_away, rounds > 2 ? rounds - 2 : rounds);
    return turns;
}

}  // namespace potluck::node
