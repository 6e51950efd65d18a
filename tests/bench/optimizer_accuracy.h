// One model trained twice on real text, from the same initial state, in the same order, for the same number of tokens:
// with 32-bit and with 8-bit moments. What the two differ by on text they have not seen is what 8 bits cost.
// Threads: one caller.
#pragma once

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <numbers>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/check.h"
#include "core/model/initial_state.h"
#include "core/training/trainer.h"

namespace potluck::bench {

/// Text as bytes, in records of context + 1.
struct SplitText {
    std::vector<model::Token> training, validation;
};

inline constexpr std::size_t validation_records_max = 128;
inline constexpr std::size_t validation_part = 16;  // every so many-th record is kept for validation

/// Keeps some records of `bytes` for validation, spread evenly.
inline SplitText split_bytes(std::span<const model::Token> bytes, std::uint32_t context) {
    SplitText out;
    const std::size_t length = context + 1;
    for (std::size_t record = 0; (record + 1) * length <= bytes.size(); ++record) {
        const bool hidden = record % validation_part == 0 && out.validation.size() < validation_records_max * length;
        std::vector<model::Token>& part = hidden ? out.validation : out.training;
        part.insert(part.end(), &bytes[record * length], &bytes[record * length] + length);
    }
    return out;
}

/// Every readable text file of a folder in the order of its path (or one file), cut into records.
inline SplitText split_text(const std::filesystem::path& source, std::uint32_t context) {
    static constexpr std::string_view kinds[] = {".cpp", ".h", ".md", ".py", ".txt", ".json", ".cmake"};
    std::vector<std::filesystem::path> files;
    if (std::filesystem::is_directory(source)) {
        for (auto entry = std::filesystem::recursive_directory_iterator(source); entry != end(entry); ++entry) {
            const std::string name = entry->path().filename().string();
            if (entry->is_directory() && (name.starts_with(".") || name == "build")) entry.disable_recursion_pending();
            const std::string kind = entry->path().extension().string();
            if (entry->is_regular_file() && std::ranges::find(kinds, kind) != std::end(kinds)) {
                files.push_back(entry->path());
            }
        }
        std::ranges::sort(files);
    } else {
        files.push_back(source);
    }
    std::vector<model::Token> bytes;
    for (const std::filesystem::path& path : files) {
        std::ifstream file(path, std::ios::binary);
        std::transform(std::istreambuf_iterator<char>(file), {}, std::back_inserter(bytes),
                       [](char byte) { return static_cast<model::Token>(static_cast<unsigned char>(byte)); });
    }
    return split_bytes(bytes, context);
}

struct AccuracyRun {
    model::ModelSpec model;
    std::uint32_t batch = 8;
    std::uint64_t steps = 300;
    double learning_rate = 1e-3;
    training::Dtype matmul = training::Dtype::fp32;
    unsigned threads = 1;
    std::uint64_t seed = 1;
    std::filesystem::path shard;  // written
};

/// Linear warm-up over a twentieth of the run, then half a cosine to a tenth.
inline double rate_at(const AccuracyRun& run, std::uint64_t step) {
    const double warmup = std::max(1.0, static_cast<double>(run.steps) / 20);
    const double at = static_cast<double>(step);
    if (at < warmup) return run.learning_rate * (at + 1) / (warmup + 1);
    const double part = (at - warmup) / (static_cast<double>(run.steps) - warmup);
    return run.learning_rate * (0.1 + 0.45 * (1 + std::cos(std::numbers::pi * part)));
}

/// Mean loss over the validation text, in nats per byte.
inline double validation_loss(training::Trainer& trainer, const SplitText& text, std::uint32_t context) {
    const std::size_t records_at_once = 8;
    const std::size_t length = context + 1;
    double sum = 0;
    for (std::size_t begin = 0; begin < text.validation.size(); begin += records_at_once * length) {
        const std::size_t count = std::min(records_at_once * length, text.validation.size() - begin);
        sum += trainer.model().evaluate(std::span(text.validation).subspan(begin, count), 0).value().loss_sum;
    }
    return sum / static_cast<double>(text.validation.size() / length * context);
}

/// Trains and gives the validation loss at the end; `told` hears the training loss of every tenth of the run.
inline double trained_loss(const AccuracyRun& run, const SplitText& text, std::uint32_t state_bits,
                           const std::function<void(std::uint64_t step, double loss)>& told = {}) {
    POTLUCK_CHECK(!text.validation.empty() && !text.training.empty());
    std::ofstream(run.shard, std::ios::binary)
        << as_text(model::stored_tokens(text.training, model::token_width(run.model.vocabulary)));
    training::TrainerSetup setup{.model = run.model, .recipe = {}, .layout = {}, .threads = run.threads};
    setup.recipe.batch = run.batch;
    setup.recipe.state_bits = state_bits;
    setup.layout.state_bits = state_bits;
    setup.pace = training::Pace::exact;  // the same micro-batches in both, however fast they are
    setup.layout.matmul = run.matmul;
    training::Trainer trainer = training::Trainer::create(setup).value();
    std::vector<float> initial(run.model.parameters());
    model::fill_initial_state(run.model, run.seed, initial);
    POTLUCK_CHECK(trainer.start_from(initial).ok());
    training::TrainingPlace place{.key = {run.seed, {}, {}},
                                  .shard_path = run.shard.string(),
                                  .records = text.training.size() / (run.model.context + 1)};
    training::WindowTotals last;
    for (std::uint64_t step = 0; step < run.steps; ++step) {
        place.learning_rate = rate_at(run, step);
        POTLUCK_CHECK(trainer.train_in(place).ok());
        while (trainer.totals().steps == step) POTLUCK_CHECK(trainer.micro_step().ok());
        if (!told || (step + 1) % std::max<std::uint64_t>(1, run.steps / 10) != 0) continue;
        const training::WindowTotals& totals = trainer.totals();
        told(step + 1, (totals.loss_sum - last.loss_sum) / static_cast<double>(totals.tokens - last.tokens));
        last = totals;
    }
    return validation_loss(trainer, text, run.model.context);
}

}  // namespace potluck::bench
