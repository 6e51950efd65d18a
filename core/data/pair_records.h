// Pairs of texts that follow each other, as an encoder is trained on them (Lan et al. 2019):
//
//   sentences --until a record is full--> chunk --cut behind a drawn sentence--> A | B
//   record := [CLS] A [SEP] B [SEP] [PAD]...        context + 1 tokens, the last always [PAD]
//
// Records hold the texts as they stand; which tokens are hidden and whether the texts are swapped is drawn when a
// record is trained on (core/training/encoder/masking.h). One chunk in ten aims at fewer tokens, so that short texts
// occur. What does not fit is cut off the end of the longer text; a chunk of one sentence is dropped. Threads: one at a
// time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/rng.h"
#include "core/data/sentences.h"
#include "core/data/tokenizer.h"

namespace potluck::data {

class PairRecords {
public:
    PairRecords(const Tokenizer& tokenizer, const PairMarks& marks, std::uint32_t context)
        : m_tokenizer(tokenizer), m_marks(marks), m_context(context) {}

    /// Appends the records of a stretch of one document; `rng` draws where they are cut.
    void append(std::string_view text, Rng& rng, std::vector<model::Token>& out);

private:
    void append_record(std::size_t first, std::size_t middle, std::size_t end, std::vector<model::Token>& out);
    void encode_joined(std::size_t first, std::size_t end, std::vector<model::Token>& out);
    [[nodiscard]] std::size_t tokens_of(std::string_view sentence);

    const Tokenizer& m_tokenizer;
    PairMarks m_marks;
    std::uint32_t m_context;
    SentenceSplit m_split;
    std::vector<std::string_view> m_sentences;
    std::vector<model::Token> m_a, m_b;
    std::string m_joined;
};

}  // namespace potluck::data
