// The table of families, and the answers of traits.h, each of which is a look at the family's row.
#include "core/model/families.h"

#include <algorithm>
#include <array>

#include "core/base/check.h"

namespace potluck::model {

namespace {

/// In the order in which presets and messages name them. The next family is one more row here.
constexpr std::array rows = {&gpt2_row, &opt_row, &llama_row, &albert_row, &coder_row, &dalle_row, &swav_row};

ModelSpec first_of(const FamilyRow& row) { return *model_preset(row.presets.front().name); }

/// "a", "a or b", "a, b or c".
std::string either(const std::vector<std::string>& names) {
    std::string text;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (i > 0) text += i + 1 == names.size() ? " or " : ", ";
        text += names[i];
    }
    return text;
}

}  // namespace

std::span<const FamilyRow* const> family_rows() { return rows; }

const FamilyRow& row_of(Family family) {
    const auto row = std::ranges::find(rows, family, [](const FamilyRow* one) { return one->family; });
    POTLUCK_CHECK(row != rows.end());
    return **row;
}

DataKind data_kind(const ModelSpec& spec) { return row_of(spec.family).data; }

bool takes_pictures(const ModelSpec& spec) {
    return data_kind(spec) == DataKind::pictures || data_kind(spec) == DataKind::captions;
}

std::span<const Measure> measures_of(const ModelSpec& spec) { return row_of(spec.family).measures; }

std::vector<Measure> all_measures() {
    std::vector<Measure> all;
    for (const FamilyRow* row : rows) all.insert(all.end(), row->measures.begin(), row->measures.end());
    return all;
}

bool beats(std::string_view label, double value, double other) {
    for (const Measure& measure : all_measures()) {
        if (measure.label != label) continue;
        return measure.better == Measure::Better::higher ? value > other : value < other;
    }
    return false;
}

std::optional<TextMarks> text_marks(const ModelSpec& spec) {
    const auto marks = row_of(spec.family).records.marks;
    return marks != nullptr ? marks(spec) : std::nullopt;
}

void set_text_marks(ModelSpec& spec, const TextMarks& marks) {
    const auto set = row_of(spec.family).records.set_marks;
    POTLUCK_CHECK(set != nullptr);
    set(spec, marks);
}

std::uint32_t picture_side(const ModelSpec& spec) {
    const auto side = row_of(spec.family).records.side;
    return side != nullptr ? side(spec) : 0;
}

std::uint32_t clusters_of(const ModelSpec& spec) {
    const auto clusters = row_of(spec.family).records.clusters;
    return clusters != nullptr ? clusters(spec) : 0;
}

void set_clusters(ModelSpec& spec, std::uint32_t clusters) {
    const auto set = row_of(spec.family).records.set_clusters;
    POTLUCK_CHECK(set != nullptr);
    set(spec, clusters);
}

void set_records_together(ModelSpec& spec, std::uint32_t records) {
    const auto set = row_of(spec.family).records.set_together;
    POTLUCK_CHECK(set != nullptr);
    set(spec, records);
}

CaptionShape caption_shape(const ModelSpec& spec) {
    const auto shape = row_of(spec.family).records.captions;
    return shape != nullptr ? shape(spec) : CaptionShape();
}

void set_caption_tokens(ModelSpec& spec, std::uint32_t tokens) {
    const auto set = row_of(spec.family).records.set_caption;
    POTLUCK_CHECK(set != nullptr);
    set(spec, tokens);
}

ModelSpec drawer_of_captions(std::uint32_t tokens) {
    ModelSpec spec;
    spec.family = Family::dalle;
    set_caption_tokens(spec, tokens);
    return spec;
}

bool takes_relu(const ModelSpec& spec) { return row_of(spec.family).takes_relu; }

std::string titles_of(Kind kind) {
    std::vector<std::string> titles;
    for (const FamilyRow* row : rows)
        if (const ModelSpec spec = first_of(*row); kind(spec)) titles.emplace_back(row->title(spec));
    return either(titles);
}

std::string presets_of(Kind kind) {
    std::vector<std::string> names;
    for (const FamilyRow* row : rows)
        if (kind(first_of(*row))) names.emplace_back(row->presets.front().name);
    return either(names);
}

std::vector<FamilyPreset> first_presets() {
    std::vector<FamilyPreset> all;
    for (const FamilyRow* row : rows) all.push_back({row->name, row->presets.front().name});
    return all;
}

}  // namespace potluck::model
