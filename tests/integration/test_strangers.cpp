// Somebody without any role attacks a live run of real nodes: a program of its own (stranger/), which speaks the wire
// format by a second implementation in Python. A host and two volunteers train, and somebody joins during each attack.
// Whatever the stranger does, rounds go on, all hold one state, it earns nothing or its capped share, memory stays
// where it was, every command is answered, and the nodes count what they have refused.
#include <algorithm>
#include <array>
#include <fstream>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <QDir>
#include <QFile>
#include <QStandardPaths>

#include "tests/integration/node_fixture.h"

using namespace potluck;
using namespace potluck::test;

namespace {

constexpr int attack_seconds = 5;
/// More than ten rounds with a window of 0.6 s, on a busy computer.
constexpr int member_seconds = 20;
constexpr std::uint64_t rounds_to_first_credit = 10;
/// 60 a second make 720, and 566 were enough to use up a node's connections when each was fetched as a blob.
constexpr int slow_attack_seconds = 12;
constexpr int join_after = 1'000;  // after the attack has begun; here and below in milliseconds
constexpr int join_max = 20'000;
/// A window, all patience for contributions, and two views: each grace and two heartbeats.
constexpr int stall_max = 600 + 2'000 + 2 * (1'200 + 2 * 1'000);
/// Open files more than before: sessions of the attacks and of a member that joins, and connections for 16 payloads.
constexpr std::size_t descriptors_more_max = 400;
constexpr std::size_t growth_max = 64ULL << 20U;
constexpr int rounds_of_probation = 10;
constexpr int exit_skipped = 77;

std::size_t memory_of(ServingNode& node) {
    std::ifstream file("/proc/" + std::to_string(node.process().processId()) + "/status");
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("VmRSS:")) return std::stoul(line.substr(6)) << 10U;
    }
    return 0;
}

std::size_t descriptors_of(ServingNode& node) {
    const QDir folder("/proc/" + QString::number(node.process().processId()) + "/fd");
    return folder.entryList(QDir::NoDotAndDotDot | QDir::AllEntries | QDir::System).size();
}

/// The program in stranger/. Each seed has keys of its own.
class Stranger {
public:
    Stranger(const QString& attack, int seed, const QString& manifest, const QStringList& nodes) {
        const QString program = QStringLiteral(POTLUCK_SOURCE_DIR) + "/tests/integration/stranger";
        const int seconds = attack == "fresh_keys_in_time" ? slow_attack_seconds
                            : attack == "member"           ? member_seconds
                                                           : attack_seconds;
        const QStringList options{attack, manifest, QString::number(seconds), QString::number(seed)};
        m_process.start("python3", QStringList{"-B", program} + options + nodes);
    }
    ~Stranger() {
        m_process.kill();
        m_process.waitForFinished(1000);
    }
    /// Whether it hears every node and begins.
    bool wait_until_open() {
        QElapsedTimer clock;
        for (clock.start(); !m_process.canReadLine() && clock.elapsed() < 15'000;) {
            if (!m_process.waitForReadyRead(100) && m_process.state() == QProcess::NotRunning) break;
        }
        return m_process.readLine().trimmed() == "open";
    }
    /// Tells it of another node.
    void meet(const QString& address) { m_process.write(address.toUtf8() + "\n"); }
    bool running() {
        m_process.waitForFinished(0);
        return m_process.state() != QProcess::NotRunning;
    }
    /// What it did; null if it failed.
    nlohmann::json report() {
        if (running()) m_process.waitForFinished(20'000);
        if (running() || m_process.exitCode() != 0) return {};
        const std::string text = m_process.readAllStandardOutput().toStdString();
        return nlohmann::json::parse(text, nullptr, false);
    }
    [[nodiscard]] bool lacks_libsodium() const {
        return m_process.state() == QProcess::NotRunning && m_process.exitCode() == exit_skipped;
    }
    QByteArray errors() { return m_process.readAllStandardError(); }

private:
    QProcess m_process;
};

/// What is seen of a node from one look to the next.
class Watch {
public:
    explicit Watch(ServingNode& node) : m_node(node), m_memory(memory_of(node)), m_descriptors(descriptors_of(node)) {
        m_clock.start();
    }

    /// False if the node does not answer.
    bool look() {
        const control::NodeSnapshot now = m_node.status();
        if (!now.run) return false;
        if (now.run->round != m_round) m_clock.restart();
        m_stall = std::max(m_stall, m_clock.elapsed());
        m_round = now.run->round;
        m_digests[m_round] = now.run->digest;
        const std::size_t memory = memory_of(m_node);
        m_growth = std::max(m_growth, memory - std::min(m_memory, memory));
        const std::size_t descriptors = descriptors_of(m_node);
        m_descriptors_more = std::max(m_descriptors_more, descriptors - std::min(m_descriptors, descriptors));
        m_sessions = std::min(m_sessions, now.network.peers);
        return true;
    }
    [[nodiscard]] std::uint64_t round() const { return m_round; }
    [[nodiscard]] qint64 stall() const { return m_stall; }
    [[nodiscard]] std::size_t growth() const { return m_growth; }
    [[nodiscard]] std::size_t descriptors_more() const { return m_descriptors_more; }
    /// The fewest that were open at once.
    [[nodiscard]] std::uint32_t sessions() const { return m_sessions; }
    [[nodiscard]] const std::map<std::uint64_t, std::string>& digests() const { return m_digests; }
    /// Rounds that both have seen; -1 if they differ in one.
    [[nodiscard]] int equal_digests(const Watch& other) const {
        int equal = 0;
        for (const auto& [round, digest] : m_digests) {
            const auto found = other.m_digests.find(round);
            if (found == other.m_digests.end()) continue;
            if (found->second != digest) return -1;
            ++equal;
        }
        return equal;
    }

private:
    ServingNode& m_node;
    std::size_t m_memory, m_growth = 0;
    std::size_t m_descriptors, m_descriptors_more = 0;
    std::uint32_t m_sessions = std::numeric_limits<std::uint32_t>::max();
    std::uint64_t m_round = 0;
    std::map<std::uint64_t, std::string> m_digests;
    QElapsedTimer m_clock;
    qint64 m_stall = 0;
};

}  // namespace

class StrangersTest : public QObject {
    Q_OBJECT
private:
    std::unique_ptr<Swarm> m_swarm;
    int m_attacks = 0;

    std::array<ServingNode*, 3> honest() {
        return {&m_swarm->backbone(), m_swarm->volunteers()[0].get(), m_swarm->volunteers()[1].get()};
    }
    QString manifest() {
        return m_swarm->backbone().data() + "/network/manifests/" +
               QString::fromStdString(m_swarm->backbone().status().run->id) + ".potluck";
    }
    /// What the logs of all three tell of refusals.
    QString refusals_logged() {
        QString lines;
        for (ServingNode* node : honest()) {
            QFile log(node->data() + "/node.log");
            if (!log.open(QIODevice::ReadOnly)) continue;
            for (const QByteArray& line : log.readAll().split('\n')) {
                if (line.contains(" refused")) lines += QString::fromUtf8(line) + '\n';
            }
        }
        return lines;
    }
    /// Tokens credited to `keys` and to anybody, as `node` counts them.
    static std::pair<std::uint64_t, std::uint64_t> credit(ServingNode& node, const std::set<std::string>& keys) {
        std::uint64_t theirs = 0, all = 0;
        const nlohmann::json board = node.call("leaderboard", {{"most", 1000}});
        for (const auto& row : board.at("rows")) {
            const std::uint64_t tokens = row.at("tokens");
            if (keys.contains(row.at("id"))) theirs += tokens;
            all += tokens;
        }
        return {theirs, all};
    }
    void start_run() {
        m_swarm = std::make_unique<Swarm>();
        m_swarm->host(100'000, {"--probation-rounds", QString::number(rounds_of_probation), "--probation-hours", "0"});
        for (const char* name : {"anna", "ben"}) m_swarm->volunteer(name);
        // From then on the volunteers are no newcomers, and newcomers weigh a fifth of a list together.
        for (ServingNode* node : honest()) QVERIFY(node->wait_for_round(rounds_of_probation + 2, 90'000));
    }

private slots:
    void initTestCase() {
        if (QStandardPaths::findExecutable("python3").isEmpty()) QSKIP("there is no python3 on this computer");
    }
    void cleanupTestCase() { m_swarm.reset(); }
    void cleanup() {
        if (QTest::currentTestFailed()) m_swarm.reset();
    }

    void an_attack_harms_no_member_data() {
        QTest::addColumn<QString>("attack");
        QTest::addColumn<double>("share_max");  // of all tokens that were credited meanwhile
        const auto row = [](const char* attack, double share_max = 0) {
            QTest::newRow(attack) << QString(attack) << share_max;
        };
        row("silence");
        row("forged_lists");
        row("forged_history");
        row("copied_payloads");
        row("lying_statuses");
        row("absurd_statuses");
        row("garbage");
        row("withheld_payloads");
        row("fresh_keys_at_once");
        row("fresh_keys_in_time");
        row("false_payloads");
        row("replays");
        row("endless_questions");
        // Newcomers together weigh at most a fifth of a list, and a claim counts as four medians at most.
        row("vast_noise", 0.2);
    }
    void an_attack_harms_no_member() {
        QFETCH(QString, attack);
        QFETCH(double, share_max);
        if (!m_swarm) start_run();
        if (QTest::currentTestFailed()) return;

        const auto nodes = honest();
        QStringList addresses;
        for (ServingNode* node : nodes) addresses << "127.0.0.1:" + QString::number(node->status().network.port);
        const auto credit_before = credit(*nodes[0], {}).second;
        std::vector<Watch> watches;
        for (ServingNode* node : nodes) watches.emplace_back(*node);
        const std::uint64_t first_round = nodes[0]->status().run->round;
        std::vector<std::uint64_t> accepted_before;
        for (ServingNode* node : nodes) accepted_before.push_back(node->status().run->my_rounds);

        const int number = ++m_attacks;
        Stranger stranger(attack, number, manifest(), addresses);
        if (!stranger.wait_until_open()) {
            if (stranger.lacks_libsodium()) QSKIP("Python finds no libsodium on this computer");
            QFAIL(stranger.errors().constData());
        }
        QElapsedTimer clock;
        clock.start();
        ServingNode* late = nullptr;
        std::optional<qint64> joined;
        while (stranger.running() || !joined) {
            for (Watch& watch : watches) QVERIFY(watch.look());
            if (late == nullptr && clock.elapsed() > join_after) {
                late = &m_swarm->volunteer("late" + std::to_string(number));
                if (QTest::currentTestFailed()) return;
            } else if (late != nullptr && !joined) {
                const auto now = late->status();
                // A step behind the host is in step, too: the list is on its way.
                if (now.run && now.run->round > 0 && now.run->round + 1 >= watches[0].round()) joined = clock.elapsed();
                QVERIFY2(clock.elapsed() < join_after + join_max, qPrintable(QString::fromStdString(now.reason)));
            }
            QTest::qSleep(40);
        }
        const Ended asked = run_node({"status", "--json", "--data-dir", nodes[0]->data()});
        QVERIFY2(asked.code == 0, qPrintable(asked.err));

        // Two more rounds show that no attack outlives its sessions.
        Watch newcomer(*late);
        const std::uint64_t last = watches[0].round();
        const auto seen_by_all = [&] {
            bool all = newcomer.look();
            for (Watch& watch : watches) all = watch.look() && all;
            for (const Watch& watch : watches) {
                all = all && watch.round() >= last + 2 && watch.equal_digests(watches[0]) != 0;
            }
            return all && newcomer.equal_digests(watches[0]) != 0;
        };
        const auto seen = [&] {
            QString text = QString("after round %1").arg(last);
            for (const Watch* watch : {&watches[0], &watches[1], &watches[2], &newcomer})
                text += QString(", %1 (%2)").arg(watch->round()).arg(watch->equal_digests(watches[0]));
            return text;
        };
        QTRY_VERIFY2_WITH_TIMEOUT(seen_by_all(), qPrintable(seen()), 3 * stall_max);
        late->close();
        const nlohmann::json report = stranger.report();
        QVERIFY2(report.is_object(), stranger.errors().constData());

        qInfo("%s", report_of(report, watches, *joined - join_after).c_str());
        QVERIFY(newcomer.equal_digests(watches[0]) > 0);
        for (const Watch& watch : watches) {
            QVERIFY(watch.equal_digests(watches[0]) > 0);
            QVERIFY2(watch.stall() <= stall_max, qPrintable(QString("%1 ms without a round").arg(watch.stall())));
            QVERIFY2(watch.sessions() + 1 >= nodes.size(), qPrintable(QString("%1 sessions").arg(watch.sessions())));
            QVERIFY2(watch.descriptors_more() <= descriptors_more_max,
                     qPrintable(QString("%1 open files more").arg(watch.descriptors_more())));
            QVERIFY2(watch.growth() <= growth_max, qPrintable(QString("%1 MiB more").arg(watch.growth() >> 20U)));
        }
        QVERIFY(watches[0].round() > first_round + 2);
        for (const std::size_t volunteer :
             {std::size_t{1}, std::size_t{2}})  // what they trained meanwhile was accepted
            QVERIFY(nodes[volunteer]->status().run->my_rounds > accepted_before[volunteer]);

        const std::set<std::string> keys = report.at("keys");
        for (ServingNode* node : nodes) {
            const auto [theirs, all] = credit(*node, keys);
            const auto meanwhile = static_cast<double>(all - credit_before);
            QVERIFY2(static_cast<double>(theirs) <= share_max * meanwhile,
                     qPrintable(QString("%1 of %2 tokens").arg(theirs).arg(meanwhile)));
            if (share_max > 0) QVERIFY(report.at("served").get<int>() > 0);
        }
    }

    /// Once a minute, with a count for each reason.
    void the_log_names_what_was_refused() {
        if (m_attacks < 10) QSKIP("not all attacks were run");
        QVERIFY(m_swarm);
        const auto named = [](const QString& lines) {
            return lines.contains("bad_signature") && lines.contains("malformed") && lines.contains("not_allowed") &&
                   lines.contains("bad_payload") && lines.contains("flood");
        };
        QTRY_VERIFY2_WITH_TIMEOUT(named(refusals_logged()), qPrintable(refusals_logged()), 70'000);
    }

    /// Somebody can write a member from docs/wire-format.md and docs/payload-format.md alone.
    void a_member_written_from_the_documents_takes_part() {
        if (!m_swarm) start_run();
        if (QTest::currentTestFailed()) return;
        const auto nodes = honest();
        QStringList addresses;
        for (ServingNode* node : nodes) addresses << "127.0.0.1:" + QString::number(node->status().network.port);
        std::vector<Watch> watches;
        for (ServingNode* node : nodes) watches.emplace_back(*node);
        for (Watch& watch : watches) QVERIFY(watch.look());
        const std::uint64_t begun = watches[0].round();

        Stranger member("member", ++m_attacks, manifest(), addresses);
        if (!member.wait_until_open()) {
            if (member.lacks_libsodium()) QSKIP("Python finds no libsodium on this computer");
            QFAIL(member.errors().constData());
        }
        while (member.running()) {
            for (Watch& watch : watches) QVERIFY(watch.look());
            QTest::qSleep(40);
        }
        const nlohmann::json report = member.report();
        QVERIFY2(report.is_object(), member.errors().constData());
        const nlohmann::json facts = report.at("facts");
        const std::vector<std::uint64_t> accepted = facts.at("accepted");
        const std::map<std::string, std::string> digests = facts.at("digests");
        qInfo("offered to %zu rounds, accepted in %zu, computed %zu states", facts.at("offered").size(),
              accepted.size(), digests.size());
        QVERIFY2(!accepted.empty(), facts.dump().c_str());
        QVERIFY2(accepted.front() <= begun + rounds_to_first_credit, facts.dump().c_str());
        const std::set<std::string> key{facts.at("key").get<std::string>()};
        for (ServingNode* node : nodes) QVERIFY(credit(*node, key).first > 0);
        for (const Watch& watch : watches) {
            QVERIFY(watch.equal_digests(watches[0]) > 0);
            QVERIFY(equal_states(digests, watch.digests()) > 0);
        }
    }

private:
    /// Rounds of which both have the same state; -1 if they differ in one.
    static int equal_states(const std::map<std::string, std::string>& computed,
                            const std::map<std::uint64_t, std::string>& seen) {
        int equal = 0;
        for (const auto& [round, digest] : seen) {
            const auto found = computed.find(std::to_string(round));
            if (found == computed.end()) continue;
            if (found->second != digest) return -1;
            ++equal;
        }
        return equal;
    }
    /// A line of figures.
    static std::string report_of(const nlohmann::json& report, const std::vector<Watch>& watches, qint64 joined) {
        qint64 stall = 0;
        std::size_t growth = 0;
        for (const Watch& watch : watches) {
            stall = std::max(stall, watch.stall());
            growth = std::max(growth, watch.growth());
        }
        return "sent " + report.at("sent").dump() + " in " + report.at("sessions").dump() + " sessions of " +
               std::to_string(report.at("keys").size()) + " keys; longest round " + std::to_string(stall) +
               " ms, newcomer in step after " + std::to_string(joined) + " ms, memory +" +
               std::to_string(growth >> 20U) + " MiB";
    }
};

QTEST_GUILESS_MAIN(StrangersTest)
#include "test_strangers.moc"
