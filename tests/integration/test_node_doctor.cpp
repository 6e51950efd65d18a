// What a person learns without a running node: whether this computer can train, and how a model would. And that what
// is chosen for it reaches the trainer.
#include <QFile>

#include "core/control/trainer_protocol.h"
#include "tests/integration/node_fixture.h"

using namespace potluck;
using namespace potluck::test;

namespace {

/// The environment of processes that this test starts, until the end of the scope.
class Setting {
public:
    Setting(const char* name, const char* value) : m_name(name) { qputenv(name, value); }
    ~Setting() { qunsetenv(m_name); }
    Setting(const Setting&) = delete;
    Setting& operator=(const Setting&) = delete;

private:
    const char* m_name;
};

}  // namespace

class NodeDoctorTest : public QObject {
    Q_OBJECT
private slots:
    void the_doctor_says_what_trains() {
        const Ended ended = run_node({"doctor"});
        QCOMPARE(ended.code, 0);
        QVERIFY2(ended.out.contains("This computer can train.") && ended.out.contains("Paper"), qPrintable(ended.out));
        const auto object = nlohmann::json::parse(run_node({"doctor", "--json"}).out.toStdString());
        QVERIFY(object.at("can_train").get<bool>());
        QCOMPARE(object.at("found").at("devices").at(0).at("id").get<std::string>(), std::string("cpu"));
    }

    void an_instruction_set_that_there_is_not_is_refused_in_one_sentence() {
        const Setting wish("POTLUCK_ISA", "avx3");
        const Ended node = run_node({"doctor"});
        QCOMPARE(node.code, 2);
        QCOMPARE(node.err, QString("POTLUCK_ISA is \"avx3\"; it can be baseline, avx2 or avx512.\n"));
    }

    void a_computer_that_cannot_train_ends_the_doctor_with_one() {
        const Setting nothing("FAKE_TRAINER_DEVICES", "none");
        const Ended ended = run_node({"doctor"});
        QCOMPARE(ended.code, 1);
        QVERIFY2(ended.out.contains("buy another"), qPrintable(ended.out));
    }

    void a_driver_that_crashes_is_named_and_the_processor_trains() {
        const Setting crash("FAKE_TRAINER_CRASH", "detect");
        const Ended ended = run_node({"doctor"});
        QCOMPARE(ended.code, 0);
        QVERIFY2(ended.out.contains("This computer can train.") && ended.out.contains("Paper"), qPrintable(ended.out));
        QVERIFY2(ended.out.contains("the driver of a test") && ended.out.contains("signal 6"), qPrintable(ended.out));
    }

    void a_missing_trainer_is_told() {
        const Ended ended = run_node({"doctor"}, 20'000, "/nowhere/potluck-trainer");
        QCOMPARE(ended.code, 1);
        QVERIFY2(ended.out.contains("/nowhere/potluck-trainer is missing"), qPrintable(ended.out));
    }

    void a_chosen_device_that_is_not_there_is_told() {
        const Ended ended = run_node({"doctor", "--device", "cuda:1"});
        QCOMPARE(ended.code, 1);
        QVERIFY2(ended.out.contains("cuda:1, is not there"), qPrintable(ended.out));
    }

    void a_plan_tells_parts_speed_and_cost() {
        QTemporaryDir folder;
        const QStringList home = {"--data-dir", folder.path()};
        const Ended ended = run_node(QStringList{"plan", "gpt2", "--device", "cuda", "--volunteers", "50", "--gpu",
                                                 "RTX 4090", "--tokens", "10B"} +
                                     home);
        QVERIFY2(ended.code == 0, qPrintable(ended.err));
        for (const char* word : {"124 million parameters", "on cuda:0: arithmetic in 0 bits", "weights",
                                 "1000 tokens/s", "50 x RTX 4090", "kWh", "475 MiB a checkpoint"}) {
            QVERIFY2(ended.out.contains(word), qPrintable(QString(word) + "\n" + ended.out));
        }
        const Ended json = run_node(QStringList{"plan", "opt-125m", "--json"} + home);
        const auto object = nlohmann::json::parse(json.out.toStdString());
        QCOMPARE(object.at("plan").at("ram_peak").get<int>(), 4096);
        QVERIFY(object.at("cost").at("kilowatt_hours").get<double>() > 0);
    }

    void a_refused_plan_tells_what_would_work() {
        QTemporaryDir folder;
        const Ended ended = run_node({"plan", "gpt2", "--ram", "1KiB", "--data-dir", folder.path()});
        QCOMPARE(ended.code, 1);
        QVERIFY2(ended.err.contains("at least 4096 bytes"), qPrintable(ended.err));
        QCOMPARE(run_node({"plan", "gpt2", "--ram", "much"}).code, 2);
        QCOMPARE(run_node({"plan", "gpt2", "--device", "gpu"}).code, 2);
    }

    void limits_of_a_join_reach_the_trainer_and_outlive_a_restart() {
        Swarm swarm;
        swarm.host(1000);
        const QString loads = QString::fromStdString((swarm.root() / "loads").string());
        const QByteArray path = loads.toUtf8();
        const Setting told("FAKE_TRAINER_LOADS", path.constData());
        const Setting trainer("POTLUCK_TRAINER", fake_trainer().toUtf8().constData());
        const auto budgets = [&] {
            QFile file(loads);
            std::vector<control::Budget> found;
            if (!file.open(QIODevice::ReadOnly)) return found;
            for (const QByteArray& line : file.readAll().trimmed().split('\n')) {
                control::Budget budget;
                if (from_json(nlohmann::json::parse(line.toStdString(), nullptr, false), budget).ok())
                    found.push_back(budget);
            }
            return found;
        };
        const control::Budget wanted{.gpu_memory = 0, .ram = 6ULL << 30U, .device = "cpu"};
        const QStringList home = {"--loopback", "--data-dir", QString::fromStdString((swarm.root() / "ben").string()),
                                  "--dht", "127.0.0.1:" + QString::number(swarm.backbone().status().network.port)};
        QProcess join;
        join.start(
            node_program(),
            QStringList{"join", QString::fromStdString(swarm.invite()), "--ram", "6GiB", "--device", "cpu"} + home);
        QTRY_VERIFY_WITH_TIMEOUT(!budgets().empty(), 30'000);
        QVERIFY(budgets().back() == wanted);
        join.terminate();
        QVERIFY(join.waitForFinished(10'000));

        // The next start does not name them.
        const std::size_t before = budgets().size();
        QProcess again;
        again.start(node_program(), QStringList{"join", QString::fromStdString(swarm.invite())} + home);
        QTRY_VERIFY_WITH_TIMEOUT(budgets().size() > before, 30'000);
        QVERIFY(budgets().back() == wanted);
        again.terminate();
        QVERIFY(again.waitForFinished(10'000));
    }

    void a_change_of_plan_reaches_the_snapshot() {
        const Setting replan("FAKE_TRAINER_REPLAN", "1");
        Swarm swarm;
        swarm.host(1000);
        ServingNode& ben = swarm.volunteer("ben");
        QVERIFY(ben.wait_for(
            [](const auto& now) { return now.reason == "Memory ran out; training goes on with less."; }, 30'000));
        const auto now = ben.status();
        QCOMPARE(now.trainer.device, std::string("no device, only arithmetic · arithmetic in fewer bits"));
        QCOMPARE(now.activity, control::Activity::training);
    }
};

QTEST_GUILESS_MAIN(NodeDoctorTest)
#include "test_node_doctor.moc"
