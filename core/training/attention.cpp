#include "core/training/attention.h"

#include <cmath>
#include <limits>

#include "core/training/attention_blocked.h"

namespace potluck::training {

namespace {

using at::Tensor;

/// (N, C) to (B, H, T, D), a view.
Tensor split_heads(const Tensor& x_NC, const AttentionShape& shape) {
    return x_NC.view({shape.batch, shape.time, shape.heads, shape.width / shape.heads}).transpose(1, 2);
}

Tensor merge_heads(const Tensor& x_BHTD, const AttentionShape& shape) {
    return x_BHTD.transpose(1, 2).reshape({shape.batch * shape.time, shape.width});
}

BlockedShape blocked_shape(const AttentionShape& shape) {
    return {shape.batch, shape.time, shape.heads, shape.width / shape.heads};
}

double score_scale(const AttentionShape& shape) {
    return 1.0 / std::sqrt(static_cast<double>(shape.width / shape.heads));
}

Tensor plain_forward(const AttentionShape& shape, AttentionCache& cache) {
    Tensor scores_BHTT = at::matmul(cache.q_BHTD, cache.k_BHTD.transpose(2, 3)).mul_(score_scale(shape));
    const Tensor future_TT = at::ones({shape.time, shape.time}, at::kBool).triu_(1);
    scores_BHTT.masked_fill_(future_TT, -std::numeric_limits<float>::infinity());
    cache.probabilities_BHTT = at::softmax(scores_BHTT, -1);
    if (shape.dropout <= 0) return at::matmul(cache.probabilities_BHTT, cache.v_BHTD);
    cache.mask_BHTT = at::empty_like(cache.probabilities_BHTT).bernoulli_(1 - shape.dropout).div_(1 - shape.dropout);
    return at::matmul(cache.probabilities_BHTT * cache.mask_BHTT, cache.v_BHTD);
}

std::tuple<Tensor, Tensor, Tensor> plain_backward(const Tensor& dout_BHTD, const AttentionShape& shape,
                                                  const AttentionCache& cache) {
    const Tensor& p_BHTT = cache.probabilities_BHTT;
    const bool dropped = cache.mask_BHTT.defined();
    const Tensor used_BHTT = dropped ? p_BHTT * cache.mask_BHTT : p_BHTT;
    Tensor dv_BHTD = at::matmul(used_BHTT.transpose(2, 3), dout_BHTD);
    Tensor dp_BHTT = at::matmul(dout_BHTD, cache.v_BHTD.transpose(2, 3));
    if (dropped) dp_BHTT.mul_(cache.mask_BHTT);
    const Tensor dscores_BHTT = at::_softmax_backward_data(dp_BHTT, p_BHTT, -1, at::kFloat).mul_(score_scale(shape));
    Tensor dq_BHTD = at::matmul(dscores_BHTT, cache.k_BHTD);
    Tensor dk_BHTD = at::matmul(dscores_BHTT.transpose(2, 3), cache.q_BHTD);
    return {dq_BHTD, dk_BHTD, dv_BHTD};
}

}  // namespace

Tensor attend(const Tensor& qkv_N3C, const AttentionShape& shape, AttentionKernel kernel, AttentionCache& cache) {
    const std::int64_t c = shape.width;
    if (kernel == AttentionKernel::blocked) {
        cache.qkv_N3C = qkv_N3C;
        cache.out_NC = at::empty({shape.batch * shape.time, c});
        cache.logsumexp_BHT = at::empty({shape.batch, shape.heads, shape.time});
        blocked_attention(blocked_shape(shape), qkv_N3C.data_ptr<float>(), cache.out_NC.data_ptr<float>(),
                          cache.logsumexp_BHT.data_ptr<float>());
        return cache.out_NC;
    }
    const auto part = [&](std::int64_t index) {
        return qkv_N3C.view({shape.batch, shape.time, 3 * shape.heads, c / shape.heads})
            .narrow(2, index * shape.heads, shape.heads)
            .transpose(1, 2);
    };
    cache.q_BHTD = part(0);
    cache.k_BHTD = part(1);
    cache.v_BHTD = part(2);
    if (kernel == AttentionKernel::plain) return merge_heads(plain_forward(shape, cache), shape);
    std::tie(cache.out_BHTD, cache.logsumexp_BHT) = at::_scaled_dot_product_flash_attention_for_cpu(
        cache.q_BHTD, cache.k_BHTD, cache.v_BHTD, 0.0, /*is_causal=*/true);
    return merge_heads(cache.out_BHTD, shape);
}

Tensor attend_backward(const Tensor& dout_NC, const AttentionShape& shape, AttentionKernel kernel,
                       const AttentionCache& cache) {
    if (kernel == AttentionKernel::blocked) {
        Tensor dqkv_N3C = at::empty_like(cache.qkv_N3C);
        blocked_attention_backward(blocked_shape(shape), {.qkv = cache.qkv_N3C.data_ptr<float>(),
                                                          .out = cache.out_NC.data_ptr<float>(),
                                                          .logsumexp = cache.logsumexp_BHT.data_ptr<float>(),
                                                          .dout = dout_NC.data_ptr<float>(),
                                                          .dqkv = dqkv_N3C.data_ptr<float>()});
        return dqkv_N3C;
    }
    const Tensor dout_BHTD = split_heads(dout_NC, shape);
    const auto [dq_BHTD, dk_BHTD, dv_BHTD] =
        kernel == AttentionKernel::plain
            ? plain_backward(dout_BHTD, shape, cache)
            : at::_scaled_dot_product_flash_attention_for_cpu_backward(dout_BHTD, cache.q_BHTD, cache.k_BHTD,
                                                                       cache.v_BHTD, cache.out_BHTD,
                                                                       cache.logsumexp_BHT, 0.0, /*is_causal=*/true);
    return at::cat({merge_heads(dq_BHTD, shape), merge_heads(dk_BHTD, shape), merge_heads(dv_BHTD, shape)}, 1);
}

}  // namespace potluck::training
