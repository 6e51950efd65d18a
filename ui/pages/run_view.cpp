// Built once, then only refreshed: refresh() copies the client's view into the widgets, and refreshCurve() into the
// chart, which comes with rounds and not with every status. Names of the run and its members were chosen by strangers,
// so they are shown as plain text cut to a length.
//
// Refusals of the verbs that this page offers appear as a notice in it, in the node's own words. Leaving throws away
// the current window's training, so it asks, with staying as the default; finishing the round first is the other entry
// of the same menu.
#include "ui/pages/run_view.h"

#include <QCheckBox>
#include <QClipboard>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QLocale>
#include <QMenu>
#include <QResizeEvent>

#include "ui/client/measure_words.h"
#include "ui/client/plain_text.h"
#include "ui/client/status_summary.h"
#include "ui/find/after_run_card.h"
#include "ui/hosting/succession_words.h"
#include "ui/join/stay_card.h"
#include "ui/members/members_card.h"
#include "ui/model/end_card.h"
#include "ui/pages/pause_menu.h"
#include "ui/pages/status_card.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/loss_chart.h"
#include "ui/widgets/parts.h"
#include "ui/widgets/question.h"
#include "ui/widgets/theme.h"
#include "ui/widgets/wrapping_row.h"

namespace potluck::ui {

using namespace control;

namespace {

constexpr int name_width_min = 24 * grid, tile_width_min = 15 * grid;
constexpr int beside_width_min = 80 * grid;  // chart and members beside each other; below it one above the other

}  // namespace

RunView::RunView(NodeClient& client, const Desktop& desktop, QWidget* parent) : QWidget(parent), m_client(client) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(2 * grid);
    column->addWidget(makeHeader());
    m_notice = makeWrappedLabel({}, "strong", this);
    m_notice->setObjectName(QStringLiteral("notice"));
    m_notice->hide();
    column->addWidget(m_notice);
    column->addWidget(new StayCard(client, desktop, this));
    m_status = new StatusCard(client, desktop, this);
    column->addWidget(m_status);
    auto* end = new EndCard(client, this);
    column->addWidget(end);
    connect(end, &EndCard::tryAsked, this, &RunView::modelAsked);
    connect(end, &EndCard::inviteGiven, this, &RunView::inviteGiven);
    connect(end, &EndCard::runsAsked, this, &RunView::runsAsked);
    auto* after = new AfterRunCard(client, desktop, this);
    column->addWidget(after);
    // The run is complete: nothing is lost by leaving it.
    connect(after, &AfterRunCard::joinAsked, this,
            [this](const QString& invite) { m_client.join(invite, control::OtherRun::leave); });
    column->addWidget(makeTiles());
    auto* row = new QHBoxLayout;
    m_row = row;
    row->setSpacing(2 * grid);
    row->addWidget(makeChartCard(), 5);
    auto* members = new MembersCard(client, desktop, this);
    row->addWidget(members, 3);
    // The picture likes to be wide; the chart needs the less room without the newest losses in words.
    connect(members, &MembersCard::pictureShown, this, [this, row](bool picture) {
        row->setStretch(0, picture ? 3 : 5);
        row->setStretch(1, picture ? 5 : 3);
        m_loss->setVisible(!picture);
    });
    column->addLayout(row, 1);
    connect(&client, &NodeClient::changed, this, &RunView::refresh);
    connect(&client, &NodeClient::curveChanged, this, &RunView::refreshCurve);
    connect(&client, &NodeClient::inviteReady, this, &RunView::copyInvite);
    connect(&client, &NodeClient::refused, this, [this](Method method, const QString& sentence) {
        const bool ours = method == method_of<Leave> || method == method_of<Finish> ||
                          method == method_of<MakeInvite> || method == method_of<Pause> || method == method_of<Resume>;
        if (ours) showOrHide(m_notice, sentence);
    });
    refresh();
    refreshCurve();
}

QWidget* RunView::makeHeader() {
    auto* header = new QWidget(this);
    auto* row = new WrappingRow(header);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(grid);
    auto* textColumn = new QVBoxLayout;
    textColumn->setSpacing(2);
    m_name = makeLabel({}, "title", header);
    m_name->setObjectName(QStringLiteral("runName"));
    m_name->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    m_about = makeLabel({}, "muted", header);
    m_about->setObjectName(QStringLiteral("runPurpose"));
    m_about->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    textColumn->addWidget(m_name);
    textColumn->addWidget(m_about);
    row->addStretching(textColumn, name_width_min);
    m_invite = makeButton(tr("&Copy invite"), iconNamed(QStringLiteral("share")), Emphasis::normal, header);
    m_invite->setObjectName(QStringLiteral("copyInvite"));
    connect(m_invite, &QPushButton::clicked, this, [this] { m_client.requestInvite(); });
    row->add(m_invite);
    auto* pause = new PauseButton(m_client, header);
    pause->setObjectName(QStringLiteral("pause"));
    row->add(pause);
    m_more = makeButton({}, iconNamed(QStringLiteral("more")), Emphasis::normal, header);
    m_more->setObjectName(QStringLiteral("more"));
    m_more->setAccessibleName(tr("Leave the run"));
    m_more->setToolTip(tr("Leave the run"));
    auto* menu = new QMenu(m_more);
    fillMenu(*menu);
    m_more->setMenu(menu);
    row->add(m_more);
    return header;
}

void RunView::resizeEvent(QResizeEvent* event) {
    const bool beside = event->size().width() >= beside_width_min;
    m_row->setDirection(beside ? QBoxLayout::LeftToRight : QBoxLayout::TopToBottom);
    QWidget::resizeEvent(event);
}

void RunView::fillMenu(QMenu& menu) {
    m_finish = menu.addAction(iconNamed(QStringLiteral("flag")), tr("&Finish this round, then leave"), this,
                              [this] { m_client.finishRound(); });
    m_leave = menu.addAction(iconNamed(QStringLiteral("leave")), tr("&Leave now…"), this, &RunView::askBeforeLeaving);
}

void RunView::askBeforeLeaving() {
    const bool trains = actionsOf(m_client.view()).has(status::Action::finish);
    const QString kept = trains ? tr("Training since the last round is lost. Your credit and your identity stay.")
                                : tr("Your credit and your identity stay, and the invite brings you back.");
    const auto& run = m_client.view().snapshot.run;
    const QString succession =
        run && run->succession ? carriersText(*run->succession).text + QLatin1Char(' ') : QString();
    ask({.title = tr("Leave the run?"), .text = succession + kept, .yes = tr("&Leave"), .no = tr("&Stay")}, this,
        [this] { m_client.leave(); });
}

QWidget* RunView::makeTiles() {
    auto* tiles = new QWidget(this);
    auto* row = new WrappingRow(tiles);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(grid + 4);
    m_today = new StatTile(tr("My tokens today"), tr("Accepted and credited to you since midnight"), tiles);
    m_total = new StatTile(tr("My tokens in total"), tr("Accepted and credited to you in this run"), tiles);
    m_volunteers = new StatTile(tr("Volunteers online"), tr("Members of the run that this computer hears of"), tiles);
    m_speed = new StatTile(tr("Swarm speed"), tr("Tokens per second of all volunteers together"), tiles);
    m_round = new StatTile(tr("Round"), tr("Rounds that ended, of those planned"), tiles);
    for (StatTile* tile : {m_today, m_total, m_volunteers, m_speed, m_round}) row->addStretching(tile, tile_width_min);
    return tiles;
}

QWidget* RunView::makeChartCard() {
    QFrame* card = makeCard(this);
    QBoxLayout* column = cardLayout(card);
    auto* head = new WrappingRow;
    head->setSpacing(grid);
    head->addStretching(makeLabel(tr("What it has learned"), "heading", card), 14 * grid);
    m_loss = makeLabel({}, "muted", card);
    head->add(m_loss);
    auto* training = new QCheckBox(tr("In trainin&g"), card);
    training->setObjectName(QStringLiteral("trainingLoss"));
    const QString apart =
        tr("Shows how the members do on the text that they train on, instead of the model on text that nobody trains "
           "on. The two cannot be compared.");
    training->setToolTip(literalText(apart));
    training->setAccessibleDescription(apart);
    head->add(training);
    auto* smooth = new QCheckBox(tr("S&mooth"), card);
    smooth->setObjectName(QStringLiteral("smoothLoss"));
    smooth->setAccessibleDescription(tr("Draws the members' curve averaged over a few rounds."));
    head->add(smooth);
    auto* tokens = new QCheckBox(tr("By to&kens"), card);
    tokens->setObjectName(QStringLiteral("lossByTokens"));
    tokens->setAccessibleDescription(
        tr("Draws the curve over the tokens that the run was trained on, instead of its rounds."));
    head->add(tokens);
    column->addLayout(head);
    m_meaning = makeWrappedLabel({}, "muted", card);
    m_meaning->setObjectName(QStringLiteral("lossMeaning"));
    column->addWidget(m_meaning);
    m_chart = new LossChart(card);
    column->addWidget(m_chart, 1);
    m_measures = makeWrappedLabel({}, "muted", card);
    m_measures->setObjectName(QStringLiteral("measures"));
    m_measures->hide();
    column->addWidget(m_measures);
    connect(training, &QCheckBox::toggled, m_chart, [chart = m_chart](bool on) {
        chart->setShown(on ? LossChart::Losses::training : LossChart::Losses::validation);
    });
    connect(smooth, &QCheckBox::toggled, m_chart, [chart = m_chart](bool on) {
        chart->setSmoothing(on ? LossChart::Smoothing::light : LossChart::Smoothing::off);
    });
    connect(tokens, &QCheckBox::toggled, m_chart,
            [chart = m_chart](bool on) { chart->setAxis(on ? LossChart::Axis::tokens : LossChart::Axis::rounds); });
    return card;
}

void RunView::copyInvite(const QString& magnet) {
    QGuiApplication::clipboard()->setText(magnet);
    showOrHide(m_notice, tr("The invite is on the clipboard. Send it to the people who should join."));
}

void RunView::refresh() {
    const NodeView& view = m_client.view();
    const StatusSummary summary = summarize(view);
    m_status->show(summary);
    m_finish->setVisible(summary.actions.has(status::Action::finish));
    m_leave->setVisible(summary.actions.has(status::Action::leave));
    m_more->setEnabled(m_finish->isVisible() || m_leave->isVisible());
    if (!isInRun(view)) {
        showOrHide(m_notice, {});
        return;
    }
    const bool over = isOver(view);
    m_invite->setVisible(!over);
    m_chart->setEmptyText(over ? tr("This computer has seen no round of this run.")
                               : tr("The curve begins when the first round ends."));
    const control::RunSnapshot& run = *view.snapshot.run;
    m_name->setText(plainText(run.name, 60));
    m_name->setToolTip(literalText(m_name->text()));
    const QString purpose = plainText(run.purpose, 300);
    m_about->setText(purpose.isEmpty() ? modelText(run.model) : purpose);
    m_about->setToolTip(literalText(modelText(run.model)));
    const auto number = [](double loss) { return QLocale().toString(loss, 'f', 3); };
    m_loss->setText(run.validation_loss > 0 ? tr("now %1").arg(number(run.validation_loss))
                    : run.loss > 0          ? tr("in training %1").arg(number(run.loss))
                                            : QString());
    explainLoss(run.baseline);
    showOrHide(m_measures, measuresText(run));
    refreshTiles(run);
}

void RunView::explainLoss(model::Baseline baseline) {
    const bool pictures = baseline == model::Baseline::mean_colour || baseline == model::Baseline::chance;
    m_meaning->setText(pictures ? tr("How far off it is on new pictures; lower is better.")
                                : tr("How surprised it is by new text; lower is better."));
    m_meaning->setToolTip(
        literalText(pictures ? tr("The loss of a picture, on pictures of the validation data.")
                             : tr("The loss in nats per token, on the validation data: the mean of -ln p, where p is "
                                  "the probability that the model gave to the token that came.")));
}

void RunView::refreshTiles(const control::RunSnapshot& run) {
    m_today->show(shortCount(run.my_tokens_today), tr("credited"));
    m_total->show(shortCount(run.my_tokens), tr("%n round(s)", nullptr, static_cast<int>(run.my_rounds)));
    const int volunteers = volunteersOnline(run);
    const int backbones = static_cast<int>(run.members.size()) - volunteers;
    m_volunteers->show(QLocale().toString(volunteers), tr("%n relay(s)", nullptr, backbones));
    m_speed->show(shortCount(run.swarm_tokens_per_second), tr("tokens per second"));
    const QString left = timeLeft(run);
    m_round->show(fullCount(run.round), run.total_rounds == 0 ? QString()
                                        : left.isEmpty()      ? tr("of %1").arg(fullCount(run.total_rounds))
                                                         : tr("of %1, %2 left").arg(fullCount(run.total_rounds), left));
}

void RunView::refreshCurve() {
    const NodeView& view = m_client.view();
    const bool inRun = isInRun(view);
    m_chart->show(view.curve, inRun ? view.snapshot.run->bigram_loss : 0,
                  inRun ? view.snapshot.run->baseline : model::Baseline::bigram);
}

}  // namespace potluck::ui
