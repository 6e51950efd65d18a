// Which layout a model is trained in here: every layout that makes sense for the device is priced in bytes and in
// expected time, those beyond the budget are struck out, and the fastest of the rest wins. What remains, each smaller
// than the one before, is the next to fall back to when memory runs out all the same.
//
// Quality comes before speed: a local model in bf16 and a gradient summed up in bf16 are taken only where nothing else
// fits. Bytes are counted from the shapes of what decoder.cpp, trainer.cpp and core/numerics really hold; a test
// compares them with the measured peak of the process.
// Pure: facts in, plans out. Threads: any.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/control/trainer_protocol.h"
#include "core/model/model_spec.h"
#include "core/run/recipe.h"
#include "core/training/memory/layout.h"

namespace potluck::training {

/// A micro-step should end within this, so that a request waits for at most about twice as long. A GPU draws the
/// desktop between them; a processor's threads of low priority hold nobody up, and larger micro-batches are up to half
/// as fast again there (eight records of captions at once beside one by one).
[[nodiscard]] constexpr double micro_step_seconds(DeviceKind device) { return device == DeviceKind::cpu ? 0.25 : 0.12; }

/// A device that is to compute shares of the batches beside the one that the plan is for.
struct FurtherDevice {
    DeviceId device;
    std::string name;          // as its maker calls it
    std::uint64_t budget = 0;  // bytes of its memory
    double flops = 0;          // per second, of the plan's products; 0: not measured
};

/// Whether further devices train only where the expected speed rises by them, or because a person chose them.
enum class FurtherUse { where_faster, chosen };

struct PlanFacts {
    DeviceId device;
    Dtype matmul = Dtype::fp32;           // the quickest here
    double flops = 0;                     // per second, of those products; 0: not measured
    double busy = 0;                      // share of the processor that others had meanwhile; 0: too little to matter
    double bytes_per_second = 0;          // of the computer's memory; 0: not known
    double gpu_bytes_per_second = 0;      // of the GPU's
    bool gpu_can_step = false;            // the plug-in with the optimizer's kernels is there
    bool gpu_sums_wide = false;           // adds products in 16 bits to sums in fp32 as it makes them (products.h)
    bool onednn = false;                  // multiplies fp32 on the processor (products.h)
    bool amx = false;                     // the processor multiplies bf16 in tiles
    double link_bytes_per_second = 12e9;  // between the computer's memory and the GPU's
    std::uint64_t program_bytes = 0;      // resident before a model is loaded: the program and LibTorch
    std::uint64_t gpu_program_bytes = 0;  // of the GPU's memory before that: CUDA's context, kernels, work space
    std::uint64_t ram_budget = 0, gpu_budget = 0;
    std::uint64_t disk_budget = 0;  // of the scratch folder; 0: nothing may be kept there
    std::vector<FurtherDevice> further = {};
    FurtherUse further_use = FurtherUse::where_faster;
    std::vector<control::DeviceLeftOut> left_out = {};  // chosen, and cannot train at all
};

struct MemoryPlan {
    Layout layout;
    std::vector<control::PlanPart> parts;
    std::uint64_t gpu_peak = 0, ram_peak = 0, disk = 0;  // bytes
    double tokens_per_second = 0;                        // 0: the device was not measured
    double cost = 0;                                     // seconds per token with penalties: what is minimised
    std::uint64_t replica_gpu = 0;                       // bytes of a further device: gpu_peak without the moments
    std::vector<DeviceId> further = {};                  // those of the facts for which there is memory
    std::vector<control::DeviceLeftOut> left_out = {};   // the others, with what is lacking
};

/// Whether a model's products run in fp32 alone: autograd sums the gradient of a tensor over its applications in the
/// numbers of the products, but for an embedder's, which casts a weight for each application.
[[nodiscard]] constexpr bool in_fp32_only(const model::ModelSpec& model) {
    return model::is_one_block(model) && !model::is_embedder(model);
}

/// Every layout, cheapest first, whatever the budget.
[[nodiscard]] std::vector<MemoryPlan> all_plans(const model::ModelSpec& model, const run::Recipe& recipe,
                                                const PlanFacts& facts);

/// The plan to use, then ever smaller ones. `out_of_memory` with a sentence that names the smallest budget that works.
[[nodiscard]] Result<std::vector<MemoryPlan>> plans_within_budget(const model::ModelSpec& model,
                                                                  const run::Recipe& recipe, const PlanFacts& facts);

/// Prices one layout, for layouts that a request forces. Both choose without further devices, and then add those.
[[nodiscard]] MemoryPlan price_of(const model::ModelSpec& model, const run::Recipe& recipe, const PlanFacts& facts,
                                  const Layout& layout);

/// Which of the facts' further devices train by `plan`, which was chosen without them: each that has room for the same
/// layout, as long as the computer has room for its gradient and, unless they were chosen, it is faster with them than
/// without. Completes the plan's parts, peak, speed and reasons.
void add_further_devices(const model::ModelSpec& model, const run::Recipe& recipe, const PlanFacts& facts,
                         MemoryPlan& plan);

/// Whether the budget that `plan` was made for holds a second model beside it, for questions about other states.
/// `unavailable` with the memory that it would take.
[[nodiscard]] Status room_for_second_model(const model::ModelSpec& model, const PlanFacts& facts,
                                           const MemoryPlan& plan);

/// One line for people, for example "bf16, micro-batch 2, 8-bit AdamW, selective checkpointing".
[[nodiscard]] std::string summary_of(const Layout& layout, const run::Recipe& recipe);
/// One sentence per choice that is not the plain one.
[[nodiscard]] std::vector<std::string> reasons_of(const Layout& layout, const PlanFacts& facts);

[[nodiscard]] nlohmann::json to_json(const Layout& layout);
[[nodiscard]] Result<Layout> layout_from_json(const nlohmann::json& object);

}  // namespace potluck::training
