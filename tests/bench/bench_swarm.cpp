// The swarm beside one process: runs the product's own demo, then one trainer alone on the same cores with the same
// shards and as many tokens, and compares speed and loss. A second demo of sixteen small volunteers shows what a round
// costs as the swarm grows.
//
//   bench_swarm --bin FOLDER --work FOLDER [--report FILE] [--minutes M] [--text PATH]
#include <QCommandLineParser>
#include <QCoreApplication>
#include <QDir>
#include <QDirIterator>
#include <QElapsedTimer>
#include <QFile>
#include <QProcess>
#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>

#include "core/base/files.h"
#include "core/base/json.h"
#include "core/control/rpc.h"
#include "core/control/trainer_protocol.h"
#include "core/run/manifest.h"
#include "core/model/state_layout.h"

namespace {

using namespace potluck;
using nlohmann::json;

constexpr int patience_ms = 120'000;
constexpr int schedule_steps = 60;  // the learning rate of the process alone is set that often

[[noreturn]] void give_up(const std::string& why) {
    std::fprintf(stderr, "bench_swarm: %s\n", why.c_str());
    std::exit(1);
}

template <class T>
T need(Result<T> result) {
    if (!result.ok()) give_up(result.error().message);
    return std::move(result).value();
}

/// One trainer process, spoken to line by line.
class Alone {
public:
    explicit Alone(const QString& program) {
        m_process.setProcessChannelMode(QProcess::ForwardedErrorChannel);
        m_process.start(program, {});
        if (!m_process.waitForStarted()) give_up("the trainer does not start: " + program.toStdString());
    }
    ~Alone() {
        m_process.closeWriteChannel();
        if (!m_process.waitForFinished(5'000)) m_process.kill();
    }
    Alone(const Alone&) = delete;
    Alone& operator=(const Alone&) = delete;

    /// Sends a request and waits for its reply; progress that arrives meanwhile is kept.
    json call(const std::string& method, const json& params) {
        const std::uint64_t id = ++m_last_id;
        m_process.write(QByteArray::fromStdString(control::encode(control::Request{id, method, params})));
        QElapsedTimer waited;
        waited.start();
        while (waited.elapsed() < patience_ms) {
            if (const auto reply = read_until(id)) return *reply;
        }
        give_up("the trainer does not answer " + method);
    }
    void pump() { (void)read_until(0); }
    [[nodiscard]] std::uint64_t tokens() const { return m_tokens; }

private:
    std::optional<json> read_until(std::uint64_t id) {
        m_process.waitForReadyRead(20);
        for (const std::string& line : m_lines.feed(m_process.readAllStandardOutput().toStdString())) {
            const control::Line decoded = need(control::decode(line));
            if (const auto* note = std::get_if<control::Notification>(&decoded); note && note->method == "progress") {
                m_tokens = note->params.value("tokens", m_tokens);
            }
            const auto* reply = std::get_if<control::Reply>(&decoded);
            if (!reply || reply->id != id) continue;
            if (reply->error) give_up(reply->error->message);
            return reply->result;
        }
        return std::nullopt;
    }

    QProcess m_process;
    control::LineSplitter m_lines;
    std::uint64_t m_last_id = 0;
    std::uint64_t m_tokens = 0;
};

QString find_file(const QString& folder, const QString& name) {
    QDirIterator walk(folder, {name}, QDir::Files, QDirIterator::Subdirectories);
    return walk.hasNext() ? walk.next() : QString();
}

json run_demo(const QString& bin, QStringList arguments, const QString& report, const QString& text) {
    if (!text.isEmpty()) arguments << "--text" << text;
    QProcess demo;
    demo.setProcessChannelMode(QProcess::ForwardedChannels);
    demo.start(bin + "/potluck-node", QStringList{"demo", "--report", report} + arguments);
    if (!demo.waitForFinished(-1) || !QFile::exists(report)) give_up("the demo failed; its last lines say why");
    return need(parse_json(as_text(need(read_file(report.toStdString(), 1 << 20))), 1 << 20));
}

struct Data {
    run::Manifest manifest;
    control::VectorFile initial;
    std::vector<std::string> shards;
    std::string validation;
};

/// What the demo's host made, from the folder that it kept.
Data data_of(const QString& kept) {
    const QString initial = find_file(kept, "initial.safetensors");
    if (initial.isEmpty()) give_up("the demo kept no initial state in " + kept.toStdString());
    const QDir folder(QFileInfo(initial).absolutePath());
    const Bytes file = need(read_file(folder.filePath("../manifest").toStdString(), run::manifest_bytes_max + 128));
    Data data;
    data.manifest = need(run::parse_manifest_file(file)).manifest;
    data.initial = {initial.toStdString(), model::state_layout(data.manifest.model).header.size()};
    for (const QString& name : folder.entryList({"shard-*"}, QDir::Files, QDir::Name)) {
        data.shards.push_back(folder.filePath(name).toStdString());
    }
    data.validation = folder.filePath(folder.entryList({"validation*"}, QDir::Files).value(0)).toStdString();
    if (data.shards.size() != data.manifest.shards.size()) give_up("the demo's shards are not where they were");
    return data;
}

json train_alone(const QString& bin, const QString& work, const Data& data, std::uint64_t tokens_wanted) {
    Alone trainer(bin + "/potluck-trainer");
    control::LoadRequest load{data.manifest.model.to_json(), data.manifest.recipe.to_json(), data.initial, 2};
    (void)trainer.call("load", control::to_json(load));
    const run::Recipe& recipe = data.manifest.recipe;
    const std::string peer(64, '1');
    QElapsedTimer clock;
    clock.start();
    for (int step = 0; step < schedule_steps; ++step) {
        const std::uint64_t round = recipe.total_rounds * static_cast<std::uint64_t>(step) / schedule_steps;
        const std::size_t shard = static_cast<std::size_t>(step) % data.shards.size();
        const control::TrainRequest train{static_cast<std::uint64_t>(step), peer, recipe.seed,
                                          run::learning_rate_at(recipe, round), data.shards[shard],
                                          data.manifest.shards[shard].records};
        (void)trainer.call("train", control::to_json(train));
        const auto until = tokens_wanted * static_cast<std::uint64_t>(step + 1) / schedule_steps;
        while (trainer.tokens() < until) trainer.pump();
    }
    const double seconds = static_cast<double>(clock.elapsed()) / 1000;
    const QString vector = work + "/alone.f32";
    const control::VectorFile target{vector.toStdString(), 0};
    const json snapshot = trainer.call("snapshot", control::to_json(control::SnapshotRequest{target}));
    (void)trainer.call("idle", json::object());
    const control::EvaluateRequest evaluate{target, data.validation, data.manifest.validation.records,
                                            data.manifest.validation.records};
    const json evaluated = trainer.call("evaluate", control::to_json(evaluate));
    const auto tokens = snapshot.value("tokens", std::uint64_t{0});
    return {{"tokens", tokens}, {"seconds", seconds}, {"tokens_per_second", static_cast<double>(tokens) / seconds},
            {"loss", evaluated.value("loss", 0.0)}};
}

/// A run of many small volunteers: what a round costs then.
json run_sixteen(const QString& bin, const QString& work, const QString& text) {
    const QString recipe = work + "/sixteen.json";
    const std::string fields = json{{"layers", 1}, {"width", 64}, {"heads", 2}, {"context", 64}, {"window_seconds", 10.0},
                                    {"collect_seconds", 20.0}, {"grace_seconds", 10.0}, {"overhead_seconds", 10.0}}.dump();
    if (!write_file_atomically(recipe.toStdString(), as_bytes(fields)).ok()) give_up("the work folder cannot be written");
    return run_demo(bin, {"--recipe", recipe, "--volunteers", "15", "--rounds", "10"}, work + "/sixteen-report.json",
                    text);
}

}  // namespace

int main(int argc, char** argv) {
    const QCoreApplication application(argc, argv);
    QCommandLineParser options;
    options.addOptions({{"bin", "Folder of the programs.", "folder"}, {"work", "Folder to work in.", "folder"},
                        {"report", "Write the figures as JSON.", "file"}, {"minutes", "Length of the demo.", "minutes", "3"},
                        {"text", "Text to train on (default: the demo's own).", "path"}});
    options.addHelpOption();
    options.process(application);
    const QString bin = options.value("bin");
    const QString work = QDir(options.value("work")).absolutePath();
    if (bin.isEmpty() || options.value("work").isEmpty() || !QDir().mkpath(work + "/demo")) give_up("--bin and --work are needed");

    const json swarm = run_demo(bin, {"--minutes", options.value("minutes"), "--keep", work + "/demo"}, work + "/demo-report.json",
                                options.value("text"));
    if (!swarm["faults"].empty()) give_up("the demo found faults; its last lines name them");
    const auto tokens = swarm.value("trained_tokens_accepted", std::uint64_t{0});
    const double swarm_speed = static_cast<double>(tokens) / std::max(1.0, swarm.value("seconds", 0.0));
    const json alone = train_alone(bin, work, data_of(work + "/demo"), tokens);
    std::printf("swarm %.0f tokens/s, loss %.3f; alone %.0f tokens/s, loss %.3f\n", swarm_speed,
                swarm["final_loss"].get<double>(), alone["tokens_per_second"].get<double>(), alone["loss"].get<double>());
    const json sixteen = run_sixteen(bin, work, options.value("text"));

    const json figures = {
        {"swarm_tokens_per_second", swarm_speed},
        {"alone_tokens_per_second", alone["tokens_per_second"]},
        {"swarm_speed_beside_alone", swarm_speed / alone["tokens_per_second"].get<double>()},
        {"tokens", tokens},
        {"swarm_loss", swarm["final_loss"]},
        {"alone_loss", alone["loss"]},
        {"bigram_loss", swarm["bigram_loss"]},
        {"round_overhead_seconds_5_volunteers", swarm["round_overhead_seconds"]},
        {"round_overhead_seconds_16_volunteers", sixteen["round_overhead_seconds"]},
        {"faults_16_volunteers", sixteen["faults"]},  // five times more programs than cores: a slow machine runs out of time
        {"seconds_join_to_first_step", swarm["seconds_join_to_first_step"]},
        {"bits_per_parameter", swarm["bits_per_parameter"]},
        {"k", swarm["k"]},
    };
    std::printf("%s\n", figures.dump(2).c_str());
    if (options.isSet("report")) {
        const std::string text = figures.dump(2) + "\n";
        if (!write_file_atomically(options.value("report").toStdString(), as_bytes(text)).ok()) give_up("the report cannot be written");
    }
    return 0;
}
