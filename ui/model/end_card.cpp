#include "ui/model/end_card.h"

#include <algorithm>

#include <QHBoxLayout>
#include <QLocale>

#include "ui/client/measure_words.h"
#include "ui/client/plain_text.h"
#include "ui/client/status_summary.h"
#include "ui/model/save_model.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/invite_line.h"
#include "ui/widgets/parts.h"
#include "ui/widgets/theme.h"

namespace potluck::ui {

using namespace control;

namespace {

/// What came out: the rounds, the model, and its loss beside the baseline.
QString outcomeText(const RunSnapshot& run) {
    const QString rounds =
        EndCard::tr("%n round(s)", nullptr, static_cast<int>(std::min<std::uint64_t>(run.round, 1'000'000)));
    QString text = EndCard::tr("%1, trained in %2.").arg(modelText(run.model), rounds);
    const double loss = run.validation_loss > 0 ? run.validation_loss : run.loss;
    if (loss <= 0) return text;
    const QString number = QLocale().toString(loss, 'f', 2);
    text += QLatin1Char(' ');
    text += run.validation_loss > 0 ? EndCard::tr("Loss on new text: %1.").arg(number)
                                    : EndCard::tr("Loss in training: %1.").arg(number);
    if (run.validation_loss <= 0 || run.bigram_loss <= 0) return text;
    text += QLatin1Char(' ');
    return text + EndCard::tr("The baseline has %1; lower is better.").arg(QLocale().toString(run.bigram_loss, 'f', 2));
}

}  // namespace

EndCard::EndCard(NodeClient& client, QWidget* parent) : QFrame(parent), m_client(client) {
    setObjectName(QStringLiteral("card"));
    QBoxLayout* column = cardLayout(this);
    column->addWidget(makeLabel(tr("The model is finished"), "heading", this));
    m_outcomeOfRun = makeWrappedLabel({}, "muted", this);
    m_outcomeOfRun->setObjectName(QStringLiteral("runOutcome"));
    column->addWidget(m_outcomeOfRun);
    m_share = makeWrappedLabel({}, "strong", this);
    m_share->setObjectName(QStringLiteral("share"));
    column->addWidget(m_share);
    auto* row = new QHBoxLayout;
    auto* attempt = makeButton(tr("&Try it"), {}, Emphasis::primary, this);
    attempt->setObjectName(QStringLiteral("tryModel"));
    m_save = makeButton(tr("&Save the model…"), iconNamed(QStringLiteral("flag")), Emphasis::normal, this);
    m_save->setObjectName(QStringLiteral("saveFinished"));
    row->addWidget(attempt);
    row->addWidget(m_save);
    auto* next = makeButton(tr("&Next run…"), {}, Emphasis::normal, this);
    next->setObjectName(QStringLiteral("nextRun"));
    row->addWidget(next);
    row->addStretch(1);
    column->addLayout(row);
    m_outcome = makeWrappedLabel({}, "muted", this);
    m_outcome->setObjectName(QStringLiteral("saveFinishedOutcome"));
    m_outcome->hide();
    column->addWidget(m_outcome);
    m_next = makeNext();
    column->addWidget(m_next);
    connect(next, &QPushButton::clicked, this, [this] {
        m_next->show();
        m_invite->setFocus();
    });
    connect(attempt, &QPushButton::clicked, this, &EndCard::tryAsked);
    connect(m_save, &QPushButton::clicked, this, [this] { askWhereToSave(m_client, this); });
    connect(&client, &NodeClient::changed, this, &EndCard::refresh);
    connect(&client, &NodeClient::modelSaved, this, [this](const ExportedFiles& files, const QString& folder) {
        showOrHide(m_outcome, savedText(files, folder));
    });
    connect(&client, &NodeClient::refused, this, [this](Method method, const QString& sentence) {
        if (method == method_of<ExportModel>) showOrHide(m_outcome, sentence);
    });
    refresh();
}

/// The field of the next invite; it waits until it is asked for.
QWidget* EndCard::makeNext() {
    auto* next = new QWidget(this);
    auto* column = new QVBoxLayout(next);
    column->setContentsMargins(0, grid, 0, 0);
    auto* label = makeLabel(tr("&Invite to the next run"), "strong", next);
    m_invite = new InviteLine("nextInvite", next);
    label->setBuddy(m_invite);
    auto* go = makeButton(tr("&Join a run"), {}, Emphasis::normal, next);
    go->setObjectName(QStringLiteral("nextGo"));
    auto* mine = makeButton(tr("One of &my runs"), {}, Emphasis::quiet, next);
    mine->setObjectName(QStringLiteral("nextMine"));
    mine->setAccessibleDescription(tr("Shows the runs that you were in; one that goes on is joined again there."));
    auto* row = new QHBoxLayout;
    row->setSpacing(grid);
    row->addWidget(m_invite, 1);
    row->addWidget(go);
    row->addWidget(mine);
    m_problem = makeWrappedLabel({}, "problem", next);
    m_problem->setObjectName(QStringLiteral("nextProblem"));
    m_problem->hide();
    column->addWidget(label);
    column->addLayout(row);
    column->addWidget(m_problem);
    connect(go, &QPushButton::clicked, this, &EndCard::giveInvite);
    connect(m_invite, &QLineEdit::returnPressed, this, &EndCard::giveInvite);
    connect(m_invite, &QLineEdit::textChanged, this, [this] { showOrHide(m_problem, {}); });
    connect(mine, &QPushButton::clicked, this, &EndCard::runsAsked);
    next->hide();
    return next;
}

void EndCard::giveInvite() {
    if (const QString problem = m_invite->problem(); !problem.isEmpty()) return showOrHide(m_problem, problem);
    emit inviteGiven(m_invite->link());
}

void EndCard::refresh() {
    const NodeView& view = m_client.view();
    const bool over = isInRun(view) && view.snapshot.why.reason == status::Reason::run_complete;
    setVisible(over);
    if (!over) {
        m_next->hide();
        m_invite->clear();
        return showOrHide(m_outcome, {});
    }
    m_save->setEnabled(!m_client.waitsFor(method_of<ExportModel>));
    const RunSnapshot& run = *view.snapshot.run;
    m_outcomeOfRun->setText(outcomeText(run));
    if (run.my_tokens == 0 || run.accepted_tokens == 0)
        return m_share->setText(tr("%1 tokens of everybody together made it.").arg(shortCount(run.accepted_tokens)));
    const double share = static_cast<double>(run.my_tokens) / static_cast<double>(run.accepted_tokens);
    const QString rounds = tr("%n round(s)", nullptr, static_cast<int>(run.my_rounds));
    m_share->setText(tr("You gave %1 of it: %2 tokens in %3.").arg(percent(share), shortCount(run.my_tokens), rounds));
}

}  // namespace potluck::ui
