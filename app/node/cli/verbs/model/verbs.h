// The verbs about a run's model.
// Threads: any.
#pragma once

#include <memory>

#include "app/node/cli/verb.h"

namespace potluck::node {

[[nodiscard]] std::unique_ptr<Verb> checkpoints_verb();
[[nodiscard]] std::unique_ptr<Verb> export_verb();
[[nodiscard]] std::unique_ptr<Verb> verify_verb();
[[nodiscard]] std::unique_ptr<Verb> sample_verb();

}  // namespace potluck::node
