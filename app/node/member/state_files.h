// The run's vectors on disk: peer::StateStore over memory-mapped files in the run's folder.
//
//   states/<round>.safetensors   theta[round], whole and synced       states/<round>.partial   being written
//   states/index.json            round and digest of each, replaced atomically after the file is in place
//   scratch/<name>.f32           error feedback, snapshot, look-ahead (flat fp32)
//   record                       the peer's small record
//   evidence/<key>.evidence      the proof that this key lied, for anybody to check
//   evidence/<list>.false-step   the proof that seats signed a false step of this list, likewise
//
// A state is visible only after its file and the index are on disk, so whatever is announced survives a kill at any
// moment. Files that the index does not name are removed at the next open.
// Threads: any; one call per state at a time. Owns: the maps.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "core/base/files.h"
#include "core/model/model_spec.h"
#include "core/model/state_layout.h"
#include "core/peer/seams/state_store.h"

namespace potluck::node {

[[nodiscard]] std::filesystem::path state_file_in(const std::filesystem::path& run_folder, RoundId round);
[[nodiscard]] std::filesystem::path evidence_file_in(const std::filesystem::path& run_folder, const PeerId& author);
[[nodiscard]] std::filesystem::path false_step_file_in(const std::filesystem::path& run_folder, const Digest& list);
/// The states that the index of a run's folder names and whose files have the right size, oldest first.
[[nodiscard]] Result<std::vector<peer::StateStore::Held>> stored_states(const std::filesystem::path& run_folder,
                                                                        const model::StateLayout& layout);

class StateFiles final : public peer::StateStore {
public:
    /// Makes the folders if missing. `threads` hash a state.
    [[nodiscard]] static Result<std::unique_ptr<StateFiles>> open(const std::filesystem::path& folder,
                                                                  const model::ModelSpec& model, unsigned threads);

    [[nodiscard]] std::vector<Held> held() const override;
    [[nodiscard]] peer::State state(RoundId round) const override;
    [[nodiscard]] peer::VectorPlace state_place(RoundId round) const override;
    [[nodiscard]] std::filesystem::path state_file(RoundId round) const override;

    [[nodiscard]] Result<peer::Vector> begin_state(RoundId round) override;
    [[nodiscard]] Result<StateDigest> commit_state(RoundId round) override;
    [[nodiscard]] Status adopt_state(RoundId round, const StateDigest& digest, ByteSpan file) override;
    void drop_state(RoundId round) override;

    [[nodiscard]] Result<peer::Vector> scratch(peer::Scratch which) override;
    [[nodiscard]] peer::VectorPlace scratch_place(peer::Scratch which) const override;

    [[nodiscard]] Status save_record(ByteSpan record) override;
    [[nodiscard]] std::optional<Bytes> load_record() const override;
    [[nodiscard]] Status save_votes(ByteSpan votes) override;
    [[nodiscard]] std::optional<Bytes> load_votes() const override;
    [[nodiscard]] Status save_judgements(ByteSpan judgements) override;
    [[nodiscard]] std::optional<Bytes> load_judgements() const override;
    [[nodiscard]] Status save_evidence(const PeerId& author, ByteSpan evidence) override;
    [[nodiscard]] std::vector<Bytes> load_evidence() const override;
    [[nodiscard]] Status save_false_step(const Digest& list, ByteSpan evidence) override;
    [[nodiscard]] std::vector<Digest> false_steps() const override;
    [[nodiscard]] std::optional<Bytes> load_false_step(const Digest& list) const override;
    [[nodiscard]] Bytes manifest_file() const override;

    [[nodiscard]] const model::StateLayout& layout() const { return m_layout; }

private:
    struct Whole {
        StateDigest digest;
        std::shared_ptr<const MappedFile> map;
    };

    StateFiles(std::filesystem::path folder, model::StateLayout layout, unsigned threads);
    Status read_index();
    Status write_index() const;
    void remove_strays() const;
    Status reveal(RoundId round, const StateDigest& digest);
    [[nodiscard]] std::filesystem::path partial_file(RoundId round) const;

    std::filesystem::path m_folder;
    model::StateLayout m_layout;
    unsigned m_threads;
    mutable std::mutex m_index_mutex;  // the index is written by one at a time, so that the newest stays
    mutable std::mutex m_mutex;        // over the maps below, never held while hashing or writing a state
    std::map<RoundId, Whole> m_whole;
    std::map<RoundId, std::shared_ptr<MappedFile>> m_partial;
    std::map<peer::Scratch, std::shared_ptr<MappedFile>> m_scratch;
};

}  // namespace potluck::node
