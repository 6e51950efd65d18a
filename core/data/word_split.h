// Cuts text into the pieces within which byte-level BPE merges, as GPT-2 does: contractions, and runs of letters, of
// digits, of other characters, each with one space before it, and runs of white space. SmolLM and StarCoder cut every
// digit off first. Llama 3 and Qwen take one character that is no letter before a word, line breaks with what stands
// before them, contractions in either case, and three digits or one at a time.
//
// Letters and digits are Unicode's as PCRE2 knows them; white space is the property White_Space, which is what Python's
// regex calls \s (PCRE2's own \s has U+180E too). A byte that is no UTF-8 is a piece of its own.
//
// Threads: one at a time. Owns: the compiled pattern.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

namespace potluck::data {

class Pattern;

enum class WordPattern { gpt2, gpt2_single_digits, llama3, qwen2 };

/// Llama 3's and Qwen2's patterns as their files spell them; null for the others.
[[nodiscard]] const char* pattern_in_files(WordPattern kind);

class WordSplit {
public:
    explicit WordSplit(WordPattern kind = WordPattern::gpt2);
    ~WordSplit();
    WordSplit(const WordSplit&) = delete;
    WordSplit& operator=(const WordSplit&) = delete;

    /// Replaces `ends` by the end of every piece, in order; the pieces lie end to end and cover `text`.
    void split(std::string_view text, std::vector<std::size_t>& ends) const;

private:
    std::unique_ptr<Pattern> m_pattern;
};

}  // namespace potluck::data
