// The training of one volunteer's local model: micro-batches, gradient, loss scale, clip, the optimizer's step, and
// the snapshots and rebases between (local_model.h). How numbers are kept is the layout's word; the optimizer's
// arithmetic is that of core/numerics.
//
// Further devices compute shares of each batch (replica.h), as many records as their speed is worth (shares.h). One
// that fails is let go, and training goes on with the others.
//
// It does not know requests, JSON or other processes, nor choose a layout or devices.
// Threads: one. Owns: L, M, gradient and moments, the open shard, replicas. Gradient, moments and replicas are taken at
// the first `train_in`, so that a trainer which only answers questions does without.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/base/thread_owner.h"
#include "core/model/model_spec.h"
#include "core/numerics/optimizer/optimizer.h"
#include "core/run/recipe.h"
#include "core/training/compute/device_optimizer.h"
#include "core/training/compute/flat_vector.h"
#include "core/training/compute/model.h"
#include "core/training/local_model.h"
#include "core/training/loss_scale.h"
#include "core/training/make_model.h"
#include "core/training/memory/layout.h"
#include "core/training/memory/plan.h"
#include "core/training/moments/moments_file.h"
#include "core/training/muon.h"
#include "core/training/replica.h"
#include "core/training/shard_reader.h"
#include "core/training/shares.h"

namespace potluck::training {

/// Steps over which the learning rate rises on fresh moments: Adam's first steps are as large as the rate whatever the
/// gradient, so a restart would shake a model that is well trained.
inline constexpr std::uint64_t restart_warmup_steps = 10;

/// Whether a micro-batch is cut down to the response time, or as large as the layout says (to measure its memory).
enum class Pace { responsive, exact };

/// Where moments may lie that an earlier trainer kept, and how old they may be.
struct MomentsPlace {
    std::filesystem::path file;
    RunId run;
    RoundId round;                 // of the newest state
    std::uint64_t rounds_max = 0;  // that they may be older than it
};

struct TrainerSetup {
    model::ModelSpec model;
    run::Recipe recipe;
    Layout layout = {};
    AttentionKernel attention = AttentionKernel::blocked;
    Pace pace = Pace::responsive;
    unsigned threads = 1;
    std::string scratch = {};  // folder for an anchor on disk
    std::optional<MomentsPlace> moments = {};
    std::vector<DeviceId> further = {};  // beside the layout's; tests name the processor, which has no other use there
    ModelMaker make = make_model;
};

/// A further device that training goes on without.
struct LostDevice {
    DeviceId device;
    std::string reason;
};

/// What was trained since the last snapshot.
struct WindowTotals {
    std::uint64_t tokens = 0;
    std::uint64_t steps = 0;
    std::uint64_t dropped_batches = 0;  // micro-batches or steps that were not finite
    double loss_sum = 0;                // nats, over `tokens`
    [[nodiscard]] double mean_loss() const { return tokens == 0 ? 0 : loss_sum / static_cast<double>(tokens); }
};

/// Where and how fast to train.
struct TrainingPlace {
    OrderKey key = {};
    std::string shard_path = {};
    std::uint64_t records = 0;
    std::uint64_t from_record = 0;
    double learning_rate = 0;
};

class Trainer {
public:
    /// L = M = zero: call `start_from` before anything else.
    [[nodiscard]] static Result<Trainer> create(const TrainerSetup& setup);

    /// L = M = these parameters, totals zero, moments fresh. A file that cannot be read leaves zeros.
    [[nodiscard]] Status start_from(const control::VectorFile& file);
    [[nodiscard]] Status start_from(std::span<const float> parameters);
    /// A copy of L in fp32.
    [[nodiscard]] std::vector<float> parameters() const;
    /// L as the model reads it.
    [[nodiscard]] Model& model() {
        m_owner.check();
        return *m_model;
    }

    /// Trains in `place` from the next micro-step on. The same key and shard go on where they were. A half-collected
    /// batch is kept. On failure nothing changes. The first time it takes the setup's moments if they fit, and removes
    /// their file in any case.
    [[nodiscard]] Status train_in(const TrainingPlace& place);
    /// What became of the moments in the setup's file: their stamp, or why they were not taken. Once, and nothing if
    /// there was no file.
    [[nodiscard]] std::optional<Result<MomentsStamp>> found_moments() {
        m_owner.check();
        return std::exchange(m_found_moments, std::nullopt);
    }
    /// Writes the moments for a later trainer within `patience`. Returns the file's bytes, 0 if nothing was trained:
    /// then a file that waits there for its first step stays.
    [[nodiscard]] Result<std::uint64_t> keep_moments(const MomentsPlace& place, std::chrono::milliseconds patience);

    /// One micro-batch; at the end of a batch, one step of the optimizer. Needs a `train_in` before. On failure the
    /// batch is forgotten; after `out_of_memory` training can go on with a smaller layout.
    [[nodiscard]] Status micro_step();
    [[nodiscard]] const WindowTotals& totals() const {
        m_owner.check();
        return m_totals;
    }
    [[nodiscard]] const TrainerSetup& setup() const {
        m_owner.check();
        return m_setup;
    }
    [[nodiscard]] std::uint64_t position() const {
        m_owner.check();
        return m_reader ? m_reader->position() : 0;
    }

    /// Writes the local parameters to the file and makes them the anchor; returns the totals, which restart at zero.
    [[nodiscard]] Result<WindowTotals> snapshot(const control::VectorFile& target);
    /// L += next - M, M = next.
    [[nodiscard]] Status rebase(const control::VectorFile& next);

    /// Goes on in another layout, with L and M as they are. Moments in another number of bits begin afresh.
    [[nodiscard]] Status follow(const Layout& layout) { return follow(layout, m_setup.further); }
    /// The same with other further devices.
    [[nodiscard]] Status follow(const Layout& layout, std::vector<DeviceId> further);

    /// Those that train, or will after `train_in`: the layout's, then the further ones.
    [[nodiscard]] std::vector<DeviceId> devices() const;
    /// Further devices that were let go since the last call.
    [[nodiscard]] std::vector<LostDevice> take_lost() {
        m_owner.check();
        return std::exchange(m_lost, {});
    }

    /// Sequences of the next micro-batch when each takes `seconds_per_sequence`: equal parts of the batch, as few as
    /// keep a part within `aim` seconds.
    [[nodiscard]] static std::uint32_t micro_batch_size(std::uint32_t batch, double seconds_per_sequence, double aim);

private:
    Trainer(const TrainerSetup& setup, LocalModel local);
    [[nodiscard]] Status take_memory();
    [[nodiscard]] numerics::OptimizerKind optimizer() const;
    [[nodiscard]] numerics::StateBits state_bits() const;
    [[nodiscard]] Status finish_step();
    [[nodiscard]] Status step_optimizer(double gradient_scale);
    [[nodiscard]] Status forget_batch();
    [[nodiscard]] Status parameters_changed();
    [[nodiscard]] std::vector<std::uint32_t> deal();
    [[nodiscard]] Status read_shares(const std::vector<std::uint32_t>& counts);
    /// Whether the batch is whole: no device was lost.
    [[nodiscard]] Result<bool> compute_shares();
    void take(std::size_t device, const ShareDone& done);
    void add_replicas();
    using Outcomes = std::vector<Status>;  // one for each replica
    [[nodiscard]] bool let_go_of_failed(const Outcomes& outcomes);

    ThreadOwner m_owner;
    TrainerSetup m_setup;
    std::unique_ptr<Model> m_model;
    LocalModel m_local;
    FlatVector m_gradient;                              // empty until the first train_in
    std::optional<numerics::OptimizerState> m_moments;  // the same; or, if the state lives on the device:
    std::optional<DeviceOptimizer> m_device_optimizer;
    std::optional<Muon> m_muon;  // beside m_moments, if the recipe says so
    std::optional<Result<MomentsStamp>> m_found_moments;
    LossScale m_loss_scale;
    std::optional<SampleReader> m_reader;
    TrainingPlace m_place;
    std::vector<Share> m_dealt;  // of a micro-step, one for each device
    std::vector<std::unique_ptr<Replica>> m_replicas;
    Shares m_shares{1};  // of the lead and the replicas
    std::vector<LostDevice> m_lost;

    std::uint64_t m_steps = 0;         // since the moments were fresh
    std::uint32_t m_batch_filled = 0;  // sequences of this batch whose gradient is in, or was dropped
    std::uint64_t m_batch_tokens = 0;  // of this batch, not yet in the totals
    double m_batch_loss = 0;
    double m_seconds_per_sequence = 0;  // smoothed; 0 until measured
    WindowTotals m_totals;
};

}  // namespace potluck::training
