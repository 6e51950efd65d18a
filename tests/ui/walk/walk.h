// A real window over a real node, with short ways to what a walk through its states clicks and reads. At every snapshot
// on the way the window is looked at: title, sign, sentence, memory line and buttons must be those of the table, must
// not contradict each other and say nothing twice. What does is in `faults`, and where it was, in `seen`.
//
// Threads: Qt's main thread.
#pragma once

#include <algorithm>
#include <csignal>
#include <set>

#include <QDir>
#include <QFile>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QtTest>

#include "core/status/states.h"
#include "tests/integration/node_fixture.h"
#include "tests/ui/real_window.h"
#include "tests/ui/walk/walked.h"
#include "ui/client/reason_words.h"
#include "ui/client/status_summary.h"

namespace potluck::test {

using status::Action;

inline const char* name_of(Reason reason) { return status::reason_names[static_cast<std::size_t>(reason)]; }

class Walk : public RealWindow {
public:
    /// What its node finds in the environment beside what all of them do.
    struct World {
        QString dht = {};
        QString trainer = fake_trainer();
        QString node = node_program();
        QStringList more = {};  // names and values in turn
    };
    Walk(const QString& folder, const QString& dht) : Walk(folder, World{.dht = dht}) {}
    Walk(const QString& folder, const World& world) : RealWindow(node_in(world), folder), m_folder(folder) {
        QObject::connect(&client, &ui::NodeClient::changed, &window, [this] { look(); });
        forget(world);
    }
    ~Walk() { stop(); }  // while there is still somewhere to note faults

    [[nodiscard]] bool trains() const {
        return (is(Reason::training) || is(Reason::exchanging)) && node().trainer.tokens_per_second > 0;
    }
    /// In this window, so that there is something to contribute.
    [[nodiscard]] bool hasTrained() const {
        const auto& run = node().run;
        return run && std::any_of(run->members.begin(), run->members.end(),
                                  [](const auto& member) { return member.self && member.window_tokens > 0; });
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
    [[nodiscard]] bool leave_now() const { return choose("more", 1) && accept(); }
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
    static QString node_in(const World& world) {
        qputenv("POTLUCK_TRAINER", world.trainer.toUtf8());
        qputenv("POTLUCK_LOOPBACK", "1");
        world.dht.isEmpty() ? qunsetenv("POTLUCK_DHT") : qputenv("POTLUCK_DHT", world.dht.toUtf8());
        for (qsizetype i = 0; i + 1 < world.more.size(); i += 2)
            qputenv(world.more[i].toUtf8().constData(), world.more[i + 1].toUtf8());
        return world.node;
    }
    void forget(const World& world) const {
        for (qsizetype i = 0; i + 1 < world.more.size(); i += 2) qunsetenv(world.more[i].toUtf8().constData());
    }

    void fault(const QString& what) {
        const QString text = QStringLiteral("%1: %2").arg(QLatin1String(name_of(node().why.reason)), what);
        if (!faults.contains(text)) faults << text;
    }
    void must(bool holds, const QString& what) {
        if (!holds) fault(what);
    }

    void look() {
        switch (client.view().link.state) {
            case ui::Link::State::starting: seen.insert(Reason::node_starting); return;
            case ui::Link::State::silent: seen.insert(Reason::node_silent); return;
            case ui::Link::State::down: seen.insert(Reason::node_down); return;
            case ui::Link::State::stopping: return;
            case ui::Link::State::up: break;
        }
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
        const bool trains = node().activity != control::Activity::sharing;
        must(title == ui::titleOf(row.reason, trains), "title \"" + title + '"');
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

public:
    std::set<Reason> seen;
    QStringList faults;
};

inline constexpr int soon = 20'000, later = 40'000;

}  // namespace potluck::test

#define REACHES(condition) QTRY_VERIFY2_WITH_TIMEOUT(condition, name_of(walk.node().why.reason), later)
#define IS_READY() QTRY_VERIFY2_WITH_TIMEOUT(walk.is(Reason::no_run), name_of(walk.node().why.reason), soon)
/// After the last walk: nothing that had to be walked was left out.
#define HAS_SEEN(seen_states, list) \
    for (const Reason reason : list) QVERIFY2((seen_states).contains(reason), name_of(reason))
#define CHECK_WALK()                   \
    s_seen.merge(std::set(walk.seen)); \
    QVERIFY2(walk.faults.isEmpty(), qPrintable(walk.faults.join('\n')))
