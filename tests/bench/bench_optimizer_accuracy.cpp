// What 8-bit moments cost: the 10.8M model (6 layers, width 384, context 256) on real text with 32-bit and with 8-bit
// AdamW, same initial state, same order, same tokens; both validation losses and their ratio. optimizer_accuracy.h says
// how. The run of 600 steps takes about ten minutes on two cores with bf16 in hardware.
//
//   bench_optimizer_accuracy --text FOLDER-OR-FILE [--steps n] [--seed n] [--threads n] [--precision fp32|bf16]
//                            [--only 8|32] [--rate peak] [--layers n] [--width n] [--heads n] [--context n] [--report
//                            FILE]
#include <unistd.h>

#include <cstdio>
#include <map>

#include <nlohmann/json.hpp>

#include "core/training/compute/device.h"
#include "tests/bench/optimizer_accuracy.h"

int main(int argc, char** argv) {
    using namespace potluck;
    std::map<std::string, std::string> options{
        {"--text", "."},    {"--steps", "600"}, {"--seed", "1"},    {"--threads", "1"}, {"--precision", "bf16"},
        {"--rate", "1e-3"}, {"--layers", "6"},  {"--width", "384"}, {"--heads", "6"},   {"--context", "256"}};
    for (int i = 1; i + 1 < argc; i += 2) options[argv[i]] = argv[i + 1];
    training::treat_freed_memory(training::FreedMemory::kept);
    bench::AccuracyRun run;
    const auto number = [&](const char* name) { return static_cast<std::uint32_t>(std::stoul(options[name])); };
    run.model.layers = number("--layers");
    run.model.width = number("--width");
    run.model.heads = number("--heads");
    run.model.context = number("--context");
    run.steps = number("--steps");
    run.learning_rate = std::stod(options["--rate"]);
    run.seed = number("--seed");
    run.matmul = options["--precision"] == "bf16" ? training::Dtype::bf16 : training::Dtype::fp32;
    run.threads = training::use_threads(number("--threads"));
    run.shard = std::filesystem::temp_directory_path() / ("bench_accuracy_" + std::to_string(getpid()) + ".bin");
    const bench::SplitText text = bench::split_text(options["--text"], run.model.context);

    nlohmann::json report = {{"bench", "optimizer_accuracy"},
                             {"steps", run.steps},
                             {"tokens", run.steps * run.batch * run.model.context},
                             {"text_tokens", text.training.size()},
                             {"seed", run.seed},
                             {"precision", options["--precision"]}};
    std::map<std::uint32_t, double> losses;
    for (const std::uint32_t bits : {32U, 8U}) {
        if (options.contains("--only") && options["--only"] != std::to_string(bits)) continue;
        losses[bits] = bench::trained_loss(run, text, bits, [&](std::uint64_t step, double loss) {
            std::fprintf(stderr, "%2u bits, step %lu: training loss %.4f\n", bits, static_cast<unsigned long>(step),
                         loss);
        });
        report["validation_loss_" + std::to_string(bits)] = losses[bits];
    }
    std::filesystem::remove(run.shard);
    if (losses.size() == 2) report["loss_8_over_32"] = losses[8] / losses[32];
    std::printf("%s\n", report.dump(2).c_str());
    if (options.contains("--report")) std::ofstream(options["--report"]) << report.dump(2) << '\n';
    return 0;
}
