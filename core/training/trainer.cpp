// A batch is made of micro-batches small enough to answer requests between them (micro_step_seconds). Each adds its
// gradient, scaled so that the whole batch is a mean; the last one finishes the step:
//
//   norm of the gradient -> not finite: drop the batch, lower the loss scale
//                        -> finite: clip and undo the loss scale within the optimizer's step, count tokens and loss
//
// With further devices a micro-step is shared among them, and before the norm their gradients are added to the first
// one's; the step is the first one's, and the others take the new parameters. Which records a device computes changes
// nothing that is drawn for them. A further device that fails is let go, and the batch with it.
//
// Tokens count only when their step was taken, so that a volunteer is not credited for batches that were dropped. The
// gradient is never rewritten: clip and loss scale are one factor that the step multiplies by.
//
// follow() moves a running training to a smaller layout: parameters and anchor keep their values, moments that are kept
// in another way begin afresh, with a short warm-up. Moments that an earlier trainer kept in a file go on without one.
// Threads: the trainer's.
#include "core/training/trainer.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>

#include "core/base/check.h"
#include "core/base/rng.h"
#include "core/training/memory/memory_error.h"
#include "core/training/memory/optimizer_slices.h"

namespace potluck::training {

namespace {

ModelOptions options_of(const TrainerSetup& setup, DeviceId device) {
    return {.device = device,
            .matmul = setup.layout.matmul,
            .attention = setup.attention,
            .checkpointing = setup.layout.checkpointing,
            .weights_flow = setup.layout.weights_flow};
}

numerics::LambDebias debias_of(run::LambDebias debias) {
    switch (debias) {
        case run::LambDebias::moments: return numerics::LambDebias::moments;
        case run::LambDebias::rate: return numerics::LambDebias::rate;
        case run::LambDebias::none: break;
    }
    return numerics::LambDebias::none;
}

}  // namespace

Trainer::Trainer(const TrainerSetup& setup, LocalModel local)
    : m_setup(setup),
      m_model(setup.make(setup.model, options_of(setup, setup.layout.device))),
      m_local(std::move(local)),
      m_loss_scale(setup.layout.matmul) {}

Result<Trainer> Trainer::create(const TrainerSetup& setup) {
    if (setup.recipe.optimizer == run::Optimizer::muon && setup.layout.state == Residency::device) {
        return Error{
            ErrorCode::invalid_argument,
            "Muon steps in the computer's memory in this version: choose a layout whose state is on the host."};
    }
    if (in_fp32_only(setup.model) && setup.layout.matmul != Dtype::fp32) {
        return Error{ErrorCode::invalid_argument, std::string("This version trains a model of the kind ") +
                                                      model::family_title(setup.model) +
                                                      " in fp32: choose such a layout."};
    }
    if (setup.layout.checkpointing == Checkpointing::reversed && !model::is_drawer(setup.model)) {
        return Error{ErrorCode::invalid_argument, std::string("The layers of a model of the kind ") +
                                                      model::family_title(setup.model) +
                                                      " cannot be undone: choose a layout with full checkpointing."};
    }
    const std::uint32_t together = model::records_together(setup.model);
    if (setup.recipe.batch % together != 0) {
        return Error{ErrorCode::invalid_argument,
                     std::string("A model of the kind ") + model::family_title(setup.model) + " computes " +
                         std::to_string(together) + " pictures together: choose a batch that is a multiple of it."};
    }
    Result<LocalModel> local = LocalModel::create(setup.model.parameters(), setup.layout, setup.scratch, setup.threads);
    if (!local.ok()) return local.error();
    return Trainer(setup, *std::move(local));
}

Status Trainer::start_from(const control::VectorFile& file) {
    m_owner.check();
    const Status read = m_local.start_from(file);
    return read.ok() ? parameters_changed() : read;
}

Status Trainer::start_from(std::span<const float> parameters) {
    m_owner.check();
    const Status copied = m_local.start_from(parameters);
    return copied.ok() ? parameters_changed() : copied;
}

std::vector<float> Trainer::parameters() const {
    m_owner.check();
    std::vector<float> copy(m_local.values().size());
    POTLUCK_CHECK(m_local.values().read(0, copy).ok());
    return copy;
}

Status Trainer::take_memory() {
    if (m_gradient.size() > 0) return {};
    const Layout& layout = m_setup.layout;
    const DeviceId home = layout.state == Residency::device ? layout.device : DeviceId{};
    Result<FlatVector> gradient = FlatVector::zeros(m_local.values().size(), layout.gradient, home);
    if (!gradient.ok()) return gradient.error();
    try {
        m_moments.emplace(optimizer_slices(m_setup.model, m_setup.recipe), state_bits());
    } catch (const std::bad_alloc&) {
        return out_of_memory_error();
    }
    if (optimizer() == numerics::OptimizerKind::muon) {
        Result<Muon> muon = Muon::create(m_setup.model, {layout.device, layout.matmul});
        if (!muon.ok()) return muon.error();
        m_muon.emplace(*std::move(muon));
    }
    Result<MomentsStamp> kept = Error{ErrorCode::not_found, "there are none"};
    if (const auto& place = m_setup.moments) {
        kept = read_moments(place->file, {place->run, place->round, place->rounds_max, optimizer()}, *m_moments);
    }
    if (layout.state == Residency::device) {
        Result<DeviceOptimizer> there = DeviceOptimizer::create(*m_moments, home);
        if (!there.ok()) return there.error();
        m_device_optimizer.emplace(*std::move(there));
        m_moments.reset();
    }
    m_gradient = *std::move(gradient);
    m_steps = kept.ok() ? kept->steps : 0;
    if (m_setup.moments) remove_moments(m_setup.moments->file);  // what goes on is not taken twice
    m_setup.moments.reset();
    if (kept.ok() || kept.error().code != ErrorCode::not_found) m_found_moments = std::move(kept);
    return {};
}

numerics::OptimizerKind Trainer::optimizer() const {
    switch (m_setup.recipe.optimizer) {
        case run::Optimizer::lamb: return numerics::OptimizerKind::lamb;
        case run::Optimizer::muon: return numerics::OptimizerKind::muon;
        case run::Optimizer::adamw: break;
    }
    return numerics::OptimizerKind::adamw;
}

numerics::StateBits Trainer::state_bits() const {
    return m_setup.layout.state_bits == 8 ? numerics::StateBits::bits8 : numerics::StateBits::bits32;
}

Result<std::uint64_t> Trainer::keep_moments(const MomentsPlace& place, std::chrono::milliseconds patience) {
    m_owner.check();
    if (m_steps == 0) return 0;
    MomentsSource source{
        .slices = m_moments ? m_moments->slices() : m_device_optimizer->slices(), .bits = state_bits(), .read = {}};
    if (m_moments) {
        source.read = [&](std::size_t slice) -> Result<numerics::OptimizerState::Moments> {
            return m_moments->moments(slice);
        };
    } else {
        source.read = [&](std::size_t slice) { return m_device_optimizer->download(slice); };
    }
    const MomentsStamp stamp{place.run, place.round, optimizer(), m_steps};
    const Status kept = training::keep_moments(place.file, stamp, source, patience);
    if (!kept.ok()) return kept.error();
    return moments_file_bytes(source.slices, source.bits);
}

Status Trainer::train_in(const TrainingPlace& place) {
    m_owner.check();
    const bool same = m_reader && place.key == m_place.key && place.shard_path == m_place.shard_path &&
                      place.records == m_place.records;
    if (!same) {
        const ShardShape shape{place.records, m_setup.model.context, m_setup.model.vocabulary};
        Result<Shard> shard = Shard::open(place.shard_path, shape);
        if (!shard.ok()) return shard.error();
        if (const Status taken = take_memory(); !taken.ok()) return taken;
        m_reader.emplace(*std::move(shard), place.key, place.from_record);
    }
    m_place = place;
    if (m_replicas.size() < m_setup.further.size()) add_replicas();
    return {};
}

std::uint32_t Trainer::micro_batch_size(std::uint32_t batch, double seconds_per_sequence, double aim) {
    if (seconds_per_sequence <= 0) return 1;  // not measured: begin small
    const double fits = std::clamp(aim / seconds_per_sequence, 1.0, static_cast<double>(batch));
    const std::uint32_t most = static_cast<std::uint32_t>(fits);
    const std::uint32_t parts = (batch + most - 1) / most;
    return (batch + parts - 1) / parts;
}

/// How many records each device takes in the next micro-step.
std::vector<std::uint32_t> Trainer::deal() {
    const std::uint32_t batch = m_setup.recipe.batch, left = batch - m_batch_filled;
    const std::uint32_t together = model::records_together(m_setup.model);
    const double aim = micro_step_seconds(m_setup.layout.device.kind);
    const bool exact = m_setup.pace == Pace::exact;
    if (!m_replicas.empty()) return m_shares.deal({left, together, exact ? std::numeric_limits<double>::max() : aim});
    const std::uint32_t most = m_setup.layout.micro_batch > 0 ? m_setup.layout.micro_batch : batch;
    const std::uint32_t wanted = together > 1 ? together
                                 : exact      ? most
                                              : std::min(most, micro_batch_size(batch, m_seconds_per_sequence, aim));
    return {std::min(wanted, left)};
}

Status Trainer::read_shares(const std::vector<std::uint32_t>& counts) {
    const std::uint64_t batch = m_setup.recipe.batch;
    const std::uint32_t together = model::records_together(m_setup.model);
    const std::uint32_t most = m_setup.layout.micro_batch > 0 ? m_setup.layout.micro_batch : m_setup.recipe.batch;
    m_dealt.resize(counts.size());
    for (std::size_t i = 0; i < counts.size(); ++i) {
        Share& share = m_dealt[i];
        share.count = counts[i];
        share.at_once = together > 1 ? together : most;
        share.first = m_reader->position();
        share.timed = !m_replicas.empty();
        share.dropout_seed = m_place.key.seed ^ mix64(m_place.key.round.value);
        share.request.scale = m_loss_scale.factor() / static_cast<double>(batch * m_setup.model.context);
        share.request.record_seed = mix64(m_place.key.seed ^ mix64(~m_place.key.round.value));
        share.request.round = m_place.key.round.value;
        share.records.clear();
        if (share.count == 0) continue;
        if (const Status status = m_reader->read(share.count, share.records); !status.ok()) return status;
    }
    return {};
}

Result<bool> Trainer::compute_shares() {
    std::vector<bool> asked;
    for (std::size_t i = 0; i < m_replicas.size(); ++i) {
        asked.push_back(m_dealt[i + 1].count > 0);
        if (asked.back()) m_replicas[i]->begin_share(m_local.values(), m_dealt[i + 1]);
    }
    const Result<ShareDone> own = m_dealt.front().count > 0 ? compute_share(*m_model, m_gradient, m_dealt.front())
                                                            : Result<ShareDone>(ShareDone{});
    Outcomes outcomes;
    for (std::size_t i = 0; i < m_replicas.size(); ++i) {
        const Result<ShareDone> done = asked[i] ? m_replicas[i]->finish() : Result<ShareDone>(ShareDone{});
        outcomes.push_back(done.ok() ? Status() : Status(done.error()));
        if (done.ok() && asked[i]) take(i + 1, *done);
    }
    if (own.ok() && m_dealt.front().count > 0) take(0, *own);
    const bool whole = let_go_of_failed(outcomes);
    if (!own.ok()) return own.error();
    return whole;
}

void Trainer::take(std::size_t device, const ShareDone& done) {
    m_batch_loss += done.loss;
    m_batch_tokens += done.finite * std::uint64_t{m_setup.model.context};
    m_totals.dropped_batches += done.dropped;
    m_batch_filled += m_dealt[device].count;
    if (!m_replicas.empty()) m_shares.measured(device, m_dealt[device].count, done.seconds);
}

Status Trainer::micro_step() {
    m_owner.check();
    POTLUCK_CHECK(m_reader.has_value());
    const auto start = std::chrono::steady_clock::now();
    if (const Status read = read_shares(deal()); !read.ok()) return read;
    const std::uint32_t count = m_dealt.front().count;
    const Result<bool> computed = compute_shares();
    if (!computed.ok()) {
        (void)forget_batch();  // part of this gradient may be in
        return computed.error();
    }
    if (!*computed) return forget_batch();
    const Status status = m_batch_filled < m_setup.recipe.batch ? Status() : finish_step();
    if (!m_replicas.empty() || count == 0) return status;
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / count;
    m_seconds_per_sequence = m_seconds_per_sequence <= 0 ? seconds : 0.8 * m_seconds_per_sequence + 0.2 * seconds;
    return status;
}

Status Trainer::finish_step() {
    Outcomes added;
    for (const auto& replica : m_replicas) added.push_back(replica->add_to(m_gradient));
    if (!let_go_of_failed(added)) return forget_batch();
    const Result<double> squares = m_gradient.sum_of_squares(m_setup.threads);
    if (!squares.ok()) return squares.error();
    const double scale = 1 / m_loss_scale.factor();
    const double norm = std::sqrt(*squares) * scale;
    if (!std::isfinite(norm) || m_batch_tokens == 0) {
        if (m_batch_tokens > 0) ++m_totals.dropped_batches;
        m_loss_scale.step_overflowed();
        return forget_batch();
    }
    const double most = m_setup.recipe.clip_norm;
    const double clip = most > 0 && norm > most ? most / (norm + 1e-6) : 1.0;
    if (const Status stepped = step_optimizer(scale * clip); !stepped.ok()) return stepped;
    m_loss_scale.step_was_finite();
    ++m_totals.steps;
    m_totals.tokens += m_batch_tokens;
    m_totals.loss_sum += m_batch_loss;
    const Status forgotten = forget_batch();
    return forgotten.ok() ? parameters_changed() : forgotten;
}

Status Trainer::step_optimizer(double gradient_scale) {
    const run::Recipe& recipe = m_setup.recipe;
    ++m_steps;
    const double warmup = std::min(1.0, static_cast<double>(m_steps) / static_cast<double>(restart_warmup_steps));
    const numerics::StepHyperparams settings{.kind = optimizer(),
                                             .lamb_debias = debias_of(recipe.lamb_debias),
                                             .learning_rate = m_place.learning_rate * warmup,
                                             .beta1 = recipe.beta1,
                                             .beta2 = recipe.beta2,
                                             .epsilon = recipe.epsilon,
                                             .step = m_steps,
                                             .gradient_scale = gradient_scale,
                                             .rounding_seed = mix64(m_place.key.seed ^ mix64(m_steps))};
    if (m_device_optimizer) return m_device_optimizer->step(m_local.values().view(), m_gradient.view(), settings);
    if (m_muon) return m_muon->step(*m_moments, m_local.values(), m_gradient, settings, m_setup.threads);
    step_numbers(*m_moments, 0, m_moments->slices().size(), m_local.values(), m_gradient, settings, m_setup.threads);
    return {};
}

Status Trainer::forget_batch() {
    m_batch_filled = 0;
    m_batch_tokens = 0;
    m_batch_loss = 0;
    Outcomes forgotten;
    for (const auto& replica : m_replicas) forgotten.push_back(replica->forget());
    (void)let_go_of_failed(forgotten);
    return m_gradient.size() == 0 ? Status() : m_gradient.fill_with_zeros();
}

Status Trainer::parameters_changed() {
    for (const auto& replica : m_replicas) replica->parameters_changed();
    return m_model->use_parameters(m_local.values().view());
}

void Trainer::add_replicas() {
    m_replicas.clear();
    for (const DeviceId device : std::vector<DeviceId>(m_setup.further)) {
        auto replica = Replica::create(m_setup.model, options_of(m_setup, device), m_setup.layout, m_setup.make);
        Status taken = replica.ok() ? Status() : Status(replica.error());
        if (taken.ok()) {
            (*replica)->begin_refresh(m_local.values());
            const Result<ShareDone> done = (*replica)->finish();
            if (!done.ok()) taken = done.error();
        }
        if (taken.ok()) {
            m_replicas.push_back(*std::move(replica));
            continue;
        }
        m_lost.push_back({device, taken.error().message});
        m_setup.further.erase(std::ranges::find(m_setup.further, device));
    }
    m_shares = Shares(m_replicas.size() + 1);
    m_seconds_per_sequence = 0;
}

bool Trainer::let_go_of_failed(const Outcomes& outcomes) {
    bool all = true;
    for (std::size_t i = outcomes.size(); i-- > 0;) {
        if (outcomes[i].ok()) continue;
        all = false;
        const auto place = static_cast<std::ptrdiff_t>(i);
        m_lost.push_back({m_replicas[i]->device(), outcomes[i].error().message});
        m_replicas.erase(m_replicas.begin() + place);
        m_setup.further.erase(m_setup.further.begin() + place);  // in the same order
        m_shares.forget(i + 1);
    }
    return all;
}

std::vector<DeviceId> Trainer::devices() const {
    m_owner.check();
    std::vector<DeviceId> all{m_setup.layout.device};
    all.insert(all.end(), m_setup.further.begin(), m_setup.further.end());
    return all;
}

Result<WindowTotals> Trainer::snapshot(const control::VectorFile& target) {
    m_owner.check();
    if (const Status written = m_local.snapshot(target); !written.ok()) return written.error();
    return std::exchange(m_totals, {});
}

Status Trainer::rebase(const control::VectorFile& next) {
    m_owner.check();
    const Status moved = m_local.rebase(next);
    return moved.ok() ? parameters_changed() : moved;
}

Status Trainer::follow(const Layout& layout, std::vector<DeviceId> further) {
    m_owner.check();
    m_model.reset();  // frees its copies before more is taken
    m_replicas.clear();
    m_setup.further = std::move(further);
    const Layout before = std::exchange(m_setup.layout, layout);
    if (const Status moved = m_local.follow(layout, m_setup.scratch); !moved.ok()) return moved;
    const bool trained = m_gradient.size() > 0;
    const bool same =
        before.gradient == layout.gradient && before.state_bits == layout.state_bits && before.state == layout.state;
    if (trained && !same) {
        m_gradient = FlatVector();
        m_moments.reset();
        m_device_optimizer.reset();
        if (const Status taken = take_memory(); !taken.ok()) return taken;
    }
    m_model = m_setup.make(m_setup.model, options_of(m_setup, layout.device));
    m_loss_scale = LossScale(layout.matmul);
    m_seconds_per_sequence = 0;
    const Status forgotten = forget_batch();
    if (!forgotten.ok()) return forgotten;
    if (const Status taken = parameters_changed(); !taken.ok()) return taken;
    if (trained) add_replicas();
    return {};
}

}  // namespace potluck::training
