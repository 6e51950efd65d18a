#include "ui/pages/pause_menu.h"

#include <QCoreApplication>

#include "ui/client/status_summary.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/parts.h"

namespace potluck::ui {

namespace {

const QTime morning(6, 0);

struct Tr {
    Q_DECLARE_TR_FUNCTIONS(potluck::ui::PauseMenu)
};

}  // namespace

std::chrono::seconds untilTomorrow(const QDateTime& now) {
    // After midnight, before having slept, people mean the morning that comes.
    const QDate day = now.time() < morning ? now.date() : now.date().addDays(1);
    return std::chrono::seconds(now.secsTo(QDateTime(day, morning)));
}

void addPauses(QMenu& menu, NodeClient& client) {
    using namespace std::chrono_literals;
    menu.addAction(Tr::tr("For 3&0 minutes"), &client, [&client] { client.pause(30min); });
    menu.addAction(Tr::tr("For &1 hour"), &client, [&client] { client.pause(1h); });
    menu.addAction(Tr::tr("For &3 hours"), &client, [&client] { client.pause(3h); });
    menu.addAction(Tr::tr("Until &tomorrow"), &client,
                   [&client] { client.pause(untilTomorrow(QDateTime::currentDateTime())); });
    menu.addAction(Tr::tr("&Until I resume"), &client, [&client] { client.pause(0s); });
}

PauseButton::PauseButton(NodeClient& client, QWidget* parent) : QPushButton(parent), m_client(client), m_menu(this) {
    setAutoDefault(false);
    addPauses(m_menu, client);
    connect(this, &QPushButton::clicked, this, [this] {
        if (actionsOf(m_client.view()).has(status::Action::resume)) m_client.resume();
    });
    connect(&client, &NodeClient::changed, this, &PauseButton::refresh);
    refresh();
}

void PauseButton::refresh() {
    const status::Actions actions = actionsOf(m_client.view());
    const bool paused = actions.has(status::Action::resume);
    const QString text = paused ? tr("&Resume") : tr("&Pause");
    setEnabled(paused || actions.has(status::Action::pause));
    // Setting an icon or a menu anew once a second would close an open menu.
    if (text == this->text()) return;
    setText(text);
    setRole(this, paused ? "primary" : "");
    setIcon(paused ? iconNamed(QStringLiteral("resume"), QPalette::HighlightedText)
                   : iconNamed(QStringLiteral("pause")));
    setMenu(paused ? nullptr : &m_menu);
    setAccessibleDescription(paused ? tr("Training starts again.") : tr("Stops training and frees its memory."));
}

}  // namespace potluck::ui
