// Which device trains: the owner's choice holds at once, costs no round and stays, whether a window or the command line
// made it; where the chosen device is gone another trains, and that is told. Which programs run is told, too.
#include <QFile>
#include <QFileInfo>

#include "tests/integration/node_fixture.h"

using namespace potluck;
using namespace potluck::test;

namespace {

bool trains(const control::NodeSnapshot& now) {
    return now.activity == control::Activity::training && now.trainer.process > 0 && now.trainer.tokens_per_second > 0;
}
/// For wait_for().
auto trains_on(const std::string& device) {
    return [device](const control::NodeSnapshot& now) { return trains(now) && now.trainer.device_id == device; };
}

/// A host, and a volunteer whose trainers have two GPUs and write down what they are told.
struct Scene {
    Scene() {
        swarm.host(1000);
        environment.insert("FAKE_TRAINER_GPUS", "2");
        environment.insert("FAKE_TRAINER_LOADS", file("loads"));
        environment.insert("FAKE_TRAINER_MOMENTS", file("moments"));
    }
    [[nodiscard]] QString file(const char* name) const {
        return QString::fromStdString((swarm.root() / name).string());
    }
    [[nodiscard]] QList<QByteArray> lines(const char* name) const {
        QFile report(file(name));
        return report.open(QIODevice::ReadOnly) ? report.readAll().trimmed().split('\n') : QList<QByteArray>();
    }
    [[nodiscard]] std::string device_of_last_load() const {
        return nlohmann::json::parse(lines("loads").back().toStdString()).at("device").get<std::string>();
    }
    void start_again(ServingNode& node, const QStringList& more = {}) const {
        QCOMPARE(node.close(), 0);
        node.start(QStringList{"--dht", "127.0.0.1:" + QString::number(port)} + more, environment);
    }

    Swarm swarm;
    QProcessEnvironment environment;
    quint16 port = 0;
};

}  // namespace

class NodeDevicesTest : public QObject {
    Q_OBJECT
private slots:
    void a_device_that_is_chosen_trains_at_once_without_losing_what_was_trained() {
        Scene scene;
        ServingNode& ben = scene.swarm.volunteer("ben", scene.environment);
        QVERIFY(ben.wait_for(trains_on("cpu"), 20'000));
        QVERIFY(ben.status().device == control::DeviceChoice{});
        const std::int64_t before = ben.status().trainer.process;
        QVERIFY(!ben.call("set_device", {{"device", "cuda:1"}}).is_null());
        QVERIFY(ben.wait_for(trains_on("cuda:1"), 20'000));
        QVERIFY(ben.status().trainer.process != before);
        QVERIFY(ben.status().device == control::DeviceChoice{.chosen = "cuda:1"});
        QCOMPARE(scene.lines("moments").size(), 1);  // the second trainer took those of the first
        const std::uint64_t rounds = ben.status().run->my_rounds;
        QVERIFY(ben.wait_for([&](const auto& now) { return now.run->my_rounds > rounds + 1; }, 20'000));
        QCOMPARE(ben.status().run->rounds_lost, std::uint64_t{0});

        const std::int64_t there = ben.status().trainer.process;
        QVERIFY(!ben.call("set_device", {{"device", "cuda:1"}}).is_null());  // where it trains already
        QTest::qSleep(1000);
        QCOMPARE(ben.status().trainer.process, there);
        ben.call("set_device", {{"device", "toaster"}});
        QVERIFY(!ben.error().empty());
        QCOMPARE(ben.status().device->chosen, std::string("cuda:1"));
    }

    void several_gpus_train_together_and_are_switched_one_by_one() {
        using Ids = std::vector<std::string>;
        Scene scene;
        ServingNode& ben = scene.swarm.volunteer("ben", scene.environment);
        QVERIFY(ben.wait_for(trains_on("cpu"), 20'000));
        QVERIFY(!ben.call("set_device", {{"device", "cuda:1,cuda:0"}}).is_null());
        QVERIFY(ben.wait_for(trains_on("cuda:0"), 20'000));
        const control::NodeSnapshot both = ben.status();
        QVERIFY(both.trainer.devices == (Ids{"cuda:0", "cuda:1"}) && both.trainer.left_out.empty());
        QCOMPARE(both.device->chosen, std::string("cuda:0,cuda:1"));
        QCOMPARE(scene.device_of_last_load(), both.device->chosen);
        QVERIFY(run_node({"status", "--data-dir", ben.data()}).out.contains("training devices: cuda:0,cuda:1\n"));
        QVERIFY(!ben.call("set_device", {{"device", "cuda:0,cuda:1"}}).is_null());  // where it trains already
        QTest::qSleep(1000);
        QCOMPARE(ben.status().trainer.process, both.trainer.process);
        control::DetectReply found;
        QVERIFY(from_json(ben.call("devices"), found).ok());
        QVERIFY(found.devices[1].usable && found.devices[2].usable);  // our own trainer has their memory

        QVERIFY(!ben.call("set_device", {{"device", "cuda:1"}}).is_null());
        QVERIFY(ben.wait_for(trains_on("cuda:1"), 20'000));
        QCOMPARE(ben.status().trainer.devices, Ids{"cuda:1"});
        QVERIFY(!ben.call("set_device", {{"device", "cuda:0,cuda:7"}}).is_null());
        QVERIFY(ben.wait_for(trains_on("cuda:0"), 20'000));
        const control::NodeSnapshot one = ben.status();
        QCOMPARE(one.trainer.devices, Ids{"cuda:0"});
        QCOMPARE(one.trainer.left_out.size(), std::size_t{1});
        QVERIFY(one.device->obstacle.empty());
        const QString said = run_node({"status", "--data-dir", ben.data()}).out;
        QVERIFY2(said.contains("cuda:7 does not train: There is no device cuda:7 here.\n"), qPrintable(said));
        for (const char* wrong : {"cuda:0,cuda:0", "cuda:0,cpu"}) {
            ben.call("set_device", {{"device", wrong}});
            QVERIFY(!ben.error().empty());
        }
        QCOMPARE(ben.status().device->chosen, std::string("cuda:0,cuda:7"));
        QCOMPARE(ben.status().run->rounds_lost, std::uint64_t{0});
    }

    void the_window_and_the_command_line_write_one_setting_that_stays() {
        Scene scene;
        ServingNode& ben = scene.swarm.volunteer("ben", scene.environment);
        scene.port = scene.swarm.backbone().status().network.port;
        QVERIFY(ben.wait_for(trains_on("cpu"), 20'000));
        ben.call("set_device", {{"device", "cuda:1"}});
        scene.start_again(ben);
        QVERIFY(ben.wait_for(trains_on("cuda:1"), 20'000));
        QVERIFY(run_node({"status", "--data-dir", ben.data()}).out.contains("chosen device: cuda:1\n"));
        scene.start_again(ben, {"--device", "cuda"});
        QVERIFY(ben.wait_for(trains_on("cuda:0"), 20'000));
        QCOMPARE(ben.status().device->chosen, std::string("cuda:0"));
        ben.call("set_device", {{"device", "any"}});
        QVERIFY(ben.wait_for(trains_on("cpu"), 20'000));
        QVERIFY(run_node({"status", "--data-dir", ben.data()}).out.contains("chosen device: any\n"));
        QCOMPARE(scene.device_of_last_load(), std::string());
    }

    void a_choice_made_in_a_pause_waits_for_its_end() {
        Scene scene;
        ServingNode& ben = scene.swarm.volunteer("ben", scene.environment);
        QVERIFY(ben.wait_for(trains_on("cpu"), 20'000));
        ben.call("pause", {{"seconds", 0}});
        QVERIFY(ben.wait_for([](const auto& now) { return now.trainer.process == 0; }, 5'000));
        ben.call("set_device", {{"device", "cuda:0"}});
        QTest::qSleep(1500);
        QCOMPARE(ben.status().trainer.process, std::int64_t{0});
        ben.call("resume");
        QVERIFY(ben.wait_for(trains_on("cuda:0"), 20'000));
    }

    void where_the_chosen_device_is_gone_another_trains_and_that_is_told() {
        Scene scene;
        ServingNode& ben = scene.swarm.volunteer("ben", scene.environment);
        scene.port = scene.swarm.backbone().status().network.port;
        QVERIFY(ben.wait_for(trains_on("cpu"), 20'000));
        ben.call("set_device", {{"device", "cuda:1"}});
        QVERIFY(ben.wait_for(trains_on("cuda:1"), 20'000));
        scene.environment.insert("FAKE_TRAINER_GPUS", "1");
        scene.start_again(ben);
        QVERIFY(ben.wait_for(trains_on("cpu"), 20'000));
        const control::NodeSnapshot now = ben.status();
        QCOMPARE(now.device->chosen, std::string("cuda:1"));
        QCOMPARE(now.device->obstacle, std::string("There is no device cuda:1 here."));
        QVERIFY2(now.reason.find("There is no device cuda:1 here. Another device trains") != std::string::npos,
                 now.reason.c_str());
        QVERIFY(now.trainer.restarts == 0);
        const QString said = run_node({"status", "--data-dir", ben.data()}).out;
        QVERIFY2(said.contains("chosen device: cuda:1; another trains meanwhile: There is no"), qPrintable(said));
        ben.call("set_device", {{"device", "any"}});
        QVERIFY(ben.wait_for([](const auto& later) { return later.device == control::DeviceChoice{}; }, 5'000));
    }

    void devices_are_detected_during_training() {
        Scene scene;
        ServingNode& ben = scene.swarm.volunteer("ben", scene.environment);
        QVERIFY(ben.wait_for(trains_on("cpu"), 20'000));
        const std::int64_t trainer = ben.status().trainer.process;
        ben.call("set_device", {{"device", "cuda:1"}});
        QVERIFY(ben.wait_for(trains_on("cuda:1"), 20'000));
        control::DetectReply found;
        QVERIFY(from_json(ben.call("devices", {{"again", true}}), found).ok());
        QCOMPARE(found.devices.size(), std::size_t{3});
        QVERIFY(found.devices[0].usable);
        QCOMPARE(found.devices[1].reason, std::string("Its memory is taken; close other programs."));
        QVERIFY(found.devices[2].usable);  // our own trainer has that memory
        QCOMPARE(found.devices[2].reason, std::string("It trains."));
        QVERIFY(ben.status().trainer.process != trainer && trains(ben.status()));
    }

    void the_programs_that_run_are_told_as_the_system_has_them() {
        Scene scene;
        ServingNode& ben = scene.swarm.volunteer("ben", scene.environment);
        QVERIFY(ben.wait_for(trains_on("cpu"), 20'000));
        const control::NodeSnapshot now = ben.status();
        QVERIFY(now.programs.has_value());
        QCOMPARE(now.programs->rows.size(), std::size_t{2});
        const control::ProgramRow &node = now.programs->rows[0], &trainer = now.programs->rows[1];
        QVERIFY(node.kind == control::ProgramKind::node && node.process == ben.process().processId());
        QCOMPARE(QString::fromStdString(node.path), QFileInfo(node_program()).canonicalFilePath());
        QVERIFY(trainer.kind == control::ProgramKind::trainer && trainer.process == now.trainer.process);
        QCOMPARE(QString::fromStdString(trainer.path), QFileInfo(fake_trainer()).canonicalFilePath());
        QCOMPARE(trainer.version, std::string("0.0 of paper"));
#ifdef __linux__
        QVERIFY(now.programs->complete && node.resident > 0 && trainer.resident > 0);
#endif
        ben.call("pause", {{"seconds", 0}});
        QVERIFY(ben.wait_for([](const auto& later) { return later.trainer.process == 0; }, 5'000));
        const control::ProgramRow gone = ben.status().programs->rows[1];
        QVERIFY(gone.process == 0 && gone.resident == 0 && gone.version.empty());
        QCOMPARE(QString::fromStdString(gone.path), fake_trainer());
    }

    void a_driver_that_takes_the_look_along_is_told_and_training_goes_on() {
        Scene scene;
        scene.environment.insert("FAKE_TRAINER_CRASH", "detect");
        ServingNode& ben = scene.swarm.volunteer("ben", scene.environment);
        QVERIFY(ben.wait_for(trains_on("cpu"), 20'000));
        const std::int64_t trainer = ben.status().trainer.process;
        QVERIFY(ben.call("devices").is_null());
        QVERIFY(!ben.error().empty());
        QVERIFY(ben.call("devices").is_null());  // asked anew
        QCOMPARE(ben.status().trainer.process, trainer);
    }
};

QTEST_GUILESS_MAIN(NodeDevicesTest)
#include "test_node_devices.moc"
