#include "core/data/bigram.h"

#include <bit>
#include <cmath>

#include "core/base/check.h"
#include "core/base/rng.h"

namespace potluck::data {

namespace {

std::uint64_t pair_key(model::Token first, model::Token second) { return std::uint64_t{first} << 32U | second; }

}  // namespace

BigramBaseline::BigramBaseline(std::uint32_t vocabulary, std::span<const model::Token> records,
                               std::size_t record_tokens)
    : m_pairs(std::bit_ceil(2 * records.size() + 2)), m_singles(vocabulary), m_vocabulary(vocabulary) {
    POTLUCK_CHECK(record_tokens >= 2 && records.size() % record_tokens == 0);
    for (std::size_t i = 0; i + 1 < records.size(); ++i) {
        if (i % record_tokens == record_tokens - 1) continue;
        const std::uint64_t key = pair_key(records[i], records[i + 1]);
        Pair& pair = m_pairs[slot_of(key)];
        pair.key = key;
        ++pair.occurrences;
        ++m_predictions;
    }
}

std::size_t BigramBaseline::slot_of(std::uint64_t key) const {
    const std::size_t mask = m_pairs.size() - 1;
    std::size_t slot = static_cast<std::size_t>(mix64(key)) & mask;
    while (m_pairs[slot].occurrences > 0 && m_pairs[slot].key != key) slot = (slot + 1) & mask;
    return slot;
}

void BigramBaseline::count(std::span<const model::Token> tokens) {
    for (const model::Token token : tokens) {
        if (m_previous != UINT32_MAX) {
            ++m_singles[m_previous];
            Pair& pair = m_pairs[slot_of(pair_key(m_previous, token))];
            if (pair.occurrences > 0) ++pair.counted;
        }
        m_previous = token;
    }
}

double BigramBaseline::loss() const {
    if (m_predictions == 0) return 0;
    double total = 0;
    for (const Pair& pair : m_pairs) {
        if (pair.occurrences == 0) continue;
        const auto seen = static_cast<double>(pair.counted + 1);
        const auto possible = static_cast<double>(m_singles[static_cast<std::size_t>(pair.key >> 32U)] + m_vocabulary);
        total -= static_cast<double>(pair.occurrences) * std::log(seen / possible);
    }
    return total / static_cast<double>(m_predictions);
}

}  // namespace potluck::data
