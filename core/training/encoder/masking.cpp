#include "core/training/encoder/masking.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/check.h"
#include "core/base/rng.h"

namespace potluck::training {

namespace {

using model::Token;

struct Pair {
    std::span<const Token> a, b;
};

class Masker {
public:
    Masker(const model::ModelSpec& spec, MaskedExamples& out) : m_spec(spec), m_shape(spec.albert), m_out(out) {}

    [[nodiscard]] bool add(std::span<const Token> record, Rng& rng) {
        Pair texts;
        if (!take_apart(record, texts)) return false;
        const bool swapped = rng.below(2) == 1;
        if (swapped) std::swap(texts.a, texts.b);
        m_out.orders.push_back(swapped ? 1 : 0);
        const std::size_t begin = m_out.ids.size();
        append_one(m_shape.cls, 0);
        append(texts.a, 0);
        append_one(m_shape.sep, 0);
        append(texts.b, 1);
        append_one(m_shape.sep, 1);
        m_out.lengths.push_back(static_cast<std::int64_t>(m_out.ids.size() - begin));
        make_gaps(begin, rng);
        m_out.ids.resize(begin + m_spec.context, m_shape.pad);
        m_out.segments.resize(begin + m_spec.context, 0);
        return true;
    }

private:
    [[nodiscard]] bool is_special(Token token) const {
        return token == m_shape.pad || token == m_shape.cls || token == m_shape.sep || token == m_shape.mask;
    }
    [[nodiscard]] bool is_text(std::span<const Token> tokens) const {
        return !tokens.empty() && std::ranges::none_of(tokens, [&](Token token) { return is_special(token); });
    }

    [[nodiscard]] bool take_apart(std::span<const Token> record, Pair& texts) const {
        if (record.front() != m_shape.cls || record.back() != m_shape.pad) return false;
        const std::span<const Token> body = record.subspan(1);
        const auto middle = std::ranges::find(body, m_shape.sep);
        if (middle == body.end()) return false;
        const auto end = std::find(middle + 1, body.end(), m_shape.sep);
        if (end == body.end()) return false;
        texts = {{body.begin(), middle}, {middle + 1, end}};
        const auto is_padding = [&](Token token) { return token == m_shape.pad; };
        return is_text(texts.a) && is_text(texts.b) && std::all_of(end + 1, body.end(), is_padding);
    }

    void append_one(Token token, std::int64_t segment) {
        m_out.ids.push_back(token);
        m_out.segments.push_back(segment);
    }
    void append(std::span<const Token> tokens, std::int64_t segment) {
        for (const Token token : tokens) append_one(token, segment);
    }

    [[nodiscard]] Token any_text_token(Rng& rng) const {
        Token token = m_shape.mask;
        while (is_special(token)) token = static_cast<Token>(rng.below(m_spec.vocabulary));
        return token;
    }

    void make_gaps(std::size_t begin, Rng& rng) {
        m_candidates.clear();
        for (std::size_t at = begin; at < m_out.ids.size(); ++at) {
            if (!is_special(static_cast<Token>(m_out.ids[at]))) m_candidates.push_back(at);
        }
        const auto wanted =
            static_cast<std::size_t>(std::llround(m_shape.mask_share * static_cast<double>(m_out.ids.size() - begin)));
        const std::size_t count = std::clamp<std::size_t>(wanted, 1, m_candidates.size());
        for (std::size_t i = 0; i < count; ++i) {
            std::swap(m_candidates[i], m_candidates[i + static_cast<std::size_t>(rng.below(m_candidates.size() - i))]);
            const std::size_t at = m_candidates[i];
            m_out.places.push_back(static_cast<std::int64_t>(at));
            m_out.targets.push_back(m_out.ids[at]);
            m_out.weights.push_back(1.0F / static_cast<float>(count));
            const std::uint64_t fate = rng.below(10);
            if (fate < 8) m_out.ids[at] = m_shape.mask;
            if (fate == 8) m_out.ids[at] = any_text_token(rng);
        }
    }

    const model::ModelSpec& m_spec;
    const model::AlbertShape& m_shape;
    MaskedExamples& m_out;
    std::vector<std::size_t> m_candidates;
};

}  // namespace

Result<MaskedExamples> mask_records(const model::ModelSpec& spec, std::span<const Token> records, std::uint64_t seed,
                                    std::uint64_t first) {
    const std::size_t length = std::size_t{spec.context} + 1;
    POTLUCK_CHECK(!records.empty() && records.size() % length == 0);
    MaskedExamples out;
    Masker masker(spec, out);
    for (std::size_t i = 0; i * length < records.size(); ++i) {
        Rng rng(mix64(seed ^ mix64(first + i)));
        if (!masker.add(records.subspan(i * length, length), rng)) {
            return Error{ErrorCode::malformed,
                         "The data holds a record that is not two texts between their marks; fetch it again."};
        }
    }
    return out;
}

}  // namespace potluck::training
