#include "ui/hosting/jury_card.h"

#include <algorithm>

#include <QBoxLayout>
#include <QListWidget>
#include <QSignalBlocker>

#include "ui/client/plain_text.h"
#include "ui/client/status_summary.h"
#include "ui/widgets/parts.h"
#include "ui/widgets/theme.h"

namespace potluck::ui {

using namespace control;

namespace {

constexpr int figure_digits = 4;
constexpr int rows_shown = 5;

/// The name of a computer of this person, as far as one is here.
std::string nameIn(const RunSnapshot& run, const std::string& person) {
    const auto member = std::ranges::find_if(
        run.members, [&](const MemberRow& one) { return (one.person.empty() ? one.id : one.person) == person; });
    return member == run.members.end() ? std::string() : member->name;
}

}  // namespace

QString judgedText(const RunSnapshot& run, const JudgedRow& row) {
    const QString name = displayName(nameIn(run, row.id), row.id);
    QString text;
    if (row.times == 0) {
        text = JuryCard::tr("%1 – accused by %n juror(s).", nullptr, static_cast<int>(row.verdicts)).arg(name);
    } else if (row.until == 0) {
        text = JuryCard::tr("%1 – shut out until you lift it.").arg(name);
    } else {
        text = JuryCard::tr("%1 – shut out until round %2.").arg(name, fullCount(row.until));
    }
    if (!row.figures) return text;
    return text + QLatin1Char(' ') +
           JuryCard::tr("Its contributions lower the loss by %1, the median member's by %2.")
               .arg(row.figures->own, 0, 'f', figure_digits)
               .arg(row.figures->median, 0, 'f', figure_digits);
}

JuryCard::JuryCard(NodeClient& client, QWidget* parent) : QFrame(parent), m_client(client) {
    setObjectName(QStringLiteral("card"));
    QBoxLayout* column = cardLayout(this);
    column->addWidget(makeLabel(tr("Work that does not help"), "heading", this));
    column->addWidget(makeWrappedLabel(
        tr("The committee's computers measure whether contributions lower the loss. Noise shuts its sender out for 50 "
           "rounds, then for 500, then until you lift it."),
        "muted", this));
    m_rows = new QListWidget(this);
    m_rows->setObjectName(QStringLiteral("judged"));
    m_rows->setAccessibleName(tr("People whom the jury shuts out or accuses"));
    m_rows->setWordWrap(true);
    m_rows->setMaximumHeight(rows_shown * 6 * grid);
    m_rows->setTabKeyNavigation(false);
    column->addWidget(m_rows);
    m_lift = makeButton(tr("Lift the &suspension"), {}, Emphasis::normal, this);
    m_lift->setObjectName(QStringLiteral("lift"));
    column->addWidget(m_lift, 0, Qt::AlignLeft);
    connect(m_lift, &QPushButton::clicked, this, &JuryCard::liftSelected);
    connect(m_rows, &QListWidget::currentRowChanged, this, &JuryCard::refresh);
    connect(&client, &NodeClient::changed, this, &JuryCard::refresh);
    refresh();
}

void JuryCard::refresh() {
    const NodeView& view = m_client.view();
    const auto& run = view.snapshot.run;
    const std::optional<Jury> jury = run ? run->findings.jury : std::nullopt;
    setVisible(jury && !(jury->suspended.empty() && jury->accused.empty()));
    if (!jury) return;
    const QSignalBlocker silence(m_rows);
    const int selected = m_rows->currentRow();
    QStringList texts;
    m_suspended.clear();
    for (const JudgedRow& row : jury->suspended) {
        m_suspended.push_back(row.id);
        texts << judgedText(*run, row);
    }
    for (const JudgedRow& row : jury->accused) texts << judgedText(*run, row);
    // Rows stay where they are while nothing changes: a selection must not be lost each second.
    while (m_rows->count() > texts.size()) delete m_rows->takeItem(m_rows->count() - 1);
    while (m_rows->count() < texts.size()) m_rows->addItem(QString());
    for (int i = 0; i < texts.size(); ++i) m_rows->item(i)->setText(texts[i]);
    m_rows->setCurrentRow(std::min(selected, m_rows->count() - 1));
    const bool up = view.link.state == Link::State::up;
    const int row = m_rows->currentRow();
    m_lift->setEnabled(up && row >= 0 && static_cast<std::size_t>(row) < m_suspended.size());
}

void JuryCard::liftSelected() {
    const int row = m_rows->currentRow();
    if (row < 0 || static_cast<std::size_t>(row) >= m_suspended.size()) return;
    m_client.moderate(ModerationKind::lift, m_suspended[static_cast<std::size_t>(row)]);
}

}  // namespace potluck::ui
