#include "ui/hosting/invite_page.h"

#include <QClipboard>
#include <QFileDialog>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QPlainTextEdit>
#include <QScrollArea>

#include <algorithm>

#include "ui/client/invite_link.h"
#include "ui/client/measure_words.h"
#include "ui/client/plain_text.h"
#include "ui/client/status_summary.h"
#include "ui/share/share_row.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/parts.h"
#include "ui/widgets/qr_code.h"
#include "ui/widgets/theme.h"

namespace potluck::ui {

namespace {

QString reachOf(const std::string& link) {
    const Result<run::Invite> invite = run::Invite::parse(link);
    if (!invite || invite->hints.empty()) {
        return InvitePage::tr(
            "It names no address of this computer, because none is known yet; others look for the run "
            "in a public directory, which takes longer.");
    }
    if (std::all_of(invite->hints.begin(), invite->hints.end(), run::is_of_local_network)) {
        return InvitePage::tr(
            "It names this computer's address in your network: computers there find the run at once. "
            "Others look for it in a public directory, which takes longer.");
    }
    return InvitePage::tr("It names addresses of this computer, so that others find the run at once.");
}

ShareCard shareOf(const control::RunSnapshot& run, const QString& link) {
    const QString purpose = plainText(run.purpose, 200), licence = plainText(run.licence, 60);
    ShareCard card{.title = plainText(run.name, 60), .lines = {}, .link = link};
    if (!purpose.isEmpty()) card.lines << purpose;
    card.lines << InvitePage::tr("Round %1 of %2").arg(fullCount(run.round), fullCount(run.total_rounds))
               << modelText(run.model) << InvitePage::tr("Everybody can help. Licence: %1").arg(licence);
    return card;
}

}  // namespace

InvitePage::InvitePage(NodeClient& client, const Desktop& desktop, QWidget* parent)
    : QWidget(parent), m_client(client), m_desktop(desktop) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(2 * grid);
    m_title = makeWrappedLabel({}, "title", this);
    m_title->setObjectName(QStringLiteral("inviteTitle"));
    column->addWidget(m_title);
    const auto [scroll, scrolled, inside] = makeScrolledCards(this);
    QFrame* card = makeCard(scrolled);
    QBoxLayout* words = cardLayout(card);
    addLink(*words, card);
    inside->addWidget(card);
    inside->addStretch(1);
    column->addWidget(scroll, 1);
    connect(&client, &NodeClient::changed, this, &InvitePage::refresh);
    refresh();
}

void InvitePage::addLink(QBoxLayout& column, QWidget* card) {
    column.addWidget(makeWrappedLabel(
        tr("Anybody who has this line can join. Send it in a message, as a file, or let a phone read the code."),
        "muted", card));
    m_link = new QPlainTextEdit(card);
    m_link->setObjectName(QStringLiteral("inviteText"));
    m_link->setAccessibleName(tr("Invite link"));
    m_link->setReadOnly(true);
    m_link->setTabChangesFocus(true);
    m_link->setFixedHeight(10 * grid);
    m_link->setWordWrapMode(QTextOption::WrapAnywhere);
    column.addWidget(m_link);
    auto* row = new QHBoxLayout;
    row->setSpacing(grid);
    auto* copy = makeButton(tr("&Copy"), iconNamed(QStringLiteral("copy")), Emphasis::primary, card);
    copy->setObjectName(QStringLiteral("copyInviteText"));
    auto* save = makeButton(tr("&Save as file…"), {}, Emphasis::normal, card);
    save->setObjectName(QStringLiteral("saveInvite"));
    auto* home = makeButton(tr("To the &run"), {}, Emphasis::normal, card);
    home->setObjectName(QStringLiteral("toRun"));
    row->addWidget(copy);
    if (m_desktop.write_invite) row->addWidget(save);
    row->addWidget(home);
    row->addStretch(1);
    save->setVisible(static_cast<bool>(m_desktop.write_invite));
    column.addLayout(row);
    m_outcome = makeWrappedLabel({}, "good", card);
    m_outcome->setObjectName(QStringLiteral("inviteOutcome"));
    m_outcome->hide();
    m_reach = makeWrappedLabel({}, "muted", card);
    m_reach->setObjectName(QStringLiteral("inviteReach"));
    m_code = new QrCode(card);
    m_code->setObjectName(QStringLiteral("inviteCode"));
    column.addWidget(m_outcome);
    column.addWidget(m_reach);
    column.addWidget(m_code, 0, Qt::AlignLeft);
    column.addWidget(
        makeWrappedLabel(tr("To show it around, as a picture with this code or as a text:"), "muted", card));
    m_share = new ShareRow(m_desktop, card);
    column.addWidget(m_share);
    connect(copy, &QPushButton::clicked, this, &InvitePage::copy);
    connect(save, &QPushButton::clicked, this, &InvitePage::save);
    connect(home, &QPushButton::clicked, this, &InvitePage::homeAsked);
}

void InvitePage::copy() {
    QGuiApplication::clipboard()->setText(m_link->toPlainText());
    setRole(m_outcome, "good");
    showOrHide(m_outcome, tr("The invite is on the clipboard. Send it to the people who should join."));
}

void InvitePage::save() {
    QFileDialog* dialog = makeFileDialog(tr("Save the invite"), this);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setDefaultSuffix(QStringLiteral("potluck"));
    dialog->selectFile(tr("invite") + QStringLiteral(".potluck"));
    connect(dialog, &QFileDialog::fileSelected, this, [this](const QString& file) {
        const Status written = m_desktop.write_invite(file, m_link->toPlainText());
        setRole(m_outcome, written.ok() ? "good" : "problem");
        showOrHide(m_outcome, written.ok() ? tr("The invite is in %1.").arg(plainText(file, 300))
                                           : plainText(written.error().message, 300));
    });
    dialog->open();
}

void InvitePage::refresh() {
    const NodeView& view = m_client.view();
    if (!isInRun(view)) return showOrHide(m_outcome, {});
    const control::RunSnapshot& run = *view.snapshot.run;
    m_title->setText(tr("Invite others to “%1”").arg(plainText(run.name, 60)));
    const QString link = plainText(run.link.empty() ? run.magnet : run.link, invite_characters_max);
    if (m_link->toPlainText() != link) m_link->setPlainText(link);
    m_code->show(link);
    m_reach->setText(reachOf(run.magnet));
    m_share->setCard(shareOf(run, link));
}

}  // namespace potluck::ui
