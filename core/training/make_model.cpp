#include "core/training/make_model.h"

#include "core/training/decoder/decoder.h"
#include "core/training/encoder/encoder.h"

namespace potluck::training {

std::unique_ptr<Model> make_model(const model::ModelSpec& spec, const ModelOptions& options) {
    if (spec.family == model::Family::albert) return std::make_unique<Encoder>(spec, options);
    return std::make_unique<Decoder>(spec, options);
}

}  // namespace potluck::training
