// The promise "Threads: one", checked. A class that belongs to one thread holds a ThreadOwner and calls check() first
// in its public methods; a call from another thread aborts with file and line, in release builds too.
//
// The owner is the thread of the first check(), so that an object may be built on one thread and live on another. A
// copy or a moved object has no owner yet. Destructors do not check: they may run when the owner's thread has ended.
// Does not: synchronise anything, or find two calls that never meet at a check.
// Threads: any; that is what it is for.
#pragma once

#include <atomic>
#include <thread>

#include "core/base/check.h"

namespace potluck {

class ThreadOwner {
public:
    ThreadOwner() = default;
    ThreadOwner(const ThreadOwner&) noexcept {}
    ThreadOwner& operator=(const ThreadOwner&) noexcept {
        release();
        return *this;
    }

    /// Aborts unless the calling thread is the owner; the first caller becomes the owner. Costs about a nanosecond.
    void check() const { POTLUCK_CHECK(is_owner()); }
    /// Hands the object over: the next thread that checks is the owner. Called where threads meet, as after a join.
    void release() { m_owner.store({}, std::memory_order_relaxed); }

private:
    [[nodiscard]] bool is_owner() const {
        const std::thread::id self = std::this_thread::get_id();
        std::thread::id owner = m_owner.load(std::memory_order_relaxed);
        if (owner == self) return true;
        // compare_exchange compares bytes; an id has no padding on the platforms there are.
        return owner == std::thread::id() && m_owner.compare_exchange_strong(owner, self, std::memory_order_relaxed);
    }

    mutable std::atomic<std::thread::id> m_owner{};
};

}  // namespace potluck
