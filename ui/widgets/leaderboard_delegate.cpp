#include "ui/widgets/leaderboard_delegate.h"

#include <algorithm>

#include <QGuiApplication>
#include <QPainter>

#include "ui/widgets/icons.h"
#include "ui/widgets/leaderboard_model.h"
#include "ui/widgets/theme.h"

namespace potluck::ui {

namespace {

constexpr int bar_height = 4;

void paintGround(QPainter& painter, const QStyleOptionViewItem& option, bool self) {
    const QPalette palette = QGuiApplication::palette();
    if (self || (option.state & QStyle::State_Selected)) {
        painter.fillRect(option.rect, palette.color(QPalette::AlternateBase));
    }
    painter.setRenderHint(QPainter::Antialiasing, false);
    painter.setPen(palette.color(QPalette::Mid));
    painter.drawLine(option.rect.bottomLeft(), option.rect.bottomRight());
    if (option.state & QStyle::State_HasFocus) {
        painter.setPen(palette.color(QPalette::Highlight));
        painter.drawRect(option.rect.adjusted(0, 0, -1, -2));
    }
}

/// The application's palette, not the option's: a style sheet's selection colours change the latter.
/// Returns the space that is left for the number.
QRect paintBar(QPainter& painter, const QStyleOptionViewItem& option, const QRect& cell, double share) {
    const QRectF whole(cell.left(), cell.center().y() + option.fontMetrics.height() / 2.0 + 1, cell.width(),
                       bar_height);
    QRectF filled = whole;
    filled.setWidth(std::max<qreal>(bar_height, whole.width() * std::clamp(share, 0.0, 1.0)));
    const QPalette palette = QGuiApplication::palette();
    painter.setPen(Qt::NoPen);
    painter.setBrush(palette.color(QPalette::Mid));
    painter.drawRoundedRect(whole, bar_height / 2.0, bar_height / 2.0);
    painter.setBrush(palette.color(QPalette::Highlight));
    painter.drawRoundedRect(filled, bar_height / 2.0, bar_height / 2.0);
    return cell.translated(0, -bar_height / 2 - 1);
}

}  // namespace

void LeaderboardDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const {
    painter->save();
    const bool self = index.data(LeaderboardModel::self_role).toBool();
    paintGround(*painter, option, self);
    painter->setRenderHint(QPainter::Antialiasing);
    QRect cell = option.rect.adjusted(grid + 4, 0, -grid - 4, 0);
    if (self && index.column() == LeaderboardModel::name_column) {
        const int side = option.fontMetrics.height();
        const QRect star(cell.left(), cell.center().y() - side / 2, side, side);
        iconNamed(QStringLiteral("star"), QPalette::Highlight).paint(painter, star);
        cell.setLeft(star.right() + grid);
    }
    if (index.column() == LeaderboardModel::share_column) {
        cell = paintBar(*painter, option, cell, index.data(LeaderboardModel::number_role).toDouble());
    }
    QFont font = option.font;
    font.setBold(self);
    painter->setFont(font);
    painter->setPen(QGuiApplication::palette().color(QPalette::Text));
    const QString text = QFontMetrics(font).elidedText(index.data().toString(), Qt::ElideRight, cell.width());
    painter->drawText(cell, static_cast<int>(index.data(Qt::TextAlignmentRole).value<Qt::Alignment>()), text);
    painter->restore();
}

}  // namespace potluck::ui
