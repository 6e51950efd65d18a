// A state that a data folder holds, and what is needed to make text or an export of it, as values and files:
// the same for a node that runs and for a folder whose node does not.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/node/models/picture_coding.h"
#include "app/node/session/node.h"
#include "app/node/session/stored_node.h"
#include "app/node/trainer/trainer_task.h"
#include "core/control/figures.h"
#include "core/data/tokenizer.h"
#include "core/run/manifest.h"

namespace potluck::node {

/// Which of the states that are held: the newest, or the newest whose digest the run's committee has agreed on. That of
/// the round which goes on is agreed on when the round ends.
enum class WhichState { newest, certified };

struct HeldModel {
    RunId run;
    run::Manifest manifest;
    RoundId round;                                       // how many rounds the state has seen
    enum class Standing { certified, open } standing{};  // open: no list of the run names this state yet
    std::filesystem::path data_folder;
    PeerId self;           // this computer's identity
    std::string own_name;  // which no status told its own ledger
    std::filesystem::path state_file;
    peer::VectorPlace state;                             // the parameters in that file
    std::vector<std::filesystem::path> tokenizer_files;  // of manifest.tokenizer.blobs(); empty if any is missing
    std::vector<peer::BlobPointer> blobs;                // keep their files while they are read
    std::filesystem::path trainer_program, trainer_errors;
    std::optional<StoredCoder> coder = {};      // of a model that draws; nothing while it is missing
    std::filesystem::path validation = {};      // the records held out; empty if they are not here
    std::vector<control::Figure> figures = {};  // measured of this state by its node; empty if there are none
};

/// `not_found` outside a run, `unavailable` if no state is held yet. If none that is held is certified, the newest.
[[nodiscard]] Result<HeldModel> held_model(const Node& node, WhichState which);
/// `trainer_program` is asked for samples.
[[nodiscard]] Result<HeldModel> held_model(const StoredNode& node, const std::filesystem::path& trainer_program,
                                           WhichState which);

/// The run's tokenizer; `unavailable` if its files are not here.
[[nodiscard]] Result<data::Tokenizer> open_tokenizer(const HeldModel& model);
/// What a trainer of its own is asked about this state.
[[nodiscard]] TrainerQuestion question_about(const HeldModel& model);
/// The picture coder of a model that draws; `unavailable` if it is not here.
[[nodiscard]] Result<StoredCoder> open_coder(const HeldModel& model);

/// A checkpoint's folder as a model that can be sampled, without a run: its weights as a vector file, its tokenizer
/// and, of a model that draws, the picture coder beside it. Owns the temporary folder in which these lie.
class OpenedCheckpoint {
public:
    /// A folder that CheckpointFolder opens, with a tokenizer in it as find_tokenizer takes it; where there is none,
    /// the model reads bytes if its vocabulary is theirs.
    [[nodiscard]] static Result<OpenedCheckpoint> open(const std::filesystem::path& folder,
                                                       const std::filesystem::path& trainer_program);
    /// Takes pictures of a folder for those that a run holds out, spread evenly over it: as many as are compared.
    /// `invalid_argument` if the model embeds no pictures or the folder holds fewer than two that can be read.
    [[nodiscard]] Status hold_out(const std::filesystem::path& pictures);

    OpenedCheckpoint(OpenedCheckpoint&& other) noexcept;
    OpenedCheckpoint& operator=(OpenedCheckpoint&&) = delete;
    ~OpenedCheckpoint();

    [[nodiscard]] const HeldModel& model() const { return m_model; }

private:
    explicit OpenedCheckpoint(std::filesystem::path scratch) : m_scratch(std::move(scratch)) {}
    [[nodiscard]] Status take(const std::filesystem::path& folder, const std::filesystem::path& trainer_program);

    std::filesystem::path m_scratch;  // empty: moved from
    HeldModel m_model{};
};

}  // namespace potluck::node
