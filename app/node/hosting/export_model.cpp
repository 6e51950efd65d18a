#include "app/node/hosting/export_model.h"

#include <algorithm>
#include <stop_token>
#include <system_error>

#include <boost/asio/post.hpp>
#include <nlohmann/json.hpp>

#include "app/node/hosting/export_tokenizer.h"
#include "core/base/files.h"
#include "core/model/hf_config.h"
#include "core/model/state_layout.h"

namespace potluck::node {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t piece_bytes = 64U << 20U;  // copied between two looks at whether to give up

Status make_folder(const fs::path& folder) {
    std::error_code failed;
    fs::create_directories(folder, failed);
    if (!failed) return {};
    return Error{ErrorCode::permission,
                 "The folder " + folder.string() + " cannot be made (" + failed.message() + ")."};
}

}  // namespace

/// What the worker needs. It is the worker's alone once it was submitted.
struct ModelExporter::Job {
    MappedFile state;
    model::ModelSpec model;
    fs::path file;
    Sparsity sparsity = Sparsity::dense;
    ExportedModel exported;

    Result<ExportedModel> work(const std::stop_token& stop);

private:
    Status write(const fs::path& partial, const std::stop_token& stop);
    void prune(std::span<std::byte> file_bytes);
};

Result<ExportedModel> ModelExporter::Job::work(const std::stop_token& stop) {
    const fs::path partial = file.string() + ".partial";
    std::error_code failed;
    Status outcome = write(partial, stop);
    if (outcome) {
        fs::rename(partial, file, failed);
        if (failed) outcome = Error{ErrorCode::io, file.string() + " cannot be written (" + failed.message() + ")."};
    }
    if (outcome) return exported;
    fs::remove(partial, failed);
    return outcome.error();
}

Status ModelExporter::Job::write(const fs::path& partial, const std::stop_token& stop) {
    const ByteSpan bytes = state.bytes();
    auto map = MappedFile::create(partial, bytes.size());
    if (!map) return map.error();
    const std::span<std::byte> out = map->writable();
    for (std::size_t begin = 0; begin < bytes.size(); begin += piece_bytes) {
        if (stop.stop_requested()) {
            return Error{ErrorCode::cancelled, "The export was given up because the node ended."};
        }
        const ByteSpan piece = bytes.subspan(begin, std::min(piece_bytes, bytes.size() - begin));
        std::copy(piece.begin(), piece.end(), out.begin() + static_cast<std::ptrdiff_t>(begin));
    }
    if (sparsity == Sparsity::two_of_four) prune(out);
    return map->sync();
}

void ModelExporter::Job::prune(std::span<std::byte> file_bytes) {
    const auto parameters = static_cast<std::size_t>(model.parameters());
    auto* first = reinterpret_cast<float*>(file_bytes.data() + (file_bytes.size() - 4 * parameters));
    exported.pruned = model::prune_2_of_4(model, std::span(first, parameters));
}

ModelExporter::~ModelExporter() = default;

/// Everything but the weights: what may be refused, and the small files.
Result<std::shared_ptr<ModelExporter::Job>> ModelExporter::prepare(const HeldModel& model, const fs::path& folder,
                                                                   Sparsity sparsity) const {
    if (m_job) return Error{ErrorCode::unavailable, "Another export is being written; try again when it is done."};
    if (const Status made = make_folder(folder); !made) return made.error();
    const auto job = std::make_shared<Job>();
    job->file = folder / "model.safetensors";
    job->sparsity = sparsity;
    job->model = model.manifest.model;
    if (fs::exists(job->file)) {
        return Error{ErrorCode::invalid_argument, folder.string() + " already holds a model; give another folder."};
    }
    auto state = MappedFile::open_read(model.state_file);
    if (!state) return state.error();
    job->state = std::move(*state);
    std::vector<std::string>& files = job->exported.files;
    files = {job->file.string(), (folder / "config.json").string()};
    const std::string config = model::hugging_face_config(job->model).dump(2) + "\n";
    if (Status written = write_file_atomically(files.back(), as_bytes(config)); !written) return written.error();
    if (Status written = export_tokenizer(model, folder, files); !written) return written.error();
    return job;
}

void ModelExporter::export_model(const Result<HeldModel>& model, const fs::path& folder, Sparsity sparsity,
                                 std::function<void(const Result<ExportedModel>&)> done) {
    m_owner.check();
    if (!model) return done(model.error());
    const auto prepared = prepare(*model, folder, sparsity);
    if (!prepared) return done(prepared.error());
    const std::shared_ptr<Job> job = *prepared;
    m_job = job;
    if (!m_worker) {
        m_worker = std::make_unique<Worker>(
            [&loop = m_loop](std::function<void()> call) { boost::asio::post(loop, std::move(call)); });
    }
    m_worker->run([job, stop = m_worker->stopping()] { return job->work(stop); },
                  [this, done = std::move(done)](const Result<ExportedModel>& exported) {
                      m_job.reset();
                      done(exported);
                  });
}

}  // namespace potluck::node
