// Deleting cannot be undone, so it asks, names the size, and has keeping as its default answer; a run that this
// computer hosts may have its only copy here, which the question says. The open run keeps its files: the button's tool
// tip says what to do first.
//
// What is shown comes with the node's answer to requestRecords(), which follows each deletion, so that a size is never
// the window's own guess. Outcome and refusal appear as a sentence below the table.
#include "ui/records/storage_page.h"

#include <QCoreApplication>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QPushButton>
#include <QScrollArea>

#include "ui/client/plain_text.h"
#include "ui/records/delete_question.h"
#include "ui/records/run_table.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/parts.h"
#include "ui/widgets/question.h"
#include "ui/widgets/theme.h"

namespace potluck::ui {

using namespace control;

namespace {

struct Tr {
    Q_DECLARE_TR_FUNCTIONS(potluck::ui::StoragePage)
};

QString titleOf(DiskKind kind) {
    switch (kind) {
        case DiskKind::runs: return Tr::tr("Runs: models, text and what is shared");
        case DiskKind::trainers: return Tr::tr("Programs that train");
        case DiskKind::ledger: return Tr::tr("Ledger: everybody's credit");
        case DiskKind::log: return Tr::tr("Logs");
        case DiskKind::other: return Tr::tr("Keys, settings and the rest");
    }
    return {};
}

}  // namespace

StoragePage::StoragePage(NodeClient& client, const Desktop& desktop, QWidget* parent)
    : QWidget(parent), m_client(client) {
    const auto [scroll, scrolled, cards] = makeScrolledCards(this);
    cards->addWidget(makePartsCard(desktop));
    cards->addWidget(makeRunsCard());
    cards->addStretch(1);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(2 * grid);
    column->addWidget(makeLabel(tr("Storage"), "title", this));
    column->addWidget(scroll, 1);
    connect(&client, &NodeClient::recordsChanged, this, &StoragePage::refreshRecords);
    connect(&client, &NodeClient::changed, this, &StoragePage::refreshButtons);
    connect(&client, &NodeClient::refused, this, [this](Method method, const QString& sentence) {
        if (method == method_of<DeleteRunFiles>) tell(sentence, "problem");
        refreshButtons();
    });
    connect(&client, &NodeClient::done, this, [this](Method method) {
        if (method == method_of<DeleteRunFiles>) {
            tell(m_deleted, "good");
            m_client.requestRecords();
        }
        refreshButtons();
    });
    refreshRecords();
}

QFrame* StoragePage::makePartsCard(const Desktop& desktop) {
    QFrame* card = makeCard(this);
    QBoxLayout* column = cardLayout(card);
    auto* head = new QHBoxLayout;
    head->addWidget(makeLabel(tr("On this disk"), "heading", card), 1);
    m_sum = makeLabel({}, "muted", card);
    m_sum->setObjectName(QStringLiteral("diskSum"));
    head->addWidget(m_sum);
    column->addLayout(head);
    for (std::size_t kind = 0; kind < names<DiskKind>.size(); ++kind) {
        auto* row = new QHBoxLayout;
        QLabel* title = makeWrappedLabel(titleOf(static_cast<DiskKind>(kind)), "strong", card);
        QLabel* size = makeLabel({}, "muted", card);
        size->setObjectName(QStringLiteral("disk-") + name_of(static_cast<DiskKind>(kind)));
        title->setBuddy(size);
        row->addWidget(title, 1);
        row->addWidget(size);
        column->addLayout(row);
        m_parts.push_back(size);
    }
    auto* row = new QHBoxLayout;
    m_folder = makeLabel({}, "small", card);
    m_folder->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    auto* open = makeButton(tr("Open data &folder"), iconNamed(QStringLiteral("open")), Emphasis::normal, card);
    open->setObjectName(QStringLiteral("openStorage"));
    m_move = makeButton(tr("&Move to another disk…"), {}, Emphasis::normal, card);
    m_move->setObjectName(QStringLiteral("moveData"));
    m_move->setAccessibleDescription(
        tr("Moves all of Potluck's data into a folder that you choose, after a question."));
    m_move->setVisible(static_cast<bool>(desktop.move_data));
    row->addWidget(m_folder, 1);
    row->addWidget(open);
    row->addWidget(m_move);
    column->addLayout(row);
    m_moved = makeWrappedLabel({}, "muted", card);
    m_moved->setObjectName(QStringLiteral("moveOutcome"));
    m_moved->hide();
    column->addWidget(m_moved);
    connect(m_move, &QPushButton::clicked, this, [this, &desktop] {
        QFileDialog* dialog = makeFileDialog(tr("A folder on another disk"), this);
        dialog->setObjectName(QStringLiteral("moveTo"));
        dialog->setFileMode(QFileDialog::Directory);
        dialog->setOption(QFileDialog::ShowDirsOnly);
        connect(dialog, &QFileDialog::fileSelected, this,
                [this, &desktop](const QString& folder) { askBeforeMoving(desktop, folder); });
        dialog->open();
    });
    connect(open, &QPushButton::clicked, this,
            [this, &desktop] { desktop.open_folder(QString::fromStdString(m_client.view().snapshot.data_folder)); });
    return card;
}

QFrame* StoragePage::makeRunsCard() {
    QFrame* card = makeCard(this);
    QBoxLayout* column = cardLayout(card);
    auto* head = new QHBoxLayout;
    head->addWidget(makeLabel(tr("Files of runs"), "heading", card), 1);
    m_delete = makeButton(tr("&Delete files…"), {}, Emphasis::normal, card);
    m_delete->setObjectName(QStringLiteral("deleteFiles"));
    m_delete->setAccessibleDescription(tr("Deletes the files of the selected run, after a question."));
    head->addWidget(m_delete);
    column->addLayout(head);
    column->addWidget(makeWrappedLabel(
        tr("A run that you left keeps its files, so that coming back is quick. Your credit stays without them."),
        "muted", card));
    m_table = new RunTable({RunModel::last_column, RunModel::disk_column}, card);
    m_table->setObjectName(QStringLiteral("storedRuns"));
    column->addWidget(m_table);
    m_outcome = makeWrappedLabel({}, "good", card);
    m_outcome->setObjectName(QStringLiteral("deleteOutcome"));
    m_outcome->hide();
    column->addWidget(m_outcome);
    connect(m_delete, &QPushButton::clicked, this, &StoragePage::askBeforeDeleting);
    connect(m_table, &RunTable::choiceChanged, this, &StoragePage::refreshButtons);
    return card;
}

void StoragePage::askBeforeMoving(const Desktop& desktop, const QString& folder) {
    const auto told = [this](const QString& sentence, const char* role) {
        setRole(m_moved, role);
        showOrHide(m_moved, plainText(sentence, 400));
    };
    const auto progressed = [told](int percent) { told(tr("Moving: %1 %").arg(percent), "muted"); };
    const auto ended = [told](const QString& problem) {
        told(problem.isEmpty() ? tr("Moved. Keep that disk attached.") : problem,
             problem.isEmpty() ? "good" : "problem");
    };
    ask({.title = tr("Move Potluck's data?"),
         .text =
             tr("Potluck stops, moves everything that stands here to %1, and goes on. It needs that disk from then on.")
                 .arg(plainText(folder, 300)),
         .yes = tr("&Move"),
         .no = tr("&Leave it here")},
        this, [&desktop, folder, progressed, ended, told] {
            told(tr("Waiting for training to end…"), "muted");
            desktop.move_data(folder, progressed, ended);
        });
}

void StoragePage::askBeforeDeleting() {
    const auto run = m_table->selected();
    if (!run) return;
    const QString text = tr("The files of “%1” take %2. Your credit stays, and joining again fetches what is needed.")
                             .arg(runTitle(*run), sizeText(run->bytes));
    askToDelete(*run, text, this, [this, chosen = *run] {
        m_deleted = tr("Deleted: “%1”, %2.").arg(runTitle(chosen), sizeText(chosen.bytes));
        m_client.deleteRunFiles(chosen.id);
        refreshButtons();
    });
}

void StoragePage::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    tell({}, "good");
    m_client.requestRecords();
}

void StoragePage::tell(const QString& sentence, const char* role) {
    setRole(m_outcome, role);
    showOrHide(m_outcome, sentence);
}

void StoragePage::refreshRecords() {
    const NodeView& view = m_client.view();
    m_table->show(view.runs);
    m_folder->setText(plainText(view.snapshot.data_folder, 300));
    if (view.disk) {
        std::uint64_t sum = 0;
        for (const DiskPart& part : view.disk->parts) {
            m_parts[static_cast<std::size_t>(part.kind)]->setText(sizeText(part.bytes));
            sum += part.bytes;
        }
        m_sum->setText(tr("%1 in all, %2 free").arg(sizeText(sum), sizeText(view.disk->free)));
    }
    refreshButtons();
}

void StoragePage::refreshButtons() {
    const auto run = m_table->selected();
    const bool up = m_client.view().link.state == Link::State::up;
    m_delete->setEnabled(up && run && !run->is_open && run->bytes > 0 && !m_client.waitsFor(method_of<DeleteRunFiles>));
    const QString obstacle = run && run->is_open ? tr("Leave this run before you delete its files.") : QString();
    m_delete->setToolTip(literalText(obstacle));
}

}  // namespace potluck::ui
