// A line is drawn only over rounds of which something is known.
#include <QTest>

#include "core/control/curve_gaps.h"

using namespace potluck::control;

using Rounds = std::vector<std::uint64_t>;
using Breaks = std::vector<std::size_t>;

class CurveGapsTest : public QObject {
    Q_OBJECT
private slots:
    void points_of_every_round_or_of_every_tenth_are_one_stretch() {
        QVERIFY(curve_breaks({}).empty());
        QVERIFY(curve_breaks(Rounds{7}).empty());
        QVERIFY(curve_breaks(Rounds{0, 1, 2, 3}).empty());
        QVERIFY(curve_breaks(Rounds{0, 10, 20, 30}).empty());
        QVERIFY(curve_breaks(Rounds{0, 40, 60, 80, 90, 100}).empty());  // older ones thinned by halves
    }

    void rounds_that_a_late_joiner_never_saw_are_a_gap() {
        QCOMPARE(curve_breaks(Rounds{0, 6, 7, 8}), Breaks{1});
        QCOMPARE(curve_breaks(Rounds{1, 2, 3, 50, 51}), Breaks{3});
        QCOMPARE(curve_breaks(Rounds{0, 10, 20, 90, 100, 300}), (Breaks{3, 5}));
    }

    void a_round_without_a_loss_is_no_gap() {
        QVERIFY(curve_breaks(Rounds{1, 2, 4, 5, 8}).empty());
        QCOMPARE(curve_breaks(Rounds{1, 2, 3, 7}), Breaks{3});
    }

    void two_points_are_a_line_only_beside_each_other() {
        QVERIFY(curve_breaks(Rounds{4, 7}).empty());
        QCOMPARE(curve_breaks(Rounds{4, 8}), Breaks{1});
    }
};

QTEST_GUILESS_MAIN(CurveGapsTest)
#include "test_curve_gaps.moc"
