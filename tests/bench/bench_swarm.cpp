// The swarm beside processes that train alone: runs the product's own demo, then trainers without a swarm on the same
// cores, the same shards and as many tokens. Each baseline answers one question:
//
//   small steps       what one computer gets out of these tokens if it steps after every batch; an upper bound, since
//   it
//                     makes several times the swarm's steps
//   same steps        the same global batch and as many steps as the swarm: what exchanging once a round costs in loss
//   equal time        what one process with all cores reaches in the swarm's time
//   one-thread speed  as many processes of one thread as there are cores: what the swarm's speed is to be held against
//   everything sent   the swarm with k = 4,096 from the first round on, two bits for every entry: what beginning with
//                     fewer costs in loss
//
// How many computers the swarm was worth is told by the demo itself: how many times one volunteer's tokens one computer
// alone needs for the same loss.
//
// A second demo of fifteen small volunteers and one that joins late shows what a round costs as the swarm grows.
//
//   bench_swarm --bin FOLDER --work FOLDER [--report FILE] [--minutes M] [--text PATH]
#include <QCommandLineParser>
#include <QCoreApplication>
#include <QDir>
#include <QDirIterator>
#include <QFile>
#include <QThread>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

#include "core/base/files.h"
#include "core/base/json.h"
#include "core/model/state_layout.h"
#include "core/run/manifest.h"
#include "tests/bench/lone_trainer.h"

namespace {

using namespace potluck;
using namespace potluck::bench;
using nlohmann::json;

constexpr double speed_seconds = 20;        // of the one-thread processes
constexpr std::uint32_t everything = 4096;  // k

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

/// What the demo's host made, from the folder that it kept.
LoneData data_of(const QString& kept) {
    const QString initial = find_file(kept, "initial.safetensors");
    if (initial.isEmpty()) give_up("the demo kept no initial state in " + kept.toStdString());
    const QDir folder(QFileInfo(initial).absolutePath());
    const Bytes file = need(read_file(folder.filePath("../manifest").toStdString(), run::manifest_bytes_max + 128));
    LoneData data;
    data.manifest = need(run::parse_manifest_file(file)).manifest;
    data.initial = {initial.toStdString(), model::state_layout(data.manifest.model).header.size()};
    for (const QString& name : folder.entryList({"shard-*"}, QDir::Files, QDir::Name)) {
        data.shards.push_back(folder.filePath(name).toStdString());
    }
    data.validation = folder.filePath(folder.entryList({"validation*"}, QDir::Files).value(0)).toStdString();
    if (data.shards.size() != data.manifest.shards.size()) give_up("the demo's shards are not where they were");
    return data;
}

json to_json(const char* name, const LoneResult& result) {
    std::printf("%-17s %9.0f tokens, %6.0f steps, %5.0f s, %6.0f tokens/s, validation loss %.3f\n", name, result.tokens,
                result.steps, result.seconds, result.tokens / result.seconds, result.loss);
    std::fflush(stdout);
    return {{"tokens", result.tokens},
            {"steps", result.steps},
            {"seconds", result.seconds},
            {"tokens_per_second", result.tokens / result.seconds},
            {"loss", result.loss}};
}

json baselines(const LonePrograms& programs, const LoneData& data, const json& swarm) {
    const unsigned cores = static_cast<unsigned>(std::max(1, QThread::idealThreadCount()));
    const double tokens = swarm.value("credited_tokens", 0.0), seconds = swarm.value("seconds", 0.0);
    // Whoever trained made steps of the recipe's batch side by side: so many volunteers make one global step.
    const double together = std::max(1.0, swarm.value("contributions_per_round", 1.0));
    const auto global_batch = static_cast<std::uint32_t>(std::lround(together * data.manifest.recipe.batch));
    const LonePlan small_steps{.threads = cores, .tokens = tokens};
    const LonePlan same_steps{.threads = cores, .batch = global_batch, .tokens = tokens};
    const LonePlan equal_time{.threads = cores, .seconds = seconds};
    json found;
    found["small_steps"] = to_json("small steps", train_alone(programs, data, small_steps));
    found["same_steps"] = to_json("same steps", train_alone(programs, data, same_steps));
    found["same_steps"]["batch"] = global_batch;
    found["equal_time"] = to_json("equal time", train_alone(programs, data, equal_time));
    const double speed = one_thread_speed(programs, data, cores, speed_seconds);
    std::printf("one-thread speed  %u processes of one thread: %.0f tokens/s\n", cores, speed);
    found["one_thread_processes"] = cores;
    found["one_thread_tokens_per_second"] = speed;
    return found;
}

/// The same demo with every entry sent.
json run_dense(const QString& bin, const QString& work, const QString& text, std::uint64_t rounds) {
    const QString recipe = work + "/dense.json";
    const std::string fields = json{{"density", std::to_string(everything)}}.dump();
    if (!write_file_atomically(recipe.toStdString(), as_bytes(fields)).ok())
        give_up("the work folder cannot be written");
    return run_demo(bin, {"--recipe", recipe, "--rounds", QString::number(rounds), "--keep", work + "/dense"},
                    work + "/dense-report.json", text);
}

/// A run of many small volunteers: what a round costs then.
json run_sixteen(const QString& bin, const QString& work, const QString& text) {
    const QString recipe = work + "/sixteen.json";
    const std::string fields = json{
        {"layers", 1},
        {"width", 64},
        {"heads", 2},
        {"context", 64},
        {"window_seconds", 10.0},
        {"collect_seconds", 20.0},
        {"grace_seconds", 10.0},
        {"overhead_seconds", 10.0}}.dump();
    if (!write_file_atomically(recipe.toStdString(), as_bytes(fields)).ok())
        give_up("the work folder cannot be written");
    return run_demo(bin, {"--recipe", recipe, "--volunteers", "15", "--rounds", "10", "--keep", work + "/sixteen"},
                    work + "/sixteen-report.json", text);
}

}  // namespace

int main(int argc, char** argv) {
    const QCoreApplication application(argc, argv);
    QCommandLineParser options;
    options.addOptions({{"bin", "Folder of the programs.", "folder"},
                        {"work", "Folder to work in.", "folder"},
                        {"report", "Write the figures as JSON.", "file"},
                        {"minutes", "Length of the demo.", "minutes", "3"},
                        {"text", "Text to train on (default: the demo's own).", "path"}});
    options.addHelpOption();
    options.process(application);
    const QString bin = options.value("bin");
    const QString work = QDir(options.value("work")).absolutePath();
    if (bin.isEmpty() || options.value("work").isEmpty() || !QDir().mkpath(work + "/demo"))
        give_up("--bin and --work are needed");

    const QString text = options.value("text");
    const json swarm = run_demo(bin, {"--worth", "--minutes", options.value("minutes"), "--keep", work + "/demo"},
                                work + "/demo-report.json", text);
    if (!swarm["faults"].empty()) give_up("the demo found faults; its last lines name them");
    const LonePrograms programs{bin + "/potluck-trainer", work};
    json figures = baselines(programs, data_of(work + "/demo"), swarm);
    const json dense = run_dense(bin, work, text, swarm.value("rounds", std::uint64_t{0}));
    const json sixteen = run_sixteen(bin, work, text);
    const double speed = swarm.value("credited_tokens", 0.0) / std::max(1.0, swarm.value("seconds", 0.0));
    figures["swarm"] = {{"tokens", swarm["credited_tokens"]},
                        {"seconds", swarm["seconds"]},
                        {"tokens_per_second", speed},
                        {"loss", swarm["final_loss"]},
                        {"k", swarm["k"]},
                        {"bits_per_parameter", swarm["bits_per_parameter"]},
                        {"sent_per_round", swarm["upload_bytes_per_round"]},
                        {"payload_per_round", swarm["payload_bytes_per_round"]},
                        {"fp32_gradients_per_round", swarm["fp32_bytes_per_round"]}};
    figures["everything_sent"] = {{"loss", dense["final_loss"]},
                                  {"tokens", dense["credited_tokens"]},
                                  {"sent_per_round", dense["upload_bytes_per_round"]},
                                  {"faults", dense["faults"]}};
    figures["fp32_gradients_over_all_sent"] =
        swarm.value("fp32_bytes_per_round", 0.0) / std::max(1.0, swarm.value("upload_bytes_per_round", 0.0));
    figures["speed_over_one_thread_processes"] = speed / figures.value("one_thread_tokens_per_second", 1.0);
    figures["bigram_loss"] = swarm["bigram_loss"];
    figures["worth"] = swarm["worth"];
    figures["round_overhead_seconds_5_volunteers"] = swarm["round_overhead_seconds"];
    figures["round_overhead_seconds_16_volunteers"] = sixteen["round_overhead_seconds"];
    // Many more programs than cores: a slow machine runs out of time, which is then a fault.
    figures["faults_16_volunteers"] = sixteen["faults"];
    figures["seconds_join_to_first_step"] = swarm["seconds_join_to_first_step"];
    std::printf("%s\n", figures.dump(2).c_str());
    if (options.isSet("report")) {
        const std::string report = figures.dump(2) + "\n";
        if (!write_file_atomically(options.value("report").toStdString(), as_bytes(report)).ok())
            give_up("the report cannot be written");
    }
    return 0;
}
