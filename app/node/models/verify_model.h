// Whether a model's file is the state that its run agreed on, by the proof that lies beside it. Reads those two files
// and nothing else: no data folder, no network.
// Threads: any one.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>

#include "core/base/result.h"
#include "core/proof/check_proof.h"
#include "core/run/manifest.h"

namespace potluck::node {

struct VerifyPlan {
    std::filesystem::path model;  // a file, or a folder with model.safetensors
    std::filesystem::path proof;  // empty: potluck.proof in the model's folder
    unsigned threads = 1;
};

struct VerifiedModel {
    std::filesystem::path model, proof;
    run::Manifest manifest;
    proof::Proven proven;
    proof::StateCheck check;
    std::optional<proof::ByteChange> change;  // the one byte that differs, if it is one

    [[nodiscard]] bool same() const { return check.damaged.empty(); }
};

/// What is being done, and how far it is.
using VerifyProgress = std::function<void(const char* what, double share)>;

/// A model that differs is a result; a proof that is forged is `untrusted`, one that does not parse `malformed`.
[[nodiscard]] Result<VerifiedModel> verify_model(const VerifyPlan& plan, const VerifyProgress& progress = {});

}  // namespace potluck::node
