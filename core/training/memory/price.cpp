// Bytes are counted from the shapes of what the trainer really holds: the flat vectors and their copies, the moments,
// what a forward pass keeps for its backward pass (from a layer's cache, or from autograd's graph for an encoder), and
// what one layer or the head takes at work, measured as multiples of its widths. Every part goes to the memory in which
// it lives, the computer's or the GPU's, and the sums are the plan's peaks.
//
// A test holds the peaks to what a process was measured to take, within a tenth, for a dozen layouts of every family.
#include "core/training/memory/price.h"

#include <algorithm>
#include <bit>

#include "core/numerics/optimizer/optimizer.h"
#include "core/training/memory/optimizer_slices.h"

namespace potluck::training {

namespace {

/// Logits that the loss holds at once, with their softmax (head.h).
constexpr std::uint64_t head_bytes_max = 25'000'000, gpu_head_bytes_max = 250'000'000;

/// What LibTorch's libraries take with the first products: buffers into which they pack operands, generated code.
constexpr std::uint64_t library_bytes = 28ULL << 20U;

/// What a GPU holds more than was counted before a model was there: the kernels of its layers, which CUDA loads when
/// they are first used, and what LibTorch's allocator leaves between tensors. Measured on an H100.
constexpr std::uint64_t gpu_library_bytes = 230ULL << 20U, gpu_library_bytes_of_pictures = 90ULL << 20U;

bool on_gpu(const Layout& layout) { return layout.device.kind != DeviceKind::cpu; }

/// A row of the table goes to the GPU's or the computer's column.
class Parts {
public:
    explicit Parts(MemoryPlan& plan) : m_plan(plan) {}
    void gpu(const std::string& what, const std::string& how, std::uint64_t bytes) { add({what, how, bytes, 0, 0}); }
    void ram(const std::string& what, const std::string& how, std::uint64_t bytes) { add({what, how, 0, bytes, 0}); }
    void disk(const std::string& what, const std::string& how, std::uint64_t bytes) { add({what, how, 0, 0, bytes}); }
    /// Where the model computes.
    void at_work(const std::string& what, const std::string& how, std::uint64_t bytes) {
        on_gpu(m_plan.layout) ? gpu(what, how, bytes) : ram(what, how, bytes);
    }
    /// Where L and its step live.
    void at_home(const std::string& what, const std::string& how, std::uint64_t bytes) {
        m_plan.layout.state == Residency::device ? gpu(what, how, bytes) : ram(what, how, bytes);
    }

private:
    void add(control::PlanPart part) {
        if (part.gpu + part.ram + part.disk == 0) return;
        m_plan.gpu_peak += part.gpu;
        m_plan.ram_peak += part.ram;
        m_plan.disk += part.disk;
        m_plan.parts.push_back(std::move(part));
    }
    MemoryPlan& m_plan;
};

std::uint64_t moments_bytes(const model::ModelSpec& model, const run::Recipe& recipe, std::uint32_t bits) {
    return numerics::OptimizerState::bytes_for(optimizer_slices(model, recipe),
                                               bits == 8 ? numerics::StateBits::bits8 : numerics::StateBits::bits32);
}

/// What two layers on their way between the computer's memory and a GPU take: buffers of pages that stay in place,
/// which LibTorch takes in powers of two.
std::uint64_t staged_bytes(const BlockSizes& blocks, Dtype numbers) {
    return 2 * std::bit_ceil(blocks.layer * bytes_of(numbers));
}

/// What orthogonalising the largest matrix takes where the products run: its copy and the result in fp32, three of it
/// and two squares of its shorter side in the products' numbers.
std::uint64_t orthogonal_bytes(std::uint64_t largest, Dtype products) {
    return largest * (2 * sizeof(float) + 5 * bytes_of(products));
}

}  // namespace

BlockSizes block_sizes(const model::ModelSpec& model) {
    // A layer's weights are all layers', or there are no layers to take one by one.
    if (model::is_one_block(model)) return {model.parameters(), 0};
    model::ModelSpec one = model, two = model;
    one.layers = 1;
    two.layers = 2;
    const std::uint64_t layer = two.parameters() - one.parameters();
    return {one.parameters() - layer, layer};
}

namespace {

/// What autograd keeps of an encoder, and what it and the loss take at work.
ActivationBytes encoder_activation_bytes(const model::ModelSpec& model, const Layout& layout) {
    const std::uint64_t records = std::max(1U, layout.micro_batch), rows = records * model.context;
    const std::uint64_t c = model.width, inner = model.albert.inner;
    // Counted from the graph and measured: qkv, attention's output twice, both sums before their norms, the norms'
    // outputs, what the heap leaves between them; up and the activation.
    const bool gpu = on_gpu(layout);  // where the allocator leaves less
    const std::uint64_t layer = rows * 4 * ((gpu ? 8 : 10) * c + 2 * inner + model.heads);
    const bool again = layout.checkpointing == Checkpointing::full;
    const auto gaps = static_cast<std::uint64_t>(model.albert.mask_share * static_cast<double>(rows)) + records;
    const std::uint64_t scores = gaps * model.vocabulary * 4;
    const std::uint64_t table = std::uint64_t{model.vocabulary} * model.albert.embedding * 4;
    ActivationBytes bytes;
    bytes.kept = again ? model.layers * rows * 4 * c : model.layers * layer;
    const std::uint64_t backward = gpu ? 6 * c + 4 * inner : 4 * c + 2 * inner;
    bytes.working = std::max((again ? layer : 0) + rows * 4 * backward, 3 * scores + 2 * table);
    return bytes;
}

/// What DALL-E's halves keep for their backward passes, and what those and the loss take at work.
ActivationBytes drawer_activation_bytes(const model::ModelSpec& model, const Layout& layout) {
    const std::uint64_t records = std::max(1U, layout.micro_batch), rows = records * model.context;
    const std::uint64_t c = model.width, text = model.dalle.text, codes = model.context - text;
    // Attention keeps its stream, what was shifted, qkv, what was seen and what the scale multiplies (7), where a mask
    // is used the library's own copy of what was seen (1); a feed its stream, what was shifted, up, the gated and what
    // the scale multiplies (15).
    const std::uint64_t feed = rows * 4 * 15 * c;
    const std::uint64_t layer = feed + rows * 4 * ((on_gpu(layout) ? 8 : 7) * c + model.heads + 4);
    const bool reversed = layout.checkpointing == Checkpointing::reversed;
    const bool again = layout.checkpointing == Checkpointing::full || reversed;
    const std::uint64_t text_vocabulary = model.dalle.text_vocabulary;
    const std::uint64_t scores = records * 4 * (text * text_vocabulary + codes * (model.vocabulary - text_vocabulary));
    const std::uint64_t table = 4 * std::uint64_t{model.vocabulary} * c;
    // Three patterns have one each; on a processor there are none (sights.h).
    const std::uint64_t masks = on_gpu(layout) ? 3 * 4 * std::uint64_t{model.context} * model.context : 0;
    ActivationBytes bytes;
    const std::uint64_t streams = rows * 4 * 2 * c;
    bytes.kept = reversed ? streams : model.layers * (again ? streams : layer);
    // Layers that are undone take a half at a time, of which a feed is the larger.
    const std::uint64_t at_once = reversed ? feed : again ? layer : 0;
    // A feed's gradients: both streams', of what is gated, of up as it is and turned on its side, of what was shifted.
    // On a GPU LibTorch's operations compute them, each with a result of its own: measured.
    const std::uint64_t backward = rows * 4 * (on_gpu(layout) && again ? 34 : 16) * c;
    bytes.working = masks + std::max(at_once + backward, 2 * scores + table + rows * 4 * 6 * c);
    return bytes;
}

/// What autograd keeps of a picture coder: of each block both norms' inputs and outputs, twice where silu keeps them,
/// at each side; and what a convolution takes at work at the largest.
ActivationBytes coder_activation_bytes(const model::ModelSpec& model, const Layout& layout) {
    const std::uint64_t records = std::max(1U, layout.micro_batch), c = model.width;
    const model::CoderShape& shape = model.coder;
    const std::vector<std::uint32_t>& widths = shape.book.widths;
    if (!widths.empty()) {
        // It codes or draws one picture and keeps nothing: a block's input, its sum and what is between, at the worst
        // side, each normed and not (6), as much for the library's convolutions, and all places' scores.
        std::uint64_t most = 0;
        for (std::size_t i = 0; i < widths.size(); ++i)
            most = std::max(most, std::uint64_t{widths[i]} * (shape.side >> i) * (shape.side >> i));
        const std::uint64_t places = std::uint64_t{shape.side >> shape.halvings} * (shape.side >> shape.halvings);
        return {.kept = 0, .working = 4 * (12 * most + places * std::max<std::uint64_t>(places, shape.book.codes))};
    }
    std::uint64_t kept = 0;  // values of C channels
    for (std::uint32_t i = 0; i <= shape.halvings; ++i) {
        const std::uint64_t side = shape.side >> i;
        const std::uint64_t at_once = 2 * (8 * std::uint64_t{model.layers} + 2);  // of encoder and decoder
        kept += at_once * side * side;
    }
    const std::uint64_t largest = std::uint64_t{shape.side} * shape.side * c * 4;
    // Measured with a pixel's channels side by side; in planes the library's convolutions take four to eight.
    return {.kept = records * kept * c * 4, .working = records * largest * 2};
}

/// Crops of one size of a micro-batch.
struct CropBytes {
    std::vector<std::uint64_t> in, work;              // of each part: what it takes in, and what it needs at work
    std::uint64_t in_all = 0, kept = 0, at_once = 0;  // kept: by autograd, if nothing is run again
};

CropBytes crop_bytes(const model::ModelSpec& model, const Layout& layout, std::uint64_t crops, std::uint32_t side) {
    const model::SwavWork work = model::swav_work(model, side);
    const std::uint64_t size = crops * bytes_of(layout.matmul);
    CropBytes bytes;
    for (const model::SwavPart& part : work.parts) {
        bytes.in.push_back(size * part.in);
        bytes.in_all += bytes.in.back();
        // What its convolutions put out, the same normed, and the gradients of both.
        bytes.work.push_back(size * 4 * part.values);
    }
    // On a processor the heap leaves holes between them: measured, up to a half of what is kept.
    const std::uint64_t holes = on_gpu(layout) ? 0 : size * work.values;
    bytes.kept = size * 2 * work.values + holes + bytes.in.front();
    bytes.at_once = size * work.largest;
    return bytes;
}

/// What autograd keeps of SwAV: of each convolution what it put out and, normed, what the next one reads; and what the
/// library takes at work for the widest. With full checkpointing what each part takes in, of which ever less is there
/// while the parts run again, the small crops' first. Scores are made, and assigned with the queue's, in between.
ActivationBytes embedder_activation_bytes(const model::ModelSpec& model, const Layout& layout) {
    const std::uint64_t records = std::max(1U, layout.micro_batch);
    const model::SwavShape& shape = model.swav;
    const CropBytes large = crop_bytes(model, layout, records * model::swav_large_crops, shape.large_side);
    const CropBytes small = crop_bytes(model, layout, records * shape.small_crops, shape.small_side);
    // The head keeps both sides of its norm, scores, their logarithms and what is summed of them; a crop's assignment
    // holds its scores as they come, as they are balanced and as a copy where that is done.
    const std::uint64_t crops = model::swav_large_crops + shape.small_crops;
    const std::uint64_t head = 4 * records * crops * (2 * std::uint64_t{shape.hidden} + 4 * shape.prototypes) +
                               4 * std::uint64_t{model::swav_large_crops} * shape.queue * shape.embedding;
    const std::uint64_t assigned = 3 * 4 * (records + shape.queue) * std::uint64_t{shape.prototypes};
    if (layout.checkpointing != Checkpointing::full) {
        const std::uint64_t at_work = (on_gpu(layout) ? 1 : 4) * std::max(large.at_once, small.at_once);
        return {.kept = large.kept + small.kept + head, .working = std::max(at_work, assigned)};
    }
    ActivationBytes bytes{.kept = large.in_all + small.in_all + head, .working = assigned};
    std::uint64_t there = head, peak = 0;
    for (const CropBytes* size : {&large, &small}) {
        for (std::size_t i = 0; i < size->in.size(); ++i) {
            there += size->in[i];
            peak = std::max(peak, there + size->work[i]);
        }
    }
    bytes.working = std::max(bytes.working, peak - std::min(peak, bytes.kept));
    return bytes;
}

}  // namespace

ActivationBytes activation_bytes(const model::ModelSpec& model, const Layout& layout) {
    if (model.family == model::Family::albert) return encoder_activation_bytes(model, layout);
    if (model::is_coder(model)) return coder_activation_bytes(model, layout);
    if (model::is_drawer(model)) return drawer_activation_bytes(model, layout);
    if (model::is_embedder(model)) return embedder_activation_bytes(model, layout);
    const std::uint64_t rows = std::uint64_t{std::max(1U, layout.micro_batch)} * model.context;
    const std::uint64_t c = model.width;
    const std::uint64_t p = bytes_of(layout.matmul);
    const bool exact = layout.matmul == Dtype::fp32;
    const model::LayerWidths w = model::layer_widths(model);
    // What attention and the MLP keep in the products' type: qkv, its output, up; then the norms' outputs and what the
    // activation made. Queries and keys before their norm are kept in fp32.
    const std::uint64_t products = p * (w.joined() + w.attention() + w.up), cheap = p * (2 * c + w.inner);
    const std::uint64_t head_norms = model.llama.qk_norm ? 4 * (w.heads + w.kv_heads) * (w.head_width + 1) : 0;
    // Bytes per row: what a layer keeps, counted from its cache, and what it and its backward pass take at work,
    // measured on the processor for each kind as multiples of the width and of the MLP's.
    std::uint64_t kept = 0, working = 0;
    switch (layout.checkpointing) {
        case Checkpointing::none:
            kept = 8 * c + products + cheap + head_norms;
            working = exact ? 10 * c + 6 * w.inner : 6 * c + 4 * w.inner;
            break;
        case Checkpointing::selective:
            kept = 4 * c + products + p * c + (model.norm == model::NormPlace::after ? p * c : 0) + head_norms;
            working = exact ? 12 * c + 8 * w.inner : 9 * c + 7 * w.inner;
            break;
        case Checkpointing::full:
        case Checkpointing::reversed:  // of DALL-E alone: no trainer takes such a layout
            kept = 4 * c;
            working = (exact ? 13 : 14) * c + 4 * w.inner + products + cheap + head_norms;
            break;
    }
    const std::uint64_t sums = layout.checkpointing == Checkpointing::full ? 0 : 4ULL * model.heads;
    ActivationBytes bytes;
    // Where freed memory stays in the process, products in fp32 leave holes between what is kept, as was measured.
    if (exact && layout.checkpointing == Checkpointing::none && !on_gpu(layout)) kept += kept / 10;
    bytes.kept = model.layers * rows * (kept + sums);
    const std::uint64_t head = on_gpu(layout) ? gpu_head_bytes_max : head_bytes_max;
    bytes.working = std::max(rows * working, head + rows * c * 12);
    return bytes;
}

namespace {

/// What a copy of the weights for the products is kept in: autograd's leaves are fp32, and SwAV casts them as it goes.
Dtype copy_type(const model::ModelSpec& model, const Layout& layout) {
    return model::is_one_block(model) ? Dtype::fp32 : layout.matmul;
}

}  // namespace

SecondModelBytes second_model_bytes(const model::ModelSpec& model, const Layout& layout) {
    const std::uint64_t size = model.parameters();
    const bool host = layout.state == Residency::host;
    SecondModelBytes bytes;
    (host ? bytes.ram : bytes.gpu) += size * bytes_of(layout.weights);
    const bool same_memory = !on_gpu(layout) || !host;
    const Dtype copy = copy_type(model, layout);
    if (same_memory && layout.weights == copy) return bytes;
    const BlockSizes blocks = block_sizes(model);
    const bool whole = layout.weights_flow == Streaming::resident;
    const std::uint64_t held = whole ? size : blocks.embedding + 2 * blocks.layer;
    if (on_gpu(layout) && !whole) bytes.ram += staged_bytes(blocks, copy);
    (on_gpu(layout) ? bytes.gpu : bytes.ram) += held * bytes_of(copy);
    return bytes;
}

void price(const model::ModelSpec& model, const run::Recipe& recipe, const PlanFacts& facts, MemoryPlan& plan) {
    const Layout& layout = plan.layout;
    const std::uint64_t size = model.parameters();
    const BlockSizes blocks = block_sizes(model);
    const std::uint64_t largest = std::max(blocks.embedding, blocks.layer);
    const bool host = layout.state == Residency::host;
    Parts parts(plan);

    parts.ram("program and LibTorch", "", facts.program_bytes + library_bytes);
    const std::uint64_t gpu_library = model::reads_pictures(model) ? gpu_library_bytes_of_pictures : gpu_library_bytes;
    if (on_gpu(layout)) parts.gpu("CUDA and LibTorch", "", facts.gpu_program_bytes + gpu_library);
    parts.at_home("weights", name_of(layout.weights), size * bytes_of(layout.weights));
    // L itself serves the products if it lies where they run, in their numbers.
    const bool same_memory = !on_gpu(layout) || !host;
    const Dtype copy = copy_type(model, layout);
    if (!same_memory || layout.weights != copy) {
        const bool whole = layout.weights_flow == Streaming::resident;
        const std::uint64_t held = whole ? size : blocks.embedding + 2 * blocks.layer;
        if (on_gpu(layout) && !whole) parts.ram("weights on their way", "", staged_bytes(blocks, copy));
        parts.at_work("copy for the products", std::string(name_of(copy)) + (whole ? "" : ", streamed"),
                      held * bytes_of(copy));
    }
    parts.at_home("gradient", name_of(layout.gradient), size * bytes_of(layout.gradient));
    if (layout.gradient != Dtype::fp32 || !same_memory) {
        // Two layers' stay on a GPU, which computes one while the other leaves, beside the embedding's.
        const std::uint64_t held = on_gpu(layout) ? blocks.embedding + 2 * blocks.layer : largest;
        parts.at_work("gradient of a block", "fp32", held * sizeof(float));
        if (on_gpu(layout)) parts.ram("gradient on its way", "", staged_bytes(blocks, layout.gradient));
    }
    const std::uint64_t moments = moments_bytes(model, recipe, layout.state_bits);
    parts.at_home("optimizer state", std::to_string(layout.state_bits) + " bit", moments);
    if (layout.anchor == Residency::disk) {
        parts.disk("anchor", "fp32, on disk", size * sizeof(float));
    } else {
        parts.ram("anchor", "fp32", size * sizeof(float));
    }
    // No plan is worse for a disk that has no room for them: they are kept where there is.
    if (plan.disk + moments <= facts.disk_budget) {
        parts.disk("moments while paused", std::to_string(layout.state_bits) + " bit, on disk", moments);
    }
    ActivationBytes activations = activation_bytes(model, layout);
    // oneDNN keeps a program for each shape that it has multiplied; those lie between the heap's blocks, which then
    // cannot be joined: measured, a tenth of what is kept.
    const bool exact_here = !on_gpu(layout) && layout.matmul == Dtype::fp32;
    if (facts.onednn && exact_here && layout.checkpointing == Checkpointing::none && !model::reads_pictures(model))
        activations.kept += activations.kept / 10;
    // For AMX's tiles operands are copied, too, and the copies leave holes: measured, almost half of what is kept.
    const bool tiles_here = facts.amx && !on_gpu(layout) && layout.matmul == Dtype::bf16;
    if (tiles_here && layout.checkpointing == Checkpointing::none && !model::reads_pictures(model))
        activations.kept += activations.kept * 9 / 20;
    parts.at_work("activations", std::string("checkpointing ") + name_of(layout.checkpointing), activations.kept);
    std::uint64_t working = activations.working;
    // Without products that add to fp32, a weight's gradient in 16 bits is made whole there before it is added.
    if (on_gpu(layout) && copy != Dtype::fp32 && !facts.gpu_sums_wide) working += largest * bytes_of(layout.matmul);
    if (recipe.optimizer == run::Optimizer::muon) {
        const std::uint64_t matrix = largest_hidden_matrix(model);
        parts.ram("momentum at work", "fp32, one matrix", matrix * sizeof(float));
        // A step begins when the activations are gone; it takes their place where it needs less than they.
        const std::uint64_t products = orthogonal_bytes(matrix, layout.matmul);
        working = std::max(working, products - std::min(products, activations.kept));
    }
    parts.at_work("work space", "one layer, or logits", working);
    plan.replica_gpu = plan.gpu_peak - (host ? 0 : moments);
}

}  // namespace potluck::training
