// A config.json has dozens of fields, most of which are no business of the weights. Only those that decide how weights
// are used are picked out and read strictly; a field that is missing or null has the default of transformers'
// own configuration, because that is what the program that wrote the file relied on.
//
// A switch which our models know in one position only (scaled scores, tied embeddings, biases) is read all the same and
// refused in the other: ignoring it would train a different model without a word. The result passes through
// ModelSpec::from_json, so that limits are checked in one place. Writing is the reverse: what was written is parsed to
// the same spec, except for dropout, which belongs to training.
#include "core/model/hf_config.h"

#include <string>

#include "core/base/json.h"
#include "core/model/families.h"
#include "core/model/hf_fields.h"

namespace potluck::model {

namespace {

/// The family of a configuration that diffusers wrote; nullptr: it is not one of its, or of none that is known.
const FamilyRow* row_of_class(const nlohmann::json& config) {
    if (!config.is_object()) return nullptr;
    const auto name = config.find("_class_name");
    if (name == config.end()) return nullptr;
    for (const FamilyRow* row : family_rows())
        if (!row->hugging_face.class_name.empty() && *name == row->hugging_face.class_name) return row;
    return nullptr;
}

/// The family of a model_type; where it is none, `fields` remembers the fault.
const FamilyRow* row_of_type(Fields& fields) {
    const std::string wanted = fields.text("model_type", 64);
    for (const FamilyRow* row : family_rows()) {
        for (const char* type : row->hugging_face.model_types)
            if (wanted == type) return row;
    }
    fields.fail("model_type is not one this version trains (" + hugging_face_types() + ")");
    return nullptr;
}

}  // namespace

Result<ModelSpec> parse_hugging_face_config(ByteSpan text) {
    const Result<nlohmann::json> config = parse_json(as_text(text), hf_config_bytes_max);
    if (!config) return Error{config.error().code, "The config.json is unusable: " + config.error().message};
    if (const FamilyRow* row = row_of_class(*config); row != nullptr) return row->hugging_face.parse_class(*config);
    const nlohmann::json head = config->is_object() ? picked(*config, {"model_type", "quantization_config"}) : *config;
    Fields fields(head, "config.json");
    const FamilyRow* row = row_of_type(fields);
    if (fields.has("quantization_config"))
        fields.fail("its weights are quantised; take the model in fp32, bf16 or fp16");
    if (const Status status = fields.finish(); !status) return status.error();
    return row->hugging_face.parse(*config);
}

std::string hugging_face_types() {
    std::string known;
    for (const FamilyRow* row : family_rows()) {
        for (const char* type : row->hugging_face.model_types) known += (known.empty() ? "" : ", ") + std::string(type);
    }
    return known;
}

nlohmann::json hugging_face_config(const ModelSpec& model) { return row_of(model.family).hugging_face.config(model); }

}  // namespace potluck::model
