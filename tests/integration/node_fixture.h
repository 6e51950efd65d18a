// Real `potluck-node` processes on loopback for tests: each with a data folder of its own, spoken to over its standard
// streams, with the fake trainer beside it. Everything dies with the fixture.
#pragma once

#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <QCoreApplication>
#include <QElapsedTimer>
#include <QProcess>
#include <QProcessEnvironment>
#include <QTemporaryDir>
#include <QTest>

#include "core/control/node_protocol.h"
#include "core/control/rpc.h"
#include "core/identity/identity.h"

namespace potluck::test {

inline QString node_program() { return QStringLiteral(POTLUCK_BIN_DIR) + "/potluck-node"; }
inline QString fake_trainer() { return QStringLiteral(POTLUCK_BIN_DIR) + "/fake_trainer"; }

struct Ended {
    int code = -1;
    QString out, err;
};

/// Runs the program to its end, which comes within `limit` milliseconds.
inline Ended run_node(const QStringList& arguments, int limit = 20'000, const QString& trainer = fake_trainer()) {
    QProcess process;
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    environment.insert("POTLUCK_TRAINER", trainer);
    environment.insert("POTLUCK_LOOPBACK", "1");
    process.setProcessEnvironment(environment);
    process.start(node_program(), arguments);
    Ended ended;
    if (process.waitForFinished(limit) && process.exitStatus() == QProcess::NormalExit) ended.code = process.exitCode();
    process.kill();
    process.waitForFinished(1000);
    ended.out = QString::fromUtf8(process.readAllStandardOutput());
    ended.err = QString::fromUtf8(process.readAllStandardError());
    return ended;
}

/// A node's answer as a verb printed it with --json: every one with a version, none with a progress that nobody knows.
template <class Answer>
Result<Answer> printed_answer(const Ended& ended) {
    nlohmann::json answer = nlohmann::json::parse(ended.out.toStdString(), nullptr, false);
    if (!answer.is_object()) return Error{ErrorCode::malformed, ended.out.toStdString()};
    if constexpr (std::is_same_v<Answer, control::NodeSnapshot>) {
        if (!answer.contains("progress")) answer["progress"] = -1.0;
        if (answer.contains("releases") && !answer["releases"].contains("progress"))
            answer["releases"]["progress"] = -1.0;
    } else {
        answer.erase("version");
    }
    return control::read_as<Answer>(answer);
}

/// Text enough to host from.
inline void write_text(const std::filesystem::path& file, std::size_t bytes = 150'000) {
    std::filesystem::create_directories(file.parent_path());
    std::ofstream out(file);
    for (std::size_t n = 0, written = 0; written < bytes; ++n) {
        const std::string word = "word " + std::to_string(n * 7919 % 10'007) + (n % 11 == 0 ? "\n" : " ");
        out << word;
        written += word.size();
    }
}

/// One serving node.
class ServingNode {
public:
    explicit ServingNode(std::filesystem::path folder) : m_folder(std::move(folder)) {}
    ~ServingNode() { kill(); }

    void start(QStringList more = {}, const QProcessEnvironment& extra = {}) {
        m_process = std::make_unique<QProcess>();
        m_splitter = {};
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        environment.insert("POTLUCK_TRAINER", fake_trainer());
        environment.insert(extra);
        m_process->setProcessEnvironment(environment);
        m_process->setProcessChannelMode(QProcess::SeparateChannels);
        m_process->start(node_program(), QStringList{"serve", "--loopback", "--threads", "1", "--data-dir",
                                                     QString::fromStdString(m_folder.string())} +
                                             more);
        QVERIFY(m_process->waitForStarted(5000));
    }

    /// The answer's result; null if there was an error or none within `limit` milliseconds.
    nlohmann::json call(const std::string& method, const nlohmann::json& params = nlohmann::json::object(),
                        int limit = 8000) {
        const std::uint64_t id = ++m_id;
        m_error.clear();
        m_process->write(QByteArray::fromStdString(control::encode(control::Request{id, method, params})));
        QElapsedTimer clock;
        for (clock.start(); clock.elapsed() < limit;) {
            m_process->waitForReadyRead(50);
            const QByteArray bytes = m_process->readAllStandardOutput();
            for (const std::string& line :
                 m_splitter.feed({bytes.constData(), static_cast<std::size_t>(bytes.size())})) {
                const auto decoded = control::decode(line);
                const auto* reply = decoded ? std::get_if<control::Reply>(&*decoded) : nullptr;
                if (reply == nullptr || reply->id != id) continue;
                if (reply->error) m_error = reply->error->message;
                return reply->error ? nlohmann::json() : reply->result;
            }
            if (m_process->state() == QProcess::NotRunning) break;
        }
        return {};
    }

    control::NodeSnapshot status() {
        control::NodeSnapshot snapshot;
        (void)from_json(call("status"), snapshot);
        return snapshot;
    }
    /// Looks until `what` holds of the status, which a quiet computer takes `limit` milliseconds for at most; false if
    /// it does not hold after three times that.
    template <class Condition>
    bool wait_for(Condition what, int limit) {
        QElapsedTimer clock;
        for (clock.start(); clock.elapsed() < 3 * limit; QTest::qSleep(40)) {
            if (what(status())) return true;
        }
        return false;
    }
    bool wait_for_round(std::uint64_t round, int limit) {
        return wait_for([&](const control::NodeSnapshot& now) { return now.run && now.run->round >= round; }, limit);
    }

    void kill() {
        if (!m_process || m_process->state() == QProcess::NotRunning) return;
        m_process->kill();
        m_process->waitForFinished(3000);
    }
    /// Closes its input, as a parent does that goes; its exit code, or -1 if it did not end.
    int close(int limit = 8000) {
        m_process->closeWriteChannel();
        const bool ended = m_process->waitForFinished(limit);
        return ended && m_process->exitStatus() == QProcess::NormalExit ? m_process->exitCode() : -1;
    }

    [[nodiscard]] QProcess& process() { return *m_process; }
    [[nodiscard]] const std::string& error() const { return m_error; }
    [[nodiscard]] const std::filesystem::path& folder() const { return m_folder; }
    [[nodiscard]] QString data() const { return QString::fromStdString(m_folder.string()); }

private:
    std::filesystem::path m_folder;
    std::unique_ptr<QProcess> m_process;
    control::LineSplitter m_splitter;
    std::uint64_t m_id = 0;
    std::string m_error;
};

/// A run hosted by a backbone, and volunteers.
class Swarm {
public:
    std::filesystem::path root() const { return m_root.path().toStdString(); }

    /// Hosts and serves a run of `rounds` rounds with short windows, of a fresh small model.
    void host(int rounds, const QStringList& more = {}) {
        host_model(rounds, QStringList{"--layers", "1", "--width", "32", "--heads", "2"} + more);
    }
    /// The same of the model that `more` names.
    void host_model(int rounds, const QStringList& more) {
        write_text(root() / "text" / "words.txt");
        const Ended made = run_node(QStringList{"host",
                                                "--prepare",
                                                "--data-dir",
                                                QString::fromStdString((root() / "host").string()),
                                                "--text",
                                                QString::fromStdString((root() / "text").string()),
                                                "--name",
                                                "Test",
                                                "--context",
                                                "32",
                                                "--rounds",
                                                QString::number(rounds),
                                                "--window",
                                                "0.6",
                                                "--collect",
                                                "2",
                                                "--grace",
                                                "1.2",
                                                "--density",
                                                "256",
                                                "--checkpoint-every",
                                                "3"} +
                                    more);
        QVERIFY2(made.code == 0, qPrintable(made.err));
        m_backbone = std::make_unique<ServingNode>(root() / "host");
        m_backbone->start();
        QVERIFY(m_backbone->wait_for([](const auto& now) { return now.run.has_value(); }, 10'000));
        m_invite = m_backbone->call("invite").value("magnet", std::string());
        QVERIFY(!m_invite.empty());
    }

    /// Options of host() that name the keys of volunteers to come.
    [[nodiscard]] QStringList allowing(const std::vector<std::string>& names) const {
        QStringList options;
        for (const std::string& name : names) {
            std::filesystem::create_directories(root() / name);
            const auto identity = identity::Identity::open_or_create(root() / name / "identity.key");
            if (!identity.ok()) qFatal("no key for %s", name.c_str());
            options << "--allow" << QString::fromStdString(identity->id().hex());
        }
        return options;
    }

    static constexpr const char* nameless = "nameless";
    /// Its folder and its name; `nameless` has none.
    ServingNode& volunteer(const std::string& name, const QProcessEnvironment& extra = {}) {
        m_volunteers.push_back(std::make_unique<ServingNode>(root() / name));
        ServingNode& node = *m_volunteers.back();
        node.start({"--dht", "127.0.0.1:" + QString::number(m_backbone->status().network.port), "--name-of-node",
                    QString::fromStdString(name == nameless ? "" : name)},
                   extra);
        node.call("join", {{"invite", m_invite}});
        return node;
    }

    [[nodiscard]] ServingNode& backbone() { return *m_backbone; }
    [[nodiscard]] const std::string& invite() const { return m_invite; }
    [[nodiscard]] std::vector<std::unique_ptr<ServingNode>>& volunteers() { return m_volunteers; }

    /// Whether all nodes reach the run's end with one digest.
    bool all_end_equal(int limit) {
        const auto ended = [](const control::NodeSnapshot& now) {
            return now.run && now.run->round == now.run->total_rounds;
        };
        if (!m_backbone->wait_for(ended, limit)) return false;
        const std::string digest = m_backbone->status().run->digest;
        for (const auto& node : m_volunteers) {
            if (!node->wait_for([&](const auto& now) { return ended(now) && now.run->digest == digest; }, limit))
                return false;
        }
        return true;
    }

    /// Whether the backbone exports the last state of a run that has ended, which its closing list certifies a moment
    /// after everybody has that state.
    bool exports_the_end(const std::filesystem::path& folder, int limit = 10'000) {
        QElapsedTimer clock;
        for (clock.start(); clock.elapsed() < limit; QTest::qSleep(40)) {
            const nlohmann::json exported = m_backbone->call("export", {{"folder", folder.string()}});
            const auto run = m_backbone->status().run;
            if (exported.is_object() && run && exported.at("round") == run->total_rounds) return exported.at("agreed");
            std::filesystem::remove_all(folder);
        }
        return false;
    }

    /// Whether the backbone exports the state that it holds, as soon as it holds one.
    bool exports(const std::filesystem::path& folder, int limit = 20'000) {
        return QTest::qWaitFor(
            [&] {
                return m_backbone->call("export", {{"folder", folder.string()}}).is_object();
            },
            limit);
    }

    /// Whether all nodes go on comparing their states with others' and find them equal.
    bool all_stay_equal(int limit) {
        std::vector<ServingNode*> nodes{m_backbone.get()};
        for (const auto& node : m_volunteers) nodes.push_back(node.get());
        for (ServingNode* node : nodes) {
            const std::uint64_t before = node->status().run->digests_compared;
            const auto compares = [&](const control::NodeSnapshot& now) {
                return now.run && now.run->digests_compared > before + 3;
            };
            if (!node->wait_for(compares, limit)) return false;
            const control::NodeSnapshot now = node->status();
            if (now.run->digests_equal != now.run->digests_compared) return false;
        }
        return true;
    }

private:
    QTemporaryDir m_root;
    std::string m_invite;
    std::unique_ptr<ServingNode> m_backbone;
    std::vector<std::unique_ptr<ServingNode>> m_volunteers;
};

}  // namespace potluck::test
