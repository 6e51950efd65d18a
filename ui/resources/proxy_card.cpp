// The fields show what the node uses until a person touches one of them, and again once the node has taken what the
// button sent. A password that is left empty is not sent, so the node goes on with the one that it has.
//
// Below the fields stand how the proxy that is in use answers, and what the node refused of what was sent.
// Without a proxy there is no field but its kind.
#include "ui/resources/proxy_card.h"

#include <QBoxLayout>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalBlocker>
#include <QSpinBox>

#include "ui/client/plain_text.h"
#include "ui/widgets/form_field.h"
#include "ui/widgets/parts.h"
#include "ui/widgets/theme.h"

namespace potluck::ui {

using namespace control;

namespace {

constexpr int port_max = 65'535, port_usual = 1080;

struct Words {
    QString text;
    const char* role;
};

Words wordsOf(ProxyAnswer answer) {
    switch (answer) {
        case ProxyAnswer::yes: return {ProxyCard::tr("The proxy answers; everything goes through it."), "good"};
        case ProxyAnswer::silent:
            return {ProxyCard::tr("Nothing answers there. Start the proxy, or correct its address; nothing goes "
                                  "around it meanwhile."),
                    "problem"};
        case ProxyAnswer::refuses:
            return {ProxyCard::tr("The proxy refuses this name and password; correct them."), "problem"};
        case ProxyAnswer::stranger:
            return {ProxyCard::tr("The program there is no proxy of this kind; choose the other, or correct the port."),
                    "problem"};
        case ProxyAnswer::unknown: break;
    }
    return {ProxyCard::tr("The proxy is asked whether it answers."), "muted"};
}

}  // namespace

ProxyCard::ProxyCard(NodeClient& client, QWidget* parent) : QFrame(parent), m_client(client) {
    setObjectName(QStringLiteral("card"));
    QBoxLayout* column = cardLayout(this);
    column->addWidget(makeLabel(tr("Proxy"), "heading", this));
    column->addWidget(
        makeWrappedLabel(tr("With one, this computer connects to others, and looks for new versions, through it "
                            "alone; nobody can connect to this computer, and routers are not asked. A "
                            "change closes every connection, and the round begins anew."),
                         "muted", this));
    m_kind = new QComboBox(this);
    m_kind->setObjectName(QStringLiteral("proxyKind"));
    m_kind->addItems({tr("No proxy"), tr("SOCKS5 (Tor, SSH and most others)"), tr("HTTP")});
    column->addWidget(new FormField(tr("&Kind of proxy"), m_kind, this));
    addFields();
    m_state = makeWrappedLabel({}, "muted", this);
    m_state->setObjectName(QStringLiteral("proxyState"));
    column->addWidget(m_state);
    m_problem = makeWrappedLabel({}, "problem", this);
    m_problem->setObjectName(QStringLiteral("proxyProblem"));
    m_problem->hide();
    column->addWidget(m_problem);
    m_save = makeButton(tr("&Apply"), {}, Emphasis::normal, this);
    m_save->setObjectName(QStringLiteral("saveProxy"));
    auto* row = new QHBoxLayout;
    row->addWidget(m_save);
    row->addStretch(1);
    column->addLayout(row);
    connect(m_kind, &QComboBox::currentIndexChanged, this, &ProxyCard::touched);
    connect(m_save, &QPushButton::clicked, this, &ProxyCard::save);
    connect(&client, &NodeClient::done, this, [this](Method method) {
        if (method != method_of<SetProxy>) return;
        m_touched = false;
        m_password->clear();
        refresh();
    });
    connect(&client, &NodeClient::refused, this, [this](Method method, const QString& sentence) {
        if (method != method_of<SetProxy>) return;
        showOrHide(m_problem, sentence);
        refresh();
    });
    connect(&client, &NodeClient::changed, this, &ProxyCard::refresh);
    refresh();
}

void ProxyCard::addFields() {
    m_fields = new QWidget(this);
    auto* column = new QVBoxLayout(m_fields);
    column->setContentsMargins(0, 0, 0, 0);
    const auto add = [&](const QString& label, const char* name) {
        auto* line = new QLineEdit(m_fields);
        line->setObjectName(QString::fromLatin1(name));
        line->setMaxLength(static_cast<int>(proxy_text_bytes_max));
        column->addWidget(new FormField(label, line, m_fields));
        connect(line, &QLineEdit::textEdited, this, &ProxyCard::touched);
        return line;
    };
    m_host = add(tr("Its &address"), "proxyHost");
    m_host->setPlaceholderText(QStringLiteral("127.0.0.1"));
    m_port = new QSpinBox(m_fields);
    m_port->setObjectName(QStringLiteral("proxyPort"));
    m_port->setRange(1, port_max);
    m_port->setValue(port_usual);
    m_port->setButtonSymbols(QAbstractSpinBox::NoButtons);
    column->addWidget(new FormField(tr("Its p&ort"), m_port, m_fields));
    connect(m_port, &QSpinBox::valueChanged, this, &ProxyCard::touched);
    m_username = add(tr("Na&me, if it asks for one"), "proxyName");
    m_password = add(tr("Pass&word"), "proxyPassword");
    m_password->setEchoMode(QLineEdit::Password);
    layout()->addWidget(m_fields);
}

void ProxyCard::edit() { m_kind->setFocus(); }

void ProxyCard::touched() {
    m_touched = true;
    showOrHide(m_problem, {});
    refresh();
}

void ProxyCard::showKnown(const ProxyState& proxy) {
    const QSignalBlocker silent(m_kind), silentPort(m_port);
    m_kind->setCurrentIndex(static_cast<int>(proxy.kind));
    m_host->setText(plainText(proxy.host, static_cast<int>(proxy_text_bytes_max)));
    if (proxy.port != 0) m_port->setValue(proxy.port);
    m_username->setText(plainText(proxy.username, static_cast<int>(proxy_text_bytes_max)));
    m_password->setPlaceholderText(proxy.username.empty() ? QString() : tr("As it is"));
}

void ProxyCard::showFields() { m_fields->setVisible(m_kind->currentIndex() != static_cast<int>(ProxyKind::none)); }

void ProxyCard::refresh() {
    const NodeView& view = m_client.view();
    const auto& proxy = view.snapshot.proxy;
    const bool up = view.link.state == Link::State::up && proxy.has_value();
    setEnabled(up);
    if (!up) return showFields();
    const bool waits = m_client.waitsFor(method_of<SetProxy>);
    if (!m_touched && !waits) showKnown(*proxy);
    showFields();
    m_save->setEnabled(m_touched && !waits);
    const bool told = !m_touched && proxy->kind != ProxyKind::none;
    const Words words = wordsOf(proxy->answer);
    setRole(m_state, words.role);
    showOrHide(m_state, told ? words.text : QString());
}

void ProxyCard::save() {
    SetProxy wanted{.kind = static_cast<ProxyKind>(m_kind->currentIndex())};
    if (wanted.kind != ProxyKind::none) {
        wanted.host = m_host->text().trimmed().toStdString();
        wanted.port = static_cast<std::uint16_t>(m_port->value());
        wanted.username = m_username->text().trimmed().toStdString();
        if (!m_password->text().isEmpty()) wanted.password = m_password->text().toStdString();
    }
    m_client.setProxy(wanted);
    refresh();
}

}  // namespace potluck::ui
