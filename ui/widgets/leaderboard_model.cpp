#include "ui/widgets/leaderboard_model.h"

#include <utility>

#include <QFont>

#include "ui/client/plain_text.h"
#include "ui/widgets/icons.h"

namespace potluck::ui {

namespace {

constexpr int team_characters_max = 40;

bool isLeftAligned(int column) {
    return column == LeaderboardModel::name_column || column == LeaderboardModel::team_column;
}

}  // namespace

void LeaderboardModel::show(const std::vector<control::LeaderboardRow>& people) {
    std::vector<Row> rows;
    for (const control::LeaderboardRow& one : people) {
        const QString name = displayName(one.name, one.id);
        rows.push_back({one.rank, one.self ? tr("%1 (you)").arg(name) : name, plainText(one.id, 64),
                        plainText(one.team, team_characters_max), one.tokens, one.rounds, one.share, one.self});
    }
    show(Of::people, std::move(rows));
}

void LeaderboardModel::show(const std::vector<control::TeamRow>& teams) {
    std::vector<Row> rows;
    for (const control::TeamRow& one : teams) {
        QString name = plainText(one.team, team_characters_max);
        if (name.isEmpty()) name = tr("A team without a visible name");
        rows.push_back({one.rank,
                        one.own ? tr("%1 (yours)").arg(name) : name,
                        name,
                        {},
                        one.tokens,
                        one.members,
                        one.share,
                        one.own});
    }
    show(Of::teams, std::move(rows));
}

void LeaderboardModel::show(Of what, std::vector<Row> rows) {
    beginResetModel();
    m_of = what;
    m_rows = std::move(rows);
    endResetModel();
}

int LeaderboardModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}

int LeaderboardModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : columns; }

QString LeaderboardModel::textOf(const Row& row, int column) {
    switch (column) {
        case rank_column: return fullCount(row.rank);
        case name_column: return row.name;
        case team_column: return row.team;
        case tokens_column: return shortCount(row.tokens);
        case share_column: return percent(row.share);
        case count_column: return fullCount(row.count);
        default: return {};
    }
}

QString LeaderboardModel::hintOf(const Row& row, int column) {
    if (column == name_column) return row.hint;
    if (column == team_column) return row.team;
    return column == tokens_column ? tr("%1 tokens").arg(fullCount(row.tokens)) : QString();
}

QVariant LeaderboardModel::data(const QModelIndex& index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
    const Row& row = m_rows[static_cast<std::size_t>(index.row())];
    const int column = index.column();
    switch (role) {
        case Qt::DisplayRole: return textOf(row, column);
        case self_role: return row.own;
        case Qt::TextAlignmentRole:
            return QVariant::fromValue(Qt::AlignVCenter | (isLeftAligned(column) ? Qt::AlignLeft : Qt::AlignRight));
        case Qt::FontRole:
            if (row.own) {
                QFont font;
                font.setBold(true);
                return font;
            }
            return {};
        case Qt::ToolTipRole: return literalText(hintOf(row, column));
        case Qt::AccessibleTextRole:
            return headerData(column, Qt::Horizontal, Qt::DisplayRole).toString() + QLatin1Char(' ') +
                   textOf(row, column);
        case number_role:
            if (column == rank_column) return static_cast<qulonglong>(row.rank);
            if (column == tokens_column) return static_cast<qulonglong>(row.tokens);
            if (column == share_column) return row.share;
            if (column == count_column) return static_cast<qulonglong>(row.count);
            return {};
        default: return {};
    }
}

QVariant LeaderboardModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal) return {};
    if (role == Qt::TextAlignmentRole) {
        return QVariant::fromValue(Qt::AlignVCenter | (isLeftAligned(section) ? Qt::AlignLeft : Qt::AlignRight));
    }
    if (role != Qt::DisplayRole) return {};
    switch (section) {
        case rank_column: return tr("Rank");
        case name_column: return m_of == Of::people ? tr("Name") : tr("Team");
        case team_column: return tr("Team");
        case tokens_column: return tr("Tokens");
        case share_column: return tr("Share");
        case count_column: return m_of == Of::people ? tr("Rounds") : tr("Members");
        default: return {};
    }
}

}  // namespace potluck::ui
