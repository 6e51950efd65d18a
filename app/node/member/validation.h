// When this computer's trainer may measure an agreed state on the records that the run's curve is of
// (core/peer/jury/losses.h says which state). It must not cost what the person gave for training: a measurement takes
// at most a quarter of a window, which happens every few rounds, else this computer is too slow for this model and
// leaves it to others; the next one waits until all of them together are at most a fiftieth of the time. The first one
// is not counted: most of it is the trainer's start. Does not: talk to the trainer; RunSession does.
// Threads: one at a time. Owns: when the next one may be.
#pragma once

#include <cstdint>
#include <optional>

#include "core/base/clock.h"
#include "core/base/thread_owner.h"
#include "core/run/manifest.h"

namespace potluck::node {

class Validation {
public:
    static constexpr std::uint64_t shard_bytes_max = 64ULL << 20U;  // to be fetched for it
    static constexpr double share_of_time_max = 0.02, share_of_window_max = 0.25;

    explicit Validation(const run::Manifest& manifest);

    /// Records of the validation shard, from its first on; 0 if the run has no curve.
    [[nodiscard]] std::uint64_t records() const { return m_records; }
    /// Whether the shard is worth fetching where it is not here.
    [[nodiscard]] bool is_worth_fetching() const { return m_is_small; }
    /// `speed` of training in tokens per second. The run's last state takes nothing from training:
    /// it does not wait, and may take as long as the closing list waits for it.
    [[nodiscard]] bool may_begin(TimePoint now, double speed, bool is_last = false) const;
    void begun(TimePoint now);
    void measured(TimePoint now);
    /// The trainer ended as it was asked to; the next try is soon.
    void cancelled(TimePoint now);
    /// The next try is an hour later: what failed once, for want of memory, fails again.
    void failed(TimePoint now);

private:
    ThreadOwner m_owner;
    std::uint64_t m_records = 0, m_tokens = 0;
    double m_window_seconds = 0;
    bool m_is_small = false;
    std::optional<TimePoint> m_begun;
    bool m_has_measured = false;
    TimePoint m_next;        // try
    TimePoint m_affordable;  // from then on all of them took little enough of the time
};

}  // namespace potluck::node
