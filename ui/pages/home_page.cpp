#include "ui/pages/home_page.h"

#include <QHBoxLayout>
#include <QStackedLayout>

#include "ui/client/invite_link.h"
#include "ui/client/status_summary.h"
#include "ui/find/find_card.h"
#include "ui/find/lists_card.h"
#include "ui/pages/join_card.h"
#include "ui/pages/run_view.h"
#include "ui/pages/status_card.h"
#include "ui/pages/trainer_card.h"
#include "ui/pages/update_card.h"
#include "ui/records/left_card.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/parts.h"
#include "ui/widgets/theme.h"

namespace potluck::ui {

HomePage::HomePage(NodeClient& client, const Desktop& desktop, QWidget* parent) : QWidget(parent), m_client(client) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(2 * grid);
    m_offer = makeOffer();
    column->addWidget(m_offer);
    column->addWidget(new TrainerCard(client, CardPlace::home, this));
    column->addWidget(new UpdateCard(client, desktop, CardPlace::home, this));
    auto* pages = new QWidget(this);
    m_stack = makePageStack(pages);
    m_stack->addWidget(makeWelcome(desktop));
    auto* run = new RunView(client, desktop, pages);
    connect(run, &RunView::modelAsked, this, &HomePage::modelAsked);
    connect(run, &RunView::runsAsked, this, &HomePage::runsAsked);
    connect(run, &RunView::inviteGiven, this, &HomePage::offer);
    m_stack->addWidget(run);
    column->addWidget(pages, 1);
    connect(&client, &NodeClient::changed, this, &HomePage::refresh);
    refresh();
}

QWidget* HomePage::makeWelcome(const Desktop& desktop) {
    auto* welcome = new QWidget(this);
    auto* column = new QVBoxLayout(welcome);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(2 * grid);
    m_status = new StatusCard(m_client, desktop, welcome);
    column->addWidget(new LeftCard(m_client, welcome));
    auto* find = new FindCard(m_client, desktop, welcome);
    m_find = find;
    column->addWidget(find);
    m_join = new JoinCard(m_client, desktop, welcome);
    connect(find, &FindCard::joinAsked, m_join, &JoinCard::joinRun);
    column->addWidget(m_join, 1);
    connect(find, &FindCard::startAsked, this, &HomePage::startAsked);
    column->addWidget(m_status);
    return welcome;
}

QFrame* HomePage::makeOffer() {
    auto* frame = new QFrame(this);
    frame->setObjectName(QStringLiteral("notice"));
    auto* row = new QHBoxLayout(frame);
    row->setContentsMargins(2 * grid, grid, grid, grid);
    m_offerText = makeWrappedLabel({}, "strong", frame);
    m_offerText->setObjectName(QStringLiteral("offer"));
    m_switch = makeButton(tr("&Switch to it"), {}, Emphasis::normal, frame);
    m_switch->setObjectName(QStringLiteral("switch"));
    auto* dismiss = makeButton(tr("&Dismiss"), {}, Emphasis::quiet, frame);
    dismiss->setObjectName(QStringLiteral("dismiss"));
    row->addWidget(m_offerText, 1);
    row->addWidget(m_switch);
    row->addWidget(dismiss);
    connect(m_switch, &QPushButton::clicked, this, [this] {
        m_client.join(m_offered, control::OtherRun::leave);
        m_offer->hide();
    });
    connect(dismiss, &QPushButton::clicked, frame, &QWidget::hide);
    frame->hide();
    return frame;
}

/// Outside a run the invite waits in its field. In one it can only be another's, or be needless.
void HomePage::offer(const QString& link) {
    const NodeView& view = m_client.view();
    if (looksLikeList(link)) return m_find->offerList(link);
    if (!isInRun(view)) return m_join->offer(link);
    m_offered = link.trimmed();
    const bool same = namesRun(m_offered, QString::fromStdString(view.snapshot.run->id));
    const QString name = claimedName(m_offered);
    m_offerText->setText(same             ? tr("You are in this run already.")
                         : name.isEmpty() ? tr("This link is an invite to another run; switching leaves this one.")
                                          : tr("This link is an invite to “%1” (the run's own name for itself). "
                                               "Switching leaves the run that you are in.")
                                                .arg(name));
    m_switch->setVisible(!same);
    m_offer->show();
}

void HomePage::refresh() {
    const NodeView& view = m_client.view();
    const bool inRun = isInRun(view);
    m_stack->setCurrentIndex(inRun ? 1 : 0);
    if (!inRun) m_offer->hide();
    m_status->show(summarize(view));
}

}  // namespace potluck::ui
