// One thread for work that takes long: hashing, encoding, copying, the outer step. Jobs run in order of submission;
// what a job returns is handed to its `done` on the owner's thread.
//
//   owner's thread   run(work, done) --> [ bounded queue ]                post --> done(result)
//   worker's thread                          work() --> result ------------^
//
// A job owns its inputs and returns a value: `work` captures copies, spans of what outlives the worker, or shared
// pointers, and never the object that submits it, whose fields are the owner's thread's.
// Does not: know an event loop (`post` is given at construction), cancel a job (long ones are given a StopToken).
// Threads: run, stop and finish on the owner's thread; `work` on the worker's own; `post` is called from the worker's.
// Owns: its thread.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>
#include <type_traits>
#include <utility>

#include "core/base/thread_owner.h"

namespace potluck {

class Worker {
public:
    /// Hands a call to the owner's thread, which makes it later; may drop it when the owner is ending.
    using Post = std::function<void(std::function<void()>)>;
    /// Jobs that wait at the most. A run may have 4,096 shards (run::shards_max) and its host hashes all of them at a
    /// start; several times that is a bug of the owner's, who submits without looking.
    static constexpr std::size_t jobs_max = 1 << 16;

    explicit Worker(Post post);
    /// As stop().
    ~Worker();
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

    /// Runs `work` and hands its result to `done(result)`, or calls `done()` where it returns nothing.
    template <class Work, class Done>
    void run(Work work, Done done) {
        using Value = std::invoke_result_t<Work&>;
        submit([this, work = std::move(work), done = std::move(done)]() mutable {
            if constexpr (std::is_void_v<Value>) {
                work();
                m_post(std::move(done));
            } else {
                // std::function copies what it holds, a result need not be copyable.
                auto result = std::make_shared<Value>(work());
                m_post([result, done = std::move(done)]() mutable { done(std::move(*result)); });
            }
        });
    }
    /// Work whose end nobody waits for.
    void run(std::function<void()> work) { submit(std::move(work)); }

    /// Long work asks this now and then, and ends early once stop was called.
    [[nodiscard]] std::stop_token stopping() const { return m_stop.get_token(); }
    /// Waits until all that was submitted is done, and posted. Later jobs are not taken.
    void finish();
    /// Tells long work to end, then as finish(): waiting jobs run too, since one may write what another announced.
    void stop();

private:
    void submit(std::function<void()> job);
    void work();
    void join();

    ThreadOwner m_owner;
    Post m_post;
    std::stop_source m_stop;
    std::mutex m_mutex;
    std::condition_variable m_filled;
    std::deque<std::function<void()>> m_jobs;
    bool m_finishing = false;
    std::thread m_thread;  // last: it uses all of the above
};

}  // namespace potluck
