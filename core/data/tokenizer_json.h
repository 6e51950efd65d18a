// Hugging Face's tokenizer.json of a byte-level BPE, as the two files that GPT-2 has it in and the way it cuts text.
//
// Ways to cut are a closed list, compared as what the file says; no pattern of a file is ever compiled. What would make
// other tokens than the file means (a normalizer, other pre-tokenizers, other kinds of model) is refused by name.
// Does no I/O. Threads: any.
#pragma once

#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/data/word_split.h"

namespace potluck::data {

struct BytePairFiles {
    std::string vocabulary;  // as in a vocab.json, with the added tokens
    std::string merges;      // as in a merges.txt
    WordPattern pattern = WordPattern::gpt2;
};

/// `malformed` with a sentence that names what this version cannot read.
[[nodiscard]] Result<BytePairFiles> parse_tokenizer_json(std::string_view text);

}  // namespace potluck::data
