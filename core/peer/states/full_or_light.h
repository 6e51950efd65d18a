// Whether a member takes every payload of a round and adds them up itself (full), or takes the step that the seats have
// signed (light), in a run of coded steps. It is the member's own affair, decided from what its line was seen to carry:
//
//   full --payloads took more than a tenth of the window, rounds_to_light times in a row--> light
//        --the same once, where they are many times the step--> light
//   light --they would take less than half of that, for many rounds in a row--> full
//
// Of few members the payloads together may be shorter than the step: then nobody is light, however slow its line.
// Who comes to a run whose payloads are many times its step begins light: to find out what its line carries it would
// have to take them all. The way back doubles with each time it was taken too early. Does not: know who has a seat,
// which is always full. Owns: values only.
#pragma once

#include <cstdint>

#include "core/base/clock.h"

namespace potluck::peer {

inline constexpr std::uint32_t rounds_to_light = 2;
inline constexpr std::uint32_t rounds_to_full_min = 4, rounds_to_full_max = 64;
inline constexpr std::uint64_t steps_to_be_light = 4;

class FullOrLight {
public:
    explicit FullOrLight(Duration window) : m_window(window) {}

    [[nodiscard]] bool light() const { return m_light; }
    /// The first round that this member takes of the run: its payloads together, and its step.
    void begins(std::uint64_t payload_bytes, std::uint64_t step_bytes) {
        m_light = payload_bytes > steps_to_be_light * step_bytes;
    }
    /// A round ended in which this member took all payloads, of `payload_bytes` together, whose step has `step_bytes`:
    /// `taken` is how long after the window's end nine of ten of its list's were here.
    void took_payloads(Duration taken, std::uint64_t payload_bytes, std::uint64_t step_bytes);
    /// A round ended in which it took the step, `step_bytes` in `taken`, for payloads of `payload_bytes` together.
    void took_step(std::uint64_t step_bytes, Duration taken, std::uint64_t payload_bytes);

private:
    Duration m_window;
    bool m_light = false;
    std::uint32_t m_in_a_row = 0;  // rounds that speak for the other way
    std::uint32_t m_rounds_to_full = rounds_to_full_min;
};

}  // namespace potluck::peer
