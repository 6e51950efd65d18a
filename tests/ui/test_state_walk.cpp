// A real window over a real node, led through every state that a node can be brought into, and out of each by clicks
// alone back to "Ready". At every snapshot on the way the window is looked at: title, sign, sentence, memory line and
// buttons must be those of the table, must not contradict each other and say nothing twice.
#include <algorithm>
#include <csignal>
#include <set>

#include <QAbstractButton>
#include <QApplication>
#include <QDir>
#include <QFile>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QMessageBox>
#include <QPushButton>
#include <QtTest>

#include "core/status/states.h"
#include "tests/integration/node_fixture.h"
#include "ui/client/process_transport.h"
#include "ui/client/reason_words.h"
#include "ui/client/status_summary.h"
#include "ui/pages/main_window.h"
#include "ui/pages/tray.h"
#include "ui/widgets/theme.h"

using namespace potluck;
using namespace potluck::test;
using status::Action;
using status::Reason;

namespace {

const char* name_of(Reason reason) { return status::reason_names[static_cast<std::size_t>(reason)]; }

class Walk {
public:
    Walk(const QString& folder, const QString& dht) : m_folder(folder), m_transport(at(dht), folder) {
        QObject::connect(&client, &ui::NodeClient::changed, &window, [this] { look(); });
        window.show();
        client.start();
    }
    ~Walk() {
        QSignalSpy stopped(&client, &ui::NodeClient::stopped);
        client.stop();
        stopped.wait(20'000);
    }

    [[nodiscard]] const control::NodeSnapshot& node() const { return client.view().snapshot; }
    [[nodiscard]] bool is(Reason reason) const {
        return client.view().link.state == ui::Link::State::up && node().why.reason == reason;
    }
    [[nodiscard]] bool trains() const {
        return (is(Reason::training) || is(Reason::exchanging)) && node().trainer.tokens_per_second > 0;
    }
    /// In this window, so that there is something to contribute.
    [[nodiscard]] bool hasTrained() const {
        const auto& run = node().run;
        return run && std::any_of(run->members.begin(), run->members.end(),
                                  [](const auto& member) { return member.self && member.window_tokens > 0; });
    }
    /// The visible widget of that name; null if there is none.
    template <class Widget>
    [[nodiscard]] Widget* find(const char* name) const {
        for (Widget* widget : window.findChildren<Widget*>(QString::fromLatin1(name)))
            if (widget->isVisible()) return widget;
        return nullptr;
    }
    [[nodiscard]] bool click(const char* name) const {
        auto* button = find<QAbstractButton>(name);
        if (button == nullptr || !button->isEnabled()) return false;
        QTest::mouseClick(button, Qt::LeftButton);
        return true;
    }
    /// An entry of the menu of a button.
    [[nodiscard]] bool choose(const char* name, int entry) const {
        const auto* button = find<QPushButton>(name);
        if (button == nullptr || button->menu() == nullptr) return false;
        QAction* action = button->menu()->actions().value(entry);
        if (action == nullptr || !action->isVisible() || !action->isEnabled()) return false;
        action->trigger();
        return true;
    }
    [[nodiscard]] bool join(const QString& invite) const {
        auto* field = find<QLineEdit>("invite");
        if (field == nullptr) return false;
        field->setText(invite);
        return click("join");
    }
    [[nodiscard]] bool leave_now() const {
        if (!choose("more", 1)) return false;
        for (QMessageBox* box : window.findChildren<QMessageBox*>()) {
            if (!box->isVisible()) continue;
            for (QAbstractButton* button : box->buttons()) {
                if (box->buttonRole(button) == QMessageBox::AcceptRole) button->click();
            }
        }
        return true;
    }
    /// The child that the window has started, by what its command line says.
    [[nodiscard]] std::int64_t node_process() const {
        for (const QString& entry : QDir("/proc").entryList(QDir::Dirs)) {
            QFile file("/proc/" + entry + "/cmdline");
            const bool is_number = entry.toLongLong() > 0 && file.open(QIODevice::ReadOnly);
            const QByteArray line = is_number ? file.readAll() : QByteArray();
            if (line.contains("potluck-node") && line.contains(m_folder.toUtf8())) return entry.toLongLong();
        }
        return 0;
    }
    void kill(std::int64_t process) const {
        if (process > 0) ::kill(static_cast<pid_t>(process), SIGKILL);
    }

private:
    static QString at(const QString& dht) {
        qputenv("POTLUCK_TRAINER", fake_trainer().toUtf8());
        qputenv("POTLUCK_LOOPBACK", "1");
        qputenv("POTLUCK_DHT", dht.toUtf8());
        return node_program();
    }

    void fault(const QString& what) {
        const QString text = QStringLiteral("%1: %2").arg(QLatin1String(name_of(node().why.reason)), what);
        if (!faults.contains(text)) faults << text;
    }
    void must(bool holds, const QString& what) {
        if (!holds) fault(what);
    }

    void look() {
        if (client.view().link.state != ui::Link::State::up) return;
        const Reason reason = node().why.reason;
        seen.insert(reason);
        const status::Row& row = status::row_of(reason);
        const auto* title = find<QLabel>("state");
        const auto* sentence = find<QLabel>("reason");
        if (title == nullptr || sentence == nullptr) return;  // another page, or not shown yet
        look_at_words(row, title->text(), sentence->text());
        look_at_buttons(row);
        const bool green = ui::summarize(client.view()).icon == status::Sign::training;
        must(!green || node().activity == control::Activity::training, "green without training");
        must(!green || node().trainer.state != control::TrainerState::failed, "green over a failed trainer");
    }
    void look_at_words(const status::Row& row, const QString& title, const QString& sentence) {
        must(title == ui::titleOf(row.reason, true), "title \"" + title + '"');
        must(!sentence.isEmpty() && !sentence.startsWith(title), "the sentence repeats \"" + title + '"');
        const auto* memory = find<QLabel>("memory");
        must((memory != nullptr) == (row.memory == status::TrainerMemory::free_and_told), "memory line");
        if (memory == nullptr) return;
        must(!memory->text().contains("is free.") || node().trainer.process == 0, "memory is not free");
        must(!sentence.contains("memory"), "memory is told twice");
        const QString says = (sentence + memory->text()).toLower();
        must(!says.contains("resume") || row.actions.has(Action::resume), "speaks of resuming");
    }
    void look_at_buttons(const status::Row& row) {
        const std::pair<Action, const char*> buttons[] = {{Action::cancel, "cancelSearch"},
                                                          {Action::try_again, "tryAgain"},
                                                          {Action::train_again, "trainAgain"},
                                                          {Action::show_log, "showLog"}};
        for (const auto& [action, name] : buttons)
            must(row.actions.has(action) == (find<QPushButton>(name) != nullptr), QLatin1String(name));
        const auto* pause = find<QPushButton>("pause");
        const bool pauses = row.actions.has(Action::pause) || row.actions.has(Action::resume);
        must(pause == nullptr ? !pauses || !node().run : pause->isEnabled() == pauses, "pause button");
        if (pause != nullptr && row.actions.has(Action::resume)) must(pause->text() == "&Resume", pause->text());
        must(!row.actions.has(Action::join) || node().run || find<QLineEdit>("invite") != nullptr, "no invite field");
    }

    QString m_folder;
    ui::ProcessTransport m_transport;

public:
    ui::NodeClient client{m_transport};
    ui::Theme theme{*qApp};
    ui::Tray tray{client};
    ui::MainWindow window{
        client, theme, tray,
        ui::Desktop{[](const QString&) -> Result<QString> { return QString(); }, [](const QString&) {}, {}, {}}};
    std::set<Reason> seen;
    QStringList faults;
};

constexpr int soon = 20'000, later = 40'000;

}  // namespace

#define REACHES(condition) QTRY_VERIFY2_WITH_TIMEOUT(condition, name_of(walk.node().why.reason), later)
#define IS_READY() QTRY_VERIFY2_WITH_TIMEOUT(walk.is(Reason::no_run), name_of(walk.node().why.reason), soon)

class StateWalkTest : public QObject {
    Q_OBJECT
private slots:
    void every_state_leads_back_to_ready_by_clicks() {
        Swarm swarm;
        swarm.host(1000);
        const QString invite = QString::fromStdString(swarm.invite());
        const QTemporaryDir folder;
        Walk walk(folder.path(), dht_of(swarm));
        IS_READY();
        search_and_give_up(walk, invite);
        if (!QTest::currentTestFailed()) pause_and_give_way(walk);
        if (!QTest::currentTestFailed()) break_the_trainer(walk);
        if (!QTest::currentTestFailed()) finish_and_change_ones_mind(walk, swarm);
        if (!QTest::currentTestFailed()) lose_the_node(walk);
        if (!QTest::currentTestFailed()) be_shut_out(walk, swarm);
        QVERIFY2(walk.faults.isEmpty(), qPrintable(walk.faults.join('\n')));
        for (const Reason reason :
             {Reason::no_run, Reason::searching_network, Reason::training, Reason::paused, Reason::yielding,
              Reason::trainer_restarting, Reason::trainer_failed, Reason::finishing_to_leave, Reason::not_admitted})
            QVERIFY2(walk.seen.contains(reason), name_of(reason));
    }

    void who_is_left_alone_or_at_the_end_gets_out_by_clicks() {
        Swarm first, second;
        first.host(1000);
        second.host(6);
        const QTemporaryDir folder;
        Walk walk(folder.path(), "[" + dht_of(first) + "," + dht_of(second) + "]");
        IS_READY();
        QVERIFY(walk.join(QString::fromStdString(second.invite())));
        REACHES(walk.is(Reason::run_complete));
        QTRY_COMPARE_WITH_TIMEOUT(walk.node().trainer.process, std::int64_t{0}, soon);
        walk.window.offerInvite(QString::fromStdString(second.invite()));
        QCOMPARE(walk.find<QLabel>("offer")->text(), QStringLiteral("You are in this run already."));
        QVERIFY(walk.click("dismiss"));
        walk.window.offerInvite(QString::fromStdString(first.invite()));
        QVERIFY(walk.click("switch"));
        REACHES(walk.trains());

        first.backbone().kill();
        REACHES(walk.is(Reason::alone_waiting));
        QVERIFY(walk.find<QLabel>("reason")->text().contains("0 of the 1 needed"));
        first.backbone().start();
        REACHES(walk.trains());
        QVERIFY(walk.leave_now());
        IS_READY();
        QVERIFY(walk.join(QString::fromStdString(second.invite())));
        REACHES(walk.is(Reason::run_complete));
        QVERIFY(walk.click("leaveRun"));
        IS_READY();
        QVERIFY2(walk.faults.isEmpty(), qPrintable(walk.faults.join('\n')));
    }

private:
    static QString dht_of(Swarm& swarm) {
        return "127.0.0.1:" + QString::number(swarm.backbone().status().network.port);
    }

    /// An invite that nobody has ever seen, cancelled, and once more replaced by a good one.
    void search_and_give_up(Walk& walk, const QString& invite) {
        const QString dead = "magnet:?xt=urn:btmh:1220" + QString(64, 'a') + "&dn=Gone";
        QVERIFY(walk.join(dead));
        const auto searches = [&] { return walk.is(Reason::searching_network) || walk.is(Reason::searching_run); };
        REACHES(searches());
        QTRY_VERIFY(walk.find<QLabel>("reason")->text().contains("“Gone”"));
        QVERIFY(walk.click("cancelSearch"));
        IS_READY();
        QVERIFY(walk.join(dead));
        REACHES(searches());
        QVERIFY(walk.join(invite));
        REACHES(walk.trains());
    }

    void pause_and_give_way(Walk& walk) {
        QVERIFY(walk.choose("pause", 2));
        REACHES(walk.is(Reason::paused));
        QTRY_COMPARE_WITH_TIMEOUT(walk.node().trainer.process, std::int64_t{0}, 3000);
        QVERIFY(walk.click("pause"));
        REACHES(walk.trains());
        walk.client.giveWay({activity::Level::pause, activity::Signal::launcher, "game"}, std::chrono::seconds(60));
        REACHES(walk.is(Reason::yielding));
        QVERIFY(walk.click("pause"));
        REACHES(walk.trains());
    }

    void break_the_trainer(Walk& walk) {
        std::int64_t killed = 0;
        const auto kill_next = [&] {
            const std::int64_t process = walk.node().trainer.process;
            if (process > 0 && process != killed) walk.kill(killed = process);
            return walk.is(Reason::trainer_failed);
        };
        REACHES(kill_next());
        QVERIFY(walk.click("showLog"));
        QVERIFY(walk.click("tryAgain"));
        REACHES(walk.trains());
    }

    /// The host stands still meanwhile, so that the round does not end before one's mind is changed.
    void finish_and_change_ones_mind(Walk& walk, Swarm& swarm) {
        const auto host = static_cast<pid_t>(swarm.backbone().process().processId());
        REACHES(walk.hasTrained());
        ::kill(host, SIGSTOP);
        QVERIFY(walk.choose("more", 0));
        const bool finishes = QTest::qWaitFor([&] { return walk.is(Reason::finishing_to_leave); }, 5000);
        const bool changed = finishes && walk.click("trainAgain");
        ::kill(host, SIGCONT);
        QVERIFY2(changed, name_of(walk.node().why.reason));
        REACHES(walk.trains());
        QVERIFY(walk.choose("more", 0));
        IS_READY();
        QVERIFY(walk.join(QString::fromStdString(swarm.invite())));
        REACHES(walk.trains());
    }

    /// The node dies; the person does not wait until it is started again.
    void lose_the_node(Walk& walk) {
        QVERIFY(walk.node_process() > 0);
        walk.kill(walk.node_process());
        QTRY_VERIFY_WITH_TIMEOUT(walk.click("retry"), soon);
        REACHES(walk.trains());
    }

    /// The host bans this computer; its key stands in the snapshot.
    void be_shut_out(Walk& walk, Swarm& swarm) {
        const QString key = QString::fromStdString(walk.node().peer_id);
        QCOMPARE(run_node({"moderate", "ban", key, "--data-dir", swarm.backbone().data()}).code, 0);
        REACHES(walk.is(Reason::not_admitted));
        QVERIFY(walk.click("leaveRun"));
        IS_READY();
    }
};

QTEST_MAIN(StateWalkTest)
#include "test_state_walk.moc"
