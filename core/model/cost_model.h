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

/// How many computers that train alone a swarm is worth: one that trains on that many members' tokens reaches the same
/// loss. Between `low` and `high`, as measured.
struct SwarmWorth {
    double low = 1, high = 1;
    /// The geometric mean of both.
    [[nodiscard]] double middle() const;
};
/// Volunteers to the power of an exponent that falls with the optimizer steps of a round, fitted to four members as
/// `bench_swarm_rules` measured them (docs/decisions.md): 2, 5 and 10 steps a round were worth 2.8, 2.4 and 1.8
/// computers with 10.8M parameters and 200 steps of each, and 3.6, 3.1 and 2.3 with 0.8M and 500 steps. Sixteen members
/// lie between both: 11 with 2 steps, 8 with 5. Fewer steps count as 2 and more as 10, because nothing else was
/// measured. All sent every value at their best rate: a run that sends less is worth less.
[[nodiscard]] SwarmWorth swarm_worth(double volunteers, double steps);

/// So often text is read with next to the gain of new text; from there on each reading gains less (Muennighoff et al.
/// 2023, "Scaling Data-Constrained Language Models", arXiv 2305.16264).
inline constexpr double repeats_useful_max = 4;
/// Longer runs are planned by mistake more often than on purpose: two months.
inline constexpr double days_planned_max = 60;

struct CostQuestion {
    ModelSpec model;
    double recomputed = 0;  // as in flops_per_token
    std::uint64_t tokens = 0;
    std::uint32_t volunteers = 1;
    double steps = 0;  // of the optimizer, of one volunteer in a round; 0: unknown, as with many
    GpuFigures gpu;
    double utilisation = utilisation_assumed;
    double price_per_kilowatt_hour = 0.30;
};

struct Cost {
    double flops_per_token = 0;
    double flops = 0;  // of all tokens
    SwarmWorth worth;  // of the volunteers
    double days = 0;   // until the volunteers are where one computer is after the tokens, day and night
    double days_low = 0, days_high = 0;  // the same by the best and the worst that was measured
    double kilowatt_hours = 0;           // of the GPU boards at full power, for everybody together
    double price = 0;
    std::uint64_t checkpoint_bytes = 0;  // one state file
    std::uint64_t data_bytes = 0;        // shards, if no token is trained on twice
};
[[nodiscard]] Cost cost_of(const CostQuestion& question);

/// Training costs three times the forward pass's 2 P + 4 L C T (Kaplan et al., arXiv 2001.08361, with attention), and
/// the share of the forward pass that the backward pass computes again (`recomputed`: 0 to 1).
[[nodiscard]] double flops_per_token(const ModelSpec& model, double recomputed);

}  // namespace potluck::model
