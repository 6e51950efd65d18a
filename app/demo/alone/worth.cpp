#include "app/demo/alone/worth.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>

#include "app/demo/alone/run_files.h"
#include "app/node/trainer/trainer_task.h"
#include "core/base/text.h"
#include "core/model/state_layout.h"

namespace potluck::node {

namespace fs = std::filesystem;

namespace {

constexpr int stretches = 60;  // of the learning rate's schedule of one computer alone
constexpr double times_max = 16;
constexpr std::chrono::seconds evaluate_timeout{600};  // of a computer that is slow and busy

struct Alone : std::enable_shared_from_this<Alone> {
    Alone(boost::asio::io_context& of, WorthQuestion asked) : loop(of), question(std::move(asked)) {}

    void train(double times) {
        const double one = question.tokens;
        say(formatted("training one computer alone with %.0f tokens, %g times a volunteer's", times * one, times));
        LoneTraining training = training_alone(question.run, question.manifest);
        training.tokens = times * one;
        train_alone(loop, std::move(training), [self = shared_from_this(), times](const Result<LoneOutcome>& outcome) {
            self->trained(times, outcome);
        });
    }

    void trained(double times, const Result<LoneOutcome>& outcome) {
        if (!outcome) {
            reached.ended =
                Error{outcome.error().code, "One computer alone could not be measured: " + outcome.error().message};
            return done(reached);
        }
        reached.points.push_back({outcome->tokens / question.tokens, outcome->loss});
        if (outcome->loss > question.loss && times < times_max) return train(2 * times);
        done(reached);
    }

    boost::asio::io_context& loop;
    const WorthQuestion question;
    std::function<void(const std::string&)> say;
    std::function<void(const AloneReached&)> done;
    AloneReached reached;
};

}  // namespace

LoneTraining training_alone(const RunOnDisk& run, const run::Manifest& manifest) {
    const run::Recipe& recipe = manifest.recipe;
    const std::vector<fs::path> shards = shard_files(run.folder, manifest);
    const control::VectorFile initial{(run.folder / "data" / "initial.safetensors").string(),
                                      model::state_layout(manifest.model).header.size()};
    LoneTraining training;
    training.program = run.trainer_program;
    training.error_file = run.notes / "alone.log";
    training.vector_file = run.notes / "alone.f32";
    training.load = {manifest.model, recipe, initial, 0};
    for (std::uint64_t stretch = 0; stretch < stretches; ++stretch) {
        const std::size_t shard = stretch % shards.size();
        const std::uint64_t round = recipe.total_rounds * stretch / stretches;
        training.shards.push_back({stretch, manifest.host.hex(), recipe.seed, run::learning_rate_at(recipe, round),
                                   shards[shard].string(), manifest.shards[shard].records});
    }
    training.evaluate = validation_question(run.folder, manifest);
    return training;
}

void measure_state(boost::asio::io_context& loop, const RunOnDisk& run, const run::Manifest& manifest,
                   const fs::path& state, std::function<void(const Result<control::EvaluateReply>&)> done) {
    control::EvaluateRequest request = validation_question(run.folder, manifest);
    request.state = {state.string(), model::state_layout(manifest.model).header.size()};
    TrainerQuestion question;
    question.program = run.trainer_program;
    question.error_file = run.notes / "evaluate.log";
    question.load = {manifest.model, manifest.recipe, request.state, 0};
    question.patience = evaluate_timeout;
    ask_trainer(loop, std::move(question), request, std::move(done));
}

void measure_alone(boost::asio::io_context& loop, WorthQuestion question, std::function<void(const std::string&)> say,
                   std::function<void(const AloneReached&)> done) {
    const auto alone = std::make_shared<Alone>(loop, std::move(question));
    alone->say = std::move(say);
    alone->done = std::move(done);
    alone->train(1);
}

}  // namespace potluck::node
