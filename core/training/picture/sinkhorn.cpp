#include "core/training/picture/sinkhorn.h"

#include <algorithm>
#include <cmath>

#include "core/base/check.h"

namespace potluck::training {

namespace {

constexpr float sum_floor = 1e-12F;
constexpr double collapsed_share = 0.005;  // of ln K, as models that learn leave within a few hundred steps

}  // namespace

std::vector<float> balanced_assignments(std::span<const float> scores, std::size_t prototypes, std::size_t rows,
                                        double epsilon) {
    POTLUCK_CHECK(prototypes > 0 && !scores.empty() && scores.size() % prototypes == 0 && epsilon > 0);
    const std::size_t all = scores.size() / prototypes;
    POTLUCK_CHECK(rows > 0 && rows <= all);
    const float most = *std::ranges::max_element(scores);
    std::vector<float> q(scores.size());
    for (std::size_t i = 0; i < q.size(); ++i)
        q[i] = static_cast<float>(std::exp(static_cast<double>(scores[i] - most) / epsilon));
    const float per_prototype = 1 / static_cast<float>(prototypes), per_row = 1 / static_cast<float>(all);
    std::vector<float> factors(prototypes);
    for (int turn = 0; turn < sinkhorn_rounds; ++turn) {
        std::ranges::fill(factors, 0.0F);
        for (std::size_t row = 0; row < all; ++row)
            for (std::size_t k = 0; k < prototypes; ++k) factors[k] += q[row * prototypes + k];
        for (float& factor : factors) factor = per_prototype / std::max(factor, sum_floor);
        for (std::size_t row = 0; row < all; ++row) {
            const std::span<float> values = std::span(q).subspan(row * prototypes, prototypes);
            float sum = 0;
            for (std::size_t k = 0; k < prototypes; ++k) sum += values[k] *= factors[k];
            const float factor = per_row / std::max(sum, sum_floor);
            for (float& value : values) value *= factor;
        }
    }
    q.erase(q.begin(), q.end() - static_cast<std::ptrdiff_t>(rows * prototypes));
    for (float& value : q) value *= static_cast<float>(all);
    return q;
}

double clusters_used(std::span<const float> assignments, std::size_t prototypes) {
    POTLUCK_CHECK(prototypes > 0 && !assignments.empty() && assignments.size() % prototypes == 0);
    std::vector<double> means(prototypes, 0.0);
    for (std::size_t i = 0; i < assignments.size(); ++i) means[i % prototypes] += static_cast<double>(assignments[i]);
    double sum = 0, entropy = 0;
    for (const double mean : means) sum += mean;
    for (const double mean : means)
        if (mean > 0) entropy -= mean / sum * std::log(mean / sum);
    return std::exp(entropy);
}

bool has_collapsed(double loss, std::size_t prototypes) {
    return loss >= (1 - collapsed_share) * std::log(static_cast<double>(prototypes));
}

}  // namespace potluck::training
