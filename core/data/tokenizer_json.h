// Hugging Face's tokenizer.json of a byte-level BPE, as the two files that GPT-2 has it in and the rules by
// which it makes tokens.
//
// Ways to cut are a closed list, compared as what the file says; no pattern of a file is ever compiled. What would make
// other tokens than the file means (a normalizer but NFC, other pre-tokenizers, other kinds of model) is refused by
// name.
// Does no I/O. Threads: any.
#pragma once

#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/data/byte_bpe.h"

namespace potluck::data {

struct BytePairFiles {
    std::string vocabulary;  // as in a vocab.json, with the added tokens
    std::string merges;      // as in a merges.txt
    BytePairRules rules = {};
};

/// `malformed` with a sentence that names what this version cannot read.
[[nodiscard]] Result<BytePairFiles> parse_tokenizer_json(std::string_view text);

}  // namespace potluck::data
