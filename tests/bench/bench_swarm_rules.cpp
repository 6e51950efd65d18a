// Which rule makes a swarm worth how many computers: cells of (rule -> validation loss), all in this process
// (swarm_rules.h). A cell is a kind and settings; a setting with several values stands for a cell each:
//
//   --cells "alone times=1/2/4; together; swarm k=64/256 amplification=4; swarm sent=dense8 momentum=0.7 alpha=0.7"
//
//   swarm      the members, with the rule
//   together   one computer with the batch of all members: the synchronous baseline
//   alone      one computer, with one member's tokens times `times`, over a schedule that long
//
// Settings of all: optimizer rate batch steps rounds seed members warmup final bits decay; of a swarm: k amplification
// error_decay alpha momentum heavy (0 or 1) restart (rounds) gain (0 or 1) sent (sparse, dense8, exact) dense (first
// rounds) average (last states) late (members) late_every (rounds) counted (0 or 1) step (exact
// or coded) rule (mean or centered_clip) bad (the last members attack) attack (swarm_attacks.h) delay (rounds of the
// attack delayed) jury (rounds after which those that attack are suspended; 0: never).
//
// Effective computers of a swarm's loss: how many times one member's tokens one computer alone needs for the same loss,
// between the lengths that were run in the same call, in log(tokens), each with the best rate that was tried. Losses
// are means over the seeds that a cell was run with.
//
//   bench_swarm_rules --text FOLDER-OR-FILE [--cells LIST | --cells smoke] [--model 0.1M|0.8M|10.8M|toy] [--context n]
//                     [--precision fp32|bf16] [--threads n] [--report FILE]
#include <unistd.h>

#include <cstdio>
#include <map>
#include <set>
#include <sstream>

#include <nlohmann/json.hpp>

#include "core/training/compute/device.h"
#include "tests/bench/swarm_rules.h"

namespace {

using namespace potluck;
using bench::Outcome;
using bench::Rule;
using nlohmann::json;

[[noreturn]] void give_up(const std::string& why) {
    std::fprintf(stderr, "bench_swarm_rules: %s\n", why.c_str());
    std::exit(2);
}

/// A kind and its settings, each of one value.
struct Cell {
    std::string kind;
    std::map<std::string, std::string> settings;

    [[nodiscard]] std::string text(const char* name, const char* otherwise) const {
        const auto at = settings.find(name);
        return at == settings.end() ? otherwise : at->second;
    }
    [[nodiscard]] double number(const char* name, double otherwise) const {
        const auto at = settings.find(name);
        if (at == settings.end()) return otherwise;
        std::size_t read = 0;
        const double value = std::stod(at->second, &read);
        if (read != at->second.size()) give_up(at->second + " is not a number");
        return value;
    }
    [[nodiscard]] std::uint64_t count(const char* name, std::uint64_t otherwise) const {
        return static_cast<std::uint64_t>(std::llround(number(name, static_cast<double>(otherwise))));
    }
    /// Of all settings but `left_out`.
    [[nodiscard]] std::string name(const std::set<std::string>& left_out = {}) const {
        std::string all = kind;
        for (const auto& [key, value] : settings) {
            if (!left_out.contains(key)) all += " " + key + "=" + value;
        }
        return all;
    }
};

std::vector<std::string> parts_of(const std::string& text, char separator) {
    std::vector<std::string> parts;
    std::istringstream stream(text);
    for (std::string part; std::getline(stream, part, separator);) {
        if (!part.empty()) parts.push_back(part);
    }
    return parts;
}

constexpr const char* known_settings[] = {
    "optimizer",  "rate",    "batch",   "steps",    "rounds",        "seed",        "members", "warmup",
    "final",      "bits",    "decay",   "k",        "times",         "error_decay", "alpha",   "gain",
    "sent",       "dense",   "average", "momentum", "amplification", "heavy",       "restart", "late",
    "late_every", "counted", "step",    "rule",     "bad",           "attack",      "delay",   "jury"};

/// Every combination of the values that a cell's settings name.
std::vector<Cell> cells_of(const std::string& list) {
    std::vector<Cell> cells;
    for (const std::string& text : parts_of(list, ';')) {
        const std::vector<std::string> words = parts_of(text, ' ');
        if (words.empty()) continue;
        if (words[0] != "swarm" && words[0] != "together" && words[0] != "alone")
            give_up("no kind of cell: " + words[0]);
        std::vector<Cell> grown{{words[0], {}}};
        for (std::size_t i = 1; i < words.size(); ++i) {
            const std::size_t equals = words[i].find('=');
            const std::string key = words[i].substr(0, equals);
            if (equals == std::string::npos || std::ranges::find(known_settings, key) == std::end(known_settings)) {
                give_up("no setting: " + words[i]);
            }
            std::vector<Cell> next;
            for (const Cell& cell : grown) {
                for (const std::string& value : parts_of(words[i].substr(equals + 1), '/')) {
                    next.push_back(cell);
                    next.back().settings[key] = value;
                }
            }
            grown = next;
        }
        cells.insert(cells.end(), grown.begin(), grown.end());
    }
    return cells;
}

void read_attack(const Cell& cell, Rule& rule) {
    const auto robust = run::robust_rule_named(cell.text("rule", "mean"));
    if (!robust) give_up("no rule: " + cell.text("rule", ""));
    rule.recipe.outer.robust = *robust;
    const auto attack = bench::attack_named(cell.text("attack", "sign_flip"));
    if (!attack) give_up("no attack: " + cell.text("attack", ""));
    rule.attack = *attack;
    rule.bad = static_cast<std::uint32_t>(cell.count("bad", 0));
    if (rule.bad >= rule.members) give_up("all members attack");
    rule.delay = cell.count("delay", 10);
    rule.suspended_from = cell.count("jury", 0);
}

Rule rule_of(const Cell& cell) {
    Rule rule;
    run::Recipe& recipe = rule.recipe;
    const auto optimizer = run::optimizer_named(cell.text("optimizer", "adamw"));
    if (!optimizer) give_up("no optimizer: " + cell.text("optimizer", ""));
    recipe.optimizer = *optimizer;
    recipe.learning_rate = cell.number("rate", 3e-3);
    recipe.final_fraction = cell.number("final", 0.1);
    recipe.weight_decay = cell.number("decay", 0.1);
    recipe.state_bits = static_cast<std::uint32_t>(cell.count("bits", 8));
    recipe.batch = static_cast<std::uint32_t>(cell.count("batch", 8));
    recipe.total_rounds = cell.count("rounds", 50);
    recipe.warmup_rounds = cell.count("warmup", 2);
    recipe.k = static_cast<std::uint32_t>(cell.count("k", 64));
    recipe.outer.amplification = static_cast<std::uint32_t>(cell.count("amplification", 4));
    recipe.error_decay = static_cast<float>(cell.number("error_decay", 0.95));
    recipe.outer.alpha = static_cast<float>(cell.number("alpha", 1));
    const auto form = run::step_form_named(cell.text("step", "exact"));
    if (!form) give_up("no form of a step: " + cell.text("step", ""));
    recipe.outer.form = *form;
    rule.members = static_cast<std::uint32_t>(cell.count("members", 4));
    read_attack(cell, rule);
    rule.steps = cell.count("steps", 10);
    rule.seed = cell.count("seed", 1);
    rule.momentum = cell.number("momentum", 0);
    rule.heavy_ball = cell.count("heavy", 0) != 0;
    rule.restart = cell.count("restart", 0);
    rule.measured_gain = cell.count("gain", 0) != 0;
    rule.dense_rounds = cell.count("dense", 0);
    rule.averaged = cell.count("average", 0);
    rule.late = static_cast<std::uint32_t>(cell.count("late", 0));
    rule.late_every = std::max<std::uint64_t>(1, cell.count("late_every", 1));
    rule.late_counts = cell.count("counted", 0) != 0;
    const std::string sent = cell.text("sent", "sparse");
    rule.sent = sent == "dense8" ? bench::Sent::dense8 : sent == "exact" ? bench::Sent::exact : bench::Sent::sparse;
    if (cell.kind == "swarm") return rule;
    // One computer: its own movement is the step.
    rule.sent = bench::Sent::exact;
    recipe.outer.alpha = 1;
    if (cell.kind == "together") recipe.batch *= rule.members;
    if (cell.kind == "alone") {
        recipe.total_rounds = static_cast<std::uint64_t>(
            std::llround(static_cast<double>(recipe.total_rounds) * cell.number("times", 1)));
    }
    rule.members = 1;
    rule.bad = 0;
    return rule;
}

model::ModelSpec model_named(const std::string& name, std::uint32_t context) {
    model::ModelSpec model;
    if (name == "10.8M") {
        model.layers = 6, model.heads = 6, model.width = 384;
    } else if (name == "0.1M") {
        model.layers = 2, model.heads = 4, model.width = 64;
    } else if (name == "toy") {
        model.layers = 1, model.heads = 2, model.width = 32;
    } else if (name != "0.8M") {
        give_up("no model: " + name);
    }
    model.context = context;
    return model;
}

struct Measured {
    Cell cell;
    std::vector<double> losses;  // one per seed
    double payload_bytes = 0;
    std::uint64_t tokens = 0;
    [[nodiscard]] double mean() const {
        double sum = 0;
        for (const double loss : losses) sum += loss;
        return sum / static_cast<double>(losses.size());
    }
};

/// What makes two cells of one training comparable: the tokens of a member and what is trained.
std::string ground_of(const Cell& cell) {
    std::string ground = cell.text("optimizer", "adamw");
    for (const char* name : {"bits", "batch"}) ground += " " + cell.text(name, "8");
    const std::uint64_t steps = cell.count("steps", 10) * cell.count("rounds", 50);
    return ground + " " + std::to_string(steps);
}

/// Best loss of one computer alone by multiples of a member's tokens.
std::map<double, double> curve_of(const std::vector<Measured>& all, const std::string& ground) {
    std::map<double, double> curve;
    for (const Measured& one : all) {
        if (one.cell.kind != "alone" || ground_of(one.cell) != ground) continue;
        const double times = one.cell.number("times", 1);
        const auto at = curve.find(times);
        curve[times] = at == curve.end() ? one.mean() : std::min(at->second, one.mean());
    }
    return curve;
}

/// How many times the tokens `curve` has this loss; text, because beyond its ends only a bound is known.
std::string effective_computers(const std::map<double, double>& curve, double loss) {
    if (curve.size() < 2) return "";
    char out[32];
    for (auto at = curve.begin(), next = std::next(at); next != curve.end(); ++at, ++next) {
        if (loss > at->second || loss < next->second) continue;
        const double part = (at->second - loss) / (at->second - next->second);
        std::snprintf(out, sizeof out, "%.2f", at->first * std::pow(next->first / at->first, part));
        return out;
    }
    const bool better = loss < curve.rbegin()->second;
    std::snprintf(out, sizeof out, "%s%g", better ? ">" : "<", better ? curve.rbegin()->first : curve.begin()->first);
    return out;
}

json told(const std::vector<Measured>& all) {
    json rows = json::array();
    std::printf("\n%-96s %8s %7s %10s %9s\n", "cell", "loss", "spread", "payload", "computers");
    for (const Measured& one : all) {
        const std::string computers = effective_computers(curve_of(all, ground_of(one.cell)), one.mean());
        const auto [least, most] = std::ranges::minmax(one.losses);
        std::printf("%-96s %8.4f %7.4f %10.0f %9s\n", one.cell.name({"seed"}).c_str(), one.mean(), most - least,
                    one.payload_bytes, computers.c_str());
        rows.push_back({{"cell", one.cell.name({"seed"})},
                        {"losses", one.losses},
                        {"loss", one.mean()},
                        {"payload_bytes", one.payload_bytes},
                        {"tokens_of_a_member", one.tokens},
                        {"effective_computers", computers}});
    }
    return rows;
}

constexpr const char* smoke_cells =
    "alone rounds=6 times=1/2/4; together rounds=6; swarm rounds=6 k=64/1024; swarm rounds=6 sent=dense8 momentum=0.5; "
    "swarm rounds=6 optimizer=muon gain=1 dense=2 average=2; "
    "swarm rounds=4 members=10 steps=2 k=1024 rule=mean/centered_clip bad=3 jury=3 delay=1 "
    "attack=sign_flip/random/label_flip/delayed/inner_product/little";
constexpr const char* usual_cells =
    "alone optimizer=muon rate=4e-3 times=1/2/4; together optimizer=muon rate=4e-3; "
    "swarm optimizer=muon rate=4e-3 k=256/4096; alone rate=3e-3";

}  // namespace

int main(int argc, char** argv) {
    std::map<std::string, std::string> options{{"--text", "."},        {"--cells", ""},    {"--model", "0.8M"},
                                               {"--context", "128"},   {"--threads", "1"}, {"--report", ""},
                                               {"--precision", "bf16"}};
    for (int i = 1; i + 1 < argc; i += 2) {
        if (!options.contains(argv[i])) give_up(std::string("no option: ") + argv[i]);
        options[argv[i]] = argv[i + 1];
    }
    const bool smoke = options["--cells"] == "smoke";
    training::treat_freed_memory(training::FreedMemory::kept);
    bench::Ground ground;
    ground.model = model_named(smoke ? "toy" : options["--model"],
                               smoke ? 32 : static_cast<std::uint32_t>(std::stoul(options["--context"])));
    ground.matmul = options["--precision"] == "bf16" ? training::Dtype::bf16 : training::Dtype::fp32;
    ground.threads = training::use_threads(static_cast<unsigned>(std::stoul(options["--threads"])));
    const std::filesystem::path memory = "/dev/shm";
    ground.folder = (std::filesystem::exists(memory) ? memory : std::filesystem::temp_directory_path()) /
                    ("bench_swarm_rules_" + std::to_string(getpid()));
    std::filesystem::create_directories(ground.folder);
    const bench::SplitText text = bench::split_text(options["--text"], ground.model.context);
    if (text.training.empty() || text.validation.empty()) give_up("there is too little text");
    ground.text = &text;
    const auto save = [&](const char* name, const auto& tokens) {
        std::ofstream(ground.folder / name, std::ios::binary)
            << as_text(model::stored_tokens(tokens, model::token_width(ground.model.vocabulary)));
    };
    save(bench::usual_shard, text.training);
    save(bench::mirrored_shard, bench::alphabet_mirrored(text.training, ground.model.context + 1));

    std::vector<Measured> all;
    const std::string list = smoke ? smoke_cells : options["--cells"].empty() ? usual_cells : options["--cells"];
    for (const Cell& cell : cells_of(list)) {
        const Outcome outcome = bench::RuleSwarm(ground, rule_of(cell)).run();
        std::fprintf(stderr, "%s: %.4f\n", cell.name().c_str(), outcome.loss);
        const auto same =
            std::ranges::find(all, cell.name({"seed"}), [](const Measured& one) { return one.cell.name({"seed"}); });
        Measured& to = same != all.end() ? *same : all.emplace_back(Measured{.cell = cell, .losses = {}});
        to.losses.push_back(outcome.loss);
        to.payload_bytes = outcome.payload_bytes;
        to.tokens = outcome.tokens;
    }
    std::filesystem::remove_all(ground.folder);
    const json report = {{"bench", "swarm_rules"}, {"model", options["--model"]}, {"cells", told(all)}};
    if (!options["--report"].empty()) std::ofstream(options["--report"]) << report.dump(2) << '\n';
    return 0;
}
