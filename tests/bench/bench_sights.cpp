// Gathered beside dense attention of DALL-E: losses and gradients of a micro-batch, the two in turn within one run, so
// that what else the computer does meets both alike. Ratios are medians over turns.
//
//   dalle-emoji        as its preset has it: 49 rows of a caption, 8 x 8 codes
//   dalle-ttt, 5 of 64 layers: 257 rows of a caption, 32 x 32 codes; one layer of each set of weights, and a table of
//                      9,216 instead of 40,548 tokens, so that the head weighs less, as it does beside 64 layers
//
// Beside a ratio stands its limit: dense over gathered arithmetic of the whole model, as if both ran at one speed. It
// counts the pairs of rows that each way multiplies: dense all, gathered the caption's keys and each group's.
//
//   bench_sights [--turns n] [--threads n] [--report FILE]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/base/rng.h"
#include "core/model/initial_state.h"
#include "core/model/presets.h"
#include "core/training/compute/device.h"
#include "core/training/picture/dalle.h"

namespace {

using namespace potluck;
using Clock = std::chrono::steady_clock;

struct Cell {
    std::string name;
    model::ModelSpec spec;
    std::uint32_t micro_batch = 1;
};

std::vector<Cell> cells() {
    model::ModelSpec large = model::model_preset("dalle-ttt").value();
    large.layers = 5;
    large.dalle.text_vocabulary = 1'024;
    large.vocabulary = large.dalle.text_vocabulary + 8'192;
    return {{"dalle-emoji", model::model_preset("dalle-emoji").value(), 8}, {"dalle-ttt, 5 layers", large, 1}};
}

/// Multiplications of a pass over a record: those of weights, and of attention either way.
struct Work {
    double weights = 0, dense = 0, gathered = 0;
};

Work work_of(const model::ModelSpec& spec) {
    const double rows = spec.context, grid = spec.dalle.grid, text = spec.dalle.text + 1, codes = grid * grid;
    Work work{.weights = rows * static_cast<double>(spec.applied_parameters())};
    for (std::uint32_t layer = 0; layer < spec.layers; ++layer) {
        const double lines = model::dalle_sight(spec, layer) == model::Sight::near ? model::dalle_reach + 1 : 1;
        work.dense += 2 * spec.width * rows * rows;
        work.gathered += 2 * spec.width * (rows * text + codes * lines * grid);
    }
    return work;
}

std::vector<model::Token> records_of(const Cell& cell) {
    Rng rng(7);
    const model::DalleShape& shape = cell.spec.dalle;
    std::vector<model::Token> records;
    for (std::uint32_t record = 0; record < cell.micro_batch; ++record) {
        records.push_back(model::dalle_begin);
        for (std::uint32_t i = 0; i < shape.text; ++i)
            records.push_back(static_cast<model::Token>(rng.below(shape.text_vocabulary)));
        for (std::uint32_t i = shape.text; i < cell.spec.context; ++i)
            records.push_back(static_cast<model::Token>(shape.text_vocabulary +
                                                        rng.below(cell.spec.vocabulary - shape.text_vocabulary)));
    }
    return records;
}

/// One way to attend, with its gradient.
struct Contender {
    training::Dalle model;
    std::vector<float> gradient;
    std::vector<double> seconds;

    Contender(const Cell& cell, std::vector<float>& parameters, training::AttentionKernel kernel)
        : model(cell.spec, {.attention = kernel}), gradient(parameters.size()) {
        POTLUCK_CHECK(model.use_parameters(parameters).ok());
    }
    void turn(const std::vector<model::Token>& records) {
        const Clock::time_point began = Clock::now();
        POTLUCK_CHECK(model.add_gradient({.records = records, .gradient = gradient}).ok());
        seconds.push_back(std::chrono::duration<double>(Clock::now() - began).count());
    }
};

double median(std::vector<double> values) {
    std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
    return values[values.size() / 2];
}

nlohmann::json measure(const Cell& cell, std::uint32_t turns) {
    std::vector<float> parameters(cell.spec.parameters());
    model::fill_initial_state(cell.spec, 1, parameters);
    const std::vector<model::Token> records = records_of(cell);
    Contender dense(cell, parameters, training::AttentionKernel::fused);
    Contender gathered(cell, parameters, training::AttentionKernel::blocked);
    for (Contender* warm : {&dense, &gathered}) {
        for (int i = 0; i < 2; ++i) warm->turn(records);
        warm->seconds.clear();
    }
    std::vector<double> ratios;
    for (std::uint32_t i = 0; i < turns; ++i) {
        Contender& first = i % 2 == 0 ? dense : gathered;
        Contender& second = i % 2 == 0 ? gathered : dense;
        first.turn(records);
        second.turn(records);
        ratios.push_back(dense.seconds.back() / gathered.seconds.back());
    }
    const Work work = work_of(cell.spec);
    const double limit = (work.weights + work.dense) / (work.weights + work.gathered);
    const double flops = 2 * 3 * cell.micro_batch / 1e9;  // multiply and add; forward, and backward twice
    const nlohmann::json found = {{"model", cell.name},
                                  {"micro_batch", cell.micro_batch},
                                  {"dense_seconds", median(dense.seconds)},
                                  {"gathered_seconds", median(gathered.seconds)},
                                  {"dense_over_gathered", median(ratios)},
                                  {"gflop_dense", flops * (work.weights + work.dense)},
                                  {"gflop_gathered", flops * (work.weights + work.gathered)},
                                  {"attention_dense_over_gathered", work.dense / work.gathered},
                                  {"limit", limit}};
    std::printf("%-20s dense %.3f s, gathered %.3f s: %.3f times as fast; by arithmetic %.3f (%.1f and %.1f GFLOP)\n",
                cell.name.c_str(), median(dense.seconds), median(gathered.seconds), median(ratios), limit,
                found["gflop_dense"].get<double>(), found["gflop_gathered"].get<double>());
    return found;
}

}  // namespace

int main(int argc, char** argv) {
    std::map<std::string, std::string> options;
    for (int i = 1; i + 1 < argc; i += 2) options[argv[i]] = argv[i + 1];
    const auto number = [&](const char* name, std::uint32_t fallback) {
        return options.contains(name) ? static_cast<std::uint32_t>(std::stoul(options[name])) : fallback;
    };
    training::treat_freed_memory(training::FreedMemory::kept);
    training::use_threads(number("--threads", 1));
    nlohmann::json report = {{"bench", "sights"}, {"cells", nlohmann::json::array()}};
    for (const Cell& cell : cells()) report["cells"].push_back(measure(cell, number("--turns", 15)));
    if (options.contains("--report")) std::ofstream(options["--report"]) << report.dump(2) << '\n';
    return 0;
}
