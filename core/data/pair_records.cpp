#include "core/data/pair_records.h"

#include <algorithm>

namespace potluck::data {

namespace {

constexpr std::uint64_t short_chunks = 10;  // one in so many
constexpr std::uint32_t mark_count = 3;     // [CLS] and two [SEP]

}  // namespace

std::size_t PairRecords::tokens_of(std::string_view sentence) {
    m_a.clear();
    m_tokenizer.encode(sentence, m_a);
    return m_a.size();
}

void PairRecords::append(std::string_view text, Rng& rng, std::vector<model::Token>& out) {
    m_split.split(text, m_sentences);
    const std::size_t room = m_context - mark_count;
    for (std::size_t first = 0; first < m_sentences.size();) {
        const bool is_short = rng.below(short_chunks) == 0;
        const std::size_t aim = is_short ? 2 + static_cast<std::size_t>(rng.below(room - 1)) : room;
        std::size_t end = first, tokens = 0;
        while (end < m_sentences.size() && tokens < aim) tokens += tokens_of(m_sentences[end++]);
        if (end - first > 1) {
            const std::size_t middle = first + 1 + static_cast<std::size_t>(rng.below(end - first - 1));
            append_record(first, middle, end, out);
        }
        first = end;
    }
}

void PairRecords::encode_joined(std::size_t first, std::size_t end, std::vector<model::Token>& out) {
    m_joined.clear();
    for (std::size_t i = first; i < end; ++i) {
        if (i > first) m_joined += ' ';
        m_joined += m_sentences[i];
    }
    out.clear();
    m_tokenizer.encode(m_joined, out);
    std::erase_if(out, [this](model::Token token) {
        return token == m_marks.pad || token == m_marks.cls || token == m_marks.sep || token == m_marks.mask;
    });
}

void PairRecords::append_record(std::size_t first, std::size_t middle, std::size_t end,
                                std::vector<model::Token>& out) {
    encode_joined(first, middle, m_a);
    encode_joined(middle, end, m_b);
    const std::size_t room = m_context - mark_count;
    while (m_a.size() + m_b.size() > room) (m_a.size() > m_b.size() ? m_a : m_b).pop_back();
    if (m_a.empty() || m_b.empty()) return;
    const std::size_t begin = out.size();
    out.push_back(m_marks.cls);
    out.insert(out.end(), m_a.begin(), m_a.end());
    out.push_back(m_marks.sep);
    out.insert(out.end(), m_b.begin(), m_b.end());
    out.push_back(m_marks.sep);
    out.resize(begin + m_context + 1, m_marks.pad);
}

}  // namespace potluck::data
