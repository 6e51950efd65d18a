// What training a model costs: operations, days of volunteers' GPUs, electricity and disk. An estimate from published
// figures, made before anything is measured; pure.
//
// Operations per token: 6 N + 12 L C T (Kaplan et al. 2020, section 2.1, and Narayanan et al. 2021, section 5.1: N
// parameters, L layers of width C, context T): two for each parameter forwards and four backwards, and the products of
// attention. Computing every layer twice to save memory adds one more forward pass: 8 N + 16 L C T.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/model/model_spec.h"

namespace potluck::model {

/// A GPU's dense 16-bit matrix products with fp32 sums, as its maker states them, and the power its board may draw.
/// GeForce cards add in fp32 at half the rate of their often quoted fp16 figure: this is the lower one.
struct GpuFigures {
    std::string_view name;
    double teraflops = 0;
    double watts = 0;
};
[[nodiscard]] std::span<const GpuFigures> known_gpus();
/// Upper and lower case, "NVIDIA", "GeForce", "AMD" and "Radeon" make no difference. `not_found` with the names that
/// are known.
[[nodiscard]] Result<GpuFigures> find_gpu(std::string_view name);

/// Share of a GPU's peak that training reaches: llm.c reports 40-60% for GPT-2 on one data-centre GPU, offloading on
/// one RTX 3090 reaches 45-50%. Ours is what the plan measures; this is for GPUs that are not here.
inline constexpr double utilisation_assumed = 0.40;

struct CostQuestion {
    ModelSpec model;
    double recomputed = 0;  // as in flops_per_token
    std::uint64_t tokens = 0;
    std::uint32_t volunteers = 1;
    GpuFigures gpu;
    double utilisation = utilisation_assumed;
    double price_per_kilowatt_hour = 0.30;
};

struct Cost {
    double flops_per_token = 0;
    double flops = 0;           // of all tokens
    double days = 0;            // of all volunteers together, day and night
    double kilowatt_hours = 0;  // of the GPU boards at full power, for everybody together
    double price = 0;
    std::uint64_t checkpoint_bytes = 0;  // one state file
    std::uint64_t data_bytes = 0;        // shards, if no token is trained on twice
};
[[nodiscard]] Cost cost_of(const CostQuestion& question);

/// Training costs three times the forward pass's 2 P + 4 L C T (Kaplan et al., arXiv 2001.08361, with attention), and
/// the share of the forward pass that the backward pass computes again (`recomputed`: 0 to 1).
[[nodiscard]] double flops_per_token(const ModelSpec& model, double recomputed);

}  // namespace potluck::model
