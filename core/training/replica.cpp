// What a replica computes is what the trainer's own device would have computed for the same records: their numbers and
// seeds come along, and compute_share() is the same for both. Only the order of sums differs.
//
// Threads: see replica.h. A job takes raw pointers to the replica's parts, which outlive it: the worker is joined
// first, and the owner asks for nothing else before finish().
#include "core/training/replica.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <functional>
#include <new>
#include <span>
#include <utility>

#include "core/base/check.h"
#include "core/base/rng.h"
#include "core/training/memory/memory_error.h"

namespace potluck::training {

Result<ShareDone> compute_share(Model& model, const FlatVector& gradient, const Share& share) {
    const auto start = std::chrono::steady_clock::now();
    const std::size_t length = share.records.size() / share.count;
    ShareDone done;
    for (std::uint32_t next = 0; next < share.count;) {
        const std::uint32_t count = std::min(share.at_once, share.count - next);
        Model::BackwardRequest request = share.request;
        request.records = std::span(share.records).subspan(next * length, count * length);
        request.gradient = gradient.view();
        request.first = share.first + next;
        request.dropout_seed = mix64(share.dropout_seed ^ request.first);
        const Result<double> loss = model.add_gradient(request);
        if (!loss.ok()) return loss.error();
        if (std::isfinite(*loss)) {
            done.loss += *loss;
            done.finite += count;
        } else {
            ++done.dropped;
        }
        next += count;
    }
    if (std::array<float, 1> number{}; share.timed) {
        if (const Status waited = gradient.read(0, number); !waited.ok()) return waited.error();
    }
    done.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return done;
}

Result<std::unique_ptr<Replica>> Replica::create(const model::ModelSpec& spec, const ModelOptions& options,
                                                 const Layout& layout, const ModelMaker& make) {
    const bool on_device = layout.state == Residency::device;
    const DeviceId home = on_device ? options.device : DeviceId{};
    const std::uint64_t size = spec.parameters();
    Result<FlatVector> gradient = FlatVector::zeros(size, layout.gradient, home);
    if (!gradient.ok()) return gradient.error();
    FlatVector copy;
    if (on_device) {
        Result<FlatVector> values = FlatVector::zeros(size, layout.weights, home);
        if (!values.ok()) return values.error();
        copy = *std::move(values);
    }
    return std::unique_ptr<Replica>(
        new Replica(options.device, make(spec, options), *std::move(gradient), std::move(copy)));
}

Replica::Replica(DeviceId device, std::unique_ptr<Model> model, FlatVector gradient, FlatVector copy)
    : m_device(device),
      m_model(std::move(model)),
      m_gradient(std::move(gradient)),
      m_copy(std::move(copy)),
      m_worker([](const std::function<void()>& done) { done(); }) {}

void Replica::begin(std::function<Result<ShareDone>()> work) {
    m_owner.check();
    POTLUCK_CHECK(!m_begun.valid());
    auto told = std::make_shared<std::promise<Result<ShareDone>>>();
    m_begun = told->get_future();
    m_worker.run([told, work = std::move(work)] {
        try {
            told->set_value(work());
        } catch (const std::bad_alloc&) {
            told->set_value(out_of_memory_error());
        }
    });
}

/// On its own thread.
Status Replica::refresh(const FlatVector& local) {
    if (m_copy.size() == 0) return m_model->use_parameters(local.view());
    const Status copied = m_copy.copy_from(local);
    return copied.ok() ? m_model->use_parameters(m_copy.view()) : copied;
}

void Replica::begin_refresh(const FlatVector& local) {
    m_is_stale = false;
    begin([this, &local]() -> Result<ShareDone> {
        const Status taken = refresh(local);
        return taken.ok() ? Result<ShareDone>(ShareDone{}) : taken.error();
    });
}

void Replica::begin_share(const FlatVector& local, Share share) {
    m_has_gradient = true;
    begin([this, &local, is_stale = std::exchange(m_is_stale, false), share = std::move(share)]() -> Result<ShareDone> {
        if (const Status taken = is_stale ? refresh(local) : Status(); !taken.ok()) return taken.error();
        return compute_share(*m_model, m_gradient, share);
    });
}

Result<ShareDone> Replica::finish() {
    m_owner.check();
    POTLUCK_CHECK(m_begun.valid());
    return m_begun.get();
}

Status Replica::add_to(FlatVector& gradient) {
    m_owner.check();
    return m_has_gradient ? gradient.add(m_gradient) : Status();
}

Status Replica::forget() {
    m_owner.check();
    return std::exchange(m_has_gradient, false) ? m_gradient.fill_with_zeros() : Status();
}

}  // namespace potluck::training
