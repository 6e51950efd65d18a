#include "ui/records/run_table.h"

#include <algorithm>

#include <QDateTime>
#include <QHeaderView>
#include <QLocale>

#include "ui/client/measure_words.h"
#include "ui/client/plain_text.h"
#include "ui/widgets/theme.h"

namespace potluck::ui {

namespace {

constexpr int title_characters_max = 60;

}  // namespace

QString runTitle(const control::KnownRun& run) {
    const QString name = plainText(run.name, title_characters_max);
    return name.isEmpty() ? RunModel::tr("Run %1").arg(plainText(run.id, 64).left(8)) : name;
}

void RunModel::show(const std::vector<control::KnownRun>& rows) {
    beginResetModel();
    m_rows = rows;
    endResetModel();
}

int RunModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}

int RunModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : column_count; }

QString RunModel::textOf(const control::KnownRun& row, int column) {
    switch (column) {
        case name_column: return row.is_open ? tr("%1 (now)").arg(runTitle(row)) : runTitle(row);
        case tokens_column: return shortCount(row.my_tokens);
        case rounds_column: return fullCount(row.my_rounds);
        case rank_column: return row.rank == 0 ? QStringLiteral("–") : fullCount(row.rank);
        case last_column:
            return row.last == 0
                       ? QStringLiteral("–")
                       : QLocale().toString(QDateTime::fromSecsSinceEpoch(row.last).date(), QLocale::ShortFormat);
        case disk_column: return sizeText(row.bytes);
        default: return {};
    }
}

QString RunModel::hintOf(const control::KnownRun& row, int column) {
    if (column == name_column) return row.model.empty() ? plainText(row.id, 120) : modelText(row.model);
    return column == tokens_column ? tr("%1 tokens").arg(fullCount(row.my_tokens)) : QString();
}

QVariant RunModel::data(const QModelIndex& index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
    const control::KnownRun& row = m_rows[static_cast<std::size_t>(index.row())];
    const int column = index.column();
    switch (role) {
        case Qt::DisplayRole: return textOf(row, column);
        case Qt::TextAlignmentRole:
            return QVariant::fromValue(Qt::AlignVCenter | (column == name_column ? Qt::AlignLeft : Qt::AlignRight));
        case Qt::ToolTipRole: return literalText(hintOf(row, column));
        case Qt::AccessibleTextRole:
            return headerData(column, Qt::Horizontal, Qt::DisplayRole).toString() + QLatin1Char(' ') +
                   textOf(row, column);
        default: return {};
    }
}

QVariant RunModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal) return {};
    if (role == Qt::TextAlignmentRole) {
        return QVariant::fromValue(Qt::AlignVCenter | (section == name_column ? Qt::AlignLeft : Qt::AlignRight));
    }
    if (role != Qt::DisplayRole) return {};
    switch (section) {
        case name_column: return tr("Run");
        case tokens_column: return tr("Tokens");
        case rounds_column: return tr("Rounds");
        case rank_column: return tr("Rank");
        case last_column: return tr("Last");
        case disk_column: return tr("On disk");
        default: return {};
    }
}

RunTable::RunTable(const std::vector<RunModel::Column>& columns, QWidget* parent)
    : QTableView(parent), m_model(new RunModel(this)) {
    setAccessibleName(tr("Runs"));
    setModel(m_model);
    setShowGrid(false);
    setSelectionBehavior(QAbstractItemView::SelectRows);
    setSelectionMode(QAbstractItemView::SingleSelection);
    setTabKeyNavigation(false);
    setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setSizeAdjustPolicy(QAbstractScrollArea::AdjustToContents);
    setMinimumHeight(16 * grid);
    setMaximumHeight(50 * grid);
    verticalHeader()->hide();
    verticalHeader()->setDefaultSectionSize(4 * grid + 4);
    QHeaderView* header = horizontalHeader();
    header->setHighlightSections(false);
    header->setSectionsClickable(false);
    header->setSectionResizeMode(QHeaderView::Fixed);
    header->setSectionResizeMode(RunModel::name_column, QHeaderView::Stretch);
    for (int column = RunModel::name_column + 1; column < RunModel::column_count; ++column) {
        header->resizeSection(column, 12 * grid);
        const bool shown = std::find(columns.begin(), columns.end(), column) != columns.end();
        setColumnHidden(column, !shown);
    }
    connect(selectionModel(), &QItemSelectionModel::selectionChanged, this, &RunTable::choiceChanged);
}

void RunTable::show(const std::vector<control::KnownRun>& rows) {
    const std::optional<control::KnownRun> before = selected();
    m_model->show(rows);
    const auto same = std::find_if(rows.begin(), rows.end(),
                                   [&](const control::KnownRun& row) { return before && row.id == before->id; });
    if (same != rows.end()) selectRow(static_cast<int>(same - rows.begin()));
    emit choiceChanged();
}

std::optional<control::KnownRun> RunTable::selected() const {
    const QModelIndexList rows = selectionModel()->selectedRows();
    if (rows.isEmpty()) return std::nullopt;
    return m_model->rows()[static_cast<std::size_t>(rows.front().row())];
}

}  // namespace potluck::ui
