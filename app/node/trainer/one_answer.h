// One question to a trainer from the command line, without a node: runs a loop of its own until the answer is there.
// Threads: one; blocks as long as the question is patient.
#pragma once

#include <string>

#include "app/node/trainer/trainer_task.h"

namespace potluck::node {

template <class Value>
struct OneAnswer {
    Result<Value> result;
    std::string log;  // the end of what the trainer wrote to standard error
};

/// As ask_once(), for a method by its name.
[[nodiscard]] OneAnswer<nlohmann::json> ask_once_by_name(TrainerQuestion question, std::string method,
                                                         nlohmann::json params);

/// Fills in the question's error file, which is removed afterwards. `not_found` with what to do if there is no trainer
/// program.
template <control::MethodCall Call>
[[nodiscard]] OneAnswer<typename Call::Reply> ask_once(TrainerQuestion question, const Call& call) {
    auto answer = ask_once_by_name(std::move(question), std::string(Call::name), to_json(call));
    return {read_trainer_reply<Call>(answer.result), std::move(answer.log)};
}

}  // namespace potluck::node
