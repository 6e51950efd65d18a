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

/// A thread that did not come back when it was asked to; what it uses goes with it.
struct LeftBehind {
    std::thread thread;
    std::weak_ptr<void> used;
};

/// It lives as long as the process, because some of the threads do.
class LeftBehindList {
public:
    static LeftBehindList& all() {
        static auto& list = *new LeftBehindList;
        return list;
    }

    void add(LeftBehind left) {
        const std::lock_guard lock(m_mutex);
        m_left.push_back(std::move(left));
    }

    /// The call came back after all, so that the thread can be joined without waiting.
    void join_those_that_ended() {
        const std::lock_guard lock(m_mutex);
        std::erase_if(m_left, [](LeftBehind& left) {
            if (!left.used.expired()) {
                return false;
            }
            left.thread.join();
            return true;
        });
    }

private:
    std::mutex m_mutex;
    std::vector<LeftBehind> m_left;
};

}  // namespace

Watch::Watch(std::unique_ptr<Probe> probe) : m_signal(probe->signal()), m_shared(std::make_shared<Shared>()) {
    LeftBehindList::all().join_those_that_ended();
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
        LeftBehindList::all().add({.thread = std::move(m_thread), .used = m_shared});
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
