// The trainer's supervisor against small shell scripts and the fake trainer's protocol on paper: starts, losses, ends.
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <thread>

#include "app/node/trainer/restart_policy.h"
#include "app/node/trainer/trainer_process.h"
#include "core/base/files.h"

using namespace potluck;
using namespace potluck::node;
namespace fs = std::filesystem;

namespace {

struct Heard final : peer::TrainerEvents {
    int started = 0, first_steps = 0, snapshots = 0;
    std::vector<Error> losses;
    std::uint64_t tokens = 0;
    void on_trainer_started() override { ++started; }
    void on_first_step() override { ++first_steps; }
    void on_progress(TokenCount count, double, double) override { tokens = count.value; }
    void on_snapshot(const peer::SnapshotResult& result) override {
        ++snapshots;
        tokens = result.tokens.value;
    }
    void on_trainer_lost(const Error& error) override { losses.push_back(error); }
    std::vector<peer::JudgeReport> judged;
    void on_judged(const peer::JudgeReport& report) override { judged.push_back(report); }
};

/// Answers each line under the ids 1, 2, 3 ... and writes it down beside itself.
constexpr const char* obedient =
    "#!/bin/sh\nn=0\nwhile read line; do n=$((n+1)); echo \"$line\" >>\"$0.told\"\n"
    "case \"$line\" in\n"
    "*'\"hello\"'*) r='{\"version\":5,\"device\":\"paper\",\"torch\":\"0\"}';;\n"
    "*'\"snapshot\"'*) r='{\"tokens\":77,\"steps\":3,\"loss\":2.5}';;\n"
    "*'\"stop\"'*) exit 0;;\n"
    "*) r='{}';;\nesac\n"
    "echo \"{\\\"jsonrpc\\\":\\\"2.0\\\",\\\"id\\\":$n,\\\"result\\\":$r}\"\n"
    "done\n";

/// The same, and tells of its plan and, while it trains, of its work.
constexpr const char* reporting =
    "#!/bin/sh\nn=0\nwhile read line; do n=$((n+1)); r='{}'; p=''\n"
    "case \"$line\" in\n"
    "*'\"hello\"'*) r='{\"version\":5,\"device\":\"paper\",\"torch\":\"0\"}';;\n"
    "*'\"load\"'*) "
    "r='{\"device\":\"cuda:0\",\"summary\":\"fp32\",\"layout\":{},\"parts\":[{\"what\":\"weights\",\"how\":\"fp32\","
    "\"gpu\":7,\"ram\":8,\"disk\":9}],\"gpu_peak\":7,\"ram_peak\":8,\"disk\":9,\"tokens_per_second\":5,\"why\":[]}';;\n"
    "*'\"train\"'*) "
    "p='{\"jsonrpc\":\"2.0\",\"method\":\"progress\",\"params\":{\"round\":7,\"tokens\":4,\"steps\":1,\"loss\":2,"
    "\"tokens_per_second\":6,\"watts\":12.5,\"celsius\":40,\"resident\":99}}';;\n"
    "*'\"stop\"'*) exit 0;;\nesac\n"
    "echo \"{\\\"jsonrpc\\\":\\\"2.0\\\",\\\"id\\\":$n,\\\"result\\\":$r}\"\n"
    "[ -z \"$p\" ] || echo \"$p\"\n"
    "done\n";

/// Measures as the script's ANSWER says, which stands behind the reply.
constexpr const char* measuring =
    "#!/bin/sh\nn=0\nwhile read line; do n=$((n+1)); echo \"$line\" >>\"$0.told\"\na='\"result\":{}'; p=''\n"
    "case \"$line\" in\n"
    "*'\"hello\"'*) a='\"result\":{\"version\":5,\"device\":\"paper\",\"torch\":\"0\"}';;\n"
    "*'\"judge\"'*) ANSWER;;\n"
    "*'\"stop\"'*) exit 0;;\nesac\n"
    "echo \"{\\\"jsonrpc\\\":\\\"2.0\\\",\\\"id\\\":$n,$a}\"\n"
    "[ -z \"$p\" ] || echo \"{\\\"jsonrpc\\\":\\\"2.0\\\",\\\"method\\\":\\\"judged\\\",\\\"params\\\":$p}\"\n"
    "done\n";
std::string measuring_as(const std::string& answer) {
    std::string script = measuring;
    return script.replace(script.find("ANSWER"), 6, answer);
}
std::string told_rows(const std::string& rows) {
    return "p='{\"rows\":[" + rows + "],\"seconds\":1.25,\"message\":\"\"}'";
}
std::string row(int subject) { return "{\"subject\":" + std::to_string(subject) + ",\"own\":0.5,\"other\":-0.25}"; }

peer::JudgePlan plan_of(std::uint64_t round, std::size_t subjects = 2) {
    peer::JudgePlan plan{RoundId{round}, {"state", 5}, {}, 0.25};
    for (std::size_t i = 0; i < subjects; ++i) {
        peer::JudgePlan::Subject& subject = plan.subjects.emplace_back();
        subject.contributor.bytes[0] = static_cast<std::byte>(i + 1);
        subject.payload = std::make_shared<const Bytes>(Bytes(3, static_cast<std::byte>(i)));
        subject.shard = "shard";
        subject.records = 9;
        subject.own = {1, 2};
        subject.other = {3};
    }
    return plan;
}

/// Refuses every load that names a device, in the sentence of a trainer that knows no such device.
constexpr const char* without_devices =
    "#!/bin/sh\nn=0\nwhile read line; do n=$((n+1)); echo \"$line\" >>\"$0.told\"\na='\"result\":{}'\n"
    "case \"$line\" in\n"
    "*'\"hello\"'*) a='\"result\":{\"version\":5,\"device\":\"paper\",\"torch\":\"0\"}';;\n"
    "*'\"device\":\"cuda'*) a='\"error\":{\"code\":-32000,\"message\":\"There is "
    "none.\",\"data\":{\"kind\":\"KIND\"}}';;\n"
    "esac\n"
    "echo \"{\\\"jsonrpc\\\":\\\"2.0\\\",\\\"id\\\":$n,$a}\"\n"
    "done\n";
std::string without_devices_as(const std::string& kind) {
    std::string script = without_devices;
    return script.replace(script.find("KIND"), 4, kind);
}

class Stage {
public:
    explicit Stage(const std::string& script) {
        run.bytes.fill(std::byte{3});
        m_program = folder() / "trainer.sh";
        std::ofstream(m_program) << script;
        fs::permissions(m_program, fs::perms::owner_all);
        trainer.emplace(
            loop,
            TrainerProcess::Settings{m_program, folder() / "trainer.log", PeerId{}, 0, {}, folder(), moments(), run},
            heard);
    }
    void start() { trainer->start(run::Manifest{}, {"state", 0}, RoundId{7}); }
    /// Runs loop and ticks until `what` holds.
    template <class Condition>
    bool until(Condition what, int milliseconds = 8000) {
        for (int waited = 0; waited < milliseconds; waited += 10) {
            loop.restart();
            loop.poll();
            now = at ? *at : steady_now();
            trainer->tick(now);
            if (what()) return true;
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
        return false;
    }

    [[nodiscard]] fs::path folder() const { return m_folder.path().toStdString(); }
    [[nodiscard]] fs::path moments() const { return folder() / "moments"; }
    /// The last request of a kind that an obedient trainer got.
    template <control::MethodCall Call>
    std::optional<Call> told() const {
        std::optional<Call> last;
        std::ifstream lines(m_program.string() + ".told");
        for (std::string line; std::getline(lines, line);) {
            const auto decoded = control::decode(line);
            const auto* request = decoded ? std::get_if<control::Request>(&*decoded) : nullptr;
            if (request != nullptr && request->method == Call::name)
                last = control::read_as<Call>(request->params).value();
        }
        return last;
    }

    boost::asio::io_context loop;
    RunId run;
    TimePoint now;                // of the last tick
    std::optional<TimePoint> at;  // the time stands still there
    Heard heard;
    std::optional<TrainerProcess> trainer;

private:
    QTemporaryDir m_folder;
    fs::path m_program;
};

}  // namespace

class TrainerProcessTest : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { std::signal(SIGPIPE, SIG_IGN); }

    void it_starts_snapshots_and_ends() {
        Stage stage(obedient);
        stage.start();
        QVERIFY(stage.until([&] { return stage.heard.started == 1; }));
        QCOMPARE(stage.trainer->view().device, std::string("paper"));
        QVERIFY(stage.trainer->view().process > 0);
        stage.trainer->snapshot({"target", 0});
        QVERIFY(stage.until([&] { return stage.heard.snapshots == 1; }));
        QCOMPARE(stage.heard.tokens, std::uint64_t{77});
        stage.trainer->stop({});
        QVERIFY(stage.until([&] { return stage.trainer->gone(); }));
        QVERIFY(stage.heard.losses.empty());
    }

    void moments_are_named_to_the_trainer_at_start_and_at_the_end() {
        Stage stage(obedient);
        stage.start();
        QVERIFY(stage.until([&] { return stage.heard.started == 1; }));
        const auto load = stage.told<control::LoadRequest>();
        QVERIFY(load && load->moments);
        QCOMPARE(load->moments->round, std::uint64_t{7});
        QCOMPARE(load->moments->run, stage.run.hex());
        QCOMPARE(load->moments->path, stage.moments().string());
        QCOMPARE(load->moments_rounds_max, peer::moments_rounds_max);
        stage.trainer->stop(peer::MomentsToKeep{RoundId{9}, Duration{321}});
        QVERIFY(stage.until([&] { return stage.trainer->gone(); }));
        const auto stop = stage.told<control::StopRequest>();
        QVERIFY(stop && stop->moments);
        QCOMPARE(stop->moments->round, std::uint64_t{9});
        QCOMPARE(stop->moments->path, stage.moments().string());
        QCOMPARE(stop->milliseconds, std::uint64_t{321});
    }

    void a_trainer_that_keeps_nothing_is_not_asked_to() {
        Stage stage(obedient);
        stage.start();
        QVERIFY(stage.until([&] { return stage.heard.started == 1; }));
        stage.trainer->stop({});
        QVERIFY(stage.until([&] { return stage.trainer->gone(); }));
        QVERIFY(!stage.told<control::StopRequest>()->moments);
    }

    void forgotten_moments_are_removed() {
        Stage stage(obedient);
        std::ofstream(stage.moments()) << "moments";
        stage.trainer->forget_moments();
        QVERIFY(!fs::exists(stage.moments()));
    }

    void the_power_of_the_device_is_reported_while_it_trains() {
        Stage stage(reporting);
        stage.start();
        QVERIFY(stage.until([&] { return stage.heard.started == 1; }));
        QVERIFY(!stage.trainer->work());
        QCOMPARE(stage.trainer->view().device_id, std::string("cuda:0"));
        QCOMPARE(stage.trainer->view().parts.size(), std::size_t{1});
        QCOMPARE(stage.trainer->view().parts.front().gpu, 7U);
        stage.trainer->train({});
        QVERIFY(stage.until([&] { return stage.trainer->work().has_value(); }));
        QCOMPARE(stage.trainer->work()->watts, std::optional(12.5));
        const control::TrainerSnapshot view = stage.trainer->view();
        QCOMPARE(view.watts, std::optional(12.5));
        QCOMPARE(view.celsius, std::optional(40.0));
        QCOMPARE(view.resident, 99U);
        stage.trainer->idle();
        QVERIFY(!stage.trainer->work() && !stage.trainer->view().watts);
        stage.trainer->train({});
        QVERIFY(stage.until([&] { return stage.trainer->work().has_value(); }));
        stage.trainer->stop({});
        QVERIFY(!stage.trainer->work());
        QVERIFY(stage.until([&] { return stage.trainer->gone(); }));
        QVERIFY(!stage.trainer->view().watts && stage.trainer->view().parts.empty());
    }

    void a_load_that_is_refused_for_its_device_goes_elsewhere() {
        Stage stage(without_devices_as("unavailable"));
        stage.trainer->use_budget({.ram = 9, .device = "cuda:3"});
        stage.start();
        QVERIFY(stage.until([&] { return stage.heard.started == 1; }));
        QCOMPARE(stage.trainer->device_obstacle(), std::string("There is none."));
        QVERIFY(stage.trainer->notice().starts_with("There is none. Another device"));
        QVERIFY(stage.told<control::LoadRequest>()->budget == (control::Budget{.ram = 9, .device = {}}));
        stage.trainer->use_budget({.device = "cuda:3"});
        QVERIFY(!stage.trainer->device_obstacle().empty());
        stage.trainer->use_budget({.device = "cpu"});
        QVERIFY(stage.trainer->device_obstacle().empty());
        stage.start();
        QVERIFY(stage.until([&] { return stage.heard.started == 2; }));
        QCOMPARE(stage.told<control::LoadRequest>()->budget.device, std::string("cpu"));
        QVERIFY(stage.heard.losses.empty());
    }

    void two_loads_that_are_refused_for_their_device_start_one_trainer() {
        Stage stage(without_devices_as("not_found"));
        stage.trainer->use_budget({.device = "cuda:3"});
        stage.start();
        stage.start();
        QVERIFY(stage.until([&] { return stage.heard.started == 1; }));
        QVERIFY(stage.heard.losses.empty());
        QVERIFY(!stage.trainer->device_obstacle().empty());
    }

    void a_load_that_is_refused_for_want_of_memory_is_a_loss() {
        Stage stage(without_devices_as("out_of_memory"));
        stage.trainer->use_budget({.device = "cuda:3"});
        stage.start();
        QVERIFY(stage.until([&] { return stage.heard.losses.size() == 1; }));
        QVERIFY(stage.trainer->device_obstacle().empty());
    }

    void contributions_are_measured_and_their_files_go() {
        Stage stage(measuring_as(told_rows(row(0) + "," + row(2))));
        stage.start();
        QVERIFY(stage.until([&] { return stage.heard.started == 1; }));
        stage.trainer->judge(plan_of(4, 3));
        QVERIFY(fs::exists(stage.folder() / "judged"));
        QVERIFY(stage.until([&] { return stage.heard.judged.size() == 1; }));
        const auto& [round, results, taken] = stage.heard.judged.front();
        QCOMPARE(round.value, 4U);
        QCOMPARE(taken, Duration{1'250});
        QCOMPARE(results.size(), std::size_t{2});
        QVERIFY(results[1].contributor == plan_of(4, 3).subjects[2].contributor);
        QCOMPARE(results[1].own, 0.5);
        QCOMPARE(results[1].other, -0.25);
        QVERIFY(!fs::exists(stage.folder() / "judged"));
        const auto asked = stage.told<control::JudgeRequest>();
        QVERIFY(asked && asked->subjects.size() == 3 && asked->state.offset == 5);
        QCOMPARE(asked->norm_max, 0.25);
        QCOMPARE(asked->subjects[1].payload, (stage.folder() / "judged" / "1").string());
        QVERIFY(asked->subjects[1].own == (std::vector<std::uint64_t>{1, 2}) && asked->subjects[1].records == 9);
        QVERIFY(stage.heard.losses.empty());
    }

    void payloads_lie_where_a_trainer_may_read_them() {
        const QTemporaryDir folder;
        const fs::path at = folder.path().toStdString();
        fs::create_directories(at / "judged");
        std::ofstream(at / "judged" / "77") << "of a node that was killed";
        {
            const auto judging = Judging::prepare(at, plan_of(4)).value();
            const Bytes bytes = read_file(judging->request().subjects[1].payload, 99).value();
            QVERIFY(bytes == Bytes(3, std::byte{1}));
            QVERIFY(!fs::exists(at / "judged" / "77"));
        }
        QVERIFY(!fs::exists(at / "judged"));
        QCOMPARE(Judging::prepare(at / "nowhere" / "\n", plan_of(4, 0)).error().code, ErrorCode::invalid_argument);
    }

    void subjects_that_no_request_can_hold_are_left_out() {
        const QTemporaryDir folder;
        peer::JudgePlan plan = plan_of(4, control::judged_subjects_max + 1);
        QCOMPARE(Judging::prepare(folder.path().toStdString(), plan).value()->request().subjects.size(),
                 control::judged_subjects_max);
        plan = plan_of(4, 6);
        plan.subjects[0].own.clear();
        plan.subjects[1].own.assign(control::judged_records_max + 1, 0);
        plan.subjects[2].other.assign(control::judged_records_max + 1, 0);
        plan.subjects[3].records = 0;
        plan.subjects[4].payload.reset();
        plan.subjects[5].other.clear();
        const auto judging = Judging::prepare(folder.path().toStdString(), plan).value();
        QCOMPARE(judging->request().subjects.size(), std::size_t{1});
        const auto results = judging->results({{{.subject = 0, .own = 1, .other = 0}}, 0, {}});
        QVERIFY(results->front().contributor == plan.subjects[5].contributor);
    }

    void a_plan_that_is_not_measured_is_reported_at_the_next_tick() {
        Stage stage(measuring_as(
            "a='\"error\":{\"code\":-32000,\"message\":\"No room.\",\"data\":{\"kind\":\"unavailable\"}}'"));
        stage.trainer->judge(plan_of(3));  // nothing runs
        QVERIFY(stage.heard.judged.empty());
        QVERIFY(stage.until([&] { return stage.heard.judged.size() == 1; }));
        stage.start();
        QVERIFY(stage.until([&] { return stage.heard.started == 1; }));
        stage.trainer->judge(plan_of(4));  // will be refused
        stage.trainer->judge(plan_of(5));  // one is under way
        QVERIFY(stage.until([&] { return stage.heard.judged.size() == 3; }));
        for (const std::uint64_t round : {3U, 4U, 5U}) {
            QVERIFY(std::ranges::any_of(stage.heard.judged, [&](const auto& told) {
                return told.round.value == round && told.results.empty() && told.taken == Duration{0};
            }));
        }
        QVERIFY(!fs::exists(stage.folder() / "judged"));
        QVERIFY(stage.heard.losses.empty());
    }

    /// The juror is charged for it, and has what was measured until then.
    void a_measurement_cut_off_by_a_load_is_reported_with_its_time() {
        std::string script = measuring_as("m=1");
        const std::string told =
            "*'\"load\"'*) [ -z \"$m\" ] || echo '{\"jsonrpc\":\"2.0\",\"method\":\"judged\","
            "\"params\":{\"rows\":[" +
            row(0) + "],\"seconds\":2.5,\"message\":\"\"}}';;\n";
        script.insert(script.find("*'\"stop\"'*)"), told);
        Stage stage(script);
        stage.start();
        QVERIFY(stage.until([&] { return stage.heard.started == 1; }));
        stage.trainer->judge(plan_of(4));
        stage.start();
        QVERIFY(stage.until([&] { return stage.heard.started == 2; }));
        QCOMPARE(stage.heard.judged.size(), std::size_t{1});
        const auto& [round, results, taken] = stage.heard.judged.front();
        QCOMPARE(round.value, 4U);
        QCOMPARE(taken, Duration{2'500});
        QCOMPARE(results.size(), std::size_t{1});
        QVERIFY(!fs::exists(stage.folder() / "judged"));
    }

    void another_load_ends_what_is_measured() {
        Stage stage(measuring_as("true"));  // it never comes to an end
        stage.start();
        QVERIFY(stage.until([&] { return stage.heard.started == 1; }));
        stage.trainer->judge(plan_of(4));
        stage.start();
        QVERIFY(stage.until([&] { return stage.heard.started == 2 && stage.heard.judged.size() == 1; }));
        QVERIFY(stage.heard.judged.front().results.empty());
        stage.trainer->judge(plan_of(5));
        stage.trainer->stop({});
        QVERIFY(!fs::exists(stage.folder() / "judged"));
        QVERIFY(stage.until([&] { return stage.trainer->gone(); }));
        QCOMPARE(stage.heard.judged.size(), std::size_t{1});
        QVERIFY(stage.heard.losses.empty());
    }

    void results_of_what_was_not_asked_are_a_loss_data() {
        QTest::addColumn<QString>("answer");
        const auto add = [](const char* name, const std::string& answer) {
            QTest::newRow(name) << QString::fromStdString(answer);
        };
        add("beyond the request", told_rows(row(2)));
        add("twice", told_rows(row(1) + "," + row(1)));
        add("out of order", told_rows(row(1) + "," + row(0)));
        add("unreadable", "p='{\"rows\":7}'");
    }
    void results_of_what_was_not_asked_are_a_loss() {
        QFETCH(const QString, answer);
        Stage stage(measuring_as(answer.toStdString()));
        stage.start();
        QVERIFY(stage.until([&] { return stage.heard.started == 1; }));
        stage.trainer->judge(plan_of(4));
        QVERIFY(stage.until([&] { return stage.heard.losses.size() == 1; }));
        QVERIFY(stage.heard.losses.front().message.find("what it measured") != std::string::npos);
        QVERIFY(stage.heard.judged.empty());
    }

    void it_starts_again_after_a_stop_that_was_not_over() {
        Stage stage(obedient);
        stage.start();
        QVERIFY(stage.until([&] { return stage.heard.started == 1; }));
        stage.trainer->stop({});
        stage.start();
        QVERIFY(stage.until([&] { return stage.heard.started == 2; }));
        QVERIFY(stage.heard.losses.empty());
    }

    void a_trainer_that_ignores_stop_is_killed() {
        Stage stage("#!/bin/sh\ntrap '' TERM\nwhile :; do sleep 0.1; done\n");
        stage.start();
        QVERIFY(stage.until([&] { return stage.trainer->view().process > 0; }));
        stage.trainer->stop({});
        const TimePoint asked = stage.now;
        stage.at = asked + TrainerProcess::stop_patience - Duration{1};
        QVERIFY(!stage.until([&] { return stage.trainer->gone(); }, 300));
        stage.at = asked + TrainerProcess::stop_patience;
        QVERIFY(stage.until([&] { return stage.trainer->gone(); }));
        QVERIFY(TrainerProcess::stop_patience < Duration{2'000});  // what a pause promises
    }

    void a_trainer_that_does_not_answer_is_killed_when_patience_ends() {
        Stage stage("#!/bin/sh\nwhile read line; do :; done\n");
        stage.start();
        const TimePoint asked = steady_now();
        QVERIFY(stage.until([&] { return stage.trainer->view().process > 0; }));
        stage.at = asked + TrainerProcess::reply_patience - Duration{1'000};
        QVERIFY(!stage.until([&] { return !stage.heard.losses.empty(); }, 300));
        stage.at = asked + TrainerProcess::reply_patience + Duration{1'000};
        QVERIFY(stage.until([&] { return !stage.heard.losses.empty(); }));
        QVERIFY2(stage.heard.losses[0].message.find("did not answer \"hello\"") != std::string::npos,
                 stage.heard.losses[0].message.c_str());
    }

    void three_crashes_are_final_until_forgiven() {
        Stage stage("#!/bin/sh\nexit 7\n");
        for (std::size_t times = 1; times <= 3; ++times) {
            stage.start();
            QVERIFY(stage.until([&] { return stage.heard.losses.size() == times; }));
        }
        QCOMPARE(stage.heard.losses[1].code, ErrorCode::io);
        QCOMPARE(stage.heard.losses[2].code, ErrorCode::unavailable);
        QVERIFY2(stage.trainer->failure().find("exit code 7") != std::string::npos, stage.trainer->failure().c_str());
        QVERIFY(stage.trainer->view().state == control::TrainerState::failed);
        stage.start();
        QVERIFY(!stage.until([&] { return stage.heard.losses.size() > 3; }, 1000));
        stage.trainer->reset_failures();
        QVERIFY(stage.until([&] { return stage.heard.losses.size() == 4; }));
    }

    void output_outside_the_protocol_is_a_loss() {
        Stage stage("#!/bin/sh\necho hello there\nsleep 60\n");
        stage.start();
        QVERIFY(stage.until([&] { return stage.heard.losses.size() == 1; }));
        QVERIFY(stage.trainer->gone());
    }

    void an_answer_to_another_request_is_a_loss() {
        Stage stage(
            "#!/bin/sh\nread line\n"
            "echo '{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"version\":5,\"device\":\"paper\",\"torch\":\"0\"}}'\n"
            "sleep 60\n");
        stage.start();
        QVERIFY(stage.until([&] { return stage.heard.losses.size() == 1; }));
        QVERIFY2(stage.heard.losses[0].message.find("out of order") != std::string::npos,
                 stage.heard.losses[0].message.c_str());
    }

    void a_missing_program_is_a_loss_with_a_sentence() {
        Stage stage(obedient);
        Heard heard;
        TrainerProcess trainer(stage.loop, {"/nowhere/trainer", {}, PeerId{}, 0}, heard);
        trainer.start(run::Manifest{}, {"state", 0}, {});
        QVERIFY(heard.losses.empty());  // not from within the peer's own call
        trainer.tick(steady_now());
        QCOMPARE(heard.losses.size(), std::size_t{1});
    }

    void the_pause_between_starts_doubles_and_old_failures_are_forgotten() {
        RestartPolicy policy;
        QVERIFY(policy.on_failure({Duration{0}}) == Duration{500});
        QVERIFY(policy.on_failure({Duration{1'000}}) == Duration{1'000});
        QVERIFY(!policy.on_failure({Duration{2'000}}));
        RestartPolicy patient;
        QVERIFY(patient.on_failure({Duration{0}}).has_value());
        QVERIFY(patient.on_failure({Duration{400'000}}).has_value());
        QVERIFY(patient.on_failure({Duration{800'000}}).has_value());
        patient.reset_failures();
        QVERIFY(patient.on_failure({Duration{800'001}}) == Duration{500});
    }
};

QTEST_GUILESS_MAIN(TrainerProcessTest)
#include "test_trainer_process.moc"
