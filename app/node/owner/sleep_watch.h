// What the system says before it puts this computer to sleep or ends: logind's PrepareForSleep and PrepareForShutdown,
// heard on the system bus. While this node holds a delay lock the system waits, up to five seconds unless it is set
// otherwise, so that there is time to hand over what others need of this computer.
//
//   here --the system is about to sleep or to end: going--> handing over --release()--> asleep
//    ^                                                                                    |
//    '------------------ awake, or it did not come to that: back ------------------------'
//
// The bus is spoken to by libsystemd's sd-bus (or elogind's), which is opened if it is there; where neither is, and on
// other systems than Linux, nothing is ever said, and a computer that sleeps is one that falls silent.
//
// Does not: know what there is to hand over. Threads: one (the node's). Owns: the connection and the lock.
#pragma once

#include <memory>
#include <optional>

#include "core/base/clock.h"
#include "core/base/thread_owner.h"

namespace potluck::node {

class SleepWatch {
public:
    enum class Notice { going, back };
    /// Without a word from the system, who still runs that long after `going` has not gone. The clock stands still
    /// while a computer sleeps.
    static constexpr Duration gone_by{60'000};
    static constexpr Duration connect_again_after{60'000};

    SleepWatch();
    ~SleepWatch();
    SleepWatch(const SleepWatch&) = delete;
    SleepWatch& operator=(const SleepWatch&) = delete;

    /// What the system has said since the last call. Call it at every tick; never waits.
    [[nodiscard]] std::optional<Notice> poll(TimePoint now);
    /// What had to be done first is done: the system may go on.
    void release();
    /// Whether the system would wait for us.
    [[nodiscard]] bool holds_lock() const;

private:
    class Bus;
    ThreadOwner m_owner;
    std::unique_ptr<Bus> m_bus;
    TimePoint m_connect_at;
    std::optional<TimePoint> m_back_by;  // it has said that it goes
};

}  // namespace potluck::node
