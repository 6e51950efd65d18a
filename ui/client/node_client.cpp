// The window starts a node of its own (serve). If that ends because another holds the data folder, the client opens the
// way to the one that runs (control); if that ends too, it goes back to serve with a pause that doubles up to 30 s. A
// snapshot resets the pause.
//
// Every request is kept until its answer, its refusal or the end of the link, so that a button which waits for it is
// always released; requests of the client's own (subscription, curve, leaderboard) end silently with the link and are
// repeated on the next. What arrives but cannot be read is left out with a warning, and if it is a snapshot the person
// is told that the versions differ.
//
// After stop() nothing changes the view any more, and stopped() comes once, also if no link was open. Threads: Qt's
// main thread.
#include "ui/client/node_client.h"

#include <algorithm>

#include <QLoggingCategory>

#include "core/base/text.h"
#include "ui/client/plain_text.h"

namespace potluck::ui {

namespace {

constexpr std::size_t pending_max = 64;
constexpr std::size_t curve_points_max = 1000;
constexpr std::size_t leaderboard_rows_max = 500;
constexpr std::uint64_t days_shown = 30;
constexpr std::uint64_t log_lines_shown = 1000;
constexpr std::size_t samples_max = 20;
constexpr std::uint32_t sample_tokens = 120;

std::string utf8(const QString& text) { return text.toUtf8().toStdString(); }

QString versionsDiffer() {
    return NodeClient::tr(
        "This window and Potluck's background program are of different versions: install both from the same package, "
        "then start "
        "Potluck again.");
}

}  // namespace

NodeClient::NodeClient(Transport& transport, Pace pace, QObject* parent)
    : QObject(parent), m_transport(transport), m_pace(pace), m_retry(pace.first_retry) {
    m_retryTimer.setSingleShot(true);
    m_silenceTimer.setSingleShot(true);
    connect(&m_retryTimer, &QTimer::timeout, this, [this] { openWay(m_way); });
    connect(&m_silenceTimer, &QTimer::timeout, this, &NodeClient::onSilence);
    connect(&m_transport, &Transport::received, this, &NodeClient::onReceived);
    connect(&m_transport, &Transport::ended, this, &NodeClient::onEnded);
    connect(this, &NodeClient::refused, this, [this](control::Method method, const QString& sentence) {
        if (method == control::method_of<control::LookAtRun>) failLook(sentence);
        if (method == control::method_of<control::ReadDevices>)
            setDevicesFound({.state = FoundDevices::State::failed, .problem = sentence, .found = {}});
    });
}

template <control::MethodCall Call>
void NodeClient::call(const Call& call, std::function<void(const typename Call::Reply&)> take) {
    send(
        control::method_of<Call>, [&call](std::uint64_t id) { return control::encode_call(id, call); },
        [take = std::move(take)](const nlohmann::json& result) -> Status {
            const auto reply = control::read_as<typename Call::Reply>(result);
            if (!reply.ok()) return reply.error();
            if (take) take(*reply);
            return {};
        });
}

template void NodeClient::call<control::FindRuns>(const control::FindRuns&,
                                                  std::function<void(const control::FoundRuns&)>);
template void NodeClient::call<control::FollowList>(const control::FollowList&,
                                                    std::function<void(const control::FollowedRow&)>);
template void NodeClient::call<control::UnfollowList>(const control::UnfollowList&,
                                                      std::function<void(const control::Done&)>);
template void NodeClient::call<control::SetNextRun>(const control::SetNextRun&,
                                                    std::function<void(const control::Done&)>);

bool NodeClient::waitsFor(control::Method method) const {
    return std::any_of(m_pending.begin(), m_pending.end(),
                       [method](const auto& entry) { return entry.second.method == method; });
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
    call(control::Subscribe{});
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
        if (notification->method == control::status_notification) takeSnapshot(notification->params);
    }
}

void NodeClient::takeSnapshot(const nlohmann::json& params) {
    control::NodeSnapshot snapshot;
    const Status status = control::from_json(params, snapshot);
    if (!status.ok()) {
        qWarning("a snapshot of the node was left out: %s", status.error().message.c_str());
        if (m_view.link.state != Link::State::stopping) {
            setLink(Link::State::silent, versionsDiffer());
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
    if (firstWord) m_view.devices = {};
    setLink(Link::State::up);
    refreshRunTables(before);
    refreshPauses(firstWord ? nullptr : &before);
}

/// The history changes with what holds training up; `before` is null where nothing is known of earlier.
void NodeClient::refreshPauses(const control::NodeSnapshot* before) {
    const auto cause = [](const control::NodeSnapshot& node) {
        const bool paused = node.activity == control::Activity::paused;
        return std::pair(paused, node.yield ? node.yield->signal : activity::Signal::person);
    };
    if (before != nullptr && cause(*before) == cause(m_view.snapshot)) return;
    if (waitsFor(control::method_of<control::ReadPauses>)) return;
    call(control::ReadPauses{}, [this](const control::PauseHistory& pauses) {
        m_view.pauses = pauses.rows;
        emit pausesChanged();
    });
}

void NodeClient::refreshRunTables(const control::NodeSnapshot& before) {
    const auto& run = m_view.snapshot.run;
    if (!run || (before.run && before.run->id != run->id)) {
        m_view.committee.reset();
        m_view.checkpoints.clear();
        if (!std::exchange(m_view.samples, {}).empty()) emit samplesChanged();
    }
    if (!run) {
        const bool nothingShown = m_view.curve.empty() && m_view.leaderboard.rows.empty();
        m_view.curve.clear();
        m_view.leaderboard = {};
        if (nothingShown) return;
        emit curveChanged();
        emit leaderboardChanged();
        return;
    }
    if (before.run && before.run->id == run->id && before.run->round == run->round) return;
    if (!waitsFor(control::method_of<control::ReadCurve>)) {
        call(control::ReadCurve{curve_points_max}, [this](const control::Curve& curve) {
            m_view.curve = curve.points;
            emit curveChanged();
        });
    }
    askLeaderboard();
}

/// What is typed meanwhile is asked for when the answer is here.
void NodeClient::askLeaderboard() {
    if (waitsFor(control::method_of<control::ReadLeaderboard>)) return;
    const std::string find = m_find;
    call(control::ReadLeaderboard{leaderboard_rows_max, find}, [this, find](const control::Leaderboard& leaderboard) {
        m_view.leaderboard = leaderboard;
        emit leaderboardChanged();
        if (find != m_find) askLeaderboard();
    });
}

void NodeClient::findPeople(const QString& part) {
    m_find = std::string(utf8_prefix(part.trimmed().toStdString(), control::name_bytes_max));
    if (m_view.snapshot.run) askLeaderboard();
}

void NodeClient::takeReply(const control::Reply& reply) {
    const auto found = m_pending.find(reply.id);
    if (found == m_pending.end()) return;
    const Pending pending = std::move(found->second);
    m_pending.erase(found);
    if (reply.error) {
        emit refused(pending.method, plainText(reply.error->message, 300));
    } else if (const Status taken = pending.take(reply.result); !taken.ok()) {
        qWarning("an answer of the node was left out: %s", taken.error().message.c_str());
        emit refused(pending.method, versionsDiffer());
    } else {
        emit done(pending.method);
    }
}

void NodeClient::onSilence() {
    setLink(Link::State::silent, tr("Potluck's background program has not answered for a while; if this lasts, quit "
                                    "Potluck and start it again."));
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
    if (why.isEmpty()) return tr("Potluck's background program stopped.") + QLatin1Char(' ') + again;
    return tr("Potluck's background program stopped (%1).").arg(why) + QLatin1Char(' ') + again;
}

void NodeClient::refuseAllPending() {
    const auto pending = std::exchange(m_pending, {});
    for (const auto& [id, entry] : pending) {
        const bool ours = entry.method == control::method_of<control::Subscribe> ||
                          entry.method == control::method_of<control::ReadCurve> ||
                          entry.method == control::method_of<control::ReadPauses> ||
                          entry.method == control::method_of<control::Yield> ||
                          entry.method == control::method_of<control::ReadRunOptions> ||
                          entry.method == control::method_of<control::EstimateRun> ||
                          entry.method == control::method_of<control::ReadCommittee> ||
                          entry.method == control::method_of<control::ReadCheckpoints> ||
                          entry.method == control::method_of<control::ReadRuns> ||
                          entry.method == control::method_of<control::ReadDays> ||
                          entry.method == control::method_of<control::ReadDisk> ||
                          entry.method == control::method_of<control::FindRuns> ||
                          entry.method == control::method_of<control::ReadLeaderboard>;
        if (!ours)
            emit refused(entry.method,
                         tr("Potluck's background program stopped before it answered; try again when it is back."));
    }
}

void NodeClient::send(control::Method method, const std::function<std::string(std::uint64_t id)>& line,
                      std::function<Status(const nlohmann::json&)> take) {
    if (!m_open || m_pending.size() >= pending_max) {
        emit refused(method, tr("Potluck's background program cannot be reached; try again when it is back."));
        return;
    }
    const std::uint64_t id = m_nextId++;
    m_pending.emplace(id, Pending{method, std::move(take)});
    m_transport.send(QByteArray::fromStdString(line(id)));
}

void NodeClient::setLink(Link::State state, const QString& sentence) {
    m_view.link = {state, sentence};
    emit changed();
}

void NodeClient::join(const QString& invite, control::OtherRun otherRun) {
    call(control::Join{utf8(invite), run::Role::volunteer, otherRun});
}
void NodeClient::leave() { call(control::Leave{}); }
void NodeClient::finishRound() { call(control::Finish{control::AfterFinish::leave}); }
void NodeClient::pause(std::chrono::seconds duration) {
    call(control::Pause{static_cast<std::uint64_t>(duration.count())});
}
void NodeClient::resume() { call(control::Resume{}); }
void NodeClient::setName(const QString& name) { call(control::SetName{utf8(name)}); }
void NodeClient::setTeam(const QString& team) {
    call(control::SetTeam{utf8(team)}, [this](const control::Done&) {
        if (m_view.snapshot.run) askLeaderboard();
    });
}
void NodeClient::checkReleases() { call(control::CheckReleases{}); }
void NodeClient::installTrainer(const QString& kind) { call(control::InstallTrainer{utf8(kind), ""}); }
void NodeClient::removeTrainer() { call(control::RemoveTrainer{}); }
void NodeClient::setReleases(bool looks, bool passesOn) { call(control::SetReleases{looks, passesOn}); }
void NodeClient::giveWay(const activity::Decision& decision, std::chrono::seconds lease) {
    if (waitsFor(control::method_of<control::Yield>)) return;
    std::string detail = decision.detail;
    detail.resize(utf8_prefix(detail, control::name_bytes_max).size());
    control::Yield yield{decision.level, decision.signal, detail, static_cast<std::uint64_t>(lease.count())};
    if (decision.ends)
        yield.ends_in =
            static_cast<std::uint64_t>(std::max((*decision.ends - steady_now()).count(), Duration::rep{0})) / 1000;
    call(yield);
}
void NodeClient::setRules(const control::OwnerRules& rules) {
    call(control::SetRules{rules}, [this, rules](const control::Done&) {
        m_view.snapshot.rules = rules;
        emit changed();
    });
}
void NodeClient::setResources(const control::Resources& resources) {
    call(control::SetResources{resources}, [this, resources](const control::Done&) {
        m_view.snapshot.resources = resources;
        emit changed();
    });
}
void NodeClient::requestDevices(DeviceSearch search) {
    if (waitsFor(control::method_of<control::ReadDevices>)) return;
    FoundDevices asked = m_view.devices;
    asked.state = FoundDevices::State::asked;
    setDevicesFound(std::move(asked));
    call(control::ReadDevices{search == DeviceSearch::anew}, [this](const control::DetectReply& found) {
        setDevicesFound({.state = FoundDevices::State::here, .problem = {}, .found = found});
    });
}
void NodeClient::setDevicesFound(FoundDevices devices) {
    m_view.devices = std::move(devices);
    emit devicesChanged();
}
void NodeClient::setDevice(const std::string& device) {
    call(control::SetDevice{device}, [this, device](const control::Done&) {
        m_view.snapshot.device = control::DeviceChoice{.chosen = device == "any" ? std::string() : device};
        emit changed();
    });
}
void NodeClient::setProxy(const control::SetProxy& wanted) {
    const control::ProxyState now{wanted.kind, wanted.host, wanted.port, wanted.username, {}};
    call(wanted, [this, now](const control::Done&) {
        m_view.snapshot.proxy = now;
        emit changed();
    });
}
void NodeClient::setPort(std::uint16_t port) {
    call(control::SetPort{port}, [this, port](const control::Done&) {
        m_view.snapshot.network.port = port;
        emit changed();
    });
}
void NodeClient::showSights(const activity::Sights& sights, bool inputDrifts) {
    const auto same = [](const activity::Sight& a, const activity::Sight& b) { return a.blindness == b.blindness; };
    const bool shown = m_view.sights && m_view.inputDrifts == inputDrifts &&
                       std::equal(sights.begin(), sights.end(), m_view.sights->begin(), same);
    m_view.sights = sights;
    m_view.inputDrifts = inputDrifts;
    if (!shown) emit sightsChanged();
}
void NodeClient::requestInvite() {
    call(control::MakeInvite{},
         [this](const control::InviteLink& invite) { emit inviteReady(QString::fromStdString(invite.magnet)); });
}
void NodeClient::requestRunOptions() {
    if (m_view.runOptions || waitsFor(control::method_of<control::ReadRunOptions>)) return;
    call(control::ReadRunOptions{}, [this](const control::RunOptions& options) {
        m_view.runOptions = options;
        emit runOptionsChanged();
    });
}
void NodeClient::estimateRun(const control::EstimateRun& question) {
    if (waitsFor(control::method_of<control::EstimateRun>)) return;
    call(question, [this](const control::RunEstimate& estimate) { emit estimated(estimate); });
}
void NodeClient::hostRun(const control::RunChoices& choices) { call(control::HostRun{choices}); }
void NodeClient::cancelHosting() { call(control::CancelHosting{}); }
void NodeClient::requestCommittee() {
    if (!waitsFor(control::method_of<control::ReadCommittee>)) {
        call(control::ReadCommittee{}, [this](const control::Committee& committee) {
            m_view.committee = committee;
            emit committeeChanged();
        });
    }
    if (waitsFor(control::method_of<control::ReadCheckpoints>)) return;
    call(control::ReadCheckpoints{}, [this](const control::Checkpoints& checkpoints) {
        m_view.checkpoints = checkpoints.rows;
        emit committeeChanged();
    });
}
void NodeClient::moderate(control::ModerationKind kind, const std::string& key) {
    call(control::Moderate{.kind = kind, .key = key}, [this](const auto&) { requestCommittee(); });
}
void NodeClient::rollBack(std::uint64_t round) {
    call(control::Moderate{.kind = control::ModerationKind::rollback, .key = {}, .round = round},
         [this](const auto&) { requestCommittee(); });
}
void NodeClient::replaceCommittee(const std::vector<std::string>& keys) {
    call(control::ReplaceCommittee{keys, std::nullopt}, [this](const auto&) { requestCommittee(); });
}
void NodeClient::requestRecords() {
    if (!m_open || waitsFor(control::method_of<control::ReadRuns>)) return;
    call(control::ReadDays{days_shown}, [this](const control::Days& days) { m_view.days = days.rows; });
    call(control::ReadDisk{}, [this](const control::DiskUse& disk) {
        m_view.disk = disk;
        emit recordsChanged();
    });
    call(control::ReadRuns{}, [this](const control::KnownRuns& runs) {
        m_view.runs = runs.rows;
        emit recordsChanged();
    });
}
void NodeClient::rejoin(const std::string& run, control::OtherRun otherRun) {
    call(control::Rejoin{run, run::Role::volunteer, otherRun});
}
void NodeClient::deleteRunFiles(const std::string& run) { call(control::DeleteRunFiles{run}); }
void NodeClient::requestLog() {
    if (!m_open || waitsFor(control::method_of<control::ReadLog>)) return;
    call(control::ReadLog{log_lines_shown}, [this](const control::LogLines& log) {
        m_view.log = log.lines;
        emit logChanged();
    });
}
void NodeClient::lookAtRun(const QString& invite) {
    m_view.offer = Offer();
    m_view.offer.invite = invite;
    if (!invite.isEmpty()) m_view.offer.state = Offer::State::asked;
    emit offerChanged();
    if (invite.isEmpty()) return;
    call(control::LookAtRun{utf8(invite)}, [this, invite](const control::OfferedRun& run) {
        if (m_view.offer.invite != invite) return;
        m_view.offer.state = Offer::State::here;
        m_view.offer.run = run;
        emit offerChanged();
    });
}
/// A refusal of an earlier look says nothing about the newest one.
void NodeClient::failLook(const QString& sentence) {
    if (m_view.offer.state != Offer::State::asked || waitsFor(control::method_of<control::LookAtRun>)) return;
    m_view.offer.state = Offer::State::failed;
    m_view.offer.problem = sentence;
    emit offerChanged();
}
void NodeClient::writeSample(const QString& prompt) {
    if (waitsFor(control::method_of<control::SampleText>)) return;
    const std::string run = m_view.snapshot.run ? m_view.snapshot.run->id : std::string();
    control::SampleText question{.prompt = utf8(prompt), .tokens = sample_tokens};
    call(question, [this, run, prompt](const control::SampledText& written) {
        if (!m_view.snapshot.run || m_view.snapshot.run->id != run) return;
        const QByteArray digits = QByteArray::fromStdString(written.picture.value_or(std::string()));
        m_view.samples.insert(m_view.samples.begin(), {written.round, prompt, QString::fromStdString(written.text),
                                                       QByteArray::fromHex(digits), written.nearest.value_or(0)});
        if (m_view.samples.size() > samples_max) m_view.samples.pop_back();
        emit samplesChanged();
    });
}
void NodeClient::saveModel(const QString& folder) {
    if (waitsFor(control::method_of<control::ExportModel>)) return;
    call(control::ExportModel{.folder = utf8(folder)},
         [this, folder](const control::ExportedFiles& files) { emit modelSaved(files, folder); });
}
void NodeClient::requestIdentity() {
    call(control::ShowIdentity{}, [this](const control::IdentityWords& identity) {
        emit identityShown(QString::fromStdString(identity.id), QString::fromStdString(identity.words));
    });
}
void NodeClient::exportIdentity(const QString& file) { call(control::ExportIdentity{utf8(file)}); }
void NodeClient::importIdentity(const QString& file) { call(control::ImportIdentity{utf8(file)}); }
void NodeClient::importIdentityWords(const QString& words) { call(control::ImportIdentityWords{utf8(words)}); }

}  // namespace potluck::ui
