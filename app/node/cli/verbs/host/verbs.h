// The verbs of who hosts a run, or stands in for its host.
// Threads: any.
#pragma once

#include <memory>

#include "app/node/cli/verb.h"

namespace potluck::node {

[[nodiscard]] std::unique_ptr<Verb> host_verb();
[[nodiscard]] std::unique_ptr<Verb> invite_verb();
[[nodiscard]] std::unique_ptr<Verb> committee_verb();
[[nodiscard]] std::unique_ptr<Verb> moderate_verb();
[[nodiscard]] std::unique_ptr<Verb> page_verb();

}  // namespace potluck::node
