#include "core/training/sampler.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "core/base/check.h"

namespace potluck::training {

std::uint32_t choose_token(std::span<const float> logits, const SampleRule& rule, Rng& rng) {
    POTLUCK_CHECK(!logits.empty());
    const auto better = [&](std::uint32_t a, std::uint32_t b) {
        return logits[a] > logits[b] || (logits[a] == logits[b] && a < b);
    };
    std::vector<std::uint32_t> ranked(logits.size());
    std::iota(ranked.begin(), ranked.end(), 0U);
    std::size_t kept = rule.top_k == 0 ? ranked.size() : std::min<std::size_t>(rule.top_k, ranked.size());
    if (rule.temperature <= 0) kept = 1;
    std::partial_sort(ranked.begin(), ranked.begin() + static_cast<std::ptrdiff_t>(kept), ranked.end(), better);
    if (kept == 1) return ranked.front();

    std::vector<double> cumulative(kept);
    double total = 0;
    for (std::size_t i = 0; i < kept; ++i) {
        total += std::exp(static_cast<double>(logits[ranked[i]] - logits[ranked[0]]) / rule.temperature);
        cumulative[i] = total;
    }
    const double drawn = rng.unit() * total;
    const auto chosen = std::upper_bound(cumulative.begin(), cumulative.end(), drawn);
    const std::size_t index = std::min<std::size_t>(static_cast<std::size_t>(chosen - cumulative.begin()), kept - 1);
    return ranked[index];
}

}  // namespace potluck::training
