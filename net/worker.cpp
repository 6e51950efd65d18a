#include "net/worker.h"

#include <utility>

namespace potluck::net {

Worker::Worker(std::function<void()> wake) : m_wake(std::move(wake)), m_thread([this] { run(); }) {}

Worker::~Worker() { stop(); }

void Worker::submit(std::function<void()> work, std::function<void()> done) {
    const std::lock_guard lock(m_mutex);
    m_jobs.push_back({std::move(work), std::move(done)});
    m_filled.notify_one();
}

void Worker::run() {
    std::unique_lock lock(m_mutex);
    for (;;) {
        m_filled.wait(lock, [this] { return m_stopping || !m_jobs.empty(); });
        if (m_jobs.empty()) return;
        const Job job = std::move(m_jobs.front());
        m_jobs.pop_front();
        lock.unlock();
        job.work();
        lock.lock();
        if (!job.done) continue;
        m_done.push_back(job.done);
        lock.unlock();
        if (m_wake && !m_stopping) m_wake();
        lock.lock();
    }
}

void Worker::poll() {
    std::vector<std::function<void()>> ready;
    {
        const std::lock_guard lock(m_mutex);
        ready = std::exchange(m_done, {});
    }
    for (const std::function<void()>& done : ready) done();
}

void Worker::stop() {
    {
        const std::lock_guard lock(m_mutex);
        m_stopping = true;
        m_filled.notify_all();
    }
    if (m_thread.joinable()) m_thread.join();
    m_done.clear();
}

}  // namespace potluck::net
