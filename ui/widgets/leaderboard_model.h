// The leaderboard as a table: rank, name, tokens, share, rounds. The person's own row says "(you)", has a star and
// stands in bold type. Cells sort and read as numbers through Qt::UserRole.
//
// Threads: Qt's main thread.
#pragma once

#include <vector>

#include <QAbstractTableModel>

#include "core/control/node_protocol.h"

namespace potluck::ui {

class LeaderboardModel : public QAbstractTableModel {
    Q_OBJECT

public:
    enum Column { rank_column, name_column, tokens_column, share_column, rounds_column, column_count };
    enum Role { number_role = Qt::UserRole, self_role };

    using QAbstractTableModel::QAbstractTableModel;

    void show(const std::vector<control::LeaderboardRow>& rows);
    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    [[nodiscard]] QString textOf(const control::LeaderboardRow& row, int column) const;

    std::vector<control::LeaderboardRow> m_rows;
};

}  // namespace potluck::ui
