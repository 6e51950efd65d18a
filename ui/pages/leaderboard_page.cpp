// The table follows the snapshots: rows come from the model, the switch between members and teams changes the model's
// view, and columns are hidden where the page is too narrow for all of them.
//
// Widths come from the texts in the person's language, so that a name is cut last. What the page shows of strangers
// comes from the model as plain text (ui/widgets).
#include "ui/pages/leaderboard_page.h"

#include <algorithm>

#include <QCheckBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QStackedWidget>
#include <QTableView>
#include <QVBoxLayout>

#include "ui/client/plain_text.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/leaderboard_delegate.h"
#include "ui/widgets/leaderboard_model.h"
#include "ui/widgets/parts.h"
#include "ui/widgets/theme.h"
#include "ui/widgets/wrapping_row.h"

namespace potluck::ui {

namespace {

// The other columns take 73 grids together, 61 without counts and 43 without shares, too; a name needs 14.
constexpr int width_with_counts_min = 90 * grid, width_with_shares_min = 75 * grid;

}  // namespace

LeaderboardPage::LeaderboardPage(NodeClient& client, QWidget* parent)
    : QWidget(parent),
      m_client(client),
      m_model(new LeaderboardModel(this)),
      m_standing(makeWrappedLabel({}, "muted", this)),
      m_byTeam(new QCheckBox(tr("By &team"), this)),
      m_find(new QLineEdit(this)),
      m_stack(new QStackedWidget(this)),
      m_empty(makeWrappedLabel({}, "muted", m_stack)) {
    m_standing->setObjectName(QStringLiteral("standing"));
    m_find->setObjectName(QStringLiteral("findPeople"));
    m_byTeam->setObjectName(QStringLiteral("byTeam"));
    m_byTeam->setToolTip(tr("Anybody may name any team: nobody is asked, and two spellings are two teams."));
    m_find->setPlaceholderText(tr("Find a name, a team or a key"));
    m_find->setAccessibleName(tr("Find a name, a team or a key"));
    m_find->setClearButtonEnabled(true);
    m_find->setMinimumWidth(32 * grid);
    m_find->setMaximumWidth(36 * grid);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(grid / 2);
    auto* head = new WrappingRow;
    head->setSpacing(2 * grid);
    head->addStretching(makeLabel(tr("Leaderboard"), "title", this), 20 * grid);
    head->add(m_byTeam);
    head->add(m_find);
    column->addLayout(head);
    column->addWidget(m_standing);
    column->addSpacing(2 * grid - 4);
    QFrame* card = makeCard(this);
    QBoxLayout* inside = cardLayout(card);
    inside->setContentsMargins(grid, grid, grid, grid);
    inside->addWidget(m_stack);
    column->addWidget(card, 1);
    m_table = makeTable(m_stack);
    m_stack->addWidget(m_table);
    m_empty->setAlignment(Qt::AlignCenter);
    m_stack->addWidget(m_empty);
    connect(m_byTeam, &QCheckBox::toggled, this, &LeaderboardPage::refresh);
    connect(m_find, &QLineEdit::textChanged, &client, &NodeClient::findPeople);
    connect(&client, &NodeClient::leaderboardChanged, this, &LeaderboardPage::refresh);
    refresh();
}

QTableView* LeaderboardPage::makeTable(QWidget* parent) {
    auto* table = new QTableView(parent);
    table->setObjectName(QStringLiteral("leaderboard"));
    table->setAccessibleName(tr("Leaderboard of the run"));
    table->setModel(m_model);
    table->setItemDelegate(new LeaderboardDelegate(table));
    table->setShowGrid(false);
    table->setSelectionBehavior(QAbstractItemView::SelectRows);
    table->setSelectionMode(QAbstractItemView::SingleSelection);
    table->setTabKeyNavigation(false);
    table->setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
    table->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    table->verticalHeader()->hide();
    table->verticalHeader()->setDefaultSectionSize(5 * grid + 4);
    QHeaderView* header = table->horizontalHeader();
    header->setHighlightSections(false);
    header->setSectionsClickable(false);
    header->setSectionResizeMode(QHeaderView::Fixed);
    header->setSectionResizeMode(LeaderboardModel::name_column, QHeaderView::Stretch);
    header->resizeSection(LeaderboardModel::rank_column, 9 * grid);
    header->resizeSection(LeaderboardModel::team_column, 19 * grid);
    header->resizeSection(LeaderboardModel::tokens_column, 15 * grid);
    header->resizeSection(LeaderboardModel::share_column, 18 * grid);
    header->resizeSection(LeaderboardModel::count_column, 12 * grid);
    return table;
}

void LeaderboardPage::resizeEvent(QResizeEvent* event) {
    // Names are what the table is for: in a narrow window the columns that say the least make room for them.
    m_table->setColumnHidden(LeaderboardModel::count_column, width() < width_with_counts_min);
    m_table->setColumnHidden(LeaderboardModel::share_column, width() < width_with_shares_min);
    QWidget::resizeEvent(event);
}

void LeaderboardPage::refresh() {
    const bool byTeam = m_byTeam->isChecked();
    byTeam ? showTeams() : showPeople();
    // Where nobody has named a team there is no column of them.
    const bool namesTeams =
        std::ranges::any_of(m_client.view().leaderboard.rows, [](const auto& row) { return !row.team.empty(); });
    m_table->setColumnHidden(LeaderboardModel::team_column, byTeam || !namesTeams);
    m_stack->setCurrentIndex(m_model->rowCount() > 0 ? 0 : 1);
}

/// One's own row stands last where it is beyond those that are listed, with the rank it has.
void LeaderboardPage::showPeople() {
    const control::Leaderboard& board = m_client.view().leaderboard;
    std::vector<control::LeaderboardRow> rows = board.rows;
    const bool listed = std::ranges::any_of(rows, &control::LeaderboardRow::self);
    const bool everybody = m_find->text().trimmed().isEmpty();
    if (board.own && !listed && everybody) rows.push_back(*board.own);
    m_model->show(rows);
    m_empty->setText(everybody
                         ? tr("Nobody has been credited yet. The first names appear when the first round of a run "
                              "that you joined ends.")
                         : tr("Nobody in this run is called so."));
    if (!board.own) {
        m_standing->setText(tr("Tokens that were trained, accepted and credited in this run."));
        return;
    }
    const std::uint64_t people = std::max<std::uint64_t>(board.people, rows.size());
    m_standing->setText(tr("You are number %1 of %2 and gave %3 of all tokens of this run.")
                            .arg(fullCount(board.own->rank), fullCount(people), percent(board.own->share)));
}

/// Likewise with the row of one's own team.
void LeaderboardPage::showTeams() {
    const control::Leaderboard& board = m_client.view().leaderboard;
    std::vector<control::TeamRow> rows = board.teams;
    const bool listed = std::ranges::any_of(rows, &control::TeamRow::own);
    const bool all = m_find->text().trimmed().isEmpty();
    if (board.own_team && !listed && all) rows.push_back(*board.own_team);
    m_model->show(rows);
    m_empty->setText(all ? tr("Nobody who was credited in this run has named a team. You can name one in the settings.")
                         : tr("No team in this run is called so."));
    const QString anybody = tr("Anybody may name any team.");
    m_standing->setText(board.own_team ? tr("Your team is number %1 and gave %2 of all tokens of this run.")
                                                 .arg(fullCount(board.own_team->rank), percent(board.own_team->share)) +
                                             QLatin1Char(' ') + anybody
                                       : anybody);
}

}  // namespace potluck::ui
