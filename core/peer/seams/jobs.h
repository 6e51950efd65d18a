// The jobs that a peer has under way off its thread. A job owns its inputs and returns a value; the answer comes back
// on the peer's thread, in order of submission, and never to a peer that has left or is gone.
//
//   jobs.run([in = VerifyInput{...}] { return verify(in); }, [this](Verified found) { ... });
//
// Threads: the peer's, except the work of a job. Owns: the count.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

namespace potluck::peer {

/// Runs `work` off the peer's thread and then `done` on it, in order of submission. Work that is under way when the
/// peer dies still uses the store and blobs of its World, so the worker's owner joins it before it destroys them.
using Offload = std::function<void(std::function<void()> work, std::function<void()> done)>;

class Jobs {
public:
    explicit Jobs(Offload offload) : m_offload(std::move(offload)) {}
    Jobs(const Jobs&) = delete;
    Jobs& operator=(const Jobs&) = delete;

    /// `work` must not capture the peer or any part of it: it runs beside them.
    template <class Work, class Done>
    void run(Work work, Done done) {
        using Value = std::invoke_result_t<Work>;
        static_assert(!std::is_void_v<Value>, "a job returns what it found");
        const auto value = std::make_shared<std::optional<Value>>();
        submit([value, work = std::move(work)]() mutable { value->emplace(work()); },
               [value, done = std::move(done)]() mutable { done(std::move(**value)); });
    }
    /// Answers that come after this are dropped.
    void stop() { m_stopped = true; }
    [[nodiscard]] std::size_t count() const { return m_count; }

private:
    void submit(std::function<void()> work, std::function<void()> done) {
        ++m_count;
        m_offload(std::move(work), [this, alive = std::weak_ptr(m_token), finished = std::move(done)] {
            if (alive.expired()) return;
            --m_count;
            if (!m_stopped) finished();
        });
    }

    Offload m_offload;
    std::size_t m_count = 0;
    bool m_stopped = false;
    const std::shared_ptr<int> m_token = std::make_shared<int>(0);  // expires with the peer
};

}  // namespace potluck::peer
