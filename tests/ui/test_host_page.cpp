// The host's page by clicks: who would carry the run on, banning, readmitting, letting in, going back, another
// committee.
#include <QComboBox>
#include <QMenu>
#include <QMessageBox>
#include <QPushButton>

#include "tests/ui/window_fixture.h"
#include "ui/hosting/people_list.h"

using namespace potluck;
using namespace potluck::tests;

namespace {

constexpr const char* self = "99a563ab2f6e21e96998f9fddd2a2bab82b70ac019579502b8d7fc0032ff62bb";

std::string key(char digit) { return std::string(64, digit); }

/// The recorded run with this computer as its host.
control::NodeSnapshot hosting() {
    control::NodeSnapshot node = recordedSnapshot("training");
    node.run->host = node.peer_id;
    node.run->members.resize(1);
    node.run->members[0].id = self;
    node.run->members[0].self = true;
    for (const char digit : {'a', 'b', 'c'}) {
        control::MemberRow member;
        member.id = key(digit);
        member.name = std::string("Member ") + digit;
        node.run->members.push_back(member);
    }
    control::Succession next;
    next.seats = {{key('a'), "Member a", true, false, ""}};
    next.needed = 1;
    next.shard_copies = 4;
    next.checkpoint_holders = 2;
    node.run->succession = next;
    return node;
}

control::Committee committee() {
    control::Committee rows;
    rows.seats = {{self, "Ada", true, true, ""}};
    rows.needed = 1;
    rows.banned = {key('d')};
    rows.vouched = {key('b')};
    rows.waiting = {"ban eeee"};
    return rows;
}

struct HostFixture : WindowFixture {
    explicit HostFixture(const control::NodeSnapshot& node_snapshot = hosting(),
                         const control::Committee& rows = committee()) {
        node.answer(control::ReadCommittee::name, to_json(rows));
        control::Checkpoints checkpoints;
        for (const std::uint64_t round : {20, 30}) {
            control::CheckpointRow row;
            row.round = round;
            checkpoints.rows.push_back(row);
        }
        node.answer(control::ReadCheckpoints::name, to_json(checkpoints));
        node.answer(control::Moderate::name, to_json(control::ModerationNumber{1}));
        node.answer(control::ReplaceCommittee::name, to_json(control::ModerationNumber{1}));
        window->resize(1000, 1400);
        node.push(node_snapshot);
        settle();
        window->showPage(ui::MainWindow::host_page);
        settle();
    }
    [[nodiscard]] ui::PeopleList& people() const { return *find<ui::PeopleList>("people"); }
    void select(const std::string& id) const {
        for (int row = 0; row < people().count(); ++row) {
            if (people().item(row)->text().contains(QString::fromStdString(id.substr(0, 8))))
                people().setCurrentRow(row);
        }
    }
    /// Presses the button of the open question that agrees, or the other.
    void answer(QMessageBox::ButtonRole role) const {
        for (QMessageBox* box : window->findChildren<QMessageBox*>()) {
            if (!box->isVisible()) continue;
            for (QAbstractButton* button : box->buttons()) {
                if (box->buttonRole(button) == role) QTest::mouseClick(button, Qt::LeftButton);
            }
        }
        settle();
    }
    void agree() const { answer(QMessageBox::AcceptRole); }
    [[nodiscard]] QString question() const {
        for (const QMessageBox* box : window->findChildren<QMessageBox*>()) {
            if (box->isVisible()) return box->windowTitle() + ' ' + box->text();
        }
        return {};
    }
};

}  // namespace

class TestHostPage : public QObject {
    Q_OBJECT

private slots:
    void a_suspended_member_is_listed_and_its_suspension_lifted_by_a_click() {
        control::NodeSnapshot node = hosting();
        HostFixture none(node);
        QVERIFY(!none.find<QWidget>("judged")->isVisible());
        control::Jury jury;
        control::JudgedRow shut{.id = key('b'), .until = 120, .times = 1, .since = 70, .verdicts = 1};
        shut.figures = control::JudgedFigures{-0.0141, -0.0139, 0.0632, 3};
        jury.suspended = {shut};
        jury.accused = {{.id = key('c'), .verdicts = 1}};
        node.run->findings.jury = jury;
        HostFixture fixture(node);
        auto* rows = fixture.find<QListWidget>("judged");
        QVERIFY(rows->isVisible());
        QCOMPARE(rows->count(), 2);
        QCOMPARE(rows->item(0)->text(),
                 QStringLiteral("Member b – shut out until round 120. Its contributions lower the loss by -0.0141, the "
                                "median member's by 0.0632."));
        QCOMPARE(rows->item(1)->text(), QStringLiteral("Member c – accused by 1 juror(s)."));
        QVERIFY(!fixture.find<QPushButton>("lift")->isEnabled());
        rows->setCurrentRow(1);  // nothing to lift
        QVERIFY(!fixture.find<QPushButton>("lift")->isEnabled());
        rows->setCurrentRow(0);
        fixture.node.push(node);  // a snapshot does not take the choice back
        QCOMPARE(rows->currentRow(), 0);
        fixture.click("lift");
        QCOMPARE(fixture.node.lastParams("moderate").at("kind").get<std::string>(), "lift");
        QCOMPARE(fixture.node.lastParams("moderate").at("key").get<std::string>(), key('b'));
    }

    void initTestCase() { QLocale::setDefault(QLocale::c()); }

    void only_a_host_has_the_page() {
        WindowFixture fixture;
        const auto entry = [&] {
            for (const QAbstractButton* button : fixture.window->findChildren<QAbstractButton*>("navigation")) {
                if (button->accessibleName() == QLatin1String("Host")) return button->isVisible();
            }
            return false;
        };
        fixture.push("training");
        QVERIFY(!entry());
        fixture.node.push(hosting());
        WindowFixture::settle();
        QVERIFY(entry());
        fixture.window->showPage(ui::MainWindow::host_page);
        fixture.push("training");
        QVERIFY(!entry());
        QVERIFY(fixture.find<QLabel>("runName")->isVisible());
    }

    void it_says_who_carries_the_run_on_and_that_data_is_safe() {
        HostFixture fixture;
        QVERIFY(
            fixture.text("carriers").startsWith(QStringLiteral("You may leave. The run is carried on by Member a")));
        QVERIFY(fixture.text("dataHolders").contains(QStringLiteral("4 copies of the data and 2 of the model")));
        QVERIFY(!fixture.text("dataHolders").contains(QStringLiteral("Stay")));
    }

    void it_warns_where_nobody_would() {
        control::NodeSnapshot node = hosting();
        node.run->succession->seats[0].here = false;
        node.run->succession->shard_copies = 2;
        HostFixture fixture(node);
        QVERIFY(fixture.text("carriers").contains(QStringLiteral("Nobody could carry the run on")));
        QCOMPARE(fixture.find<QLabel>("carriers")->property("role").toString(), QStringLiteral("problem"));
        QVERIFY(fixture.text("dataHolders").contains(QStringLiteral("Stay")));
    }

    void too_few_of_a_committee_carry_nothing_on() {
        control::NodeSnapshot node = hosting();
        node.run->succession->needed = 3;
        HostFixture fixture(node);
        QVERIFY(fixture.text("carriers").contains(QStringLiteral("Nobody could")));
    }

    void data_without_a_checkpoint_elsewhere_is_not_safe() {
        control::NodeSnapshot node = hosting();
        node.run->succession->checkpoint_holders = 0;
        HostFixture fixture(node);
        QVERIFY(fixture.text("dataHolders").contains(QStringLiteral("Stay")));
    }

    void everybody_is_listed_with_what_is_known() {
        HostFixture fixture;
        QStringList rows;
        for (int row = 0; row < fixture.people().count(); ++row) rows << fixture.people().item(row)->text();
        QCOMPARE(rows.size(), 5);
        QVERIFY(rows[0].contains(QStringLiteral("(you)")) && rows[0].contains(QStringLiteral("has a seat")));
        QVERIFY(rows[2].contains(QStringLiteral("your deputy")));
        QVERIFY(rows[4].contains(QStringLiteral("away, banned")));
        QVERIFY(fixture.text("seatsNeeded").startsWith(QStringLiteral("1 of 1")));
        QVERIFY(fixture.text("waiting").contains(QStringLiteral("ban eeee")));
    }

    void banning_asks_first_and_then_asks_the_node() {
        HostFixture fixture;
        fixture.select(key('a'));
        fixture.click("ban");
        QVERIFY(fixture.question().contains(QStringLiteral("neither contributes nor has a seat")));
        fixture.answer(QMessageBox::RejectRole);
        QCOMPARE(fixture.node.count("moderate"), 0);
        fixture.click("ban");
        fixture.agree();
        QCOMPARE(fixture.node.count("moderate"), 1);
        const nlohmann::json asked = fixture.node.lastParams("moderate");
        QCOMPARE(asked.at("kind").get<std::string>(), "ban");
        QCOMPARE(asked.at("key").get<std::string>(), key('a'));
        QTRY_VERIFY(fixture.text("hostOutcome").contains(QStringLiteral("Signed")));
    }

    void buttons_fit_who_is_selected() {
        HostFixture fixture;
        const auto can = [&](const char* name) { return fixture.button(name)->isEnabled(); };
        QVERIFY(!can("ban") && !can("readmit") && !can("vouch"));
        fixture.select(self);
        QVERIFY(!can("ban") && !can("readmit") && !can("vouch"));
        fixture.select(key('a'));
        QVERIFY(can("ban") && !can("readmit") && can("vouch"));
        fixture.select(key('b'));
        QVERIFY(can("ban") && !can("readmit") && !can("vouch"));
        fixture.select(key('d'));
        QVERIFY(!can("ban") && can("readmit") && !can("vouch"));
        fixture.click("readmit");
        fixture.agree();
        QCOMPARE(fixture.node.lastParams("moderate").at("kind").get<std::string>(), "readmit");
    }

    void an_open_run_is_closed_and_a_closed_one_opened() {
        for (const bool closed : {false, true}) {
            control::Committee rows = committee();
            rows.closed = closed;
            HostFixture fixture(hosting(), rows);
            QVERIFY(fixture.button("closeRun")->isEnabled());
            QVERIFY(fixture.button("closeRun")->text().contains(closed ? "to everybody" : "to strangers"));
            fixture.click("closeRun");
            QVERIFY(fixture.question().contains(closed ? "may join again" : "that you vouch for"));
            fixture.answer(QMessageBox::RejectRole);
            QCOMPARE(fixture.node.count("moderate"), 0);
            fixture.click("closeRun");
            fixture.agree();
            const nlohmann::json asked = fixture.node.lastParams("moderate");
            QCOMPARE(asked.at("kind").get<std::string>(), closed ? "open" : "close");
        }
    }

    void a_key_that_is_not_here_is_let_in_by_its_digits() {
        HostFixture fixture;
        fixture.type("newKey", QString(63, 'f'));
        QVERIFY(!fixture.button("letIn")->isEnabled());
        fixture.type("newKey", QString(64, 'f'));
        fixture.click("letIn");
        fixture.agree();
        const nlohmann::json asked = fixture.node.lastParams("moderate");
        QCOMPARE(asked.at("kind").get<std::string>(), "allow");
        QCOMPARE(asked.at("key").get<std::string>(), key('f'));
    }

    void going_back_names_the_checkpoint() {
        HostFixture fixture;
        QCOMPARE(fixture.find<QComboBox>("checkpoints")->count(), 2);
        QVERIFY(fixture.find<QComboBox>("checkpoints")->currentText().contains(QStringLiteral("30")));
        fixture.find<QComboBox>("checkpoints")->setCurrentIndex(1);
        fixture.click("rollBack");
        QVERIFY(fixture.question().contains(QStringLiteral("Training since then is lost")));
        fixture.agree();
        const nlohmann::json asked = fixture.node.lastParams("moderate");
        QCOMPARE(asked.at("kind").get<std::string>(), "rollback");
        QCOMPARE(asked.at("round").get<int>(), 20);
    }

    void ticks_choose_a_committee_of_one_four_or_seven() {
        HostFixture fixture;
        QVERIFY(!fixture.button("replaceCommittee")->isEnabled());  // it is the committee that is there
        for (int row = 1; row <= 2; ++row) fixture.people().item(row)->setCheckState(Qt::Checked);
        QVERIFY(!fixture.button("replaceCommittee")->isEnabled());
        fixture.people().item(3)->setCheckState(Qt::Checked);
        QVERIFY(fixture.button("replaceCommittee")->isEnabled());
        fixture.node.push(hosting());  // ticks outlive a snapshot
        WindowFixture::settle();
        fixture.click("replaceCommittee");
        QVERIFY(fixture.question().contains(QStringLiteral("at once")));
        fixture.agree();
        const auto keys = fixture.node.lastParams("replace_committee").at("keys").get<std::vector<std::string>>();
        QCOMPARE(std::set<std::string>(keys.begin(), keys.end()),
                 (std::set<std::string>{self, key('a'), key('b'), key('c')}));
    }

    void a_refusal_is_shown_in_the_nodes_words() {
        HostFixture fixture;
        fixture.node.refuse("moderate", "Only the run's host may do that.");
        fixture.select(key('a'));
        fixture.click("ban");
        fixture.agree();
        QTRY_COMPARE(fixture.text("hostOutcome"), QStringLiteral("Only the run's host may do that."));
        QCOMPARE(fixture.find<QLabel>("hostOutcome")->property("role").toString(), QStringLiteral("problem"));
    }

    void the_selection_stays_when_somebody_comes() {
        HostFixture fixture;
        fixture.select(key('b'));
        control::NodeSnapshot node = hosting();
        control::MemberRow member;
        member.id = key('e');
        node.run->members.insert(node.run->members.begin(), member);
        fixture.node.push(node);
        WindowFixture::settle();
        QCOMPARE(fixture.people().count(), 6);
        QCOMPARE(fixture.people().selected()->id, key('b'));
    }

    void leaving_says_what_becomes_of_the_run() {
        HostFixture fixture;
        fixture.window->showPage(ui::MainWindow::home_page);
        WindowFixture::settle();
        auto* more = fixture.find<QPushButton>("more");
        more->menu()->actions().at(1)->trigger();
        QVERIFY(fixture.question().contains(QStringLiteral("Member a")));
        fixture.answer(QMessageBox::RejectRole);
        control::NodeSnapshot node = hosting();
        node.run->succession->seats.clear();
        fixture.node.push(node);
        WindowFixture::settle();
        more->menu()->actions().at(1)->trigger();
        QVERIFY(fixture.question().contains(QStringLiteral("Nobody could carry the run on")));
    }
};

QTEST_MAIN(TestHostPage)
#include "test_host_page.moc"
