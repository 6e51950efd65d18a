#include "app/node/trainer/one_answer.h"

#include <fstream>
#include <optional>
#include <random>
#include <sstream>

#include <boost/asio/io_context.hpp>

#include "app/node/trainer/line_process.h"

namespace potluck::node {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t log_bytes_max = 64 * 1024;

/// A name that no other program guesses: the folder for temporary files is everybody's.
fs::path log_file() {
    std::random_device random;
    std::error_code unknown;
    const fs::path folder = fs::temp_directory_path(unknown);
    const std::string name = "potluck-trainer-" + std::to_string(random()) + std::to_string(random()) + ".log";
    return unknown ? fs::path() : folder / name;
}

std::string end_of(const fs::path& file) {
    std::ifstream stream(file, std::ios::binary);
    std::ostringstream text;
    text << stream.rdbuf();
    const std::string all = text.str();
    return all.size() > log_bytes_max ? all.substr(all.size() - log_bytes_max) : all;
}

}  // namespace

OneAnswer<nlohmann::json> ask_once_by_name(TrainerQuestion question, std::string method, nlohmann::json params) {
    std::error_code unknown;
    if (!fs::exists(question.program, unknown)) return {Error{ErrorCode::not_found, no_trainer(question.program)}, {}};
    question.error_file = log_file();
    const fs::path log = question.error_file;
    boost::asio::io_context loop;
    std::optional<Result<nlohmann::json>> answer;
    ask_trainer_by_name(loop, std::move(question), std::move(method), std::move(params),
                        [&](Result<nlohmann::json> result) {
                            answer = std::move(result);
                            loop.stop();
                        });
    loop.run();
    OneAnswer<nlohmann::json> outcome{
        answer ? *std::move(answer) : Error{ErrorCode::unavailable, "The trainer gave no answer."},
        log.empty() ? std::string() : end_of(log)};
    if (!log.empty()) fs::remove(log, unknown);
    return outcome;
}

}  // namespace potluck::node
