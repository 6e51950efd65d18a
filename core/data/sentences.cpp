#include "core/data/sentences.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <cstring>

#include "core/base/check.h"

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

struct SentenceSplit::Pattern {
    Pattern() {
        int error = 0;
        PCRE2_SIZE at = 0;
        code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(sentence_end), std::strlen(sentence_end),
                             PCRE2_UTF | PCRE2_UCP | PCRE2_MATCH_INVALID_UTF, &error, &at, nullptr);
        POTLUCK_CHECK(code != nullptr);
        (void)pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);
        match = pcre2_match_data_create(1, nullptr);
        POTLUCK_CHECK(match != nullptr);
    }
    ~Pattern() {
        pcre2_match_data_free(match);
        pcre2_code_free(code);
    }
    Pattern(const Pattern&) = delete;
    Pattern& operator=(const Pattern&) = delete;

    pcre2_code* code = nullptr;
    pcre2_match_data* match = nullptr;
};

SentenceSplit::SentenceSplit() : m_pattern(std::make_unique<Pattern>()) {}
SentenceSplit::~SentenceSplit() = default;

void SentenceSplit::split(std::string_view text, std::vector<std::string_view>& sentences) const {
    sentences.clear();
    const auto take = [&](std::string_view piece) {
        const std::string_view sentence = trimmed(piece);
        if (!sentence.empty()) sentences.push_back(sentence);
    };
    std::size_t begin = 0;
    while (begin < text.size()) {
        const int found = pcre2_match(m_pattern->code, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), begin, 0,
                                      m_pattern->match, nullptr);
        // What fails is a limit of the library; the rest is then one sentence, as it is where no boundary is left.
        const std::size_t end = found > 0 ? pcre2_get_ovector_pointer(m_pattern->match)[1] : text.size();
        take(text.substr(begin, end - begin));
        begin = end;
    }
}

}  // namespace potluck::data
