#include <QTest>

#include <limits>
#include <set>

#include "core/control/node_protocol.h"

using namespace potluck;
using namespace potluck::control;
using nlohmann::json;

namespace {

NodeSnapshot snapshot() {
    NodeSnapshot node;
    node.activity = Activity::training;
    node.reason = "Training round 12.";
    node.progress = 0.25;
    node.name = "K\xc3\xbc" "che";
    node.network.port = 6881;
    node.trainer.process = 4711;
    node.run.emplace();
    node.run->name = "demo";
    node.run->round = 12;
    node.run->loss = 2.25;
    node.run->members.resize(2);
    node.run->members[1].self = true;
    return node;
}

}  // namespace

class NodeProtocolTest : public QObject {
    Q_OBJECT
private slots:
    void a_snapshot_survives_its_json() {
        const json object = json::parse(to_json(snapshot()).dump());
        NodeSnapshot back;
        QVERIFY(from_json(object, back).ok());
        QVERIFY(to_json(back) == object);
        QVERIFY(back.activity == Activity::training);
        QVERIFY(back.run.has_value());
        QCOMPARE(back.run->members.size(), std::size_t{2});
        QVERIFY(back.run->members[1].self);
        QCOMPARE(back.network.port, std::uint16_t{6881});
    }

    void a_node_without_a_run_has_none() {
        NodeSnapshot node = snapshot();
        node.run.reset();
        NodeSnapshot back = snapshot();
        QVERIFY(from_json(to_json(node), back).ok());
        QVERIFY(!back.run.has_value());
    }

    void every_activity_has_a_name_of_its_own() {
        std::set<std::string> names;
        for (int i = 0; i <= static_cast<int>(Activity::failed); ++i) {
            NodeSnapshot node;
            node.activity = static_cast<Activity>(i);
            NodeSnapshot back;
            QVERIFY(from_json(to_json(node), back).ok());
            QVERIFY(back.activity == node.activity);
            names.insert(name_of(node.activity));
        }
        QCOMPARE(names.size(), std::size_t{9});
    }

    void a_number_that_json_cannot_carry_is_told_as_zero() {
        NodeSnapshot node = snapshot();
        node.run->loss = std::numeric_limits<double>::infinity();
        QCOMPARE(to_json(node).at("run").at("loss").get<double>(), 0.0);
    }

    void rows_survive_their_json() {
        LeaderboardRow row;
        QVERIFY(from_json(to_json(LeaderboardRow{1, "aa", "n", 5, 2, 0.5, true}), row).ok());
        QVERIFY(row.rank == 1 && row.tokens == 5 && row.self);
        CurvePoint point;
        QVERIFY(from_json(to_json(CurvePoint{3, 2.5, 1'700'000'000}), point).ok());
        QVERIFY(point.round == 3 && point.at == 1'700'000'000);
        CheckpointRow checkpoint;
        QVERIFY(from_json(to_json(CheckpointRow{3, "magnet:", "f", "d", 9}), checkpoint).ok());
        QVERIFY(checkpoint.bytes == 9 && checkpoint.magnet == "magnet:");
    }

    void what_is_out_of_range_is_refused_data() {
        QTest::addColumn<QString>("text");
        const json good = to_json(snapshot());
        const auto row = [&](const char* name, const char* pointer, const json& value) {
            json object = good;
            object[json::json_pointer(pointer)] = value;
            QTest::newRow(name) << QString::fromStdString(object.dump());
        };
        row("activity", "/activity", "dancing");
        row("progress", "/progress", 1.5);
        row("port", "/network/port", 65'536);
        row("member count", "/run/members", json::array({1}));
        row("round", "/run/round", -1);
        row("unknown field", "/run/colour", 1);
        row("run is text", "/run", "none");
        row("name too long", "/name", std::string(1000, 'a'));
    }
    void what_is_out_of_range_is_refused() {
        QFETCH(const QString, text);
        NodeSnapshot back;
        QVERIFY(!from_json(json::parse(text.toStdString()), back).ok());
    }
};

QTEST_GUILESS_MAIN(NodeProtocolTest)
#include "test_node_protocol.moc"
