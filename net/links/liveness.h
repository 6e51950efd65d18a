// Whether the other end of a link is still there. A process that is killed says nothing over uTP, and libtorrent
// neither resets such a connection nor minds a router that does: nine timeouts in a row, two minutes, go by before it
// ends, and nobody can be dialled at an address that counts as connected. So a link asks, and ends by itself.
//
//   received --2 s--> asks every second --limit, and at least asks_min asks--> ends
//     ^--------------- anything comes ---'
//
// The limit is the owner's, but at least four times the slowest answer lately: a line that is full is not a dead one.
// Does not: send. Threads: a value.
#pragma once

#include <algorithm>
#include <optional>

#include "core/base/clock.h"

namespace potluck::net {

inline constexpr Duration ask_after{2'000};
/// A computer that slept finds its own silence before it reads what has come: so many asks go unanswered first.
inline constexpr int asks_min = 3;
inline constexpr int answers_to_wait = 4;  // times the slowest one

class Liveness {
public:
    enum class Step { nothing, ask, give_up };

    explicit Liveness(TimePoint now) : m_received(now) {}

    /// Something came, or much of what was sent has left.
    void received(TimePoint now) {
        m_received = now;
        m_asks = 0;
    }
    void answered(TimePoint now) {
        if (m_asked_at) m_slowest = std::max(now - *m_asked_at, m_slowest * 7 / 8);
        m_asked_at.reset();
        received(now);
    }
    /// Once a second. `limit` 0: never ends.
    [[nodiscard]] Step tick(TimePoint now, Duration limit) {
        const Duration silence = now - m_received;
        if (silence < ask_after) return Step::nothing;
        const bool is_over = silence >= std::max(limit, answers_to_wait * m_slowest) && m_asks >= asks_min;
        if (limit > Duration{0} && is_over) return Step::give_up;
        ++m_asks;
        if (!m_asked_at) m_asked_at = now;
        return Step::ask;
    }
    [[nodiscard]] TimePoint last_received() const { return m_received; }

private:
    TimePoint m_received;
    std::optional<TimePoint> m_asked_at;  // the first ask that has no answer
    Duration m_slowest{0};
    int m_asks = 0;  // since anything came
};

}  // namespace potluck::net
