// Paints one cell of the leaderboard: airy rows with a hair line, the person's own row on a soft ground with a star,
// the share with a bar below its number.
//
// Threads: Qt's main thread.
#pragma once

#include <QStyledItemDelegate>

namespace potluck::ui {

class LeaderboardDelegate : public QStyledItemDelegate {
    Q_OBJECT

public:
    using QStyledItemDelegate::QStyledItemDelegate;
    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
};

}  // namespace potluck::ui
