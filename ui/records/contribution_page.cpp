// Everything is asked of the node: a run that was left has no snapshot, and its credit lies in the ledger. A week is
// compared with the one before it; without one before there is nothing to compare.
//
// Joining again leaves the run that the node is in, so it asks first, with staying as the default answer; outside a run
// it needs no question.
#include "ui/records/contribution_page.h"

#include <algorithm>
#include <utility>

#include <QGridLayout>
#include <QHBoxLayout>
#include <QPushButton>
#include <QScrollArea>

#include "ui/client/activity_words.h"
#include "ui/client/plain_text.h"
#include "ui/client/status_summary.h"
#include "ui/records/day_chart.h"
#include "ui/records/run_table.h"
#include "ui/share/share_row.h"
#include "ui/widgets/parts.h"
#include "ui/widgets/question.h"
#include "ui/widgets/theme.h"

namespace potluck::ui {

using namespace control;

namespace {

constexpr std::size_t week = 7;
constexpr int narrow = 75 * grid;  // for four numbers side by side

/// Sum of the `count` days that end `before` days ago.
std::uint64_t tokensOf(const std::vector<DayRow>& days, std::size_t count, std::size_t before = 0) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < days.size(); ++i) {
        const std::size_t ago = days.size() - 1 - i;
        if (ago >= before && ago < before + count) sum += days[i].tokens;
    }
    return sum;
}

/// Seconds in which the power could not be read are taken to be like the others.
QString energyOf(const EnergySpan& span) {
    if (span.trained_seconds < 1) return ContributionPage::tr("nothing trained");
    const QString lasted = lastedText(static_cast<std::int64_t>(span.trained_seconds));
    if (span.measured_seconds <= 0) return ContributionPage::tr("not measurable here; %1 of training").arg(lasted);
    const double joules = span.joules * span.trained_seconds / span.measured_seconds;
    return ContributionPage::tr("about %1 in %2 of training").arg(energyText(joules), lasted);
}

QString energyNote(const Energy& energy) {
    if (energy.total.measured_seconds <= 0) {
        return ContributionPage::tr(
            "Energy is the power of what trains, times the time. This computer does not report the power of what "
            "trains.");
    }
    return ContributionPage::tr(
               "Energy is the power of what trains, times the time. It could be read in %1 of that time; the rest "
               "is taken to be alike. A processor's power is that of all programs.")
        .arg(percent(energy.total.measured_seconds / energy.total.trained_seconds));
}

/// What the person gave to a run, with the way to it while they are in it.
ShareCard shareOf(const KnownRun& run, const NodeSnapshot& node) {
    if (run.my_rounds == 0) return {};
    const int rounds = static_cast<int>(std::min<std::uint64_t>(run.my_rounds, 1'000'000));
    ShareCard card{
        .title = ContributionPage::tr("I gave %1 tokens to “%2”").arg(shortCount(run.my_tokens), runTitle(run)),
        .lines = {ContributionPage::tr("trained in %n round(s), together with others", nullptr, rounds)},
        .link = {}};
    if (node.run && node.run->id == run.id) card.link = QString::fromStdString(node.run->link);
    return card;
}

}  // namespace

ContributionPage::ContributionPage(NodeClient& client, const Desktop& desktop, QWidget* parent)
    : QWidget(parent), m_client(client) {
    const auto [scroll, scrolled, cards] = makeScrolledCards(this);
    cards->addWidget(makeTiles());
    cards->addWidget(makeDaysCard());
    cards->addWidget(makeEnergyCard());
    cards->addWidget(makeRunsCard(desktop));
    cards->addStretch(1);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(2 * grid);
    column->addWidget(makeLabel(tr("Your contribution"), "title", this));
    column->addWidget(scroll, 1);
    connect(&client, &NodeClient::changed, this, &ContributionPage::refresh);
    connect(&client, &NodeClient::recordsChanged, this, &ContributionPage::refreshRecords);
    connect(&client, &NodeClient::refused, this, [this](Method method, const QString& sentence) {
        if (method == method_of<Rejoin>) showOrHide(m_outcome, sentence);
        refreshButtons();
    });
    connect(&client, &NodeClient::done, this, [this](Method method) {
        if (method == method_of<Rejoin>) emit homeAsked();
        refreshButtons();
    });
    refreshEnergy();
    refreshRecords();
}

QWidget* ContributionPage::makeTiles() {
    auto* tiles = new QWidget(this);
    m_tiles = new QGridLayout(tiles);
    m_tiles->setContentsMargins(0, 0, 0, 0);
    m_tiles->setSpacing(grid + 4);
    m_today = new StatTile(tr("Today"), tr("Accepted and credited to you since midnight, in all runs"), tiles);
    m_week = new StatTile(tr("Last 7 days"), tr("Today and the six days before it, in all runs"), tiles);
    m_total = new StatTile(tr("In total"), tr("Everything that was ever credited to you in the runs below"), tiles);
    m_runs = new StatTile(tr("Runs"), tr("Runs that this computer was in"), tiles);
    arrangeTiles();
    return tiles;
}

/// Side by side where there is room, else two by two.
void ContributionPage::arrangeTiles() {
    const int columns = width() < narrow ? 2 : 4;
    int place = 0;
    for (StatTile* tile : {m_today, m_week, m_total, m_runs}) {
        m_tiles->addWidget(tile, place / columns, place % columns);
        ++place;
    }
    for (int column = 0; column < 4; ++column) m_tiles->setColumnStretch(column, column < columns ? 1 : 0);
}

void ContributionPage::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    arrangeTiles();
}

QFrame* ContributionPage::makeDaysCard() {
    QFrame* card = makeCard(this);
    QBoxLayout* column = cardLayout(card);
    column->addWidget(makeLabel(tr("By day"), "heading", card));
    m_chart = new DayChart(card);
    m_chart->setObjectName(QStringLiteral("days"));
    m_chart->setMinimumHeight(20 * grid);
    column->addWidget(m_chart, 1);
    column->addWidget(makeWrappedLabel(tr("Daily bars: this computer. Totals: all your computers."), "small", card));
    return card;
}

QFrame* ContributionPage::makeEnergyCard() {
    QFrame* card = makeCard(this);
    QBoxLayout* column = cardLayout(card);
    column->addWidget(makeLabel(tr("Time and energy on this computer"), "heading", card));
    auto* figures = new FigureTable(card);
    m_energyToday = figures->add(tr("Today"), "energyToday");
    m_energyMonth = figures->add(tr("This month"), "energyMonth");
    m_energyTotal = figures->add(tr("In total"), "energyTotal");
    column->addWidget(figures);
    m_energyNote = makeWrappedLabel({}, "small", card);
    m_energyNote->setObjectName(QStringLiteral("energyNote"));
    column->addWidget(m_energyNote);
    return card;
}

void ContributionPage::refreshEnergy() {
    const Energy energy = m_client.view().snapshot.energy.value_or(Energy{});
    m_energyToday->setText(energyOf(energy.today));
    m_energyMonth->setText(energyOf(energy.month));
    m_energyTotal->setText(energyOf(energy.total));
    showOrHide(m_energyNote, energy.total.trained_seconds < 1 ? QString() : energyNote(energy));
}

QFrame* ContributionPage::makeRunsCard(const Desktop& desktop) {
    QFrame* card = makeCard(this);
    QBoxLayout* column = cardLayout(card);
    auto* head = new QHBoxLayout;
    head->addWidget(makeLabel(tr("By run"), "heading", card), 1);
    m_rejoin = makeButton(tr("&Join again"), {}, Emphasis::normal, card);
    m_rejoin->setObjectName(QStringLiteral("rejoin"));
    m_rejoin->setAccessibleDescription(tr("Joins the selected run again."));
    head->addWidget(m_rejoin);
    column->addLayout(head);
    m_table = new RunTable(
        {RunModel::tokens_column, RunModel::rounds_column, RunModel::rank_column, RunModel::last_column}, card);
    m_table->setObjectName(QStringLiteral("pastRuns"));
    column->addWidget(m_table);
    m_outcome = makeWrappedLabel({}, "problem", card);
    m_outcome->setObjectName(QStringLiteral("rejoinOutcome"));
    m_outcome->hide();
    column->addWidget(m_outcome);
    m_share = new ShareRow(desktop, card);
    column->addWidget(m_share);
    connect(m_rejoin, &QPushButton::clicked, this, &ContributionPage::askBeforeRejoining);
    connect(m_table, &RunTable::choiceChanged, this, &ContributionPage::refreshButtons);
    return card;
}

void ContributionPage::askBeforeRejoining() {
    const auto run = m_table->selected();
    if (!run) return;
    showOrHide(m_outcome, {});
    if (!isInRun(m_client.view())) return m_client.rejoin(run->id, OtherRun::keep);
    const QString text = tr("Joining “%1” leaves the run that this computer is in. Training there since the last round "
                            "is lost; your credit stays.")
                             .arg(runTitle(*run));
    ask({.title = tr("Switch to the other run?"), .text = text, .yes = tr("S&witch"), .no = tr("&Stay")}, this,
        [this, id = run->id] { m_client.rejoin(id, OtherRun::leave); });
}

void ContributionPage::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    showOrHide(m_outcome, {});
    m_client.requestRecords();
}

void ContributionPage::refresh() {
    const NodeView& view = m_client.view();
    const std::optional<std::uint64_t> round = isInRun(view) ? std::optional(view.snapshot.run->round) : std::nullopt;
    if (isVisible() && round != std::exchange(m_askedIn, round)) m_client.requestRecords();
    refreshEnergy();
    refreshButtons();
}

void ContributionPage::refreshRecords() {
    const NodeView& view = m_client.view();
    const std::uint64_t now = tokensOf(view.days, week), before = tokensOf(view.days, week, week);
    m_today->show(shortCount(tokensOf(view.days, 1)), tr("tokens"));
    m_week->show(shortCount(now), before == 0 ? tr("tokens") : tr("%1 in the 7 days before").arg(shortCount(before)));
    std::uint64_t tokens = 0, rounds = 0;
    for (const KnownRun& run : view.runs) {
        tokens += run.my_tokens;
        rounds += run.my_rounds;
    }
    m_total->show(shortCount(tokens), tr("%n round(s)", nullptr, static_cast<int>(rounds)));
    const auto given =
        std::count_if(view.runs.begin(), view.runs.end(), [](const KnownRun& run) { return run.my_rounds > 0; });
    m_runs->show(fullCount(view.runs.size()), tr("credited in %n", nullptr, static_cast<int>(given)));
    m_chart->show(view.days);
    m_table->show(view.runs);
    refreshButtons();
}

void ContributionPage::refreshButtons() {
    const auto run = m_table->selected();
    const bool up = m_client.view().link.state == Link::State::up;
    m_share->setCard(run ? shareOf(*run, m_client.view().snapshot) : ShareCard());
    m_rejoin->setEnabled(up && run && !run->is_open && !run->name.empty() && !m_client.waitsFor(method_of<Rejoin>));
}

}  // namespace potluck::ui
