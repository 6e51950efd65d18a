// Softmax(q k^T / sqrt(D)) v with a causal mask, four ways. `plain` writes the formula down and holds the T x T
// probabilities; it is the reference of the tests and the fallback where no other kernel takes the shape. `blocked` and
// `fused` keep one log-sum-exp per row instead and compute the probabilities again, block by block, in the backward
// pass. `device` does the same in 16 bits with the kernel of FlashAttention, where the GPU has one for the heads, and
// else keeps nothing and runs the forward pass again under autograd.
//
// Where a forward pass is repeated its dropout must be too: the mask is a function of Drop::seed alone, in `blocked`
// per entry, elsewhere by seeding LibTorch's generator in both passes. `plain` computes in fp32 whatever the operands
// are.
//
// Sources: Vaswani et al. 2017; Dao et al. 2022 (FlashAttention) for the log-sum-exp.
#include "core/training/decoder/attention.h"

#include <cmath>
#include <limits>
#include <mutex>

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <c10/core/GradMode.h>
#include <c10/core/InferenceMode.h>
#include <torch/csrc/autograd/autograd.h>

#include "core/base/check.h"
#include "core/training/kernels/attention_blocked.h"

namespace potluck::training {

namespace {

using at::Tensor;

struct Heads {
    Tensor q_BHTD, k_BHTD, v_BHTD;
};

/// The projection head by head: views, but for keys and values that several heads read, which are repeated.
Heads split(const Tensor& qkv_NQ, const AttentionShape& shape) {
    const auto part = [&](std::int64_t first, std::int64_t count) {
        return qkv_NQ.view({shape.batch, shape.time, shape.heads + 2 * shape.kv_heads, shape.depth})
            .narrow(2, first, count)
            .transpose(1, 2);
    };
    const Tensor q_BHTD = part(0, shape.heads), k_BKTD = part(shape.heads, shape.kv_heads);
    const Tensor v_BKTD = part(shape.heads + shape.kv_heads, shape.kv_heads);
    if (shape.kv_heads == shape.heads) return {q_BHTD, k_BKTD, v_BKTD};
    const std::int64_t sharing = shape.heads / shape.kv_heads;
    return {q_BHTD, k_BKTD.repeat_interleave(sharing, 1), v_BKTD.repeat_interleave(sharing, 1)};
}

/// (N, A) to (B, H, T, D), a view.
Tensor split_heads(const Tensor& x_NA, const AttentionShape& shape) {
    return x_NA.view({shape.batch, shape.time, shape.heads, shape.depth}).transpose(1, 2);
}

Tensor merge_heads(const Tensor& x_BHTD, const AttentionShape& shape) {
    return x_BHTD.transpose(1, 2).reshape({shape.batch * shape.time, x_BHTD.size(1) * shape.depth});
}

/// The gradient of keys or values: summed over the heads that share them, in fp32.
Tensor shared(const Tensor& d_BHTD, const AttentionShape& shape) {
    if (shape.kv_heads == shape.heads) return d_BHTD;
    const std::int64_t sharing = shape.heads / shape.kv_heads;
    const Tensor d_BKGTD = d_BHTD.reshape({shape.batch, shape.kv_heads, sharing, shape.time, shape.depth});
    return d_BKGTD.sum(2, /*keepdim=*/false, at::kFloat).to(d_BHTD.scalar_type());
}

Tensor joined(const Tensor& dq_BHTD, const Tensor& dk_BHTD, const Tensor& dv_BHTD, const AttentionShape& shape) {
    return at::cat({merge_heads(dq_BHTD, shape), merge_heads(shared(dk_BHTD, shape), shape),
                    merge_heads(shared(dv_BHTD, shape), shape)},
                   1);
}

BlockedShape blocked_shape(const AttentionShape& shape) {
    return {shape.batch,    shape.time,  shape.heads,
            shape.kv_heads, shape.depth, {shape.drop.seed, static_cast<float>(shape.drop.rate)}};
}

double score_scale(const AttentionShape& shape) { return 1.0 / std::sqrt(static_cast<double>(shape.depth)); }

template <class Dtype>
void blocked_forward(const Tensor& qkv_NQ, const AttentionShape& shape, const AttentionCache& cache) {
    const BlockedForward<Dtype> forward{static_cast<const Dtype*>(qkv_NQ.const_data_ptr()),
                                        static_cast<Dtype*>(cache.out_NA.data_ptr()),
                                        cache.logsumexp_BHT.data_ptr<float>()};
    at::parallel_for(0, shape.batch * shape.kv_heads, 1, [&](std::int64_t begin, std::int64_t end) {
        blocked_attention(blocked_shape(shape), forward, {begin, end});
    });
}

template <class Dtype>
void blocked_backward(const Tensor& dout_NA, const Tensor& qkv_NQ, const AttentionShape& shape,
                      const AttentionCache& cache, const Tensor& dqkv_NQ) {
    const BlockedGradient<Dtype> gradient{.qkv = static_cast<const Dtype*>(qkv_NQ.const_data_ptr()),
                                          .out = static_cast<const Dtype*>(cache.out_NA.const_data_ptr()),
                                          .logsumexp = cache.logsumexp_BHT.const_data_ptr<float>(),
                                          .dout = static_cast<const Dtype*>(dout_NA.const_data_ptr()),
                                          .dqkv = static_cast<Dtype*>(dqkv_NQ.data_ptr())};
    at::parallel_for(0, shape.batch * shape.kv_heads, 1, [&](std::int64_t begin, std::int64_t end) {
        blocked_attention_backward(blocked_shape(shape), gradient, {begin, end});
    });
}

Tensor plain_forward(const Heads& in, const AttentionShape& shape, AttentionCache& cache) {
    Tensor scores_BHTT = at::matmul(in.q_BHTD.to(at::kFloat), in.k_BHTD.to(at::kFloat).transpose(2, 3));
    scores_BHTT.mul_(score_scale(shape));
    const Tensor future_TT = at::ones({shape.time, shape.time}, scores_BHTT.options().dtype(at::kBool)).triu_(1);
    scores_BHTT.masked_fill_(future_TT, -std::numeric_limits<float>::infinity());
    cache.probabilities_BHTT = at::softmax(scores_BHTT, -1);
    Tensor used_BHTT = cache.probabilities_BHTT;
    if (shape.drop.rate > 0) used_BHTT = used_BHTT * dropout_mask(used_BHTT, shape.drop);
    return at::matmul(used_BHTT, in.v_BHTD.to(at::kFloat)).to(in.v_BHTD.scalar_type());
}

Tensor plain_backward(const Tensor& dout_NA, const Heads& in, const AttentionShape& shape,
                      const AttentionCache& cache) {
    const Tensor dout_BHTD = split_heads(dout_NA, shape).to(at::kFloat);
    const Tensor& p_BHTT = cache.probabilities_BHTT;
    Tensor used_BHTT = p_BHTT;
    Tensor dp_BHTT = at::matmul(dout_BHTD, in.v_BHTD.to(at::kFloat).transpose(2, 3));
    if (shape.drop.rate > 0) {
        const Tensor mask_BHTT = dropout_mask(p_BHTT, shape.drop);
        used_BHTT = p_BHTT * mask_BHTT;
        dp_BHTT.mul_(mask_BHTT);
    }
    const Tensor dv_BHTD = at::matmul(used_BHTT.transpose(2, 3), dout_BHTD);
    const Tensor ds_BHTT = at::_softmax_backward_data(dp_BHTT, p_BHTT, -1, at::kFloat).mul_(score_scale(shape));
    const Tensor dq_BHTD = at::matmul(ds_BHTT, in.k_BHTD.to(at::kFloat));
    const Tensor dk_BHTD = at::matmul(ds_BHTT.transpose(2, 3), in.q_BHTD.to(at::kFloat));
    return joined(dq_BHTD, dk_BHTD, dv_BHTD, shape).to(dout_NA.scalar_type());
}

/// Seeds this device only: others draw on threads of their own.
void seed_generator_of(at::Device device, std::uint64_t seed) {
    at::Generator generator = at::globalContext().defaultGenerator(device);
    const std::lock_guard lock(generator.mutex());
    generator.set_current_seed(seed);
}

/// What LibTorch chooses for the device, under its own differentiation.
Tensor device_attention(const Heads& in, const AttentionShape& shape) {
    if (shape.drop.rate > 0) seed_generator_of(in.q_BHTD.device(), shape.drop.seed);
    return at::scaled_dot_product_attention(in.q_BHTD, in.k_BHTD, in.v_BHTD, {}, shape.drop.rate, /*is_causal=*/true);
}

/// Whether the device has the kernel of FlashAttention for such heads, whose backward pass needs no second forward
/// pass.
bool has_flash_attention(const Heads& in, const AttentionShape& shape) {
    constexpr std::int64_t flash = 1, cudnn = 3;  // sdp::SDPBackend; where cuDNN's takes the heads, that one does, too
    constexpr std::int64_t depth_max = 128;       // of which every GPU with the kernel has its backward pass
    // Heads that are no multiple of eight LibTorch fills up, which is left to it.
    if (shape.drop.rate > 0 || shape.depth > depth_max || shape.depth % 8 != 0) return false;
    if (!in.q_BHTD.is_cuda() || in.q_BHTD.scalar_type() == at::kFloat) return false;
    const std::int64_t chosen = at::_fused_sdp_choice(in.q_BHTD, in.k_BHTD, in.v_BHTD, {}, 0.0, /*is_causal=*/true);
    return chosen == flash || chosen == cudnn;
}

Tensor flash_forward(const Heads& in, AttentionCache& cache) {
    const auto found =
        at::_scaled_dot_product_flash_attention(in.q_BHTD, in.k_BHTD, in.v_BHTD, 0.0, /*is_causal=*/true);
    cache.out_BHTD = std::get<0>(found);
    cache.logsumexp_BHT = std::get<1>(found);
    cache.seed = std::get<6>(found);
    cache.offset = std::get<7>(found);
    return cache.out_BHTD;
}

Tensor flash_backward(const Tensor& dout_NA, const Heads& in, const AttentionShape& shape,
                      const AttentionCache& cache) {
    const auto [dq_BHTD, dk_BHTD, dv_BHTD] = at::_scaled_dot_product_flash_attention_backward(
        split_heads(dout_NA, shape), in.q_BHTD, in.k_BHTD, in.v_BHTD, cache.out_BHTD, cache.logsumexp_BHT, {}, {},
        shape.time, shape.time, 0.0, /*is_causal=*/true, cache.seed, cache.offset);
    return joined(dq_BHTD, dk_BHTD, dv_BHTD, shape);
}

/// Runs the forward pass again, now recorded: nothing of it is kept between the passes.
Tensor device_backward(const Tensor& dout_NA, const Heads& in, const AttentionShape& shape) {
    const c10::InferenceMode recording(false);
    const at::AutoGradMode gradients(true);
    const auto leaf = [](const Tensor& part) { return part.clone().requires_grad_(true); };
    const Heads own{leaf(in.q_BHTD), leaf(in.k_BHTD), leaf(in.v_BHTD)};
    const Tensor out_BHTD = device_attention(own, shape);
    const auto d =
        torch::autograd::grad({out_BHTD}, {own.q_BHTD, own.k_BHTD, own.v_BHTD}, {split_heads(dout_NA, shape).clone()});
    return joined(d[0], d[1], d[2], shape);
}

}  // namespace

AttentionWay attention_way(AttentionKernel wanted, const Operations& operations, const AttentionShape& shape) {
    if (wanted == AttentionKernel::plain) return AttentionWay::plain;
    if (!operations.is_own()) return AttentionWay::device;
    const bool fits = blocked_attention_takes(shape.depth);
    if (fits && (wanted == AttentionKernel::blocked || shape.drop.rate > 0)) return AttentionWay::blocked;
    return shape.drop.rate > 0 ? AttentionWay::plain : AttentionWay::fused;
}

Tensor attend(const Tensor& qkv_NQ, const AttentionShape& shape, AttentionWay way, AttentionCache& cache) {
    if (way == AttentionWay::blocked) {
        cache.out_NA = at::empty({shape.batch * shape.time, shape.width()}, qkv_NQ.options());
        cache.logsumexp_BHT = at::empty({shape.batch, shape.heads, shape.time}, at::kFloat);
        if (qkv_NQ.scalar_type() == at::kFloat) {
            blocked_forward<float>(qkv_NQ, shape, cache);
        } else {
            blocked_forward<Bf16>(qkv_NQ, shape, cache);
        }
        return cache.out_NA;
    }
    const Heads in = split(qkv_NQ, shape);
    if (way == AttentionWay::plain) return merge_heads(plain_forward(in, shape, cache), shape);
    if (way == AttentionWay::device) {
        const bool keeps = has_flash_attention(in, shape);
        return merge_heads(keeps ? flash_forward(in, cache) : device_attention(in, shape), shape);
    }
    std::tie(cache.out_BHTD, cache.logsumexp_BHT) =
        at::_scaled_dot_product_flash_attention_for_cpu(in.q_BHTD, in.k_BHTD, in.v_BHTD, 0.0, /*is_causal=*/true);
    return merge_heads(cache.out_BHTD, shape);
}

Tensor attend_backward(const Tensor& dout_NA, const Tensor& qkv_NQ, const AttentionShape& shape, AttentionWay way,
                       const AttentionCache& cache) {
    if (way == AttentionWay::blocked) {
        const Tensor dqkv_NQ = at::empty_like(qkv_NQ);
        if (qkv_NQ.scalar_type() == at::kFloat) {
            blocked_backward<float>(dout_NA, qkv_NQ, shape, cache, dqkv_NQ);
        } else {
            blocked_backward<Bf16>(dout_NA, qkv_NQ, shape, cache, dqkv_NQ);
        }
        return dqkv_NQ;
    }
    const Heads in = split(qkv_NQ, shape);
    if (way == AttentionWay::plain) return plain_backward(dout_NA, in, shape, cache);
    if (way == AttentionWay::device) {
        return cache.logsumexp_BHT.defined() ? flash_backward(dout_NA, in, shape, cache)
                                             : device_backward(dout_NA, in, shape);
    }
    const auto [dq_BHTD, dk_BHTD, dv_BHTD] = at::_scaled_dot_product_flash_attention_for_cpu_backward(
        split_heads(dout_NA, shape), in.q_BHTD, in.k_BHTD, in.v_BHTD, cache.out_BHTD, cache.logsumexp_BHT, 0.0,
        /*is_causal=*/true);
    return joined(dq_BHTD, dk_BHTD, dv_BHTD, shape);
}

}  // namespace potluck::training
