// How a batch is shared among devices of different speed.
#include <QTest>

#include <numeric>

#include "core/training/shares.h"

using namespace potluck::training;

namespace {

using Counts = std::vector<std::uint32_t>;

/// Each of them measured at these seconds for a record.
Shares measured(const std::vector<double>& seconds) {
    Shares shares(seconds.size());
    for (std::size_t i = 0; i < seconds.size(); ++i)
        for (int part = 0; part < 2; ++part) shares.measured(i, 1, seconds[i]);
    return shares;
}

}  // namespace

class SharesTest : public QObject {
    Q_OBJECT
private slots:
    void before_anything_is_measured_each_gets_one() {
        QCOMPARE(Shares(3).deal({12, 1, 0.06}), (Counts{1, 1, 1}));
        QCOMPARE(Shares(3).deal({2, 1, 0.06}), (Counts{1, 1, 0}));
        QCOMPARE(Shares(2).deal({12, 4, 0.06}), (Counts{4, 4}));
    }

    void shares_follow_speed() {
        QCOMPARE(measured({0.001, 0.001}).deal({8, 1, 0.06}), (Counts{4, 4}));
        QCOMPARE(measured({0.001, 0.003}).deal({8, 1, 0.06}), (Counts{6, 2}));
        QCOMPARE(measured({0.002, 0.001, 0.001}).deal({10, 1, 0.06}), (Counts{2, 4, 4}));
        QCOMPARE(measured({0.001, 0.003}).deal({16, 2, 0.06}), (Counts{12, 4}));
    }

    void a_micro_step_takes_about_its_time_in_parts_that_end_together() {
        QCOMPARE(measured({0.02, 0.02}).deal({12, 1, 0.06}), (Counts{3, 3}));
        QCOMPARE(measured({0.02, 0.06}).deal({8, 1, 0.06}), (Counts{3, 1}));
        // The slowest that has a share sets the pace: the fast one is not to wait for it.
        QCOMPARE(measured({0.1, 0.3}).deal({8, 1, 0.06}), (Counts{3, 1}));
    }

    void work_that_would_finish_last_goes_to_other_devices() {
        QCOMPARE(measured({0.01, 1.0}).deal({8, 1, 0.1}), (Counts{8, 0}));
        QCOMPARE(measured({1.0, 0.01}).deal({8, 1, 0.1}), (Counts{0, 8}));
    }

    void one_slow_moment_does_not_idle_a_device_for_good() {
        Shares shares = measured({0.01, 1.0});
        int idle = 0;
        while (shares.deal({8, 1, 0.1}).back() == 0) ++idle;
        QVERIFY2(idle > 20 && idle < 200, qPrintable(QString::number(idle)));
        for (int i = 0; i < 20; ++i) shares.measured(1, 1, 0.01);
        QCOMPARE(shares.deal({8, 1, 0.1}).back(), 4U);
    }

    void a_devices_first_part_does_not_count() {
        Shares shares(2);
        shares.measured(0, 1, 0.01);
        shares.measured(0, 1, 0.01);
        shares.measured(1, 1, 5.0);  // it loads its code
        QCOMPARE(shares.deal({8, 1, 0.1}), (Counts{1, 1}));
        shares.measured(1, 1, 0.01);
        QCOMPARE(shares.deal({8, 1, 0.1}), (Counts{4, 4}));
    }

    void a_device_that_is_gone_takes_nothing_along() {
        Shares shares = measured({0.001, 0.003, 0.001});
        shares.forget(1);
        QCOMPARE(shares.size(), std::size_t{2});
        QCOMPARE(shares.deal({8, 1, 0.06}), (Counts{4, 4}));
    }

    void whatever_is_left_is_dealt_and_never_more() {
        for (std::uint32_t left = 1; left < 40; ++left) {
            Shares shares = measured({0.011, 0.005, 0.029, 0.3});
            std::uint32_t rest = left;
            for (int step = 0; rest > 0; ++step) {
                const Counts counts = shares.deal({rest, 1, 0.06});
                const std::uint32_t sum = std::accumulate(counts.begin(), counts.end(), 0U);
                QVERIFY(sum > 0 && sum <= rest && step < 40);
                rest -= sum;
            }
        }
    }
};

QTEST_APPLESS_MAIN(SharesTest)
#include "test_shares.moc"
