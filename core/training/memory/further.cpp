// Devices beside the one that a plan is for. They never change which layout is chosen, so that a computer trains with
// them in no worse layout than without: each takes part if there is room for it, and else is told why not.
//
// A further device holds what the plan's does but for the moments, since the step is the lead's. Where L lives in the
// computer's memory, so does each device's gradient of its shares.
#include <algorithm>
#include <cstdio>
#include <utility>

#include "core/training/memory/plan.h"
#include "core/training/memory/price.h"

namespace potluck::training {

namespace {

std::string gigabytes(std::uint64_t bytes) {
    char text[32] = {};
    std::snprintf(text, sizeof text, "%.1f GB", static_cast<double>(bytes) / 1e9);
    return text;
}

constexpr const char* slower =
    "This run would train no faster with it: passing on the gradient of a batch takes longer than it saves. Name the "
    "GPUs with --device to use them all the same.";

std::string named(const FurtherDevice& device) { return device.name + " (" + id_of(device.device) + ")"; }

/// Tokens per second of all together: a batch takes what its shares do, and then its gradients and parameters cross
/// the link once for each further device. A device that was not measured counts as none.
double speed_together(const model::ModelSpec& model, const run::Recipe& recipe, const PlanFacts& facts,
                      const MemoryPlan& plan) {
    double relative = 1;
    for (const FurtherDevice& device : facts.further)
        if (std::ranges::find(plan.further, device.device) != plan.further.end())
            relative += device.flops / facts.flops;
    const auto shares = static_cast<double>(recipe.batch / model::records_together(model));
    relative = std::min(relative, shares);
    const double batch_tokens = static_cast<double>(recipe.batch) * model.context;
    const auto width = static_cast<double>(bytes_of(plan.layout.gradient) + bytes_of(plan.layout.weights));
    const double crossing = static_cast<double>(plan.further.size() * model.parameters()) * width;
    const double seconds = batch_tokens / (plan.tokens_per_second * relative) + crossing / facts.link_bytes_per_second;
    return batch_tokens / seconds;
}

}  // namespace

void add_further_devices(const model::ModelSpec& model, const run::Recipe& recipe, const PlanFacts& facts,
                         MemoryPlan& plan) {
    plan.left_out = facts.left_out;
    const bool on_host = plan.layout.state == Residency::host;
    const std::uint64_t gradient = on_host ? model.parameters() * bytes_of(plan.layout.gradient) : 0;
    const std::uint64_t room = needed(plan.replica_gpu);
    std::uint64_t taken = 0;
    for (const FurtherDevice& device : facts.further) {
        const std::string id = id_of(device.device);
        if (room > device.budget) {
            plan.left_out.push_back({id, named(device) + " has " + gigabytes(device.budget) +
                                             " free for training, and this layout needs " + gigabytes(room) +
                                             ": close other programs that use it, or switch it off."});
        } else if (needed(plan.ram_peak + taken + gradient) > facts.ram_budget) {
            plan.left_out.push_back({id, "The computer's memory has no room for the gradient of " + named(device) +
                                             ", " + gigabytes(gradient) +
                                             ": close other programs, or allow training more memory."});
        } else {
            plan.further.push_back(device.device);
            taken += gradient;
        }
    }
    if (plan.further.empty()) return;
    if (plan.tokens_per_second > 0) {
        const double together = speed_together(model, recipe, facts, plan);
        if (facts.further_use == FurtherUse::where_faster && together <= plan.tokens_per_second) {
            for (const DeviceId& device : std::exchange(plan.further, {}))
                plan.left_out.push_back({id_of(device), slower});
            return;
        }
        plan.tokens_per_second = together;
    }
    if (taken > 0) {
        plan.parts.push_back(
            {.what = "gradients of further devices", .how = name_of(plan.layout.gradient), .ram = taken});
        plan.ram_peak += taken;
    }
}

}  // namespace potluck::training
