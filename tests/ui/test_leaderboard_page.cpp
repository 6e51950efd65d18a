#include <QTableView>

#include "ui/widgets/leaderboard_model.h"
#include "window_fixture.h"

using namespace potluck;
using namespace potluck::tests;
using ui::LeaderboardModel;

class TestLeaderboardPage : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() { QLocale::setDefault(QLocale::c()); }

    void the_rows_are_the_ledgers() {
        WindowFixture fixture;
        fixture.push("training");
        fixture.window->showPage(ui::MainWindow::leaderboard_page);
        const QAbstractItemModel* model = fixture.find<QTableView>("leaderboard")->model();
        QTRY_COMPARE(model->rowCount(), 9);
        QCOMPARE(model->columnCount(), 5);
        QCOMPARE(model->index(0, LeaderboardModel::name_column).data().toString(), QStringLiteral("Bela"));
        QCOMPARE(model->index(0, LeaderboardModel::tokens_column).data(LeaderboardModel::number_role).toULongLong(),
                 58'900'000ULL);
        QCOMPARE(model->index(0, LeaderboardModel::rounds_column).data().toString(), QStringLiteral("41"));
    }

    void ones_own_row_is_marked_by_a_word() {
        WindowFixture fixture;
        fixture.push("training");
        const QAbstractItemModel* model = fixture.find<QTableView>("leaderboard")->model();
        QTRY_COMPARE(model->rowCount(), 9);
        int marked = 0;
        for (int row = 0; row < model->rowCount(); ++row) {
            marked +=
                model->index(row, LeaderboardModel::name_column).data().toString().contains(QStringLiteral("(you)"));
        }
        QCOMPARE(marked, 1);
        QVERIFY(model->index(3, LeaderboardModel::name_column)
                    .data(Qt::AccessibleTextRole)
                    .toString()
                    .contains(QStringLiteral("(you)")));
        fixture.window->showPage(ui::MainWindow::leaderboard_page);
        QVERIFY(fixture.text("standing").contains(QStringLiteral("number 4 of 9")));
    }

    void somebody_without_a_name_has_an_id() {
        WindowFixture fixture;
        fixture.push("training");
        const QAbstractItemModel* model = fixture.find<QTableView>("leaderboard")->model();
        QTRY_COMPARE(model->rowCount(), 9);
        QVERIFY(
            model->index(7, LeaderboardModel::name_column).data().toString().startsWith(QStringLiteral("Volunteer ")));
    }

    void without_a_run_it_says_why_it_is_empty() {
        WindowFixture fixture;
        fixture.push("before_joining");
        QTest::keyClick(fixture.window.get(), Qt::Key_2, Qt::ControlModifier);
        QTRY_VERIFY(fixture.shows(QStringLiteral("Nobody has been credited yet")));
    }

    void the_keyboard_moves_through_the_rows() {
        WindowFixture fixture;
        fixture.push("training");
        fixture.window->showPage(ui::MainWindow::leaderboard_page);
        auto* table = fixture.find<QTableView>("leaderboard");
        QTRY_COMPARE(table->model()->rowCount(), 9);
        table->setFocus();
        table->setCurrentIndex(table->model()->index(0, 1));
        QTest::keyClick(table, Qt::Key_Down);
        QCOMPARE(table->currentIndex().row(), 1);
    }
};

QTEST_MAIN(TestLeaderboardPage)
#include "test_leaderboard_page.moc"
