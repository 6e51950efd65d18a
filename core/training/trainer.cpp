#include "core/training/trainer.h"

#include <algorithm>
#include <cmath>
#include <new>

#include "core/base/check.h"
#include "core/base/rng.h"

namespace potluck::training {

namespace {

/// Decay on tensors of two dimensions or more, none on gains and biases; neighbours of one kind are one segment.
std::vector<DecaySegment> decay_segments(const run::ModelSpec& spec, double weight_decay) {
    std::vector<DecaySegment> segments;
    for (const run::TensorSpec& tensor : run::tensors_of(spec)) {
        const double decay = tensor.shape.size() >= 2 ? weight_decay : 0.0;
        const std::uint64_t end = tensor.offset + tensor.elements();
        if (!segments.empty() && segments.back().weight_decay == decay) {
            segments.back().end = end;
        } else {
            segments.push_back({tensor.offset, end, decay});
        }
    }
    return segments;
}

}  // namespace

Trainer::Trainer(const TrainerSetup& setup)
    : m_setup(setup),
      m_decoder(setup.model, setup.options),
      m_local(setup.model.parameters()),
      m_mark(m_local.size()),
      m_gradient(m_local.size()),
      m_mean(m_local.size()),
      m_variance(m_local.size()),
      m_segments(decay_segments(setup.model, setup.recipe.weight_decay)) {}

Result<Trainer> Trainer::create(const TrainerSetup& setup) {
    if (setup.model.vocabulary > 65'536) {
        return Error{ErrorCode::invalid_argument, "This version trains vocabularies of at most 65,536 tokens."};
    }
    try {
        return Trainer(setup);
    } catch (const std::bad_alloc&) {
        return Error{ErrorCode::out_of_memory,
                     "There is not enough memory to train this model; close other programs and try again."};
    }
}

Status Trainer::start_from_parameters() {
    m_mark = m_local;
    std::ranges::fill(m_mean, 0.0F);
    std::ranges::fill(m_variance, 0.0F);
    m_adam_steps = 0;
    m_totals = {};
    forget_batch();
    return m_decoder.use_parameters(m_local);
}

Status Trainer::train_in(const TrainingPlace& place) {
    const bool same = m_reader && place.key == m_place.key && place.shard_path == m_place.shard_path &&
                      place.records == m_place.records;
    if (!same) {
        const ShardShape shape{place.records, m_setup.model.context, m_setup.model.vocabulary};
        Result<Shard> shard = Shard::open(place.shard_path, shape);
        if (!shard.ok()) return shard.error();
        m_reader.emplace(*std::move(shard), place.key, place.from_record);
    }
    m_place = place;
    return {};
}

std::uint32_t Trainer::micro_batch_size(std::uint32_t batch, double seconds_per_sequence) {
    if (seconds_per_sequence <= 0) return 1;  // not measured: begin small
    const double aim = std::chrono::duration<double>(micro_step_aim).count();
    const double fits = std::clamp(aim / seconds_per_sequence, 1.0, static_cast<double>(batch));
    const std::uint32_t most = static_cast<std::uint32_t>(fits);
    const std::uint32_t parts = (batch + most - 1) / most;
    return (batch + parts - 1) / parts;
}

Status Trainer::micro_step() {
    POTLUCK_CHECK(m_reader.has_value());
    const auto start = std::chrono::steady_clock::now();
    const std::uint32_t batch = m_setup.recipe.batch;
    const std::uint32_t wanted = micro_batch_size(batch, m_seconds_per_sequence);
    const std::uint32_t count = std::min(wanted, batch - m_batch_filled);
    const std::uint64_t position = m_reader->position();
    m_records.clear();
    if (const Status status = m_reader->read(count, m_records); !status.ok()) return status;

    const std::uint64_t context = m_setup.model.context;
    const Result<double> loss =
        m_decoder.add_gradient({.records = m_records,
                            .gradient = m_gradient,
                            .scale = 1.0 / static_cast<double>(batch * context),
                            .dropout_seed = mix64(m_place.key.seed ^ mix64(m_place.key.round.value) ^ position)});
    if (!loss.ok()) return loss.error();
    if (std::isfinite(*loss)) {
        m_batch_loss += *loss;
        m_batch_tokens += count * context;
    } else {
        ++m_totals.dropped_batches;
    }
    m_batch_filled += count;
    const Status status = m_batch_filled < batch ? Status() : finish_step();

    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / count;
    m_seconds_per_sequence = m_seconds_per_sequence <= 0 ? seconds : 0.8 * m_seconds_per_sequence + 0.2 * seconds;
    return status;
}

Status Trainer::finish_step() {
    const double norm = std::sqrt(sum_of_squares(m_gradient, m_setup.threads));
    if (!std::isfinite(norm) || m_batch_tokens == 0) {
        if (m_batch_tokens > 0) ++m_totals.dropped_batches;
        forget_batch();
        return {};
    }
    const run::Recipe& recipe = m_setup.recipe;
    ++m_adam_steps;
    const double warm = static_cast<double>(m_adam_steps) / static_cast<double>(fresh_moments_steps);
    const double clip = recipe.clip_norm > 0 && norm > recipe.clip_norm ? recipe.clip_norm / (norm + 1e-6) : 1.0;
    adamw_step({.parameters = m_local, .gradient = m_gradient, .mean = m_mean, .variance = m_variance}, m_segments,
               {.learning_rate = m_place.learning_rate * std::min(1.0, warm),
                .beta1 = recipe.beta1,
                .beta2 = recipe.beta2,
                .step = m_adam_steps,
                .gradient_scale = clip},
               m_setup.threads);
    ++m_totals.steps;
    m_totals.tokens += m_batch_tokens;
    m_totals.loss_sum += m_batch_loss;
    forget_batch();
    return m_decoder.use_parameters(m_local);
}

void Trainer::forget_batch() {
    std::ranges::fill(m_gradient, 0.0F);
    m_batch_filled = 0;
    m_batch_tokens = 0;
    m_batch_loss = 0;
}

WindowTotals Trainer::mark() {
    m_mark = m_local;
    return std::exchange(m_totals, {});
}

Status Trainer::rebase_on(std::span<const float> next) {
    rebase(m_local, m_mark, next, m_setup.threads);
    return m_decoder.use_parameters(m_local);
}

}  // namespace potluck::training
