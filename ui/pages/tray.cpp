#include "ui/pages/tray.h"

#include <utility>

#include <QActionGroup>

#include "ui/client/plain_text.h"
#include "ui/pages/pause_menu.h"
#include "ui/widgets/icons.h"

namespace potluck::ui {

namespace {

constexpr int status_characters_max = 60, why_characters_max = 160;
// Windows cuts tool tips of the tray at 127 characters.
constexpr int tool_tip_characters_max = 120;

}  // namespace

Tray::Tray(NodeClient& client, TraySearch search, QObject* parent)
    : QObject(parent), m_client(client), m_search(std::move(search)) {
    fillMenu();
    m_nextLook.setInterval(m_search.every);
    connect(&m_nextLook, &QTimer::timeout, this, &Tray::look);
    connect(&client, &NodeClient::changed, this, &Tray::refresh);
    refresh();
    m_nextLook.start();
    look();
}

void Tray::look() {
    if (!m_search.isThere()) return;
    m_nextLook.stop();
    m_icon = std::make_unique<QSystemTrayIcon>();
    m_icon->setContextMenu(&m_menu);
    connect(m_icon.get(), &QSystemTrayIcon::activated, this, [this](QSystemTrayIcon::ActivationReason reason) {
        if (reason == QSystemTrayIcon::Trigger || reason == QSystemTrayIcon::DoubleClick) emit openAsked();
    });
    m_sign.reset();
    refresh();
    m_icon->show();
}

bool Tray::isShown() const { return m_icon && m_search.isThere() && m_icon->isVisible(); }

void Tray::tell(const QString& title, const QString& sentence) {
    if (isShown()) m_icon->showMessage(unmarkedText(title), unmarkedText(sentence), m_icon->icon());
}

void Tray::fillMenu() {
    for (QAction** line : {&m_status, &m_why}) {
        *line = m_menu.addAction(QString());
        (*line)->setEnabled(false);
    }
    QAction* open = m_menu.addAction(tr("&Open Potluck"), this, &Tray::openAsked);
    m_menu.setDefaultAction(open);
    m_menu.addSeparator();
    m_pause = m_menu.addMenu(iconNamed(QStringLiteral("pause")), tr("&Pause"));
    addPauses(*m_pause, m_client);
    m_resume =
        m_menu.addAction(iconNamed(QStringLiteral("resume")), tr("&Resume"), this, [this] { m_client.resume(); });
    addEfforts();
    m_finish = m_menu.addAction(iconNamed(QStringLiteral("flag")), tr("&Finish this round, then leave"), this,
                                [this] { m_client.finishRound(); });
    m_menu.addSeparator();
    m_menu.addAction(tr("&Quit"), this, &Tray::quitAsked);
}

void Tray::addEfforts() {
    using control::Effort;
    m_effort = m_menu.addMenu(tr("&How much"));
    auto* group = new QActionGroup(m_effort);
    for (const auto& [effort, text] : {std::pair(Effort::quiet, tr("&Quiet: half of the time")),
                                       std::pair(Effort::balanced, tr("&Balanced: three quarters of the time")),
                                       std::pair(Effort::full, tr("&Full: all the time"))}) {
        QAction* action = m_effort->addAction(text);
        action->setCheckable(true);
        action->setData(static_cast<int>(effort));
        group->addAction(action);
        connect(action, &QAction::triggered, this, [this, chosen = effort] {
            control::Resources wanted = m_client.view().snapshot.resources.value_or(control::Resources{});
            wanted.effort = chosen;
            m_client.setResources(wanted);
        });
    }
}

void Tray::refresh() {
    const NodeView& view = m_client.view();
    const StatusSummary summary = summarize(view);
    const QString status =
        summary.reason.isEmpty() ? summary.title : summary.title + QStringLiteral(": ") + summary.reason;
    // No ampersand, either, which would mark a shortcut.
    m_status->setText(unmarkedText(plainText(summary.title, status_characters_max)));
    m_why->setText(unmarkedText(plainText(summary.reason, why_characters_max)));
    m_why->setVisible(!summary.reason.isEmpty());
    QString tip = QStringLiteral("Potluck – ") + status;
    if (isInRun(view))
        tip = QStringLiteral("Potluck – ") + summary.title + QLatin1Char('\n') +
              tr("%1 tokens today").arg(shortCount(view.snapshot.run->my_tokens_today));
    m_toolTip = tip.left(tool_tip_characters_max);
    if (m_icon) m_icon->setToolTip(unmarkedText(m_toolTip));
    using status::Action;
    const status::Actions& actions = summary.actions;
    m_pause->menuAction()->setEnabled(actions.has(Action::pause));
    m_resume->setText(actions.has(Action::try_again)     ? tr("&Try again")
                      : actions.has(Action::train_again) ? tr("&Train again")
                                                         : tr("&Resume"));
    m_finish->setEnabled(actions.has(Action::finish));
    const bool up = view.link.state == Link::State::up && view.snapshot.resources.has_value();
    m_effort->menuAction()->setEnabled(up);
    for (QAction* action : m_effort->actions())
        action->setChecked(up && action->data().toInt() == static_cast<int>(view.snapshot.resources->effort));
    m_resume->setEnabled(actions.has(Action::resume) || actions.has(Action::try_again) ||
                         actions.has(Action::train_again));
    if (!m_icon || m_sign == summary.icon) return;
    m_sign = summary.icon;
    m_icon->setIcon(trayIcon(summary.icon));
}

}  // namespace potluck::ui
