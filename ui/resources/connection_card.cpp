#include "ui/resources/connection_card.h"

#include <QBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QSignalBlocker>
#include <QSpinBox>

#include "ui/client/plain_text.h"
#include "ui/widgets/form_field.h"
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
    column->addWidget(makeLabel(tr("Can others reach this computer?"), "heading", this));
    m_state = makeWrappedLabel({}, "strong", this);
    m_state->setObjectName(QStringLiteral("inbound"));
    column->addWidget(m_state);
    m_remedy = makeWrappedLabel({}, "muted", this);
    m_remedy->setObjectName(QStringLiteral("inboundRemedy"));
    column->addWidget(m_remedy);
    addPort();
    connect(&client, &NodeClient::done, this, [this](Method method) {
        if (method != method_of<SetPort>) return;
        m_touched = false;
        refresh();
    });
    connect(&client, &NodeClient::refused, this, [this](Method method, const QString& sentence) {
        if (method != method_of<SetPort>) return;
        showOrHide(m_problem, sentence);
        refresh();
    });
    connect(&client, &NodeClient::changed, this, &ConnectionCard::refresh);
    refresh();
}

void ConnectionCard::addPort() {
    m_port = new QSpinBox(this);
    m_port->setObjectName(QStringLiteral("listenPort"));
    m_port->setRange(listen_port_min, listen_port_max);
    m_port->setGroupSeparatorShown(false);
    m_port->setButtonSymbols(QAbstractSpinBox::NoButtons);
    auto* field = new FormField(tr("P&ort on this computer"), m_port, this);
    field->setHint(
        tr("It stays the same, so that a router can be told of it. A change closes every connection, and the "
           "round begins anew."));
    m_save = makeButton(tr("C&hange port"), {}, Emphasis::normal, this);
    m_save->setObjectName(QStringLiteral("savePort"));
    m_problem = makeWrappedLabel({}, "problem", this);
    m_problem->setObjectName(QStringLiteral("portProblem"));
    m_problem->hide();
    auto* row = new QHBoxLayout;
    row->addWidget(m_save);
    row->addStretch(1);
    auto* column = static_cast<QBoxLayout*>(layout());
    column->addWidget(field);
    column->addWidget(m_problem);
    column->addLayout(row);
    connect(m_port, &QSpinBox::valueChanged, this, [this] {
        m_touched = true;
        showOrHide(m_problem, {});
        refresh();
    });
    connect(m_save, &QPushButton::clicked, this, [this] {
        m_client.setPort(static_cast<std::uint16_t>(m_port->value()));
        refresh();
    });
}

void ConnectionCard::refresh() {
    const NodeView& view = m_client.view();
    const bool up = view.link.state == Link::State::up;
    const NetworkSnapshot network = up ? view.snapshot.network : NetworkSnapshot{};
    m_state->setText(up ? stateOf(network) : tr("Potluck's background program does not run."));
    showOrHide(m_remedy, network.inbound == Inbound::shut
                             ? tr("Training works. It is easier for all if you switch UPnP or NAT-PMP on in your "
                                  "router, or let it pass port %1 (TCP and UDP) on to this computer.")
                                   .arg(network.port)
                             : QString());
    const bool waits = m_client.waitsFor(method_of<SetPort>);
    if (!m_touched && !waits && network.port >= listen_port_min) {
        const QSignalBlocker silent(m_port);
        m_port->setValue(network.port);
    }
    m_port->setEnabled(up);
    m_save->setEnabled(up && m_touched && !waits);
}

}  // namespace potluck::ui
