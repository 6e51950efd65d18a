// `potluck-node plan <model>`: how a model would be trained on this computer, part by part, and what training it costs
// a swarm of volunteers. The trainer plans (it knows the devices), core/model/cost_model.h estimates, this prints.
// Threads: one. Needs no running node.
#pragma once

#include <string>

#include "app/node/cli/command_line.h"
#include "app/node/starting/chosen_run.h"
#include "core/control/trainer_protocol.h"
#include "core/model/cost_model.h"

namespace potluck::node {

/// A model by its name, its config.json of Hugging Face, or the folder that holds one.
[[nodiscard]] Result<model::ModelSpec> model_for_plan(const std::string& name);

struct PlanView {
    model::ModelSpec model;
    control::PlanReply plan;
    model::CostQuestion question;
    model::Cost cost;
};

[[nodiscard]] Result<PlanView> view_plan(const model::ModelSpec& model, const PlanOptions& options,
                                         control::PlanReply plan);
/// "35 minutes", "2.3 days".
[[nodiscard]] std::string duration_text(double days);
[[nodiscard]] std::string plan_text(const PlanView& view);
[[nodiscard]] nlohmann::json plan_json(const PlanView& view);

[[nodiscard]] ExitCode run_plan(const Command& command);

}  // namespace potluck::node
