// The real potluck-trainer over pipes, as a test drives it.
#pragma once

#include <QDir>
#include <QElapsedTimer>
#include <QFile>
#include <QProcess>

#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "core/control/rpc.h"

namespace potluck::tests {

using control::Line;
using control::LineSplitter;
using control::Notification;
using control::Reply;
using control::Request;
using nlohmann::json;

/// One potluck-trainer and what it said.
class TrainerChild {
public:
    explicit TrainerChild(const QStringList& arguments = {"--precision", "fp32"}) {
        m_process.setProcessChannelMode(QProcess::ForwardedErrorChannel);
        m_process.start(POTLUCK_BIN_DIR "/potluck-trainer", arguments);
        if (!m_process.waitForStarted(patience_ms)) qFatal("the trainer does not start");
    }
    ~TrainerChild() {
        m_process.kill();
        m_process.waitForFinished(patience_ms);
    }

    Reply call(const std::string& method, json params = json::object()) {
        const std::uint64_t id = ++m_id;
        m_process.write(QByteArray::fromStdString(encode(Request{id, method, std::move(params)})));
        while (true) {
            const std::optional<Line> line = next();
            if (!line) qFatal("no answer to %s", method.c_str());
            if (const Reply* reply = std::get_if<Reply>(&*line)) {
                if (reply->id != id) qFatal("an answer to another request");
                return *reply;
            }
            notifications.push_back(std::get<Notification>(*line));
        }
    }
    /// Waits for a notification of this name.
    std::optional<Notification> wait_for(const std::string& method) {
        for (std::size_t i = 0; i < notifications.size(); ++i) {
            if (notifications[i].method != method) continue;
            const Notification found = notifications[i];
            notifications.erase(notifications.begin(), notifications.begin() + static_cast<std::ptrdiff_t>(i) + 1);
            return found;
        }
        QElapsedTimer timer;
        timer.start();
        while (timer.elapsed() < patience_ms) {
            const std::optional<Line> line = next();
            if (!line) break;
            const Notification* found = std::get_if<Notification>(&*line);
            if (found != nullptr && found->method == method) return *found;
        }
        return std::nullopt;
    }
    /// The most memory it ever had, in bytes; Linux only.
    [[nodiscard]] std::uint64_t peak_bytes() const { return status_bytes("VmHWM:"); }
    /// What counts for RLIMIT_DATA at present; Linux only.
    [[nodiscard]] std::uint64_t data_bytes() const { return status_bytes("VmData:"); }
    [[nodiscard]] qint64 process() const { return m_process.processId(); }
    /// The niceness of each of its threads; Linux only.
    [[nodiscard]] std::vector<int> niceness() const {
        std::vector<int> all;
        const QDir tasks(QString("/proc/%1/task").arg(m_process.processId()));
        for (const QString& task : tasks.entryList(QDir::Dirs | QDir::NoDotAndDotDot)) {
            QFile file(tasks.filePath(task + "/stat"));
            if (!file.open(QIODevice::ReadOnly)) continue;
            const QByteArray stat = file.readAll();  // behind the name: state, 15 numbers, niceness
            all.push_back(stat.mid(stat.lastIndexOf(')') + 2).split(' ').value(16).toInt());
        }
        return all;
    }
    /// In the trainer's pipe when this returns.
    void write(const QByteArray& bytes) {
        m_process.write(bytes);
        while (m_process.bytesToWrite() > 0 && m_process.waitForBytesWritten(patience_ms)) continue;
    }
    void close_input() { m_process.closeWriteChannel(); }
    void kill() { m_process.kill(); }
    /// Exit code, or -1 if it did not end in time or crashed.
    int ended(int within_ms = 60'000) {
        if (m_process.state() != QProcess::NotRunning && !m_process.waitForFinished(within_ms)) return -1;
        return m_process.exitStatus() == QProcess::NormalExit ? m_process.exitCode() : -1;
    }
    [[nodiscard]] QByteArray rest() { return m_process.readAllStandardOutput(); }

    std::vector<Notification> notifications;

private:
    [[nodiscard]] std::uint64_t status_bytes(const std::string& wanted) const {
        std::ifstream file("/proc/" + std::to_string(m_process.processId()) + "/status");
        std::string name, rest;
        std::uint64_t kibibytes = 0;
        while (file >> name) {
            if (name == wanted && file >> kibibytes) return kibibytes * 1024;
            std::getline(file, rest);
        }
        return 0;
    }
    std::optional<Line> next() {
        QElapsedTimer timer;
        timer.start();
        while (m_lines.empty()) {
            const QByteArray bytes = m_process.readAllStandardOutput();
            for (std::string& line : m_splitter.feed({bytes.constData(), static_cast<std::size_t>(bytes.size())})) {
                m_lines.push_back(std::move(line));
            }
            if (!m_lines.empty()) break;
            if (timer.elapsed() > patience_ms) return std::nullopt;
            if (!m_process.waitForReadyRead(1000) && m_process.state() == QProcess::NotRunning &&
                m_process.bytesAvailable() == 0) {
                return std::nullopt;
            }
        }
        const Result<Line> line = control::decode(m_lines.front());
        if (!line.ok()) qFatal("not the protocol: %s", m_lines.front().c_str());
        m_lines.erase(m_lines.begin());
        return *line;
    }

    static constexpr int patience_ms = 240'000;
    QProcess m_process;
    LineSplitter m_splitter;
    std::vector<std::string> m_lines;
    std::uint64_t m_id = 0;
};

}  // namespace potluck::tests
