#include "ui/pages/remedies.h"

#include <QHBoxLayout>

#include "ui/widgets/icons.h"
#include "ui/widgets/parts.h"
#include "ui/widgets/theme.h"
#include "ui/widgets/wrapping_row.h"

namespace potluck::ui {

using status::Action;

namespace {

/// Leaving stands here where there is nothing better to do; else the menu of the run has it.
bool is_shown(Action action, const status::Actions& actions) {
    if (action != Action::leave) return actions.has(action);
    const bool trains_on = actions.has(Action::pause) || actions.has(Action::resume) || actions.has(Action::finish) ||
                           actions.has(Action::train_again) || actions.has(Action::try_again);
    return actions.has(action) && !trains_on;
}

}  // namespace

Remedies::Remedies(NodeClient& client, const Desktop& desktop, QWidget* parent)
    : QWidget(parent), m_client(client), m_desktop(desktop) {
    auto* row = new WrappingRow(this);
    row->setContentsMargins(0, grid / 2, 0, 0);
    row->setSpacing(grid);
    const auto resume = [this] { m_client.resume(); };
    const auto leave = [this] { m_client.leave(); };
    connect(add(Action::try_again, tr("&Try again"), "resume", "tryAgain"), &QPushButton::clicked, this, resume);
    connect(add(Action::train_again, tr("&Train again"), "resume", "trainAgain"), &QPushButton::clicked, this, resume);
    connect(add(Action::start_node, tr("&Try now"), "resume", "retry"), &QPushButton::clicked, &client,
            &NodeClient::retryNow);
    connect(add(Action::cancel, tr("&Cancel"), "leave", "cancelSearch"), &QPushButton::clicked, this, leave);
    connect(add(Action::allow_disk, tr("Allow more &disk"), "nav-settings", "allowDisk"), &QPushButton::clicked, this,
            [this] { m_desktop.show_limits(); });
    connect(add(Action::set_proxy, tr("Pro&xy…"), "nav-settings", "setProxy"), &QPushButton::clicked, this,
            [this] { m_desktop.show_proxy(); });
    connect(add(Action::show_log, tr("Show &log"), "open", "showLog"), &QPushButton::clicked, this,
            [this] { m_desktop.show_log(); });
    connect(add(Action::leave, tr("&Leave the run"), "leave", "leaveRun"), &QPushButton::clicked, this, leave);
}

QPushButton* Remedies::add(Action action, const QString& text, const char* icon, const char* name) {
    QPushButton* button = makeButton(text, iconNamed(QString::fromLatin1(icon)), Emphasis::normal, this);
    button->setObjectName(QString::fromLatin1(name));
    button->hide();
    layout()->addWidget(button);
    m_buttons.emplace(action, button);
    return button;
}

void Remedies::show(const status::Actions& actions) {
    bool any = false;
    for (const auto& [action, button] : m_buttons) {
        const bool shown = is_shown(action, actions);
        button->setVisible(shown);
        any = any || shown;
    }
    setVisible(any);
}

}  // namespace potluck::ui
