// What sets one family of models apart, as one row of a table: its fields in JSON, its tensors and how many numbers
// those hold, its names at Hugging Face, how its weights begin, what its records are and what is measured of it. Each
// row stands in a source of its family's name; families.cpp lists them. Private to core/model: other rooms ask
// model_spec.h and traits.h.
//
// Does not: compute a model. The arithmetic is in core/training.
//
// Pure. Threads: any.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/json.h"
#include "core/model/model_spec.h"
#include "core/model/presets.h"
#include "core/model/traits.h"

namespace potluck::model {

/// A head of a checkpoint that is stored under a name of its own.
inline constexpr std::string_view head_name = "lm_head.weight";

/// Its configuration and its tensors in checkpoints of transformers, or of a model_type of our own.
struct HuggingFaceNames {
    std::span<const char* const> model_types;
    /// `config` is an object with one of the model_types.
    Result<ModelSpec> (*parse)(const nlohmann::json& config) = nullptr;
    nlohmann::json (*config)(const ModelSpec& spec) = nullptr;
    /// A tensor's name as tensors_of() has it, from one without or with wrappers; nullptr: as it is stored.
    std::string (*canonical)(std::string_view name) = nullptr;
    /// Whether a tensor, by its canonical name, is no parameter; nullptr: none is left out.
    bool (*is_left_out)(std::string_view name) = nullptr;
    /// Second name under which the last tensor may be stored as well; empty: it has none.
    std::string_view twin_of_last = {};
    /// `_class_name` of a configuration that diffusers writes, which `parse_class` takes; empty: there is none.
    std::string_view class_name = {};
    Result<ModelSpec> (*parse_class)(const nlohmann::json& config) = nullptr;
};

/// How weights begin, biases at zero and gains at one apart.
struct InitialWeights {
    /// Standard deviation of the normal distribution.
    double (*deviation)(const ModelSpec& spec, const TensorSpec& tensor) = nullptr;
    bool linear = false;  // maps that are no convolutions begin as torch.nn.Linear does, their biases too
};

/// A size that people ask for by name.
struct Preset {
    const char* name;
    std::uint32_t vocabulary, context, layers, heads, width;
    void (*shape)(ModelSpec& model) = nullptr;  // makes what the family has besides; nullptr: the defaults
};

/// Answers of a family whose records hold marks, pictures or captions; nullptr where it has no such thing.
struct RecordTraits {
    std::optional<TextMarks> (*marks)(const ModelSpec& spec) = nullptr;
    void (*set_marks)(ModelSpec& spec, const TextMarks& marks) = nullptr;
    std::uint32_t (*side)(const ModelSpec& spec) = nullptr;
    ModelSpec (*with_side)(const ModelSpec& preset, std::uint32_t side) = nullptr;
    std::uint32_t (*clusters)(const ModelSpec& spec) = nullptr;
    void (*set_clusters)(ModelSpec& spec, std::uint32_t clusters) = nullptr;
    void (*set_together)(ModelSpec& spec, std::uint32_t records) = nullptr;
    CaptionShape (*captions)(const ModelSpec& spec) = nullptr;
    void (*set_caption)(ModelSpec& spec, std::uint32_t tokens) = nullptr;
};

struct FamilyRow {
    Family family;
    const char* name;  // in manifests
    const char* (*title)(const ModelSpec& spec);
    DataKind data = DataKind::text;
    Baseline baseline = Baseline::bigram;
    std::span<const Measure> measures = {};
    MatrixOrder order = MatrixOrder::out_in;

    /// Reads the fields of its shape; faults are remembered by `fields`. Vocabulary, context, layers, heads, width and
    /// dropout are there already.
    void (*read)(Fields& fields, ModelSpec& spec);
    void (*write)(const ModelSpec& spec, nlohmann::json& object);
    std::uint64_t (*parameters)(const ModelSpec& spec);
    /// nullptr: all of them are applied once to each token.
    std::uint64_t (*applied_parameters)(const ModelSpec& spec) = nullptr;
    std::vector<TensorSpec> (*tensors)(const ModelSpec& spec);
    /// nullptr: it has no attention.
    LayerWidths (*widths)(const ModelSpec& spec) = nullptr;
    InitialWeights initial;
    HuggingFaceNames hugging_face;
    std::span<const Preset> presets;
    /// Keeps proportions where `model` is `preset` with other layers, heads or width; nullptr: there are none to keep.
    void (*reshape)(const ModelSpec& preset, ModelSpec& model) = nullptr;
    RecordTraits records = {};
    bool takes_relu = false;  // instead of its own activation
};

/// Each in the source of its name.
extern const FamilyRow gpt2_row, opt_row, llama_row, albert_row, coder_row, dalle_row, swav_row;

[[nodiscard]] std::span<const FamilyRow* const> family_rows();
[[nodiscard]] const FamilyRow& row_of(Family family);

/// GPT-2's: what writes to the residual stream begins smaller the more layers there are.
[[nodiscard]] inline double decoder_deviation(const ModelSpec& spec, const TensorSpec& tensor, double usual = 0.02) {
    return tensor.role == Role::output ? usual / std::sqrt(2.0 * spec.layers) : usual;
}

/// Heads that share the width evenly, with keys and values of their own, and an MLP that is not gated.
[[nodiscard]] inline LayerWidths even_widths(const ModelSpec& spec, std::uint64_t inner) {
    return {.heads = spec.heads,
            .kv_heads = spec.heads,
            .head_width = spec.width / spec.heads,
            .inner = inner,
            .up = inner};
}

/// Four times the width, as GPT-2 and OPT have it.
[[nodiscard]] inline std::uint64_t decoder_layer_parameters(std::uint64_t c) {
    const std::uint64_t norms = 2 * 2 * c, attention = 3 * c * c + 3 * c + c * c + c;
    return norms + attention + 4 * c * c + 4 * c + 4 * c * c + c;
}

/// "activation" of GPT-2 and OPT.
[[nodiscard]] Activation read_activation(Fields& fields);
[[nodiscard]] const char* activation_name(Activation activation);
/// "activation_function" of their config.json.
void read_hf_activation(Fields& fields, ModelSpec& model, std::string_view fallback);
/// What stands in every config.json of the two that we write.
[[nodiscard]] nlohmann::json decoder_config(const ModelSpec& model);
inline constexpr double hf_norm_epsilon = 1e-5;

/// Cuts `prefix` off, if it is there.
inline bool strip(std::string_view& name, std::string_view prefix) {
    if (!name.starts_with(prefix)) return false;
    name.remove_prefix(prefix.size());
    return true;
}

}  // namespace potluck::model
