// What one measurement says of a person, in thousandths of a natural logarithm: 1000 ln(P(bin | no work) / P(bin |
// work)). Rows are bins of what the contribution does for its own records, columns of how much more that is than for
// others, both as shares of the median contribution's (sequential_test.h). The last column is for contributions that
// claim a whole shard, so that there are no others.
//
// tests/bench/jury_table.py prints this file from what tests/bench/bench_jury.cpp measured:
// 24504 honest measurements of 79 trainings (docs/measurements.md has the commands). No entry is larger than
// 1200, so twelve measurements are the fewest that convict: where models stand still, or windows are too long for
// their rate, honest figures can be bad for several rounds in a row. What helps as much as others' work does is no
// evidence, whichever shard it was trained on.
#pragma once

#include <array>

namespace potluck::run {

inline constexpr std::array<double, 4> own_edges{0.0, 0.15, 0.35, 0.6};
inline constexpr std::array<double, 2> gap_edges{0.05, 0.15};
inline constexpr std::array<std::array<int, 4>, 5> evidence_table{{
    {1200, 1200, 1200, 1200},      // worse than nothing
    {1200, 1200, 1200, 1200},      // next to nothing
    {-646, -1271, -549, -773},     // little
    {-1552, -2000, -2000, -2000},  // less than others
    {-1642, -2000, -2000, -2000},  // work
}};

}  // namespace potluck::run
