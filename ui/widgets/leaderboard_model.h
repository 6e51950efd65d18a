// The leaderboard as a table, of people or of teams: rank, name, a person's team, tokens, share, and a person's rounds
// or a team's members. The person's own row says "(you)", that of its team "(yours)"; it has a star and stands in bold
// type. Cells sort and read as numbers through Qt::UserRole.
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
    enum Column { rank_column, name_column, team_column, tokens_column, share_column, count_column, columns };
    enum Role { number_role = Qt::UserRole, self_role };

    using QAbstractTableModel::QAbstractTableModel;

    void show(const std::vector<control::LeaderboardRow>& people);
    void show(const std::vector<control::TeamRow>& teams);
    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    struct Row {
        std::uint32_t rank = 0;
        QString name, hint, team;
        std::uint64_t tokens = 0, count = 0;
        double share = 0;
        bool own = false;
    };
    enum class Of { people, teams };
    void show(Of what, std::vector<Row> rows);
    [[nodiscard]] static QString textOf(const Row& row, int column);
    [[nodiscard]] static QString hintOf(const Row& row, int column);

    Of m_of = Of::people;
    std::vector<Row> m_rows;
};

}  // namespace potluck::ui
