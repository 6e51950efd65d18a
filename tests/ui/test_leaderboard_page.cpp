#include <QHeaderView>
#include <QLineEdit>
#include <QTableView>

#include "tests/ui/window_fixture.h"
#include "ui/widgets/leaderboard_model.h"

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
        QCOMPARE(model->index(0, LeaderboardModel::name_column).data().toString(), QStringLiteral("Bela"));
        QCOMPARE(model->index(0, LeaderboardModel::tokens_column).data(LeaderboardModel::number_role).toULongLong(),
                 58'900'000ULL);
        QCOMPARE(model->index(0, LeaderboardModel::count_column).data().toString(), QStringLiteral("41"));
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

    void everybody_s_team_stands_beside_the_name() {
        WindowFixture fixture;
        fixture.push("training");
        fixture.window->showPage(ui::MainWindow::leaderboard_page);
        auto* table = fixture.find<QTableView>("leaderboard");
        QTRY_COMPARE(table->model()->rowCount(), 9);
        QVERIFY(!table->isColumnHidden(LeaderboardModel::team_column));
        const auto team = [&](int row) {
            return table->model()->index(row, LeaderboardModel::team_column).data().toString();
        };
        QCOMPARE(team(0), QStringLiteral("Physics Uni Graz"));
        QCOMPARE(team(2), QString());
        QCOMPARE(table->model()->headerData(LeaderboardModel::team_column, Qt::Horizontal).toString(),
                 QStringLiteral("Team"));
        nlohmann::json board = recorded("leaderboard");
        for (auto& row : board["rows"]) row.erase("team");
        fixture.node.answer(control::ReadLeaderboard::name, board);
        fixture.type("findPeople", QStringLiteral("a"));
        QTRY_VERIFY(table->isColumnHidden(LeaderboardModel::team_column));
    }

    void by_a_click_teams_are_ranked_and_one_s_own_is_marked() {
        WindowFixture fixture;
        fixture.push("training");
        fixture.window->showPage(ui::MainWindow::leaderboard_page);
        auto* table = fixture.find<QTableView>("leaderboard");
        QTRY_COMPARE(table->model()->rowCount(), 9);
        fixture.click("byTeam");
        const auto cell = [&](int row, int column) { return table->model()->index(row, column).data().toString(); };
        QCOMPARE(table->model()->rowCount(), 2);
        QCOMPARE(cell(0, LeaderboardModel::name_column), QStringLiteral("Physics Uni Graz (yours)"));
        QCOMPARE(cell(1, LeaderboardModel::name_column), QStringLiteral("Chaos Club Wien"));
        QCOMPARE(cell(0, LeaderboardModel::count_column), QStringLiteral("2"));
        QVERIFY(table->model()->index(0, 1).data(LeaderboardModel::self_role).toBool());
        QVERIFY(!table->model()->index(1, 1).data(LeaderboardModel::self_role).toBool());
        QCOMPARE(
            table->model()->index(0, LeaderboardModel::tokens_column).data(LeaderboardModel::number_role).toULongLong(),
            90'140'000ULL);
        QCOMPARE(table->model()->headerData(LeaderboardModel::count_column, Qt::Horizontal).toString(),
                 QStringLiteral("Members"));
        QVERIFY(table->isColumnHidden(LeaderboardModel::team_column));
        QVERIFY(fixture.text("standing").startsWith(QStringLiteral("Your team is number 1 and gave 42.4")));
        QVERIFY(fixture.text("standing").contains(QStringLiteral("Anybody may name any team.")));
        QVERIFY(fixture.button("byTeam")->toolTip().contains(QStringLiteral("two spellings are two teams")));
        fixture.click("byTeam");
        QCOMPARE(table->model()->rowCount(), 9);
    }

    void one_s_own_team_stands_last_where_it_is_beyond_the_others() {
        WindowFixture fixture;
        nlohmann::json board = recorded("leaderboard");
        board["own_team"]["rank"] = 7'345;
        board["teams"].erase(0);
        fixture.node.answer(control::ReadLeaderboard::name, board);
        fixture.push("training");
        fixture.window->showPage(ui::MainWindow::leaderboard_page);
        const QAbstractItemModel* model = fixture.find<QTableView>("leaderboard")->model();
        QTRY_COMPARE(model->rowCount(), 9);
        fixture.click("byTeam");
        QCOMPARE(model->rowCount(), 2);
        QCOMPARE(model->index(1, LeaderboardModel::name_column).data().toString(),
                 QStringLiteral("Physics Uni Graz (yours)"));
        QCOMPARE(model->index(1, LeaderboardModel::rank_column).data().toString(), QStringLiteral("7345"));
        board["teams"] = nlohmann::json::array();
        fixture.node.answer(control::ReadLeaderboard::name, board);
        fixture.type("findPeople", QStringLiteral("linz"));
        QTRY_VERIFY(fixture.shows(QStringLiteral("No team in this run is called so.")));
    }

    void a_narrow_window_has_room_for_names() {
        WindowFixture fixture;
        fixture.push("training");
        fixture.window->showPage(ui::MainWindow::leaderboard_page);
        auto* table = fixture.find<QTableView>("leaderboard");
        QTRY_COMPARE(table->model()->rowCount(), 9);
        for (const int width : {640, 700, 800, 900, 1000}) {
            fixture.window->resize(width, 500);
            WindowFixture::settle();
            const QHeaderView* header = table->horizontalHeader();
            QVERIFY2(header->length() <= table->viewport()->width(), qPrintable(QString::number(width)));
            QVERIFY2(header->sectionSize(LeaderboardModel::name_column) >= 100, qPrintable(QString::number(width)));
            QVERIFY(!table->isColumnHidden(LeaderboardModel::tokens_column));
        }
        QVERIFY(!table->isColumnHidden(LeaderboardModel::count_column));
    }

    void a_team_is_one_line_of_plain_text() {
        WindowFixture fixture;
        nlohmann::json board = recorded("leaderboard");
        board["teams"][0]["team"] = "A\n<b>\xe2\x80\xae" + std::string(300, 'x');
        board["teams"][1]["team"] = "\xe2\x80\x8b";
        board["rows"][0]["team"] = "A\n<b>" + std::string(300, 'x');
        fixture.node.answer(control::ReadLeaderboard::name, board);
        fixture.push("training");
        fixture.window->showPage(ui::MainWindow::leaderboard_page);
        const QAbstractItemModel* model = fixture.find<QTableView>("leaderboard")->model();
        QTRY_COMPARE(model->rowCount(), 9);
        const QString team = model->index(0, LeaderboardModel::team_column).data().toString();
        QVERIFY(team.startsWith(QStringLiteral("A <b>")) && team.size() <= 40);
        fixture.click("byTeam");
        const QString name = model->index(0, LeaderboardModel::name_column).data().toString();
        QVERIFY(name.startsWith(QStringLiteral("A <b> ")) && name.size() <= 48);
        QCOMPARE(model->index(1, LeaderboardModel::name_column).data().toString(),
                 QStringLiteral("A team without a visible name"));
    }

    void where_nobody_has_named_a_team_it_says_so() {
        WindowFixture fixture;
        nlohmann::json board = recorded("leaderboard");
        for (const char* key : {"teams", "own_team"}) board.erase(key);
        fixture.node.answer(control::ReadLeaderboard::name, board);
        fixture.push("training");
        fixture.window->showPage(ui::MainWindow::leaderboard_page);
        QTRY_COMPARE(fixture.find<QTableView>("leaderboard")->model()->rowCount(), 9);
        fixture.click("byTeam");
        QVERIFY(fixture.shows(QStringLiteral("has named a team. You can name one in the settings.")));
        QCOMPARE(fixture.text("standing"), QStringLiteral("Anybody may name any team."));
    }

    void a_member_without_a_name_is_shown_by_its_id() {
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
