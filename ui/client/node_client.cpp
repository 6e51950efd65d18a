#include "ui/client/node_client.h"

#include <algorithm>

#include <QLoggingCategory>

#include "ui/client/plain_text.h"

namespace potluck::ui {

namespace {

constexpr std::size_t pending_max = 64;
constexpr std::size_t curve_points_max = 1000;
constexpr std::size_t leaderboard_rows_max = 500;

const char* methodOf(Ask ask) {
    switch (ask) {
        case Ask::subscribe: return "subscribe";
        case Ask::join: return "join";
        case Ask::leave: return "leave";
        case Ask::finish: return "finish";
        case Ask::pause: return "pause";
        case Ask::resume: return "resume";
        case Ask::set_name: return "set_name";
        case Ask::invite: return "invite";
        case Ask::leaderboard: return "leaderboard";
        case Ask::curve: return "curve";
        case Ask::identity_show: return "identity_show";
        case Ask::identity_export: return "identity_export";
        case Ask::identity_import: return "identity_import";
    }
    return "";
}

/// The rows of `result[name]`, at most `most`; rows that do not parse are left out.
template <class Row>
std::vector<Row> rowsOf(const nlohmann::json& result, const char* name, std::size_t most) {
    std::vector<Row> rows;
    const auto found = result.is_object() ? result.find(name) : result.end();
    if (!result.is_object() || found == result.end() || !found->is_array()) return rows;
    for (const nlohmann::json& element : *found) {
        if (rows.size() == most) break;
        Row row;
        if (control::from_json(element, row).ok()) rows.push_back(std::move(row));
    }
    return rows;
}

QString textOf(const nlohmann::json& result, const char* name) {
    if (!result.is_object()) return {};
    const auto found = result.find(name);
    if (found == result.end() || !found->is_string()) return {};
    return QString::fromStdString(found->get_ref<const std::string&>());
}

nlohmann::json utf8(const QString& text) { return nlohmann::json(text.toUtf8().toStdString()); }

}  // namespace

NodeClient::NodeClient(Transport& transport, Pace pace, QObject* parent)
    : QObject(parent), m_transport(transport), m_pace(pace), m_retry(pace.first_retry) {
    m_retryTimer.setSingleShot(true);
    m_silenceTimer.setSingleShot(true);
    connect(&m_retryTimer, &QTimer::timeout, this, [this] { openWay(m_way); });
    connect(&m_silenceTimer, &QTimer::timeout, this, &NodeClient::onSilence);
    connect(&m_transport, &Transport::received, this, &NodeClient::onReceived);
    connect(&m_transport, &Transport::ended, this, &NodeClient::onEnded);
}

bool NodeClient::waitsFor(Ask ask) const {
    return std::any_of(m_pending.begin(), m_pending.end(), [ask](const auto& entry) { return entry.second == ask; });
}

void NodeClient::start() { openWay(Transport::Way::serve); }

void NodeClient::stop() {
    if (m_view.link.state == Link::State::stopping) return;
    m_retryTimer.stop();
    m_silenceTimer.stop();
    const bool wasOpen = m_open;
    setLink(Link::State::stopping);
    if (wasOpen)
        m_transport.close();
    else
        QMetaObject::invokeMethod(this, &NodeClient::stopped, Qt::QueuedConnection);
}

void NodeClient::retryNow() {
    if (m_open || m_view.link.state == Link::State::stopping) return;
    m_retryTimer.stop();
    openWay(m_way);
}

void NodeClient::openWay(Transport::Way way) {
    m_way = way;
    m_open = true;
    m_splitter = {};
    if (m_view.link.state != Link::State::down) setLink(Link::State::starting);
    m_silenceTimer.start(m_pace.silence);
    m_transport.open(way);
    request(Ask::subscribe);
}

void NodeClient::onReceived(const QByteArray& bytes) {
    const std::string_view chunk(bytes.constData(), static_cast<std::size_t>(bytes.size()));
    for (const std::string& text : m_splitter.feed(chunk)) {
        const Result<control::Line> line = control::decode(text);
        if (line.ok())
            take(line.value());
        else
            qWarning("a line of the node was left out: %s", line.error().message.c_str());
    }
    if (m_splitter.failed()) m_transport.close();
}

void NodeClient::take(const control::Line& line) {
    if (const auto* reply = std::get_if<control::Reply>(&line)) takeReply(*reply);
    if (const auto* notification = std::get_if<control::Notification>(&line)) {
        if (notification->method == "status") takeSnapshot(notification->params);
    }
}

void NodeClient::takeSnapshot(const nlohmann::json& params) {
    control::NodeSnapshot snapshot;
    const Status status = control::from_json(params, snapshot);
    if (!status.ok()) {
        qWarning("a snapshot of the node was left out: %s", status.error().message.c_str());
        if (m_view.link.state != Link::State::stopping) {
            setLink(Link::State::silent, tr("This window and its node are of different versions: install both from the "
                                            "same package, then start Potluck again."));
        }
        return;
    }
    if (m_view.link.state == Link::State::stopping) return;
    m_silenceTimer.start(m_pace.silence);
    m_retry = m_pace.first_retry;
    const bool firstWord = !m_view.heard || m_view.link.state != Link::State::up;
    const control::NodeSnapshot before = firstWord ? control::NodeSnapshot{} : std::move(m_view.snapshot);
    m_view.snapshot = std::move(snapshot);
    m_view.heard = true;
    setLink(Link::State::up);
    refreshRunTables(before);
}

void NodeClient::refreshRunTables(const control::NodeSnapshot& before) {
    const auto& run = m_view.snapshot.run;
    if (!run) {
        const bool nothingShown = m_view.curve.empty() && m_view.leaderboard.empty();
        m_view.curve.clear();
        m_view.leaderboard.clear();
        if (nothingShown) return;
        emit curveChanged();
        emit leaderboardChanged();
        return;
    }
    if (before.run && before.run->id == run->id && before.run->round == run->round) return;
    if (!waitsFor(Ask::curve)) request(Ask::curve, {{"most", curve_points_max}});
    if (!waitsFor(Ask::leaderboard)) request(Ask::leaderboard, {{"most", leaderboard_rows_max}});
}

void NodeClient::takeReply(const control::Reply& reply) {
    const auto found = m_pending.find(reply.id);
    if (found == m_pending.end()) return;
    const Ask ask = found->second;
    m_pending.erase(found);
    if (reply.error) {
        emit refused(ask, plainText(reply.error->message, 300));
        return;
    }
    takeResult(ask, reply.result);
    emit done(ask);
}

void NodeClient::takeResult(Ask ask, const nlohmann::json& result) {
    switch (ask) {
        case Ask::curve:
            m_view.curve = rowsOf<control::CurvePoint>(result, "points", curve_points_max);
            emit curveChanged();
            break;
        case Ask::leaderboard:
            m_view.leaderboard = rowsOf<control::LeaderboardRow>(result, "rows", leaderboard_rows_max);
            emit leaderboardChanged();
            break;
        case Ask::invite: emit inviteReady(textOf(result, "magnet")); break;
        case Ask::identity_show: emit identityShown(textOf(result, "id"), textOf(result, "words")); break;
        default: break;
    }
}

void NodeClient::onSilence() {
    setLink(Link::State::silent,
            tr("The node has not answered for a while; if this lasts, quit Potluck and start it again."));
}

void NodeClient::onEnded(Transport::End end, const QString& detail) {
    m_open = false;
    m_silenceTimer.stop();
    refuseAllPending();
    if (m_view.link.state == Link::State::stopping) {
        emit stopped();
        return;
    }
    if (end == Transport::End::already_running && m_way == Transport::Way::serve) {
        openWay(Transport::Way::control);
        return;
    }
    m_way = Transport::Way::serve;
    m_retryTimer.start(m_retry);
    setLink(Link::State::down, sentenceFor(end, detail));
    m_retry = std::min(m_retry * 2, m_pace.longest_retry);
}

QString NodeClient::sentenceFor(Transport::End end, const QString& detail) const {
    const QString why = plainText(detail, 200);
    const auto seconds = std::chrono::ceil<std::chrono::seconds>(m_retry).count();
    if (end == Transport::End::missing) {
        return tr("The program potluck-node could not be started (%1): install Potluck again, or name it with --node.")
            .arg(why);
    }
    const QString again = tr("Potluck starts it again in %n second(s).", nullptr, static_cast<int>(seconds));
    if (why.isEmpty()) return tr("The node stopped.") + QLatin1Char(' ') + again;
    return tr("The node stopped (%1).").arg(why) + QLatin1Char(' ') + again;
}

void NodeClient::refuseAllPending() {
    const auto pending = std::exchange(m_pending, {});
    for (const auto& [id, ask] : pending) {
        if (ask == Ask::subscribe || ask == Ask::curve || ask == Ask::leaderboard) continue;
        emit refused(ask, tr("The node stopped before it answered; try again when it is back."));
    }
}

void NodeClient::request(Ask ask, nlohmann::json params) {
    if (!m_open || m_pending.size() >= pending_max) {
        emit refused(ask, tr("The node cannot be reached; try again when it is back."));
        return;
    }
    const std::uint64_t id = m_nextId++;
    m_pending.emplace(id, ask);
    const std::string line = control::encode(control::Request{id, methodOf(ask), std::move(params)});
    m_transport.send(QByteArray::fromStdString(line));
}

void NodeClient::setLink(Link::State state, const QString& sentence) {
    m_view.link = {state, sentence};
    emit changed();
}

void NodeClient::join(const QString& invite) { request(Ask::join, {{"invite", utf8(invite)}}); }
void NodeClient::leave() { request(Ask::leave); }
void NodeClient::finishRound() { request(Ask::finish); }
void NodeClient::pause(std::chrono::seconds duration) { request(Ask::pause, {{"seconds", duration.count()}}); }
void NodeClient::resume() { request(Ask::resume); }
void NodeClient::setName(const QString& name) { request(Ask::set_name, {{"name", utf8(name)}}); }
void NodeClient::requestInvite() { request(Ask::invite); }
void NodeClient::requestIdentity() { request(Ask::identity_show); }
void NodeClient::exportIdentity(const QString& file) { request(Ask::identity_export, {{"file", utf8(file)}}); }
void NodeClient::importIdentity(const QString& file) { request(Ask::identity_import, {{"file", utf8(file)}}); }

}  // namespace potluck::ui
