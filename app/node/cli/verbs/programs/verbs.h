// The verbs that other programs use: windows, shells, packages.
// Threads: any.
#pragma once

#include <memory>

#include "app/node/cli/verb.h"

namespace potluck::node {

[[nodiscard]] std::unique_ptr<Verb> serve_verb();
[[nodiscard]] std::unique_ptr<Verb> control_verb();
[[nodiscard]] std::unique_ptr<Verb> pack_verb();
[[nodiscard]] std::unique_ptr<Verb> release_index_verb();
[[nodiscard]] std::unique_ptr<Verb> completion_verb();
[[nodiscard]] std::unique_ptr<Verb> manual_verb();

}  // namespace potluck::node
