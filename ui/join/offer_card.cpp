// A row for each thing that is known of a run before joining: what it is, how far it is, and what it would take from
// this computer, in the order in which people ask. What is not known has no row. What keeps this computer from training
// is marked as a problem, with the node's sentence about it.
//
// Names and descriptions are the host's: plainText() makes one line of plain text of them.
#include "ui/join/offer_card.h"

#include <QFormLayout>
#include <QLocale>

#include "ui/client/measure_words.h"
#include "ui/client/plain_text.h"
#include "ui/client/trainer_words.h"
#include "ui/widgets/parts.h"
#include "ui/widgets/theme.h"

namespace potluck::ui {

using namespace control;

namespace {

constexpr int id_digits = 16;
constexpr double seconds_per_day = 24.0 * 3600;

/// "About 9.2 k tokens per second (processor), with 1.4 GB of memory.", or why it cannot.
QString speedText(const OfferedRun& run, const NodeSnapshot& node) {
    if (const QString missing = noTrainerText(node); !run.obstacle.empty() && !missing.isEmpty()) return missing;
    if (!run.obstacle.empty()) return plainText(run.obstacle, 300);
    const QString memory = run.gpu_peak > 0 ? OfferCard::tr("%1 of GPU memory").arg(sizeText(run.gpu_peak))
                                            : OfferCard::tr("%1 of memory").arg(sizeText(run.ram_peak));
    const QString device = plainText(run.device, 60);
    if (run.tokens_per_second <= 0) return OfferCard::tr("It fits: %1 takes %2.").arg(device, memory);
    return OfferCard::tr("About %1 tokens per second (%2), with %3.")
        .arg(shortCount(static_cast<std::uint64_t>(run.tokens_per_second)), device, memory);
}

/// "Round 12 of 400, about 3 days left"; without an announcement only what is planned.
QString roundsText(const OfferedRun& run) {
    if (!run.announced)
        return OfferCard::tr("%1, of %2 seconds each")
            .arg(fullCount(run.total_rounds), QLocale().toString(run.window_seconds));
    const QString round = OfferCard::tr("%1 of %2").arg(fullCount(run.round), fullCount(run.total_rounds));
    const double left = static_cast<double>(run.total_rounds - std::min(run.round, run.total_rounds));
    const QString span = spanText(left * run.round_seconds / seconds_per_day);
    return span.isEmpty() ? round : OfferCard::tr("%1, about %2 left").arg(round, span);
}

QString trafficText(const OfferedRun& run) {
    const QString each = sizeText(run.traffic.for_each_other);
    if (run.traffic.with_the_sum == 0)
        return OfferCard::tr(
                   "About %1 a day each way per other volunteer, later more if all connections are fast; "
                   "within your limits.")
            .arg(each);
    return OfferCard::tr(
               "About %1 a day each way per other volunteer; where your line is too slow for that, about %2 in "
               "all, however many there are. Later more if all connections are fast; within your limits.")
        .arg(each, sizeText(run.traffic.with_the_sum));
}

QString powerText(const OfferedRun& run) {
    const QString most = run.watts_max ? wattText(*run.watts_max) : QString();
    if (run.watts && run.watts_max)
        return OfferCard::tr("About %1, as while it trained before; %2 at most.").arg(wattText(*run.watts), most);
    if (run.watts) return OfferCard::tr("About %1, as while it trained before.").arg(wattText(*run.watts));
    if (run.watts_max) return OfferCard::tr("%1 at most, by the limit of what trains.").arg(most);
    return OfferCard::tr("Unknown: this device does not report its power.");
}

}  // namespace

OfferCard::OfferCard(NodeClient& client, QWidget* parent) : QFrame(parent), m_client(client) {
    setObjectName(QStringLiteral("card"));
    QBoxLayout* column = cardLayout(this);
    m_title = makeWrappedLabel({}, "heading", this);
    m_title->setObjectName(QStringLiteral("offerTitle"));
    m_purpose = makeWrappedLabel({}, "muted", this);
    m_purpose->setObjectName(QStringLiteral("offerPurpose"));
    column->addWidget(m_title);
    column->addWidget(m_purpose);
    m_rows = new QFormLayout;
    m_rows->setHorizontalSpacing(3 * grid);
    m_rows->setVerticalSpacing(grid / 2);
    column->addLayout(m_rows);
    connect(&client, &NodeClient::offerChanged, this, &OfferCard::refresh);
    refresh();
}

void OfferCard::setInvite(const QString& invite) {
    m_invite = invite;
    refresh();
}

void OfferCard::clearRows() {
    while (m_rows->rowCount() > 0) m_rows->removeRow(0);
}

void OfferCard::addRow(const char* name, const QString& title, const QString& text, const char* role) {
    QLabel* what = makeLabel(title, "strong", this);
    QLabel* value = makeWrappedLabel(text, role, this);
    value->setObjectName(QString::fromLatin1(name));
    what->setBuddy(value);
    m_rows->addRow(what, value);
}

void OfferCard::refresh() {
    const Offer& offer = m_client.view().offer;
    const bool isOurs = offer.state != Offer::State::none && offer.invite == m_invite;
    setVisible(isOurs);
    clearRows();
    if (!isOurs) return;
    if (offer.state == Offer::State::asked) {
        m_title->setText(tr("Looking at this run…"));
        return showOrHide(m_purpose, tr("Its description is fetched from its members; nothing is joined by that."));
    }
    if (offer.state != Offer::State::here) {
        m_title->setText(tr("This run could not be looked at"));
        return showOrHide(m_purpose, offer.problem);
    }
    const OfferedRun& run = offer.run;
    m_title->setText(plainText(run.name, 80));
    showOrHide(m_purpose, plainText(run.purpose, 400));
    const QString key = plainText(run.host, id_digits), hostName = plainText(run.host_name, own_name_characters_max);
    const QString host = hostName.isEmpty() ? key : tr("%1 (%2)").arg(hostName, key);
    addRow("offerModel", tr("Model"), modelText(run.model), "muted");
    addRow("offerLicence", tr("Licence"), plainText(run.licence, 80), "muted");
    addRow("offerHost", tr("Host"),
           run.peers > 0 ? tr("%1 · %n member(s) answered", nullptr, static_cast<int>(run.peers)).arg(host) : host,
           "muted");
    addRow("offerRounds", tr("Rounds"), roundsText(run), "muted");
    if (run.announced) {
        const auto volunteers = static_cast<int>(std::min<std::uint64_t>(run.volunteers, 1'000'000));
        addRow("offerVolunteers", tr("Online"), tr("%n volunteer(s) now", nullptr, volunteers), "muted");
    }
    addRow("offerDownload", tr("To download"), sizeText(run.download), "muted");
    const bool room = run.disk_free == 0 || run.disk_free > run.disk;
    const QString free = run.disk_free == 0
                             ? tr("about %1").arg(sizeText(run.disk))
                             : tr("about %1; %2 are free").arg(sizeText(run.disk), sizeText(run.disk_free));
    addRow("offerDisk", tr("On your disk"), free, room ? "muted" : "problem");
    addRow("offerSpeed", tr("This computer"), speedText(run, m_client.view().snapshot),
           run.obstacle.empty() ? "muted" : "problem");
    if (run.obstacle.empty()) addRow("offerPower", tr("Power"), powerText(run), "muted");
    if (run.traffic.for_each_other > 0) addRow("offerTraffic", tr("Traffic"), trafficText(run), "muted");
    if (const std::string& name = m_client.view().snapshot.name; !name.empty())
        addRow("offerName", tr("Your name there"), plainText(name, 60), "muted");
    if (run.listed && !run.admitted) {
        addRow("offerAdmission", tr("Admission"),
               tr("Its host admits listed people only, and you are not among them. Send your id to the host: %1")
                   .arg(QString::fromStdString(m_client.view().snapshot.peer_id)),
               "problem");
    }
}

}  // namespace potluck::ui
