#include "ui/pages/navigation.h"

#include <QButtonGroup>
#include <QKeySequence>
#include <QScrollArea>
#include <QToolButton>
#include <QVBoxLayout>

#include "ui/client/plain_text.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/parts.h"
#include "ui/widgets/theme.h"

namespace potluck::ui {

namespace {

constexpr int full_width = 25 * grid;
// An icon of 20 pixels in a button with its padding, the margins, and a scroll bar where the window is low.
constexpr int icons_width = 11 * grid;

}  // namespace

Navigation::Navigation(QWidget* parent) : QFrame(parent), m_entries(new QButtonGroup(this)) {
    setObjectName(QStringLiteral("navigation"));
    setFixedWidth(full_width);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(grid + 4, 3 * grid, grid + 4, 2 * grid);
    column->setSpacing(2 * grid);
    m_head = new QWidget(this);
    auto* head = new QHBoxLayout(m_head);
    head->setContentsMargins(grid, 0, 0, 0);
    head->setSpacing(grid + 4);
    head->addWidget(new IconView(appIcon(), 4 * grid, m_head));
    head->addWidget(makeLabel(QStringLiteral("Potluck"), "heading", m_head), 1);
    column->addWidget(m_head);
    const ScrolledCards scrolled = makeScrolledCards(this);
    scrolled.area->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scrolled.column->setContentsMargins(0, 0, 0, 0);
    scrolled.column->setSpacing(0);
    auto* entries = new QVBoxLayout;
    entries->setSpacing(grid / 2);
    m_column = entries;
    scrolled.column->addLayout(entries);
    scrolled.column->addStretch(1);
    column->addWidget(scrolled.area, 1);
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
    button->setToolTip(literalText(text));
    m_column->addWidget(button);
}

void Navigation::setWidth(Width width) {
    const bool full = width == Width::full;
    setFixedWidth(full ? full_width : icons_width);
    m_head->setVisible(full);
    m_title->setVisible(full);
    for (QAbstractButton* button : m_entries->buttons())
        qobject_cast<QToolButton*>(button)->setToolButtonStyle(full ? Qt::ToolButtonTextBesideIcon
                                                                    : Qt::ToolButtonIconOnly);
    relayout();
}

void Navigation::relayout() {
    // The entries lie in an area of their own, which otherwise learns of their new widths with the next event.
    for (QLayout* one : {m_column->parentWidget()->layout(), layout()}) {
        one->invalidate();
        one->activate();
    }
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
    m_sign->setToolTip(literalText(summary.title));
}

}  // namespace potluck::ui
