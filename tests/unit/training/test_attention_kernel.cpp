// Attention without the score matrix beside its formulas in double precision, forward and backward: lengths at and
// beyond the edges of its blocks, heads that share keys, dropout, and what rows of a caption and a picture see.
#include <QTest>

#include <cmath>
#include <vector>

#include "core/base/rng.h"
#include "core/training/kernels/attention_blocked.h"

using namespace potluck;
using namespace potluck::training;

namespace {

using Doubles = std::vector<double>;

std::vector<float> numbers(std::int64_t count, std::uint64_t seed) {
    Rng rng(seed);
    std::vector<float> out(static_cast<std::size_t>(count));
    for (float& value : out) value = static_cast<float>(2 * rng.unit() - 1);
    return out;
}

/// A caption of `text` rows and a picture whose rows stand column by column, each seeing its own column up to itself,
/// or, with a reach, rows up to a distance back and of them the columns within the reach.
struct Tables {
    std::vector<std::int32_t> order, begin;
    SeenRows seen;
    Tables(std::int64_t time, std::int64_t text, std::int64_t line, std::int64_t reach) {
        for (std::int64_t place = 0; place < time; ++place) {
            const std::int64_t at = place - text;
            const bool pictured = at >= 0;
            const std::int64_t rows = (time - text) / line;
            const std::int64_t turned = pictured && reach == 0 ? at % rows * line + at / rows : at;
            order.push_back(static_cast<std::int32_t>(pictured ? text + turned : place));
            const std::int64_t first = reach == 0 ? at / rows * rows : std::max<std::int64_t>(0, at - 2 * line);
            begin.push_back(static_cast<std::int32_t>(pictured ? text + first : 0));
        }
        seen = {
            .order = order.data(), .begin = begin.data(), .text = text, .line = reach == 0 ? 0 : line, .reach = reach};
    }
};

bool sees(const SeenRows& seen, std::int64_t place, std::int64_t key) {
    if (key > place) return false;
    if (seen.begin == nullptr || place < seen.text || key < seen.text) return true;
    if (key < seen.begin[place]) return false;
    return seen.line == 0 || std::abs((key - seen.text) % seen.line - (place - seen.text) % seen.line) <= seen.reach;
}

/// As lanes.inl draws it.
double dropout_factor(const Dropout& dropout, std::int64_t pair, std::int64_t place, std::int64_t key) {
    if (dropout.rate == 0) return 1;
    const std::uint64_t seed = dropout.seed + static_cast<std::uint64_t>(pair) * 0xd1342543de82ef95ULL;
    std::uint32_t bits =
        static_cast<std::uint32_t>(key) * 0x9e3779b9U + dropout_row(seed, static_cast<std::uint64_t>(place));
    bits = (bits ^ (bits >> 16U)) * 0x7feb352dU;
    bits = (bits ^ (bits >> 15U)) * 0x846ca68bU;
    bits = bits ^ (bits >> 16U);
    const auto limit = static_cast<std::uint32_t>(static_cast<double>(dropout.rate) * 4294967295.0);
    return bits >= limit ? 1 / (1 - static_cast<double>(dropout.rate)) : 0;
}

/// One query head's products, written as the formulas are.
class PlainAttention {
public:
    PlainAttention(const BlockedShape& shape, const std::vector<float>& qkv) : m_shape(shape), m_qkv(qkv) {
        m_stride = (shape.heads + 2 * shape.kv_heads) * shape.depth;
        m_out_stride = shape.heads * shape.depth;
        out.resize(static_cast<std::size_t>(shape.batch * shape.time * m_out_stride));
        logsumexp.resize(static_cast<std::size_t>(shape.batch * shape.heads * shape.time));
        dqkv.resize(qkv.size());
    }

    void run(const std::vector<float>& dout) {
        for (std::int64_t sequence = 0; sequence < m_shape.batch; ++sequence)
            for (std::int64_t head = 0; head < m_shape.heads; ++head)
                for (std::int64_t place = 0; place < m_shape.time; ++place) row(sequence, head, place, dout);
    }

    Doubles out, logsumexp, dqkv;

private:
    [[nodiscard]] std::size_t row_at(std::int64_t sequence, std::int64_t place) const {
        const std::int64_t row = m_shape.seen.order == nullptr ? place : m_shape.seen.order[place];
        return static_cast<std::size_t>(sequence * m_shape.time + row);
    }

    void row(std::int64_t sequence, std::int64_t head, std::int64_t place, const std::vector<float>& dout) {
        const auto stride = static_cast<std::size_t>(m_stride), depth = static_cast<std::size_t>(m_shape.depth);
        const std::int64_t kv_head = head / (m_shape.heads / m_shape.kv_heads), pair = sequence * m_shape.heads + head;
        const std::size_t q = row_at(sequence, place) * stride + static_cast<std::size_t>(head) * depth;
        const std::size_t k = static_cast<std::size_t>(m_shape.heads + kv_head) * depth;
        const std::size_t v = k + static_cast<std::size_t>(m_shape.kv_heads) * depth;
        const std::size_t o =
            row_at(sequence, place) * static_cast<std::size_t>(m_out_stride) + static_cast<std::size_t>(head) * depth;
        const double scale = 1 / std::sqrt(static_cast<double>(depth));
        std::vector<std::size_t> keys;
        Doubles p, dp, factors;
        double sum = 0, inner = 0;
        for (std::int64_t key = 0; key < m_shape.time; ++key) {
            if (!sees(m_shape.seen, place, key)) continue;
            keys.push_back(row_at(sequence, key) * stride);
            factors.push_back(dropout_factor(m_shape.dropout, pair, place, key));
            double score = 0;
            for (std::size_t d = 0; d < depth; ++d) score += at(q + d) * at(keys.back() + k + d);
            p.push_back(std::exp(scale * score));
            sum += p.back();
        }
        logsumexp[static_cast<std::size_t>(pair * m_shape.time + place)] = std::log(sum);
        for (std::size_t j = 0; j < keys.size(); ++j) {
            p[j] /= sum;
            double gradient = 0;
            for (std::size_t d = 0; d < depth; ++d) {
                out[o + d] += factors[j] * p[j] * at(keys[j] + v + d);
                gradient += static_cast<double>(dout[o + d]) * at(keys[j] + v + d);
                dqkv[keys[j] + v + d] += factors[j] * p[j] * static_cast<double>(dout[o + d]);
            }
            dp.push_back(factors[j] * gradient);
            inner += p[j] * dp[j];
        }
        for (std::size_t j = 0; j < keys.size(); ++j) {
            const double ds = p[j] * (dp[j] - inner) * scale;
            for (std::size_t d = 0; d < depth; ++d) {
                dqkv[q + d] += ds * at(keys[j] + k + d);
                dqkv[keys[j] + k + d] += ds * at(q + d);
            }
        }
    }

    [[nodiscard]] double at(std::size_t i) const { return static_cast<double>(m_qkv[i]); }

    BlockedShape m_shape;
    const std::vector<float>& m_qkv;
    std::int64_t m_stride = 0, m_out_stride = 0;
};

double distance(const std::vector<float>& got, const Doubles& expected) {
    double worst = 0;
    for (std::size_t i = 0; i < got.size(); ++i)
        worst = std::max(worst, std::fabs(static_cast<double>(got[i]) - expected[i]));
    return worst;
}

void compare(const BlockedShape& shape) {
    const std::int64_t row_count = shape.batch * shape.time;
    const std::vector<float> qkv = numbers(row_count * (shape.heads + 2 * shape.kv_heads) * shape.depth, 1);
    const std::vector<float> dout = numbers(row_count * shape.heads * shape.depth, 2);
    std::vector<float> out(dout.size()), logsumexp(static_cast<std::size_t>(shape.batch * shape.heads * shape.time));
    std::vector<float> dqkv(qkv.size(), NAN);  // overwritten
    // Two calls, as two threads would.
    for (const GroupRange groups : {GroupRange{0, 1}, GroupRange{1, shape.groups()}}) {
        blocked_attention<float>(shape, {qkv.data(), out.data(), logsumexp.data()}, groups);
        blocked_attention_backward<float>(shape, {qkv.data(), out.data(), logsumexp.data(), dout.data(), dqkv.data()},
                                          groups);
    }
    PlainAttention plain(shape, qkv);
    plain.run(dout);
    QVERIFY(distance(logsumexp, plain.logsumexp) < 3e-6);
    QVERIFY(distance(out, plain.out) < 3e-6);
    QVERIFY(distance(dqkv, plain.dqkv) < 2e-5);
}

}  // namespace

class AttentionKernelTest : public QObject {
    Q_OBJECT
private slots:
    void attention_and_its_gradient_follow_the_formula_data() {
        QTest::addColumn<int>("time");
        QTest::addColumn<int>("depth");
        QTest::addColumn<int>("kv_heads");
        QTest::addColumn<double>("dropout");
        for (const int time : {1, 3, 16, 17, 37, 64, 130})
            for (const int depth : {16, 32, 64})
                QTest::addRow("%d rows of %d", time, depth) << time << depth << 2 << 0.0;
        QTest::newRow("shared keys") << 37 << 32 << 1 << 0.0;
        QTest::newRow("dropout") << 37 << 16 << 2 << 0.3;
    }
    void attention_and_its_gradient_follow_the_formula() {
        QFETCH(const int, time);
        QFETCH(const int, depth);
        QFETCH(const int, kv_heads);
        QFETCH(const double, dropout);
        compare({.batch = 2,
                 .time = time,
                 .heads = 2,
                 .kv_heads = kv_heads,
                 .depth = depth,
                 .dropout = {.seed = 11, .rate = static_cast<float>(dropout)}});
    }

    void rows_of_a_picture_see_their_caption_and_their_part_of_it_data() {
        QTest::addColumn<int>("text");
        QTest::addColumn<int>("line");
        QTest::addColumn<int>("reach");
        QTest::newRow("columns") << 7 << 8 << 0;
        QTest::newRow("columns far from the caption") << 3 << 12 << 0;
        QTest::newRow("neighbours") << 7 << 8 << 1;
        QTest::newRow("neighbours far from the caption") << 5 << 13 << 2;
        QTest::newRow("a long caption") << 50 << 8 << 0;
    }
    void rows_of_a_picture_see_their_caption_and_their_part_of_it() {
        QFETCH(const int, text);
        QFETCH(const int, line);
        QFETCH(const int, reach);
        const std::int64_t time = text + std::int64_t{line} * 12;
        const Tables tables(time, text, line, reach);
        compare({.batch = 1, .time = time, .heads = 2, .kv_heads = 2, .depth = 32, .seen = tables.seen});
    }
};

QTEST_APPLESS_MAIN(AttentionKernelTest)
#include "test_attention_kernel.moc"
