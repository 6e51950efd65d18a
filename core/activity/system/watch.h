// One probe on a thread of its own, which looks again and again. The newest sight can be had at any moment, without
// waiting: a probe that hangs is told as Blindness::no_answer and holds up nobody.
//
// At the end the thread is asked to stop and waited for, but not for long: a thread that is inside a call which never
// returns can neither be stopped nor joined, so it is left behind with all that it uses. If the call does return, the
// next watch that begins joins it.
// Threads: one owner; the probe runs on the watch's own thread. Owns: the probe.
#pragma once

#include <memory>
#include <thread>

#include "core/activity/probe.h"
#include "core/base/thread_owner.h"

namespace potluck::activity {

class Watch {
public:
    /// A look that takes longer than this is told as no answer.
    static constexpr Duration patience{2'000};
    /// How long the destructor waits for a look that is under way.
    static constexpr Duration end_patience{300};

    explicit Watch(std::unique_ptr<Probe> probe);
    ~Watch();
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

    [[nodiscard]] Signal signal() const { return m_signal; }
    [[nodiscard]] Sight sight() const;
    /// Asks the thread to stop, and returns at once; the destructor then has less to wait for.
    void ask_to_stop();

private:
    struct Shared;
    ThreadOwner m_owner;
    Signal m_signal;
    std::shared_ptr<Shared> m_shared;
    std::thread m_thread;
};

}  // namespace potluck::activity
