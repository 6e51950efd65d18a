// Our side of the training bench (tests/bench/training drives it beside training_python.py): whole steps of the
// trainer, from tokens to new parameters, clip and optimizer included, on random tokens.
//
// Lines on standard input, each answered by one line of JSON:
//   measure SECONDS   whole steps for about so long: tokens, wall and processor seconds, loss of these steps
//   trace FILE        three steps, of which LibTorch's profiler writes to a file what ran when (for chrome://tracing)
// End of input ends it. The first line out, {"ready": ...}, comes after warm-up. "Processor" seconds count all threads
// of this process, so that a busy machine disturbs figures per processor second little.
//
//   bench_training --layers n --width n --heads n --context n --vocabulary n --batch n [--threads n]
//                  [--precision fp32|bf16] [--state-bits 8|32] [--device cpu|cuda]
//                  [--kv-heads n --inner n]      a Llama-shaped model instead of GPT-2
//                  [--family albert]                     ALBERT on pairs
//                  [--family coder|dalle|swav --side n]  a picture coder on noise, DALL-E on codes, SwAV with its crops
#include <sys/resource.h>

#include <chrono>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <string>

#include <torch/csrc/autograd/profiler_kineto.h>
#include <nlohmann/json.hpp>

#include "core/base/processor/isa.h"
#include "core/base/rng.h"
#include "core/model/initial_state.h"
#include "core/model/presets.h"
#include "core/training/compute/device.h"
#include "core/training/compute/devices.h"
#include "core/training/trainer.h"

namespace {

using namespace potluck;
using Clock = std::chrono::steady_clock;

constexpr std::uint64_t records = 256;

struct Options {
    std::map<std::string, std::string> values;

    Options(int argc, char** argv) {
        for (int i = 1; i + 1 < argc; i += 2) values[argv[i]] = argv[i + 1];
    }
    [[nodiscard]] std::string text(const char* name, const char* fallback) const {
        const auto found = values.find(name);
        return found == values.end() ? fallback : found->second;
    }
    [[nodiscard]] std::uint32_t number(const char* name, std::uint32_t fallback) const {
        return static_cast<std::uint32_t>(std::stoul(text(name, std::to_string(fallback).c_str())));
    }
};

std::uint64_t peak_rss_mib() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<std::uint64_t>(usage.ru_maxrss) / 1024;
}

/// A file of random records that goes away with its owner.
class Shard {
public:
    explicit Shard(const model::ModelSpec& model)
        : m_path(std::filesystem::temp_directory_path() /
                 ("bench_training_" + std::to_string(Clock::now().time_since_epoch().count()) + ".bin")) {
        Rng rng(7);
        std::vector<model::Token> tokens(static_cast<std::size_t>(records) * (model.context + 1));
        for (model::Token& token : tokens) token = static_cast<model::Token>(rng.below(model.vocabulary));
        for (std::uint64_t record = 0; record < records; ++record)
            mark(model, std::span(tokens).subspan(static_cast<std::size_t>(record * (model.context + 1))));
        std::ofstream(m_path, std::ios::binary)
            << as_text(model::stored_tokens(tokens, model::token_width(model.vocabulary)));
    }
    Shard(const Shard&) = delete;
    Shard& operator=(const Shard&) = delete;
    ~Shard() { std::filesystem::remove(m_path); }
    [[nodiscard]] std::string path() const { return m_path.string(); }

private:
    /// What a record of the family has in some places.
    static void mark(const model::ModelSpec& model, std::span<model::Token> record) {
        const std::size_t context = model.context;
        if (model.family == model::Family::coder || model.family == model::Family::swav) record[context] = 0;
        if (model.family == model::Family::dalle) mark_caption(model, record);
        if (model.family != model::Family::albert) return;
        for (std::size_t i = 0; i < context; ++i) record[i] %= model.albert.pad;  // no marks within the texts
        record[0] = model.albert.cls;
        record[context / 2] = record[context - 1] = model.albert.sep;
        record[context] = model.albert.pad;
    }

    static void mark_caption(const model::ModelSpec& model, std::span<model::Token> record) {
        const std::uint32_t own = model.dalle.text_vocabulary;
        record[0] = model::dalle_begin;
        for (std::size_t i = 1; i < record.size(); ++i)
            record[i] = i <= model.dalle.text ? record[i] % own : own + record[i] % (model.vocabulary - own);
    }

    std::filesystem::path m_path;
};

void step(training::Trainer& trainer) {
    const std::uint64_t steps = trainer.totals().steps;
    while (trainer.totals().steps == steps) POTLUCK_CHECK(trainer.micro_step().ok());
}

nlohmann::json measure(training::Trainer& trainer, double seconds) {
    const training::WindowTotals before = trainer.totals();
    const Clock::time_point start = Clock::now();
    const std::clock_t processor_start = std::clock();
    double passed = 0;
    while (passed < seconds) {
        step(trainer);
        passed = std::chrono::duration<double>(Clock::now() - start).count();
    }
    const training::WindowTotals& after = trainer.totals();
    const std::uint64_t tokens = after.tokens - before.tokens;
    return {{"tokens", tokens},
            {"wall", passed},
            {"processor", static_cast<double>(std::clock() - processor_start) / CLOCKS_PER_SEC},
            {"loss", (after.loss_sum - before.loss_sum) / static_cast<double>(tokens)},
            {"peak_rss_mib", peak_rss_mib()}};
}

nlohmann::json trace(training::Trainer& trainer, const std::string& file) {
    using namespace torch::profiler::impl;
    std::set<ActivityType> activities{ActivityType::CPU};
    if (trainer.devices().front().kind == training::DeviceKind::cuda) activities.insert(ActivityType::CUDA);
    const ProfilerConfig config(ProfilerState::KINETO);
    torch::autograd::profiler::prepareProfiler(config, activities);
    torch::autograd::profiler::enableProfiler(config, activities);
    for (int i = 0; i < 3; ++i) step(trainer);
    torch::autograd::profiler::disableProfiler()->save(file);
    return {{"file", file}};
}

training::TrainerSetup setup_from(const Options& options) {
    training::TrainerSetup setup;
    setup.model.layers = options.number("--layers", 4);
    setup.model.width = options.number("--width", 128);
    setup.model.heads = options.number("--heads", 4);
    setup.model.context = options.number("--context", 128);
    setup.model.vocabulary = options.number("--vocabulary", 256);
    if (const std::uint32_t kv_heads = options.number("--kv-heads", 0); kv_heads > 0) {
        setup.model.family = model::Family::llama;
        setup.model.activation = model::Activation::silu_gated;
        setup.model.llama = {.kv_heads = kv_heads,
                             .head_width = setup.model.width / setup.model.heads,
                             .inner = options.number("--inner", 0)};
    }
    const std::string family = options.text("--family", "");
    if (family == "albert") {
        setup.model.family = model::Family::albert;
        setup.model.albert = model::model_preset("albert-tiny").value().albert;
        setup.model.albert.inner = 4 * setup.model.width;
    } else if (family == "coder") {
        setup.model.family = model::Family::coder;
        setup.model.coder.side = options.number("--side", 32);
    } else if (family == "dalle") {
        setup.model.family = model::Family::dalle;
        setup.model.dalle.grid = options.number("--side", 8);
        setup.model.context = model::dalle_context(setup.model.dalle);
    } else if (family == "swav") {
        setup.model.family = model::Family::swav;
        setup.model.swav.side = setup.model.swav.large_side = options.number("--side", 32);
        setup.model.swav.small_side = setup.model.swav.side / 2;
    }
    setup.recipe.batch = options.number("--batch", 8);
    setup.recipe.state_bits = options.number("--state-bits", 8);
    const bool bf16 = options.text("--precision", "fp32") == "bf16";
    setup.layout.matmul = bf16 ? training::Dtype::bf16 : training::Dtype::fp32;
    setup.layout.state_bits = setup.recipe.state_bits;
    if (options.text("--device", "cpu") == "cuda") {
        setup.layout.device = {training::DeviceKind::cuda, 0};
        setup.layout.state = training::Residency::device;
    }
    const std::string products = options.text("--products", "");
    if (products == "torch") training::use_product_library(training::ProductLibrary::torch);
    if (products == "onednn") training::use_product_library(training::ProductLibrary::onednn);
    if (options.text("--pace", "responsive") == "exact") setup.pace = training::Pace::exact;
    setup.layout.micro_batch = options.number("--micro-batch", 0);
    setup.threads = training::use_threads(options.number("--threads", 1));
    return setup;
}

}  // namespace

int main(int argc, char** argv) {
    training::limit_libraries();
    training::treat_freed_memory(training::FreedMemory::kept);
    const training::TrainerSetup setup = setup_from(Options(argc, argv));
    if (setup.layout.device.kind == training::DeviceKind::cuda) POTLUCK_CHECK(training::open_backend().devices > 0);
    const Shard shard(setup.model);
    training::Trainer trainer = training::Trainer::create(setup).value();
    std::vector<float> initial(setup.model.parameters());
    model::fill_initial_state(setup.model, 1, initial);
    POTLUCK_CHECK(trainer.start_from(initial).ok());
    POTLUCK_CHECK(trainer.train_in({.shard_path = shard.path(), .records = records, .learning_rate = 1e-4}).ok());

    const Clock::time_point start = Clock::now();
    for (int i = 0; i < 3; ++i) step(trainer);
    const nlohmann::json ready = {{"torch", training::torch_version()},
                                  {"warm_up_seconds", std::chrono::duration<double>(Clock::now() - start).count()},
                                  {"parameters", setup.model.parameters()},
                                  {"threads", setup.threads},
                                  {"isa", name_of(isa_in_use())},
                                  {"device", training::device_name(setup.layout.device)}};
    std::cout << nlohmann::json{{"ready", ready}}.dump() << std::endl;
    for (std::string word; std::cin >> word;) {
        std::string value;
        POTLUCK_CHECK((word == "measure" || word == "trace") && std::cin >> value);
        const bool timed = word == "measure";
        std::cout << (timed ? measure(trainer, std::stod(value)) : trace(trainer, value)).dump() << std::endl;
    }
    return 0;
}
