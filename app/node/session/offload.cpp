#include "app/node/session/offload.h"

#include <boost/asio/post.hpp>

#include "core/base/check.h"

namespace potluck::node {

OffloadThread::OffloadThread(boost::asio::io_context& loop) : m_loop(loop), m_thread([this] { work(); }) {}

OffloadThread::~OffloadThread() { finish(); }

void OffloadThread::submit(std::function<void()> work, std::function<void()> done) {
    const std::lock_guard lock(m_mutex);
    POTLUCK_CHECK(m_jobs.size() < jobs_max);
    if (m_finishing) return;
    m_jobs.push_back({std::move(work), std::move(done)});
    m_filled.notify_one();
}

void OffloadThread::finish() {
    {
        const std::lock_guard lock(m_mutex);
        m_finishing = true;
        m_filled.notify_one();
    }
    if (m_thread.joinable()) m_thread.join();
}

void OffloadThread::work() {
    for (;;) {
        std::unique_lock lock(m_mutex);
        m_filled.wait(lock, [this] { return m_finishing || !m_jobs.empty(); });
        if (m_jobs.empty()) return;
        Job job = std::move(m_jobs.front());
        m_jobs.pop_front();
        lock.unlock();
        job.work();
        boost::asio::post(m_loop, std::move(job.done));
    }
}

}  // namespace potluck::node
