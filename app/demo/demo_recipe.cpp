// The recipes as data and as words of the command line. Each family's figures were chosen by measurement: with those of
// another a picture coder's volunteers walk too far apart in a window, and a decoder learns too little in three
// minutes. A file may replace any of them, for measurements and short tests; what it does not name stays as the family
// has it. Whatever the recipe, the run is made by `potluck-node host`, so a person can make the same one. What a recipe
// cannot say is not the demo's to choose either: the rest are host's own defaults.
#include "app/demo/demo_recipe.h"

#include <algorithm>
#include <sstream>
#include <utility>

#include "core/base/files.h"
#include "core/base/json.h"
#include "core/model/presets.h"

namespace potluck::node {

namespace {

constexpr std::size_t recipe_bytes_max = 64 * 1024;
constexpr std::uint64_t rounds_min = 4;

std::string text_of(double value) {
    std::ostringstream out;
    out << value;
    return out.str();
}

std::vector<std::string> in_a_row(std::vector<std::pair<const char*, std::string>> options) {
    std::vector<std::string> arguments;
    for (auto& [name, value] : options) {
        arguments.emplace_back(name);
        arguments.push_back(std::move(value));
    }
    return arguments;
}

}  // namespace

bool DemoRecipe::embeds() const {
    const auto preset = model::model_preset(model);
    return preset && model::is_embedder(*preset);
}

std::uint64_t DemoRecipe::rounds_in(double for_minutes) const {
    const double rounds = 60 * for_minutes / (window_seconds + overhead_seconds);
    return std::max(rounds_min, static_cast<std::uint64_t>(rounds));
}

DemoRecipe DemoRecipe::of_family(std::string_view family) {
    DemoRecipe recipe;
    if (family == "llama") recipe.model = "llama-tiny";
    if (family == "albert") {
        recipe.model = "albert-tiny";
        recipe.batch = 16;
        recipe.learning_rate = 2e-3;
    }
    if (family == "coder") {
        recipe.model = "coder-small";
        recipe.layers = 1;
        recipe.width = 32;
        recipe.side = 32;
        recipe.batch = 8;
        recipe.window_seconds = 4;
        recipe.learning_rate = 2e-3;
        recipe.weight_decay = 0.01;
        recipe.beta2 = 0.98;
    }
    if (family == "dalle") {
        recipe.model = "dalle-emoji";
        recipe.layers = 6;
        recipe.width = 96;
        recipe.side = 16;
        recipe.caption = 46;
        recipe.batch = 8;
        recipe.learning_rate = 3e-3;
        recipe.weight_decay = 0.01;
    }
    if (family == "swav") {
        recipe.model = "swav-tiny";
        recipe.layers = 4;
        recipe.width = 16;
        recipe.side = 24;
        recipe.prototypes = 60;
        recipe.batch = 64;
        recipe.window_seconds = 5;
        recipe.learning_rate = 3e-3;
        recipe.weight_decay = 1e-6;
        recipe.beta2 = 0.98;
    }
    return recipe;
}

std::vector<std::string> DemoRecipe::host_arguments(std::uint64_t rounds) const {
    std::vector<std::pair<const char*, std::string>> options = {
        {"--model", model},
        {"--layers", std::to_string(layers)},
        {"--width", std::to_string(width)},
        {"--batch", std::to_string(batch)},
        {"--window", text_of(window_seconds)},
        {"--density", density},
        {"--optimizer", optimizer},
        {"--state-bits", std::to_string(state_bits)},
        {"--beta1", text_of(beta1)},
        {"--beta2", text_of(beta2)},
        {"--epsilon", text_of(epsilon)},
        {"--clip", text_of(clip_norm)},
        {"--learning-rate", text_of(learning_rate)},
        {"--final-fraction", text_of(final_fraction)},
        {"--warmup", std::to_string(warmup_rounds)},
        {"--weight-decay", text_of(weight_decay)},
        {"--error-decay", text_of(error_decay)},
        {"--alpha", text_of(alpha)},
        {"--amplification", std::to_string(amplification)},
        {"--checkpoint-every", std::to_string(checkpoint_every)},
        {"--collect", text_of(collect_seconds)},
        {"--grace", text_of(grace_seconds)},
        {"--fit-rounds", std::to_string(fit_rounds)},
        {"--probation-hours", "0"},  // a demo takes minutes
        {"--rounds", std::to_string(rounds)},
    };
    if (draws()) {
        options.emplace_back("--heads", std::to_string(heads));
        options.emplace_back("--caption", std::to_string(caption));
    } else if (trains_pictures()) {
        options.emplace_back("--side", std::to_string(side));
        if (embeds()) options.emplace_back("--prototypes", std::to_string(prototypes));
    } else {
        options.emplace_back("--heads", std::to_string(heads));
        options.emplace_back("--context", std::to_string(context));
    }
    return in_a_row(options);
}

std::vector<std::string> DemoRecipe::coder_arguments() const {
    return in_a_row({{"--model", "coder-small"},
                     {"--width", std::to_string(coder_width)},
                     {"--side", std::to_string(side)},
                     {"--batch", "8"},
                     {"--learning-rate", text_of(coder_learning_rate)},
                     {"--warmup", "20"},
                     {"--weight-decay", "0.01"},
                     {"--beta2", "0.98"},
                     {"--rounds", "1000"}});
}

Result<DemoRecipe> DemoRecipe::from_file(const std::filesystem::path& file, const DemoRecipe& usual) {
    const auto bytes = read_file(file, recipe_bytes_max);
    if (!bytes) return bytes.error();
    const auto json = parse_json(as_text(*bytes), recipe_bytes_max);
    if (!json) return json.error();
    DemoRecipe recipe = usual;
    Fields fields(*json, "demo recipe");
    const auto whole = [&](const char* name, std::uint32_t& value) {
        value = static_cast<std::uint32_t>(fields.integer_or(name, 1, 1 << 20, value));
    };
    const auto real = [&](const char* name, double& value) { value = fields.number_or(name, 0, 1e6, value); };
    recipe.model = fields.text_or("model", 32, recipe.model);
    whole("layers", recipe.layers);
    whole("width", recipe.width);
    whole("heads", recipe.heads);
    whole("context", recipe.context);
    whole("side", recipe.side);
    whole("caption", recipe.caption);
    whole("prototypes", recipe.prototypes);
    whole("coder_width", recipe.coder_width);
    whole("batch", recipe.batch);
    whole("amplification", recipe.amplification);
    whole("fit_rounds", recipe.fit_rounds);
    recipe.warmup_rounds = fields.integer_or("warmup_rounds", 0, 1 << 20, recipe.warmup_rounds);
    recipe.checkpoint_every = fields.integer_or("checkpoint_every", 1, 1 << 20, recipe.checkpoint_every);
    real("window_seconds", recipe.window_seconds);
    real("window_steps", recipe.window_steps);
    recipe.optimizer = fields.text_or("optimizer", 16, recipe.optimizer);
    recipe.density = fields.text_or("density", 16, recipe.density);
    whole("state_bits", recipe.state_bits);
    real("beta1", recipe.beta1);
    real("beta2", recipe.beta2);
    real("epsilon", recipe.epsilon);
    real("clip_norm", recipe.clip_norm);
    real("learning_rate", recipe.learning_rate);
    real("final_fraction", recipe.final_fraction);
    real("weight_decay", recipe.weight_decay);
    real("error_decay", recipe.error_decay);
    real("alpha", recipe.alpha);
    real("collect_seconds", recipe.collect_seconds);
    real("grace_seconds", recipe.grace_seconds);
    real("coder_seconds", recipe.coder_seconds);
    real("coder_learning_rate", recipe.coder_learning_rate);
    real("minutes", recipe.minutes);
    real("overhead_seconds", recipe.overhead_seconds);
    if (const Status done = fields.finish(); !done) return done.error();
    return recipe;
}

}  // namespace potluck::node
