// Every combination of what a layout may choose is priced; there are a few hundred. Time per token is the products' at
// the device's measured rate, plus the bytes that each choice moves beside them; see `seconds_per_token`. The products'
// count is model::flops_per_token, to which checkpointing adds the part of the forward pass that it computes again.
//
// Quality loss enters as a factor on that time, so one number orders all plans. plans_within_budget() walks them from
// the cheapest and keeps each that fits and needs at least a twentieth less of the scarce memory than the one kept
// before: the first is used, the others are what training falls back to when memory runs out all the same.
//
// Pure, and deterministic: ties keep the order in which layouts are made.
#include "core/training/memory/plan.h"

#include <algorithm>

#include "core/model/cost_model.h"
#include "core/training/memory/price.h"

namespace potluck::training {

namespace {

// Cost multipliers for quality loss: a layout with the flaw must be this much faster to be preferred. They order plans
// and are no measured losses: bf16 weights (stepped with stochastic rounding) are taken only where fp32 weights do not
// fit or stream eight times slower, a bf16 gradient before them; an anchor on disk costs no quality, only two reads a
// round. Layers that are undone are as much work as those that are run again and cost the rounding of their
// inputs: they come last of what costs little.
constexpr double bf16_weights_penalty = 8;
constexpr double bf16_gradient_penalty = 2;
constexpr double disk_penalty = 1.02;
constexpr double reversed_penalty = 1.03;
/// The share of one large product's rate that a whole step reaches; measured by tests/bench/training.
constexpr double fp32_efficiency = 0.8, short_efficiency = 0.5;
constexpr double unmeasured_flops = 1e11, unmeasured_bytes = 1e10;

double width_of(Dtype dtype) { return static_cast<double>(bytes_of(dtype)); }

/// The share of the forward pass that the backward pass computes again; selective is norms and activations.
double recomputed_by(Checkpointing checkpointing) {
    switch (checkpointing) {
        case Checkpointing::none: return 0;
        case Checkpointing::selective: return 0.03;
        case Checkpointing::full:
        case Checkpointing::reversed: break;
    }
    return 1;
}

double seconds_per_token(const model::ModelSpec& model, const run::Recipe& recipe, const PlanFacts& facts,
                         const Layout& layout) {
    const double flops = facts.flops > 0 ? facts.flops : unmeasured_flops;
    const double known = layout.state == Residency::device ? facts.gpu_bytes_per_second : facts.bytes_per_second;
    const double memory = known > 0 ? known : unmeasured_bytes;
    const double size = static_cast<double>(model.parameters());
    const double efficiency = layout.matmul == Dtype::fp32 ? fp32_efficiency : short_efficiency;
    const bool gpu = layout.device.kind != DeviceKind::cpu;
    const double micro_tokens = static_cast<double>(std::max(1U, layout.micro_batch)) * model.context;
    const double batch_tokens = static_cast<double>(recipe.batch) * model.context;
    // Small products do not fill a GPU; a thousand rows do.
    const double filled = gpu ? std::min(1.0, micro_tokens / 1024) : 1;

    double seconds = model::flops_per_token(model, recomputed_by(layout.checkpointing)) / (flops * efficiency * filled);
    double per_step =
        size * (2 * width_of(layout.weights) + 2 * width_of(layout.gradient) + (layout.state_bits == 8 ? 4.1 : 16.0));
    double per_micro = 0;
    if (layout.weights != layout.matmul && !(gpu && layout.state == Residency::host)) {
        (layout.weights_flow == Streaming::streamed ? per_micro : per_step) +=
            (layout.weights_flow == Streaming::streamed ? 2 : 1) * size * 6;
    }
    if (layout.gradient != Dtype::fp32) per_micro += size * 12;
    seconds += per_step / memory / batch_tokens + per_micro / memory / micro_tokens;
    if (gpu && layout.state == Residency::host) {
        const double crossings =
            layout.weights_flow == Streaming::streamed ? 3 : 1;  // gradients, weights forward and back
        const double link = (crossings * size * 2) / facts.link_bytes_per_second / micro_tokens;
        // What streams beside the products costs only what it takes longer than they.
        seconds =
            std::max(seconds, link) + 0.05 * link +
            (layout.weights_flow == Streaming::resident ? size * 2 / facts.link_bytes_per_second / batch_tokens : 0);
    }
    return seconds;
}

MemoryPlan priced(const model::ModelSpec& model, const run::Recipe& recipe, const PlanFacts& facts,
                  const Layout& layout) {
    MemoryPlan plan;
    plan.layout = layout;
    price(model, recipe, facts, plan);
    const double seconds = seconds_per_token(model, recipe, facts, layout);
    plan.tokens_per_second = facts.flops > 0 ? 1 / seconds : 0;
    plan.cost = seconds;
    if (layout.weights == Dtype::bf16) plan.cost *= bf16_weights_penalty;
    if (layout.gradient == Dtype::bf16 && layout.micro_batch < recipe.batch) plan.cost *= bf16_gradient_penalty;
    if (layout.anchor == Residency::disk) plan.cost *= disk_penalty;
    if (layout.checkpointing == Checkpointing::reversed) plan.cost *= reversed_penalty;
    return plan;
}

/// Micro-batches to try: halvings of the batch, or the one that the model is defined by.
std::vector<std::uint32_t> micro_batches(const model::ModelSpec& model, const run::Recipe& recipe) {
    const std::uint32_t together = model::records_together(model);
    if (together > 1) return {together};
    std::vector<std::uint32_t> sizes;
    for (std::uint32_t size = recipe.batch; size > 1; size = (size + 1) / 2) sizes.push_back(size);
    sizes.push_back(1);
    return sizes;
}

/// Calls `take` with `layout` in which each choice was made in turn.
template <class Take>
void for_each_layout(const model::ModelSpec& model, const run::Recipe& recipe, const PlanFacts& facts,
                     const Take& take) {
    Layout layout;
    layout.device = facts.device;
    layout.matmul = facts.matmul;
    layout.state_bits = recipe.state_bits;
    const bool device_steps = facts.gpu_can_step && recipe.optimizer != run::Optimizer::muon;
    const std::vector<Residency> states =
        device_steps ? std::vector{Residency::device, Residency::host} : std::vector{Residency::host};
    const std::vector<Residency> anchors =
        facts.disk_budget > 0 ? std::vector{Residency::host, Residency::disk} : std::vector{Residency::host};
    for (const std::uint32_t micro_batch : micro_batches(model, recipe))
        for (const Residency state : states)
            for (const Dtype weights : {Dtype::fp32, Dtype::bf16})
                for (const Dtype gradient : {Dtype::fp32, Dtype::bf16})
                    for (const Residency anchor : anchors)
                        for (const Streaming flow : {Streaming::resident, Streaming::streamed})
                            for (const Checkpointing checkpointing : {Checkpointing::none, Checkpointing::selective,
                                                                      Checkpointing::full, Checkpointing::reversed}) {
                                layout.micro_batch = micro_batch;
                                layout.state = state;
                                layout.weights = weights;
                                layout.gradient = gradient;
                                layout.anchor = anchor;
                                layout.weights_flow = flow;
                                layout.checkpointing = checkpointing;
                                take(layout);
                            }
}

std::uint64_t mebibytes(std::uint64_t bytes) { return (bytes >> 20U) + 1; }

Error too_little(const std::vector<MemoryPlan>& plans, const PlanFacts& facts) {
    const bool gpu = facts.device.kind != DeviceKind::cpu;
    const auto excess = [&](const MemoryPlan& plan) {
        const auto over = [](std::uint64_t need, std::uint64_t have) { return need > have ? need - have : 0; };
        return over(needed(plan.ram_peak), facts.ram_budget) + over(needed(plan.gpu_peak), facts.gpu_budget);
    };
    const MemoryPlan& least =
        *std::ranges::min_element(plans, {}, [&](const MemoryPlan& plan) { return excess(plan); });
    const std::uint64_t ram = mebibytes(needed(least.ram_peak)), graphics = mebibytes(needed(least.gpu_peak));
    const auto both = [&](std::uint64_t ram_mebibytes, std::uint64_t gpu_mebibytes) {
        std::string text = std::to_string(ram_mebibytes) + " MiB of memory";
        if (gpu) text += " and " + std::to_string(gpu_mebibytes) + " MiB of GPU memory";
        return text;
    };
    std::string message = "This model cannot be trained within " +
                          both(facts.ram_budget >> 20U, facts.gpu_budget >> 20U) +
                          "; the smallest that works here is " + both(ram, graphics) +
                          ": close other programs, or give --ram " + std::to_string(ram) + "MiB";
    if (gpu) message += " --gpu-memory " + std::to_string(graphics) + "MiB";
    return {ErrorCode::out_of_memory, message + "."};
}

}  // namespace

MemoryPlan price_of(const model::ModelSpec& model, const run::Recipe& recipe, const PlanFacts& facts,
                    const Layout& layout) {
    MemoryPlan plan = priced(model, recipe, facts, layout);
    add_further_devices(model, recipe, facts, plan);
    return plan;
}

std::vector<MemoryPlan> all_plans(const model::ModelSpec& model, const run::Recipe& recipe, const PlanFacts& facts) {
    std::vector<MemoryPlan> plans;
    for_each_layout(model, recipe, facts, [&](const Layout& layout) {
        const bool gpu = layout.device.kind != DeviceKind::cpu;
        const bool in_place = layout.weights == layout.matmul && (!gpu || layout.state == Residency::device);
        if (in_place && layout.weights_flow == Streaming::streamed) return;  // there is no copy to stream
        // Shared weights are one block, and autograd keeps all of a layer or nothing.
        const bool shared = model::is_one_block(model) && !model::reads_pictures(model);
        if (shared && layout.weights_flow == Streaming::streamed) return;
        if (shared && layout.checkpointing == Checkpointing::selective) return;
        if (layout.checkpointing == Checkpointing::reversed && !model::is_drawer(model)) return;
        if (model::reads_pictures(model)) {
            const bool again = model::is_embedder(model) && layout.checkpointing == Checkpointing::full;
            if (layout.weights_flow == Streaming::streamed) return;
            if (layout.checkpointing != Checkpointing::none && !again) return;
        }
        MemoryPlan plan = priced(model, recipe, facts, layout);
        const double seconds = layout.micro_batch * model.context / std::max(plan.tokens_per_second, 1e-9);
        if (layout.micro_batch > model::records_together(model) && plan.tokens_per_second > 0 &&
            seconds > 2 * micro_step_seconds(layout.device.kind))
            return;
        plans.push_back(std::move(plan));
    });
    std::ranges::stable_sort(plans, {}, &MemoryPlan::cost);
    return plans;
}

Result<std::vector<MemoryPlan>> plans_within_budget(const model::ModelSpec& model, const run::Recipe& recipe,
                                                    const PlanFacts& facts) {
    const std::vector<MemoryPlan> all = all_plans(model, recipe, facts);
    std::vector<MemoryPlan> fallback_plans;
    for (const MemoryPlan& plan : all) {
        const bool fits = needed(plan.ram_peak) <= facts.ram_budget && needed(plan.gpu_peak) <= facts.gpu_budget &&
                          plan.disk <= facts.disk_budget;
        if (!fits) continue;
        // Memory that ran out did so on the GPU if there is one; else in the computer.
        const auto scarce = [&](const MemoryPlan& p) { return facts.gpu_budget > 0 ? p.gpu_peak : p.ram_peak; };
        // A plan that saves less than a twentieth would fail for the same reason.
        const bool smaller = fallback_plans.empty() || scarce(plan) + scarce(plan) / 20 < scarce(fallback_plans.back());
        if (smaller) fallback_plans.push_back(plan);
    }
    if (fallback_plans.empty()) return too_little(all, facts);
    for (MemoryPlan& plan : fallback_plans) add_further_devices(model, recipe, facts, plan);
    return fallback_plans;
}

Status room_for_second_model(const model::ModelSpec& model, const PlanFacts& facts, const MemoryPlan& plan) {
    const SecondModelBytes more = second_model_bytes(model, plan.layout);
    const bool fits = needed(plan.ram_peak + more.ram) <= facts.ram_budget &&
                      (more.gpu == 0 || needed(plan.gpu_peak + more.gpu) <= facts.gpu_budget);
    if (fits) return {};
    std::string message = "A second copy of the weights does not fit beside training: it takes " +
                          std::to_string(mebibytes(more.ram)) + " MiB of memory";
    if (more.gpu > 0) message += " and " + std::to_string(mebibytes(more.gpu)) + " MiB of GPU memory";
    return Error{ErrorCode::unavailable, message + "."};
}

}  // namespace potluck::training
