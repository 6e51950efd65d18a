// The baseline that a model of gaps and orders must beat: a gap filled by how often each token occurs in the training
// text (add-one-smoothed), measured on the validation records, and the order guessed.
//
//   loss = mean over tokens a of  -ln((count(a) + 1) / (tokens + vocabulary))  +  ln 2
//
// Threads: one at a time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/data/pair_records.h"

namespace potluck::data {

class UnigramBaseline {
public:
    /// All tokens are below `vocabulary`; the marks are not counted.
    UnigramBaseline(std::uint32_t vocabulary, const PairMarks& marks, std::span<const model::Token> records);

    void count(std::span<const model::Token> tokens);
    /// Nats per record: of a mean gap and of the order.
    [[nodiscard]] double loss() const;

private:
    void add(std::span<const model::Token> tokens, std::vector<std::uint64_t>& counts) const;

    PairMarks m_marks;
    std::vector<std::uint64_t> m_asked;    // by token, in validation
    std::vector<std::uint64_t> m_counted;  // by token, in training
};

}  // namespace potluck::data
