// Byte-level BPE as GPT-2 and OPT have it, from their two files.
//
//   text --WordSplit--> words --bytes--> byte tokens --MergeTable--> tokens
//
// vocab.json maps every token to its id; tokens are written in 256 printable characters that stand for the 256 bytes
// (byte_symbol). merges.txt has one merge a line, the most urgent first. A token that is neither a byte nor the result
// of a merge is special: no text encodes to it. The separator is `</s>` (OPT) or `<|endoftext|>` (GPT-2, SmolLM) if
// special.
//
// Both files come from a stranger: sizes are bounded, ids must be 0..V-1 without gaps, merges must name known tokens.
#pragma once

#include <string>
#include <string_view>

#include "core/data/tokenizer_model.h"
#include "core/data/word_split.h"

namespace potluck::data {

/// The character, in UTF-8, that stands for `byte` in both files: printable ones for themselves, the others for the
/// characters from U+0100 on.
[[nodiscard]] std::string byte_symbol(unsigned char byte);

[[nodiscard]] Result<TokenizerModelPointer> open_byte_bpe(const std::filesystem::path& vocabulary,
                                                          const std::filesystem::path& merges);
[[nodiscard]] Result<TokenizerModelPointer> parse_byte_bpe(std::string_view vocabulary_json,
                                                           std::string_view merges_text,
                                                           WordPattern pattern = WordPattern::gpt2);
/// The same from a tokenizer.json (tokenizer_json.h).
[[nodiscard]] Result<TokenizerModelPointer> open_byte_bpe_json(const std::filesystem::path& file);

}  // namespace potluck::data
