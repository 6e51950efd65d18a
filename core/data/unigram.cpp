#include "core/data/unigram.h"

#include <cmath>
#include <numbers>
#include <numeric>

namespace potluck::data {

UnigramBaseline::UnigramBaseline(std::uint32_t vocabulary, const PairMarks& marks,
                                 std::span<const model::Token> records)
    : m_marks(marks), m_asked(vocabulary), m_counted(vocabulary) {
    add(records, m_asked);
}

void UnigramBaseline::add(std::span<const model::Token> tokens, std::vector<std::uint64_t>& counts) const {
    for (const model::Token token : tokens) {
        if (token != m_marks.pad && token != m_marks.cls && token != m_marks.sep) ++counts[token];
    }
}

void UnigramBaseline::count(std::span<const model::Token> tokens) { add(tokens, m_counted); }

double UnigramBaseline::loss() const {
    const auto asked = std::accumulate(m_asked.begin(), m_asked.end(), std::uint64_t{0});
    if (asked == 0) return 0;
    const auto counted = std::accumulate(m_counted.begin(), m_counted.end(), std::uint64_t{m_counted.size()});
    double total = 0;
    for (std::size_t token = 0; token < m_asked.size(); ++token) {
        const double share = static_cast<double>(m_counted[token] + 1) / static_cast<double>(counted);
        total -= static_cast<double>(m_asked[token]) * std::log(share);
    }
    return total / static_cast<double>(asked) + std::numbers::ln2;
}

}  // namespace potluck::data
