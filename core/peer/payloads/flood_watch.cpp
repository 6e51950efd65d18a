#include "core/peer/payloads/flood_watch.h"

#include <algorithm>

#include "core/base/log.h"

namespace potluck::peer {

void FloodWatch::refused(const PeerId& session, TimePoint now) {
    if (now >= m_since + flood_counted_for) {
        m_refusals.clear();
        m_sum = 0;
    }
    if (m_sum == 0) m_since = now;
    ++m_sum;
    ++m_refusals[session];
    if (m_sum == flood_refusals_min) tell(now);
}

void FloodWatch::tell(TimePoint now) {
    if (m_told_at && now < *m_told_at + flood_told_again_after) return;
    m_told_at = now;
    ++m_told;
    const auto most = std::max_element(m_refusals.begin(), m_refusals.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    log::of("peer").warn(
        "a flood of contributions with fresh keys: {} refused within {} s, {} of them from {}; "
        "rounds go on with those that drew a place",
        m_sum, flood_counted_for.count() / 1000, most->second, most->first.brief());
}

}  // namespace potluck::peer
