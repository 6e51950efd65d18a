#include "ui/resources/connection_card.h"

#include <QBoxLayout>
#include <QLabel>

#include "ui/client/plain_text.h"
#include "ui/widgets/parts.h"

namespace potluck::ui {

using namespace control;

namespace {

QString stateOf(const NetworkSnapshot& network) {
    switch (network.inbound) {
        case Inbound::reached: return ConnectionCard::tr("Others open connections to this computer.");
        case Inbound::mapped:
            return ConnectionCard::tr("Your router has opened a port for this computer (%1).")
                .arg(plainText(network.router, 40));
        case Inbound::shut:
            return ConnectionCard::tr(
                "Nobody has come from outside yet: this computer goes to the others, or members introduce it.");
        case Inbound::unknown: break;
    }
    return ConnectionCard::tr("It takes a minute on the internet until this is known.");
}

}  // namespace

ConnectionCard::ConnectionCard(NodeClient& client, QWidget* parent) : QFrame(parent), m_client(client) {
    setObjectName(QStringLiteral("card"));
    QBoxLayout* column = cardLayout(this);
    column->addWidget(makeLabel(tr("How others get here"), "heading", this));
    m_state = makeWrappedLabel({}, "strong", this);
    m_state->setObjectName(QStringLiteral("inbound"));
    column->addWidget(m_state);
    m_remedy = makeWrappedLabel({}, "muted", this);
    m_remedy->setObjectName(QStringLiteral("inboundRemedy"));
    column->addWidget(m_remedy);
    connect(&client, &NodeClient::changed, this, &ConnectionCard::refresh);
    refresh();
}

void ConnectionCard::refresh() {
    const NodeView& view = m_client.view();
    const bool up = view.link.state == Link::State::up;
    const NetworkSnapshot network = up ? view.snapshot.network : NetworkSnapshot{};
    m_state->setText(up ? stateOf(network) : tr("The node does not run."));
    showOrHide(m_remedy, network.inbound == Inbound::shut
                             ? tr("Training works. It is easier for all if you switch UPnP or NAT-PMP on in your "
                                  "router, or let it pass port %1 (TCP and UDP) on to this computer.")
                                   .arg(network.port)
                             : QString());
}

}  // namespace potluck::ui
