// Four query rows at a time, against the keys up to their diagonal, or those of them that they see:
//
//   forward    S = Q K^T / sqrt(D),  P = softmax(S),  O = P V
//   backward   P from S and the saved log of its sum;  dP = dO V^T;  dS = P (dP - dO.O) / sqrt(D)
//              dQ = dS K,  dK += dS^T Q,  dV += P^T dO                       (Dao et al. 2022, without the tiling)
//
// With dropout, M P stands for P in O and dV, and M dP for dP, where M is drawn anew from the seed each time. A head is
// gathered into fp32 first, in the order of its places, K and V also transposed, so that products with a row of Q or dO
// run along keys. Heads that share keys follow each other: keys and values are gathered once for them, and their
// gradients add up in one place.
#include "core/training/kernels/attention_blocked.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/base/check.h"
#include "core/training/kernels/exp.h"
#include "core/training/kernels/target_clones.h"

#if defined(__GNUC__) && !defined(__clang__)
// One computer's own arithmetic, nothing that others compute again: a product and a sum may be rounded together.
#pragma GCC optimize("fp-contract=fast")
#endif

namespace potluck::training {

namespace {

constexpr int rows = 4;
constexpr std::int64_t key_step = 2 * lanes;
constexpr float never = -1e30F;

/// One head of queries of one sequence.
struct Head {
    std::int64_t time = 0, padded = 0;        // padded: to a multiple of key_step
    std::int64_t stride = 0, out_stride = 0;  // between rows of qkv and of out
    float scale = 0;
    float dropout = 0;
    std::uint64_t seed = 0;  // of this head's dropout
    SeenRows seen = {};
    [[nodiscard]] std::int64_t row_at(std::int64_t place) const {
        return seen.order == nullptr ? place : seen.order[place];
    }
};

/// The keys that four rows look at, in parts of key_step: one span, or the caption's and the picture's.
struct Spans {
    std::int64_t from[2] = {}, to[2] = {};
    int count = 1;
};

std::int64_t rounded_up(std::int64_t keys) { return (keys + key_step - 1) / key_step * key_step; }

Spans spans_of(const Head& head, std::int64_t first, std::int64_t end) {
    Spans spans;
    spans.to[0] = std::min(head.padded, rounded_up(end));
    if (head.seen.begin == nullptr || end <= head.seen.text) return spans;
    const std::int64_t begin = head.seen.begin[std::max(first, head.seen.text)] / key_step * key_step;
    const std::int64_t caption = rounded_up(head.seen.text);
    if (begin <= caption) return spans;
    return {.from = {0, begin}, .to = {caption, spans.to[0]}, .count = 2};
}

/// Writes `value` over what place `place` of a row of scores does not see.
POTLUCK_INLINE void hide(float* row, const Head& head, std::int64_t place, const Spans& spans, float value) {
    const SeenRows& seen = head.seen;
    const bool pictured = seen.begin != nullptr && place >= seen.text;
    for (int i = 0; i < spans.count; ++i) {
        const std::int64_t from = spans.from[i], to = spans.to[i];
        const std::int64_t after = std::max(from, place + 1);
        if (after < to) std::fill(row + after, row + to, value);
        if (!pictured) continue;
        const std::int64_t gap_from = std::max(from, seen.text), gap_to = std::min<std::int64_t>(to, seen.begin[place]);
        if (gap_from < gap_to) std::fill(row + gap_from, row + gap_to, value);
    }
    if (!pictured || seen.line == 0) return;
    const std::int64_t column = (place - seen.text) % seen.line;
    for (std::int64_t key = seen.begin[place]; key <= place; ++key) {
        if (std::abs((key - seen.text) % seen.line - column) > seen.reach) row[key] = value;
    }
}

/// Four rows from `first` on; beyond the end, the last row again.
struct Rows {
    const float* at[rows];
};
POTLUCK_INLINE void take_rows(Rows& out, const float* base, std::int64_t depth, std::int64_t first, std::int64_t time) {
    for (int r = 0; r < rows; ++r) out.at[r] = base + std::min(first + r, time - 1) * depth;
}

template <int depth, class Dtype>
POTLUCK_INLINE void gather(const Head& head, const Dtype* from, std::int64_t stride, float* to) {
    for (std::int64_t t = 0; t < head.time; ++t) {
        const Dtype* row = from + head.row_at(t) * stride;
        for (int d = 0; d < depth; d += lanes) {
            Lanes value;
            load(value, row + d, All{});
            store(value, to + t * depth + d, All{});
        }
    }
}

/// Places `first` to `end`, of which `from` has the first one.
template <int depth, class Dtype>
POTLUCK_INLINE void scatter(const Head& head, const float* from, Dtype* to, std::int64_t stride, std::int64_t first,
                            std::int64_t end) {
    for (std::int64_t t = first; t < end; ++t) {
        Dtype* row = to + head.row_at(t) * stride;
        for (int d = 0; d < depth; d += lanes) {
            Lanes value;
            load(value, from + (t - first) * depth + d, All{});
            store(value, row + d, All{});
        }
    }
}

/// transposed[d][t] = x[t][d], zero beyond the last key.
template <int depth>
POTLUCK_INLINE void transpose(const float* x, const Head& head, float* transposed) {
    for (std::int64_t first = 0; first < head.time; first += lanes) {
        const std::int64_t end = std::min(first + lanes, head.time);
        for (int d = 0; d < depth; ++d) {
            for (std::int64_t t = first; t < end; ++t) transposed[d * head.padded + t] = x[t * depth + d];
        }
    }
    for (int d = 0; d < depth; ++d) {
        std::fill(transposed + d * head.padded + head.time, transposed + (d + 1) * head.padded, 0.0F);
    }
}

/// out[r][j] = sum over d of rows[r][d] * transposed[d][j], for j of the spans.
template <int depth>
POTLUCK_INLINE void times_transposed(const Rows& x, const float* transposed, std::int64_t padded, const Spans& spans,
                                     float* out) {
    for (int i = 0; i < spans.count; ++i)
        for (std::int64_t j = spans.from[i]; j < spans.to[i]; j += key_step) {
            Lanes sums[rows][2] = {};
            for (int d = 0; d < depth; ++d) {
                const float* column = transposed + d * padded + j;
                const Lanes low = *reinterpret_cast<const Lanes*>(column);
                const Lanes high = *reinterpret_cast<const Lanes*>(column + lanes);
                for (int r = 0; r < rows; ++r) {
                    sums[r][0] += low * x.at[r][d];
                    sums[r][1] += high * x.at[r][d];
                }
            }
            for (int r = 0; r < rows; ++r) {
                *reinterpret_cast<Lanes*>(out + r * padded + j) = sums[r][0];
                *reinterpret_cast<Lanes*>(out + r * padded + j + lanes) = sums[r][1];
            }
        }
}

/// out[r] = sum over j < end of the spans of weights[r][j] * x[j].
template <int depth>
POTLUCK_INLINE void weighted_sum(const float* weights, std::int64_t padded, const float* x, const Spans& spans,
                                 std::int64_t end, float out[rows][depth]) {
    constexpr int parts = depth / lanes;
    Lanes sums[rows][parts] = {};
    for (int i = 0; i < spans.count; ++i)
        for (std::int64_t j = spans.from[i]; j < std::min(spans.to[i], end); ++j) {
            for (int part = 0; part < parts; ++part) {
                const Lanes value = *reinterpret_cast<const Lanes*>(x + j * depth + part * lanes);
                for (int r = 0; r < rows; ++r) sums[r][part] += value * weights[r * padded + j];
            }
        }
    for (int r = 0; r < rows; ++r) {
        for (int part = 0; part < parts; ++part) *reinterpret_cast<Lanes*>(&out[r][part * lanes]) = sums[r][part];
    }
}

/// grad[j] += sum over r of weights[r][j] * x[r], for j < end of the spans.
template <int depth>
POTLUCK_INLINE void spread(const float* weights, std::int64_t padded, const Rows& x, float* grad, const Spans& spans,
                           std::int64_t end) {
    constexpr int parts = depth / lanes;
    for (int part = 0; part < parts; ++part) {
        Lanes value[rows];
        for (int r = 0; r < rows; ++r) value[r] = *reinterpret_cast<const Lanes*>(x.at[r] + part * lanes);
        for (int i = 0; i < spans.count; ++i)
            for (std::int64_t j = spans.from[i]; j < std::min(spans.to[i], end); ++j) {
                Lanes* out = reinterpret_cast<Lanes*>(grad + j * depth + part * lanes);
                Lanes sum = *out;
                for (int r = 0; r < rows; ++r) sum += value[r] * weights[r * padded + j];
                *out = sum;
            }
    }
}

/// Softmax of one row of scores in place, zero where it does not see; the log of the sum of exponentials.
POTLUCK_INLINE float softmax_row(float* row, const Head& head, std::int64_t place, const Spans& spans) {
    hide(row, head, place, spans, never);
    Lanes* all = reinterpret_cast<Lanes*>(row);
    Lanes most = all[0];
    const auto each = [&](auto&& body) POTLUCK_INLINE_LAMBDA {
        for (int i = 0; i < spans.count; ++i)
            for (std::int64_t j = spans.from[i] / lanes; j < spans.to[i] / lanes; ++j) body(all[j]);
    };
    each([&](const Lanes& value) POTLUCK_INLINE_LAMBDA { most = value > most ? value : most; });
    float peak = most[0];
    for (int lane = 1; lane < lanes; ++lane) peak = std::max(peak, most[lane]);
    Lanes sums = {};
    each([&](Lanes& value) POTLUCK_INLINE_LAMBDA {
        Lanes power = (value - peak) * head.scale;
        exp_approx<Lanes, LaneBits>(power);
        value = power;
        sums += power;
    });
    float sum = 0;
    for (int lane = 0; lane < lanes; ++lane) sum += sums[lane];
    const float inverse = 1.0F / sum;
    each([&](Lanes& value) POTLUCK_INLINE_LAMBDA { value *= inverse; });
    hide(row, head, place, spans, 0.0F);
    return peak * head.scale + std::log(sum);
}

/// Multiplies row `row` of probabilities by their dropout factors.
POTLUCK_INLINE void drop_row(float* p, const Head& head, std::int64_t row, const Spans& spans) {
    const std::uint32_t seed = dropout_row(head.seed, static_cast<std::uint64_t>(row));
    for (int i = 0; i < spans.count; ++i)
        for (std::int64_t j = spans.from[i]; j < spans.to[i]; j += lanes) {
            Lanes factors;
            dropout_factors(factors, seed, j, head.dropout);
            *reinterpret_cast<Lanes*>(p + j) *= factors;
        }
}

struct Scratch {
    std::vector<float> q, k, v, dout, out, transposed_keys, transposed_values, scores, gradients, dk, dv;
};

Scratch forward_scratch(std::int64_t depth, const Head& head) {
    Scratch made;
    const std::size_t rows_size = static_cast<std::size_t>(depth * head.time);
    for (std::vector<float>* part : {&made.q, &made.k, &made.v}) part->resize(rows_size);
    made.transposed_keys.resize(static_cast<std::size_t>(depth * head.padded));
    made.scores.resize(static_cast<std::size_t>(rows * head.padded));
    return made;
}

Scratch backward_scratch(std::int64_t depth, const Head& head) {
    Scratch made = forward_scratch(depth, head);
    for (std::vector<float>* part : {&made.dout, &made.out, &made.dk, &made.dv}) part->resize(made.q.size());
    made.transposed_values.resize(made.transposed_keys.size());
    made.gradients.resize(made.scores.size());
    return made;
}

/// What a head shares with the others of its group.
enum class Keys { gathered_now, gathered_before };

template <class Dtype>
struct HeadForward {
    const Dtype *q, *k, *v;
    Dtype* out;
    float* logsumexp;
    Keys keys;
};

template <int depth, class Dtype>
POTLUCK_INLINE void forward_head(const Head& head, const HeadForward<Dtype>& f, Scratch& scratch) {
    gather<depth>(head, f.q, head.stride, scratch.q.data());
    if (f.keys == Keys::gathered_now) {
        gather<depth>(head, f.k, head.stride, scratch.k.data());
        gather<depth>(head, f.v, head.stride, scratch.v.data());
        transpose<depth>(scratch.k.data(), head, scratch.transposed_keys.data());
    }
    float* scores = scratch.scores.data();
    for (std::int64_t first = 0; first < head.time; first += rows) {
        const std::int64_t end = std::min(first + rows, head.time);
        const Spans spans = spans_of(head, first, end);
        Rows queries;
        take_rows(queries, scratch.q.data(), depth, first, head.time);
        times_transposed<depth>(queries, scratch.transposed_keys.data(), head.padded, spans, scores);
        for (std::int64_t r = 0; r < rows; ++r) {
            const std::int64_t row = std::min(first + r, head.time - 1);
            f.logsumexp[row] = softmax_row(scores + r * head.padded, head, row, spans);
            if (head.dropout > 0) drop_row(scores + r * head.padded, head, row, spans);
        }
        float sums[rows][depth];
        weighted_sum<depth>(scores, head.padded, scratch.v.data(), spans, end, sums);
        scatter<depth>(head, &sums[0][0], f.out, head.out_stride, first, end);
    }
}

/// From raw scores and dP, both of row `row`, to M P and dS in their places.
POTLUCK_INLINE void score_gradient_row(float* p, float* dp, const Head& head, std::int64_t row, float logsumexp,
                                       float inner, const Spans& spans) {
    const std::uint32_t seed = dropout_row(head.seed, static_cast<std::uint64_t>(row));
    for (int i = 0; i < spans.count; ++i)
        for (std::int64_t j = spans.from[i]; j < spans.to[i]; j += lanes) {
            Lanes& probability = *reinterpret_cast<Lanes*>(p + j);
            Lanes& gradient = *reinterpret_cast<Lanes*>(dp + j);
            Lanes value = probability * head.scale - logsumexp;
            exp_approx<Lanes, LaneBits>(value);
            if (head.dropout > 0) {
                Lanes factors;
                dropout_factors(factors, seed, j, head.dropout);
                probability = value * factors;
                gradient *= factors;
            } else {
                probability = value;
            }
            gradient = value * (gradient - inner) * head.scale;
        }
}

template <class Dtype>
struct HeadGradient {
    const Dtype *q, *k, *v, *out, *dout;
    const float* logsumexp;
    Dtype *dq, *dk, *dv;
    Keys keys;
    bool is_last = true;  // of its group: then dk and dv are whole
};

template <int depth, class Dtype>
POTLUCK_INLINE void gather_gradient(const Head& head, const HeadGradient<Dtype>& g, Scratch& scratch) {
    gather<depth>(head, g.q, head.stride, scratch.q.data());
    gather<depth>(head, g.out, head.out_stride, scratch.out.data());
    gather<depth>(head, g.dout, head.out_stride, scratch.dout.data());
    if (g.keys == Keys::gathered_before) return;
    gather<depth>(head, g.k, head.stride, scratch.k.data());
    gather<depth>(head, g.v, head.stride, scratch.v.data());
    transpose<depth>(scratch.k.data(), head, scratch.transposed_keys.data());
    transpose<depth>(scratch.v.data(), head, scratch.transposed_values.data());
    std::fill(scratch.dk.begin(), scratch.dk.end(), 0.0F);
    std::fill(scratch.dv.begin(), scratch.dv.end(), 0.0F);
}

template <int depth, class Dtype>
POTLUCK_INLINE void backward_head(const Head& head, const HeadGradient<Dtype>& g, Scratch& scratch) {
    gather_gradient<depth>(head, g, scratch);
    float* p = scratch.scores.data();
    float* dp = scratch.gradients.data();
    for (std::int64_t first = 0; first < head.time; first += rows) {
        const std::int64_t end = std::min(first + rows, head.time);
        const Spans spans = spans_of(head, first, end);
        Rows queries, douts;
        take_rows(queries, scratch.q.data(), depth, first, head.time);
        take_rows(douts, scratch.dout.data(), depth, first, head.time);
        times_transposed<depth>(queries, scratch.transposed_keys.data(), head.padded, spans, p);
        times_transposed<depth>(douts, scratch.transposed_values.data(), head.padded, spans, dp);
        for (std::int64_t r = 0; r < rows; ++r) {
            const std::int64_t row = std::min(first + r, head.time - 1);
            const std::int64_t place = first + r < end ? row : -1;  // a row beyond the end sees and spreads nothing
            Lanes products = {};
            for (int d = 0; d < depth; d += lanes) {
                products += *reinterpret_cast<const Lanes*>(douts.at[r] + d) *
                            *reinterpret_cast<const Lanes*>(scratch.out.data() + row * depth + d);
            }
            score_gradient_row(p + r * head.padded, dp + r * head.padded, head, row, g.logsumexp[row], sum_of(products),
                               spans);
            hide(p + r * head.padded, head, place, spans, 0.0F);
            hide(dp + r * head.padded, head, place, spans, 0.0F);
        }
        float sums[rows][depth];
        weighted_sum<depth>(dp, head.padded, scratch.k.data(), spans, end, sums);
        scatter<depth>(head, &sums[0][0], g.dq, head.stride, first, end);
        spread<depth>(dp, head.padded, queries, scratch.dk.data(), spans, end);
        spread<depth>(p, head.padded, douts, scratch.dv.data(), spans, end);
    }
    if (!g.is_last) return;
    scatter<depth>(head, scratch.dk.data(), g.dk, head.stride, 0, head.time);
    scatter<depth>(head, scratch.dv.data(), g.dv, head.stride, 0, head.time);
}

Head head_of(const BlockedShape& shape, std::int64_t pair) {
    return {.time = shape.time,
            .padded = rounded_up(shape.time),
            .stride = (shape.heads + 2 * shape.kv_heads) * shape.depth,
            .out_stride = shape.heads * shape.depth,
            .scale = 1.0F / std::sqrt(static_cast<float>(shape.depth)),
            .dropout = shape.dropout.rate,
            .seed = shape.dropout.seed + static_cast<std::uint64_t>(pair) * 0xd1342543de82ef95ULL,
            .seen = shape.seen};
}

#define POTLUCK_ATTENTION_OF(depth, Dtype)                                                                          \
    POTLUCK_VECTOR_CLONES void forward_##depth(const Head& head, const HeadForward<Dtype>& f, Scratch& scratch) {   \
        forward_head<depth>(head, f, scratch);                                                                      \
    }                                                                                                               \
    POTLUCK_VECTOR_CLONES void backward_##depth(const Head& head, const HeadGradient<Dtype>& g, Scratch& scratch) { \
        backward_head<depth>(head, g, scratch);                                                                     \
    }
POTLUCK_ATTENTION_OF(16, float)
POTLUCK_ATTENTION_OF(32, float)
POTLUCK_ATTENTION_OF(64, float)
POTLUCK_ATTENTION_OF(16, Bf16)
POTLUCK_ATTENTION_OF(32, Bf16)
POTLUCK_ATTENTION_OF(64, Bf16)

/// Where one query head reads and writes: its number, and the first entry of each of its parts.
struct Places {
    std::int64_t pair = 0, q = 0, k = 0, v = 0, out = 0;
    Keys keys = Keys::gathered_now;
    bool is_last = true;
};

/// Calls `body(head, places)` for the query heads of the groups, those that share keys one behind the other.
template <class Body>
void for_each_head(const BlockedShape& shape, GroupRange groups, const Body& body) {
    POTLUCK_CHECK(blocked_attention_takes(shape.depth) && shape.heads % shape.kv_heads == 0);
    const std::int64_t sharing = shape.heads / shape.kv_heads;
    for (std::int64_t group = groups.begin; group < groups.end; ++group) {
        const std::int64_t sequence = group / shape.kv_heads, kv_head = group % shape.kv_heads;
        for (std::int64_t i = 0; i < sharing; ++i) {
            const std::int64_t query_head = kv_head * sharing + i;
            const std::int64_t pair = sequence * shape.heads + query_head;
            const Head head = head_of(shape, pair);
            const std::int64_t row = sequence * shape.time, in = row * head.stride;
            body(head, Places{.pair = pair,
                              .q = in + query_head * shape.depth,
                              .k = in + head.out_stride + kv_head * shape.depth,
                              .v = in + head.out_stride + (shape.kv_heads + kv_head) * shape.depth,
                              .out = row * head.out_stride + query_head * shape.depth,
                              .keys = i == 0 ? Keys::gathered_now : Keys::gathered_before,
                              .is_last = i + 1 == sharing});
        }
    }
}

}  // namespace

bool blocked_attention_takes(std::int64_t depth) { return depth == 16 || depth == 32 || depth == 64; }

template <class Dtype>
void blocked_attention(const BlockedShape& shape, const BlockedForward<Dtype>& forward, GroupRange groups) {
    Scratch scratch = forward_scratch(shape.depth, head_of(shape, 0));
    for_each_head(shape, groups, [&](const Head& head, const Places& at) {
        const HeadForward<Dtype> part{forward.qkv + at.q,
                                      forward.qkv + at.k,
                                      forward.qkv + at.v,
                                      forward.out + at.out,
                                      forward.logsumexp + at.pair * shape.time,
                                      at.keys};
        if (shape.depth == 16) forward_16(head, part, scratch);
        if (shape.depth == 32) forward_32(head, part, scratch);
        if (shape.depth == 64) forward_64(head, part, scratch);
    });
}

template <class Dtype>
void blocked_attention_backward(const BlockedShape& shape, const BlockedGradient<Dtype>& gradient, GroupRange groups) {
    Scratch scratch = backward_scratch(shape.depth, head_of(shape, 0));
    for_each_head(shape, groups, [&](const Head& head, const Places& at) {
        const HeadGradient<Dtype> part{.q = gradient.qkv + at.q,
                                       .k = gradient.qkv + at.k,
                                       .v = gradient.qkv + at.v,
                                       .out = gradient.out + at.out,
                                       .dout = gradient.dout + at.out,
                                       .logsumexp = gradient.logsumexp + at.pair * shape.time,
                                       .dq = gradient.dqkv + at.q,
                                       .dk = gradient.dqkv + at.k,
                                       .dv = gradient.dqkv + at.v,
                                       .keys = at.keys,
                                       .is_last = at.is_last};
        if (shape.depth == 16) backward_16(head, part, scratch);
        if (shape.depth == 32) backward_32(head, part, scratch);
        if (shape.depth == 64) backward_64(head, part, scratch);
    });
}

template void blocked_attention<float>(const BlockedShape&, const BlockedForward<float>&, GroupRange);
template void blocked_attention<Bf16>(const BlockedShape&, const BlockedForward<Bf16>&, GroupRange);
template void blocked_attention_backward<float>(const BlockedShape&, const BlockedGradient<float>&, GroupRange);
template void blocked_attention_backward<Bf16>(const BlockedShape&, const BlockedGradient<Bf16>&, GroupRange);

}  // namespace potluck::training
