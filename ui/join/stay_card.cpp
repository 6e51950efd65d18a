#include "ui/join/stay_card.h"

#include <QHBoxLayout>
#include <QPushButton>

#include "ui/client/plain_text.h"
#include "ui/client/status_summary.h"
#include "ui/widgets/parts.h"
#include "ui/widgets/theme.h"

namespace potluck::ui {

namespace {

const QString asked = QStringLiteral("asked-to-start-with-the-session");

}  // namespace

StayCard::StayCard(NodeClient& client, const Desktop& desktop, QWidget* parent)
    : QFrame(parent), m_client(client), m_desktop(desktop) {
    setObjectName(QStringLiteral("notice"));
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(2 * grid, grid, grid, grid);
    row->setSpacing(grid);
    auto* column = new QVBoxLayout;
    auto* text = makeWrappedLabel(
        tr("Start Potluck whenever you log in? It waits in the tray and trains while you do not need the computer."),
        "strong", this);
    text->setObjectName(QStringLiteral("stayText"));
    m_problem = makeWrappedLabel({}, "problem", this);
    m_problem->hide();
    column->addWidget(text);
    column->addWidget(m_problem);
    auto* yes = makeButton(tr("Yes, &start it"), {}, Emphasis::primary, this);
    yes->setObjectName(QStringLiteral("stayYes"));
    auto* no = makeButton(tr("&No"), {}, Emphasis::normal, this);
    no->setObjectName(QStringLiteral("stayNo"));
    no->setAccessibleDescription(tr("Settings can change it later."));
    row->addLayout(column, 1);
    row->addWidget(yes);
    row->addWidget(no);
    connect(yes, &QPushButton::clicked, this, [this] { answer(Autostart::on); });
    connect(no, &QPushButton::clicked, this, [this] { answer(Autostart::off); });
    connect(&client, &NodeClient::changed, this, &StayCard::refresh);
    refresh();
}

void StayCard::answer(Autostart wanted) {
    const Status set = wanted == Autostart::on ? m_desktop.set_autostart(wanted) : Status();
    showOrHide(m_problem, set ? QString() : plainText(set.error().message, 300));
    if (!set) return;
    rememberChoice(m_desktop, asked, true);
    refresh();
}

/// Never where nothing would remember the answer: a question that comes back is worse than none.
void StayCard::refresh() {
    const bool can = m_desktop.remember && m_desktop.set_autostart && m_desktop.autostart;
    const bool inRun = isInRun(m_client.view()) && !isOver(m_client.view());
    setVisible(can && inRun && !isRemembered(m_desktop, asked) && m_desktop.autostart() == Autostart::off);
}

}  // namespace potluck::ui
