// What `potluck-node plan <model>` shows: how a model would be trained on this computer, part by part, and what
// training it costs a swarm of volunteers. The trainer plans (it knows the devices), core/model/cost_model.h estimates,
// this prints. Threads: pure functions.
#pragma once

#include <cstdint>
#include <string>

#include <nlohmann/json.hpp>

#include "core/control/trainer_protocol.h"
#include "core/model/cost_model.h"

namespace potluck::node {

/// A model by its name, its config.json of Hugging Face, or the folder that holds one.
[[nodiscard]] Result<model::ModelSpec> model_for_plan(const std::string& name);

/// What `potluck-node plan` is asked.
struct PlanOptions {
    std::string model;
    std::uint32_t context = 0, batch = 0;  // 0: the model's, the recipe's
    std::uint32_t volunteers = 50;
    std::string gpu = "RTX 3060";
    std::uint64_t tokens = 0;  // 0: by the model's size
    double utilisation = model::utilisation_assumed;
    double price_per_kilowatt_hour = 0.30;
};

struct PlanView {
    model::ModelSpec model;
    control::PlanReply plan;
    model::CostQuestion question;
    model::Cost cost;
};

[[nodiscard]] Result<PlanView> view_plan(const model::ModelSpec& model, const PlanOptions& options,
                                         control::PlanReply plan);
[[nodiscard]] std::string plan_text(const PlanView& view);
[[nodiscard]] nlohmann::json plan_json(const PlanView& view);

}  // namespace potluck::node
