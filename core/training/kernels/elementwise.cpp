// gelu_tanh(x) = x * s(x), where s = 1 / (1 + exp(-2u)) and u = sqrt(2/pi) (x + 0.044715 x^3), because
// (1 + tanh u) / 2 is the logistic function of 2u. The derivative follows: s + x s (1 - s) 2u'.
//
// A function that is compiled for several instruction sets cannot be a template, so each template body below has one
// plain function per precision behind it, and the public template calls that.
#include "core/training/kernels/elementwise.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "core/base/check.h"
#include "core/training/kernels/exp.h"
#include "core/training/kernels/norm_row.h"
#include "core/training/kernels/target_clones.h"

namespace potluck::training {

namespace {

constexpr float twice_root = 1.5957691216057308F;  // 2 sqrt(2/pi)
constexpr float cubic = 0.044715F;

POTLUCK_INLINE void sigmoid_gate(Lanes& s, const Lanes& x) {
    Lanes power = -twice_root * (x + cubic * x * x * x);
    exp_approx<Lanes, LaneBits>(power);
    s = 1.0F / (1.0F + power);
}

struct Gelu {
    POTLUCK_INLINE static void value(Lanes& x) {
        Lanes s;
        sigmoid_gate(s, x);
        x *= s;
    }
    POTLUCK_INLINE static void derivative(Lanes& out, const Lanes& x) {
        Lanes s;
        sigmoid_gate(s, x);
        out = s + x * s * (1.0F - s) * (twice_root * (1.0F + 3.0F * cubic * x * x));
    }
};

struct Relu {
    POTLUCK_INLINE static void value(Lanes& x) { x = x < 0.0F ? Lanes{} : x; }  // propagates NaN
    POTLUCK_INLINE static void derivative(Lanes& out, const Lanes& x) { out = x > 0.0F ? (Lanes{} + 1.0F) : Lanes{}; }
};

template <class Function, class Dtype>
POTLUCK_INLINE void activate(std::int64_t size, const Dtype* x, Dtype* y) {
    for_each_lane_block(size, [&](std::int64_t i, auto part) POTLUCK_INLINE_LAMBDA {
        Lanes value;
        load(value, x + i, part);
        Function::value(value);
        store(value, y + i, part);
    });
}

template <class Function, class Dtype>
POTLUCK_INLINE void activate_backward(const RowShape& shape, const Dtype* x, Dtype* dy, float* sums) {
    for (std::int64_t row = 0; row < shape.rows; ++row) {
        const std::int64_t base = row * shape.width;
        for_each_lane_block(shape.width, [&](std::int64_t i, auto part) POTLUCK_INLINE_LAMBDA {
            Lanes value, gradient, derivative, sum;
            load(value, x + base + i, part);
            load(gradient, dy + base + i, part);
            load(sum, sums + i, part);
            Function::derivative(derivative, value);
            gradient *= derivative;
            store(gradient, dy + base + i, part);
            sum += gradient;
            store(sum, sums + i, part);
        });
    }
}

template <class Dtype>
POTLUCK_INLINE void norm_forward(const RowShape& shape, const NormForward& in, Dtype* y) {
    for (std::int64_t row = 0; row < shape.rows; ++row) {
        const float* x = in.x + row * shape.width;
        RowStatistics found;
        row_statistics(found, x, shape.width, in.epsilon);
        in.mean[row] = found.mean;
        in.rstd[row] = found.rstd;
        norm_part(shape.width, found, x, in.gain, in.bias, y + row * shape.width);
    }
}

template <class Dtype>
POTLUCK_INLINE void norm_backward(const RowShape& shape, const NormBackward& in, const Dtype* dy) {
    const float share = 1.0F / static_cast<float>(shape.width);
    for (std::int64_t row = 0; row < shape.rows; ++row) {
        const float* x = in.x + row * shape.width;
        const Dtype* d = dy + row * shape.width;
        const RowStatistics known{in.mean[row], in.rstd[row]};
        NormSums sums;
        norm_part_sums(shape.width, known, x, in.gain, d, in.dgain, in.dbias, sums);
        norm_part_backward(shape.width, known, sum_of(sums.g) * share, sum_of(sums.gh) * share, x, in.gain, d,
                           in.dx + row * shape.width);
    }
}

template <class Dtype>
POTLUCK_INLINE void add(const RowShape& shape, const float* x, const Dtype* y, float* out, const Dropout& dropout) {
    for (std::int64_t row = 0; row < shape.rows; ++row) {
        const std::int64_t base = row * shape.width;
        const std::uint32_t seed = dropout_row(dropout.seed, static_cast<std::uint64_t>(shape.first + row));
        for_each_lane_block(shape.width, [&](std::int64_t i, auto part) POTLUCK_INLINE_LAMBDA {
            Lanes sum, value;
            load(sum, x + base + i, part);
            load(value, y + base + i, part);
            if (dropout.rate > 0) {
                Lanes factors;
                dropout_factors(factors, seed, i, dropout.rate);
                value *= factors;
            }
            sum += value;
            store(sum, out + base + i, part);
        });
    }
}

template <class Dtype>
POTLUCK_INLINE void narrowed(const RowShape& shape, const float* d, Dtype* dy, float* sums, const Dropout& dropout) {
    for (std::int64_t row = 0; row < shape.rows; ++row) {
        const std::int64_t base = row * shape.width;
        const std::uint32_t seed = dropout_row(dropout.seed, static_cast<std::uint64_t>(shape.first + row));
        for_each_lane_block(shape.width, [&](std::int64_t i, auto part) POTLUCK_INLINE_LAMBDA {
            Lanes value, sum;
            load(value, d + base + i, part);
            load(sum, sums + i, part);
            if (dropout.rate > 0) {
                Lanes factors;
                dropout_factors(factors, seed, i, dropout.rate);
                value *= factors;
            }
            store(value, dy + base + i, part);
            sum += value;
            store(sum, sums + i, part);
        });
    }
}

template <class Dtype>
POTLUCK_INLINE void sum_columns(const RowShape& shape, const Dtype* x, float* sums) {
    for (std::int64_t row = 0; row < shape.rows; ++row) {
        for_each_lane_block(shape.width, [&](std::int64_t i, auto part) POTLUCK_INLINE_LAMBDA {
            Lanes value, sum;
            load(value, x + row * shape.width + i, part);
            load(sum, sums + i, part);
            sum += value;
            store(sum, sums + i, part);
        });
    }
}

template <class Sum, class Dtype>
POTLUCK_INLINE void added(std::int64_t size, Sum* sum, const Dtype* x) {
    for_each_lane_block(size, [&](std::int64_t i, auto part) POTLUCK_INLINE_LAMBDA {
        Lanes total, value;
        load(total, sum + i, part);
        load(value, x + i, part);
        total += value;
        store(total, sum + i, part);
    });
}

/// Returns -ln p(target) of one row of logits, read once into fp32 `scratch`.
template <class Dtype>
POTLUCK_INLINE double row_loss(std::int64_t width, Dtype* logits, std::int64_t target, float scale, float* scratch) {
    Lanes most = Lanes{} - INFINITY;
    for_each_lane_block(width, [&](std::int64_t i, auto part) POTLUCK_INLINE_LAMBDA {
        Lanes value;
        load(value, logits + i, part);
        store(value, scratch + i, part);
        if constexpr (std::is_same_v<decltype(part), All>) {
            most = value > most ? value : most;
        } else {
            for (int lane = 0; lane < part.count; ++lane) most[lane] = std::max(most[lane], value[lane]);
        }
    });
    float peak = most[0];
    for (int lane = 1; lane < lanes; ++lane) peak = std::max(peak, most[lane]);
    const double at_target = static_cast<double>(scratch[target]);
    Lanes sums = {};
    for_each_lane_block(width, [&](std::int64_t i, auto part) POTLUCK_INLINE_LAMBDA {
        Lanes value;
        load(value, scratch + i, part);
        value -= peak;
        exp_approx<Lanes, LaneBits>(value);
        store(value, scratch + i, part);
        if constexpr (std::is_same_v<decltype(part), All>) {
            sums += value;
        } else {
            for (int lane = 0; lane < part.count; ++lane) sums[lane] += value[lane];
        }
    });
    const float sum = sum_of(sums);
    const double loss = static_cast<double>(peak) + std::log(static_cast<double>(sum)) - at_target;
    if (scale == 0) return loss;
    const float factor = scale / sum;
    scratch[target] -= sum;
    for_each_lane_block(width, [&](std::int64_t i, auto part) POTLUCK_INLINE_LAMBDA {
        Lanes value;
        load(value, scratch + i, part);
        value *= factor;
        store(value, logits + i, part);
    });
    return loss;
}

template <class Dtype>
POTLUCK_INLINE double rows_loss(const RowShape& shape, Dtype* logits, const std::int64_t* targets, float scale,
                                float* scratch) {
    double sum = 0;
    for (std::int64_t row = 0; row < shape.rows; ++row) {
        sum += row_loss(shape.width, logits + row * shape.width, targets[row], scale, scratch);
    }
    return sum;
}

#define POTLUCK_FOR(Dtype)                                                                                             \
    POTLUCK_VECTOR_CLONES void gelu_of(std::int64_t n, const Dtype* x, Dtype* y) { activate<Gelu>(n, x, y); }          \
    POTLUCK_VECTOR_CLONES void relu_of(std::int64_t n, const Dtype* x, Dtype* y) { activate<Relu>(n, x, y); }          \
    POTLUCK_VECTOR_CLONES void gelu_backward_of(const RowShape& s, const Dtype* x, Dtype* dy, float* sums) {           \
        activate_backward<Gelu>(s, x, dy, sums);                                                                       \
    }                                                                                                                  \
    POTLUCK_VECTOR_CLONES void relu_backward_of(const RowShape& s, const Dtype* x, Dtype* dy, float* sums) {           \
        activate_backward<Relu>(s, x, dy, sums);                                                                       \
    }                                                                                                                  \
    POTLUCK_VECTOR_CLONES void norm_of(const RowShape& s, const NormForward& in, Dtype* y) { norm_forward(s, in, y); } \
    POTLUCK_VECTOR_CLONES void norm_backward_of(const RowShape& s, const NormBackward& in, const Dtype* dy) {          \
        norm_backward(s, in, dy);                                                                                      \
    }                                                                                                                  \
    POTLUCK_VECTOR_CLONES void add_of(const RowShape& s, const float* x, const Dtype* y, float* out,                   \
                                      const Dropout& dropout) {                                                        \
        add(s, x, y, out, dropout);                                                                                    \
    }                                                                                                                  \
    POTLUCK_VECTOR_CLONES void narrow_of(const RowShape& s, const float* d, Dtype* dy, float* sums,                    \
                                         const Dropout& dropout) {                                                     \
        narrowed(s, d, dy, sums, dropout);                                                                             \
    }                                                                                                                  \
    POTLUCK_VECTOR_CLONES void columns_of(const RowShape& s, const Dtype* x, float* sums) { sum_columns(s, x, sums); } \
    POTLUCK_VECTOR_CLONES void accumulate_of(std::int64_t n, float* sum, const Dtype* x) { added(n, sum, x); }         \
    POTLUCK_VECTOR_CLONES void accumulate_of(std::int64_t n, Bf16* sum, const Dtype* x) { added(n, sum, x); }          \
    POTLUCK_VECTOR_CLONES double loss_of(const RowShape& s, Dtype* logits, const std::int64_t* targets, float scale,   \
                                         float* scratch) {                                                             \
        return rows_loss(s, logits, targets, scale, scratch);                                                          \
    }
POTLUCK_FOR(float)
POTLUCK_FOR(Bf16)

std::int64_t signed_size(std::size_t size) { return static_cast<std::int64_t>(size); }

}  // namespace

template <class Dtype>
void gelu_tanh(std::span<const Dtype> x, std::span<Dtype> y) {
    POTLUCK_CHECK(x.size() == y.size());
    gelu_of(signed_size(x.size()), x.data(), y.data());
}
template <class Dtype>
void relu(std::span<const Dtype> x, std::span<Dtype> y) {
    POTLUCK_CHECK(x.size() == y.size());
    relu_of(signed_size(x.size()), x.data(), y.data());
}
template <class Dtype>
void gelu_tanh_backward(const RowShape& shape, const Dtype* x, Dtype* dy, float* sums) {
    gelu_backward_of(shape, x, dy, sums);
}
template <class Dtype>
void relu_backward(const RowShape& shape, const Dtype* x, Dtype* dy, float* sums) {
    relu_backward_of(shape, x, dy, sums);
}
template <class Dtype>
void norm_rows(const RowShape& shape, const NormForward& in, Dtype* y) {
    norm_of(shape, in, y);
}
template <class Dtype>
void norm_rows_backward(const RowShape& shape, const NormBackward& in, const Dtype* dy) {
    norm_backward_of(shape, in, dy);
}
template <class Dtype>
void add_rows(const RowShape& shape, const float* x, const Dtype* y, float* out, const Dropout& dropout) {
    add_of(shape, x, y, out, dropout);
}
template <class Dtype>
void narrow_rows(const RowShape& shape, const float* d, Dtype* dy, float* sums, const Dropout& dropout) {
    narrow_of(shape, d, dy, sums, dropout);
}
template <class Dtype>
void add_column_sums(const RowShape& shape, const Dtype* x, float* sums) {
    columns_of(shape, x, sums);
}
template <class Sum, class Dtype>
void accumulate(std::span<Sum> sum, std::span<const Dtype> x) {
    POTLUCK_CHECK(sum.size() == x.size());
    accumulate_of(signed_size(x.size()), sum.data(), x.data());
}
template <class Dtype>
double cross_entropy_rows(const RowShape& shape, Dtype* logits, const std::int64_t* targets, float scale,
                          std::span<float> scratch) {
    POTLUCK_CHECK(signed_size(scratch.size()) >= shape.width);
    return loss_of(shape, logits, targets, scale, scratch.data());
}

#define POTLUCK_INSTANTIATE(Dtype)                                                                      \
    template void gelu_tanh<Dtype>(std::span<const Dtype>, std::span<Dtype>);                           \
    template void relu<Dtype>(std::span<const Dtype>, std::span<Dtype>);                                \
    template void gelu_tanh_backward<Dtype>(const RowShape&, const Dtype*, Dtype*, float*);             \
    template void relu_backward<Dtype>(const RowShape&, const Dtype*, Dtype*, float*);                  \
    template void norm_rows<Dtype>(const RowShape&, const NormForward&, Dtype*);                        \
    template void norm_rows_backward<Dtype>(const RowShape&, const NormBackward&, const Dtype*);        \
    template void add_rows<Dtype>(const RowShape&, const float*, const Dtype*, float*, const Dropout&); \
    template void narrow_rows<Dtype>(const RowShape&, const float*, Dtype*, float*, const Dropout&);    \
    template void add_column_sums<Dtype>(const RowShape&, const Dtype*, float*);                        \
    template void accumulate<float, Dtype>(std::span<float>, std::span<const Dtype>);                   \
    template void accumulate<Bf16, Dtype>(std::span<Bf16>, std::span<const Dtype>);                     \
    template double cross_entropy_rows<Dtype>(const RowShape&, Dtype*, const std::int64_t*, float, std::span<float>);
POTLUCK_INSTANTIATE(float)
POTLUCK_INSTANTIATE(Bf16)

}  // namespace potluck::training
