// Four query rows at a time, against the keys up to their diagonal:
//
//   forward    S = Q K^T / sqrt(D),  P = softmax(S),  O = P V
//   backward   P from S and the saved log of its sum;  dP = dO V^T;  dS = P (dP - dO.O) / sqrt(D)
//              dQ = dS K,  dK += dS^T Q,  dV += P^T dO                       (Dao et al. 2022, without the tiling)
//
// K and V are turned once per head, so that products with a row of Q or dO run along keys. `Lanes` is a vector of
// sixteen floats, which the compiler maps to the registers there are.
#include "core/training/attention_blocked.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/base/check.h"
#include "core/training/exponential.h"
#include "core/training/target_clones.h"

#define POTLUCK_INLINE __attribute__((always_inline)) inline

namespace potluck::training {

namespace {

constexpr int rows = 4;
constexpr int lanes = 16;
constexpr std::int64_t key_step = 2 * lanes;
constexpr float never = -1e30F;

using Lanes = float __attribute__((vector_size(64), aligned(4)));
using LaneBits = std::uint32_t __attribute__((vector_size(64), aligned(4)));

/// One head of one sequence: where its rows begin, and the distance between rows.
struct Head {
    std::int64_t time = 0, padded = 0;   // padded: to a multiple of key_step
    std::int64_t stride = 0, out_stride = 0;
    float scale = 0;
};

/// Four rows from `first` on; beyond the end, the last row again.
struct Rows {
    const float* at[rows];
};
POTLUCK_INLINE void take_rows(Rows& out, const float* base, std::int64_t stride, std::int64_t first,
                              std::int64_t time) {
    for (int r = 0; r < rows; ++r) out.at[r] = base + std::min(first + r, time - 1) * stride;
}

/// turned[d][t] = x[t][d], zero beyond the last key.
POTLUCK_INLINE void turn(const float* x, const Head& head, std::int64_t depth, float* turned) {
    for (std::int64_t d = 0; d < depth; ++d) {
        for (std::int64_t t = 0; t < head.time; ++t) turned[d * head.padded + t] = x[t * head.stride + d];
        std::fill(turned + d * head.padded + head.time, turned + (d + 1) * head.padded, 0.0F);
    }
}

/// out[r][j] = sum over d of rows[r][d] * turned[d][j], for j < keys rounded up to key_step.
template <int depth>
POTLUCK_INLINE void times_turned(const Rows& x, const float* turned, std::int64_t padded, std::int64_t keys,
                                 float* out) {
    for (std::int64_t j = 0; j < keys; j += key_step) {
        Lanes sums[rows][2] = {};
        for (int d = 0; d < depth; ++d) {
            const float* column = turned + d * padded + j;
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

/// out[r] = sum over j < keys of weights[r][j] * x[j].
template <int depth>
POTLUCK_INLINE void weighted_sum(const float* weights, std::int64_t padded, const float* x, std::int64_t stride,
                                 std::int64_t keys, float out[rows][depth]) {
    constexpr int parts = depth / lanes;
    Lanes sums[rows][parts] = {};
    for (std::int64_t j = 0; j < keys; ++j) {
        for (int part = 0; part < parts; ++part) {
            const Lanes value = *reinterpret_cast<const Lanes*>(x + j * stride + part * lanes);
            for (int r = 0; r < rows; ++r) sums[r][part] += value * weights[r * padded + j];
        }
    }
    for (int r = 0; r < rows; ++r) {
        for (int part = 0; part < parts; ++part) *reinterpret_cast<Lanes*>(&out[r][part * lanes]) = sums[r][part];
    }
}

/// grad[j] += sum over r of weights[r][j] * x[r], for j < keys.
template <int depth>
POTLUCK_INLINE void spread(const float* weights, std::int64_t padded, const Rows& x, float* grad, std::int64_t stride,
                           std::int64_t keys) {
    constexpr int parts = depth / lanes;
    for (int part = 0; part < parts; ++part) {
        Lanes value[rows];
        for (int r = 0; r < rows; ++r) value[r] = *reinterpret_cast<const Lanes*>(x.at[r] + part * lanes);
        for (std::int64_t j = 0; j < keys; ++j) {
            Lanes* out = reinterpret_cast<Lanes*>(grad + j * stride + part * lanes);
            Lanes sum = *out;
            for (int r = 0; r < rows; ++r) sum += value[r] * weights[r * padded + j];
            *out = sum;
        }
    }
}

/// Softmax of one row of scores in place, zero from key `valid` on; the log of the sum of exponentials.
POTLUCK_INLINE float softmax_row(float* row, float scale, std::int64_t valid, std::int64_t keys) {
    std::fill(row + valid, row + keys, never);
    Lanes* all = reinterpret_cast<Lanes*>(row);
    const std::int64_t count = keys / lanes;
    Lanes most = all[0];
    for (std::int64_t i = 1; i < count; ++i) most = all[i] > most ? all[i] : most;
    float peak = most[0];
    for (int lane = 1; lane < lanes; ++lane) peak = std::max(peak, most[lane]);
    Lanes sums = {};
    for (std::int64_t i = 0; i < count; ++i) {
        Lanes value = (all[i] - peak) * scale;
        exponentiate<Lanes, LaneBits>(value);
        all[i] = value;
        sums += value;
    }
    float sum = 0;
    for (int lane = 0; lane < lanes; ++lane) sum += sums[lane];
    const float inverse = 1.0F / sum;
    for (std::int64_t i = 0; i < count; ++i) all[i] *= inverse;
    std::fill(row + valid, row + keys, 0.0F);
    return peak * scale + std::log(sum);
}

std::int64_t rounded_up(std::int64_t keys) { return (keys + key_step - 1) / key_step * key_step; }

struct Scratch {
    std::vector<float> keys, values, scores, gradients;
    Scratch(std::int64_t depth, std::int64_t padded)
        : keys(static_cast<std::size_t>(depth * padded)),
          values(keys.size()),
          scores(static_cast<std::size_t>(rows * padded)),
          gradients(scores.size()) {}
};

template <int depth>
POTLUCK_INLINE void forward_head(const Head& head, const float* q, const float* k, const float* v, float* out,
                                 float* logsumexp, Scratch& scratch) {
    turn(k, head, depth, scratch.keys.data());
    float* scores = scratch.scores.data();
    for (std::int64_t first = 0; first < head.time; first += rows) {
        const std::int64_t seen = std::min(first + rows, head.time);
        const std::int64_t keys = std::min(head.padded, (seen + key_step - 1) / key_step * key_step);
        Rows queries;
        take_rows(queries, q, head.stride, first, head.time);
        times_turned<depth>(queries, scratch.keys.data(), head.padded, keys, scores);
        for (std::int64_t r = 0; r < rows; ++r) {
            const std::int64_t row = std::min(first + r, head.time - 1);
            logsumexp[row] = softmax_row(scores + r * head.padded, head.scale, row + 1, keys);
        }
        float sums[rows][depth];
        weighted_sum<depth>(scores, head.padded, v, head.stride, seen, sums);
        for (std::int64_t row = first; row < seen; ++row) {
            std::copy_n(sums[row - first], depth, out + row * head.out_stride);
        }
    }
}

/// From raw scores and dP, both of one row, to P and dS in their places.
POTLUCK_INLINE void score_gradient_row(float* p, float* dp, const Head& head, float logsumexp, float inner,
                                       std::int64_t valid, std::int64_t keys) {
    for (std::int64_t j = 0; j < keys; j += lanes) {
        Lanes& probability = *reinterpret_cast<Lanes*>(p + j);
        Lanes& gradient = *reinterpret_cast<Lanes*>(dp + j);
        Lanes value = probability * head.scale - logsumexp;
        exponentiate<Lanes, LaneBits>(value);
        probability = value;
        gradient = value * (gradient - inner) * head.scale;
    }
    std::fill(p + valid, p + keys, 0.0F);
    std::fill(dp + valid, dp + keys, 0.0F);
}

struct HeadGradient {
    const float *q, *k, *v, *out, *dout, *logsumexp;
    float *dq, *dk, *dv;
};

template <int depth>
POTLUCK_INLINE void backward_head(const Head& head, const HeadGradient& g, Scratch& scratch) {
    turn(g.k, head, depth, scratch.keys.data());
    turn(g.v, head, depth, scratch.values.data());
    float* p = scratch.scores.data();
    float* dp = scratch.gradients.data();
    for (std::int64_t t = 0; t < head.time; ++t) {
        std::fill_n(g.dk + t * head.stride, depth, 0.0F);
        std::fill_n(g.dv + t * head.stride, depth, 0.0F);
    }
    for (std::int64_t first = 0; first < head.time; first += rows) {
        const std::int64_t seen = std::min(first + rows, head.time);
        const std::int64_t keys = std::min(head.padded, (seen + key_step - 1) / key_step * key_step);
        Rows queries, douts;
        take_rows(queries, g.q, head.stride, first, head.time);
        take_rows(douts, g.dout, head.out_stride, first, head.time);
        times_turned<depth>(queries, scratch.keys.data(), head.padded, keys, p);
        times_turned<depth>(douts, scratch.values.data(), head.padded, keys, dp);
        for (std::int64_t r = 0; r < rows; ++r) {
            const std::int64_t row = first + r;
            float inner = 0;
            for (int d = 0; row < seen && d < depth; ++d) inner += douts.at[r][d] * g.out[row * head.out_stride + d];
            const float log_sum = g.logsumexp[std::min(row, head.time - 1)];
            const std::int64_t valid = row < seen ? row + 1 : 0;  // a row beyond the end spreads nothing
            score_gradient_row(p + r * head.padded, dp + r * head.padded, head, log_sum, inner, valid, keys);
        }
        float sums[rows][depth];
        weighted_sum<depth>(dp, head.padded, g.k, head.stride, seen, sums);
        for (std::int64_t row = first; row < seen; ++row) {
            std::copy_n(sums[row - first], depth, g.dq + row * head.stride);
        }
        spread<depth>(dp, head.padded, queries, g.dk, head.stride, seen);
        spread<depth>(p, head.padded, douts, g.dv, head.stride, seen);
    }
}

Head head_of(const BlockedShape& shape) {
    const std::int64_t width = shape.heads * shape.depth;
    return {shape.time, rounded_up(shape.time), 3 * width, width,
            1.0F / std::sqrt(static_cast<float>(shape.depth))};
}

#define POTLUCK_ATTENTION_OF_DEPTH(depth)                                                                            \
    POTLUCK_VECTOR_CLONES void forward_##depth(const Head& head, const float* q, const float* k, const float* v,     \
                                               float* out, float* logsumexp, Scratch& scratch) {                     \
        forward_head<depth>(head, q, k, v, out, logsumexp, scratch);                                                 \
    }                                                                                                                \
    POTLUCK_VECTOR_CLONES void backward_##depth(const Head& head, const HeadGradient& gradient, Scratch& scratch) {  \
        backward_head<depth>(head, gradient, scratch);                                                               \
    }
POTLUCK_ATTENTION_OF_DEPTH(16)
POTLUCK_ATTENTION_OF_DEPTH(32)
POTLUCK_ATTENTION_OF_DEPTH(64)

}  // namespace

bool blocked_attention_takes(std::int64_t depth) { return depth == 16 || depth == 32 || depth == 64; }

void blocked_attention(const BlockedShape& shape, const float* qkv, float* out, float* logsumexp) {
    POTLUCK_CHECK(blocked_attention_takes(shape.depth));
    const Head head = head_of(shape);
    const auto forward = shape.depth == 16 ? forward_16 : shape.depth == 32 ? forward_32 : forward_64;
    Scratch scratch(shape.depth, head.padded);
    for (std::int64_t b = 0; b < shape.batch; ++b) {
        for (std::int64_t h = 0; h < shape.heads; ++h) {
            const float* q = qkv + b * shape.time * head.stride + h * shape.depth;
            forward(head, q, q + head.out_stride, q + 2 * head.out_stride,
                    out + b * shape.time * head.out_stride + h * shape.depth,
                    logsumexp + (b * shape.heads + h) * shape.time, scratch);
        }
    }
}

void blocked_attention_backward(const BlockedShape& shape, const BlockedGradient& gradient) {
    POTLUCK_CHECK(blocked_attention_takes(shape.depth));
    const Head head = head_of(shape);
    const auto backward = shape.depth == 16 ? backward_16 : shape.depth == 32 ? backward_32 : backward_64;
    Scratch scratch(shape.depth, head.padded);
    const std::int64_t part = head.out_stride;
    for (std::int64_t b = 0; b < shape.batch; ++b) {
        for (std::int64_t h = 0; h < shape.heads; ++h) {
            const float* q = gradient.qkv + b * shape.time * head.stride + h * shape.depth;
            float* dq = gradient.dqkv + b * shape.time * head.stride + h * shape.depth;
            const std::int64_t out = b * shape.time * part + h * shape.depth;
            backward(head,
                     {q, q + part, q + 2 * part, gradient.out + out, gradient.dout + out,
                      gradient.logsumexp + (b * shape.heads + h) * shape.time, dq, dq + part, dq + 2 * part},
                     scratch);
        }
    }
}

}  // namespace potluck::training
