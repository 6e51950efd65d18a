#include "ui/resources/programs_card.h"

#include <iterator>

#include <QBoxLayout>
#include <QLabel>

#include "ui/client/plain_text.h"
#include "ui/widgets/parts.h"
#include "ui/widgets/theme.h"

namespace potluck::ui {

using namespace control;

namespace {

constexpr int path_characters_max = 300, version_characters_max = 40;
// A node has one trainer, and others for as long as they answer a question.
constexpr qsizetype lines_max = 16;

QString titleOf(ProgramKind kind) {
    switch (kind) {
        case ProgramKind::node: return ProgramsCard::tr("Background program: the network, the rounds and the files");
        case ProgramKind::trainer: return ProgramsCard::tr("Training program: it computes");
        case ProgramKind::question: return ProgramsCard::tr("Training program that answers a question and ends");
        case ProgramKind::other: break;
    }
    return ProgramsCard::tr("Another program that Potluck has started");
}

QString factsOf(const QString& version, qint64 process, quint64 resident) {
    if (process == 0) return ProgramsCard::tr("not running");
    QStringList facts;
    if (!version.isEmpty()) facts << ProgramsCard::tr("version %1").arg(version);
    facts << ProgramsCard::tr("process %1").arg(process);
    if (resident > 0) facts << ProgramsCard::tr("%1 of memory").arg(sizeText(resident));
    return facts.join(QStringLiteral(", "));
}

}  // namespace

ProgramsCard::ProgramsCard(NodeClient& client, const Desktop& desktop, QWidget* parent)
    : QFrame(parent), m_client(client), m_desktop(desktop) {
    setObjectName(QStringLiteral("card"));
    QBoxLayout* column = cardLayout(this);
    column->addWidget(makeLabel(tr("Programs that run"), "heading", this));
    column->addWidget(
        makeWrappedLabel(tr("Nothing that arrives from a run is executed: it is data, models and messages. The part "
                            "that trains is the one program that Potluck may download, when you ask it to, and only "
                            "with its makers' signature."),
                         "muted", this));
    m_list = new QWidget(this);
    m_list->setObjectName(QStringLiteral("programList"));
    m_column = new QVBoxLayout(m_list);
    m_column->setContentsMargins(0, 0, 0, 0);
    m_column->setSpacing(grid / 2);
    column->addWidget(m_list);
    m_complete = makeWrappedLabel({}, "muted", this);
    m_complete->setObjectName(QStringLiteral("programsComplete"));
    column->addWidget(m_complete);
    connect(&client, &NodeClient::changed, this, &ProgramsCard::refresh);
    refresh();
}

/// Without a node there is nothing but the window.
std::vector<ProgramsCard::Line> ProgramsCard::lines() const {
    std::vector<Line> lines;
    if (m_desktop.own_program) {
        const OwnProgram own = m_desktop.own_program();
        lines.push_back({QStringLiteral("window"), tr("Window"), factsOf(own.version, own.process, own.resident),
                         plainText(own.path, path_characters_max)});
    }
    const NodeView& view = m_client.view();
    const bool up = view.link.state == Link::State::up;
    std::vector<ProgramRow> rows{{.kind = ProgramKind::node}, {.kind = ProgramKind::trainer}};
    if (up && view.snapshot.programs) rows = view.snapshot.programs->rows;
    for (const ProgramRow& row : rows) {
        if (std::ssize(lines) >= lines_max) break;
        lines.push_back({QString::fromUtf8(name_of(row.kind)), titleOf(row.kind),
                         factsOf(plainText(row.version, version_characters_max), row.process, row.resident),
                         plainText(row.path, path_characters_max)});
    }
    return lines;
}

void ProgramsCard::refresh() {
    const NodeView& view = m_client.view();
    const bool told = view.link.state == Link::State::up && view.snapshot.programs.has_value();
    const std::vector<Line> shown = lines();
    QStringList titles;
    for (const Line& line : shown) titles << line.title;
    if (titles != m_titles) {
        m_titles = titles;
        m_labels.clear();
        qDeleteAll(m_list->findChildren<QWidget*>(Qt::FindDirectChildrenOnly));
        for (const Line& line : shown) addLine(line);
    }
    for (std::size_t i = 0; i < shown.size(); ++i) {
        m_labels[i].facts->setText(shown[i].facts);
        showOrHide(m_labels[i].path, shown[i].path);
    }
    const bool complete = told && view.snapshot.programs->complete;
    const QString sentence =
        complete
            ? tr("Nothing else is running.")
            : tr("These are the programs that Potluck knows of; this system does not tell what they have started.");
    showOrHide(m_complete, told ? sentence : QString());
}

void ProgramsCard::addLine(const Line& line) {
    m_column->addWidget(makeLabel(line.title, "strong", m_list));
    QLabel* facts = makeWrappedLabel({}, "muted", m_list);
    facts->setObjectName(QStringLiteral("program-") + line.name);
    facts->setAccessibleName(line.title);
    QLabel* path = makeWrappedLabel({}, "muted", m_list);
    path->setObjectName(QStringLiteral("path-") + line.name);
    path->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    m_column->addWidget(facts);
    m_column->addWidget(path);
    m_labels.push_back({facts, path});
}

}  // namespace potluck::ui
