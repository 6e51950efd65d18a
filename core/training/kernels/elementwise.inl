// The passes of elementwise.h for one instruction set (per_isa.inl).
//
// gelu_tanh(x) = x * s(x), where s = 1 / (1 + exp(-2u)) and u = sqrt(2/pi) (x + 0.044715 x^3), because
// (1 + tanh u) / 2 is the logistic function of 2u. The derivative follows: s + x s (1 - s) 2u'.

#include "core/training/kernels/norm_row.inl"

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
    const float peak = largest_of(most);
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

template <class Dtype>
POTLUCK_TARGET void gelu_of(std::int64_t size, const Dtype* x, Dtype* y) {
    activate<Gelu>(size, x, y);
}
template <class Dtype>
POTLUCK_TARGET void relu_of(std::int64_t size, const Dtype* x, Dtype* y) {
    activate<Relu>(size, x, y);
}
template <class Dtype>
POTLUCK_TARGET void gelu_backward_of(const RowShape& shape, const Dtype* x, Dtype* dy, float* sums) {
    activate_backward<Gelu>(shape, x, dy, sums);
}
template <class Dtype>
POTLUCK_TARGET void relu_backward_of(const RowShape& shape, const Dtype* x, Dtype* dy, float* sums) {
    activate_backward<Relu>(shape, x, dy, sums);
}
template <class Dtype>
POTLUCK_TARGET void norm_of(const RowShape& shape, const NormForward& in, Dtype* y) {
    norm_forward(shape, in, y);
}
template <class Dtype>
POTLUCK_TARGET void norm_backward_of(const RowShape& shape, const NormBackward& in, const Dtype* dy) {
    norm_backward(shape, in, dy);
}
template <class Dtype>
POTLUCK_TARGET void add_of(const RowShape& shape, const float* x, const Dtype* y, float* out, const Dropout& dropout) {
    add(shape, x, y, out, dropout);
}
template <class Dtype>
POTLUCK_TARGET void narrow_of(const RowShape& shape, const float* d, Dtype* dy, float* sums, const Dropout& dropout) {
    narrowed(shape, d, dy, sums, dropout);
}
template <class Dtype>
POTLUCK_TARGET void columns_of(const RowShape& shape, const Dtype* x, float* sums) {
    sum_columns(shape, x, sums);
}
template <class Sum, class Dtype>
POTLUCK_TARGET void accumulate_of(std::int64_t size, Sum* sum, const Dtype* x) {
    added(size, sum, x);
}
template <class Dtype>
POTLUCK_TARGET double loss_of(const RowShape& shape, Dtype* logits, const std::int64_t* targets, float scale,
                              float* scratch) {
    return rows_loss(shape, logits, targets, scale, scratch);
}
