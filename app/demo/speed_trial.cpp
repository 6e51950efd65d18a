#include "app/demo/speed_trial.h"

#include <limits>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

#include "app/demo/processor_use.h"

namespace potluck::node {

namespace {

struct Trial {
    unsigned volunteers = 0, ended = 0;
    Pace sum;
    std::optional<Error> failure;
    std::optional<ProcessorUse> before;
    std::function<void(const Result<Pace>&)> done;
};

void add(Trial& trial, const Result<LoneOutcome>& outcome) {
    ++trial.ended;
    if (!outcome) {
        if (!trial.failure) trial.failure = outcome.error();
    } else {
        const double seconds = outcome->seconds > 0 ? outcome->seconds : 1;
        trial.sum.tokens_per_second += outcome->tokens / seconds / trial.volunteers;
        trial.sum.start_seconds += outcome->start_seconds / trial.volunteers;
        trial.sum.device = outcome->device;
    }
    if (trial.ended < trial.volunteers) return;
    if (trial.failure) return trial.done(*trial.failure);
    const auto now = read_processor_use();
    if (trial.before && now) trial.sum.others = others_share(*trial.before, *now);
    trial.done(trial.sum);
}

}  // namespace

void measure_pace(boost::asio::io_context& loop, const LoneTraining& training, unsigned volunteers,
                  std::function<void(const Result<Pace>&)> done) {
    const auto trial = std::make_shared<Trial>();
    trial->volunteers = volunteers;
    trial->before = read_processor_use();
    trial->done = std::move(done);
    for (unsigned i = 0; i < volunteers; ++i) {
        LoneTraining one = training;
        one.vector_file += std::to_string(i);
        one.load.threads = 1;
        one.tokens = std::numeric_limits<double>::max();
        one.time_max = std::chrono::duration<double>(trial_seconds);
        one.evaluate.reset();
        train_alone(loop, std::move(one), [trial, file = one.vector_file](const Result<LoneOutcome>& outcome) {
            std::error_code ignored;
            std::filesystem::remove(file, ignored);
            add(*trial, outcome);
        });
    }
}

}  // namespace potluck::node
