// The seam to the disk for everything of the run that is a vector: states theta[r], the error feedback e, the marks
// and snapshots exchanged with the trainer. In the product these are memory-mapped files in the run's folder, in the
// simulation vectors in memory. What `commit_state` has returned survives SIGKILL and power loss.
//
// Jobs hold what they read and write: a State or a Vector keeps its bytes mapped and unchanged in place, also when the
// state is dropped or replaced meanwhile.
//
// Threads: commit_state, adopt_state and save_false_step may be called off the peer's thread, one of them at a time,
// while the peer's thread calls the others.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/peer/seams/swarm.h"
#include "core/peer/seams/trainer.h"
#include "core/run/accept_list.h"
#include "core/run/agreement/evidence.h"
#include "core/run/agreement/vote_record.h"

namespace potluck::peer {

/// Longest file of votes: a record and the lists that it binds its author to (ballots.cpp).
inline constexpr std::size_t voted_lists_max = 3;
inline constexpr std::size_t votes_bytes_max =
    5 + run::vote_record_bytes_max + voted_lists_max * (4 + run::accept_list_bytes_max);

/// Proofs of false steps on a member's disk, one for each list; each is as long as the payloads of a round.
inline constexpr std::size_t false_steps_kept_max = 4;

/// The scratch vectors of a volunteer. `error` survives restarts; the others do not.
enum class Scratch { error, snapshot, look_ahead };

/// A state that is whole: header and parameters.
struct State {
    ByteSpan file;
    std::span<const float> parameters;
    std::shared_ptr<const void> mapping;  // keeps both valid
};

/// A vector that is written: a scratch vector, or a state that is not whole yet.
struct Vector {
    std::span<float> values;
    std::shared_ptr<void> mapping;  // keeps it valid
};

class StateStore {
public:
    virtual ~StateStore() = default;

    /// States that are whole on disk with their digests, oldest first. Digests are those computed at commit time.
    struct Held {
        RoundId round;
        StateDigest digest;
    };
    [[nodiscard]] virtual std::vector<Held> held() const = 0;
    /// theta[round], which is held.
    [[nodiscard]] virtual State state(RoundId round) const = 0;
    [[nodiscard]] virtual VectorPlace state_place(RoundId round) const = 0;
    /// The whole state file (header and parameters), for publishing as a checkpoint.
    [[nodiscard]] virtual std::filesystem::path state_file(RoundId round) const = 0;

    /// A writable state for theta[round], not yet visible.
    [[nodiscard]] virtual Result<Vector> begin_state(RoundId round) = 0;
    /// Syncs, computes the digest, makes it visible as theta[round]. May be called off the peer's thread.
    [[nodiscard]] virtual Result<StateDigest> commit_state(RoundId round) = 0;
    /// Takes a fetched state file's content as theta[round] (checked against layout and digest).
    [[nodiscard]] virtual Status adopt_state(RoundId round, const StateDigest& digest, ByteSpan file) = 0;
    virtual void drop_state(RoundId round) = 0;

    /// A scratch vector of the model's size, zero when new.
    [[nodiscard]] virtual Result<Vector> scratch(Scratch which) = 0;
    [[nodiscard]] virtual VectorPlace scratch_place(Scratch which) const = 0;

    /// One small record that must survive (tokens carried over, own payload in flight, ...): written, synced, renamed.
    [[nodiscard]] virtual Status save_record(ByteSpan record) = 0;
    [[nodiscard]] virtual std::optional<Bytes> load_record() const = 0;
    /// The same for what this member has voted as one of the committee (ballots.h), written before a vote is sent. A
    /// file that cannot be read is loaded as bytes that are no record.
    [[nodiscard]] virtual Status save_votes(ByteSpan votes) = 0;
    [[nodiscard]] virtual std::optional<Bytes> load_votes() const = 0;
    /// What this member has measured of others as a juror. Bytes that are damaged are no loss but of patience.
    [[nodiscard]] virtual Status save_judgements(ByteSpan judgements) = 0;
    [[nodiscard]] virtual std::optional<Bytes> load_judgements() const = 0;
    /// The proof that `author` lied (run::Evidence), synced before this returns: a file of its own, to be shown to
    /// anybody. What is loaded are at most evidence_kept_max files of at most evidence_bytes_max bytes, not checked.
    [[nodiscard]] virtual Status save_evidence(const PeerId& author, ByteSpan evidence) = 0;
    [[nodiscard]] virtual std::vector<Bytes> load_evidence() const = 0;

    /// The proof that seats signed a false step of `list` (proof::FalseStep), likewise; one that was saved before is
    /// replaced. May be called off the peer's thread, as commit_state.
    [[nodiscard]] virtual Status save_false_step(const Digest& list, ByteSpan evidence) = 0;
    /// The lists of at most false_steps_kept_max of them, and the file of one, which was not checked. The second may be
    /// called off the peer's thread.
    [[nodiscard]] virtual std::vector<Digest> false_steps() const = 0;
    [[nodiscard]] virtual std::optional<Bytes> load_false_step(const Digest& list) const = 0;
    /// The run's description as its host has signed it; empty if it is not here. Any thread.
    [[nodiscard]] virtual Bytes manifest_file() const = 0;
};

}  // namespace potluck::peer
