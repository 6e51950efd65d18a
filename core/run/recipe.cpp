// A recipe in JSON, read strictly: every field is there but those that came later, has its bounds, and no other is. One
// that came later is written only where it differs from what held before it, so that the manifests of earlier runs keep
// their bytes, and with them their ids.
//
// Bounds are wide enough for any run that makes sense; they keep arithmetic on rounds and times from overflowing.
#include "core/run/recipe.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/json.h"
#include "core/run/density.h"

namespace potluck::run {

namespace {

constexpr std::uint64_t total_rounds_max = 1'000'000'000;
constexpr std::uint64_t window_ms_max = 7ULL * 24 * 3600 * 1000;
constexpr std::uint64_t standing_rounds_max = 10'000;
constexpr std::uint64_t probation_ms_max = 30ULL * 24 * 3600 * 1000;
constexpr std::uint64_t probation_tokens_max = 1ULL << 40U;
// Thousandths count; of all there is no limit, and no field.
constexpr double unvouched_share_max = 0.999;
constexpr double jury_share_min = 1e-4, jury_share_max = 0.5;
constexpr std::uint64_t table_every_min = 2;  // a newcomer begins with the list before
constexpr std::uint64_t patience_ms_max = 24ULL * 3600 * 1000;

void read_optimizer(Fields& fields, Recipe& recipe) {
    const std::optional<Optimizer> optimizer = optimizer_named(fields.text("optimizer", 16));
    if (!optimizer) fields.fail("\"optimizer\" is not one this version knows (adamw, lamb, muon)");
    recipe.optimizer = optimizer.value_or(Optimizer::adamw);
    if (fields.has("lamb_debias")) {
        const std::optional<LambDebias> debias = lamb_debias_named(fields.text("lamb_debias", 16));
        if (!debias) fields.fail("\"lamb_debias\" is not one this version knows (moments, rate, none)");
        recipe.lamb_debias = debias.value_or(LambDebias::moments);
        if (recipe.optimizer != Optimizer::lamb) fields.fail("\"lamb_debias\" is for lamb only");
    }
    recipe.state_bits = static_cast<std::uint32_t>(fields.integer("state_bits", 8, 32));
    if (recipe.state_bits != 8 && recipe.state_bits != 32) fields.fail("\"state_bits\" is neither 8 nor 32");
    recipe.epsilon = fields.number("epsilon", 1e-15, 1.0);
}

void read_outer(Fields& fields, numerics::OuterStep& outer) {
    outer.alpha = static_cast<float>(fields.number("alpha", 1e-6, 10.0));
    outer.amplification = static_cast<std::uint32_t>(fields.integer("amplification", 1, 4'096));
    if (fields.has("step")) {
        const std::optional<numerics::StepForm> form = step_form_named(fields.text("step", 16));
        if (!form) fields.fail("\"step\" is not one this version knows (exact, coded)");
        outer.form = form.value_or(numerics::StepForm::exact);
    }
    if (fields.has("robust")) {
        const std::optional<numerics::RobustRule> rule = robust_rule_named(fields.text("robust", 16));
        if (!rule) fields.fail("\"robust\" is not one this version knows (mean, centered_clip)");
        outer.robust = rule.value_or(numerics::RobustRule::mean);
    }
}

}  // namespace

const char* name_of(Optimizer optimizer) {
    switch (optimizer) {
        case Optimizer::adamw: return "adamw";
        case Optimizer::lamb: return "lamb";
        case Optimizer::muon: return "muon";
    }
    return "";
}

std::optional<Optimizer> optimizer_named(std::string_view name) {
    for (const Optimizer optimizer : {Optimizer::adamw, Optimizer::lamb, Optimizer::muon}) {
        if (name == name_of(optimizer)) return optimizer;
    }
    return std::nullopt;
}

const char* name_of(LambDebias debias) {
    switch (debias) {
        case LambDebias::moments: return "moments";
        case LambDebias::rate: return "rate";
        case LambDebias::none: return "none";
    }
    return "";
}

std::optional<LambDebias> lamb_debias_named(std::string_view name) {
    for (const LambDebias debias : {LambDebias::moments, LambDebias::rate, LambDebias::none}) {
        if (name == name_of(debias)) return debias;
    }
    return std::nullopt;
}

const char* name_of(numerics::StepForm form) { return form == numerics::StepForm::coded ? "coded" : "exact"; }

std::optional<numerics::StepForm> step_form_named(std::string_view name) {
    for (const numerics::StepForm form : {numerics::StepForm::exact, numerics::StepForm::coded}) {
        if (name == name_of(form)) return form;
    }
    return std::nullopt;
}

const char* name_of(numerics::RobustRule rule) {
    return rule == numerics::RobustRule::centered_clip ? "centered_clip" : "mean";
}

std::optional<numerics::RobustRule> robust_rule_named(std::string_view name) {
    for (const numerics::RobustRule rule : {numerics::RobustRule::mean, numerics::RobustRule::centered_clip}) {
        if (name == name_of(rule)) return rule;
    }
    return std::nullopt;
}

bool Recipe::ends_probation(std::uint64_t rounds, TokenCount credit) const {
    // Rounds that the time asks for, rounded up: a product could overflow, for rounds come from a table.
    const auto timed = static_cast<std::uint64_t>((probation_time.count() + window.count() - 1) / window.count());
    return rounds >= probation_rounds && rounds >= timed && credit.value >= probation_tokens;
}

std::optional<BoundsRule> Recipe::bounds_rule() const {
    if (strangers.newcomer_rms == 0 && strangers.unvouched_share == 1) return std::nullopt;
    BoundsRule rule;
    rule.unvouched = static_cast<std::uint32_t>(std::llround(strangers.unvouched_share * Bounds::whole));
    // A step of a round, which is what probation asks for: nobody can keep others in it by claiming next to nothing.
    rule.claim = std::max<std::uint64_t>(1, probation_tokens / std::max(1U, probation_rounds));
    return rule;
}

double Recipe::newcomers_norm(const std::optional<Bounds>& bounds, std::size_t parameters) const {
    if (!bounds || strangers.newcomer_rms == 0) return 0;
    return bounds->norm > 0 ? bounds->norm : numerics::norm_of(strangers.newcomer_rms, parameters);
}

nlohmann::json Recipe::to_json() const {
    nlohmann::json json = {{"optimizer", name_of(optimizer)},
                           {"state_bits", state_bits},
                           {"epsilon", epsilon},
                           {"learning_rate", learning_rate},
                           {"final_fraction", final_fraction},
                           {"beta1", beta1},
                           {"beta2", beta2},
                           {"weight_decay", weight_decay},
                           {"clip_norm", clip_norm},
                           {"batch", batch},
                           {"warmup_rounds", warmup_rounds},
                           {"total_rounds", total_rounds},
                           {"window_ms", window.count()},
                           {"k", k},
                           {"k_max", k_max},
                           {"error_decay", error_decay},
                           {"alpha", outer.alpha},
                           {"amplification", outer.amplification},
                           {"checkpoint_every", checkpoint_every},
                           {"collect_ms", collect.count()},
                           {"grace_ms", grace.count()},
                           {"fit_rounds", fit_rounds},
                           {"probation_rounds", probation_rounds},
                           {"rounds_late_max", rounds_late_max},
                           {"table_every", table_every},
                           {"seed", seed}};
    if (lamb_debias != LambDebias::moments) json["lamb_debias"] = name_of(lamb_debias);
    if (outer.form != numerics::StepForm::exact) json["step"] = name_of(outer.form);
    if (outer.robust != numerics::RobustRule::mean) json["robust"] = name_of(outer.robust);
    if (probation_time.count() > 0) json["probation_ms"] = probation_time.count();
    if (probation_tokens > 0) json["probation_tokens"] = probation_tokens;
    if (strangers.newcomer_rms > 0) json["newcomer_rms"] = strangers.newcomer_rms;
    if (strangers.unvouched_share < 1) json["unvouched_share"] = strangers.unvouched_share;
    if (measuring.jury > 0) json["jury"] = measuring.jury;
    if (measuring.every > 0) json["measure_every"] = measuring.every;
    return json;
}

Result<Recipe> Recipe::from_json(const nlohmann::json& object) {
    Fields fields(object, "recipe");
    const auto milliseconds = [&](std::string_view name, std::uint64_t high) {
        return Duration(static_cast<Duration::rep>(fields.integer(name, 1, high)));
    };
    Recipe recipe;
    read_optimizer(fields, recipe);
    recipe.learning_rate = fields.number("learning_rate", 1e-9, 10.0);
    recipe.final_fraction = fields.number("final_fraction", 0.0, 1.0);
    recipe.beta1 = fields.number("beta1", 0.0, 0.999999);
    recipe.beta2 = fields.number("beta2", 0.0, 0.999999);
    recipe.weight_decay = fields.number("weight_decay", 0.0, 10.0);
    recipe.clip_norm = fields.number("clip_norm", 1e-6, 1e6);
    recipe.batch = static_cast<std::uint32_t>(fields.integer("batch", 1, 65'536));
    recipe.warmup_rounds = fields.integer("warmup_rounds", 0, total_rounds_max);
    recipe.total_rounds = fields.integer("total_rounds", 1, total_rounds_max);
    recipe.window = milliseconds("window_ms", window_ms_max);
    recipe.k = static_cast<std::uint32_t>(fields.integer("k", 1, chunk_entries));
    recipe.k_max = static_cast<std::uint32_t>(fields.integer("k_max", recipe.k, chunk_entries));
    recipe.error_decay = static_cast<float>(fields.number("error_decay", 0.0, 1.0));
    read_outer(fields, recipe.outer);
    recipe.checkpoint_every = fields.integer("checkpoint_every", 1, total_rounds_max);
    recipe.collect = milliseconds("collect_ms", patience_ms_max);
    recipe.grace = milliseconds("grace_ms", patience_ms_max);
    recipe.fit_rounds = static_cast<std::uint32_t>(fields.integer("fit_rounds", 1, standing_rounds_max));
    recipe.probation_rounds = static_cast<std::uint32_t>(fields.integer("probation_rounds", 0, standing_rounds_max));
    if (fields.has("probation_ms")) recipe.probation_time = milliseconds("probation_ms", probation_ms_max);
    if (fields.has("probation_tokens"))
        recipe.probation_tokens = fields.integer("probation_tokens", 1, probation_tokens_max);
    if (fields.has("newcomer_rms")) recipe.strangers.newcomer_rms = fields.number("newcomer_rms", 1e-9, 1e3);
    if (fields.has("unvouched_share"))
        recipe.strangers.unvouched_share = fields.number("unvouched_share", 0.0, unvouched_share_max);
    if (fields.has("jury")) recipe.measuring.jury = fields.number("jury", jury_share_min, jury_share_max);
    if (fields.has("measure_every")) recipe.measuring.every = fields.integer("measure_every", 1, measure_every_max);
    recipe.rounds_late_max = static_cast<std::uint32_t>(fields.integer("rounds_late_max", 0, 1));
    recipe.table_every = fields.integer("table_every", table_every_min, total_rounds_max);
    recipe.seed = fields.integer("seed", 0, std::numeric_limits<std::uint64_t>::max());
    if (recipe.warmup_rounds > recipe.total_rounds) fields.fail("\"warmup_rounds\" is larger than total_rounds");
    if (const Status status = fields.finish(); !status) return status.error();
    return recipe;
}

Duration usual_window(std::uint64_t parameters) {
    constexpr double bits_of_a_value = 3.05, bits_per_second = 10e6, others = 15;
    // Ten times the seconds that a bit of each parameter takes.
    const double a_bit_each = exchange_divisor * static_cast<double>(parameters) / bits_per_second;
    const double longest_for_all = std::chrono::duration<double>(Recipe{}.window).count();
    const double everything = std::min(bits_of_a_value * a_bit_each, longest_for_all);
    const double least = others * bits_per_parameter(Recipe{}.k) * a_bit_each;
    const double longest = std::chrono::duration<double>(usual_window_max).count();
    const double seconds = std::min(std::max(everything, least), longest);
    return std::max(usual_window_min, Duration{static_cast<std::int64_t>(seconds * 1000)});
}

Duration usual_collect(Duration window) {
    return std::clamp(2 * window / exchange_divisor, Recipe{}.collect,
                      Duration{static_cast<std::int64_t>(patience_ms_max)});
}

std::uint64_t usual_measuring(std::uint64_t total_rounds) {
    constexpr std::uint64_t points = 20;
    return std::clamp(total_rounds / points, std::uint64_t{1}, usual_measure_every);
}

std::uint64_t usual_probation_tokens(const model::ModelSpec& model, const Recipe& recipe) {
    const std::uint64_t step = std::uint64_t{recipe.batch} * model.context;
    return std::min(step * recipe.probation_rounds, probation_tokens_max);
}

double usual_newcomer_rms(const Recipe& recipe) {
    constexpr double steps = 64;
    return steps * recipe.learning_rate;
}

double usual_learning_rate(const model::ModelSpec& model, const Recipe& recipe) {
    constexpr std::uint64_t small_encoder = 4'000'000;  // parameters
    if (model::is_embedder(model)) return 1e-3;
    if (!model::is_encoder(model)) return recipe.optimizer == Optimizer::muon ? 6e-3 : 3e-3;
    if (model.parameters() < small_encoder) return 1e-3;
    return 0.00176 * std::sqrt(recipe.batch / 4096.0);
}

std::uint32_t fitting_batch(const model::ModelSpec& model, std::uint32_t batch) {
    const std::uint32_t together = model::records_together(model);
    return (std::max(batch, 1U) + together - 1) / together * together;
}

double learning_rate_at(const Recipe& recipe, std::uint64_t round) {
    const double last = recipe.learning_rate * recipe.final_fraction;
    if (round >= recipe.total_rounds) return last;
    if (round < recipe.warmup_rounds) {
        // One step per round, the first above zero, so that no round trains in vain.
        return recipe.learning_rate * static_cast<double>(round + 1) / static_cast<double>(recipe.warmup_rounds + 1);
    }
    const auto done = static_cast<double>(round - recipe.warmup_rounds);
    const auto span = static_cast<double>(recipe.total_rounds - recipe.warmup_rounds);
    return recipe.learning_rate + (last - recipe.learning_rate) * (done / span);
}

}  // namespace potluck::run
