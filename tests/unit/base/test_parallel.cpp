// Work shared among threads: every piece once, on no more threads than asked for, each with a worker of its own.
#include <QtTest>

#include <algorithm>
#include <mutex>
#include <set>

#include "core/base/parallel.h"

using namespace potluck;

class TestParallel : public QObject {
    Q_OBJECT
private slots:
    void every_piece_is_done_once_data() {
        QTest::addColumn<int>("count");
        QTest::addColumn<unsigned>("threads");
        for (const int count : {0, 1, 2, 7, 1000}) {
            for (const unsigned threads : {0U, 1U, 2U, 5U, 16U}) {
                QTest::addRow("%d pieces, %u threads", count, threads) << count << threads;
            }
        }
    }

    void every_piece_is_done_once() {
        QFETCH(int, count);
        QFETCH(unsigned, threads);
        std::vector<int> done(static_cast<std::size_t>(count), 0);  // no lock: a piece belongs to one thread
        parallel_for(done.size(), threads, [&] { return [&](std::size_t piece) { ++done[piece]; }; });
        QVERIFY(std::all_of(done.begin(), done.end(), [](int times) { return times == 1; }));
    }

    void there_are_never_more_workers_than_threads_or_pieces_data() {
        QTest::addColumn<int>("count");
        QTest::addColumn<unsigned>("threads");
        QTest::addColumn<int>("workers");
        QTest::newRow("one thread") << 100 << 1U << 1;
        QTest::newRow("no thread is one") << 100 << 0U << 1;
        QTest::newRow("four threads") << 100 << 4U << 4;
        QTest::newRow("three pieces") << 3 << 16U << 3;
        QTest::newRow("no piece") << 0 << 16U << 1;
    }

    void there_are_never_more_workers_than_threads_or_pieces() {
        QFETCH(int, count);
        QFETCH(unsigned, threads);
        QFETCH(int, workers);
        std::atomic<int> made{0};
        std::mutex mutex;
        std::set<std::thread::id> seen;
        parallel_for(static_cast<std::size_t>(count), threads, [&] {
            ++made;
            const std::lock_guard lock(mutex);
            seen.insert(std::this_thread::get_id());
            return [](std::size_t) {};
        });
        QCOMPARE(made.load(), workers);
        QCOMPARE(seen.count(std::this_thread::get_id()), std::size_t{1});
    }

    void a_worker_keeps_what_it_needs_between_pieces() {
        // Each worker counts in a variable of its own and adds it once at its end.
        struct Counter {
            explicit Counter(std::atomic<int>* to) : sum(to) {}
            Counter(Counter&& other) noexcept : sum(std::exchange(other.sum, nullptr)) {}
            Counter(const Counter&) = delete;
            Counter& operator=(const Counter&) = delete;
            ~Counter() {
                if (sum != nullptr) *sum += own;
            }
            void operator()(std::size_t) { ++own; }
            std::atomic<int>* sum;
            int own = 0;
        };
        std::atomic<int> sum{0};
        parallel_for(500, 4, [&] { return Counter(&sum); });
        QCOMPARE(sum.load(), 500);
    }
};

QTEST_APPLESS_MAIN(TestParallel)
#include "test_parallel.moc"
