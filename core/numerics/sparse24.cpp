#include "core/numerics/sparse24.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "core/numerics/require.h"

namespace potluck::numerics {

namespace {

struct Pattern {
    std::size_t first, second;  // what stays
};
constexpr std::array<Pattern, 6> patterns{{{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}}};

Pattern best_pattern(const std::array<double, 4>& magnitudes) {
    Pattern best = patterns[0];
    for (const Pattern& pattern : patterns) {
        const double sum = magnitudes[pattern.first] + magnitudes[pattern.second];
        if (sum > magnitudes[best.first] + magnitudes[best.second]) best = pattern;
    }
    return best;
}

/// Up to four weights that are `stride` apart. The number of zeros among them afterwards.
std::uint64_t prune_group(float* weights, std::size_t count, std::size_t stride) {
    std::array<double, 4> magnitudes{};
    for (std::size_t i = 0; i < count; ++i) magnitudes[i] = std::fabs(static_cast<double>(weights[i * stride]));
    const Pattern kept = best_pattern(magnitudes);
    std::uint64_t zeros = 0;
    for (std::size_t i = 0; i < count; ++i) {
        float& weight = weights[i * stride];
        if (i != kept.first && i != kept.second) weight = 0.0F;
        zeros += weight == 0.0F ? 1 : 0;
    }
    return zeros;
}

}  // namespace

std::uint64_t prune_2_of_4(std::span<float> weights, MatrixShape shape, InputsAlong inputs) {
    require(weights.size() == shape.rows * shape.columns);
    const auto rows = static_cast<std::size_t>(shape.rows);
    const auto columns = static_cast<std::size_t>(shape.columns);
    std::uint64_t zeros = 0;
    if (inputs == InputsAlong::columns) {
        for (std::size_t row = 0; row < rows; ++row) {
            for (std::size_t column = 0; column < columns; column += 4) {
                zeros += prune_group(&weights[row * columns + column], std::min<std::size_t>(4, columns - column), 1);
            }
        }
        return zeros;
    }
    for (std::size_t row = 0; row < rows; row += 4) {
        for (std::size_t column = 0; column < columns; ++column) {
            zeros += prune_group(&weights[row * columns + column], std::min<std::size_t>(4, rows - row), columns);
        }
    }
    return zeros;
}

}  // namespace potluck::numerics
