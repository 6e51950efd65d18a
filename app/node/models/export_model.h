// Writes a model that this computer holds as a folder that Hugging Face transformers opens: config.json, the tokenizer
// or a note on it, a model card, the proof of where the state comes from, and last model.safetensors, dense or pruned.
// A dense one is the state file itself, byte for byte, so its hash tree is the one that the run's committee signed.
// A model that embeds pictures comes with torchvision.safetensors: what torchvision's networks remember of pictures is
// no part of the shared state, so a trainer measures it with the held-out ones where both are here. What takes long is
// done by a worker thread, so that a large model on a slow disk does not keep the node from its rounds. One export at a
// time.
//
// Threads: the loop's. Owns: the worker; its own map of the state, which may leave the node's store meanwhile.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "app/node/models/held_model.h"
#include "core/base/thread_owner.h"
#include "core/base/worker.h"
#include "core/model/sparse_model.h"

namespace potluck::node {

/// two_of_four: the matrices of attention and MLP by the rule of core/numerics/sparse24.h.
enum class Sparsity { dense, two_of_four };

struct ExportedModel {
    std::vector<std::string> files;
    std::uint64_t round = 0;
    bool agreed = false;  // a proof lies beside it
    std::optional<model::PrunedModel> pruned;
};

class ModelExporter {
public:
    explicit ModelExporter(boost::asio::io_context& loop) : m_loop(loop) {}
    /// Abandons an export that is under way; its file does not appear.
    ~ModelExporter();
    ModelExporter(const ModelExporter&) = delete;
    ModelExporter& operator=(const ModelExporter&) = delete;

    /// The folder is made if missing; a model that is there already is not replaced.
    void export_model(const Result<HeldModel>& model, const std::filesystem::path& folder, Sparsity sparsity,
                      std::function<void(const Result<ExportedModel>&)> done);

private:
    struct Job;
    void begin(const std::shared_ptr<Job>& job, std::function<void(const Result<ExportedModel>&)> done);
    Result<std::shared_ptr<Job>> prepare(const HeldModel& model, const std::filesystem::path& folder,
                                         Sparsity sparsity) const;

    ThreadOwner m_owner;
    boost::asio::io_context& m_loop;
    std::shared_ptr<Job> m_job;  // the export under way
    std::unique_ptr<Worker> m_worker;
};

}  // namespace potluck::node
