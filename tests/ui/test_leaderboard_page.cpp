#include <QLineEdit>
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

    void ones_own_row_stands_last_where_it_is_beyond_the_others() {
        WindowFixture fixture;
        nlohmann::json board = recorded("leaderboard");
        nlohmann::json own = board["own"];
        board["rows"].erase(3);
        own["rank"] = 73'456;
        board["own"] = own;
        board["people"] = 100'000;
        fixture.node.answer(control::ReadLeaderboard::name, board);
        fixture.push("training");
        fixture.window->showPage(ui::MainWindow::leaderboard_page);
        const QAbstractItemModel* model = fixture.find<QTableView>("leaderboard")->model();
        QTRY_COMPARE(model->rowCount(), 9);
        QCOMPARE(model->index(8, LeaderboardModel::rank_column).data(LeaderboardModel::number_role).toULongLong(),
                 73'456ULL);
        QVERIFY(model->index(8, LeaderboardModel::name_column).data().toString().contains(QStringLiteral("(you)")));
        QVERIFY(fixture.text("standing").contains(QStringLiteral("number 73456 of 100000")));
    }

    void a_name_is_looked_for_among_all_while_it_is_typed() {
        WindowFixture fixture;
        fixture.push("training");
        fixture.window->showPage(ui::MainWindow::leaderboard_page);
        auto* field = fixture.find<QLineEdit>("findPeople");
        const QAbstractItemModel* model = fixture.find<QTableView>("leaderboard")->model();
        QTRY_COMPARE(model->rowCount(), 9);
        nlohmann::json found = recorded("leaderboard");
        found["rows"] = nlohmann::json::array({found["rows"][1]});
        fixture.node.answer(control::ReadLeaderboard::name, found);
        field->setFocus();
        QTest::keyClicks(field, QStringLiteral("dol"));
        QTRY_COMPARE(model->rowCount(), 1);
        QTRY_COMPARE(fixture.node.lastParams("leaderboard").value("find", std::string()), std::string("dol"));
        QVERIFY(fixture.text("standing").contains(QStringLiteral("number 4 of 9")));
        found["rows"] = nlohmann::json::array();
        fixture.node.answer(control::ReadLeaderboard::name, found);
        QTest::keyClicks(field, QStringLiteral("x"));
        QTRY_VERIFY(fixture.shows(QStringLiteral("Nobody in this run is called so.")));
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
