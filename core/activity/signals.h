// What may be noticed of the owner's use of this computer, and what was noticed of it: plain values.
//
// A signal is looked for by one probe. A probe that sees nothing says why (Blindness); that never counts as evidence
// that the computer is free, and never as evidence that it is not.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "core/base/clock.h"

namespace potluck::activity {

/// In the order in which they are named as the reason when several hold.
enum class Signal : std::uint8_t {
    person,       // paused by hand: stands in the history only, no probe and no rule has it
    program,      // a program of the owner's list runs; value 1, detail: its name
    launcher,     // Steam runs a game; value 1, detail: its number at Steam
    game_mode,    // GameMode has clients; value: how many
    full_screen,  // a window fills a screen; value 1, detail: its program
    gpu_use,      // others compute or draw on a GPU that trains; value: per cent, detail: the program
    gpu_memory,   // value: bytes that are free on the fullest GPU
    heat,         // value: degrees Celsius below the temperature at which the computer throttles or ends
    battery,      // value 1 while it runs from its battery
    power_saver,  // value 1 while the owner asks to save power
    metered,      // value 1 while the connection is paid for by what is sent
    load,         // value: per cent of all cores that other programs of ordinary priority use
    input,        // value: seconds since the last key, click or movement
    schedule,     // the owner's hours
};
inline constexpr std::size_t signal_count = 14;

[[nodiscard]] constexpr std::size_t place_of(Signal signal) { return static_cast<std::size_t>(signal); }
/// The signals that a rule can switch on and off: all but the person.
inline constexpr std::array automatic_signals = {
    Signal::program,    Signal::launcher, Signal::game_mode, Signal::full_screen, Signal::gpu_use,
    Signal::gpu_memory, Signal::heat,     Signal::battery,   Signal::power_saver, Signal::metered,
    Signal::load,       Signal::input,    Signal::schedule};
static_assert(automatic_signals.size() + 1 == signal_count);

/// How much of the computer training may take.
enum class Level : std::uint8_t { run, quiet, pause };

struct Reading {
    double value = 0;  // its meaning stands beside each signal
    std::string detail;
    bool operator==(const Reading&) const = default;
};

/// Why a probe sees nothing, or not everything.
enum class Blindness : std::uint8_t {
    none,
    partial,       // it sees, but not every program: what it does not see may be there all the same
    other_system,  // this operating system has no such thing, or Potluck does not know it there
    no_display,    // no display that it can ask
    no_service,    // the service that knows does not run
    no_device,     // this computer has no such device
    no_answer,     // it has been asked and does not answer
};

/// What one probe says at one moment.
struct Sight {
    std::optional<Reading> reading;
    Blindness blindness = Blindness::none;  // none without a reading: it looks for the first time
    bool operator==(const Sight&) const = default;
};
[[nodiscard]] inline Sight seen(double value, std::string detail = {}) {
    return {Reading{value, std::move(detail)}, Blindness::none};
}
[[nodiscard]] inline Sight blind(Blindness why) { return {std::nullopt, why}; }

/// By place_of(signal).
using Sights = std::array<Sight, signal_count>;

/// What follows from them: how much training may take, and which signal decided.
struct Decision {
    Level level = Level::run;
    Signal signal = Signal::schedule;  // meaningless while level is run
    std::string detail;
    std::optional<TimePoint> ends{};  // then training may take more, if nothing is noticed until then
    bool operator==(const Decision&) const = default;
};

}  // namespace potluck::activity
