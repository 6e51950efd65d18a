// The trainer's supervisor against small shell scripts and the fake trainer's protocol on paper: starts, losses, ends.
#include <QTemporaryDir>
#include <QTest>

#include <csignal>
#include <fstream>
#include <thread>

#include "app/node/trainer/restart_policy.h"
#include "app/node/trainer/trainer_process.h"

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
};

/// Answers each line with `result` under the ids 1, 2, 3 ...; `after` is what the script does before each answer.
constexpr const char* obedient =
    "#!/bin/sh\nn=0\nwhile read line; do n=$((n+1))\n"
    "case \"$line\" in\n"
    "*'\"hello\"'*) r='{\"version\":2,\"device\":\"paper\",\"torch\":\"0\"}';;\n"
    "*'\"snapshot\"'*) r='{\"tokens\":77,\"steps\":3,\"loss\":2.5}';;\n"
    "*'\"stop\"'*) exit 0;;\n"
    "*) r='{}';;\nesac\n"
    "echo \"{\\\"jsonrpc\\\":\\\"2.0\\\",\\\"id\\\":$n,\\\"result\\\":$r}\"\n"
    "done\n";

class Stage {
public:
    explicit Stage(const std::string& script) {
        m_program = fs::path(m_folder.path().toStdString()) / "trainer.sh";
        std::ofstream(m_program) << script;
        fs::permissions(m_program, fs::perms::owner_all);
        trainer.emplace(
            loop,
            TrainerProcess::Settings{m_program, fs::path(m_folder.path().toStdString()) / "trainer.log", PeerId{}, 0},
            heard);
    }
    void start() { trainer->start(run::Manifest{}, {"state", 0}); }
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

    boost::asio::io_context loop;
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
        stage.trainer->stop();
        QVERIFY(stage.until([&] { return stage.trainer->gone(); }));
        QVERIFY(stage.heard.losses.empty());
    }

    void it_starts_again_after_a_stop_that_was_not_over() {
        Stage stage(obedient);
        stage.start();
        QVERIFY(stage.until([&] { return stage.heard.started == 1; }));
        stage.trainer->stop();
        stage.start();
        QVERIFY(stage.until([&] { return stage.heard.started == 2; }));
        QVERIFY(stage.heard.losses.empty());
    }

    void whoever_ignores_stop_is_killed() {
        Stage stage("#!/bin/sh\ntrap '' TERM\nwhile :; do sleep 0.1; done\n");
        stage.start();
        QVERIFY(stage.until([&] { return stage.trainer->view().process > 0; }));
        stage.trainer->stop();
        const TimePoint asked = stage.now;
        stage.at = asked + TrainerProcess::stop_patience - Duration{1};
        QVERIFY(!stage.until([&] { return stage.trainer->gone(); }, 300));
        stage.at = asked + TrainerProcess::stop_patience;
        QVERIFY(stage.until([&] { return stage.trainer->gone(); }));
        QVERIFY(TrainerProcess::stop_patience < Duration{2'000});  // what a pause promises
    }

    void whoever_does_not_answer_is_killed_when_patience_ends() {
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

    void what_is_not_the_protocol_is_a_loss() {
        Stage stage("#!/bin/sh\necho hello there\nsleep 60\n");
        stage.start();
        QVERIFY(stage.until([&] { return stage.heard.losses.size() == 1; }));
        QVERIFY(stage.trainer->gone());
    }

    void an_answer_to_another_request_is_a_loss() {
        Stage stage(
            "#!/bin/sh\nread line\n"
            "echo '{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"version\":2,\"device\":\"paper\",\"torch\":\"0\"}}'\n"
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
        trainer.start(run::Manifest{}, {"state", 0});
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
