// Layouts that ask for no more room than they need, so that a page has one scroll bar: Qt's stacked layout is as large
// as its largest page, those that are not open included, and a scroll area asks for as much as what it holds, up to
// 24 lines. Labels are plain text, since most of what they show came from strangers.
//
// Everything is owned by its parent. Threads: the window's.
#include "ui/widgets/parts.h"

#include <algorithm>

#include <QFileDialog>
#include <QGridLayout>
#include <QScrollArea>
#include <QStackedLayout>
#include <QStandardPaths>
#include <QStyle>
#include <QVBoxLayout>

#include "ui/client/plain_text.h"
#include "ui/widgets/theme.h"

namespace potluck::ui {

namespace {

/// As large as the page that is open.
class OpenPageLayout final : public QStackedLayout {
public:
    using QStackedLayout::QStackedLayout;
    [[nodiscard]] QSize sizeHint() const override { return open() ? open()->sizeHint() : QSize(); }
    [[nodiscard]] QSize minimumSize() const override {
        return open() ? open()->minimumSizeHint().expandedTo(open()->minimumSize()) : QSize();
    }
    [[nodiscard]] bool hasHeightForWidth() const override { return open() && open()->hasHeightForWidth(); }
    [[nodiscard]] int heightForWidth(int width) const override {
        return std::max(open()->heightForWidth(width), minimumSize().height());
    }

private:
    [[nodiscard]] QWidget* open() const { return currentWidget(); }
};

/// Takes the room that is left on a page, and asks for little.
class CardsArea final : public QScrollArea {
public:
    using QScrollArea::QScrollArea;
    [[nodiscard]] QSize sizeHint() const override { return {QScrollArea::sizeHint().width(), 20 * grid}; }
};

}  // namespace

QFileDialog* makeFileDialog(const QString& title, QWidget* parent) {
    auto* dialog = new QFileDialog(parent, title, QStandardPaths::writableLocation(QStandardPaths::DocumentsLocation));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    return dialog;
}

QFrame* makeCard(QWidget* parent) {
    auto* card = new QFrame(parent);
    card->setObjectName(QStringLiteral("card"));
    return card;
}

QBoxLayout* cardLayout(QFrame* card) {
    auto* layout = new QVBoxLayout(card);
    layout->setContentsMargins(2 * grid + 4, 2 * grid, 2 * grid + 4, 2 * grid);
    layout->setSpacing(grid);
    return layout;
}

QStackedLayout* makePageStack(QWidget* holder) { return new OpenPageLayout(holder); }

QLabel* makeLabel(const QString& text, const char* role, QWidget* parent) {
    auto* label = new QLabel(parent);
    label->setTextFormat(Qt::PlainText);
    label->setText(text);
    label->setProperty("role", QString::fromLatin1(role));
    return label;
}

QLabel* makeWrappedLabel(const QString& text, const char* role, QWidget* parent) {
    QLabel* label = makeLabel(text, role, parent);
    label->setWordWrap(true);
    return label;
}

void setRole(QWidget* widget, const char* role) {
    const QString name = QString::fromLatin1(role);
    if (widget->property("role").toString() == name) return;
    widget->setProperty("role", name);
    widget->style()->unpolish(widget);
    widget->style()->polish(widget);
}

void showOrHide(QLabel* label, const QString& text) {
    label->setText(text);
    label->setVisible(!text.isEmpty());
}

QPushButton* makeButton(const QString& text, const QIcon& icon, Emphasis emphasis, QWidget* parent) {
    auto* button = new QPushButton(icon, text, parent);
    button->setAutoDefault(false);
    if (emphasis == Emphasis::primary) button->setProperty("role", QStringLiteral("primary"));
    if (emphasis == Emphasis::quiet) button->setProperty("role", QStringLiteral("quiet"));
    return button;
}

ScrolledCards makeScrolledCards(QWidget* parent) {
    auto* area = new CardsArea(parent);
    area->setWidgetResizable(true);
    area->setFocusPolicy(Qt::NoFocus);
    auto* scrolled = new QWidget(area);
    scrolled->setObjectName(QStringLiteral("scrolled"));
    auto* column = new QVBoxLayout(scrolled);
    column->setContentsMargins(0, 0, grid, 0);
    column->setSpacing(2 * grid);
    area->setWidget(scrolled);
    return {area, scrolled, column};
}

StatTile::StatTile(const QString& what, const QString& toolTip, QWidget* parent) : QFrame(parent), m_what(what) {
    setObjectName(QStringLiteral("card"));
    setToolTip(literalText(toolTip));
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(2 * grid, grid + 4, grid, grid + 4);
    layout->setSpacing(2);
    layout->addWidget(makeLabel(what, "small", this));
    m_number = makeLabel({}, "number", this);
    m_detail = makeLabel({}, "small", this);
    layout->addWidget(m_number);
    layout->addWidget(m_detail);
}

void StatTile::show(const QString& number, const QString& detail) {
    m_number->setText(number);
    m_detail->setText(detail);
    setAccessibleName(m_what);
    setAccessibleDescription(number + QLatin1Char(' ') + detail);
}

FigureTable::FigureTable(QWidget* parent) : QWidget(parent), m_rows(new QGridLayout(this)) {
    m_rows->setContentsMargins(0, 0, 0, 0);
    m_rows->setHorizontalSpacing(3 * grid);
    m_rows->setColumnStretch(1, 1);
}

QLabel* FigureTable::add(const QString& what, const char* name) {
    const int row = m_rows->rowCount();
    QLabel* title = makeLabel(what, "strong", this);
    QLabel* value = makeWrappedLabel({}, "muted", this);
    value->setObjectName(QString::fromLatin1(name));
    title->setBuddy(value);  // read out as what the value is of
    m_rows->addWidget(title, row, 0, Qt::AlignTop);
    m_rows->addWidget(value, row, 1);
    return value;
}

}  // namespace potluck::ui
