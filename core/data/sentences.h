// Cuts text into sentences, at natural places rather than exact ones: behind a full stop, exclamation or question mark
// of any of several scripts with the closing quotes and brackets that follow it, where white space comes next (or
// always behind the marks of Chinese and Japanese, which have none), and at line breaks. Does not: know abbreviations.
// Bytes that are no UTF-8 are part of a sentence. Threads: one at a time. Owns: the compiled pattern.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

namespace potluck::data {

class Pattern;

class SentenceSplit {
public:
    SentenceSplit();
    ~SentenceSplit();
    SentenceSplit(const SentenceSplit&) = delete;
    SentenceSplit& operator=(const SentenceSplit&) = delete;

    /// Replaces `sentences` by those of `text`, without the white space around them; none is empty.
    void split(std::string_view text, std::vector<std::string_view>& sentences) const;

private:
    std::unique_ptr<Pattern> m_pattern;
};

}  // namespace potluck::data
