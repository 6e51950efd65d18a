// From what the probes saw to how much training may take, and why.
//
//   run ---- a signal holds ----> quiet or pause, at once
//    ^                                |
//    +-- nothing has held for the ----+        a stronger signal: at once;  a weaker one: after the same delay
//        rules' resume_delay
//
// Pausing is fast and resuming slow, because a game that is between two levels has no window for a second, and because
// starting a trainer costs more than waiting does. A signal that several probes might contradict is believed: silence
// of one is no evidence (Sight). A rule that the person switches off ends its own pause at once.
//
// Does not: look at anything, or read a clock. Threads: a value.
#pragma once

#include <array>
#include <optional>

#include "core/activity/rules.h"
#include "core/activity/signals.h"
#include "core/base/clock.h"

namespace potluck::activity {

/// From when on others' use of a GPU counts: a desktop draws now and then, a game does all the time.
inline constexpr double gpu_use_min = 30;
inline constexpr Duration gpu_use_hold{5'000};
/// Less than this is too little to start a game with. The trainer's plan leaves more than that free, so its own memory
/// alone never reaches it.
inline constexpr double gpu_memory_free_min = 512.0 * 1024 * 1024;
/// Degrees below the critical temperature; ten seconds, because sensors of processors jump.
inline constexpr double heat_margin_min = 5;
inline constexpr Duration heat_hold{10'000};
/// Half of all cores for half a minute: a build or a render, not a page that opens.
inline constexpr double load_min = 50;
inline constexpr Duration load_hold{30'000};
/// The owner has gone after so many seconds without a key, a click or a movement; BOINC's default, three minutes.
inline constexpr double away_after_seconds = 180;
/// Nobody types or plays for half an hour without a pause of five seconds, but a game pad whose stick drifts does
/// (ActivityWatch's issue 1312): such input is no person's.
inline constexpr double input_break_seconds = 5;
inline constexpr Duration drift_after{30 * 60'000};

class Policy {
public:
    /// Call it a few times a second with what the probes say now. `hour` is the owner's local time.
    [[nodiscard]] Decision decide(TimePoint now, HourOfWeek hour, const Sights& sights, const Rules& rules);

    /// Whether input comes without a break and is therefore not taken for a person's.
    [[nodiscard]] bool input_drifts() const { return m_drifts; }

private:
    [[nodiscard]] bool meets(TimePoint now, Signal signal, const Reading& reading);
    void look_at_input(TimePoint now, const Sight& sight);
    [[nodiscard]] Decision wanted(TimePoint now, HourOfWeek hour, const Sights& sights, const Rules& rules);

    std::array<std::optional<TimePoint>, signal_count> m_since;  // from when on each has been met without a break
    std::optional<TimePoint> m_last_break;                       // of input
    std::optional<TimePoint> m_weaker_since;                     // less than the present level has been called for
    Decision m_decision;
    bool m_drifts = false;
};

}  // namespace potluck::activity
