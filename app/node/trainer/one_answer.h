// One question to a trainer from the command line, without a node: runs a loop of its own until the answer is there.
// Threads: one; blocks as long as the question is patient.
#pragma once

#include <string>

#include "app/node/trainer/trainer_task.h"

namespace potluck::node {

struct OneAnswer {
    Result<nlohmann::json> result;
    std::string log;  // the end of what the trainer wrote to standard error
};

/// Fills in the question's error file, which is removed afterwards. `not_found` with what to do if there is no trainer
/// program.
[[nodiscard]] OneAnswer ask_once(TrainerQuestion question);

}  // namespace potluck::node
