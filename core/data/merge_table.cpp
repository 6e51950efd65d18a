#include "core/data/merge_table.h"

#include <bit>
#include <functional>
#include <queue>

#include "core/base/check.h"
#include "core/base/rng.h"

namespace potluck::data {

namespace {

constexpr std::size_t plain_max = 48;  // tokens of a word for which looking at every pair is quickest
constexpr std::uint32_t nowhere = UINT32_MAX;

std::uint64_t pair_of(model::Token left, model::Token right) { return std::uint64_t{left} << 32U | right; }

/// A word as a list from which merged tokens are unlinked.
struct Linked {
    explicit Linked(std::size_t size) : before(size), after(size), gone(size) {
        for (std::size_t i = 0; i < size; ++i) {
            before[i] = i == 0 ? nowhere : static_cast<std::uint32_t>(i - 1);
            after[i] = i + 1 == size ? nowhere : static_cast<std::uint32_t>(i + 1);
        }
    }
    void unlink(std::uint32_t at) {
        gone[at] = 1;
        after[before[at]] = after[at];
        if (after[at] != nowhere) before[after[at]] = before[at];
    }
    std::vector<std::uint32_t> before, after;
    std::vector<std::uint8_t> gone;
};

}  // namespace

MergeTable::MergeTable(std::size_t merges) : m_slots(std::bit_ceil(2 * merges + 2)) {}

const MergeTable::Slot& MergeTable::find(model::Token left, model::Token right) const {
    const std::uint64_t pair = pair_of(left, right);
    const std::size_t mask = m_slots.size() - 1;
    std::size_t slot = static_cast<std::size_t>(mix64(pair)) & mask;
    while (m_slots[slot].rank != no_rank && m_slots[slot].pair != pair) slot = (slot + 1) & mask;
    return m_slots[slot];
}

bool MergeTable::add(const Merge& merge) {
    POTLUCK_CHECK(2 * (std::size_t{m_count} + 1) <= m_slots.size());
    Slot& slot = m_slots[static_cast<std::size_t>(&find(merge.left, merge.right) - m_slots.data())];
    if (slot.rank != no_rank) return false;
    slot = {pair_of(merge.left, merge.right), m_count++, merge.result};
    return true;
}

void MergeTable::apply_plainly(std::vector<model::Token>& word) const {
    while (word.size() > 1) {
        Slot best;
        for (std::size_t i = 0; i + 1 < word.size(); ++i) {
            const Slot& slot = find(word[i], word[i + 1]);
            if (slot.rank < best.rank) best = slot;
        }
        if (best.rank == no_rank) return;
        std::size_t out = 0;
        for (std::size_t i = 0; i < word.size(); ++i, ++out) {
            const bool merges = i + 1 < word.size() && pair_of(word[i], word[i + 1]) == best.pair;
            word[out] = merges ? best.result : word[i];
            if (merges) ++i;
        }
        word.resize(out);
    }
}

void MergeTable::apply(std::vector<model::Token>& word) const {
    if (word.size() <= plain_max) return apply_plainly(word);
    POTLUCK_CHECK(word.size() < nowhere);
    Linked links(word.size());
    // Rank, then position: all places of one rank come out together and from left to right.
    std::priority_queue<std::uint64_t, std::vector<std::uint64_t>, std::greater<>> places;
    const auto rank_at = [&](std::uint32_t at) {
        if (links.gone[at] != 0 || links.after[at] == nowhere) return no_rank;
        return find(word[at], word[links.after[at]]).rank;
    };
    const auto offer = [&](std::uint32_t at) {
        const std::uint32_t rank = rank_at(at);
        if (rank != no_rank) places.push(static_cast<std::uint64_t>(rank) << 32U | at);
    };
    for (std::uint32_t at = 0; at < word.size(); ++at) offer(at);
    std::vector<std::uint32_t> merged;
    while (!places.empty()) {
        const auto rank = static_cast<std::uint32_t>(places.top() >> 32U);
        merged.clear();
        for (; !places.empty() && places.top() >> 32U == rank; places.pop()) {
            const auto at = static_cast<std::uint32_t>(places.top());
            if (rank_at(at) != rank) continue;  // one of the two was merged meanwhile
            word[at] = find(word[at], word[links.after[at]]).result;
            links.unlink(links.after[at]);
            merged.push_back(at);
        }
        // Only then new pairs: they wait until this rank is done everywhere, whatever rank they have.
        for (const std::uint32_t at : merged) {
            if (links.before[at] != nowhere) offer(links.before[at]);
            offer(at);
        }
    }
    std::size_t out = 0;
    for (std::size_t i = 0; i < word.size(); ++i) {
        if (links.gone[i] == 0) word[out++] = word[i];
    }
    word.resize(out);
}

}  // namespace potluck::data
