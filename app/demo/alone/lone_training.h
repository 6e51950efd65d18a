// One computer alone, to hold a swarm against: a trainer without a swarm on the run's shards, over a schedule as long
// as its own tokens, and the loss it ends with. How many tokens it needs for the swarm's loss, divided by what one
// volunteer trained, is how many computers the swarm was worth.
// Threads: the loop's. Owns: the trainer's process, until `done` was called.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "core/base/result.h"
#include "core/control/trainer_protocol.h"

namespace potluck::node {

struct LoneTraining {
    std::filesystem::path program, error_file;
    std::filesystem::path vector_file;                 // of its parameters at the end; it is written
    control::LoadRequest load;                         // from the run's first state
    std::vector<control::TrainRequest> shards;         // taken in turn; each with its own learning rate and round
    std::optional<control::EvaluateRequest> evaluate;  // its state is filled in; nothing: no loss is asked for
    double tokens = 0;                                 // to train
    std::chrono::duration<double> time_max{};          // within which it ends with fewer; 0: however long they take
    std::chrono::seconds silence_max{180};             // of the trainer
};

struct LoneOutcome {
    double tokens = 0;                          // trained
    double seconds = 0;                         // in which they were
    double start_seconds = 0;                   // from the start of the trainer until it had the model
    double loss = 0;                            // on the validation records, if it was asked for
    std::vector<control::Figure> figures = {};  // of its family, on them
    std::string device = {};                    // what it computed on, for people
};

/// `done` is called once, from the loop.
void train_alone(boost::asio::io_context& loop, LoneTraining training,
                 std::function<void(const Result<LoneOutcome>&)> done);

/// What one computer alone reached with `times` one volunteer's tokens.
struct LonePoint {
    double times = 0;
    double loss = 0;
};

/// How many computers a swarm with this loss was worth, between two points in log(tokens); `points` by rising times,
/// at least one. Beyond the ends only a bound is known.
struct Worth {
    enum class Bound { none, upper, lower } bound = Bound::none;
    double computers = 0;
};
[[nodiscard]] Worth worth_of(const std::vector<LonePoint>& points, double loss);

}  // namespace potluck::node
