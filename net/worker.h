// One thread for what takes long and is not the network's: hashing files, copying, writing the blob index. Jobs run in
// order of submission; their `done` runs on the node's thread.
// Threads: submit, poll and stop on the node's; `work` on the worker's own. Owns: its thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace potluck::net {

class Worker {
public:
    /// `wake` is called from the worker's thread when a `done` waits for poll().
    explicit Worker(std::function<void()> wake);
    ~Worker();
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

    /// `done` may be empty. Long work asks stopping() now and then.
    void submit(std::function<void()> work, std::function<void()> done);
    /// Runs what is done.
    void poll();
    [[nodiscard]] bool stopping() const { return m_stopping; }
    /// Runs the jobs that wait (long ones see stopping() and end at once) and joins. No `done` runs any more.
    void stop();

private:
    struct Job {
        std::function<void()> work;
        std::function<void()> done;
    };
    void run();

    std::function<void()> m_wake;
    std::mutex m_mutex;
    std::condition_variable m_filled;
    std::deque<Job> m_jobs;
    std::vector<std::function<void()>> m_done;
    std::atomic<bool> m_stopping{false};
    std::thread m_thread;
};

}  // namespace potluck::net
