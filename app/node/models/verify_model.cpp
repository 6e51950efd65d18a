#include "app/node/models/verify_model.h"

#include <system_error>
#include <utility>

#include "app/node/models/export_proof.h"
#include "core/base/files.h"
#include "net/blob_torrent.h"

namespace potluck::node {

namespace {

namespace fs = std::filesystem;

Result<VerifiedModel> find_files(const VerifyPlan& plan) {
    VerifiedModel found;
    std::error_code failed;
    found.model = fs::is_directory(plan.model, failed) ? plan.model / "model.safetensors" : plan.model;
    found.proof = plan.proof.empty() ? folder_of(found.model) / proof_file_name : plan.proof;
    if (!fs::is_regular_file(found.model, failed)) {
        return Error{ErrorCode::not_found, "There is no model at " + found.model.string() + "."};
    }
    if (!fs::is_regular_file(found.proof, failed)) {
        return Error{ErrorCode::not_found, "There is no proof at " + found.proof.string() +
                                               "; name one with --proof, or export the model again, which writes it."};
    }
    return found;
}

}  // namespace

Result<VerifiedModel> verify_model(const VerifyPlan& plan, const VerifyProgress& progress) {
    auto verified = find_files(plan);
    if (!verified) return verified.error();
    const auto told = [&](const char* what) {
        return [&progress, what](double share) {
            if (progress) progress(what, share);
        };
    };
    const auto proof_map = MappedFile::open_read(verified->proof);
    if (!proof_map) return proof_map.error();
    const auto proof = proof::ProofFile::parse(proof_map->bytes());
    if (!proof) return proof.error();
    const ByteSpan manifest = proof->manifest_file();
    const RunId run = net::run_of_manifest(manifest);
    auto proven = proof::check_proof(*proof, run, run::Ed25519Verifier(), told("history"));
    if (!proven) return proven.error();
    verified->proven = std::move(*proven);
    verified->manifest = proof->manifest().manifest;

    const auto model = MappedFile::open_read(verified->model);
    if (!model) return model.error();
    auto check = proof::check_state(*proof, model->bytes(), plan.threads, told("model"));
    if (!check) return check.error();
    verified->check = std::move(*check);
    verified->change = proof::find_changed_byte(*proof, verified->check, model->bytes(), plan.threads, told("byte"));
    return verified;
}

}  // namespace potluck::node
