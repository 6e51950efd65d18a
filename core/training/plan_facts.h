// What the memory plan needs to know of this computer: the devices that the person chose or all GPUs, the budgets that
// follow from what is free, and how fast matrix products are there.
// Threads: the one that owns the tensors.
#pragma once

#include <functional>

#include "core/base/result.h"
#include "core/control/trainer_protocol.h"
#include "core/training/memory/plan.h"

namespace potluck::training {

/// GEMM dtype; `measured` picks the fastest.
enum class PrecisionChoice { measured, fp32, bf16, fp16 };

/// Whether the device must be here, or a plan may be drawn for one that is not: a GPU with the budget's memory.
enum class Hardware { here, here_or_imagined };

/// `unavailable` with the reason if none of the devices that were asked for can train.
[[nodiscard]] Result<PlanFacts> plan_facts(const model::ModelSpec& model, const control::Budget& budget,
                                           PrecisionChoice precision, Hardware hardware);

using FactsFinder =
    std::function<Result<PlanFacts>(const model::ModelSpec&, const control::Budget&, PrecisionChoice, Hardware)>;

}  // namespace potluck::training
