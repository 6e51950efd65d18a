// Makes a run out of text or pictures, on disk only: computes theta[0] or takes it from a checkpoint, packs the data,
// writes and signs the manifest, and puts everything into the run's folder, where the node finds it as its saved run.
// Threads: one; takes as long as the text is large.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/control/node_protocol.h"
#include "core/data/text_packer.h"
#include "core/identity/identity.h"
#include "core/run/invite.h"
#include "core/run/manifest.h"

namespace potluck::node {

struct HostPlan {
    std::filesystem::path text;    // a file or folder of text; or else
    std::filesystem::path tokens;  // a file or folder of tokens, as find_token_files takes it
    /// Or a folder of PNG and PPM: for a model of pictures or, with captions, one that draws.
    std::filesystem::path pictures;
    std::filesystem::path coder;            // of a model that draws: checkpoint folder of the coder of its codes
    std::filesystem::path trainer_program;  // runs that coder
    std::filesystem::path from;             // a checkpoint folder of transformers to start from; empty: a fresh model
    std::filesystem::path tokenizer;        // a .model file, or a folder as find_tokenizer takes it; empty: the
                                            // checkpoint's, else bytes
    std::uint32_t vocabulary = 0;           // at least; 0: the tokenizer's. Tokens may come with this and no tokenizer
    std::string name = "Potluck run";
    std::string purpose;
    std::string licence = "Apache-2.0";
    /// A fresh model: all but the vocabulary, which follows from the tokenizer. A checkpoint: only dropout and
    /// context count (0: the checkpoint's).
    model::ModelSpec model;
    /// With a probation_time and rounds of probation, its probation_tokens are usual_probation_tokens() of the model.
    run::Recipe recipe;
    /// The recipe's window, or usual_window() of the model.
    enum class Window { of_recipe, by_size } window = Window::of_recipe;
    /// The recipe's patience for contributions, or usual_collect() of the window.
    enum class Patience { of_recipe, by_window } patience = Patience::of_recipe;
    std::vector<PeerId> backbones;
    std::vector<PeerId> allowed;
};

struct HostedRun {
    run::Invite invite;  // without hints
    run::Manifest manifest;
    data::PackedText text;
};

/// `fraction` of the stage; false ends the making, and the call returns `cancelled`.
using MakingProgress = std::function<bool(control::MakingStage stage, double fraction)>;

/// How a round moves the model where the host names nothing: nobody knows how many will come, and with few it costs no
/// loss (docs/decisions.md).
inline constexpr numerics::StepForm usual_step = numerics::StepForm::coded;

/// The jury of a run whose host names none: run::usual_jury, but 0 for models that embed pictures, of which
/// measurements seldom agree on anything (docs/measurements.md).
[[nodiscard]] double usual_jury_for(const model::ModelSpec& model);

/// `computer` is the one that hosts, one of the person `host`.
[[nodiscard]] Result<HostedRun> host_run(const HostPlan& plan, const identity::Identity& host,
                                         const run::Device& computer, const std::filesystem::path& data_folder,
                                         const MakingProgress& progress);

}  // namespace potluck::node
