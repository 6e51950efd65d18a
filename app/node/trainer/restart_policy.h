// When a trainer that died may start again: after half a second, then twice as long each time; after three failures
// within ten minutes not before the person says so.
// Pure: time is passed in.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>

#include "core/base/clock.h"

namespace potluck::node {

class RestartPolicy {
public:
    static constexpr std::size_t failures_max = 3;
    static constexpr Duration memory{600'000};
    static constexpr Duration first_delay{500};

    /// How long to wait before the next start; nothing: give up and tell the person.
    [[nodiscard]] std::optional<Duration> on_failure(TimePoint now) {
        while (!m_failures.empty() && now - m_failures.front() > memory) m_failures.pop_front();
        m_failures.push_back(now);
        if (m_failures.size() >= failures_max) return std::nullopt;
        return first_delay * (1 << (m_failures.size() - 1));
    }
    void reset_failures() { m_failures.clear(); }

private:
    std::deque<TimePoint> m_failures;
};

}  // namespace potluck::node
