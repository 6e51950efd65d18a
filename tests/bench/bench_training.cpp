// Training speed of one process: tokens per second of whole steps (forward, backward, clip, AdamW) by the written-out
// backward pass in both precisions, beside the plain autograd version in the same process. Ratios within one run are
// what counts; "processor" figures divide by processor time, so that a busy machine disturbs them little.
//
//   bench_training [--report file.json] [--threads n] [--seconds s] [--layers n] [--width n] [--heads n] [--context n]
//                  [--vocabulary n] [--batch n]
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include <nlohmann/json.hpp>

#include "core/base/rng.h"
#include "core/run/initial_state.h"
#include "core/training/device.h"
#include "core/training/decoder_plain.h"
#include "core/training/trainer.h"

namespace {

using namespace potluck;
using Clock = std::chrono::steady_clock;

struct Speed {
    double wall = 0, processor = 0;  // tokens per second
};

nlohmann::json to_json(const Speed& speed) {
    return {{"tokens_per_second", speed.wall}, {"tokens_per_processor_second", speed.processor}};
}

/// Calls `step`, which trains `tokens` tokens, for about `seconds`, after a warm-up.
template <class Step>
Speed measure(double seconds, double tokens, const Step& step) {
    for (int i = 0; i < 3; ++i) step();
    const Clock::time_point start = Clock::now();
    const std::clock_t processor_start = std::clock();
    double done = 0;
    double passed = 0;
    while (passed < seconds) {
        step();
        done += tokens;
        passed = std::chrono::duration<double>(Clock::now() - start).count();
    }
    const double processor = static_cast<double>(std::clock() - processor_start) / CLOCKS_PER_SEC;
    return {done / passed, done / processor};
}

struct Bench {
    run::ModelSpec model;
    run::Recipe recipe;
    unsigned threads = 1;
    double seconds = 3;
    std::filesystem::path shard;
    std::uint64_t records = 256;

    void write_shard() const {
        std::ofstream file(shard, std::ios::binary);
        Rng rng(7);
        for (std::uint64_t i = 0; i < records * (model.context + 1); ++i) {
            const auto token = static_cast<training::Token>(rng.below(model.vocabulary));
            file.write(reinterpret_cast<const char*>(&token), sizeof token);
        }
    }

    [[nodiscard]] Speed trainer_speed(training::Number precision) const {
        Result<training::Trainer> trainer = training::Trainer::create(
            {.model = model, .recipe = recipe, .options = {.products = precision}, .threads = threads});
        POTLUCK_CHECK(trainer.ok());
        run::fill_initial_state(model, 1, trainer->parameters());
        POTLUCK_CHECK(trainer->start_from_parameters().ok());
        const training::TrainingPlace place{.shard_path = shard.string(), .records = records, .learning_rate = 1e-4};
        POTLUCK_CHECK(trainer->train_in(place).ok());
        const double tokens = static_cast<double>(recipe.batch) * model.context;
        return measure(seconds, tokens, [&] {
            const std::uint64_t steps = trainer->totals().steps;
            while (trainer->totals().steps == steps) POTLUCK_CHECK(trainer->micro_step().ok());
        });
    }

    [[nodiscard]] Speed plain_speed() const {
        std::vector<float> parameters(model.parameters()), gradient(parameters.size());
        run::fill_initial_state(model, 1, parameters);
        const std::vector<training::Token> batch(std::size_t{recipe.batch} * (model.context + 1), 1);
        const double tokens = static_cast<double>(recipe.batch) * model.context;
        return measure(seconds, tokens, [&] {
            POTLUCK_CHECK(training::plain_add_gradient(model, parameters, batch, gradient, 1e-3).ok());
        });
    }
};

}  // namespace

int main(int argc, char** argv) {
    std::map<std::string, std::string> options;
    for (int i = 1; i + 1 < argc; i += 2) options[argv[i]] = argv[i + 1];
    const auto number = [&](const char* name, unsigned fallback) {
        const auto found = options.find(name);
        if (found == options.end()) return fallback;
        return static_cast<unsigned>(std::strtoul(found->second.c_str(), nullptr, 10));
    };
    training::keep_freed_memory();
    Bench bench;
    bench.model.layers = number("--layers", 4);
    bench.model.width = number("--width", 128);
    bench.model.heads = number("--heads", 4);
    bench.model.context = number("--context", 128);
    bench.model.vocabulary = number("--vocabulary", 256);
    bench.recipe.batch = number("--batch", 8);
    bench.seconds = number("--seconds", 3);
    bench.threads = training::use_threads(number("--threads", 1));
    bench.shard = std::filesystem::temp_directory_path() / ("bench_training_" + std::to_string(std::clock()) + ".bin");
    bench.write_shard();

    const Speed fp32 = bench.trainer_speed(training::Number::fp32);
    const Speed bf16 = bench.trainer_speed(training::Number::bf16);
    const Speed plain = bench.plain_speed();
    std::filesystem::remove(bench.shard);
    const nlohmann::json report = {
        {"bench", "training"},
        {"model", bench.model.to_json()},
        {"batch", bench.recipe.batch},
        {"threads", bench.threads},
        {"chosen_precision", name_of(training::fastest_precision(bench.model))},
        {"fp32", to_json(fp32)},
        {"bf16", to_json(bf16)},
        {"plain_autograd_without_optimizer_fp32", to_json(plain)},
        {"fp32_over_plain_processor", fp32.processor / plain.processor},
        {"bf16_over_fp32_processor", bf16.processor / fp32.processor}};
    std::printf("%s\n", report.dump(2).c_str());
    if (options.contains("--report")) std::ofstream(options["--report"]) << report.dump(2) << '\n';
    return 0;
}
