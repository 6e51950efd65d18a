// The card holds no secret longer than it shows it. Recovery words are asked of the node when the person presses the
// button, thrown away if the card was hidden before they came, and cleared when it is hidden: a page that is opened
// again shows nothing the next person at the screen could read.
//
// Import replaces the key and with it the credit, so it asks first, with keeping as the default answer. Dialogs are
// opened, never executed: they delete themselves, and the window goes on reading snapshots meanwhile. Outcomes appear
// as a sentence in the card. All controls are off while no node answers.
#include "ui/pages/identity_card.h"

#include <QClipboard>
#include <QFileDialog>
#include <QGuiApplication>
#include <QHBoxLayout>

#include "ui/client/plain_text.h"
#include "ui/pages/words_dialog.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/parts.h"
#include "ui/widgets/question.h"
#include "ui/widgets/theme.h"
#include "ui/widgets/wrapping_row.h"

namespace potluck::ui {

using namespace control;

IdentityCard::IdentityCard(NodeClient& client, QWidget* parent) : QFrame(parent), m_client(client) {
    setObjectName(QStringLiteral("card"));
    QBoxLayout* column = cardLayout(this);
    column->addWidget(makeLabel(tr("Identity"), "heading", this));
    column->addWidget(makeWrappedLabel(
        tr("Your credit belongs to this key. Keep a copy: import it on another computer, and both train for you."),
        "muted", this));
    auto* row = new QHBoxLayout;
    m_id = makeLabel({}, "strong", this);
    m_id->setObjectName(QStringLiteral("id"));
    m_id->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    m_id->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    auto* copy = makeButton(tr("&Copy"), iconNamed(QStringLiteral("copy")), Emphasis::quiet, this);
    copy->setAccessibleName(tr("Copy the id"));
    connect(copy, &QPushButton::clicked, this, [this] { QGuiApplication::clipboard()->setText(m_id->text()); });
    row->addWidget(m_id, 1);
    row->addWidget(copy);
    column->addLayout(row);
    column->addWidget(makeWords());
    column->addWidget(makeButtons());
    m_outcome = makeWrappedLabel({}, "good", this);
    m_outcome->setObjectName(QStringLiteral("outcome"));
    m_outcome->hide();
    column->addWidget(m_outcome);
    connect(&client, &NodeClient::changed, this, &IdentityCard::refresh);
    connect(&client, &NodeClient::identityShown, this, [this](const QString&, const QString& words) {
        if (!std::exchange(m_wordsAsked, false)) return;
        showOrHide(m_words, plainText(words, 600));
        showOrHide(m_wordsHint, tr("Write them down on paper. Anybody who has them can act as you."));
        m_toggle->setText(tr("Hide recovery &words"));
    });
    connect(&client, &NodeClient::refused, this, [this](Method method, const QString& sentence) {
        if (method == method_of<ShowIdentity> || method == method_of<ExportIdentity> ||
            method == method_of<ImportIdentity> || method == method_of<ImportIdentityWords>)
            tell(sentence, "problem");
    });
    connect(&client, &NodeClient::done, this, [this](Method method) {
        if (method == method_of<ExportIdentity>)
            tell(tr("The identity is in %1; keep it where only you can read it.").arg(plainText(m_exportedTo, 200)),
                 "good");
        const QString kept = u' ' + tr("It has a key of its own, so that your other computers may train beside it. The "
                                       "identity it had is kept in the data folder.");
        if (method == method_of<ImportIdentity>)
            tell(tr("This computer now uses the identity of the file.") + kept, "good");
        if (method == method_of<ImportIdentityWords>)
            tell(tr("This computer now uses the identity of the words.") + kept, "good");
    });
    refresh();
}

QWidget* IdentityCard::makeWords() {
    auto* box = new QFrame(this);
    auto* column = new QVBoxLayout(box);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(grid / 2);
    m_words = makeWrappedLabel({}, "strong", box);
    m_words->setObjectName(QStringLiteral("words"));
    m_words->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    m_words->setAccessibleName(tr("Recovery words"));
    m_words->hide();
    m_wordsHint = makeWrappedLabel({}, "small", box);
    m_wordsHint->hide();
    column->addWidget(m_words);
    column->addWidget(m_wordsHint);
    return box;
}

QWidget* IdentityCard::makeButtons() {
    auto* box = new QWidget(this);
    auto* row = new WrappingRow(box);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(grid);
    auto* save = makeButton(tr("&Export…"), iconNamed(QStringLiteral("upload")), Emphasis::normal, box);
    save->setObjectName(QStringLiteral("export"));
    auto* load = makeButton(tr("&Import…"), iconNamed(QStringLiteral("open")), Emphasis::normal, box);
    load->setObjectName(QStringLiteral("import"));
    auto* words = makeButton(tr("&From words…"), {}, Emphasis::normal, box);
    words->setObjectName(QStringLiteral("importWords"));
    words->setAccessibleName(tr("Import from recovery words"));
    m_toggle = makeButton(tr("Show recovery &words"), {}, Emphasis::normal, box);
    m_toggle->setObjectName(QStringLiteral("toggleWords"));
    for (QPushButton* button : {save, load, words, m_toggle}) row->add(button);
    connect(save, &QPushButton::clicked, this, &IdentityCard::exportToFile);
    connect(load, &QPushButton::clicked, this, &IdentityCard::importFromFile);
    connect(words, &QPushButton::clicked, this, &IdentityCard::importFromWords);
    connect(m_toggle, &QPushButton::clicked, this, &IdentityCard::toggleWords);
    return box;
}

void IdentityCard::exportToFile() {
    QFileDialog* dialog = makeFileDialog(tr("Export the identity"), this);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->selectFile(QStringLiteral("potluck-identity.key"));
    // The node replaces no file: whether to is not asked in vain.
    dialog->setOption(QFileDialog::DontConfirmOverwrite);
    connect(dialog, &QFileDialog::fileSelected, this, [this](const QString& file) {
        m_exportedTo = file;
        m_client.exportIdentity(file);
    });
    dialog->open();
}

void IdentityCard::importFromFile() {
    QFileDialog* dialog = makeFileDialog(tr("Import an identity"), this);
    dialog->setFileMode(QFileDialog::ExistingFile);
    connect(dialog, &QFileDialog::fileSelected, this, [this](const QString& file) {
        askBeforeImport(tr("The identity on this computer is replaced by the one in the file."),
                        [this, file] { m_client.importIdentity(file); });
    });
    dialog->open();
}

void IdentityCard::importFromWords() {
    auto* dialog = new WordsDialog(this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(dialog, &WordsDialog::entered, this, [this](const QString& words) {
        askBeforeImport(tr("The identity on this computer is replaced by the one of the words."),
                        [this, words] { m_client.importIdentityWords(words); });
    });
    dialog->open();
}

void IdentityCard::askBeforeImport(const QString& source, std::function<void()> import) {
    ask({.weight = Question::Weight::grave,
         .title = tr("Replace the identity?"),
         .text = source + u' ' + tr("Export it first if you want to keep its credit."),
         .yes = tr("&Replace"),
         .no = tr("&Keep")},
        this, std::move(import));
}

void IdentityCard::toggleWords() {
    if (!m_words->text().isEmpty()) {
        hideWords();
        return;
    }
    m_wordsAsked = true;
    m_client.requestIdentity();
}

void IdentityCard::hideWords() {
    m_wordsAsked = false;
    showOrHide(m_words, {});
    showOrHide(m_wordsHint, {});
    m_toggle->setText(tr("Show recovery &words"));
}

void IdentityCard::hideEvent(QHideEvent* event) {
    // Words do not stay behind for the next person at the screen.
    hideWords();
    QFrame::hideEvent(event);
}

void IdentityCard::tell(const QString& sentence, const char* role) {
    setRole(m_outcome, role);
    showOrHide(m_outcome, sentence);
}

void IdentityCard::refresh() {
    const NodeSnapshot& snapshot = m_client.view().snapshot;
    const QString id = plainText(snapshot.person_id.empty() ? snapshot.peer_id : snapshot.person_id, 64);
    // The words on the screen would be those of another key.
    if (id != m_id->text()) hideWords();
    m_id->setText(id);
    m_id->setToolTip(literalText(id));
    setEnabled(m_client.view().link.state == Link::State::up);
}

}  // namespace potluck::ui
