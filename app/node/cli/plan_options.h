// What `potluck-node plan` is asked.
#pragma once

#include <cstdint>
#include <string>

#include "core/model/cost_model.h"

namespace potluck::node {

struct PlanOptions {
    std::string model;
    std::uint32_t context = 0, batch = 0;  // 0: the model's, the recipe's
    std::uint32_t volunteers = 50;
    std::string gpu = "RTX 3060";
    std::uint64_t tokens = 0;  // 0: by the model's size
    double utilisation = model::utilisation_assumed;
    double price_per_kilowatt_hour = 0.30;
};

}  // namespace potluck::node
