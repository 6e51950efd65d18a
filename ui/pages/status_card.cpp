#include "ui/pages/status_card.h"

#include <algorithm>
#include <cmath>

#include <QHBoxLayout>

#include "ui/pages/remedies.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/parts.h"
#include "ui/widgets/theme.h"

namespace potluck::ui {

StatusCard::StatusCard(NodeClient& client, const Desktop& desktop, QWidget* parent) : QFrame(parent) {
    setObjectName(QStringLiteral("card"));
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(2 * grid + 4, 2 * grid, 2 * grid + 4, 2 * grid);
    row->setSpacing(2 * grid);
    m_icon = new IconView({}, 4 * grid, this);
    row->addWidget(m_icon, 0, Qt::AlignTop);
    auto* column = new QVBoxLayout;
    column->setSpacing(grid / 2);
    m_title = makeLabel({}, "heading", this);
    m_title->setObjectName(QStringLiteral("state"));
    m_reason = makeWrappedLabel({}, "muted", this);
    m_reason->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    m_reason->setObjectName(QStringLiteral("reason"));
    m_memory = makeLabel({}, "good", this);
    m_memory->setObjectName(QStringLiteral("memory"));
    m_progress = new QProgressBar(this);
    m_progress->setTextVisible(false);
    m_progress->setRange(0, 1000);
    m_progress->setAccessibleName(tr("Progress"));
    column->addWidget(m_title);
    column->addWidget(m_reason);
    column->addWidget(m_memory);
    column->addSpacing(grid / 2);
    column->addWidget(m_progress);
    m_remedies = new Remedies(client, desktop, this);
    column->addWidget(m_remedies);
    row->addLayout(column, 1);
}

void StatusCard::show(const StatusSummary& summary) {
    m_icon->setIcon(iconNamed(nameOf(summary.icon), roleOf(summary.icon)));
    m_title->setText(summary.title);
    showOrHide(m_reason, summary.reason);
    showOrHide(m_memory, summary.memory);
    const bool waits = std::isfinite(summary.progress) && summary.progress >= 0;
    m_progress->setVisible(waits);
    if (waits) m_progress->setValue(static_cast<int>(std::lround(1000 * std::clamp(summary.progress, 0.0, 1.0))));
    m_remedies->show(summary.actions);
    setAccessibleName(summary.title);
    setAccessibleDescription(summary.reason + QLatin1Char(' ') + summary.memory);
}

}  // namespace potluck::ui
