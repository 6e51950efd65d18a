// One question to a trainer of its own: starts the program, loads a state if the question is about one, asks, ends it.
// Training that goes on in another trainer is not disturbed.
// Threads: the loop's. Owns: the child, until `done` was called.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include <boost/asio/io_context.hpp>
#include <nlohmann/json.hpp>

#include "core/base/result.h"
#include "core/control/trainer_protocol.h"

namespace potluck::node {

struct TrainerQuestion {
    std::filesystem::path program, error_file;
    std::optional<control::LoadRequest> load = std::nullopt;
    std::string method;  // "detect", "plan"; after a load "evaluate", "sample"
    nlohmann::json params;
    std::chrono::seconds patience{180};
};

/// `done` is called once, from the loop, with the reply's result.
void ask_trainer(boost::asio::io_context& loop, TrainerQuestion question,
                 std::function<void(Result<nlohmann::json>)> done);

}  // namespace potluck::node
