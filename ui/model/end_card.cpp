#include "ui/model/end_card.h"

#include <QHBoxLayout>

#include "ui/client/plain_text.h"
#include "ui/client/status_summary.h"
#include "ui/model/save_model.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/parts.h"
#include "ui/widgets/theme.h"

namespace potluck::ui {

using namespace control;

EndCard::EndCard(NodeClient& client, QWidget* parent) : QFrame(parent), m_client(client) {
    setObjectName(QStringLiteral("card"));
    QBoxLayout* column = cardLayout(this);
    column->addWidget(makeLabel(tr("The model is finished"), "heading", this));
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
    row->addStretch(1);
    column->addLayout(row);
    m_outcome = makeWrappedLabel({}, "muted", this);
    m_outcome->setObjectName(QStringLiteral("saveFinishedOutcome"));
    m_outcome->hide();
    column->addWidget(m_outcome);
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

void EndCard::refresh() {
    const NodeView& view = m_client.view();
    const bool over = isInRun(view) && view.snapshot.why.reason == status::Reason::run_complete;
    setVisible(over);
    if (!over) return showOrHide(m_outcome, {});
    m_save->setEnabled(!m_client.waitsFor(method_of<ExportModel>));
    const RunSnapshot& run = *view.snapshot.run;
    if (run.my_tokens == 0 || run.accepted_tokens == 0)
        return m_share->setText(tr("%1 tokens of everybody together made it.").arg(shortCount(run.accepted_tokens)));
    const double share = static_cast<double>(run.my_tokens) / static_cast<double>(run.accepted_tokens);
    const QString rounds = tr("%n round(s)", nullptr, static_cast<int>(run.my_rounds));
    m_share->setText(tr("You gave %1 of it: %2 tokens in %3.").arg(percent(share), shortCount(run.my_tokens), rounds));
}

}  // namespace potluck::ui
