// The merges of a byte-level BPE and how they are applied to one word.
//
// As in GPT-2: of all neighbours that may be merged, the pair with the lowest rank is merged wherever it stands, from
// left to right, until no pair is left. `apply_plainly` does just that and is quick for short words; `apply` yields the
// same tokens in O(n log n), so that a word of a hundred thousand letters costs no more than a page of text.
//
// A value. Threads: one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/model/token.h"

namespace potluck::data {

class MergeTable {
public:
    struct Merge {
        model::Token left = 0, right = 0, result = 0;
    };
    /// Room for so many merges.
    explicit MergeTable(std::size_t merges);

    /// The next merge; its rank is the number of merges before it. False if the pair is there already.
    [[nodiscard]] bool add(const Merge& merge);

    void apply(std::vector<model::Token>& word) const;
    void apply_plainly(std::vector<model::Token>& word) const;

private:
    static constexpr std::uint32_t no_rank = UINT32_MAX;
    struct Slot {
        std::uint64_t pair = 0;        // left << 32 | right
        std::uint32_t rank = no_rank;  // of an empty slot
        model::Token result = 0;
    };
    [[nodiscard]] const Slot& find(model::Token left, model::Token right) const;

    std::vector<Slot> m_slots;  // open addressing, at most half full
    std::uint32_t m_count = 0;
};

}  // namespace potluck::data
