#include <QTest>

#include <limits>
#include <set>

#include "core/control/node_methods.h"
#include "tests/unit/control/as_read.h"

using namespace potluck;
using namespace potluck::control;
using nlohmann::json;

namespace {

NodeSnapshot snapshot() {
    NodeSnapshot node;
    node.activity = Activity::training;
    node.why = {{.reason = status::Reason::yielding,
                 .detail = "mpv",
                 .round = 12,
                 .since = 100,
                 .signal = activity::Signal::full_screen}};
    node.reason = "Training round 12.";
    node.progress = 0.25;
    node.name =
        "K\xc3\xbc"
        "che";
    node.network.port = 6881;
    node.trainer.process = 4711;
    node.run.emplace();
    node.run->name = "demo";
    node.run->round = 12;
    node.run->loss = 2.25;
    node.run->validation_loss = 2.5;
    node.run->validation_round = 11;
    node.run->figures = {{"PSNR", 21.5, "dB"}, {"classes told by neighbours", 75, "%", 50}};
    node.run->collapsed = true;
    node.run->members.resize(2);
    node.run->members[1].self = true;
    node.run->members[0].connected = true;
    node.run->members[0].seat = true;
    node.run->members[0].sent_per_second = 12;
    node.run->members[0].received_per_second = 34;
    node.run->members[1].through = "ab";
    return node;
}

}  // namespace

class NodeProtocolTest : public QObject {
    Q_OBJECT
private slots:
    void a_snapshot_survives_its_json() {
        const json object = json::parse(to_json(snapshot()).dump());
        NodeSnapshot back;
        QVERIFY(from_json(as_read(object), back).ok());
        QVERIFY(to_json(back) == object);
        QVERIFY(back.activity == Activity::training);
        const status::Why& why = snapshot().why;
        QVERIFY(static_cast<const status::Why&>(back.why) == why);
        QCOMPARE(object.at("why").at("code").get<std::string>(), std::string("yielding"));
        QVERIFY(back.run.has_value());
        QCOMPARE(back.run->validation_loss, 2.5);
        QCOMPARE(back.run->validation_round, std::uint64_t{11});
        QVERIFY(back.run->figures == snapshot().run->figures && back.run->collapsed);
        QCOMPARE(back.run->members.size(), std::size_t{2});
        QVERIFY(back.run->members[1].self && !back.run->members[1].connected);
        QVERIFY(!back.run->members[0].self && back.run->members[0].connected && back.run->members[0].seat);
        QCOMPARE(back.run->members[0].sent_per_second, std::uint64_t{12});
        QCOMPARE(back.run->members[0].received_per_second, std::uint64_t{34});
        QVERIFY(!back.run->members[0].through && back.run->members[1].through == "ab");
        QCOMPARE(back.network.port, std::uint16_t{6881});
    }

    void figures_end_at_their_limits() {
        NodeSnapshot node = snapshot(), back;
        const auto is_taken = [&] { return from_json(to_json(node), back).ok(); };
        node.run->figures.assign(figures_max, {std::string(figure_text_bytes_max, 'a'), 1, ""});
        QVERIFY(is_taken());
        node.run->figures.emplace_back();
        QVERIFY(!is_taken());
        node.run->figures.assign(1, {std::string(figure_text_bytes_max + 1, 'a'), 1, ""});
        QVERIFY(!is_taken());
    }

    void a_figure_is_told_with_its_unit_and_baseline() {
        QCOMPARE(figure_text({"orders predicted", 74.6, "%"}), std::string("orders predicted 75 %"));
        QCOMPARE(figure_text({"PSNR", 21.54, "dB"}), std::string("PSNR 21.5 dB"));
        QCOMPARE(value_text({"code loss", 1.25, "nats", 2.5}), std::string("1.250 nats (baseline 2.500 nats)"));
        QCOMPARE(value_text({"ratio", 0.5, ""}), std::string("0.500"));
        QVERIFY(figure_text({"\x1b[2J", 1, "\n"}).find_first_of("\x1b\n") == std::string::npos);
    }

    void an_older_node_does_not_say_what_goes_to_members() {
        json object = to_json(snapshot());
        for (json& member : object.at("run").at("members")) {
            for (const char* field : {"seat", "through", "sent_per_second", "received_per_second"}) member.erase(field);
        }
        NodeSnapshot back;
        QVERIFY(from_json(as_read(object), back).ok());
        const MemberRow& member = back.run->members[0];
        QVERIFY(!member.seat && !member.through && member.sent_per_second + member.received_per_second == 0);
    }

    void an_owners_rules_survive_json_and_unknown_names_are_refused() {
        NodeSnapshot node = snapshot();
        activity::Rules rules;
        rules.programs = {"blender"};
        rules.on[activity::place_of(activity::Signal::battery)] = false;
        rules.schedule.set({3}, activity::Level::pause);
        node.rules = described(rules);
        node.yield = YieldState{activity::Level::quiet, activity::Signal::input, "x", 7};
        const json object = json::parse(to_json(node).dump());
        NodeSnapshot back;
        QVERIFY(from_json(as_read(object), back).ok());
        QVERIFY(rules_of(*back.rules).value() == rules);
        QVERIFY(back.yield->level == activity::Level::quiet && back.yield->signal == activity::Signal::input);
        json wrong = object;
        wrong["rules"]["off"].push_back("weather");
        QVERIFY(!from_json(as_read(wrong), back).ok());
        wrong = object;
        wrong["rules"]["off"].push_back(3);
        QVERIFY(!from_json(as_read(wrong), back).ok());
        for (const int seconds : {4, 3601}) {
            wrong = object;
            wrong["rules"]["resume_seconds"] = seconds;
            QVERIFY(!from_json(as_read(wrong), back).ok());
        }
        for (const int seconds : {0, 601}) {
            QVERIFY(
                !read_as<Yield>({{"level", "run"}, {"signal", "input"}, {"detail", ""}, {"seconds", seconds}}).ok());
        }
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
        for (int i = 0; i <= static_cast<int>(Activity::not_running); ++i) {
            NodeSnapshot node;
            node.activity = static_cast<Activity>(i);
            NodeSnapshot back;
            QVERIFY(from_json(to_json(node), back).ok());
            QVERIFY(back.activity == node.activity);
            names.insert(name_of(node.activity));
        }
        QCOMPARE(names.size(), std::size_t{10});
    }

    void a_number_that_json_cannot_carry_is_told_as_zero() {
        NodeSnapshot node = snapshot();
        node.run->loss = std::numeric_limits<double>::infinity();
        QCOMPARE(to_json(node).at("run").at("loss").get<double>(), 0.0);
    }

    void rows_survive_their_json() {
        LeaderboardRow row;
        QVERIFY(from_json(to_json(LeaderboardRow{1, "aa", "n", 5, 2, 0.5, true}), row).ok());
        QVERIFY(row.rank == 1 && row.tokens == 5 && row.self && row.team.empty());
        QVERIFY(from_json(to_json(LeaderboardRow{1, "aa", "n", 5, 2, 0.5, true, "Graz"}), row).ok());
        QCOMPARE(row.team, std::string("Graz"));
        TeamRow team;
        QVERIFY(from_json(to_json(TeamRow{3, "Graz", 5, 2, 0.5, true}), team).ok());
        QVERIFY(team.rank == 3 && team.team == "Graz" && team.tokens == 5 && team.members == 2 && team.own);
        Leaderboard board;
        QVERIFY(from_json({{"rows", json::array()}}, board).ok());  // of an older node
        QVERIFY(board.teams.empty() && !board.own_team);
        board.teams = std::vector<TeamRow>(team_rows_max, team);
        QVERIFY(from_json(to_json(board), board).ok());
        board.teams.push_back(team);
        QVERIFY(!from_json(to_json(board), board).ok());
        CurvePoint point;
        QVERIFY(from_json(to_json(CurvePoint{3, 2.5, 1'700'000'000, 2.75}), point).ok());
        QVERIFY(point.round == 3 && point.at == 1'700'000'000 && point.validation == 2.75);
        CheckpointRow checkpoint;
        QVERIFY(from_json(to_json(CheckpointRow{3, "magnet:", "f", "d", 9}), checkpoint).ok());
        QVERIFY(checkpoint.bytes == 9 && checkpoint.magnet == "magnet:");
    }

    void bounds_themselves_are_read_data() {
        QTest::addColumn<QString>("text");
        const json good = to_json(snapshot());
        const auto row = [&](const char* name, const char* pointer, const json& value) {
            json object = good;
            object[json::json_pointer(pointer)] = value;
            QTest::newRow(name) << QString::fromStdString(object.dump());
        };
        row("longest name", "/name", std::string(512, 'a'));
        row("longest reason", "/reason", std::string(16'384, 'a'));
        row("largest count", "/run/my_tokens", 1ULL << 62U);
        row("largest port", "/network/port", 65'535);
        row("whole progress", "/progress", 1);
        row("lowest progress", "/progress", -1);
        row("largest loss", "/run/loss", 1e18);
    }
    void bounds_themselves_are_read() {
        QFETCH(const QString, text);
        NodeSnapshot back;
        const Status status = from_json(json::parse(text.toStdString()), back);
        QVERIFY2(status.ok(), status.ok() ? "" : status.error().message.c_str());
    }

    void too_many_members_are_refused() {
        json object = to_json(snapshot());
        const json member = object["run"]["members"][0];
        object["run"]["members"] = std::vector<json>(10'000, member);
        NodeSnapshot back;
        QVERIFY(from_json(as_read(object), back).ok());
        object["run"]["members"].push_back(member);
        QVERIFY(!from_json(as_read(object), back).ok());
    }

    void a_fault_names_its_own_object() {
        json object = to_json(snapshot());
        object["run"]["members"][1].erase("round");
        NodeSnapshot back;
        const std::string message = from_json(as_read(object), back).error().message;
        QVERIFY2(message.find("member") != std::string::npos && message.find("round") != std::string::npos,
                 message.c_str());
    }

    void a_call_is_a_line_and_back() {
        const Line line = decode(encode_call(7, Join{"potluck:x", run::Role::backbone})).value();
        const Request& request = std::get<Request>(line);
        QCOMPARE(request.method, std::string("join"));
        const Join join = read_as<Join>(request.params).value();
        QCOMPARE(join.invite, std::string("potluck:x"));
        QVERIFY(join.role == run::Role::backbone);
    }

    void parameters_with_defaults_may_be_left_out() {
        QVERIFY(read_as<Join>({{"invite", "x"}}).value().role == run::Role::volunteer);
        QCOMPARE(read_as<Pause>(json::object()).value().seconds, std::uint64_t{0});
        QCOMPARE(read_as<ReadLeaderboard>(json::object()).value().rows, std::uint64_t{100});
        QCOMPARE(read_as<ReadCurve>(json::object()).value().points, std::uint64_t{500});
        QCOMPARE(read_as<SampleText>({{"prompt", ""}}).value().temperature, 0.8);
    }

    void parameters_out_of_range_are_refused() {
        QVERIFY(!read_as<Join>(json::object()).ok());
        QVERIFY(!read_as<Join>({{"invite", std::string(4097, 'a')}}).ok());
        QVERIFY(!read_as<Join>({{"invite", "x"}, {"role", "host"}}).ok());
        QVERIFY(!read_as<Pause>({{"seconds", (1ULL << 32U) + 1}}).ok());
        QVERIFY(!read_as<SetName>({{"name", std::string(257, 'a')}}).ok());
        QVERIFY(read_as<SetTeam>({{"team", std::string(own_name_bytes_max, 'a')}}).ok());
        QVERIFY(!read_as<SetTeam>({{"team", std::string(own_name_bytes_max + 1, 'a')}}).ok());
        QVERIFY(!read_as<ReadLeaderboard>({{"most", 0}}).ok());
        QVERIFY(!read_as<ReadCurve>({{"most", 10'001}}).ok());
        QVERIFY(!read_as<SampleText>({{"prompt", ""}, {"tokens", 4097}}).ok());
        QVERIFY(!read_as<SampleText>({{"prompt", ""}, {"temperature", 10.5}}).ok());
        QVERIFY(!read_as<Leave>({{"now", true}}).ok());
    }

    void methods_have_names_of_their_own() {
        const std::set<std::string_view> names(NodeMethods::names.begin(), NodeMethods::names.end());
        QCOMPARE(names.size(), NodeMethods::names.size());
        QVERIFY(method_of<Join> != method_of<Leave>);
    }

    void a_snapshot_with_an_invalid_field_is_refused_data() {
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
        row("name too long", "/name", std::string(513, 'a'));
        row("reason too long", "/reason", std::string(16'385, 'a'));
        row("id too long", "/peer_id", std::string(65, 'a'));
        row("progress below", "/progress", -1.5);
        row("paused in the past", "/paused_until", -1);
        row("count too large", "/run/my_tokens", (1ULL << 62U) + 1);
        row("number too large", "/run/loss", 1e19);
        row("process too large", "/trainer/process", (1ULL << 62U) + 1);
        row("peers too many", "/network/peers", 1ULL << 32U);
        row("trainer state", "/trainer/state", "stopped");
        row("run phase", "/run/phase", "relaying");
        row("member role", "/run/members/0/role", "host");
        row("member lacks", "/run/members/0", json::object());
        row("unknown field of a member", "/run/members/1/colour", 1);
        row("unknown field of the network", "/network/colour", 1);
        row("run is null", "/run", nullptr);
    }
    void a_snapshot_with_an_invalid_field_is_refused() {
        QFETCH(const QString, text);
        NodeSnapshot back;
        QVERIFY(!from_json(json::parse(text.toStdString()), back).ok());
    }
};

QTEST_GUILESS_MAIN(NodeProtocolTest)
#include "test_node_protocol.moc"
