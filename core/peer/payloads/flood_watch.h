// Says in the log when contributions of newcomers come faster than there are places for them, and who delivers most:
// once when it begins, then once a minute while it lasts.
//
// Does not: refuse anything; the round's lottery does (core/run/offers).
// Threads: a value.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "core/base/clock.h"
#include "core/base/ids.h"

namespace potluck::peer {

/// Refusals that make a flood. A round of a popular run refuses some; nobody needs to read of those.
inline constexpr std::uint64_t flood_refusals_min = 100;
inline constexpr Duration flood_counted_for{10'000};
inline constexpr Duration flood_told_again_after{60'000};

class FloodWatch {
public:
    /// `session` has delivered a newcomer's contribution for which there is no place.
    void refused(const PeerId& session, TimePoint now);
    /// Floods that were written to the log.
    [[nodiscard]] std::uint64_t told() const { return m_told; }

private:
    void tell(TimePoint now);
    std::map<PeerId, std::uint64_t> m_refusals;  // by session, since m_since
    std::uint64_t m_sum = 0;
    TimePoint m_since;
    std::optional<TimePoint> m_told_at;
    std::uint64_t m_told = 0;
};

}  // namespace potluck::peer
