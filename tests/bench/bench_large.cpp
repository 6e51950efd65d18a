// A model that is too large for its computer, trained for a few steps within a budget: what the plan promised, what the
// process took at its peak, how the loss fell, and how fast it went.
//
//   bench_large [--model gpt2-xl] [--ram MEBIBYTES, 12288] [--steps 20] [--batch 1] [--rate 1e-5] [--threads n]
//               [--device cpu] [--gpu-memory MEBIBYTES of such a device]
//               [--text FILE] [--folder FOLDER for two copies of the parameters] [--report file.json]
//
// The rate is low, because a run this short has no warm-up to speak of: all of a fresh model's weights move alike, and
// a step that suits a trained one would overshoot. Tokens are the text's bytes: the vocabulary is the model's own, so
// its head costs what it costs.
#include <QCoreApplication>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "core/base/check.h"
#include "core/base/files.h"
#include "core/control/trainer_protocol.h"
#include "core/model/initial_state.h"
#include "core/model/presets.h"
#include "core/run/recipe.h"
#include "tests/gpu/gpu_memory.h"
#include "tests/integration/trainer_child.h"

namespace {

using namespace potluck;
namespace fs = std::filesystem;

/// As many records of the text's bytes as there are, at most 4,096.
std::uint64_t write_shard(const fs::path& text, const fs::path& shard, std::uint32_t context) {
    std::ifstream in(text, std::ios::binary);
    std::ofstream out(shard, std::ios::binary);
    std::vector<char> bytes(context + 1);
    std::uint64_t records = 0;
    while (records < 4096 && in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()))) {
        for (const char byte : bytes) {
            const std::uint16_t token = static_cast<unsigned char>(byte);
            out.write(reinterpret_cast<const char*>(&token), sizeof token);
        }
        ++records;
    }
    return records;
}

void write_initial_state(const model::ModelSpec& model, const fs::path& file) {
    auto map = MappedFile::create(file, model.parameters() * sizeof(float));
    POTLUCK_CHECK(map.ok());
    model::fill_initial_state(model, 1, {reinterpret_cast<float*>(map->writable().data()), model.parameters()});
}

struct Step {
    double loss = 0, seconds = 0;
};

double gibibytes(std::uint64_t bytes) { return static_cast<double>(bytes) / (1 << 30); }

}  // namespace

int main(int argc, char** argv) {
    const QCoreApplication application(argc, argv);
    std::map<std::string, std::string> options{{"--model", "gpt2-xl"}, {"--ram", "12288"},   {"--steps", "20"},
                                               {"--batch", "1"},       {"--rate", "1e-5"},   {"--threads", "0"},
                                               {"--text", argv[0]},    {"--folder", "."},    {"--report", ""},
                                               {"--device", "cpu"},    {"--gpu-memory", "0"}};
    for (int i = 1; i + 1 < argc; i += 2) options[argv[i]] = argv[i + 1];
    const auto number = [&](const char* name) { return std::strtoull(options[name].c_str(), nullptr, 10); };

    const fs::path folder = fs::path(options["--folder"]) / "bench_large";
    fs::create_directories(folder);
    const auto preset = model::model_preset(options["--model"]);
    POTLUCK_CHECK(preset.ok());
    const model::ModelSpec model = *preset;
    run::Recipe recipe;
    recipe.batch = static_cast<std::uint32_t>(number("--batch"));
    const fs::path state = folder / "state", shard = folder / "shard";
    write_initial_state(model, state);
    const std::uint64_t records = write_shard(options["--text"], shard, model.context);
    POTLUCK_CHECK(records > 0);

    tests::TrainerChild child(QStringList{});
    control::LoadRequest load;
    load.model = model;
    load.recipe = recipe;
    load.state = {state.string(), 0};
    load.threads = static_cast<std::uint32_t>(number("--threads"));
    load.budget.ram = number("--ram") << 20U;
    load.budget.device = options["--device"];
    load.budget.gpu_memory = number("--gpu-memory") << 20U;
    load.scratch = folder.string();
    const control::Reply loaded = child.call("load", control::to_json(load));
    if (loaded.error) {
        std::printf("%s\n", loaded.error->message.c_str());
        return 1;
    }
    control::PlanReply plan;
    POTLUCK_CHECK(control::from_json(loaded.result, plan).ok());
    const bool on_gpu = plan.gpu_peak > 0;
    std::printf("%s, %llu parameters: %s; plan %.2f GiB and %.2f GiB of a GPU\n", options["--model"].c_str(),
                static_cast<unsigned long long>(model.parameters()), plan.summary.c_str(), gibibytes(plan.ram_peak),
                gibibytes(plan.gpu_peak));
    for (const control::PlanPart& part : plan.parts) {
        std::printf("  %-28s %-24s %6.2f GiB of a GPU, %6.2f GiB\n", part.what.c_str(), part.how.c_str(),
                    gibibytes(part.gpu), gibibytes(part.ram));
    }
    fs::remove(state);  // L and the anchor hold it now

    control::TrainRequest train;
    train.peer = std::string(64, '7');
    train.learning_rate = std::strtod(options["--rate"].c_str(), nullptr);
    train.shard = shard.string();
    train.records = records;
    POTLUCK_CHECK(!child.call("train", control::to_json(train)).error);

    const auto start = std::chrono::steady_clock::now();
    std::vector<Step> steps;
    double before = 0;  // sum of the losses of all steps so far
    const std::optional<tests::GpuMemory> gpu = on_gpu ? std::optional<tests::GpuMemory>(0) : std::nullopt;
    std::uint64_t gpu_peak = 0;
    while (steps.size() < number("--steps")) {
        const auto told = child.wait_for("progress");
        control::TrainerProgress progress;
        POTLUCK_CHECK(told && control::from_json(told->params, progress).ok());
        if (progress.steps <= steps.size()) continue;
        const double sum = progress.loss * static_cast<double>(progress.steps);
        const double loss = (sum - before) / static_cast<double>(progress.steps - steps.size());
        const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
        while (steps.size() < progress.steps) steps.push_back({loss, passed.count()});
        before = sum;
        if (gpu) gpu_peak = std::max(gpu_peak, gpu->bytes_of(child.process()).value_or(0));
        std::printf("step %zu  loss %.4f  %.1f s  peak %.2f GiB and %.2f GiB of a GPU\n", steps.size(), loss,
                    passed.count(), gibibytes(child.peak_bytes()), gibibytes(gpu_peak));
        std::fflush(stdout);
    }
    const double peak = static_cast<double>(child.peak_bytes());
    const double tokens = static_cast<double>(steps.size()) * recipe.batch * model.context;
    const nlohmann::json report = {{"bench", "large"},
                                   {"model", options["--model"]},
                                   {"plan", plan.summary},
                                   {"planned_bytes", plan.ram_peak},
                                   {"peak_bytes", peak},
                                   {"peak_over_plan", peak / static_cast<double>(plan.ram_peak)},
                                   {"gpu_planned_bytes", plan.gpu_peak},
                                   {"gpu_peak_bytes", gpu_peak},
                                   {"first_loss", steps.front().loss},
                                   {"last_loss", steps.back().loss},
                                   {"steps", steps.size()},
                                   {"tokens_per_second", tokens / steps.back().seconds}};
    std::printf("%s\n", report.dump(2).c_str());
    if (!options["--report"].empty()) std::ofstream(options["--report"]) << report.dump(2) << '\n';
    child.kill();
    (void)child.ended();
    fs::remove_all(folder);
    return 0;
}
