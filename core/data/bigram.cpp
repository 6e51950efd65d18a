#include "core/data/bigram.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/base/check.h"
#include "core/base/rng.h"

namespace potluck::data {

namespace {

std::uint32_t pair_key(std::uint32_t first, std::uint32_t second) { return first << 16U | second; }

}  // namespace

BigramBaseline::BigramBaseline(std::uint32_t vocabulary, std::span<const std::uint16_t> records,
                               std::size_t record_tokens)
    : m_singles(65'536), m_vocabulary(vocabulary) {
    POTLUCK_CHECK(record_tokens >= 2 && records.size() % record_tokens == 0);
    std::vector<std::uint32_t> keys;
    keys.reserve(records.size());
    for (std::size_t i = 0; i + 1 < records.size(); ++i) {
        if (i % record_tokens != record_tokens - 1) keys.push_back(pair_key(records[i], records[i + 1]));
    }
    m_predictions = keys.size();
    // Sorted, equal pairs stand together: the table has room for the different ones only, and stays in the cache.
    std::sort(keys.begin(), keys.end());
    std::size_t different = 0;
    for (std::size_t i = 0; i < keys.size(); ++i) different += i == 0 || keys[i] != keys[i - 1] ? 1 : 0;
    m_pairs.resize(std::bit_ceil(2 * different + 2));
    m_counted.resize(m_pairs.size());
    for (const std::uint32_t key : keys) {
        Pair& pair = m_pairs[slot_of(key)];
        pair.key = key;
        ++pair.occurrences;
    }
}

std::size_t BigramBaseline::slot_of(std::uint32_t key) const {
    const std::size_t mask = m_pairs.size() - 1;
    std::size_t slot = static_cast<std::size_t>(mix64(key)) & mask;
    while (m_pairs[slot].occurrences > 0 && m_pairs[slot].key != key) slot = (slot + 1) & mask;
    return slot;
}

void BigramBaseline::count(std::span<const std::uint16_t> tokens) {
    for (const std::uint16_t token : tokens) {
        if (m_previous != UINT32_MAX) {
            ++m_singles[m_previous];
            const std::size_t slot = slot_of(pair_key(m_previous, token));
            if (m_pairs[slot].occurrences > 0) ++m_counted[slot];
        }
        m_previous = token;
    }
}

double BigramBaseline::loss() const {
    if (m_predictions == 0) return 0;
    double total = 0;
    for (std::size_t slot = 0; slot < m_pairs.size(); ++slot) {
        const Pair& pair = m_pairs[slot];
        if (pair.occurrences == 0) continue;
        const auto seen = static_cast<double>(m_counted[slot] + 1);
        const auto possible = static_cast<double>(m_singles[pair.key >> 16U] + m_vocabulary);
        total -= static_cast<double>(pair.occurrences) * std::log(seen / possible);
    }
    return total / static_cast<double>(m_predictions);
}

}  // namespace potluck::data
