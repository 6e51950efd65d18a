// The real potluck-trainer over pipes, as the node drives it.
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>

#ifdef __linux__
#include <sys/resource.h>
#endif

#include "core/base/files.h"
#include "core/base/rng.h"
#include "core/confinement/confinement.h"
#include "core/control/trainer_protocol.h"
#include "core/model/initial_state.h"
#include "core/model/state_layout.h"
#include "core/run/recipe.h"
#include "tests/integration/trainer_child.h"

using namespace potluck;
using namespace potluck::control;
using nlohmann::json;
using potluck::tests::TrainerChild;

namespace {

constexpr std::uint64_t records = 64;
constexpr std::uint64_t steps_to_learn = 300;  // however long they take

/// A run's files in a folder of their own.
struct Run {
    QTemporaryDir folder;
    model::ModelSpec model;
    run::Recipe recipe;
    model::StateLayout layout;
    VectorFile state, snapshot;
    std::string shard = path("shard.bin");

    explicit Run(std::uint32_t width = 32) {
        model.vocabulary = 64;
        model.context = 32;
        model.layers = 2;
        model.heads = 2;
        model.width = width;
        recipe.batch = 4;
        layout = model::state_layout(model);
        state = {path("state.safetensors"), layout.header.size()};
        snapshot = {path("snapshot.bin"), 0};
        std::vector<float> values(model.parameters());
        model::fill_initial_state(model, 1, values);
        write_state(values);
        write_shard(records * (model.context + 1));
    }
    [[nodiscard]] std::string path(const char* name) const { return folder.filePath(name).toStdString(); }
    void write_state(const std::vector<float>& values) const {
        std::ofstream file(state.path, std::ios::binary);
        file.write(reinterpret_cast<const char*>(layout.header.data()),
                   static_cast<std::streamsize>(layout.header.size()));
        file.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(values.size() * 4));
    }
    void write_shard(std::uint64_t tokens) const {
        std::ofstream file(shard, std::ios::binary);
        std::uint64_t token = 0;
        Rng rng(2);
        for (std::uint64_t i = 0; i < tokens; ++i) {
            token = rng.below(8) == 0 ? rng.below(64) : (token * 5 + 3) % 64;
            const auto wide = static_cast<std::uint16_t>(token);
            file.write(reinterpret_cast<const char*>(&wide), 2);
        }
    }
    [[nodiscard]] json load() const {
        LoadRequest request;
        request.model = model;
        request.recipe = recipe;
        request.state = state;
        request.threads = 1;
        return to_json(request);
    }
    [[nodiscard]] json train(std::uint64_t round = 0) const {
        TrainRequest request;
        request.round = round;
        request.peer = std::string(64, '7');
        request.seed = 1;
        request.learning_rate = 3e-3;
        request.shard = shard;
        request.records = records;
        return to_json(request);
    }
    [[nodiscard]] json take_snapshot() const { return to_json(SnapshotRequest{snapshot}); }
    [[nodiscard]] json rebase(const VectorFile& file) const { return to_json(RebaseRequest{file}); }
    [[nodiscard]] json evaluate(const VectorFile& file) const {
        EvaluateRequest request;
        request.state = file;
        request.shard = shard;
        request.records = records;
        request.records_max = 20;
        return to_json(request);
    }
    [[nodiscard]] std::vector<float> read_snapshot() const {
        const Bytes bytes = read_file(snapshot.path, 1 << 24).value();
        std::vector<float> values(bytes.size() / 4);
        std::memcpy(values.data(), bytes.data(), values.size() * 4);
        return values;
    }
};

double loss_of(const Reply& reply) {
    EvaluateReply out;
    if (reply.error || !from_json(reply.result, out).ok()) qFatal("no evaluation");
    return out.loss;
}

}  // namespace

class TrainerProcessTest : public QObject {
    Q_OBJECT
private slots:
    void it_trains_publishes_and_goes_on_from_what_is_agreed() {
        const Run run;
        TrainerChild child;
        TrainerHello hello;
        QVERIFY(from_json(child.call("hello").result, hello).ok());
        QCOMPARE(hello.version, trainer_protocol_version);
        QVERIFY(!hello.device.empty() && !hello.torch.empty() && !hello.program_version.empty());
        QVERIFY(!child.call("load", run.load()).error);
        const double before = loss_of(child.call("evaluate", run.evaluate(run.state)));
        QVERIFY(std::fabs(before - std::log(64.0)) < 0.2);

        QVERIFY(!child.call("train", run.train()).error);
        TrainerProgress progress;
        while (progress.steps < steps_to_learn) {
            const auto told = child.wait_for("progress");
            QVERIFY(told && from_json(told->params, progress).ok());
        }
        QVERIFY(progress.tokens > 0 && progress.steps > 0 && progress.tokens_per_second > 0 && progress.loss > 0);

        const Reply published = child.call("snapshot", run.take_snapshot());
        SnapshotReply totals;
        QVERIFY(!published.error && from_json(published.result, totals).ok());
        QVERIFY(totals.tokens >= progress.tokens);
        QCOMPARE(totals.tokens, totals.steps * 4 * 32);
        QCOMPARE(run.read_snapshot().size(), static_cast<std::size_t>(run.model.parameters()));
        const double after = loss_of(child.call("evaluate", run.evaluate(run.snapshot)));
        QVERIFY2(after < before - 0.5, qPrintable(QString("%1 to %2").arg(before).arg(after)));

        QVERIFY(!child.call("rebase", run.rebase(run.state)).error);  // back to the start, plus the drift since
        QVERIFY(!child.call("idle").error);
        const Reply second = child.call("snapshot", run.take_snapshot());
        QVERIFY(!second.error && from_json(second.result, totals).ok());
        const double rebased = loss_of(child.call("evaluate", run.evaluate(run.snapshot)));
        QVERIFY2(rebased > after, qPrintable(QString::number(rebased)));
        QVERIFY(!child.call("stop").error);
        QCOMPARE(child.ended(), 0);
    }

    void it_measures_at_ordinary_priority_and_trains_at_a_low_one_on_all_its_threads() {
#ifdef __linux__
        TrainerChild child;
        const int ours = getpriority(PRIO_PROCESS, 0);
        QVERIFY(!child.call("hello").error);
        for (const int niceness : child.niceness()) QCOMPARE(niceness, ours);
        QVERIFY(!child.call("detect").error);  // products large enough for all of LibTorch's threads
        const std::vector<int> all = child.niceness();
        QVERIFY(all.size() >= 2);
        for (const int niceness : all) QVERIFY2(niceness >= 10, qPrintable(QString::number(niceness)));
#else
        QSKIP("only Linux shows the priority of each thread");
#endif
    }

    /// As a node starts it: it reads and writes what its run needs, and neither the key nor anybody else.
    void a_confined_trainer_trains_and_reads_no_key() {
        const confinement::Support support = confinement::support();
        if (!support.files || !support.network) QSKIP("this kernel has no Landlock or no seccomp filters");
        Run run;
        QTemporaryDir folder;
        const QString key = folder.filePath("identity.key"), runs = folder.filePath("runs");
        QVERIFY(QDir().mkpath(runs));
        QVERIFY(QFile::copy(QString::fromStdString(run.state.path), key));
        QVERIFY(QFile::copy(QString::fromStdString(run.state.path), runs + "/state"));
        run.state.path = (runs + "/state").toStdString();
        run.snapshot.path = (runs + "/snapshot").toStdString();
        const auto hidden = confinement::hidden_variable(folder.path().toStdString(), {"runs"});
        const auto writable = confinement::writable_variable({runs.toStdString()});
        for (const auto& [name, value] : {hidden, writable}) qputenv(name.c_str(), QByteArray::fromStdString(value));
        TrainerChild child;
        for (const auto& [name, value] : {hidden, writable}) qunsetenv(name.c_str());
        QVERIFY(!child.call("load", run.load()).error);
        QVERIFY(!child.call("train", run.train()).error);
        QVERIFY(child.wait_for("progress"));
        QVERIFY(!child.call("snapshot", run.take_snapshot()).error);
        QCOMPARE(run.read_snapshot().size(), static_cast<std::size_t>(run.model.parameters()));
        QVERIFY(!child.call("evaluate", run.evaluate(run.state)).error);
        VectorFile stolen = run.state;
        stolen.path = key.toStdString();  // a state, if it could be read
        QVERIFY(child.call("evaluate", run.evaluate(stolen)).error);
        run.snapshot.path = folder.filePath("snapshot").toStdString();
        QVERIFY(child.call("snapshot", run.take_snapshot()).error);
        QFile file("/proc/" + QString::number(child.process()) + "/status");
        QVERIFY(file.open(QIODevice::ReadOnly));
        const std::string status = file.readAll().toStdString();
        QVERIFY2(status.find("NoNewPrivs:\t1") != std::string::npos, status.c_str());
        QVERIFY(status.find("Seccomp:\t2") != std::string::npos);
    }

    void moments_go_from_one_process_to_the_next() {
        const Run run;
        const MomentsFile moments{run.path("moments"), std::string(64, 'a'), 3};
        json load = run.load();
        load["moments"] = to_json(moments);
        const auto used = [](TrainerChild& child) {
            const auto told = child.wait_for("moments");
            TrainerMoments what;
            return told && from_json(told->params, what).ok() && what.used;
        };
        TrainerChild first;
        QVERIFY(!first.call("load", load).error);
        QVERIFY(!first.call("train", run.train()).error);
        QVERIFY(first.wait_for("progress"));
        QVERIFY(!first.call("stop", to_json(StopRequest{moments, 20'000})).error);
        QVERIFY(used(first));
        QCOMPARE(first.ended(), 0);
        QVERIFY(std::ifstream(moments.path).good());

        TrainerChild second;
        QVERIFY(!second.call("load", load).error);
        QVERIFY(!second.call("train", run.train()).error);
        QVERIFY(used(second));
        QVERIFY(!std::ifstream(moments.path).good());
        QVERIFY(second.wait_for("progress"));
    }

    void idle_means_idle() {
        const Run run;
        TrainerChild child;
        QVERIFY(!child.call("load", run.load()).error);
        QVERIFY(!child.call("train", run.train()).error);
        QVERIFY(child.wait_for("progress"));
        QVERIFY(!child.call("idle").error);
        QVERIFY(!child.call("snapshot", run.take_snapshot()).error);
        child.notifications.clear();
        QTest::qWait(700);
        SnapshotReply totals;
        QVERIFY(from_json(child.call("snapshot", run.take_snapshot()).result, totals).ok());
        QCOMPARE(totals.tokens, 0U);
        QVERIFY(child.notifications.empty());
        QVERIFY(!child.call("train", run.train()).error);
        QVERIFY(child.wait_for("progress"));
    }

    void a_pace_leaves_the_rest_of_the_time_to_the_owner() {
        const Run run;
        TrainerChild child;
        QVERIFY(!child.call("load", run.load()).error);
        QVERIFY(!child.call("train", run.train()).error);
        // Tokens per second over four progress messages, after one that still counts what was before.
        const auto speed = [&] {
            TrainerProgress first, last;
            if (!from_json(child.wait_for("progress")->params, first).ok()) qFatal("no progress");
            QElapsedTimer clock;
            clock.start();
            for (int i = 0; i < 4; ++i) (void)from_json(child.wait_for("progress")->params, last);
            return static_cast<double>(last.tokens - first.tokens) / static_cast<double>(clock.elapsed());
        };
        const double whole = speed();
        QVERIFY(!child.call("pace", to_json(PaceRequest{0.1})).error);
        const double tenth = speed();
        QVERIFY2(tenth < whole / 3, qPrintable(QString("%1 of %2").arg(tenth).arg(whole)));
        QVERIFY(tenth > 0);
        QVERIFY(!child.call("pace", to_json(PaceRequest{1})).error);
        QVERIFY(speed() > 2 * tenth);
        QVERIFY(child.call("pace", {{"share", 0}}).error);
        QCOMPARE(child.call("idle").result, json::object());  // a rest delays no answer
    }

    void a_sample_is_the_same_for_the_same_seed() {
        const Run run;
        TrainerChild child;
        QVERIFY(!child.call("load", run.load()).error);
        SampleRequest request;
        request.state = run.state;
        request.prompt = {1, 2, 3};
        request.tokens = 50;  // beyond the context of 32
        SampleReply first, again, other;
        QVERIFY(from_json(child.call("sample", to_json(request)).result, first).ok());
        QVERIFY(from_json(child.call("sample", to_json(request)).result, again).ok());
        request.seed = 2;
        QVERIFY(from_json(child.call("sample", to_json(request)).result, other).ok());
        QCOMPARE(first.tokens.size(), std::size_t{50});
        QVERIFY(first.tokens == again.tokens);
        QVERIFY(first.tokens != other.tokens);
        request.prompt = {64};
        QVERIFY(child.call("sample", to_json(request)).error);
    }

    void a_request_that_cannot_be_served_changes_nothing() {
        const Run run;
        TrainerChild child;
        QVERIFY(child.call("train", run.train()).error);  // nothing is loaded
        QVERIFY(child.call("dance").error->code == ErrorCode::not_found);
        json bad = run.load();
        bad["model"]["width"] = 7;
        QVERIFY(child.call("load", bad).error);
        bad = run.load();
        bad["state"]["path"] = run.path("missing");
        QVERIFY(child.call("load", bad).error->code == ErrorCode::not_found);
        bad = run.load();
        bad["state"]["offset"] = run.state.offset + 4;
        QVERIFY(child.call("load", bad).error->code == ErrorCode::malformed);
        QVERIFY(!child.call("load", run.load()).error);

        QVERIFY(child.call("train", json::object()).error);
        QVERIFY(child.call("rebase", run.rebase({run.path("missing"), 0})).error);
        QVERIFY(child.call("snapshot", to_json(SnapshotRequest{{run.path("no/folder"), 0}})).error);
        QVERIFY(!child.call("snapshot", run.take_snapshot()).error);
        std::vector<float> expected(run.model.parameters());
        model::fill_initial_state(run.model, 1, expected);
        QVERIFY(run.read_snapshot() == expected);
        run.write_shard(records * (run.model.context + 1) - 1);
        QVERIFY(child.call("train", run.train()).error->code == ErrorCode::malformed);
        json other_peer = run.train();
        other_peer["peer"] = "xyz";
        QVERIFY(child.call("train", other_peer).error);
        QVERIFY(!child.call("stop").error);
        QCOMPARE(child.ended(), 0);
    }

    void a_damaged_shard_fails_with_a_sentence_and_a_code() {
        const Run run;
        std::ofstream(run.shard, std::ios::binary) << std::string(2 * records * 33, '\xff');
        TrainerChild child;
        QVERIFY(!child.call("load", run.load()).error);
        QVERIFY(!child.call("train", run.train()).error);
        const auto failed = child.wait_for("failed");
        TrainerFailed told;
        QVERIFY(failed && from_json(failed->params, told).ok());
        QCOMPARE(told.kind, std::string("malformed"));
        QVERIFY(told.message.find("shard.bin") != std::string::npos);
        QCOMPARE(child.ended(), 4);
    }

    void a_model_beyond_memory_fails_with_a_sentence_and_a_code() {
        Run run;
        run.model.layers = 100;
        run.model.width = 4000;
        run.model.heads = 1;
        TrainerChild child;
        const Reply reply = child.call("load", run.load());
        QVERIFY(reply.error && reply.error->code == ErrorCode::out_of_memory);
        QVERIFY(child.wait_for("failed"));
        QCOMPARE(child.ended(), 3);
    }

    void it_ends_when_its_input_closes() {
        const Run run;
        TrainerChild child;
        QVERIFY(!child.call("load", run.load()).error);
        QVERIFY(!child.call("train", run.train()).error);
        child.close_input();
        QCOMPARE(child.ended(2000), 0);
    }

    void a_line_that_is_no_request_ends_it() {
        TrainerChild child;
        child.write("what?\n");
        QVERIFY(child.wait_for("failed"));
        QCOMPARE(child.ended(), 6);
    }

    void killing_it_at_any_time_harms_nothing_data() {
        QTest::addColumn<QString>("doing");
        for (const char* doing : {"train", "snapshot", "rebase"}) QTest::newRow(doing) << doing;
    }
    /// Its parent's files stay as they were, and the next trainer writes a whole snapshot over half a one.
    void killing_it_at_any_time_harms_nothing() {
        QFETCH(QString, doing);
        const Run run(512);  // some 6 million parameters: a snapshot takes long enough to be caught in
        const std::uint64_t largest = 64 << 20;
        const Bytes state = read_file(run.state.path, largest).value();
        const Bytes shard = read_file(run.shard, largest).value();
        const json params = doing == "snapshot" ? run.take_snapshot() : run.rebase(run.state);
        int unanswered = 0;
        for (const int milliseconds : {0, 1, 2, 4, 8, 37}) {
            TrainerChild child;
            QVERIFY(!child.call("load", run.load()).error);
            QVERIFY(!child.call("train", run.train()).error);
            if (doing != "train")
                child.write(QByteArray::fromStdString(encode(Request{99, doing.toStdString(), params})));
            QTest::qSleep(milliseconds);
            child.kill();
            (void)child.ended();
            unanswered += child.rest().contains("\"id\":99") ? 0 : 1;
        }
        QVERIFY(unanswered > 0);
        QVERIFY(read_file(run.state.path, largest).value() == state);
        QVERIFY(read_file(run.shard, largest).value() == shard);
        TrainerChild child;
        QVERIFY(!child.call("load", run.load()).error);
        QVERIFY(!child.call("snapshot", run.take_snapshot()).error);
        const Bytes snapshot = read_file(run.snapshot.path, largest).value();
        const auto values = ByteSpan(state).subspan(run.layout.header.size());
        QVERIFY(std::equal(snapshot.begin(), snapshot.end(), values.begin(), values.end()));
        QVERIFY(!child.call("train", run.train()).error);
        QVERIFY(child.wait_for("progress"));
    }

    void its_options_say_what_it_is() {
        TrainerChild version({"--version"});
        QCOMPARE(version.ended(), 0);
        QVERIFY(version.rest().startsWith("potluck-trainer "));
        TrainerChild help({"--help"});
        QCOMPARE(help.ended(), 0);
        TrainerChild wrong({"--frobnicate"});
        QCOMPARE(wrong.ended(), 2);
    }
};

QTEST_GUILESS_MAIN(TrainerProcessTest)
#include "test_trainer.moc"
