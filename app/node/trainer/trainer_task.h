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
    std::optional<control::LoadRequest> load = std::nullopt;  // what evaluate and sample need first
    std::chrono::seconds patience{180};
};

/// For what devices there are: each is measured, and a driver may take a while to start.
inline constexpr std::chrono::seconds detect_patience{30};

/// As ask_trainer(), for a method by its name.
void ask_trainer_by_name(boost::asio::io_context& loop, TrainerQuestion question, std::string method,
                         nlohmann::json params, std::function<void(Result<nlohmann::json>)> done);

template <control::MethodCall Call>
[[nodiscard]] Result<typename Call::Reply> read_trainer_reply(const Result<nlohmann::json>& answer) {
    if (!answer) return answer.error();
    typename Call::Reply reply;
    if (from_json(*answer, reply)) return reply;
    return Error{ErrorCode::malformed, "The trainer is another version than this program; install both together."};
}

/// `done` is called once, from the loop, with the reply.
template <control::MethodCall Call, class Done>
void ask_trainer(boost::asio::io_context& loop, TrainerQuestion question, const Call& call, Done done) {
    ask_trainer_by_name(
        loop, std::move(question), std::string(Call::name), to_json(call),
        [done = std::move(done)](const Result<nlohmann::json>& answer) { done(read_trainer_reply<Call>(answer)); });
}

}  // namespace potluck::node
