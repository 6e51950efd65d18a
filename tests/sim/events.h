// Virtual time: a queue of things that happen, in order of time and then of insertion.
#pragma once

#include <functional>
#include <map>
#include <utility>

#include "core/base/clock.h"

namespace potluck::sim {

class Events {
public:
    void after(Duration delay, std::function<void()> event) { m_queue.emplace(m_now + delay, std::move(event)); }
    [[nodiscard]] TimePoint now() const { return m_now; }

    /// Lets one thing happen; false if nothing is left.
    bool step() {
        if (m_queue.empty()) return false;
        auto node = m_queue.extract(m_queue.begin());
        m_now = std::max(m_now, node.key());
        node.mapped()();
        return true;
    }

private:
    std::multimap<TimePoint, std::function<void()>> m_queue;
    TimePoint m_now{Duration{1'000'000}};
};

}  // namespace potluck::sim
