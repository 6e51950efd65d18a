#include "core/data/word_split.h"

#include <string>

#include "core/data/pattern.h"

namespace potluck::data {

namespace {

/// The characters with the property White_Space, for use inside a class.
constexpr const char* space =
    "\\t-\\r \\x{85}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}";

std::string pattern_text(WordPattern kind) {
    const std::string s(space);
    if (kind == WordPattern::gpt2_single_digits) {
        // One pass for two: what stands between digits is cut as if the text ended there, so white space before a digit
        // keeps its last character.
        return "\\p{N}|'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?[^" + s + "\\p{L}\\p{N}]+|[" + s + "]+(?![^" + s +
               "\\p{N}])|[" + s + "]+";
    }
    if (kind == WordPattern::llama3 || kind == WordPattern::qwen2) {
        const std::string digits = kind == WordPattern::llama3 ? "\\p{N}{1,3}" : "\\p{N}";
        return "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|" + digits + "| ?[^" + s +
               "\\p{L}\\p{N}]+[\\r\\n]*|[" + s + "]*[\\r\\n]+|[" + s + "]+(?![^" + s + "])|[" + s + "]+";
    }
    return "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^" + s + "\\p{L}\\p{N}]+|[" + s + "]+(?![^" + s + "])|[" +
           s + "]+";
}

bool is_utf8_error(int outcome) { return outcome <= PCRE2_ERROR_UTF8_ERR1 && outcome >= PCRE2_ERROR_UTF8_ERR21; }

}  // namespace

const char* pattern_in_files(WordPattern kind) {
    switch (kind) {
        case WordPattern::llama3:
            return R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*)"
                   R"(|\s*[\r\n]+|\s+(?!\S)|\s+)";
        case WordPattern::qwen2:
            return R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*)"
                   R"(|\s*[\r\n]+|\s+(?!\S)|\s+)";
        case WordPattern::gpt2:
        case WordPattern::gpt2_single_digits: break;
    }
    return nullptr;
}

WordSplit::WordSplit(WordPattern kind) : m_pattern(std::make_unique<Pattern>(pattern_text(kind), PCRE2_ANCHORED)) {}
WordSplit::~WordSplit() = default;

void WordSplit::split(std::string_view text, std::vector<std::size_t>& ends) const {
    ends.clear();
    std::size_t from = 0;   // everything before it is cut
    std::size_t begin = 0;  // of the stretch that PCRE2 is shown: it ends at an invalid byte
    std::size_t valid = 0;  // end of the stretch; before it everything is known to be UTF-8
    while (from < text.size()) {
        const bool known = from < valid;
        if (!known) begin = from;
        const std::string_view stretch = text.substr(begin, (known ? valid : text.size()) - begin);
        const int outcome = m_pattern->match(stretch, from - begin, known ? PCRE2_NO_UTF_CHECK : 0);
        if (is_utf8_error(outcome)) {
            valid = begin + m_pattern->invalid_at();
            if (valid == from) ends.push_back(++from);
            continue;
        }
        if (!known) valid = text.size();
        // The pattern matches every character, so what fails is a limit of the library; the rest is then one piece.
        from = outcome > 0 ? begin + m_pattern->end() : valid;
        ends.push_back(from);
    }
}

}  // namespace potluck::data
