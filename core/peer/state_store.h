// The seam to the disk for everything of the run that is a vector: states theta[r], the error feedback e, the marks
// and snapshots exchanged with the trainer. In the product these are memory-mapped files in the run's folder, in the
// simulation vectors in memory. What `commit_state` has returned survives SIGKILL and power loss.
//
// Jobs hold what they read and write: a State or a Vector keeps its bytes mapped and unchanged in place, also when the
// state is dropped or replaced meanwhile.
//
// Threads: commit_state and adopt_state may be called off the peer's thread, one of them at a time, while the peer's
// thread calls the others.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/peer/swarm.h"
#include "core/peer/trainer.h"

namespace potluck::peer {

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
};

}  // namespace potluck::peer
