// The seam to the trainer. In the product it is a child process (app/node), in the simulation a few lines of
// arithmetic. Requests are obeyed in order; answers come through TrainerEvents, on the peer's thread. See
// core/control/trainer_protocol.h for what snapshot and rebase mean.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/clock.h"
#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/run/manifest.h"

namespace potluck::peer {

/// A flat parameter vector in a file (or, in simulations, a named buffer of the StateStore).
struct VectorPlace {
    std::filesystem::path file;
    std::uint64_t offset = 0;  // bytes
};

struct WindowPlan {
    RoundId round;
    double learning_rate = 0;
    std::filesystem::path shard;
    std::uint64_t records = 0;
};

struct SnapshotResult {
    TokenCount tokens;
    std::uint64_t steps = 0;
    double loss = 0;
};

/// Rounds that the state may move on while the optimizer's moments wait in a file. They go stale with the gradient and
/// not with time. bench_moments found them better than fresh ones after twice as many rounds, for one small model.
inline constexpr std::uint64_t moments_rounds_max = 4;
/// What writing them may take of the owner's two seconds, from the pause on; the rest is for the process to end.
inline constexpr Duration moments_patience{1'300};

/// What a trainer that ends leaves for the next one.
struct MomentsToKeep {
    RoundId round;  // of the newest state
    Duration patience;
};

/// Contributions to one round that a juror measures, by forward passes alone.
struct JudgePlan {
    struct Subject {
        PeerId contributor;
        std::shared_ptr<const Bytes> payload;  // encoded, of one of the round's entries
        std::filesystem::path shard;           // that it drew from
        std::uint64_t records = 0;             // of the shard
        /// Indexes of records: some that it claims to have trained on, and as many that it has not.
        std::vector<std::uint64_t> own, other;
    };
    RoundId round;
    VectorPlace base;  // theta[round]
    std::vector<Subject> subjects;
    double norm_max = 0;  // what F clips the round's contributions to; 0: nothing is clipped
};
/// In nats a token: how much less the loss is with the contribution, clipped (theta - d), than without it. Finite.
struct Judged {
    PeerId contributor;
    double own = 0, other = 0;
};
struct JudgeReport {
    RoundId round;
    std::vector<Judged> results;  // in the order of the plan's subjects; fewer where some could not be measured
    Duration taken{0};            // that the trainer measured instead of training
};

class Trainer {
public:
    virtual ~Trainer() = default;
    /// Starts if it is not running and loads model and vector; L = M = vector, which is of `round`. Moments that were
    /// kept for at most moments_rounds_max rounds go on; others are forgotten.
    virtual void start(const run::Manifest& manifest, const VectorPlace& vector, RoundId round) = 0;
    virtual void train(const WindowPlan& plan) = 0;
    /// Stops computing but keeps the model (waiting for data, or the run has ended).
    virtual void idle() = 0;
    /// Writes L to `target`, M = L. on_snapshot follows.
    virtual void snapshot(const VectorPlace& target) = 0;
    virtual void rebase(const VectorPlace& vector) = 0;
    /// Ends the trainer and frees all its memory; what was trained since the last snapshot is lost. Its moments are
    /// kept if that can be done in time.
    virtual void stop(const std::optional<MomentsToKeep>& moments) = 0;
    /// Removes moments that no trainer will take.
    virtual void forget_moments() = 0;
    /// Measures between two training steps; on_judged follows. Nothing that trains changes.
    virtual void judge(const JudgePlan& plan) = 0;
};

class TrainerEvents {
public:
    virtual ~TrainerEvents() = default;
    virtual void on_trainer_started() = 0;  // answer to start(): loaded
    virtual void on_first_step() = 0;       // the first training step after start()
    virtual void on_progress(TokenCount window_tokens, double tokens_per_second, double loss) = 0;
    virtual void on_snapshot(const SnapshotResult& result) = 0;
    /// The trainer is gone (crash, kill, time-out); requests in flight are void. The peer decides whether to start
    /// again.
    virtual void on_trainer_lost(const Error& error) = 0;
    virtual void on_judged(const JudgeReport& report) = 0;
};

}  // namespace potluck::peer
