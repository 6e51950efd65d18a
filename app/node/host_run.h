// Makes a run out of text, on disk only: packs the text, computes theta[0], writes and signs the manifest, and puts
// everything into the run's folder, where the node finds it as its saved run.
// Threads: one; takes as long as the text is large.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/data/text_packer.h"
#include "core/identity/identity.h"
#include "core/run/invite.h"
#include "core/run/manifest.h"

namespace potluck::node {

struct HostPlan {
    std::filesystem::path text;
    std::filesystem::path tokenizer;  // a .model file, or a folder as find_tokenizer takes it; empty: bytes
    std::string name = "Potluck run";
    std::string purpose;
    std::string licence = "Apache-2.0";
    run::ModelSpec model;  // its vocabulary follows from the tokenizer
    run::Recipe recipe;
    std::vector<PeerId> backbones;
    std::vector<PeerId> allowed;
};

/// "tiny", "small", "gpt2", "gpt2-medium", "gpt2-large", "gpt2-xl".
[[nodiscard]] Result<run::ModelSpec> model_preset(const std::string& name);

struct HostedRun {
    run::Invite invite;  // without hints
    run::Manifest manifest;
    data::PackedText text;
};

[[nodiscard]] Result<HostedRun> host_run(const HostPlan& plan, const identity::Identity& host,
                                         const std::filesystem::path& data_folder, const data::PackProgress& progress);

}  // namespace potluck::node
