// What one measurement says of a person, in thousandths of a natural logarithm: 1000 ln(P(bin | no work) / P(bin |
// work)). Rows are bins of what the contribution does for its own records, columns of how much more that is than for
// others, both as shares of the median contribution's (sequential_test.h). The last column is for contributions that
// claim a whole shard, so that there are no others.
//
// The figures follow a simulation of 48 rounds: honest contributions 1.0 +- 0.35 and 0.35 +- 0.2, noise below 0, one
// step of ten 0.12 +- 0.1 and 0.03. Each is cut at 4.7, three of which cross the threshold, for tails are heavier than
// any model's. Who helps as much as others is not told from them by the second figure: work on another shard is work.
#pragma once

#include <array>

namespace potluck::run {

inline constexpr std::array<double, 4> own_edges{0.0, 0.15, 0.35, 0.6};
inline constexpr std::array<double, 2> gap_edges{0.05, 0.15};
inline constexpr std::array<std::array<int, 4>, 5> evidence_table{{
    {4700, 4700, 2500, 4700},      // worse than nothing
    {2600, 1200, -300, 2000},      // next to nothing
    {1300, 0, -1000, 500},         // little
    {-300, -1000, -1800, -1000},   // less than others
    {-1500, -2500, -3500, -2500},  // work
}};

}  // namespace potluck::run
