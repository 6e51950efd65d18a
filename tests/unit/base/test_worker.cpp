// A worker runs jobs in order on a thread of its own, and hands what they return to the owner's thread.
#include <QtTest>

#include <atomic>
#include <latch>
#include <thread>
#include <vector>

#include "core/base/mailbox.h"
#include "core/base/worker.h"
#ifndef _WIN32
#include "tests/unit/base/ending_signal.h"
#endif

using namespace potluck;

namespace {

/// Stands for an event loop: what was posted, until the owner's thread runs it.
class Loop {
public:
    Worker::Post post() {
        return [this](std::function<void()> call) { POTLUCK_CHECK(m_calls.post(std::move(call))); };
    }
    /// Runs what is there; returns how many calls that were.
    std::size_t run() {
        const std::vector<std::function<void()>> calls = m_calls.take_all();
        for (const std::function<void()>& call : calls) call();
        return calls.size();
    }

private:
    Mailbox<std::function<void()>> m_calls{1000};
};

}  // namespace

class TestWorker : public QObject {
    Q_OBJECT
private slots:
    void jobs_run_in_order_elsewhere_and_their_ends_here() {
        Loop loop;
        Worker worker(loop.post());
        const std::thread::id here = std::this_thread::get_id();
        std::vector<int> worked, ended;
        for (int i = 0; i < 100; ++i) {
            worker.run(
                [&worked, here, i] {
                    worked.push_back(i);
                    return std::this_thread::get_id() != here;
                },
                [&ended, here, i](bool elsewhere) {
                    QVERIFY(elsewhere);
                    QVERIFY(std::this_thread::get_id() == here);
                    ended.push_back(i);
                });
        }
        worker.finish();
        QVERIFY(ended.empty());
        QCOMPARE(loop.run(), std::size_t{100});
        QVERIFY(worked == ended);
        QCOMPARE(ended.front(), 0);
        QCOMPARE(ended.back(), 99);
    }

    void results_are_moved_and_need_not_be_copyable() {
        Loop loop;
        Worker worker(loop.post());
        std::unique_ptr<int> found;
        worker.run([] { return std::make_unique<int>(7); },
                   [&](std::unique_ptr<int> value) { found = std::move(value); });
        bool ended = false;
        worker.run([] {}, [&] { ended = true; });
        worker.finish();
        loop.run();
        QVERIFY(found && *found == 7);
        QVERIFY(ended);
    }

    void an_end_is_posted_only_when_the_work_is_done() {
        Loop loop;
        Worker worker(loop.post());
        std::latch begun(1), go(1);
        std::atomic<bool> done = false;
        worker.run(
            [&] {
                begun.count_down();
                go.wait();
                done = true;
            },
            [] {});
        begun.wait();
        QCOMPARE(loop.run(), std::size_t{0});
        go.count_down();
        worker.finish();
        QVERIFY(done);
        QCOMPARE(loop.run(), std::size_t{1});
    }

    void finishing_runs_what_waits_and_takes_nothing_more() {
        Loop loop;
        Worker worker(loop.post());
        std::atomic<int> worked = 0;
        std::latch go(1);
        worker.run([&] { go.wait(); });
        for (int i = 0; i < 10; ++i) worker.run([&] { ++worked; });
        go.count_down();
        worker.finish();
        QCOMPARE(worked.load(), 10);
        worker.run([&] { ++worked; });
        worker.finish();
        QCOMPARE(worked.load(), 10);
    }

    void stopping_tells_long_work_and_still_runs_what_waits() {
        Loop loop;
        Worker worker(loop.post());
        std::atomic<bool> told = false, waited = false;
        worker.run([&told, stop = worker.stopping()] {
            while (!stop.stop_requested()) std::this_thread::yield();
            told = true;
        });
        worker.run([&] { waited = true; });
        worker.stop();
        QVERIFY(told);
        QVERIFY(waited);
    }

    void finishing_does_not_tell_work_to_end() {
        Loop loop;
        Worker worker(loop.post());
        std::atomic<bool> told = true;
        worker.run([&told, stop = worker.stopping()] { told = stop.stop_requested(); });
        worker.finish();
        QVERIFY(!told);
    }

    void objects_of_a_job_are_freed_when_it_is_done() {
        Loop loop;
        const auto owned = std::make_shared<int>(1);
        Worker worker(loop.post());
        worker.run([copy = owned] { return *copy; }, [](int) {});
        worker.finish();
        loop.run();
        QCOMPARE(owned.use_count(), 1L);
    }

#ifndef _WIN32
    void a_queue_without_end_ends_the_program() {
        const auto fill = [](std::size_t jobs) {
            std::latch never(1), begun(1);
            Worker worker([](std::function<void()>) {});
            worker.run([&] {
                begun.count_down();
                never.wait();
            });
            begun.wait();  // the first job waits no more
            for (std::size_t i = 0; i < jobs; ++i) worker.run([] {});
            _exit(0);
        };
        QCOMPARE(signal_that_ends([&] { fill(Worker::jobs_max); }), 0);
        QCOMPARE(signal_that_ends([&] { fill(Worker::jobs_max + 1); }), SIGABRT);
    }

    void jobs_come_from_one_thread() {
        QCOMPARE(signal_that_ends([] {
                     Worker worker([](std::function<void()>) {});
                     worker.run([] {});
                     std::thread([&] { worker.run([] {}); }).join();
                     _exit(0);
                 }),
                 SIGABRT);
    }
#endif
};

QTEST_APPLESS_MAIN(TestWorker)
#include "test_worker.moc"
