// Questions about a model that other rooms ask instead of naming its family: what its records are, which tokens of them
// mean something, which pictures it takes, what is measured of it. Each answer stands in the family's own row
// (families.h), so the next family changes no caller.
//
// Does not: say what a model computes, nor what that takes (model_spec.h, cost_model.h).
//
// Pure. Threads: any.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/model_spec.h"

namespace potluck::model {

/// What one record of its data is. text: tokens that follow each other. pairs: two texts between marks. pictures:
/// pixels of one picture, and a class where it has one. captions: a caption and the codes of its picture.
enum class DataKind { text, pairs, pictures, captions };
[[nodiscard]] DataKind data_kind(const ModelSpec& spec);
/// Whether its records are made of pictures, with captions or without.
[[nodiscard]] bool takes_pictures(const ModelSpec& spec);

/// A figure that is measured on validation data besides the loss. Labels and units are English and stay short: they go
/// through control as they are, and a window translates those it knows.
struct Measure {
    std::string_view label, unit;
    enum class Better { lower, higher } better = Better::lower;
};
/// In the order in which a trainer lists their values; empty for a model that has none but its loss.
[[nodiscard]] std::span<const Measure> measures_of(const ModelSpec& spec);
/// The measures of all families.
[[nodiscard]] std::vector<Measure> all_measures();
/// Whether a value of the measure with this label is better than another; false for a label that no family has.
[[nodiscard]] bool beats(std::string_view label, double value, double other);
/// Nats per code of a model that draws.
inline constexpr std::string_view code_loss_label = "code loss";

/// Tokens that no text has: behind a record's texts, before them, behind each of them, and in a gap.
struct TextMarks {
    std::uint32_t pad = 0, cls = 0, sep = 0, mask = 0;
    bool operator==(const TextMarks&) const = default;
};
inline constexpr std::uint32_t text_marks_count = 4;
/// Nothing for a model whose text has no marks.
[[nodiscard]] std::optional<TextMarks> text_marks(const ModelSpec& spec);
/// Only for a model that has marks.
void set_text_marks(ModelSpec& spec, const TextMarks& marks);

/// Side of the pictures that it takes, in pixels; 0 for a model that takes none.
[[nodiscard]] std::uint32_t picture_side(const ModelSpec& spec);

/// Clusters that a model that embeds pictures sorts them into; 0 for any other.
[[nodiscard]] std::uint32_t clusters_of(const ModelSpec& spec);
/// Only for a model that embeds pictures.
void set_clusters(ModelSpec& spec, std::uint32_t clusters);
inline constexpr std::uint32_t clusters_max = swav_prototypes_max;
/// How many pictures are computed together, records_together. Only for a model that embeds pictures.
void set_records_together(ModelSpec& spec, std::uint32_t records);
inline constexpr std::uint32_t records_together_min = swav_together_min, records_together_max = swav_together_max;

/// A record of captions: caption_begin, `text` tokens below `vocabulary`, caption_fill where the caption has fewer, and
/// grid * grid codes of the picture, row by row, each `vocabulary` and its number.
struct CaptionShape {
    std::uint32_t text = 0, vocabulary = 0, grid = 0;
};
inline constexpr std::uint32_t caption_begin = dalle_begin, caption_fill = dalle_fill;
/// All zero for a model that does not draw.
[[nodiscard]] CaptionShape caption_shape(const ModelSpec& spec);
/// Only for a model that draws; its context follows with drawer_with().
void set_caption_tokens(ModelSpec& spec, std::uint32_t tokens);
/// A model that draws, of default sizes but for the tokens of a caption, to be fitted to a coder with drawer_with().
[[nodiscard]] ModelSpec drawer_of_captions(std::uint32_t tokens);
inline constexpr std::uint32_t caption_tokens_usual = DalleShape{}.text;
[[nodiscard]] inline bool is_caption_record(const ModelSpec& spec, std::span<const Token> record) {
    return is_dalle_record(spec, record);
}
/// The loss of a record with these means over its caption and its codes.
[[nodiscard]] constexpr double caption_loss(double text, double codes) { return dalle_loss_of(text, codes); }

/// Whether it may be trained with ReLU in the place of its own activation.
[[nodiscard]] bool takes_relu(const ModelSpec& spec);

/// A kind of model, as a question of model_spec.h: is_drawer, reads_pictures ...
using Kind = bool (*)(const ModelSpec&);
/// Titles of the families of the kind, as in a sentence: "picture coder or SwAV".
[[nodiscard]] std::string titles_of(Kind kind);
/// The first preset of each family of the kind, likewise: "coder-small or swav-tiny".
[[nodiscard]] std::string presets_of(Kind kind);
/// Those of all families, in the table's order, each with its name in manifests.
struct FamilyPreset {
    std::string_view family, preset;
};
[[nodiscard]] std::vector<FamilyPreset> first_presets();

}  // namespace potluck::model
