#include "core/data/sentences.h"

#include "core/data/pattern.h"

namespace potluck::data {

namespace {

constexpr const char* sentence_end =
    "[.!?\\x{2026}\\x{964}\\x{965}\\x{6d4}]+[\"'\\x{201d}\\x{2019}\\x{bb})\\]]*(?=\\s)|"
    "[\\x{3002}\\x{ff01}\\x{ff1f}]+[\"'\\x{201d}\\x{2019}\\x{300d}\\x{300f})\\]]*|\\n";

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view blanks = " \t\r\n\v\f";
    const std::size_t begin = text.find_first_not_of(blanks);
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

}  // namespace

SentenceSplit::SentenceSplit() : m_pattern(std::make_unique<Pattern>(sentence_end, PCRE2_MATCH_INVALID_UTF)) {}
SentenceSplit::~SentenceSplit() = default;

void SentenceSplit::split(std::string_view text, std::vector<std::string_view>& sentences) const {
    sentences.clear();
    const auto take = [&](std::string_view piece) {
        const std::string_view sentence = trimmed(piece);
        if (!sentence.empty()) sentences.push_back(sentence);
    };
    std::size_t begin = 0;
    while (begin < text.size()) {
        // What fails is a limit of the library; the rest is then one sentence, as it is where no boundary is left.
        const std::size_t end = m_pattern->match(text, begin, 0) > 0 ? m_pattern->end() : text.size();
        take(text.substr(begin, end - begin));
        begin = end;
    }
}

}  // namespace potluck::data
