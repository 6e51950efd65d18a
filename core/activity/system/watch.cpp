#include "core/activity/system/watch.h"

#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace potluck::activity {

struct Watch::Shared {
    std::unique_ptr<Probe> probe;  // the thread's
    std::mutex mutex;              // over what follows, never held during a look
    std::condition_variable changed;
    Sight sight;
    std::optional<TimePoint> look_began;
    bool stopping = false, ended = false;

    void look_again_and_again() {
        std::unique_lock lock(mutex);
        while (!stopping) {
            look_began = steady_now();
            lock.unlock();
            Sight now = probe->look();
            lock.lock();
            sight = std::move(now);
            look_began.reset();
            changed.wait_for(lock, probe->every(), [this] { return stopping; });
        }
        ended = true;
        changed.notify_all();
    }
};

namespace {

/// Threads that never came back. They live as long as the process, and so does the list.
void leave_behind(std::thread thread) {
    static auto& left = *new std::vector<std::thread>;
    left.push_back(std::move(thread));
}

}  // namespace

Watch::Watch(std::unique_ptr<Probe> probe) : m_signal(probe->signal()), m_shared(std::make_shared<Shared>()) {
    m_shared->probe = std::move(probe);
    m_thread = std::thread([shared = m_shared] { shared->look_again_and_again(); });
}

Watch::~Watch() {
    ask_to_stop();
    bool ended = false;
    {
        std::unique_lock lock(m_shared->mutex);
        ended = m_shared->changed.wait_for(lock, end_patience, [this] { return m_shared->ended; });
    }
    if (ended) {
        m_thread.join();
    } else {
        leave_behind(std::move(m_thread));
    }
}

Sight Watch::sight() const {
    m_owner.check();
    const std::lock_guard lock(m_shared->mutex);
    const bool late = m_shared->look_began && steady_now() - *m_shared->look_began > patience;
    return late ? blind(Blindness::no_answer) : m_shared->sight;
}

void Watch::ask_to_stop() {
    const std::lock_guard lock(m_shared->mutex);
    m_shared->stopping = true;
    m_shared->changed.notify_all();
}

}  // namespace potluck::activity
