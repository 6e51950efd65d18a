// The dense mask is written cell by cell from `sees`; the gathered way has it as tables (SeenRows), by which the
// decoder's kernel looks at the caption and at one span of the picture: its rows stand one line behind the other, or
// with Sight::column one column behind the other, so that what a code sees lies side by side, up to itself. With
// Sight::near the span begins two lines above, of whose codes the nearest five columns count.
//
// A test holds results and gradients of both together, of prefixes of a record, too.
#include "core/training/picture/sights.h"

#include <ATen/Parallel.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/base/check.h"
#include "core/training/compute/over_rows.h"
#include "core/training/kernels/attention_blocked.h"

namespace potluck::training {

namespace {

using at::Tensor;

/// Whether a row sees another of the same record.
bool sees(const model::DalleShape& shape, model::Sight sight, std::uint32_t row, std::uint32_t other) {
    if (other > row) return false;
    const std::uint32_t first = shape.text + 1;  // row of the first code
    if (row < first || other < first) return true;
    const std::uint32_t y = (row - first) / shape.grid, x = (row - first) % shape.grid;
    const std::uint32_t other_y = (other - first) / shape.grid, other_x = (other - first) % shape.grid;
    switch (sight) {
        case model::Sight::row: return other_y == y;
        case model::Sight::column: return other_x == x;
        case model::Sight::near: break;
    }
    const std::uint32_t apart = other_x > x ? other_x - x : x - other_x;
    return y - other_y <= model::dalle_reach && apart <= model::dalle_reach;
}

/// Zero where a row sees another, else minus infinity.
Tensor dense_mask(const model::ModelSpec& spec, model::Sight sight) {
    const std::uint32_t rows = spec.context;
    Tensor mask_TT = at::full({rows, rows}, -std::numeric_limits<float>::infinity(), at::kFloat);
    float* cell = mask_TT.mutable_data_ptr<float>();
    for (std::uint32_t row = 0; row < rows; ++row)
        for (std::uint32_t other = 0; other < rows; ++other, ++cell)
            if (sees(spec.dalle, sight, row, other)) *cell = 0;
    return mask_TT;
}

/// The tables of SeenRows for the first `time` rows of a record.
struct Places {
    std::vector<std::int32_t> order, begin;
    SeenRows seen;

    Places(const model::ModelSpec& spec, model::Sight sight, std::int64_t time) {
        const auto text = static_cast<std::int32_t>(spec.dalle.text) + 1, rows = static_cast<std::int32_t>(time);
        const auto grid = static_cast<std::int32_t>(spec.dalle.grid);
        for (std::int32_t row = 0; row < std::min(text, rows); ++row) add(row, 0);
        if (sight == model::Sight::column) {
            for (std::int32_t x = 0; x < grid; ++x) {
                const auto top = static_cast<std::int32_t>(order.size());
                for (std::int32_t row = text + x; row < rows; row += grid) add(row, top);
            }
        } else {
            const std::int32_t above = sight == model::Sight::near ? static_cast<std::int32_t>(model::dalle_reach) : 0;
            for (std::int32_t row = text; row < rows; ++row)
                add(row, text + std::max(0, (row - text) / grid - above) * grid);
        }
        seen = {.order = order.data(), .begin = begin.data(), .text = std::min(text, rows)};
        if (sight == model::Sight::near) {
            seen.line = grid;
            seen.reach = model::dalle_reach;
        }
    }
    void add(std::int32_t row, std::int32_t first) {
        order.push_back(row);
        begin.push_back(first);
    }
};

BlockedShape shape_of(const model::ModelSpec& spec, const Tensor& qkv_NQ, std::int64_t time, const Places& places) {
    return {.batch = qkv_NQ.size(0) / time,
            .time = time,
            .heads = spec.heads,
            .kv_heads = spec.heads,
            .depth = spec.width / spec.heads,
            .seen = places.seen};
}

}  // namespace

SightAttention::SightAttention(const model::ModelSpec& spec, at::Device device, SightKernel wanted)
    : m_spec(spec),
      m_kernel(device.is_cpu() && blocked_attention_takes(spec.width / spec.heads) ? wanted : SightKernel::dense) {
    if (m_kernel == SightKernel::gathered) return;
    for (const model::Sight sight : {model::Sight::row, model::Sight::column, model::Sight::near})
        m_masks[static_cast<std::size_t>(sight)] = dense_mask(spec, sight).to(device);
}

Tensor SightAttention::dense(const Tensor& qkv_NQ, std::int64_t time, model::Sight sight) const {
    const std::int64_t heads = m_spec.heads, depth = m_spec.width / heads;
    const Tensor qkv_3BHTD = qkv_NQ.view({-1, time, 3, heads, depth}).permute({2, 0, 3, 1, 4});
    const Tensor mask_TT = m_masks[static_cast<std::size_t>(sight)].narrow(0, 0, time).narrow(1, 0, time);
    return at::scaled_dot_product_attention(qkv_3BHTD[0], qkv_3BHTD[1], qkv_3BHTD[2], mask_TT, 0.0, false)
        .transpose(1, 2)
        .reshape({qkv_NQ.size(0), m_spec.width});
}

Tensor SightAttention::forward(const Tensor& qkv_NQ, std::int64_t time, model::Sight sight, SightCache& cache) const {
    if (m_kernel == SightKernel::dense) {
        const at::AutoGradMode recorded(true);
        cache.leaf_NQ = at::detach(qkv_NQ).set_requires_grad(true);
        cache.graph_NA = dense(cache.leaf_NQ, time, sight);
        return at::detach(cache.graph_NA);
    }
    const Places places(m_spec, sight, time);
    const BlockedShape shape = shape_of(m_spec, qkv_NQ, time, places);
    cache.out_NA = at::empty({qkv_NQ.size(0), m_spec.width}, at::kFloat);
    cache.logsumexp_BHT = at::empty({shape.batch, shape.heads, time}, at::kFloat);
    const BlockedForward<float> forward{floats(qkv_NQ), floats_to(cache.out_NA), floats_to(cache.logsumexp_BHT)};
    at::parallel_for(0, shape.groups(), 1, [&](std::int64_t begin, std::int64_t end) {
        blocked_attention(shape, forward, {begin, end});
    });
    return cache.out_NA;
}

Tensor SightAttention::backward(const Tensor& dout_NA, const Tensor& qkv_NQ, std::int64_t time, model::Sight sight,
                                SightCache& cache) const {
    const SightCache used = std::move(cache);
    cache = {};
    if (m_kernel == SightKernel::dense) {
        torch::autograd::backward({used.graph_NA}, {dout_NA});
        return used.leaf_NQ.grad();
    }
    const Places places(m_spec, sight, time);
    const BlockedShape shape = shape_of(m_spec, qkv_NQ, time, places);
    const Tensor dqkv_NQ = at::empty_like(qkv_NQ);
    const BlockedGradient<float> gradient{.qkv = floats(qkv_NQ),
                                          .out = floats(used.out_NA),
                                          .logsumexp = floats(used.logsumexp_BHT),
                                          .dout = floats(dout_NA),
                                          .dqkv = floats_to(dqkv_NQ)};
    at::parallel_for(0, shape.groups(), 1, [&](std::int64_t begin, std::int64_t end) {
        blocked_attention_backward(shape, gradient, {begin, end});
    });
    return dqkv_NQ;
}

}  // namespace potluck::training
