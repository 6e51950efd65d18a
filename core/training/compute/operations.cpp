// Each operation has two bodies: LibTorch's, which runs on every device and in every type, and passes of ours over rows
// (kernels/elementwise.h for fp32 and bf16 on a processor, cuda_rows.h for an NVIDIA GPU), which fuse what LibTorch
// does in several sweeps over memory. Tests compare the two.
//
// Rows are shared among LibTorch's threads. Sums over rows (gains, biases, losses) get one partial per thread, and
// partials are added in the threads' order, so a result depends on the number of threads and on nothing else. A
// weight's gradient in 16-bit products, and in oneDNN's, cannot be added to by the product itself; it is made in strips
// that stay in the processor's cache and accumulated in fp32.
//
// Threads: the trainer's; at::parallel_for within a call.
#include "core/training/compute/operations.h"

#include <vector>

#include "core/base/check.h"
#include "core/training/compute/cuda_rows.h"
#include "core/training/compute/over_rows.h"
#include "core/training/compute/piecewise.h"
#include "core/training/compute/products.h"
#include "core/training/kernels/gated.h"
#include "core/training/kernels/rms_norm.h"
#include "core/training/kernels/rotary.h"

namespace potluck::training {

namespace {

using at::Tensor;

constexpr std::int64_t gradient_entries = 1 << 22;  // of a weight that are made at a time

Dropout dropout_of(const Drop& drop) { return {drop.seed, static_cast<float>(drop.rate)}; }

bool is_plain(const Tensor& tensor) { return tensor.device().is_cpu() && tensor.is_contiguous(); }

}  // namespace

Tensor dropout_mask(const Tensor& like, const Drop& drop) {
    // Its own: another thread may draw from the device's at the same time.
    at::Generator generator = at::globalContext().defaultGenerator(like.device()).clone();
    generator.set_current_seed(drop.seed);
    return at::empty_like(like).bernoulli_(1 - drop.rate, generator).div_(1 - drop.rate);
}

Operations::Operations(at::ScalarType type, at::Device device, Kernels kernels)
    : m_type(type),
      m_device(device),
      m_own(kernels == Kernels::own && device.is_cpu() && type != at::kHalf),
      m_rows(kernels == Kernels::own && device.is_cuda() ? CudaRows::open() : nullptr) {}

Tensor Operations::norm(const Tensor& x_NC, const NormWeights& w, at::ScalarType as, NormCache& cache) const {
    cache.x_NC = x_NC;
    if (m_rows != nullptr) return m_rows->norm(x_NC, w, as, cache);
    if (!m_own && w.is_rms()) {
        cache.rstd_N1 = (x_NC * x_NC).mean(1, /*keepdim=*/true).add_(w.epsilon).rsqrt_();
        return (x_NC * cache.rstd_N1).mul_(w.gain_C).to(as);
    }
    if (!m_own) {
        Tensor y_NC;
        std::tie(y_NC, cache.mean_N1, cache.rstd_N1) =
            at::native_layer_norm(x_NC, {x_NC.size(1)}, w.gain_C, w.bias_C, w.epsilon);
        return y_NC.to(as);
    }
    if (!w.is_rms()) cache.mean_N1 = at::empty({x_NC.size(0), 1}, at::kFloat);
    cache.rstd_N1 = at::empty({x_NC.size(0), 1}, at::kFloat);
    const Tensor y_NC = at::empty(x_NC.sizes(), as);
    const auto epsilon = static_cast<float>(w.epsilon);
    typed(y_NC, [&](auto* y) {
        over_rows(x_NC, [&](const RowShape& shape, std::int64_t first) {
            const float* x = floats(x_NC) + first;
            float* rstd = floats_to(cache.rstd_N1) + shape.first;
            if (w.is_rms()) return rms_rows(shape, {x, floats(w.gain_C), rstd, epsilon}, y + first);
            float* mean = floats_to(cache.mean_N1) + shape.first;
            norm_rows(shape, {x, floats(w.gain_C), floats(w.bias_C), mean, rstd, epsilon}, y + first);
        });
    });
    return y_NC;
}

/// By LibTorch's operations.
void Operations::library_norm_backward(const Tensor& dy_NC, const NormCache& cache, const NormWeights& w,
                                       const NormGradients& out) const {
    const Tensor wide_NC = dy_NC.to(at::kFloat);
    if (w.is_rms()) {
        const Tensor h_NC = cache.x_NC * cache.rstd_N1;
        const Tensor g_NC = wide_NC * w.gain_C;
        out.dgain_C.add_((wide_NC * h_NC).sum(0));
        const Tensor mean_N1 = (g_NC * h_NC).mean(1, /*keepdim=*/true);
        out.dx_NC.add_((g_NC - h_NC * mean_N1).mul_(cache.rstd_N1));
        return;
    }
    const auto [dx_NC, dgain_C, dbias_C] = at::native_layer_norm_backward(
        wide_NC, cache.x_NC, {dy_NC.size(1)}, cache.mean_N1, cache.rstd_N1, w.gain_C, w.bias_C, {true, true, true});
    out.dx_NC.add_(dx_NC);
    out.dgain_C.add_(dgain_C);
    out.dbias_C.add_(dbias_C);
}

void Operations::norm_backward(const Tensor& dy_NC, const NormCache& cache, const NormWeights& w,
                               const NormGradients& out) const {
    if (m_rows != nullptr && CudaRows::takes_norm(dy_NC.size(1))) return m_rows->norm_backward(dy_NC, cache, w, out);
    if (!m_own) return library_norm_backward(dy_NC, cache, w, out);
    typed(dy_NC, [&](const auto* dy) {
        if (w.is_rms()) {
            over_rows_with_sums(dy_NC, {out.dgain_C}, [&](const RowShape& shape, std::int64_t first, float* sums) {
                rms_rows_backward(shape,
                                  {floats(cache.x_NC) + first, floats(w.gain_C), floats(cache.rstd_N1) + shape.first,
                                   floats_to(out.dx_NC) + first, sums},
                                  dy + first);
            });
            return;
        }
        const std::int64_t width = dy_NC.size(1);
        over_rows_with_sums(
            dy_NC, {out.dgain_C, out.dbias_C}, [&](const RowShape& shape, std::int64_t first, float* sums) {
                norm_rows_backward(
                    shape,
                    {floats(cache.x_NC) + first, floats(w.gain_C), floats(cache.mean_N1) + shape.first,
                     floats(cache.rstd_N1) + shape.first, floats_to(out.dx_NC) + first, sums, sums + width},
                    dy + first);
            });
    });
}

Tensor Operations::add(const Tensor& x_NC, const Tensor& y_NC, const Drop& drop) const {
    if (!m_own) return at::add(x_NC, drop.rate > 0 ? y_NC.to(at::kFloat) * dropout_mask(x_NC, drop) : y_NC);
    const Tensor out_NC = at::empty_like(x_NC);
    typed(y_NC, [&](const auto* y) {
        over_rows(x_NC, [&](const RowShape& shape, std::int64_t first) {
            add_rows(shape, floats(x_NC) + first, y + first, floats_to(out_NC) + first, dropout_of(drop));
        });
    });
    return out_NC;
}

Tensor Operations::narrow(const Tensor& d_NC, const Tensor& sums_C, const Drop& drop) const {
    if (!sums_C.defined()) return dropped(d_NC, drop).to(m_type);
    if (!m_own) {
        const Tensor dy_NC = drop.rate > 0 ? d_NC * dropout_mask(d_NC, drop) : d_NC;
        if (m_rows != nullptr && m_type != at::kFloat) return m_rows->narrow(dy_NC, m_type, sums_C);
        sums_C.add_(dy_NC.sum(0));
        return dy_NC.to(m_type);
    }
    if (drop.rate == 0 && m_type == at::kFloat) {
        add_column_sums(d_NC, sums_C);
        return d_NC;
    }
    const Tensor dy_NC = at::empty(d_NC.sizes(), m_type);
    typed(dy_NC, [&](auto* dy) {
        over_rows_with_sums(d_NC, {sums_C}, [&](const RowShape& shape, std::int64_t first, float* sums) {
            narrow_rows(shape, floats(d_NC) + first, dy + first, sums, dropout_of(drop));
        });
    });
    return dy_NC;
}

Tensor Operations::dropped(const Tensor& x_NC, const Drop& drop) const {
    return drop.rate > 0 ? add(at::zeros_like(x_NC), x_NC, drop) : x_NC;
}

Tensor Operations::activation(model::Activation function, const Tensor& x_NF) const {
    const bool is_relu = function == model::Activation::relu;
    if (!m_own) return is_relu ? at::relu(x_NF) : at::gelu(x_NF, "tanh");
    const Tensor y_NF = at::empty_like(x_NF);
    typed(y_NF, [&](auto* y) {
        const auto* x = static_cast<const decltype(y)>(x_NF.data_ptr());
        over_rows(x_NF, [&](const RowShape& shape, std::int64_t first) {
            const std::int64_t size = shape.rows * shape.width;
            using Value = std::remove_pointer_t<decltype(y)>;
            const auto from = span_of(static_cast<const Value*>(x) + first, size);
            is_relu ? relu(from, span_to(y + first, size)) : gelu_tanh(from, span_to(y + first, size));
        });
    });
    return y_NF;
}

Tensor Operations::activation_backward(model::Activation function, const Tensor& x_NF, const Tensor& dy_NF,
                                       const Tensor& sums_F) const {
    const bool is_relu = function == model::Activation::relu;
    if (m_rows != nullptr) {
        m_rows->activation_backward(function, x_NF, dy_NF, sums_F);
        return dy_NF;
    }
    if (!m_own) {
        const Tensor dx_NF = is_relu ? at::threshold_backward(dy_NF, x_NF, 0) : at::gelu_backward(dy_NF, x_NF, "tanh");
        add_column_sums(dx_NF, sums_F);
        return dx_NF;
    }
    typed(dy_NF, [&](auto* dy) {
        const auto* x = static_cast<decltype(dy)>(x_NF.data_ptr());
        over_rows_with_sums(dy_NF, {sums_F}, [&](const RowShape& shape, std::int64_t first, float* sums) {
            is_relu ? relu_backward(shape, x + first, dy + first, sums)
                    : gelu_tanh_backward(shape, x + first, dy + first, sums);
        });
    });
    return dy_NF;
}

Tensor Operations::gated(const Tensor& x_NU) const {
    const std::int64_t width = x_NU.size(1) / 2;
    if (m_rows != nullptr) return m_rows->gated(x_NU);
    if (!m_own) return at::silu(x_NU.narrow(1, 0, width)) * x_NU.narrow(1, width, width);
    const Tensor y_NF = at::empty({x_NU.size(0), width}, x_NU.options());
    typed(y_NF, [&](auto* y) {
        const auto* x = static_cast<const std::remove_pointer_t<decltype(y)>*>(x_NU.const_data_ptr());
        over_rows(y_NF,
                  [&](const RowShape& shape, std::int64_t first) { gated_rows(shape, x + 2 * first, y + first); });
    });
    return y_NF;
}

Tensor Operations::gated_backward(const Tensor& x_NU, const Tensor& dy_NF) const {
    if (m_rows != nullptr) {
        m_rows->gated_backward(x_NU, dy_NF);
        return x_NU;
    }
    if (!m_own) {
        const std::int64_t width = dy_NF.size(1);
        const Tensor gate_NF = x_NU.narrow(1, 0, width), up_NF = x_NU.narrow(1, width, width);
        const Tensor dx_NU = at::empty_like(x_NU);
        dx_NU.narrow(1, 0, width).copy_(at::silu_backward(dy_NF, gate_NF).mul_(up_NF));
        dx_NU.narrow(1, width, width).copy_(at::silu(gate_NF).mul_(dy_NF));
        return dx_NU;
    }
    typed(dy_NF, [&](const auto* dy) {
        auto* x = static_cast<std::remove_const_t<std::remove_pointer_t<decltype(dy)>>*>(x_NU.data_ptr());
        over_rows(dy_NF, [&](const RowShape& shape, std::int64_t first) {
            gated_rows_backward(shape, x + 2 * first, dy + first);
        });
    });
    return x_NU;
}

RotaryAngles Operations::rotary_angles(std::int64_t time, std::int64_t depth, double theta) const {
    const RotaryTable table = rotary_table(time, depth, theta);
    const auto as_tensor = [&](const std::vector<float>& values) {
        return at::tensor(values).view({time, depth / 2}).to(m_device);
    };
    return {as_tensor(table.cosines), as_tensor(table.sines)};
}

void Operations::rotate(const Tensor& x_NQ, const RotaryAngles& angles, std::int64_t heads, std::int64_t time,
                        Turn turn) const {
    if (m_rows != nullptr) return m_rows->rotate(x_NQ, angles, heads, time, turn);
    const std::int64_t half = angles.cosines_TR.size(1), depth = 2 * half;
    if (!m_own) {
        const Tensor x_BTHD = x_NQ.narrow(1, 0, heads * depth).view({-1, time, heads, depth});
        const Tensor first_BTHR = x_BTHD.narrow(3, 0, half).to(at::kFloat, /*non_blocking=*/false, /*copy=*/true);
        const Tensor second_BTHR = x_BTHD.narrow(3, half, half).to(at::kFloat, /*non_blocking=*/false, /*copy=*/true);
        const Tensor cosines_T1R = angles.cosines_TR.narrow(0, 0, time).unsqueeze(1);
        const Tensor forward_T1R = angles.sines_TR.narrow(0, 0, time).unsqueeze(1);
        const Tensor sines_T1R = turn == Turn::forward ? forward_T1R : -forward_T1R;
        x_BTHD.narrow(3, 0, half).copy_(first_BTHR * cosines_T1R - second_BTHR * sines_T1R);
        x_BTHD.narrow(3, half, half).copy_(second_BTHR * cosines_T1R + first_BTHR * sines_T1R);
        return;
    }
    const RotaryRows rotary{.cosines = floats(angles.cosines_TR),
                            .sines = floats(angles.sines_TR),
                            .time = time,
                            .heads = heads,
                            .depth = depth,
                            .turn = turn == Turn::forward ? training::Turn::forward : training::Turn::back};
    typed(x_NQ, [&](auto* x) {
        over_rows(x_NQ, [&](const RowShape& shape, std::int64_t first) { rotate_rows(shape, rotary, x + first); });
    });
}

void Operations::add_column_sums(const Tensor& x_NO, const Tensor& sums_O) const {
    if (m_rows != nullptr) return m_rows->add_column_sums(x_NO, sums_O);
    if (!m_own) {
        sums_O.add_(x_NO.sum(0, /*keepdim=*/false, at::kFloat));
        return;
    }
    typed(x_NO, [&](const auto* x) {
        over_rows_with_sums(x_NO, {sums_O}, [&](const RowShape& shape, std::int64_t first, float* sums) {
            training::add_column_sums(shape, x + first, sums);
        });
    });
}

void Operations::add_product(const Tensor& dw_IO, const Tensor& x_NI, const Tensor& dy_NO) const {
    if (!dw_IO.is_contiguous() && dw_IO.t().is_contiguous()) return add_product(dw_IO.t(), dy_NO, x_NI);
    const bool is_fp32 = x_NI.scalar_type() == at::kFloat;
    if (is_fp32 && (!m_device.is_cpu() || product_library() == ProductLibrary::torch)) {
        Tensor(dw_IO).addmm_(x_NI.t(), dy_NO);
        return;
    }
    if (!m_device.is_cpu() && add_wide_product(dw_IO, x_NI.t(), dy_NO)) return;
    // Other products have to be made before they are added: in parts that stay in the processor's cache.
    const std::int64_t outputs = dw_IO.size(1);
    // oneDNN copies a first operand that lies on its side, as this one does: that is to stay there, too.
    const std::int64_t widest = is_fp32 ? 4 * std::max(outputs, x_NI.size(0)) : outputs;
    const std::int64_t step = m_device.is_cpu() ? std::max<std::int64_t>(64, gradient_entries / widest) : dw_IO.size(0);
    for (std::int64_t i = 0; i < dw_IO.size(0); i += step) {
        const std::int64_t n = std::min(step, dw_IO.size(0) - i);
        accumulate(dw_IO.narrow(0, i, n), product(x_NI.narrow(1, i, n).t(), dy_NO));
    }
}

void Operations::accumulate(const Tensor& sum, const Tensor& x) const {
    if (sum.device() != x.device() && sum.is_contiguous() && x.is_contiguous())
        return add_in_pieces(sum.view(-1), x.view(-1));
    const bool fits = is_plain(sum) && is_plain(x) && sum.scalar_type() != at::kHalf && x.scalar_type() != at::kHalf;
    if (!m_own || !fits) {
        sum.add_(x.to(sum.device()));
        return;
    }
    typed(sum, [&](auto* to) {
        typed(x, [&](const auto* from) {
            at::parallel_for(0, x.numel(), share_min, [&](std::int64_t begin, std::int64_t end) {
                training::accumulate(span_to(to + begin, end - begin), span_of(from + begin, end - begin));
            });
        });
    });
}

Tensor Operations::cross_entropy_sum(Tensor& logits_NV, const Tensor& targets_N, double scale) const {
    if (m_own) return at::scalar_tensor(cross_entropy(logits_NV, targets_N, scale), at::kDouble);
    const Tensor targets = targets_N.to(m_device);
    if (m_rows != nullptr) return m_rows->cross_entropy(logits_NV, targets, scale).sum(at::kDouble);
    const Tensor log_p_NV = at::log_softmax(logits_NV, -1, at::kFloat);
    const Tensor targets_N1 = targets.unsqueeze(1);
    Tensor loss = log_p_NV.gather(1, targets_N1).sum(at::kDouble).neg_();
    if (scale == 0) return loss;
    Tensor d_NV = log_p_NV.exp_();
    d_NV.scatter_add_(1, targets_N1, at::full({d_NV.size(0), 1}, -1.0F, fp32()));
    at::mul_out(logits_NV, d_NV, at::scalar_tensor(scale));
    return loss;
}

double Operations::cross_entropy(Tensor& logits_NV, const Tensor& targets_N, double scale) const {
    if (!m_own) return cross_entropy_sum(logits_NV, targets_N, scale).item<double>();
    std::vector<double> sums(static_cast<std::size_t>(at::get_num_threads()), 0.0);
    typed(logits_NV, [&](auto* logits) {
        over_rows(logits_NV, [&](const RowShape& shape, std::int64_t first) {
            std::vector<float> scratch(static_cast<std::size_t>(shape.width));
            sums[static_cast<std::size_t>(at::get_thread_num())] +=
                cross_entropy_rows(shape, logits + first, targets_N.const_data_ptr<std::int64_t>() + shape.first,
                                   static_cast<float>(scale), std::span(scratch));
        });
    });
    double loss = 0;
    for (const double sum : sums) loss += sum;
    return loss;
}

std::int64_t Operations::cross_entropy_row_bytes(std::int64_t vocabulary) const {
    const std::int64_t logit = m_type == at::kFloat ? 4 : 2;
    return vocabulary * (m_own || m_rows != nullptr ? logit : 2 * logit + 4);
}

}  // namespace potluck::training
