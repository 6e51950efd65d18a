// The local model L of one volunteer and its training: micro-batches, gradient, clip, AdamW, the mark M, snapshot and
// rebase (core/control/trainer_protocol.h says what the two mean). All state is flat vectors; see flat.h.
//
// It does not know requests, JSON or other processes, and writes no file.
// Threads: one. Owns: L, M, gradient and moments, the open shard.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/run/model_spec.h"
#include "core/run/recipe.h"
#include "core/training/flat.h"
#include "core/training/decoder.h"
#include "core/training/shard_reader.h"

namespace potluck::training {

/// Steps over which the learning rate rises on fresh moments: Adam's first steps are as large as the rate whatever the
/// gradient, so a restart would shake a model that is well trained.
inline constexpr std::uint64_t fresh_moments_steps = 10;
/// A micro-step aims at this time, so that a request waits for at most about twice as long.
inline constexpr std::chrono::milliseconds micro_step_aim{60};

struct TrainerSetup {
    run::ModelSpec model;
    run::Recipe recipe;
    DecoderOptions options;
    unsigned threads = 1;
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
    /// Zero moments, L = M = zero: fill `parameters()` and call `start_from_parameters` before training.
    [[nodiscard]] static Result<Trainer> create(const TrainerSetup& setup);

    [[nodiscard]] std::span<float> parameters() { return m_local; }
    /// M = L, totals zero, moments fresh.
    [[nodiscard]] Status start_from_parameters();

    /// Trains in `place` from the next micro-step on. The same key and shard go on where they were. A half-collected
    /// batch is kept. On failure nothing changes.
    [[nodiscard]] Status train_in(const TrainingPlace& place);

    /// One micro-batch; at the end of a batch, one step of the optimizer. Needs a `train_in` before.
    [[nodiscard]] Status micro_step();
    [[nodiscard]] const WindowTotals& totals() const { return m_totals; }
    [[nodiscard]] const TrainerSetup& setup() const { return m_setup; }
    [[nodiscard]] std::uint64_t position() const { return m_reader ? m_reader->position() : 0; }

    /// M = L and zero totals; gives what they were. The caller has written `parameters()` away.
    WindowTotals mark();
    /// L += next - M, M = next.
    [[nodiscard]] Status rebase_on(std::span<const float> next);

    /// Sequences of the next micro-batch when each takes `seconds_per_sequence`: equal parts of the batch, as few as
    /// keep a part within the aim.
    [[nodiscard]] static std::uint32_t micro_batch_size(std::uint32_t batch, double seconds_per_sequence);

private:
    explicit Trainer(const TrainerSetup& setup);
    [[nodiscard]] Status finish_step();
    void forget_batch();

    TrainerSetup m_setup;
    Decoder m_decoder;
    std::vector<float> m_local, m_mark, m_gradient, m_mean, m_variance;
    std::vector<DecaySegment> m_segments;
    std::optional<SampleReader> m_reader;
    TrainingPlace m_place;
    std::vector<Token> m_records;

    std::uint64_t m_adam_steps = 0;
    std::uint32_t m_batch_filled = 0;       // sequences of this batch whose gradient is in, or was dropped
    std::uint64_t m_batch_tokens = 0;       // of this batch, not yet in the totals
    double m_batch_loss = 0;
    double m_seconds_per_sequence = 0;      // smoothed; 0 until measured
    WindowTotals m_totals;
};

}  // namespace potluck::training
