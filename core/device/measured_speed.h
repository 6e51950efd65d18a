// The speed of a device from short runs of the same kind of work, on a computer that may be busy. A run that had to
// share the processor took longer by the clock than it would have alone; the processor time of the thread that waits
// for the result tells how long that would have been. Its own, because that does not depend on how many threads a
// library takes for a product: alone, the thread computes its part or spins until the others have theirs.
//
// Does not: run anything. Pure but for thread_seconds().
// Threads: any.
#pragma once

#include <span>

namespace potluck::device {

/// One run: what it did, in any unit, and how long that took.
struct SpeedSample {
    double work = 0;
    double wall = 0;       // seconds by the clock
    double processor = 0;  // seconds of processor time of the thread that ran it; 0: another device did, or not known
};

/// Above this share of lost processor time a run counts as disturbed. A quiet computer loses up to a quarter where
/// threads wait for each other, and what a third changes in a plan is less than plans err by.
inline constexpr double busy_above = 1.0 / 3;

struct MeasuredSpeed {
    double per_second = 0;  // as it would be alone on the computer
    double busy = 0;        // share of the run's time in which other programs had the processor
    [[nodiscard]] bool is_busy() const { return busy > busy_above; }
};

/// The best of `samples`: a disturbed one counts by its processor time, the others by the clock. Zero if none took
/// time.
[[nodiscard]] MeasuredSpeed speed_of(std::span<const SpeedSample> samples);

/// Processor time of the calling thread so far; 0 where the system does not tell.
[[nodiscard]] double thread_seconds();

}  // namespace potluck::device
