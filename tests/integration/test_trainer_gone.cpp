// The trainer's process and its memory are gone two seconds after training ends, whatever ended it: with the real
// trainer, from the moment of the click, or from the moment when the node says that training is over.
#include <csignal>

#include <QFile>

#include "tests/integration/node_fixture.h"

using namespace potluck;
using namespace potluck::test;
using status::Reason;

namespace {

constexpr int gone_ms_max = 2000;

/// Megabytes of memory that the process holds; 0 for one that has ended, also before it is reaped.
std::int64_t megabytes_of(std::int64_t process) {
    QFile file(QStringLiteral("/proc/%1/status").arg(process));
    if (!file.open(QIODevice::ReadOnly)) return 0;
    for (const QByteArray& line : file.readAll().split('\n')) {
        if (line.startsWith("VmRSS:")) return line.simplified().split(' ').value(1).toLongLong() / 1024;
    }
    return 0;
}

bool trains(const control::NodeSnapshot& now) {
    return now.why.reason == Reason::training && now.trainer.process > 0 && now.trainer.tokens_per_second > 0;
}

enum class End { pause, game, finish, finish_and_leave, run_complete, leave, stop, quit, killed };

/// Whether the node has said that training is over, for the ends that take their round.
bool is_over(End end, const control::NodeSnapshot& now) {
    switch (end) {
        case End::finish: return now.why.reason == Reason::finished;
        case End::finish_and_leave: return now.why.reason == Reason::no_run;
        case End::run_complete: return now.why.reason == Reason::run_complete;
        default: return true;
    }
}

}  // namespace

class TrainerGoneTest : public QObject {
    Q_OBJECT
private slots:
    void memory_is_free_two_seconds_after_training_ends_data() {
        QTest::addColumn<End>("end");
        QTest::newRow("pause") << End::pause;
        QTest::newRow("game") << End::game;
        QTest::newRow("finish") << End::finish;
        QTest::newRow("finish and leave") << End::finish_and_leave;
        QTest::newRow("run complete") << End::run_complete;
        QTest::newRow("leave") << End::leave;
        QTest::newRow("stop") << End::stop;
        QTest::newRow("quit") << End::quit;
        QTest::newRow("killed") << End::killed;
    }
    void memory_is_free_two_seconds_after_training_ends() {
        QFETCH(End, end);
        Swarm swarm;
        swarm.host(end == End::run_complete ? 8 : 1000);
        QProcessEnvironment real;
        real.insert("POTLUCK_TRAINER", QStringLiteral(POTLUCK_BIN_DIR) + "/potluck-trainer");
        ServingNode& ben = swarm.volunteer("ben", real);
        QVERIFY(ben.wait_for(trains, 30'000));
        const std::int64_t process = ben.status().trainer.process;
        const std::int64_t held = megabytes_of(process);
        QVERIFY2(held > 20, qPrintable(QString::number(held)));

        begin(end, ben);
        const bool asks = end != End::stop && end != End::quit && end != End::killed;
        QVERIFY(!asks || ben.wait_for([end](const auto& now) { return is_over(end, now); }, 60'000));
        QElapsedTimer clock;
        for (clock.start(); megabytes_of(process) > 0 && clock.elapsed() < 5 * gone_ms_max;) QTest::qSleep(20);
        qInfo("%lld MB were free %lld ms after %s", static_cast<long long>(held),
              static_cast<long long>(clock.elapsed()), QTest::currentDataTag());
        QVERIFY2(clock.elapsed() < gone_ms_max, qPrintable(QString::number(clock.elapsed())));
        if (!asks) return;
        QTest::qSleep(1500);  // nor does another one start
        QCOMPARE(ben.status().trainer.process, std::int64_t{0});
    }

private:
    static void begin(End end, ServingNode& node) {
        switch (end) {
            case End::pause: node.call("pause", {{"seconds", 0}}); break;
            case End::game:
                node.call("yield", {{"level", "pause"}, {"signal", "launcher"}, {"detail", ""}, {"seconds", 60}});
                break;
            case End::finish: node.call("finish"); break;
            case End::finish_and_leave: node.call("finish", {{"then", "leave"}}); break;
            case End::run_complete: break;  // comes by itself
            case End::leave: node.call("leave"); break;
            case End::stop: node.call("stop"); break;
            case End::quit: node.process().closeWriteChannel(); break;
            case End::killed: ::kill(static_cast<pid_t>(node.process().processId()), SIGKILL); break;
        }
    }
};

QTEST_GUILESS_MAIN(TrainerGoneTest)
#include "test_trainer_gone.moc"
