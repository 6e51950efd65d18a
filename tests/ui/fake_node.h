// A node for tests: sits at the client's transport seam, remembers what was asked, and answers with lines that a real
// node would send. Snapshots are recorded ones, read from tests/ui/snapshots.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include <QFile>
#include <QTimer>

#include "core/control/node_methods.h"
#include "ui/client/transport.h"

namespace potluck::tests {

inline nlohmann::json recorded(const char* name) {
    QFile file(QStringLiteral(POTLUCK_SOURCE_DIR "/tests/ui/snapshots/%1.json").arg(QLatin1String(name)));
    POTLUCK_CHECK(file.open(QIODevice::ReadOnly));
    return nlohmann::json::parse(file.readAll().toStdString());
}

inline control::NodeSnapshot recordedSnapshot(const char* name) {
    control::NodeSnapshot snapshot;
    POTLUCK_CHECK(control::from_json(recorded(name), snapshot).ok());
    return snapshot;
}

class FakeNode : public ui::Transport {
    Q_OBJECT

public:
    FakeNode() {
        using namespace control;
        answer(ReadCurve::name, recorded("curve"));
        answer(ReadLeaderboard::name, recorded("leaderboard"));
        answer(ReadPauses::name, to_json(PauseHistory{}));
        answer(ReadRuns::name, recorded("runs"));
        answer(ReadDays::name, recorded("days"));
        answer(ReadDisk::name, recorded("disk"));
        answer(ReadRunOptions::name, to_json(RunOptions{}));
        answer(EstimateRun::name, to_json(RunEstimate{}));
        answer(LookAtRun::name, to_json(OfferedRun{}));
        answer(FindRuns::name, to_json(FoundRuns{}));
        answer(ReadDevices::name, to_json(DetectReply{}));
        answer(ReadLog::name, to_json(LogLines{}));
        answer(SampleText::name, to_json(SampledText{}));
        answer(ExportModel::name, to_json(ExportedFiles{}));
        answer(MakeInvite::name, to_json(InviteLink{"magnet:?xt=urn:btmh:1220ab"}));
        answer(ShowIdentity::name, to_json(IdentityWords{"ab12", "apple river stone lamp"}));
    }

    // What the node says.
    void push(const control::NodeSnapshot& snapshot) {
        say(control::Notification{std::string(control::status_notification), control::to_json(snapshot)});
    }
    void push(const nlohmann::json& snapshot) {
        control::NodeSnapshot parsed;
        POTLUCK_CHECK(control::from_json(snapshot, parsed).ok());
        push(parsed);
    }
    void pushRecorded(const char* name) {
        say(control::Notification{std::string(control::status_notification), recorded(name)});
    }
    void refuse(const std::string& method, const std::string& sentence) { m_refusals[method] = sentence; }
    void answer(std::string_view method, nlohmann::json result) { m_answers[std::string(method)] = std::move(result); }
    void hold(const std::string& method) { m_held.insert(method); }
    /// Answers what was held, and holds no more.
    void release(const std::string& method) {
        m_held.erase(method);
        for (const control::Request& request : requests) {
            if (request.method == method) reply(request);
        }
    }
    void sayRaw(const QByteArray& bytes) { emit received(bytes); }
    void die(End end, const QString& detail) {
        m_isOpen = false;
        emit ended(end, detail);
    }

    // What it was asked.
    [[nodiscard]] int count(const std::string& method) const {
        int times = 0;
        for (const control::Request& request : requests) times += request.method == method;
        return times;
    }
    [[nodiscard]] nlohmann::json lastParams(const std::string& method) const {
        for (auto request = requests.rbegin(); request != requests.rend(); ++request) {
            if (request->method == method) return request->params;
        }
        return nullptr;
    }

    void open(Way way) override {
        openings.push_back(way);
        m_isOpen = true;
    }

    void send(const QByteArray& bytes) override {
        for (const std::string& line : m_splitter.feed({bytes.constData(), static_cast<std::size_t>(bytes.size())})) {
            const Result<control::Line> decoded = control::decode(line);
            POTLUCK_CHECK(decoded.ok() && std::holds_alternative<control::Request>(decoded.value()));
            requests.push_back(std::get<control::Request>(decoded.value()));
            if (!m_held.contains(requests.back().method)) reply(requests.back());
        }
    }

    void close() override {
        ++closings;
        QTimer::singleShot(0, this, [this] { die(End::closed, {}); });
    }

    std::vector<Way> openings;
    std::vector<control::Request> requests;
    int closings = 0;

private:
    void say(const control::Line& line) { emit received(QByteArray::fromStdString(control::encode(line))); }

    void reply(const control::Request& request) {
        control::Reply reply{request.id, nlohmann::json::object(), std::nullopt};
        if (const auto answer = m_answers.find(request.method); answer != m_answers.end())
            reply.result = answer->second;
        if (const auto refusal = m_refusals.find(request.method); refusal != m_refusals.end()) {
            reply.result = nullptr;
            reply.error = Error{ErrorCode::invalid_argument, refusal->second};
        }
        QTimer::singleShot(0, this, [this, reply] {
            if (m_isOpen) say(reply);
        });
    }

    std::map<std::string, nlohmann::json> m_answers;
    std::map<std::string, std::string> m_refusals;
    std::set<std::string> m_held;
    control::LineSplitter m_splitter;
    bool m_isOpen = false;
};

}  // namespace potluck::tests
