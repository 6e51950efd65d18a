// A model as data: a closed set of range-checked fields, from which the list of tensors, their names (Hugging Face's)
// and shapes, and hence the flat parameter vector follow. A stranger's manifest can ask for nothing that is not here.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "core/base/result.h"
#include "core/model/token.h"

namespace potluck::model {

/// gpt2: Radford et al. 2019. opt: Zhang et al. 2022 (learned positions with an offset of 2, ReLU, separate q, k, v).
/// llama: Touvron et al. 2023 and what is shaped like it, SmolLM, Qwen2 and Qwen3 (RMS norms, rotary positions, a gated
/// MLP, no biases). albert: Lan et al. 2019, an encoder that fills gaps and tells the order of two texts; its layers
/// share one set of weights. coder: convolutions that turn pictures into a few whole numbers and back (Mentzer et al.
/// 2023), on values of colours instead of tokens of text. dalle: Ramesh et al. 2021 as Training Transformers Together
/// trained it, a decoder that goes on from a caption with the codes of a picture; its layers share a few sets of
/// weights. swav: Caron et al. 2020, a residual network that learns from pictures without labels, by telling from one
/// crop of a picture the cluster of another.
enum class Family { gpt2, opt, llama, albert, coder, dalle, swav };
/// silu_gated: down(silu(gate x) * up x) instead of down(f(up x)); llama's only.
enum class Activation { gelu_tanh, relu, silu_gated };
/// Where a layer norm stands: before attention and MLP, or after the residual sum (OPT-350M only).
enum class NormPlace { before, after };

inline constexpr std::uint64_t parameters_max = 20'000'000'000ULL;

/// What llama alone has. Heads have a width of their own, which need not be width / heads.
struct LlamaShape {
    std::uint32_t kv_heads = 1;     // of keys and values; divides heads
    std::uint32_t head_width = 32;  // D, even, 2..512
    std::uint32_t inner = 384;      // F of the MLP, 8..131,072
    double rope_theta = 10'000;     // of the rotary positions, 1..1e9
    double norm_epsilon = 1e-5;     // 1e-12..0.01
    bool qkv_bias = false;          // as Qwen2 has them
    bool qk_norm = false;           // an RMS norm over each head of queries and keys, as Qwen3 has; not with qkv_bias
    bool tied = true;               // the head is the token embedding
    bool operator==(const LlamaShape&) const = default;
};

inline constexpr std::uint32_t albert_segments = 2;  // the first text and the second
inline constexpr std::uint32_t albert_orders = 2;    // as they stood, or swapped
inline constexpr std::uint32_t albert_marks = 4;     // pad, cls, sep and mask

/// What albert alone has.
struct AlbertShape {
    std::uint32_t embedding = 128;    // E, width of the embeddings, 8..16,384
    std::uint32_t inner = 1'024;      // F of the MLP, 8..131,072
    double mask_share = 0.15;         // of a record's tokens, 0.01..0.5
    std::uint32_t pad = 0, cls = 2;   // four different tokens that no text has: behind a record's texts, before them,
    std::uint32_t sep = 3, mask = 4;  // behind each of them, and in a gap
    bool operator==(const AlbertShape&) const = default;
};

inline constexpr std::uint32_t coder_values = 256;   // of a colour: what a coder has for a vocabulary
inline constexpr std::uint32_t coder_side_max = 72;  // so that a picture is a context
inline constexpr std::size_t coder_levels_max = 8;
inline constexpr std::uint64_t coder_codes_max = 65'536;
inline constexpr std::int64_t coder_groups = 8;  // of channels, of its norms

inline constexpr std::uint32_t coder_book_side_max = 256;
inline constexpr std::size_t coder_book_sides_max = 5;

/// What a picture coder has that was trained elsewhere, in place of levels: the nearest row of a table is a code
/// (diffusers' VQModel). Runs draw with such a coder and train none.
struct CodeBook {
    std::uint32_t codes = 0;            // rows of the table, 2..coder_codes_max; 0: there is no table
    std::uint32_t width = 0;            // of a row, 1..1,024
    std::uint32_t latent = 0;           // channels between the table and the convolutions, 1..1,024
    std::uint32_t groups = 32;          // of channels, of its norms, which they divide
    bool attention = true;              // among the places, at the smallest side
    std::vector<std::uint32_t> widths;  // channels at each side, the picture's first
    bool operator==(const CodeBook&) const = default;
};

/// What coder alone has. `layers` of its ModelSpec are the residual blocks at each side, `width` its channels; `heads`
/// is 1.
struct CoderShape {
    std::uint32_t side = 64;                           // of a square picture, in pixels, 8..coder_side_max
    std::uint32_t halvings = 2;                        // of it, 1..4: one code for each square of 2^halvings pixels
    std::vector<std::uint32_t> levels = {8, 5, 5, 5};  // of the numbers of a code; their product is the codes' number
    CodeBook book = {};                                // if it has one: no levels, sides up to coder_book_side_max
    bool operator==(const CoderShape&) const = default;
};
/// Values of a picture: what a coder has for a context.
[[nodiscard]] constexpr std::uint32_t coder_context(const CoderShape& shape) { return 3 * shape.side * shape.side; }
[[nodiscard]] std::uint64_t coder_codes(const CoderShape& shape);

/// What a coder's loss is made of: means over a picture's values, of 0..1 each, of how far they are apart from what
/// they should be, and of how far the steps between neighbours are.
struct CoderErrors {
    double absolute = 0, squares = 0, steps = 0;
};
inline constexpr double coder_absolute_weight = 1, coder_squares_weight = 0.5, coder_steps_weight = 0.25;
[[nodiscard]] constexpr double coder_loss_of(const CoderErrors& errors) {
    return coder_absolute_weight * errors.absolute + coder_squares_weight * errors.squares +
           coder_steps_weight * errors.steps;
}

inline constexpr std::uint32_t dalle_begin = 0;  // the token before every caption
inline constexpr std::uint32_t dalle_fill = 1;   // behind a caption, up to the shape's text
/// Rotary positions turn pairs in three groups of a third of a head; two frequencies are the fewest that span a range.
inline constexpr std::uint32_t dalle_head_width_min = 12;
inline constexpr double dalle_text_weight = 1, dalle_codes_weight = 7;
template <class Number>
[[nodiscard]] constexpr Number dalle_loss_of(const Number& text, const Number& codes) {
    return (dalle_text_weight * text + dalle_codes_weight * codes) / (dalle_text_weight + dalle_codes_weight);
}

/// What dalle alone has. A record is dalle_begin, `text` tokens below `text_vocabulary` and the picture's codes row by
/// row, each `text_vocabulary` and its number. `layers` of its ModelSpec are applications of `blocks` + 1 sets of
/// weights.
struct DalleShape {
    std::uint32_t text = 48;              // tokens of a caption and what fills it up, 1..4,096
    std::uint32_t text_vocabulary = 256;  // 2..65,536, smaller than the vocabulary; the rest of it are codes
    std::uint32_t grid = 8;               // codes along a side of the picture, 2..64
    std::uint32_t blocks = 4;             // that all layers but the last share in turn; the last has its own
    bool operator==(const DalleShape&) const = default;
};
/// Tokens of a caption and codes of its picture: what it has for a context.
[[nodiscard]] constexpr std::uint32_t dalle_context(const DalleShape& shape) {
    return shape.text + shape.grid * shape.grid;
}

/// small: a convolution of 3 x 3, for pictures of a few dozen pixels; large: one of 7 x 7 and stride 2, then the
/// maximum of 3 x 3 places at stride 2, as torchvision has it.
enum class SwavStem { small, large };
/// basic: two convolutions of 3 x 3; bottleneck: of 1 x 1, 3 x 3 and 1 x 1, the last four times as wide.
enum class SwavBlock { basic, bottleneck };
inline constexpr std::uint32_t swav_stages = 4;
inline constexpr std::uint32_t swav_large_crops = 2;  // whose clusters the other crops tell
inline constexpr std::uint32_t swav_side_max = 256;   // of a picture or a crop
inline constexpr std::uint32_t swav_blocks_max = 64;  // of a stage
inline constexpr std::uint32_t swav_crops_max = 16;   // small ones
inline constexpr std::uint32_t swav_prototypes_max = 65'536;
inline constexpr std::uint32_t swav_queue_max = 65'536;
inline constexpr std::uint32_t swav_rounds_max = 1U << 30U;
inline constexpr std::uint32_t swav_together_min = 2, swav_together_max = 4'096;
[[nodiscard]] constexpr std::uint32_t swav_expansion(SwavBlock block) { return block == SwavBlock::bottleneck ? 4 : 1; }
/// How a block of a stage steps: all stages but the first begin with one that halves the side.
[[nodiscard]] constexpr std::uint32_t swav_stride(std::uint32_t stage, std::uint32_t block) {
    return stage > 0 && block == 0 ? 2 : 1;
}

/// What swav alone has. Where it has no size, it is what small pictures of few kinds were learned with: with the
/// paper's epsilon of 0.05, crops of less or a queue from the first step on, they collapsed. A record is a picture as a
/// coder's, then 0 or, of a picture with a label, its class of 1..255. `layers` of its ModelSpec are the blocks of all
/// stages, `width` the channels of the first; `heads` is 1.
struct SwavShape {
    std::uint32_t side = 32;  // of a square picture, in pixels, 8..swav_side_max
    SwavStem stem = SwavStem::small;
    SwavBlock block = SwavBlock::basic;
    std::array<std::uint32_t, swav_stages> stages = {1, 1, 1, 1};  // blocks of each
    std::uint32_t hidden = 256;                                    // between the head's two maps, 8..16,384
    std::uint32_t embedding = 128;                                 // that prototypes are compared with, 8..4,096
    std::uint32_t prototypes = 100;                                // K, 2..swav_prototypes_max
    std::uint32_t large_side = 32, small_side = 16;                // of crops, 8..swav_side_max
    std::uint32_t small_crops = 4;                                 // of a picture, 0..swav_crops_max
    double area_min = 0.3;    // of the picture, that the smallest crop shows, 0.01..1
    double area_split = 0.6;  // that the largest of the small crops and the smallest of the large ones show
    double temperature = 0.1, epsilon = 0.03;  // of the scores, and of what their clusters are assigned by, 0.01..10
    std::uint32_t queue = 0;                   // embeddings that assignments are balanced with besides the batch's
    std::uint32_t queue_from = 0;              // rounds of the run before them
    std::uint32_t frozen = 0;                  // rounds of the run in which prototypes stay
    std::uint32_t together = 64;  // pictures whose statistics norms and assignments share, swav_together_min..max
    bool operator==(const SwavShape&) const = default;
};
/// Values of a picture: what it has for a context.
[[nodiscard]] constexpr std::uint32_t swav_context(const SwavShape& shape) { return 3 * shape.side * shape.side; }
struct ModelSpec;
/// A dalle of `preset`'s size that goes on from captions in `text_vocabulary` tokens with a coder's codes.
[[nodiscard]] ModelSpec drawer_with(const ModelSpec& preset, const ModelSpec& coder, std::uint32_t text_vocabulary);
/// Whether the tokens are one record of a dalle's.
[[nodiscard]] bool is_dalle_record(const ModelSpec& spec, std::span<const Token> record);

struct ModelSpec {
    Family family = Family::gpt2;
    std::uint32_t vocabulary = 256;  // V, 2..1,048,576
    std::uint32_t context = 128;     // T, 8..16,384 tokens; of swav, to 3 times the square of swav_side_max
    std::uint32_t layers = 4;        // 1..256
    std::uint32_t heads = 4;         // divides width
    std::uint32_t width = 128;       // C, 8..16,384
    Activation activation = Activation::gelu_tanh;
    float dropout = 0.0F;                // 0..0.9
    NormPlace norm = NormPlace::before;  // gpt2: before; with `after` there is no final norm
    std::uint32_t embedding = 0;  // opt: width of the token embedding where it differs from C (350M: 512), else 0
    LlamaShape llama = {};
    AlbertShape albert = {};
    CoderShape coder = {};
    DalleShape dalle = {};
    SwavShape swav = {};
    bool operator==(const ModelSpec&) const = default;

    [[nodiscard]] std::uint64_t parameters() const;
    /// Those that take part in a product with every token, as often as they do: all but an embedding that is not the
    /// head, too; those of shared layers once per layer, those of coder's convolutions once per place, each kind of
    /// dalle's head for the tokens of its kind, all of swav's for each crop.
    [[nodiscard]] std::uint64_t applied_parameters() const;
    /// `norm` and `embedding` are there for opt only, the fields of LlamaShape, AlbertShape, CoderShape,
    /// DalleShape or SwavShape in the place of `activation` for llama, albert, coder, dalle and swav.
    [[nodiscard]] nlohmann::json to_json() const;
    /// `malformed` with a sentence that names the field; also if parameters() exceeds parameters_max.
    [[nodiscard]] static Result<ModelSpec> from_json(const nlohmann::json& object);
};

/// The widths of one layer, whatever the family: H heads of queries, K of keys and values, D entries each.
struct LayerWidths {
    std::uint64_t heads = 0, kv_heads = 0, head_width = 0;
    std::uint64_t inner = 0;  // F, of what the MLP's output projection reads
    std::uint64_t up = 0;     // U = F, or 2 F where the MLP is gated
    [[nodiscard]] std::uint64_t attention() const { return heads * head_width; }                // A = H D
    [[nodiscard]] std::uint64_t joined() const { return (heads + 2 * kv_heads) * head_width; }  // Q = (H + 2 K) D
};
[[nodiscard]] LayerWidths layer_widths(const ModelSpec& spec);

/// Whether it fills gaps in texts and tells their order, instead of going on with a text.
[[nodiscard]] constexpr bool is_encoder(const ModelSpec& spec) { return spec.family == Family::albert; }
/// Whether its records are pictures, which it codes and draws again.
[[nodiscard]] constexpr bool is_coder(const ModelSpec& spec) { return spec.family == Family::coder; }

/// Whether it is a picture coder that was trained elsewhere, which codes and draws and learns nothing more.
[[nodiscard]] constexpr bool has_code_book(const ModelSpec& spec) {
    return is_coder(spec) && spec.coder.book.codes > 0;
}

/// Whether a picture coder's codes are those of a model that draws, place by place.
[[nodiscard]] bool fits_drawer(const ModelSpec& coder, const ModelSpec& drawer);

/// Whether it draws: goes on from a caption with the codes of a picture.
[[nodiscard]] constexpr bool is_drawer(const ModelSpec& spec) { return spec.family == Family::dalle; }

/// Whether it learns embeddings of pictures.
[[nodiscard]] constexpr bool is_embedder(const ModelSpec& spec) { return spec.family == Family::swav; }
/// Whether its records are pictures alone, not text.
[[nodiscard]] constexpr bool reads_pictures(const ModelSpec& spec) { return is_coder(spec) || is_embedder(spec); }

/// Whether its layers share weights, or it has none that could be taken one by one.
[[nodiscard]] constexpr bool is_one_block(const ModelSpec& spec) {
    return is_encoder(spec) || is_coder(spec) || is_drawer(spec) || is_embedder(spec);
}

/// Records that are computed at once, always, because what each loses depends on the others; 1: each is its own.
[[nodiscard]] constexpr std::uint32_t records_together(const ModelSpec& spec) {
    return is_embedder(spec) ? spec.swav.together : 1;
}

/// At most so many pictures, of `values` each, are compared with each other, so that they fit memory.
[[nodiscard]] constexpr std::uint64_t pictures_compared_max(std::uint64_t values) {
    return std::min<std::uint64_t>(1'000, (1ULL << 25U) / std::max<std::uint64_t>(1, values));
}

/// Entries of what the residual network makes of a picture, the mean over places of its last stage.
[[nodiscard]] std::uint64_t swav_features(const ModelSpec& spec);
/// Values of one crop at a part of the residual network, the stem or a block: what it takes in, and what its
/// convolutions put out.
struct SwavPart {
    std::uint64_t in = 0, values = 0;
};
/// What one crop of `side` costs: products of all convolutions, head and prototypes; values that convolutions put out,
/// and the most that one of them does; the same part by part.
struct SwavWork {
    std::uint64_t products = 0, values = 0, largest = 0;
    std::vector<SwavPart> parts;
};
[[nodiscard]] SwavWork swav_work(const ModelSpec& spec, std::uint32_t side);

/// What a code of a dalle's picture sees besides all of the caption and itself: of the codes before it those in its
/// row, those in its column, or those within two rows and columns of it.
enum class Sight { row, column, near };
inline constexpr std::uint32_t dalle_reach = 2;  // rows and columns, of Sight::near
/// Row, column, row, row and again; the last layer near.
[[nodiscard]] Sight dalle_sight(const ModelSpec& spec, std::uint32_t layer);
/// The set of weights that a layer applies.
[[nodiscard]] std::uint32_t dalle_block(const ModelSpec& spec, std::uint32_t layer);

/// What people call it: "GPT-2", "OPT", "Llama", "Qwen2", "Qwen3", "ALBERT", "picture coder", "DALL-E" or
/// "SwAV".
[[nodiscard]] const char* family_title(const ModelSpec& spec);

/// What the loss on validation data is compared with: how often a token follows another, or occurs at all, in the
/// training text, pictures of one colour, the mean of those trained on, or what is lost by thinking all clusters alike.
enum class Baseline { bigram, unigram, mean_colour, chance };
[[nodiscard]] Baseline baseline_of(Family family);
/// "bigram", "unigram", "mean colour" or "chance".
[[nodiscard]] const char* title_of(Baseline baseline);
/// What losses beside it are, as the heading of a chart or a table.
[[nodiscard]] const char* loss_title(Baseline baseline);

/// What a tensor is for. Initial values, decay, Muon, pruning and blocks go by it, not by names.
enum class Role {
    embedding,   // of tokens
    positions,   // learned, one row each
    projection,  // a matrix outside the layers
    head,        // of the model, where it is not the token embedding
    matrix,      // of a layer
    output,      // a matrix of a layer whose product is added to the residual stream
    gain,
    bias,
    scale,  // of what a layer adds to the residual stream, one for each channel
};

/// One tensor of the flat vector, at `offset` floats, row-major.
struct TensorSpec {
    std::string name;                  // as in HF checkpoints, for example "h.0.attn.c_attn.weight"
    std::vector<std::uint64_t> shape;  // gpt2: Conv1D weights are [in, out]; opt: Linear weights are [out, in]
    std::uint64_t offset = 0;          // in floats
    Role role = Role::matrix;
    std::optional<std::uint32_t> layer = {};  // none: the tensor is shared by all, or stands behind the last one
    [[nodiscard]] std::uint64_t elements() const;
    /// In a layer, between its activations: what Muon steps and 2:4 pruning prunes.
    [[nodiscard]] bool is_hidden_matrix() const { return role == Role::matrix || role == Role::output; }
    [[nodiscard]] bool decays() const { return role != Role::gain && role != Role::bias; }
};

/// All tensors in the order of the flat vector. A head that is tied to the token embedding is stored once.
/// gpt2: wte, wpe, then each layer's ln_1, attn, ln_2, mlp, then ln_f.
/// opt: embed_tokens, embed_positions [T + 2, C], project_in and project_out where the embedding has its own width,
/// then each layer's self_attn_layer_norm, the weights of q, k, v side by side, their biases side by side, out_proj,
/// final_layer_norm, fc1, fc2, then the decoder's final_layer_norm where norms stand before.
/// llama: embed_tokens, lm_head where it is not tied, then each layer's input_layernorm, the weights of q, k, v side by
/// side, their biases side by side or the gains of q_norm and k_norm where there are any, o_proj,
/// post_attention_layernorm, gate_proj and up_proj side by side, down_proj, then norm.
/// albert: embeddings of words, positions and segments, their LayerNorm, embedding_hidden_mapping_in, then the one
/// layer's query, key, value side by side, their biases side by side, dense, LayerNorm, ffn, ffn_output,
/// full_layer_layer_norm, then pooler, sop_classifier, and predictions' dense, LayerNorm and bias.
/// coder: as they are applied to a picture, convolutions [out, in, height, width] and their biases, norms before them.
/// dalle: the table of text and codes and its head's bias, norm, then each set of weights' attention (qkv, out) and
/// feed (up, down), then each layer's norms and scales.
/// swav: torchvision's names in their order, without fc and what norms remember; then projection_head, prototypes.
[[nodiscard]] std::vector<TensorSpec> tensors_of(const ModelSpec& spec);

/// Which way a matrix of a layer lies: inputs first as in GPT-2's Conv1D, or outputs first as in torch.nn.Linear.
enum class MatrixOrder { in_out, out_in };
[[nodiscard]] MatrixOrder matrix_order(Family family);

}  // namespace potluck::model
