#include "ui/find/after_run_card.h"

#include <QCheckBox>
#include <QSignalBlocker>
#include <QVBoxLayout>

#include "ui/client/plain_text.h"
#include "ui/client/status_summary.h"
#include "ui/find/found_run_card.h"
#include "ui/find/found_words.h"
#include "ui/find/hidden_runs.h"
#include "ui/find/run_search.h"
#include "ui/widgets/parts.h"
#include "ui/widgets/theme.h"

namespace potluck::ui {

using namespace control;

namespace {

/// The control from which the Tab key leads to this one: setTabOrder() takes no widget that has no focus.
QWidget* focusableBefore(const QWidget* control) {
    QWidget* before = control->previousInFocusChain();
    while (before != control && before->focusPolicy() == Qt::NoFocus) before = before->previousInFocusChain();
    return before;
}

}  // namespace

AfterRunCard::AfterRunCard(NodeClient& client, const Desktop& desktop, QWidget* parent)
    : QFrame(parent), m_client(client), m_desktop(desktop) {
    m_search = new RunSearch(client, RunSearch::For::members, this);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(grid);
    m_offers = new QWidget(this);
    m_column = new QVBoxLayout(m_offers);
    m_column->setContentsMargins(0, 0, 0, 0);
    m_column->setSpacing(grid);
    m_column->addWidget(makeLabel(tr("Runs that you could help next"), "heading", m_offers));
    m_status = makeWrappedLabel({}, "muted", m_offers);
    m_status->setObjectName(QStringLiteral("nextStatus"));
    m_column->addWidget(m_status);
    column->addWidget(m_offers);
    m_goesOn = new QCheckBox(tr("When this run ends, &help any run of the lists that I follow"), this);
    m_goesOn->setObjectName(QStringLiteral("helpsLists"));
    m_goesOn->setAccessibleDescription(
        tr("Off: Potluck waits for you. On: it joins a run that one of your lists names and this computer can train."));
    m_goesOn->setToolTip(literalText(m_goesOn->accessibleDescription()));
    column->addWidget(m_goesOn, 0, Qt::AlignLeft);
    connect(m_goesOn, &QCheckBox::toggled, this, [this](bool on) { m_client.call(SetNextRun{on}); });
    connect(m_search, &RunSearch::changed, this, &AfterRunCard::refresh);
    connect(&client, &NodeClient::changed, this, &AfterRunCard::refresh);
    connect(&client, &NodeClient::devicesChanged, this, &AfterRunCard::refresh);
    refresh();
}

std::vector<FoundRun> AfterRunCard::fitting(const FoundRuns& found, const NodeView& view, const Desktop& desktop) {
    std::vector<FoundRun> runs;
    const std::string own = view.snapshot.run ? view.snapshot.run->id : std::string();
    for (const FoundRun& run : found.rows) {
        if (runs.size() == runs_shown_max) break;
        if (run.id == own || isHiddenRun(desktop, run) || run.round >= run.total_rounds) continue;
        if (fitOf(run, view.devices) != Fit::no) runs.push_back(run);
    }
    return runs;
}

void AfterRunCard::refresh() {
    const NodeView& view = m_client.view();
    const bool in = isInRun(view);
    const bool over = in && view.snapshot.why.reason == status::Reason::run_complete;
    setVisible(in);
    if (over)
        m_search->look();
    else
        m_search->rest();
    m_offers->setVisible(over);
    const QSignalBlocker quiet(m_goesOn);
    m_goesOn->setEnabled(view.link.state == Link::State::up);
    if (!m_client.waitsFor(method_of<SetNextRun>)) m_goesOn->setChecked(view.snapshot.helps_lists);
    refreshCards(over);
}

void AfterRunCard::refreshCards(bool over) {
    const std::vector<FoundRun> runs =
        over ? fitting(m_search->found(), m_client.view(), m_desktop) : std::vector<FoundRun>();
    while (m_cards.size() > runs.size()) {
        m_cards.back()->hide();
        m_cards.back()->deleteLater();
        m_cards.pop_back();
    }
    while (m_cards.size() < runs.size()) {
        auto* card = new FoundRunCard(m_client, m_offers);
        connect(card, &FoundRunCard::joinAsked, this, &AfterRunCard::joinAsked);
        connect(card, &FoundRunCard::hideRunAsked, this, [this](const QString& id) {
            hideRun(m_desktop, id);
            refresh();
        });
        connect(card, &FoundRunCard::hideHostAsked, this, [this](const QString& id) {
            hideHost(m_desktop, id);
            refresh();
        });
        m_column->addWidget(card);
        // A card that comes later than the switch stands above it all the same.
        setTabOrder(card->tabAfter(focusableBefore(m_goesOn)), m_goesOn);
        m_cards.push_back(card);
    }
    for (std::size_t i = 0; i < runs.size(); ++i) m_cards[i]->setRun(runs[i]);
    if (!over) return;
    m_status->setText(!runs.empty()            ? tr("Preview one, or join it: that leaves the finished run.")
                      : !m_search->hasLooked() ? tr("Looking for runs that want company…")
                                               : tr("No run that this computer can train is announced now."));
}

}  // namespace potluck::ui
