// What the owner wants to happen: which signals count, and how soon training comes back.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "core/activity/schedule.h"
#include "core/activity/signals.h"
#include "core/base/clock.h"

namespace potluck::activity {

inline constexpr std::size_t programs_max = 64, program_bytes_max = 128;
inline constexpr Duration resume_delay_min{5'000}, resume_delay_max{3'600'000};

struct Rules {
    /// By place_of(signal). All are on but two. The use of keyboard and mouse: a person who reads or types takes little
    /// of a computer that trains at a low priority, and most computers are in use when they are on. And the load of
    /// other programs, which come before training by that same priority.
    std::array<bool, signal_count> on = [] {
        std::array<bool, signal_count> all{};
        all.fill(true);
        all[place_of(Signal::input)] = false;
        all[place_of(Signal::load)] = false;
        return all;
    }();
    std::vector<std::string> programs;  // names of files, as the owner typed them
    Duration resume_delay{60'000};      // how long everything must be quiet before training comes back
    Schedule schedule;

    bool operator==(const Rules&) const = default;
};

}  // namespace potluck::activity
