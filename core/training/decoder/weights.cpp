// Views are cut out of a block by walking through it in the order of model::tensors_of(), which is the order of the
// flat vector; a walk that does not end at the block's end is a bug of ours and ends the program. Tensors that lie side
// by side and enter one product (q, k and v; gate and up) are taken in one step as one matrix.
//
// Where blocks begin and end follows from the layer that each tensor states: what stands before the first layer is the
// embedding's block, what stands behind the last one the final norm's.
#include "core/training/decoder/weights.h"

#include <algorithm>

#include "core/base/check.h"

namespace potluck::training {

namespace {

using at::Tensor;

/// Walks through a block tensor by tensor.
class Cursor {
public:
    explicit Cursor(const Tensor& block) : m_block(block) {}
    Tensor take(std::initializer_list<std::int64_t> shape) {
        std::int64_t size = 1;
        for (const std::int64_t dimension : shape) size *= dimension;
        const Tensor view = m_block.narrow(0, m_next, size).view(shape);
        m_next += size;
        return view;
    }
    /// [in, out], whichever way it lies.
    Tensor matrix(const model::ModelSpec& spec, std::int64_t in, std::int64_t out) {
        const bool inputs_first = model::matrix_order(spec.family) == model::MatrixOrder::in_out;
        return inputs_first ? take({in, out}) : take({out, in}).t();
    }
    void finish() const { POTLUCK_CHECK(m_next == m_block.size(0)); }

private:
    const Tensor& m_block;
    std::int64_t m_next = 0;
};

/// LayerWidths as tensors count.
struct Widths {
    std::int64_t attention, joined, inner, up, depth;
    explicit Widths(const model::ModelSpec& spec) {
        const model::LayerWidths widths = model::layer_widths(spec);
        attention = static_cast<std::int64_t>(widths.attention());
        joined = static_cast<std::int64_t>(widths.joined());
        inner = static_cast<std::int64_t>(widths.inner);
        up = static_cast<std::int64_t>(widths.up);
        depth = static_cast<std::int64_t>(widths.head_width);
    }
};

}  // namespace

BlockRanges block_ranges(const model::ModelSpec& spec) {
    const std::vector<model::TensorSpec> tensors = model::tensors_of(spec);
    std::uint64_t first_layer = spec.parameters(), after_layers = 0;
    for (const model::TensorSpec& tensor : tensors) {
        if (!tensor.layer) continue;
        first_layer = std::min(first_layer, tensor.offset);
        after_layers = tensor.offset + tensor.elements();
    }
    BlockRanges ranges;
    ranges.embedding = {0, first_layer};
    ranges.final_norm = {after_layers, spec.parameters()};
    const std::uint64_t size = (after_layers - first_layer) / spec.layers;
    for (std::uint64_t i = 0; i < spec.layers; ++i) {
        ranges.layers.push_back({first_layer + i * size, first_layer + (i + 1) * size});
    }
    return ranges;
}

EmbeddingWeights embedding_views(const model::ModelSpec& spec, const Tensor& block) {
    const std::int64_t c = spec.width, e = spec.embedding == 0 ? c : spec.embedding;
    Cursor cursor(block);
    EmbeddingWeights w;
    w.tokens_VE = w.head_VE = cursor.take({spec.vocabulary, e});
    if (spec.family == model::Family::llama) {
        if (!spec.llama.tied) w.head_VE = cursor.take({spec.vocabulary, c});
        cursor.finish();
        return w;
    }
    w.positions_PC = cursor.take({spec.context + position_offset(spec), c});
    if (spec.embedding != 0) {
        w.in_EC = cursor.matrix(spec, e, c);
        w.out_CE = cursor.matrix(spec, c, e);
    }
    cursor.finish();
    return w;
}

namespace {

LayerWeights llama_views(const model::ModelSpec& spec, const Tensor& block) {
    const std::int64_t c = spec.width;
    const Widths n(spec);
    Cursor cursor(block);
    LayerWeights w;
    w.ln1_gain_C = cursor.take({c});
    w.qkv_CQ = cursor.matrix(spec, c, n.joined);
    if (spec.llama.qkv_bias) w.qkv_bias_Q = cursor.take({n.joined});
    if (spec.llama.qk_norm) {
        w.q_gain_D = cursor.take({n.depth});
        w.k_gain_D = cursor.take({n.depth});
    }
    w.proj_AC = cursor.matrix(spec, n.attention, c);
    w.ln2_gain_C = cursor.take({c});
    w.up_CU = cursor.matrix(spec, c, n.up);
    w.down_FC = cursor.matrix(spec, n.inner, c);
    cursor.finish();
    return w;
}

}  // namespace

LayerWeights layer_views(const model::ModelSpec& spec, const Tensor& block) {
    if (spec.family == model::Family::llama) return llama_views(spec, block);
    const std::int64_t c = spec.width;
    const Widths n(spec);
    Cursor cursor(block);
    LayerWeights w;
    w.ln1_gain_C = cursor.take({c});
    w.ln1_bias_C = cursor.take({c});
    w.qkv_CQ = cursor.matrix(spec, c, n.joined);
    w.qkv_bias_Q = cursor.take({n.joined});
    w.proj_AC = cursor.matrix(spec, n.attention, c);
    w.proj_bias_C = cursor.take({c});
    w.ln2_gain_C = cursor.take({c});
    w.ln2_bias_C = cursor.take({c});
    w.up_CU = cursor.matrix(spec, c, n.up);
    w.up_bias_U = cursor.take({n.up});
    w.down_FC = cursor.matrix(spec, n.inner, c);
    w.down_bias_C = cursor.take({c});
    cursor.finish();
    return w;
}

FinalNormWeights final_norm_views(const model::ModelSpec& spec, const Tensor& block) {
    Cursor cursor(block);
    FinalNormWeights w;
    if (block.size(0) > 0) {
        w.gain_C = cursor.take({spec.width});
        if (spec.family != model::Family::llama) w.bias_C = cursor.take({spec.width});
    }
    cursor.finish();
    return w;
}

Weights views_of(const model::ModelSpec& spec, const Tensor& flat) {
    const BlockRanges ranges = block_ranges(spec);
    const auto part = [&](const BlockRange& range) {
        return flat.narrow(0, static_cast<std::int64_t>(range.begin), range.size());
    };
    Weights weights;
    weights.embedding = embedding_views(spec, part(ranges.embedding));
    for (const BlockRange& layer : ranges.layers) weights.layers.push_back(layer_views(spec, part(layer)));
    weights.final_norm = final_norm_views(spec, part(ranges.final_norm));
    return weights;
}

}  // namespace potluck::training
