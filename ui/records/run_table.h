// The runs that the node knows as a table: name, what was given, rank, when last, what lies on the disk. Rows come anew
// with each answer of the node; the selection stays with its run.
//
// Threads: Qt's main thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <QAbstractTableModel>
#include <QTableView>

#include "core/control/record_methods.h"

namespace potluck::ui {

class RunModel : public QAbstractTableModel {
    Q_OBJECT

public:
    enum Column { name_column, tokens_column, rounds_column, rank_column, last_column, disk_column, column_count };

    using QAbstractTableModel::QAbstractTableModel;

    void show(const std::vector<control::KnownRun>& rows);
    [[nodiscard]] const std::vector<control::KnownRun>& rows() const { return m_rows; }
    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    [[nodiscard]] static QString textOf(const control::KnownRun& row, int column);
    [[nodiscard]] static QString hintOf(const control::KnownRun& row, int column);

    std::vector<control::KnownRun> m_rows;
};

class RunTable : public QTableView {
    Q_OBJECT

public:
    /// `columns` beside the name.
    RunTable(const std::vector<RunModel::Column>& columns, QWidget* parent);

    void show(const std::vector<control::KnownRun>& rows);
    using QTableView::show;
    [[nodiscard]] std::optional<control::KnownRun> selected() const;

signals:
    void choiceChanged();

private:
    RunModel* m_model;
};

/// A run's name, or the first digits of its id where its description is gone.
[[nodiscard]] QString runTitle(const control::KnownRun& run);

}  // namespace potluck::ui
