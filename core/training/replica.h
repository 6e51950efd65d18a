// A further device of one volunteer: a copy of the model that computes the gradient of its share of each batch on a
// thread of its own, while the trainer's own device computes another share. It steps nothing.
//
//   begin_share(L, ...) ... finish()    takes new parameters if there are any, adds a share's gradient to its own
//   add_to(G)                           at the end of a batch; then forget(), and parameters_changed() after the step
//
// A device without a share costs nothing: it takes parameters when it has one again.
//
// Where L lives on a device, a replica keeps a copy on its own, and its gradient there; else it reads the computer's L,
// and its gradient lies in the computer's memory.
// Threads: one, the trainer's; what it begins runs on its own thread, and until the next finish() nothing else is
// asked. Owns: model, gradient, copy of L, thread.
#pragma once

#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <vector>

#include "core/base/result.h"
#include "core/base/thread_owner.h"
#include "core/base/worker.h"
#include "core/model/model_spec.h"
#include "core/training/compute/flat_vector.h"
#include "core/training/compute/model.h"
#include "core/training/make_model.h"
#include "core/training/memory/layout.h"

namespace potluck::training {

/// A device's part of a micro-step: whole records, which may be more than its layout takes at once.
struct Share {
    std::vector<model::Token> records;
    std::uint32_t count = 0, at_once = 0;
    std::uint64_t first = 0;         // number of the first record
    Model::BackwardRequest request;  // without records, gradient, number and dropout's seed
    std::uint64_t dropout_seed = 0;  // with the number of the first record of each part
    bool timed = false;              // waits for the device in the end, so that seconds are what it took
};
struct ShareDone {
    double loss = 0;            // of the parts whose loss is finite
    std::uint32_t finite = 0;   // records of those
    std::uint32_t dropped = 0;  // parts whose loss is not
    double seconds = 0;
};
/// Adds the gradient of a share, part by part, on the calling thread.
[[nodiscard]] Result<ShareDone> compute_share(Model& model, const FlatVector& gradient, const Share& share);

class Replica {
public:
    /// `out_of_memory` or `unavailable` if the device has no room, or does not compute. `layout` is the lead's.
    [[nodiscard]] static Result<std::unique_ptr<Replica>> create(const model::ModelSpec& spec,
                                                                 const ModelOptions& options, const Layout& layout,
                                                                 const ModelMaker& make);

    [[nodiscard]] DeviceId device() const {
        m_owner.check();
        return m_device;
    }

    void begin_refresh(const FlatVector& local);
    /// L stays as it is until finish().
    void begin_share(const FlatVector& local, Share share);
    void parameters_changed() {
        m_owner.check();
        m_is_stale = true;
    }
    /// Waits for what was begun.
    [[nodiscard]] Result<ShareDone> finish();

    /// gradient += its own, if it had a share since the last forget().
    [[nodiscard]] Status add_to(FlatVector& gradient);
    [[nodiscard]] Status forget();

private:
    Replica(DeviceId device, std::unique_ptr<Model> model, FlatVector gradient, FlatVector copy);
    void begin(std::function<Result<ShareDone>()> work);
    [[nodiscard]] Status refresh(const FlatVector& local);

    ThreadOwner m_owner;
    DeviceId m_device;
    std::unique_ptr<Model> m_model;
    FlatVector m_gradient;
    FlatVector m_copy;  // empty where it reads the computer's L
    std::future<Result<ShareDone>> m_begun;
    bool m_has_gradient = false;  // of this batch
    bool m_is_stale = true;       // L is not what it took last
    Worker m_worker;              // last: it uses all of the above
};

}  // namespace potluck::training
