#include "ui/pages/navigation.h"

#include <QButtonGroup>
#include <QKeySequence>
#include <QToolButton>
#include <QVBoxLayout>

#include "ui/client/plain_text.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/parts.h"
#include "ui/widgets/theme.h"

namespace potluck::ui {

Navigation::Navigation(QWidget* parent) : QFrame(parent), m_entries(new QButtonGroup(this)) {
    setObjectName(QStringLiteral("navigation"));
    setFixedWidth(25 * grid);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(grid + 4, 3 * grid, grid + 4, 2 * grid);
    column->setSpacing(2 * grid);
    auto* head = new QHBoxLayout;
    head->setContentsMargins(grid, 0, 0, 0);
    head->setSpacing(grid + 4);
    head->addWidget(new IconView(appIcon(), 4 * grid, this));
    head->addWidget(makeLabel(QStringLiteral("Potluck"), "heading", this), 1);
    column->addLayout(head);
    auto* entries = new QVBoxLayout;
    entries->setSpacing(grid / 2);
    m_column = entries;
    column->addLayout(entries);
    column->addStretch(1);
    auto* foot = new QHBoxLayout;
    foot->setContentsMargins(grid, 0, 0, 0);
    foot->setSpacing(grid);
    m_sign = new IconView({}, 2 * grid + 4, this);
    m_title = makeWrappedLabel({}, "small", this);
    m_title->setObjectName(QStringLiteral("navigationStatus"));
    foot->addWidget(m_sign);
    foot->addWidget(m_title, 1);
    column->addLayout(foot);
    connect(m_entries, &QButtonGroup::idClicked, this, &Navigation::selected);
}

void Navigation::addEntry(const QString& text, const QString& icon) {
    const int index = static_cast<int>(m_entries->buttons().size());
    auto* button = new QToolButton(this);
    button->setObjectName(QStringLiteral("navigation"));
    // Qt leaves 4 pixels between icon and text; a figure space makes it eight.
    button->setText(QChar(0x2007) + text);
    button->setIcon(iconNamed(icon, QPalette::PlaceholderText));
    button->setIconSize({20, 20});
    button->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    button->setCheckable(true);
    button->setChecked(index == 0);
    button->setFocusPolicy(Qt::StrongFocus);
    if (index < 9) button->setShortcut(QKeySequence(QStringLiteral("Ctrl+%1").arg(index + 1)));
    button->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    button->setAccessibleName(text);
    m_entries->addButton(button, index);
    m_column->addWidget(button);
}

void Navigation::select(int index) {
    m_entries->button(index)->setChecked(true);
    emit selected(index);
}

void Navigation::setEntry(int index, Entry entry) { m_entries->button(index)->setVisible(entry == Entry::shown); }

void Navigation::show(const StatusSummary& summary) {
    m_sign->setIcon(iconNamed(nameOf(summary.icon), roleOf(summary.icon)));
    m_title->setText(summary.title);
    m_title->setToolTip(literalText(summary.reason));
}

}  // namespace potluck::ui
