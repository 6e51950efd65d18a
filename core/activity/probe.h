// The seam between the policy and the world: a probe looks for one signal when it is asked.
//
// look() may take long, or never return (a driver, a display that is gone, a service that hangs): it is called on a
// thread that nothing else depends on (system/watch.h), always the same one, and what it holds is used there only.
// Threads: made and destroyed anywhere, look() on one.
#pragma once

#include "core/activity/signals.h"
#include "core/base/clock.h"

namespace potluck::activity {

class Probe {
public:
    Probe() = default;
    virtual ~Probe() = default;
    Probe(const Probe&) = delete;
    Probe& operator=(const Probe&) = delete;

    [[nodiscard]] virtual Signal signal() const = 0;
    [[nodiscard]] virtual Sight look() = 0;
    /// From the end of one look to the next. Decisive signals are told within a second, so half of one is what is left.
    [[nodiscard]] virtual Duration every() const { return Duration{500}; }
};

}  // namespace potluck::activity
