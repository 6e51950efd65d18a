// All probes of one program, each on its thread. sights() is what they say now and never waits.
// Threads: one owner. Owns: the watches.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/activity/schedule.h"
#include "core/activity/system/watch.h"

namespace potluck::activity {

using Probes = std::vector<std::unique_ptr<Probe>>;

class Lookout {
public:
    /// At most one probe for a signal.
    explicit Lookout(Probes probes);
    ~Lookout();

    /// A signal that no probe here has is blind, Blindness::other_system.
    [[nodiscard]] Sights sights() const;

private:
    ThreadOwner m_owner;
    std::vector<std::unique_ptr<Watch>> m_watches;
};

/// The first probe's sight as long as that probe sees; else the next one's, for ways to one signal that differ in
/// where they work. If none sees, the last one says why.
[[nodiscard]] std::unique_ptr<Probe> first_that_sees(Probes probes);

/// The probes that need no desktop session: programs, Steam, battery, heat, load.
[[nodiscard]] Probes system_probes(const std::vector<std::string>& programs);

/// The hour of the week by this computer's clock and time zone.
[[nodiscard]] HourOfWeek hour_of_week(std::int64_t unix_time);

}  // namespace potluck::activity
