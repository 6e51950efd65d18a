// The trainer knows devices and budgets, so it makes the plan. The limits are those which the node keeps, with this
// call's laid over them, so that what is printed is what a run would get.
#include "app/node/cli/verbs/computer/plan.h"

#include <chrono>
#include <iostream>
#include <utility>

#include <CLI/CLI.hpp>

#include "app/node/cli/byte_size.h"
#include "app/node/cli/complain.h"
#include "app/node/cli/verbs/computer/verbs.h"
#include "app/node/session/settings.h"
#include "app/node/trainer/one_answer.h"
#include "core/run/recipe.h"

namespace potluck::node {

namespace {

constexpr std::chrono::seconds plan_patience{60};

/// The limits of this call, completed by those that the node keeps.
Result<control::Budget> budget_for(const NodeOptions& node) {
    auto settings = NodeSettings::load(node.data_folder);
    if (!settings) return settings.error();
    settings->apply(node.limits);
    return settings->budget;
}

}  // namespace

void PlanVerb::add(CLI::App& plan) {
    plan.add_option("model", m_options.model, "A model's name, or a folder of Hugging Face with its config.json")
        ->required();
    plan.add_option("--context", m_options.context, "Context in tokens, instead of the model's")
        ->check(CLI::Range(8, 16'384));
    plan.add_option("--batch", m_options.batch, "Sequences per optimizer step (default: the recipe's)")
        ->check(CLI::Range(1, 65'536));
    m_texts.add(plan, "--tokens", "Tokens to train on, for example 10B (default: 20 for each parameter)",
                [this](const std::string& text) { return take(parse_count(text), m_options.tokens); });
    plan.add_option("--volunteers", m_options.volunteers, "Volunteers who share the work")
        ->check(CLI::Range(1, 1'000'000));
    plan.add_option("--gpu", m_options.gpu, "The GPU of each of them, for example \"RTX 3060\"");
    plan.add_option("--utilisation", m_options.utilisation, "Share of that GPU's peak that training reaches")
        ->check(CLI::Range(0.01, 1.0));
    plan.add_option("--price-per-kwh", m_options.price_per_kilowatt_hour, "Price of electricity")
        ->check(CLI::Range(0.0, 1000.0));
    add_json(plan);
}

Result<PlanView> PlanVerb::ask(const ThisNode& node) const {
    auto model = model_for_plan(m_options.model);
    if (!model) return model.error();
    if (m_options.context > 0) model->context = m_options.context;
    run::Recipe recipe;
    recipe.batch = run::fitting_batch(*model, recipe.batch);
    if (m_options.batch > 0) recipe.batch = m_options.batch;
    auto budget = budget_for(node.options);
    if (!budget) return budget.error();
    TrainerQuestion question;
    question.program = trainer_of(node.options);
    question.patience = plan_patience;
    auto answer =
        ask_once(std::move(question), control::PlanRequest{*model, recipe, *budget, node.options.trainer_threads});
    if (!answer.result) return answer.result.error();
    return view_plan(*model, m_options, *std::move(answer.result));
}

ExitCode PlanVerb::run(const ThisNode& node) {
    const auto view = ask(node);
    if (!view) return complain(view.error());
    if (output() == Output::json) {
        print_json(plan_json(*view));
    } else {
        std::cout << plan_text(*view) << std::flush;
    }
    return ExitCode::ok;
}

std::unique_ptr<Verb> plan_verb() {
    return std::make_unique<PlanVerb>("plan", "How a model would be trained here, and what it costs");
}

}  // namespace potluck::node
