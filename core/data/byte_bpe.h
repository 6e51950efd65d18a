// Byte-level BPE as GPT-2 and OPT have it, from their two files, and as Llama 3 and Qwen have it, from one.
//
//   text --(NFC)--> text --WordSplit--> words --bytes--> byte tokens --MergeTable--> tokens
//
// vocab.json maps every token to its id; tokens are written in 256 printable characters that stand for the 256 bytes
// (byte_symbol). merges.txt has one merge a line, the most urgent first. A token that is neither a byte nor the result
// of a merge is special: no text encodes to it. The separator is `</s>` (OPT), `<|endoftext|>` (GPT-2, SmolLM, Qwen) or
// `<|begin_of_text|>` (Llama 3) if special.
//
// Both files come from a stranger: sizes are bounded, ids must be 0..V-1 without gaps, merges must name known tokens.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/data/tokenizer_model.h"
#include "core/data/word_split.h"

namespace potluck::data {

/// The character, in UTF-8, that stands for `byte` in both files: printable ones for themselves, the others for the
/// characters from U+0100 on.
[[nodiscard]] std::string byte_symbol(unsigned char byte);

enum class Normalization { none, nfc };

/// What makes tokens of a word that is a token: the merges, or the word itself whatever the merges say.
enum class WholeWords { merged, taken };

/// In what a byte-level BPE differs from GPT-2's.
struct BytePairRules {
    WordPattern pattern = WordPattern::gpt2;
    Normalization normalization = Normalization::none;
    WholeWords whole_words = WholeWords::merged;
    std::vector<std::string> added = {};  // tokens of the vocabulary that are never taken for a word
    [[nodiscard]] bool are_gpt2s() const {
        return pattern == WordPattern::gpt2 && normalization == Normalization::none &&
               whole_words == WholeWords::merged;
    }
};

[[nodiscard]] Result<TokenizerModelPointer> open_byte_bpe(const std::filesystem::path& vocabulary,
                                                          const std::filesystem::path& merges);
[[nodiscard]] Result<TokenizerModelPointer> parse_byte_bpe(std::string_view vocabulary_json,
                                                           std::string_view merges_text,
                                                           const BytePairRules& rules = {});
/// The same from a tokenizer.json (tokenizer_json.h).
[[nodiscard]] Result<TokenizerModelPointer> open_byte_bpe_json(const std::filesystem::path& file);

}  // namespace potluck::data
