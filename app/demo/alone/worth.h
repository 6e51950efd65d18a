// What a swarm is held against: one computer alone on the same run's data, with one volunteer's tokens, twice as many
// and so on, until it is better than the swarm; and the loss of any state of the run, measured by the same trainer.
// Threads: the loop's. Owns: a trainer at a time, until `done` was called.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "app/demo/alone/lone_training.h"
#include "core/base/result.h"
#include "core/control/trainer_protocol.h"
#include "core/run/manifest.h"

namespace potluck::node {

/// A run on this computer's disk, and what measures it.
struct RunOnDisk {
    std::filesystem::path trainer_program;
    std::filesystem::path notes;   // folder for the trainers' errors and for what they write
    std::filesystem::path folder;  // of the run, with all its shards
};

/// One computer alone on the run's shards, over a schedule as long as its own tokens, which are to be filled in.
[[nodiscard]] LoneTraining training_alone(const RunOnDisk& run, const run::Manifest& manifest);

/// The loss and figures of a state on the validation records.
void measure_state(boost::asio::io_context& loop, const RunOnDisk& run, const run::Manifest& manifest,
                   const std::filesystem::path& state, std::function<void(const Result<control::EvaluateReply>&)> done);

struct WorthQuestion {
    RunOnDisk run;
    run::Manifest manifest;
    double tokens = 0;  // of a volunteer that was there throughout
    double loss = 0;    // that the swarm ended with
};

/// `points` are what was measured until it ended, well or not.
struct AloneReached {
    std::vector<LonePoint> points;
    Status ended;
};

/// `say` gets a line for people before each training; `done` is called once.
void measure_alone(boost::asio::io_context& loop, WorthQuestion question, std::function<void(const std::string&)> say,
                   std::function<void(const AloneReached&)> done);

}  // namespace potluck::node
