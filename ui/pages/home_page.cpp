#include "ui/pages/home_page.h"

#include <QHBoxLayout>
#include <QStackedWidget>

#include "ui/pages/join_card.h"
#include "ui/pages/run_view.h"
#include "ui/pages/status_card.h"
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
    m_stack = new QStackedWidget(this);
    m_stack->addWidget(makeWelcome(desktop));
    m_stack->addWidget(new RunView(client, m_stack));
    column->addWidget(m_stack, 1);
    m_retry = makeButton(tr("&Try now"), iconNamed(QStringLiteral("resume")), Emphasis::normal, this);
    m_retry->setObjectName(QStringLiteral("retry"));
    column->addWidget(m_retry, 0, Qt::AlignLeft);
    connect(m_retry, &QPushButton::clicked, &client, &NodeClient::retryNow);
    connect(&client, &NodeClient::changed, this, &HomePage::refresh);
    refresh();
}

QWidget* HomePage::makeWelcome(const Desktop& desktop) {
    auto* welcome = new QWidget(this);
    auto* column = new QVBoxLayout(welcome);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(2 * grid);
    m_status = new StatusCard(welcome);
    m_join = new JoinCard(m_client, desktop, welcome);
    column->addWidget(m_join, 1);
    column->addWidget(m_status);
    return welcome;
}

QFrame* HomePage::makeOffer() {
    auto* frame = new QFrame(this);
    frame->setObjectName(QStringLiteral("notice"));
    auto* row = new QHBoxLayout(frame);
    row->setContentsMargins(2 * grid, grid, grid, grid);
    auto* text = makeWrappedLabel(
        tr("You opened an invite while in a run: leave this run first, then the invite waits for you here."), "strong",
        frame);
    auto* dismiss = makeButton(tr("&Dismiss"), {}, Emphasis::quiet, frame);
    row->addWidget(text, 1);
    row->addWidget(dismiss);
    connect(dismiss, &QPushButton::clicked, frame, &QWidget::hide);
    frame->hide();
    return frame;
}

void HomePage::offer(const QString& link) {
    m_join->offer(link);
    m_offer->setVisible(isInRun(m_client.view()));
}

void HomePage::refresh() {
    const NodeView& view = m_client.view();
    const bool inRun = isInRun(view);
    m_stack->setCurrentIndex(inRun ? 1 : 0);
    if (!inRun) m_offer->hide();
    m_status->show(summarize(view));
    m_retry->setVisible(view.link.state == Link::State::down);
}

}  // namespace potluck::ui
