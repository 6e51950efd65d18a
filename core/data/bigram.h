// The baseline that a trained model must beat: an add-one-smoothed bigram model of the training text, measured on the
// validation records. Only pairs that occur in the validation records are counted, so memory is bounded by the
// validation shard (at most 2 MiB, hence a table of at most 96 MiB), whatever the vocabulary and the size of the text.
//
//   loss = mean over pairs (a, b) of  -ln((count(a, b) + 1) / (count(a) + vocabulary))
//
// Threads: one at a time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/model/token.h"

namespace potluck::data {

class BigramBaseline {
public:
    /// `records` are whole records of `record_tokens` tokens below `vocabulary`, as are those that are counted; the
    /// first token of a record is not predicted.
    BigramBaseline(std::uint32_t vocabulary, std::span<const model::Token> records, std::size_t record_tokens);

    /// The next tokens of the training text, in its order.
    void count(std::span<const model::Token> tokens);
    /// Nats per token.
    [[nodiscard]] double loss() const;

private:
    struct Pair {
        std::uint64_t key = 0;          // first token << 32 | second token
        std::uint64_t counted = 0;      // in training
        std::uint32_t occurrences = 0;  // in validation; 0: an empty slot
    };
    [[nodiscard]] std::size_t slot_of(std::uint64_t key) const;

    std::vector<Pair> m_pairs;             // open addressing, at most half full
    std::vector<std::uint64_t> m_singles;  // how often a token began a pair in training
    std::uint32_t m_vocabulary;
    std::uint64_t m_predictions = 0;
    model::Token m_previous = UINT32_MAX;  // last training token; none yet
};

}  // namespace potluck::data
