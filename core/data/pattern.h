// A compiled regular expression over UTF-8 bytes, the same on every computer: PCRE2's, with its compiler for the
// processor where there is one (the interpreter matches the same).
// Does not: answer for a text that is no UTF-8; what its caller asked of PCRE2 for that case holds.
// Threads: one at a time, because a match is kept inside. Owns: the compiled code and the last match.
#pragma once

#ifndef PCRE2_CODE_UNIT_WIDTH
#define PCRE2_CODE_UNIT_WIDTH 8
#endif
#include <pcre2.h>

#include <string_view>

#include "core/base/check.h"

namespace potluck::data {

class Pattern {
public:
    /// `options`: PCRE2's, besides PCRE2_UTF and PCRE2_UCP. `text` is our own, so one that does not compile is our bug.
    Pattern(std::string_view text, std::uint32_t options) {
        int error = 0;
        PCRE2_SIZE at = 0;
        m_code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), PCRE2_UTF | PCRE2_UCP | options,
                               &error, &at, nullptr);
        POTLUCK_CHECK(m_code != nullptr);
        (void)pcre2_jit_compile(m_code, PCRE2_JIT_COMPLETE);
        m_match = pcre2_match_data_create(1, nullptr);
        POTLUCK_CHECK(m_match != nullptr);
    }
    ~Pattern() {
        pcre2_match_data_free(m_match);
        pcre2_code_free(m_code);
    }
    Pattern(const Pattern&) = delete;
    Pattern& operator=(const Pattern&) = delete;

    /// pcre2_match()'s answer: above zero if something was found from `begin` on, below it an error.
    int match(std::string_view text, std::size_t begin, std::uint32_t options) {
        return pcre2_match(m_code, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), begin, options, m_match,
                           nullptr);
    }
    /// Where the last match ended.
    [[nodiscard]] std::size_t end() const { return pcre2_get_ovector_pointer(m_match)[1]; }
    /// After an error of UTF-8: where the first invalid byte is.
    [[nodiscard]] std::size_t invalid_at() const { return pcre2_get_startchar(m_match); }

private:
    pcre2_code* m_code = nullptr;
    pcre2_match_data* m_match = nullptr;
};

}  // namespace potluck::data
