// From a spec follow the names, shapes and order of its tensors, and from their order the flat parameter vector. That
// order is part of the protocol: the digest of a state, the chunks of a payload and the slices of the optimizer all
// count along it, so it may never change for a family that is in use.
//
// parameters() is the closed form of what tensors_of() adds up; it is asked of a stranger's spec before any list is
// made of it, and the fields' ranges keep it within 64 bits. A test holds the two together. What a family has of its
// own stands in its row (families.h).
#include "core/model/model_spec.h"

#include "core/base/json.h"
#include "core/model/families.h"

namespace potluck::model {

namespace {

Family read_family(Fields& fields) {
    const std::string name = fields.text("family", 16);
    std::string known;
    for (const FamilyRow* row : family_rows()) {
        if (name == row->name) return row->family;
        known += (known.empty() ? "" : ", ") + std::string(row->name);
    }
    fields.fail("family is not one this version knows (" + known + ")");
    return Family::gpt2;
}

}  // namespace

std::uint64_t ModelSpec::parameters() const { return row_of(family).parameters(*this); }

std::uint64_t ModelSpec::applied_parameters() const {
    const auto applied = row_of(family).applied_parameters;
    return applied != nullptr ? applied(*this) : parameters();
}

nlohmann::json ModelSpec::to_json() const {
    const FamilyRow& row = row_of(family);
    nlohmann::json object = {{"family", row.name}, {"vocabulary", vocabulary}, {"context", context}, {"layers", layers},
                             {"heads", heads},     {"width", width},           {"dropout", dropout}};
    row.write(*this, object);
    return object;
}

Result<ModelSpec> ModelSpec::from_json(const nlohmann::json& object) {
    Fields fields(object, "model");
    const auto count = [&](std::string_view name, std::uint64_t low, std::uint64_t high) {
        return static_cast<std::uint32_t>(fields.integer(name, low, high));
    };
    ModelSpec spec;
    spec.family = read_family(fields);
    const FamilyRow& row = row_of(spec.family);
    spec.vocabulary = count("vocabulary", 2, 1'048'576);
    const bool pictures = row.data == DataKind::pictures;
    spec.context = count("context", 8, pictures ? 3 * swav_side_max * swav_side_max : 16'384);
    spec.layers = count("layers", 1, 256);
    spec.heads = count("heads", 1, 16'384);
    spec.width = count("width", 8, 16'384);
    spec.dropout = static_cast<float>(fields.number("dropout", 0.0, 0.9));
    row.read(fields, spec);
    if (spec.width % spec.heads != 0) fields.fail("heads does not divide width");
    if (spec.parameters() > parameters_max) fields.fail("it has more than 20,000,000,000 parameters");
    if (const Status status = fields.finish(); !status) return status.error();
    return spec;
}

std::uint64_t TensorSpec::elements() const {
    std::uint64_t product = 1;
    for (const std::uint64_t dimension : shape) product *= dimension;
    return product;
}

std::vector<TensorSpec> tensors_of(const ModelSpec& spec) { return row_of(spec.family).tensors(spec); }

LayerWidths layer_widths(const ModelSpec& spec) {
    const auto widths = row_of(spec.family).widths;
    return widths != nullptr ? widths(spec) : LayerWidths();
}

const char* family_title(const ModelSpec& spec) { return row_of(spec.family).title(spec); }

Baseline baseline_of(Family family) { return row_of(family).baseline; }

const char* title_of(Baseline baseline) {
    switch (baseline) {
        case Baseline::bigram: return "bigram";
        case Baseline::unigram: return "unigram";
        case Baseline::mean_colour: return "mean colour";
        case Baseline::chance: break;
    }
    return "chance";
}

const char* loss_title(Baseline baseline) {
    const bool of_picture = baseline == Baseline::mean_colour || baseline == Baseline::chance;
    return of_picture ? "Loss of a picture" : "Loss in nats per token";
}

MatrixOrder matrix_order(Family family) { return row_of(family).order; }

}  // namespace potluck::model
