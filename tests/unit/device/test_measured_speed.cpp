// What a device's speed is on a computer that may be busy, from samples that nobody measured, and from real ones.
#include <QTest>

#include <chrono>
#include <thread>
#include <vector>

#include "core/device/measured_speed.h"

using namespace potluck::device;

class MeasuredSpeedTest : public QObject {
    Q_OBJECT
private slots:
    void the_best_of_three_quiet_runs_counts_by_the_clock() {
        const std::vector<SpeedSample> samples{{10, 2.0, 2.0}, {10, 1.0, 0.9}, {10, 1.25, 1.25}};
        const MeasuredSpeed speed = speed_of(samples);
        QCOMPARE(speed.per_second, 10.0);
        QVERIFY(!speed.is_busy() && speed.busy < 0.11);
    }

    void a_disturbed_run_counts_by_its_processor_time() {
        // Four busy loops on two cores leave the run a third of the time.
        const std::vector<SpeedSample> samples{{10, 3.2, 1.0}, {10, 3.0, 1.0}, {10, 2.9, 1.0}};
        const MeasuredSpeed speed = speed_of(samples);
        QCOMPARE(speed.per_second, 10.0);
        QVERIFY(speed.is_busy() && speed.busy > 0.6 && speed.busy < 0.7);
    }

    void a_run_is_disturbed_above_a_third() {
        QVERIFY(!speed_of(std::vector<SpeedSample>{{10, 1.49, 1.0}}).is_busy());
        QCOMPARE(speed_of(std::vector<SpeedSample>{{10, 1.48, 1.0}}).per_second, 10 / 1.48);
        QVERIFY(speed_of(std::vector<SpeedSample>{{10, 1.52, 1.0}}).is_busy());
        QCOMPARE(speed_of(std::vector<SpeedSample>{{10, 1.52, 1.0}}).per_second, 10.0);
    }

    void one_quiet_run_is_enough_to_call_the_computer_quiet() {
        const std::vector<SpeedSample> samples{{10, 9.0, 1.1}, {10, 1.0, 1.0}, {10, 5.0, 1.1}};
        QCOMPARE(speed_of(samples).per_second, 10.0);
        QVERIFY(!speed_of(samples).is_busy());
    }

    void without_processor_time_the_clock_counts() {
        const MeasuredSpeed speed = speed_of(std::vector<SpeedSample>{{10, 4.0, 0}});
        QCOMPARE(speed.per_second, 2.5);
        QCOMPARE(speed.busy, 0.0);
    }

    void runs_that_took_no_time_tell_nothing() {
        QCOMPARE(speed_of({}).per_second, 0.0);
        QCOMPARE(speed_of(std::vector<SpeedSample>{{10, 0, 0}}).per_second, 0.0);
    }

    void the_processor_time_of_a_thread_is_its_own_and_not_of_one_that_sleeps() {
        const double before = thread_seconds();
        QVERIFY(before > 0);
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        std::jthread other([] {
            volatile double sum = 0;
            for (int i = 0; i < 20'000'000; ++i) sum = sum + i;
        });
        other.join();
        QVERIFY(thread_seconds() - before < 0.02);
        volatile double sum = 0;
        for (int i = 0; i < 1'000'000; ++i) sum = sum + i;
        QVERIFY(thread_seconds() > before);
    }
};

QTEST_GUILESS_MAIN(MeasuredSpeedTest)
#include "test_measured_speed.moc"
