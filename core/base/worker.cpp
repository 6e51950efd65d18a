#include "core/base/worker.h"

namespace potluck {

Worker::Worker(Post post) : m_post(std::move(post)), m_thread([this] { work(); }) { POTLUCK_CHECK(m_post); }

Worker::~Worker() {
    m_stop.request_stop();
    join();
}

void Worker::submit(std::function<void()> job) {
    m_owner.check();
    const std::lock_guard lock(m_mutex);
    if (m_finishing) return;
    POTLUCK_CHECK(m_jobs.size() < jobs_max);
    m_jobs.push_back(std::move(job));
    m_filled.notify_one();
}

void Worker::work() {
    for (;;) {
        std::unique_lock lock(m_mutex);
        m_filled.wait(lock, [this] { return m_finishing || !m_jobs.empty(); });
        if (m_jobs.empty()) return;
        // Destroyed before the next job is taken, so that what it owns is not kept while nothing is to do.
        const std::function<void()> job = std::move(m_jobs.front());
        m_jobs.pop_front();
        lock.unlock();
        job();
    }
}

void Worker::join() {
    {
        const std::lock_guard lock(m_mutex);
        m_finishing = true;
        m_filled.notify_one();
    }
    if (m_thread.joinable()) m_thread.join();
}

void Worker::finish() {
    m_owner.check();
    join();
}

void Worker::stop() {
    m_owner.check();
    m_stop.request_stop();
    join();
}

}  // namespace potluck
