#include "ui/resources/traffic_card.h"

#include <QBoxLayout>
#include <QGridLayout>
#include <QLabel>
#include <QPushButton>

#include "ui/client/plain_text.h"
#include "ui/widgets/parts.h"
#include "ui/widgets/theme.h"

namespace potluck::ui {

namespace {

constexpr int folder_characters_max = 200;

QString limitText(std::uint64_t bytesPerSecond) {
    return bytesPerSecond == 0 ? TrafficCard::tr("no limit")
                               : TrafficCard::tr("%1 a second").arg(sizeText(bytesPerSecond));
}

}  // namespace

TrafficCard::TrafficCard(NodeClient& client, const Desktop& desktop, QWidget* parent)
    : QFrame(parent), m_client(client) {
    setObjectName(QStringLiteral("card"));
    QBoxLayout* column = cardLayout(this);
    column->addWidget(makeLabel(tr("Data and traffic"), "heading", this));
    const auto say = [&](const QString& what, const QString& text) {
        column->addWidget(makeLabel(what, "strong", this));
        column->addWidget(makeWrappedLabel(text, "muted", this));
    };
    say(tr("To the members of your run"),
        tr("A signed contribution in each round, and pieces of the model and of its data that others lack. Also your "
           "name and team, your public key, which rounds you took part in, how fast you train, and your internet "
           "address or your proxy's."));
    say(tr("To others on the internet"),
        tr("Your address and port beside the run's number, in the public directory that all torrents use. There is no "
           "account and no telemetry; a web server is asked only where you let Potluck look for versions or fetch the "
           "part that trains."));
    say(tr("To nobody"),
        tr("Your files: none is read but text that you choose yourself to host a run. Your use of the computer is "
           "noticed here, to make way, and not sent; others only see that training is paused."));
    m_table = new QWidget(this);
    m_table->setObjectName(QStringLiteral("trafficTable"));
    auto* table = new QGridLayout(m_table);
    table->setContentsMargins(0, 0, 0, 0);
    table->setHorizontalSpacing(3 * grid);
    table->setColumnStretch(3, 1);
    table->addWidget(makeLabel(tr("Sent"), "strong", m_table), 0, 1, Qt::AlignRight);
    table->addWidget(makeLabel(tr("Received"), "strong", m_table), 0, 2, Qt::AlignRight);
    m_today = addRow(*table, tr("Today"), "today");
    m_month = addRow(*table, tr("This month"), "month");
    m_total = addRow(*table, tr("In total"), "total");
    m_limit = addRow(*table, tr("At most"), "limit");
    column->addWidget(m_table);
    m_kinds = makeWrappedLabel({}, "muted", this);
    m_kinds->setObjectName(QStringLiteral("trafficKinds"));
    column->addWidget(m_kinds);
    m_place = makeWrappedLabel({}, "muted", this);
    m_place->setObjectName(QStringLiteral("trafficPlace"));
    column->addWidget(m_place);
    auto* storage = makeButton(tr("Open &storage"), {}, Emphasis::normal, this);
    storage->setObjectName(QStringLiteral("showStorage"));
    auto* row = new QHBoxLayout;
    row->addWidget(storage);
    row->addStretch(1);
    column->addLayout(row);
    connect(storage, &QPushButton::clicked, this, [&desktop] { desktop.show_storage(); });
    connect(&client, &NodeClient::changed, this, &TrafficCard::refresh);
    refresh();
}

TrafficCard::Row TrafficCard::addRow(QGridLayout& table, const QString& when, const char* name) {
    const int place = table.rowCount();
    const auto add = [&](const QString& what, const char* way, int column) {
        QLabel* label = makeLabel({}, "muted", m_table);
        label->setObjectName(QString::fromLatin1(name) + QString::fromLatin1(way));
        label->setAccessibleName(when + QStringLiteral(", ") + what);
        table.addWidget(label, place, column, Qt::AlignRight);
        return label;
    };
    table.addWidget(makeLabel(when, "muted", m_table), place, 0);
    return {add(tr("Sent"), "Up", 1), add(tr("Received"), "Down", 2)};
}

void TrafficCard::refresh() {
    const NodeView& view = m_client.view();
    const bool up = view.link.state == Link::State::up;
    m_table->setVisible(up);
    const control::NetworkSnapshot network = up ? view.snapshot.network : control::NetworkSnapshot{};
    const auto fill = [](const Row& row, const QString& sent, const QString& received) {
        row.up->setText(sent);
        row.down->setText(received);
    };
    const control::Traffic& traffic = network.traffic;
    fill(m_today, sizeText(traffic.today_up), sizeText(traffic.today_down));
    fill(m_month, sizeText(traffic.month_up), sizeText(traffic.month_down));
    fill(m_total, sizeText(traffic.total_up), sizeText(traffic.total_down));
    const control::Resources limits = view.snapshot.resources.value_or(control::Resources{});
    fill(m_limit, limitText(limits.upload), limitText(limits.download));
    showOrHide(m_kinds, network.payload_bytes_up == 0 ? QString()
                                                      : tr("This computer's contributions to this run came to %1, each "
                                                           "round once; it passed the rest on for others.")
                                                            .arg(sizeText(network.payload_bytes_up)));
    const QString folder = plainText(view.snapshot.data_folder, folder_characters_max);
    showOrHide(m_place, folder.isEmpty() ? QString() : tr("Everything of Potluck's lies in %1.").arg(folder));
}

}  // namespace potluck::ui
