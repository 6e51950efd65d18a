// One worker thread for slow arithmetic (encoding, F, hashing): runs work in order of submission and posts each
// `done` back to the node's loop. See peer::Offload.
// Threads: `submit` and `finish` on the node's. Owns: the worker.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include <boost/asio/io_context.hpp>

namespace potluck::node {

class OffloadThread {
public:
    /// More waiting jobs than a peer ever has are a bug.
    static constexpr std::size_t jobs_max = 4096;

    explicit OffloadThread(boost::asio::io_context& loop);
    /// Finishes what was submitted.
    ~OffloadThread();
    OffloadThread(const OffloadThread&) = delete;
    OffloadThread& operator=(const OffloadThread&) = delete;

    void submit(std::function<void()> work, std::function<void()> done);
    /// Waits until everything submitted was worked; nothing is taken afterwards. Their `done` are posted, and run if
    /// the loop is run again.
    void finish();

private:
    struct Job {
        std::function<void()> work, done;
    };
    void work();

    boost::asio::io_context& m_loop;
    std::mutex m_mutex;
    std::condition_variable m_filled;
    std::deque<Job> m_jobs;
    bool m_finishing = false;
    std::thread m_thread;
};

}  // namespace potluck::node
