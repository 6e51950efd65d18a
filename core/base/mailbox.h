// A bounded queue between two threads. The sender never blocks: a full mailbox refuses, and the refusal is counted,
// because a queue without a limit is how a peer eats our memory.
// Threads: any number of senders, one receiver.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <vector>

namespace potluck {

template <class T>
class Mailbox {
public:
    explicit Mailbox(std::size_t limit) : m_limit(limit) {}

    /// False if the mailbox is full or closed; the value is dropped then.
    [[nodiscard]] bool post(T value) {
        const std::lock_guard lock(m_mutex);
        if (m_closed || m_queue.size() >= m_limit) {
            ++m_refused;
            return false;
        }
        m_queue.push_back(std::move(value));
        m_filled.notify_one();
        return true;
    }

    /// Everything that is there now, oldest first, without waiting.
    [[nodiscard]] std::vector<T> take_all() {
        const std::lock_guard lock(m_mutex);
        std::vector<T> taken(std::make_move_iterator(m_queue.begin()), std::make_move_iterator(m_queue.end()));
        m_queue.clear();
        return taken;
    }

    /// The oldest value, waiting up to `patience` for one; nothing on time-out or when closed and empty.
    [[nodiscard]] std::optional<T> take(std::chrono::milliseconds patience) {
        std::unique_lock lock(m_mutex);
        if (!m_filled.wait_for(lock, patience, [this] { return m_closed || !m_queue.empty(); })) return std::nullopt;
        if (m_queue.empty()) return std::nullopt;
        T value = std::move(m_queue.front());
        m_queue.pop_front();
        return value;
    }

    void close() {
        const std::lock_guard lock(m_mutex);
        m_closed = true;
        m_filled.notify_all();
    }

    [[nodiscard]] std::uint64_t refused() const {
        const std::lock_guard lock(m_mutex);
        return m_refused;
    }

private:
    mutable std::mutex m_mutex;
    std::condition_variable m_filled;
    std::deque<T> m_queue;
    std::size_t m_limit;
    std::uint64_t m_refused = 0;
    bool m_closed = false;
};

}  // namespace potluck
