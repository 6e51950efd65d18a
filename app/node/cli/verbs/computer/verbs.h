// The verbs about this computer and its owner, and the demo.
// Threads: any.
#pragma once

#include <memory>

#include "app/node/cli/verb.h"

namespace potluck::node {

[[nodiscard]] std::unique_ptr<Verb> doctor_verb();
[[nodiscard]] std::unique_ptr<Verb> plan_verb();
[[nodiscard]] std::unique_ptr<Verb> trainer_verb();
[[nodiscard]] std::unique_ptr<Verb> updates_verb();
[[nodiscard]] std::unique_ptr<Verb> identity_verb();
[[nodiscard]] std::unique_ptr<Verb> move_data_verb();
[[nodiscard]] std::unique_ptr<Verb> demo_verb();

}  // namespace potluck::node
