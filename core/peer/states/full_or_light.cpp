#include "core/peer/states/full_or_light.h"

#include <algorithm>

#include "core/run/recipe.h"

namespace potluck::peer {

void FullOrLight::took_payloads(Duration taken, std::uint64_t payload_bytes, std::uint64_t step_bytes) {
    const bool is_slow = taken > m_window / run::exchange_divisor;
    m_in_a_row = is_slow && step_bytes < payload_bytes ? m_in_a_row + 1 : 0;
    if (m_in_a_row < (payload_bytes > steps_to_be_light * step_bytes ? 1 : rounds_to_light)) return;
    m_light = true;
    m_in_a_row = 0;
}

void FullOrLight::took_step(std::uint64_t step_bytes, Duration taken, std::uint64_t payload_bytes) {
    const double expected =
        static_cast<double>(taken.count()) * static_cast<double>(payload_bytes) / static_cast<double>(step_bytes);
    const Duration most = m_window / (2 * run::exchange_divisor);
    const bool is_quick = expected < static_cast<double>(most.count());
    m_in_a_row = is_quick || step_bytes >= payload_bytes ? m_in_a_row + 1 : 0;
    if (m_in_a_row < m_rounds_to_full) return;
    m_light = false;
    m_in_a_row = 0;
    m_rounds_to_full = std::min(2 * m_rounds_to_full, rounds_to_full_max);
}

}  // namespace potluck::peer
