#include "ui/find/found_run_card.h"

#include <QDateTime>
#include <QHBoxLayout>
#include <QMenu>
#include <QPushButton>

#include "ui/client/measure_words.h"
#include "ui/client/plain_text.h"
#include "ui/find/found_words.h"
#include "ui/join/offer_card.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/parts.h"
#include "ui/widgets/theme.h"
#include "ui/widgets/wrapping_row.h"

namespace potluck::ui {

using namespace control;

namespace {

constexpr int name_characters = 80, purpose_characters = 250, line_characters = 300, field_characters = 120;
constexpr int name_width_min = 26 * grid;

QLabel* addLabel(QBoxLayout& column, const char* name, const char* role, QWidget* parent) {
    QLabel* label = makeWrappedLabel({}, role, parent);
    label->setObjectName(QLatin1String(name));
    column.addWidget(label);
    return label;
}

}  // namespace

FoundRunCard::FoundRunCard(NodeClient& client, QWidget* parent) : QFrame(parent), m_client(client) {
    setObjectName(QStringLiteral("card"));
    QBoxLayout* column = cardLayout(this);
    column->setSpacing(grid / 2);
    auto* head = new WrappingRow;
    head->setSpacing(grid);
    m_name = makeWrappedLabel({}, "heading", this);
    m_name->setObjectName(QStringLiteral("foundName"));
    head->addStretching(m_name, name_width_min);
    auto* buttons = new QHBoxLayout;
    buttons->setSpacing(grid);
    addButtons(*buttons);
    auto* held = new QWidget(this);
    buttons->setContentsMargins(0, 0, 0, 0);
    held->setLayout(buttons);
    head->add(held);
    column->addLayout(head);
    m_line = addLabel(*column, "foundLine", "strong", this);
    m_purpose = addLabel(*column, "foundPurpose", "", this);
    m_progress = addLabel(*column, "foundProgress", "", this);
    m_help = addLabel(*column, "foundHelp", "muted", this);
    m_what = addLabel(*column, "foundWhat", "small", this);
    connect(&client, &NodeClient::devicesChanged, this, &FoundRunCard::refresh);
    connect(&client, &NodeClient::offerChanged, this, &FoundRunCard::refresh);
    connect(&client, &NodeClient::changed, this, &FoundRunCard::refresh);
}

void FoundRunCard::addButtons(QBoxLayout& row) {
    m_look = makeButton(tr("Preview"), {}, Emphasis::normal, this);
    m_look->setObjectName(QStringLiteral("foundLook"));
    m_join = makeButton(tr("Join"), {}, Emphasis::primary, this);
    m_join->setObjectName(QStringLiteral("foundJoin"));
    m_more = makeButton(tr("Hide…"), {}, Emphasis::quiet, this);
    m_more->setObjectName(QStringLiteral("foundHide"));
    m_menu = new QMenu(this);
    m_menu->addAction(tr("Hide this &run for good"), this, [this] { emit hideRunAsked(plainText(m_run.id, 64)); });
    m_menu->addAction(tr("Hide all runs of this &host for good"), this,
                      [this] { emit hideHostAsked(plainText(m_run.host, 64)); });
    m_more->setMenu(m_menu);
    for (QPushButton* button : {m_look, m_join, m_more}) row.addWidget(button);
    connect(m_look, &QPushButton::clicked, this, &FoundRunCard::preview);
    connect(m_join, &QPushButton::clicked, this, [this] { emit joinAsked(QString::fromStdString(m_run.magnet)); });
}

void FoundRunCard::preview() {
    const QString invite = QString::fromStdString(m_run.magnet);
    if (m_offer == nullptr) {
        m_offer = new OfferCard(m_client, this);
        layout()->addWidget(m_offer);
    }
    const bool isOpen = m_client.view().offer.invite == invite;
    m_offer->setInvite(invite);
    m_client.lookAtRun(isOpen ? QString() : invite);
}

QWidget* FoundRunCard::tabAfter(QWidget* before) const {
    for (QWidget* button : {m_look, m_join, m_more}) {
        setTabOrder(before, button);
        before = button;
    }
    return before;
}

void FoundRunCard::setRun(const FoundRun& run) {
    m_run = run;
    const QString name = plainText(run.name, name_characters);
    m_name->setText(name);
    setAccessibleName(name);
    m_look->setAccessibleName(tr("Preview of %1").arg(name));
    m_look->setAccessibleDescription(tr("Fetches the description of this run and joins nothing."));
    m_join->setAccessibleName(tr("Join %1").arg(name));
    m_more->setAccessibleName(tr("Hide %1").arg(name));
    const QString line = plainText(run.line, line_characters);
    showOrHide(m_line, run.vouched_by == VouchedBy::friends ? tr("You have trained in a run of this host before.")
                       : run.vouched_by != VouchedBy::list  ? QString()
                       : line.isEmpty()                     ? tr("On a list that you follow.")
                                                            : tr("A list that you follow says: %1").arg(line));
    showOrHide(m_purpose, plainText(run.purpose, purpose_characters));
    m_progress->setText(progressText(run, QDateTime::currentSecsSinceEpoch()));
    QStringList parts;
    parts << modelText(run.model)
          << (run.licence.empty() ? tr("no licence named") : plainText(run.licence, field_characters))
          << languageText(run.language) << tr("%1 to download").arg(sizeText(run.download)) << hostText(run);
    parts.removeAll(QString());
    m_what->setText(parts.join(QStringLiteral(" · ")));
    refresh();
}

void FoundRunCard::refresh() {
    const NodeView& view = m_client.view();
    const bool up = view.link.state == Link::State::up;
    m_look->setEnabled(up);
    m_join->setEnabled(up && !m_client.waitsFor(method_of<Join>));
    const bool isOpen = m_offer != nullptr && view.offer.invite == QString::fromStdString(m_run.magnet);
    m_look->setText(isOpen ? tr("Close") : tr("Preview"));
    m_help->setText(helpText(m_run, view));
    const Fit fit = fitOf(m_run, view.devices);
    setRole(m_help, fit == Fit::yes ? "good" : "muted");
}

}  // namespace potluck::ui
