#include "ui/records/left_card.h"

#include <QHBoxLayout>
#include <QPushButton>

#include "ui/client/plain_text.h"
#include "ui/client/status_summary.h"
#include "ui/records/delete_question.h"
#include "ui/records/run_table.h"
#include "ui/widgets/parts.h"
#include "ui/widgets/theme.h"

namespace potluck::ui {

using namespace control;

LeftCard::LeftCard(NodeClient& client, QWidget* parent) : QFrame(parent), m_client(client) {
    setObjectName(QStringLiteral("notice"));
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(2 * grid, grid, grid, grid);
    auto* column = new QVBoxLayout;
    m_text = makeWrappedLabel({}, "strong", this);
    m_text->setObjectName(QStringLiteral("leftText"));
    m_problem = makeWrappedLabel({}, "problem", this);
    m_problem->setObjectName(QStringLiteral("leftProblem"));
    m_problem->hide();
    column->addWidget(m_text);
    column->addWidget(m_problem);
    m_delete = makeButton(tr("&Delete its files…"), {}, Emphasis::normal, this);
    m_delete->setObjectName(QStringLiteral("deleteLeft"));
    m_keep = makeButton(tr("&Keep them"), {}, Emphasis::quiet, this);
    m_keep->setObjectName(QStringLiteral("keepLeft"));
    row->addLayout(column, 1);
    row->addWidget(m_delete);
    row->addWidget(m_keep);
    hide();
    connect(m_delete, &QPushButton::clicked, this, &LeftCard::askBeforeDeleting);
    connect(m_keep, &QPushButton::clicked, this, [this] {
        m_isLeft = false;
        m_run.clear();
        refresh();
    });
    connect(&client, &NodeClient::changed, this, &LeftCard::follow);
    connect(&client, &NodeClient::recordsChanged, this, &LeftCard::refresh);
    connect(&client, &NodeClient::refused, this, [this](Method method, const QString& sentence) {
        if (method != method_of<DeleteRunFiles> || !std::exchange(m_deletes, false)) return;
        showOrHide(m_problem, sentence);
        refresh();
    });
    connect(&client, &NodeClient::done, this, [this](Method method) {
        if (method != method_of<DeleteRunFiles> || !std::exchange(m_deletes, false)) return;
        m_isLeft = false;
        m_run.clear();
        refresh();
    });
}

void LeftCard::follow() {
    const NodeView& view = m_client.view();
    if (view.link.state != Link::State::up) return;
    if (isInRun(view)) {
        m_run = view.snapshot.run->id;
        m_isLeft = false;
        return refresh();
    }
    if (m_run.empty()) return;
    if (!m_isLeft) {
        m_isLeft = true;
        showOrHide(m_problem, {});
        m_client.requestRecords();
    }
}

std::optional<KnownRun> LeftCard::left() const {
    if (!m_isLeft) return std::nullopt;
    for (const KnownRun& run : m_client.view().runs) {
        if (run.id == m_run && !run.is_open && run.bytes > 0) return run;
    }
    return std::nullopt;
}

void LeftCard::refresh() {
    const auto run = left();
    setVisible(run.has_value());
    if (!run) return;
    const QString size = sizeText(run->bytes);
    m_text->setText(
        tr("You left “%1”. Its files take %2 here; your credit stays without them.").arg(runTitle(*run), size));
    m_delete->setEnabled(!m_deletes);
}

void LeftCard::askBeforeDeleting() {
    const auto run = left();
    if (!run) return;
    const QString text = tr("Joining “%1” again fetches what is needed.").arg(runTitle(*run));
    askToDelete(*run, text, this, [this, id = run->id] {
        m_deletes = true;
        m_client.deleteRunFiles(id);
        refresh();
    });
}

}  // namespace potluck::ui
