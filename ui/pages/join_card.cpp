// What stands in the field is the only state here. A link that came from outside (a browser, a second start) is put
// into it and marked as such until it is edited or joined; joining needs the person's press, so that a web page cannot
// make a computer join anything.
//
// Text is cut to an invite's length before it enters the field. The check here only spares a round trip for obvious
// slips; the node parses the invite and its sentence is shown when it refuses. The name that a link carries is shown as
// a claim of that link, because nothing has verified it yet. The button is off while a join is under way, so pressing
// twice joins once.
#include "ui/pages/join_card.h"

#include <QClipboard>
#include <QFileDialog>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QShortcut>

#include "ui/client/invite_link.h"
#include "ui/client/plain_text.h"
#include "ui/join/first_name.h"
#include "ui/join/offer_card.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/parts.h"
#include "ui/widgets/theme.h"
#include "ui/widgets/wrapping_row.h"

namespace potluck::ui {

using namespace control;

namespace {

constexpr int invite_width_min = 16 * grid, assurance_width_min = 30 * grid;

}  // namespace

JoinCard::JoinCard(NodeClient& client, const Desktop& desktop, QWidget* parent)
    : QFrame(parent), m_client(client), m_desktop(desktop) {
    setObjectName(QStringLiteral("card"));
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(4 * grid, 2 * grid, 4 * grid, 2 * grid);
    column->setSpacing(grid);
    column->addWidget(makeField());
    column->addStretch(1);
    auto* line = new QFrame(this);
    line->setObjectName(QStringLiteral("line"));
    column->addWidget(line);
    column->addStretch(1);
    column->addWidget(makeAssurances());
    column->addStretch(1);
    connect(&m_client, &NodeClient::changed, this, &JoinCard::refresh);
    connect(&m_client, &NodeClient::refused, this, [this](Method method, const QString& sentence) {
        if (method == method_of<Join>) showOrHide(m_problem, sentence);
        refresh();
    });
    connect(&m_client, &NodeClient::done, this, [this](Method method) {
        if (method != method_of<Join>) return;
        m_invite->clear();
        showOrHide(m_origin, {});
    });
    refresh();
}

QWidget* JoinCard::makeField() {
    auto* field = new QWidget(this);
    auto* column = new QVBoxLayout(field);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(grid);
    m_origin = makeWrappedLabel({}, "strong", field);
    m_origin->setObjectName(QStringLiteral("origin"));
    m_origin->hide();
    auto* label = makeLabel(tr("&Invite"), "strong", field);
    m_invite = new InviteLine("invite", field);
    m_invite->setAccessibleName(tr("Invite link"));
    label->setBuddy(m_invite);
    auto* paste = makeButton(tr("P&aste"), iconNamed(QStringLiteral("paste")), Emphasis::normal, field);
    paste->setObjectName(QStringLiteral("paste"));
    auto* open = makeButton(tr("&Open…"), iconNamed(QStringLiteral("open")), Emphasis::normal, field);
    open->setObjectName(QStringLiteral("open"));
    open->setAccessibleDescription(tr("Opens a text file that holds an invite."));
    m_join = makeButton(tr("&Join"), {}, Emphasis::primary, field);
    m_join->setObjectName(QStringLiteral("join"));
    m_join->setMinimumWidth(12 * grid);
    auto* row = new WrappingRow;
    row->setSpacing(grid);
    row->addStretching(m_invite, invite_width_min);
    row->add(paste);
    row->add(open);
    row->add(m_join);
    m_name = makeWrappedLabel({}, "muted", field);
    m_name->setObjectName(QStringLiteral("claimed"));
    m_problem = makeWrappedLabel({}, "problem", field);
    m_problem->setObjectName(QStringLiteral("problem"));
    m_problem->hide();
    column->addWidget(label);
    column->addWidget(m_origin);
    column->addLayout(row);
    auto* claimed = new QHBoxLayout;
    claimed->addWidget(m_name, 1);
    m_look = makeButton(tr("&Preview"), {}, Emphasis::quiet, field);
    m_look->setObjectName(QStringLiteral("look"));
    m_look->setAccessibleDescription(tr("Fetches the description of this run and joins nothing."));
    claimed->addWidget(m_look);
    column->addLayout(claimed);
    column->addWidget(m_problem);
    m_preview = new OfferCard(m_client, field);
    column->addWidget(m_preview);
    m_own_name = new FirstName(m_client, "joinName", FirstName::Run::joined, field);
    column->addWidget(m_own_name);
    connect(m_look, &QPushButton::clicked, this, &JoinCard::lookAtIt);
    connect(paste, &QPushButton::clicked, this, &JoinCard::paste);
    connect(open, &QPushButton::clicked, this, &JoinCard::chooseFile);
    // Wherever the focus is on this page; a field that is typed into takes its own.
    connect(new QShortcut(QKeySequence::Paste, this), &QShortcut::activated, this, &JoinCard::paste);
    connect(m_join, &QPushButton::clicked, this, &JoinCard::join);
    connect(m_invite, &QLineEdit::returnPressed, this, &JoinCard::join);
    connect(m_invite, &QLineEdit::textChanged, this, [this] {
        showOrHide(m_problem, {});
        if (m_client.view().offer.state != Offer::State::none) m_client.lookAtRun({});
        refresh();
    });
    connect(m_invite, &QLineEdit::textEdited, this, [this] { showOrHide(m_origin, {}); });
    connect(&m_client, &NodeClient::offerChanged, this, &JoinCard::refresh);
    return field;
}

QWidget* JoinCard::makeAssurances() {
    auto* assurances = new QWidget(this);
    auto* row = new WrappingRow(assurances);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(2 * grid);
    auto* left = new QVBoxLayout;
    auto* right = new QVBoxLayout;
    for (QVBoxLayout* column : {left, right}) {
        column->setSpacing(2 * grid);
        row->addStretching(column, assurance_width_min);
    }
    addAssurance(*left, QStringLiteral("chip"), tr("What will happen"),
                 tr("The model and a piece of its text are fetched, then your computer trains in the background until "
                    "you pause."));
    addAssurance(*left, QStringLiteral("pause"), tr("You come first"),
                 tr("Pause at any time: training ends and its memory is free within two seconds."));
    addAssurance(*right, QStringLiteral("upload"), tr("What is sent"),
                 tr("A small, signed contribution per round, your display name, your public key and your internet "
                    "address, as with any torrent."));
    addAssurance(*right, QStringLiteral("shield"), tr("What is not"),
                 tr("None of your files. And nobody can run code here: only data crosses the network."));
    left->addStretch(1);
    right->addStretch(1);
    return assurances;
}

void JoinCard::addAssurance(QBoxLayout& column, const QString& icon, const QString& title, const QString& text) {
    auto* row = new QHBoxLayout;
    row->setSpacing(grid + 4);
    row->addWidget(new IconView(iconNamed(icon, QPalette::Highlight), 3 * grid, this), 0, Qt::AlignTop);
    auto* textColumn = new QVBoxLayout;
    textColumn->setSpacing(2);
    textColumn->addWidget(makeLabel(title, "strong", this));
    textColumn->addWidget(makeWrappedLabel(text, "muted", this));
    row->addLayout(textColumn, 1);
    column.addLayout(row);
}

void JoinCard::offer(const QString& link) {
    m_invite->setText(link.trimmed().left(invite_characters_max));
    m_invite->setCursorPosition(0);
    showOrHide(m_origin,
               tr("This link came from outside Potluck. Preview it first; nothing happens before you press Join."));
    m_join->setFocus();
}

void JoinCard::joinRun(const QString& link) {
    m_invite->setText(link.left(invite_characters_max));
    showOrHide(m_origin, {});
    join();
}

void JoinCard::paste() {
    m_invite->setText(inviteWithin(QGuiApplication::clipboard()->text()));
    m_invite->setFocus();
    showOrHide(m_origin, {});
    lookAtIt();
}

/// What the person pasted is looked at by itself; a link from outside only by a press, so that no web page makes this
/// computer ask anybody for anything.
void JoinCard::lookAtIt() {
    const QString link = m_invite->link();
    if (!looksLikeInvite(link) || m_client.view().link.state != Link::State::up) return;
    m_preview->setInvite(link);
    m_client.lookAtRun(link);
}

void JoinCard::chooseFile() {
    QFileDialog* dialog = makeFileDialog(tr("Open an invite"), this);
    dialog->setFileMode(QFileDialog::ExistingFile);
    connect(dialog, &QFileDialog::fileSelected, this, [this](const QString& file) {
        const Result<QString> text = m_desktop.read_invite(file);
        if (text.ok())
            m_invite->setText(inviteWithin(text.value()));
        else
            showOrHide(m_problem, plainText(text.error().message, 300));
        showOrHide(m_origin, {});
        lookAtIt();
    });
    dialog->open();
}

void JoinCard::join() {
    if (!m_join->isEnabled()) return;
    if (const QString problem = m_invite->problem(); !problem.isEmpty()) return showOrHide(m_problem, problem);
    m_own_name->save();
    m_client.join(m_invite->link());
    refresh();
}

void JoinCard::refresh() {
    const bool joining = m_client.waitsFor(method_of<Join>);
    const bool up = m_client.view().link.state == Link::State::up;
    m_join->setText(joining ? tr("Joining…") : tr("&Join"));
    m_join->setEnabled(up && !joining && !m_invite->text().trimmed().isEmpty());
    m_look->setVisible(up && !joining && m_client.view().offer.state == Offer::State::none &&
                       looksLikeInvite(m_invite->link()));
    describeLink();
}

void JoinCard::describeLink() {
    const QString name = claimedName(m_invite->link());
    m_name->setText(name.isEmpty() ? tr("The host of a run sends you one, a single line of text.")
                                   : tr("The link says that the run is called “%1”.").arg(name));
}

}  // namespace potluck::ui
