#include "ui/widgets/leaderboard_model.h"

#include <QFont>

#include "ui/client/plain_text.h"
#include "ui/widgets/icons.h"

namespace potluck::ui {

void LeaderboardModel::show(const std::vector<control::LeaderboardRow>& rows) {
    beginResetModel();
    m_rows = rows;
    endResetModel();
}

int LeaderboardModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}

int LeaderboardModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : column_count; }

QString LeaderboardModel::textOf(const control::LeaderboardRow& row, int column) const {
    switch (column) {
        case rank_column: return fullCount(row.rank);
        case name_column: {
            const QString name = displayName(row.name, row.id);
            return row.self ? tr("%1 (you)").arg(name) : name;
        }
        case tokens_column: return shortCount(row.tokens);
        case share_column: return percent(row.share);
        case rounds_column: return fullCount(row.rounds);
        default: return {};
    }
}

QVariant LeaderboardModel::data(const QModelIndex& index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
    const control::LeaderboardRow& row = m_rows[static_cast<std::size_t>(index.row())];
    const int column = index.column();
    switch (role) {
        case Qt::DisplayRole: return textOf(row, column);
        case self_role: return row.self;
        case Qt::TextAlignmentRole:
            return QVariant::fromValue(Qt::AlignVCenter | (column == name_column ? Qt::AlignLeft : Qt::AlignRight));
        case Qt::FontRole:
            if (row.self) {
                QFont font;
                font.setBold(true);
                return font;
            }
            return {};
        case Qt::ToolTipRole:
            if (column == name_column) return plainText(row.id, 64);
            if (column == tokens_column) return tr("%1 tokens").arg(fullCount(row.tokens));
            return {};
        case Qt::AccessibleTextRole:
            return headerData(column, Qt::Horizontal, Qt::DisplayRole).toString() + QLatin1Char(' ') +
                   textOf(row, column);
        case number_role:
            if (column == rank_column) return static_cast<qulonglong>(row.rank);
            if (column == tokens_column) return static_cast<qulonglong>(row.tokens);
            if (column == share_column) return row.share;
            if (column == rounds_column) return static_cast<qulonglong>(row.rounds);
            return {};
        default: return {};
    }
}

QVariant LeaderboardModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal) return {};
    if (role == Qt::TextAlignmentRole) {
        return QVariant::fromValue(Qt::AlignVCenter | (section == name_column ? Qt::AlignLeft : Qt::AlignRight));
    }
    if (role != Qt::DisplayRole) return {};
    switch (section) {
        case rank_column: return tr("Rank");
        case name_column: return tr("Name");
        case tokens_column: return tr("Tokens");
        case share_column: return tr("Share");
        case rounds_column: return tr("Rounds");
        default: return {};
    }
}

}  // namespace potluck::ui
