#include "core/training/picture/neighbours.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "core/base/check.h"

namespace potluck::training {

std::vector<std::size_t> nearest_of(std::span<const float> row, std::vector<std::size_t> others, std::size_t asked) {
    asked = std::min(asked, others.size());
    const auto nearer = [&](std::size_t a, std::size_t b) { return row[a] > row[b] || (row[a] == row[b] && a < b); };
    std::ranges::partial_sort(others, others.begin() + static_cast<std::ptrdiff_t>(asked), nearer);
    others.resize(asked);
    return others;
}

double told_by_neighbours(std::span<const float> similarities, std::span<const std::uint32_t> labels) {
    const std::size_t count = labels.size();
    POTLUCK_CHECK(similarities.size() == count * count);
    std::vector<std::size_t> labelled;
    for (std::size_t i = 0; i < count; ++i)
        if (labels[i] != 0) labelled.push_back(i);
    if (labelled.size() < 2) return 0;
    std::uint64_t right = 0;
    std::vector<std::size_t> others;
    for (const std::size_t own : labelled) {
        others = labelled;
        std::erase(others, own);
        const std::span<const float> row = similarities.subspan(own * count, count);
        std::map<std::uint32_t, double> votes;
        for (const std::size_t other : nearest_of(row, others, neighbours_asked))
            votes[labels[other]] += std::exp(static_cast<double>(row[other]) / neighbours_temperature);
        const auto best = std::ranges::max_element(votes, {}, [](const auto& vote) { return vote.second; });
        right += best->first == labels[own];
    }
    return static_cast<double>(right) / static_cast<double>(labelled.size());
}

}  // namespace potluck::training
