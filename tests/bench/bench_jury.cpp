// What honest work and what those who do not work look like to a juror: a line of figures for each measurement, which
// jury_table.py makes the jury's table of (jury_swarm.h has how they are made).
//
//   bench_jury --text FOLDER-OR-FILE --out FILE [--cells "LIST" | --cells smoke]
//
// A cell is a model (toy, opt, llama, 0.8M, albert, coder, dalle, swav) and settings, each of one or several values:
// optimizer k steps rounds seed rate batch bits (of products: 32, or 16 in bf16). Cells are separated by semicolons.
// Lines: cell, seed, round, kind, member, its speed beside an ordinary one, own, other (empty where the claim covers
// the shard).
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <sstream>

#include "core/model/presets.h"
#include "core/training/compute/device.h"
#include "tests/bench/jury_swarm.h"

namespace {

using namespace potluck;

[[noreturn]] void give_up(const std::string& why) {
    std::fprintf(stderr, "bench_jury: %s\n", why.c_str());
    std::exit(2);
}

std::vector<std::string> parts_of(const std::string& text, char separator) {
    std::vector<std::string> parts;
    std::istringstream stream(text);
    for (std::string part; std::getline(stream, part, separator);) {
        if (!part.empty()) parts.push_back(part);
    }
    return parts;
}

model::ModelSpec model_named(const std::string& name) {
    model::ModelSpec model;
    if (name == "toy") {
        model.layers = 1, model.heads = 2, model.width = 32, model.context = 32;
    } else if (name == "opt" || name == "llama") {
        const auto preset = model::model_preset(name == "opt" ? "opt-125m" : "llama-tiny");
        model = model::reshaped(*preset, {.layers = 1, .heads = 2, .width = 32});
        model.vocabulary = 256;
        model.context = 32;
    } else if (name == "dalle") {
        model = {.family = model::Family::dalle, .vocabulary = 96, .layers = 2, .heads = 2, .width = 32};
        model.dalle = {.text = 8, .text_vocabulary = 32, .grid = 4, .blocks = 1};
        model.context = model::dalle_context(model.dalle);
    } else if (name == "swav") {
        model = *model::model_preset("swav-tiny");
        model.width = 8;
        model.swav = {.side = 16,
                      .hidden = 32,
                      .embedding = 16,
                      .prototypes = 16,
                      .large_side = 16,
                      .small_side = 8,
                      .small_crops = 2,
                      .together = 16};
        model.context = model::swav_context(model.swav);
    } else if (name == "albert") {
        model = {
            .family = model::Family::albert, .vocabulary = 256, .context = 48, .layers = 2, .heads = 2, .width = 48};
        model.albert.embedding = 32;
        model.albert.inner = 128;
    } else if (name == "coder") {
        model = {.family = model::Family::coder, .layers = 1, .heads = 1, .width = 16};
        model.coder = {.side = 16, .halvings = 2, .levels = {8, 5, 5}};
        model.context = model::coder_context(model.coder);
    } else if (name != "0.8M") {
        give_up("no model: " + name);
    }
    return model;
}

using Settings = std::map<std::string, std::string>;

bench::JuryRun run_of(const std::string& model, const Settings& settings) {
    const auto number = [&](const char* name, double otherwise) {
        return settings.contains(name) ? std::stod(settings.at(name)) : otherwise;
    };
    const auto count = [&](const char* name, std::uint64_t otherwise) {
        return static_cast<std::uint64_t>(std::llround(number(name, static_cast<double>(otherwise))));
    };
    bench::JuryRun run;
    run.name = model;
    for (const auto& [name, value] : settings)
        if (name != "seed" && name != "rounds") run.name += " " + name + "=" + value;
    run.model = model_named(model);
    const auto optimizer = run::optimizer_named(settings.contains("optimizer") ? settings.at("optimizer") : "adamw");
    if (!optimizer) give_up("no optimizer: " + settings.at("optimizer"));
    run.recipe.optimizer = *optimizer;
    run.recipe.learning_rate = number("rate", *optimizer == run::Optimizer::muon ? 4e-3 : 3e-3);
    run.recipe.batch = static_cast<std::uint32_t>(count("batch", std::max(8U, model::records_together(run.model))));
    run.recipe.k = static_cast<std::uint32_t>(count("k", 64));
    run.recipe.total_rounds = count("rounds", 50);
    run.recipe.warmup_rounds = 2;
    run.recipe.outer = {.alpha = 1, .amplification = 4};
    run.matmul = count("bits", 32) == 16 ? training::Dtype::bf16 : training::Dtype::fp32;
    run.steps = count("steps", 10);
    run.seed = count("seed", 1);
    return run;
}

/// Every combination of the values that a cell names.
std::vector<bench::JuryRun> runs_of(const std::string& list) {
    std::vector<bench::JuryRun> runs;
    for (const std::string& cell : parts_of(list, ';')) {
        const std::vector<std::string> words = parts_of(cell, ' ');
        if (words.empty()) continue;
        std::vector<Settings> grown(1);
        for (std::size_t i = 1; i < words.size(); ++i) {
            const std::size_t equals = words[i].find('=');
            if (equals == std::string::npos) give_up("no setting: " + words[i]);
            std::vector<Settings> next;
            for (const Settings& settings : grown)
                for (const std::string& value : parts_of(words[i].substr(equals + 1), '/')) {
                    next.push_back(settings);
                    next.back()[words[i].substr(0, equals)] = value;
                }
            grown = next;
        }
        for (const Settings& settings : grown) runs.push_back(run_of(words[0], settings));
    }
    return runs;
}

constexpr const char* smoke_cells =
    "toy rounds=3 k=64/4096; toy optimizer=muon rounds=2; albert rounds=2; coder rounds=2; opt rounds=2; "
    "llama rounds=2 bits=16; dalle rounds=2; swav rounds=2";
/// SwAV's are left out: they show why runs of it have no jury, and make no table.
constexpr const char* usual_cells =
    "toy optimizer=adamw k=64/256/4096 rounds=60 seed=1/2/3; toy optimizer=muon k=64/256/4096 rounds=60 seed=1/3; "
    "toy optimizer=muon k=64/256 steps=5 rounds=60 seed=2/3; toy optimizer=adamw/muon k=64/256 steps=50 rounds=12 "
    "seed=2; "
    "opt optimizer=adamw k=64/256/4096 rounds=60 seed=1/2/3; opt optimizer=muon k=64/256/4096 rounds=60 seed=1/3; "
    "llama bits=16 optimizer=adamw/muon k=64/256/4096 rounds=40 seed=1/3; "
    "albert optimizer=adamw/muon k=64/256 rounds=40 seed=1/3; "
    "coder rate=2e-3 optimizer=adamw/muon k=64/256 rounds=40 seed=1/3; "
    "dalle optimizer=adamw k=64/256 rounds=60 seed=1/2/3; dalle optimizer=muon k=64/256/4096 rounds=60 seed=1/3; "
    "0.8M optimizer=muon k=64 rounds=15 batch=4; 0.8M optimizer=adamw k=256 rounds=15 batch=4";

}  // namespace

int main(int argc, char** argv) {
    std::map<std::string, std::string> options{{"--text", "."}, {"--cells", ""}, {"--out", ""}};
    for (int i = 1; i + 1 < argc; i += 2) {
        if (!options.contains(argv[i])) give_up(std::string("no option: ") + argv[i]);
        options[argv[i]] = argv[i + 1];
    }
    training::treat_freed_memory(training::FreedMemory::kept);
    (void)training::use_threads(1);
    const std::string list = options["--cells"];
    std::FILE* const out = options["--out"].empty() ? stdout : std::fopen(options["--out"].c_str(), "a");
    if (out == nullptr) give_up("cannot write " + options["--out"]);
    const std::filesystem::path memory = "/dev/shm";
    const std::filesystem::path folder =
        (std::filesystem::exists(memory) ? memory : std::filesystem::temp_directory_path()) /
        ("bench_jury_" + std::to_string(getpid()));
    for (bench::JuryRun& run : runs_of(list == "smoke" ? smoke_cells : list.empty() ? usual_cells : list)) {
        std::filesystem::create_directories(folder);
        run.folder = folder;
        run.text = options["--text"];
        bench::JurySwarm(run, out).play();
        std::fprintf(stderr, "%s, seed %llu: measured\n", run.name.c_str(), static_cast<unsigned long long>(run.seed));
        std::filesystem::remove_all(folder);
    }
    if (out != stdout) std::fclose(out);
    return 0;
}
