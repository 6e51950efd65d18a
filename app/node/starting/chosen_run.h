// A person's choices for a new run, looked at: what host_run() would be given, how large the data is, and what cannot
// stand. It reads sizes, a configuration and a tokenizer, and never the text itself, so that a form may ask at each
// pause in typing. What it finds nothing wrong with may still be refused by host_run(), which reads everything.
// Threads: the caller's; a folder of many files or a large tokenizer takes a while.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <vector>

#include "app/node/starting/host_run.h"
#include "core/control/host_methods.h"
#include "core/control/trainer_protocol.h"
#include "core/model/cost_model.h"

namespace potluck::node {

/// What text takes of a subword tokenizer's tokens: English in GPT-2's is a little more than this.
inline constexpr std::uint64_t text_bytes_per_token = 4;
/// Tokens per parameter if nobody says how many: where larger models begin to pay more than more text (Hoffmann et al.
/// 2022).
inline constexpr std::uint64_t tokens_per_parameter = 20;

struct DataSize {
    std::uint64_t bytes = 0, files = 0;
    std::uint64_t tokens = 0;  // counted in token files, guessed of text
};

struct ChosenRun {
    HostPlan plan;
    std::optional<model::ModelSpec> model;  // nothing where the choices name none that is known
    DataSize data;
    std::vector<control::ChoiceProblem> problems;
};

/// `stop` ends the look at a folder early; what was counted so far is returned.
[[nodiscard]] ChosenRun look_at(const control::RunChoices& choices, const std::stop_token& stop);

/// What a plan of the trainer and the disk say; nothing where they could not be asked.
struct EstimateFacts {
    std::optional<control::PlanReply> plan;
    std::uint64_t disk_free = 0;
};
/// Pure. Rounds follow from the tokens and how fast the volunteers are, or the tokens from the rounds that were chosen.
[[nodiscard]] control::RunEstimate estimate_run(const ChosenRun& chosen, const control::EstimateRun& question,
                                                const EstimateFacts& facts);

/// Presets and GPUs that can be chosen.
[[nodiscard]] control::RunOptions run_options();

}  // namespace potluck::node
