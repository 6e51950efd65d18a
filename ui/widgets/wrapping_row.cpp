// Items are put into lines greedily, from the first to the last: one that does not fit behind the others begins a line.
// A line's leftover width goes to its stretching items in equal shares. Height follows from width (heightForWidth), as
// for wrapped text, so that the layouts around it make room for more lines.
//
// Invariant: every visible item lies in exactly one line, in order, and no line is wider than the row unless a single
// item is.
#include "ui/widgets/wrapping_row.h"

#include <algorithm>

#include <QStyle>
#include <QWidget>

namespace potluck::ui {

namespace {

int heightOf(QLayoutItem& item, int width) {
    return item.hasHeightForWidth() ? item.heightForWidth(width) : item.sizeHint().height();
}

}  // namespace

WrappingRow::WrappingRow(QWidget* parent) : QLayout(parent) {}

WrappingRow::~WrappingRow() {
    // A layout in it takes itself out as it goes, so that no loop over the items may run meanwhile.
    while (QLayoutItem* item = WrappingRow::takeAt(0)) delete item;
}

void WrappingRow::add(QWidget* widget) {
    addChildWidget(widget);
    addItem(new QWidgetItem(widget));
}

void WrappingRow::addStretching(QWidget* widget, int least) {
    add(widget);
    m_items.back().least = least;
}

void WrappingRow::addStretching(QLayout* layout, int least) {
    addChildLayout(layout);
    addItem(layout);
    m_items.back().least = least;
}

void WrappingRow::addItem(QLayoutItem* item) {
    m_items.push_back({item, 0});
    invalidate();
}

QLayoutItem* WrappingRow::itemAt(int index) const {
    return index >= 0 && index < count() ? m_items[static_cast<std::size_t>(index)].item : nullptr;
}

QLayoutItem* WrappingRow::takeAt(int index) {
    QLayoutItem* item = itemAt(index);
    if (item != nullptr) m_items.erase(m_items.begin() + index);
    invalidate();
    return item;
}

int WrappingRow::widthOf(const Item& item) {
    return item.least > 0 ? std::max(item.least, item.item->minimumSize().width()) : item.item->sizeHint().width();
}

std::vector<WrappingRow::Line> WrappingRow::linesOf(int width) const {
    std::vector<Line> lines;
    int used = 0;
    for (const Item& one : m_items) {
        if (one.item->isEmpty()) continue;  // of a hidden widget
        const int wanted = widthOf(one);
        if (lines.empty() || used + spacing() + wanted > width) {
            lines.emplace_back();
            used = -spacing();
        }
        lines.back().push_back(&one);
        used += spacing() + wanted;
    }
    return lines;
}

std::vector<int> WrappingRow::widthsIn(const Line& line, int width) const {
    std::vector<int> widths;
    int left = width + spacing(), stretching = 0;
    for (const Item* one : line) {
        widths.push_back(std::min(widthOf(*one), width));
        left -= spacing() + widths.back();
        stretching += one->least > 0 ? 1 : 0;
    }
    for (std::size_t i = 0; i < line.size() && left > 0; ++i) {
        if (line[i]->least == 0) continue;
        const int share = left / stretching--;
        widths[i] += share;
        left -= share;
    }
    return widths;
}

QSize WrappingRow::sizeHint() const {
    QSize size(-spacing(), 0);
    for (const Item& one : m_items) {
        if (one.item->isEmpty()) continue;
        const QSize wanted = one.item->sizeHint();
        size.rwidth() += spacing() + (one.least > 0 ? std::max(one.least, wanted.width()) : wanted.width());
        size.setHeight(std::max(size.height(), wanted.height()));
    }
    return size.expandedTo({0, 0}) + QSize(contentsMargins().left() + contentsMargins().right(),
                                           contentsMargins().top() + contentsMargins().bottom());
}

QSize WrappingRow::minimumSize() const {
    QSize size;
    for (const Item& one : m_items) {
        if (one.item->isEmpty()) continue;
        const QSize least = one.item->minimumSize();
        size = size.expandedTo({one.least > 0 ? least.width() : one.item->sizeHint().width(), least.height()});
    }
    return size + QSize(contentsMargins().left() + contentsMargins().right(),
                        contentsMargins().top() + contentsMargins().bottom());
}

int WrappingRow::heightForWidth(int width) const {
    const int inner = width - contentsMargins().left() - contentsMargins().right();
    int height = -spacing();
    for (const Line& line : linesOf(inner)) {
        const std::vector<int> widths = widthsIn(line, inner);
        int tallest = 0;
        for (std::size_t i = 0; i < line.size(); ++i) tallest = std::max(tallest, heightOf(*line[i]->item, widths[i]));
        height += spacing() + tallest;
    }
    return std::max(0, height) + contentsMargins().top() + contentsMargins().bottom();
}

void WrappingRow::setGeometry(const QRect& rect) {
    QLayout::setGeometry(rect);
    const QRect inner = contentsRect();
    const Qt::LayoutDirection direction =
        parentWidget() != nullptr ? parentWidget()->layoutDirection() : Qt::LeftToRight;
    const std::vector<Line> lines = linesOf(inner.width());
    int y = inner.top();
    for (const Line& line : lines) {
        const std::vector<int> widths = widthsIn(line, inner.width());
        int tallest = 0, x = inner.left();
        for (std::size_t i = 0; i < line.size(); ++i) tallest = std::max(tallest, heightOf(*line[i]->item, widths[i]));
        // A single line has all the height there is: cards in it stretch downwards.
        if (lines.size() == 1) tallest = std::max(tallest, inner.height());
        for (std::size_t i = 0; i < line.size(); ++i) {
            const QRect at(x, y, widths[i], tallest);
            line[i]->item->setGeometry(QStyle::visualRect(direction, inner, at));
            x += widths[i] + spacing();
        }
        y += tallest + spacing();
    }
}

}  // namespace potluck::ui
