// The options that say which model `host` makes, and that model.
#pragma once

#include <cstdint>
#include <string>

#include "app/node/starting/host_run.h"
#include "core/base/result.h"
#include "core/model/model_spec.h"

namespace CLI {
class App;
}

namespace potluck::node {

/// As they were typed; 0: as the preset has it.
struct ModelOptions {
    std::string preset = "tiny";
    std::uint32_t layers = 0, heads = 0, width = 0, context = 0, side = 0, caption = 0, prototypes = 0, together = 0;
    float dropout = 0;
    bool relu = false;
};

/// What they are read into must outlive the parser.
void add_model_options(CLI::App& host, HostPlan& plan, ModelOptions& options);

/// The model to be made; of one that begins with a checkpoint, dropout alone counts. `invalid_argument` with a sentence
/// about an option that is not for this kind of model.
[[nodiscard]] Result<model::ModelSpec> model_of(const ModelOptions& options);

}  // namespace potluck::node
