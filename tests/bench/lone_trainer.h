// The trainer program without a swarm, as the baselines of bench_swarm need it: spoken to line by line, trained for a
// number of tokens or a time with the recipe's schedule, and evaluated.
#pragma once

#include <QElapsedTimer>
#include <QProcess>
#include <QString>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/control/rpc.h"
#include "core/control/trainer_protocol.h"
#include "core/run/manifest.h"

namespace potluck::bench {

inline constexpr int reply_patience_ms = 120'000;
inline constexpr int schedule_steps = 60;  // the learning rate is set that often

[[noreturn]] inline void give_up(const std::string& why) {
    std::fprintf(stderr, "bench_swarm: %s\n", why.c_str());
    std::exit(1);
}

template <class T>
T need(Result<T> result) {
    if (!result.ok()) give_up(result.error().message);
    return std::move(result).value();
}

/// One trainer process.
class LoneTrainer {
public:
    explicit LoneTrainer(const QString& program) {
        m_process.setProcessChannelMode(QProcess::ForwardedErrorChannel);
        m_process.start(program, {});
        if (!m_process.waitForStarted()) give_up("the trainer does not start: " + program.toStdString());
    }
    ~LoneTrainer() {
        m_process.closeWriteChannel();
        if (!m_process.waitForFinished(5'000)) m_process.kill();
    }
    LoneTrainer(const LoneTrainer&) = delete;
    LoneTrainer& operator=(const LoneTrainer&) = delete;

    /// Sends a request and waits for its reply; progress that arrives meanwhile is kept.
    nlohmann::json call(const std::string& method, const nlohmann::json& params) {
        const std::uint64_t id = ++m_last_id;
        m_process.write(QByteArray::fromStdString(control::encode(control::Request{id, method, params})));
        QElapsedTimer waited;
        waited.start();
        while (waited.elapsed() < reply_patience_ms) {
            if (const auto reply = read_until(id)) return *reply;
        }
        give_up("the trainer does not answer " + method);
    }
    void pump() { (void)read_until(0); }
    [[nodiscard]] double tokens() const { return m_tokens; }

private:
    std::optional<nlohmann::json> read_until(std::uint64_t id) {
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
    double m_tokens = 0;
};

struct LonePrograms {
    QString trainer, work;
};

/// What a demo's host made.
struct LoneData {
    run::Manifest manifest;
    control::VectorFile initial;
    std::vector<std::string> shards;
    std::string validation;
};

/// Until `tokens` are trained, or for `seconds`; whichever is not zero.
struct LonePlan {
    unsigned threads = 1;
    std::uint32_t batch = 0;  // sequences per step; 0: the recipe's
    double tokens = 0, seconds = 0;
};

struct LoneResult {
    double tokens = 0, steps = 0, seconds = 0, loss = 0;
};

inline void load(LoneTrainer& trainer, const LoneData& data, const LonePlan& plan) {
    run::Recipe recipe = data.manifest.recipe;
    if (plan.batch > 0) recipe.batch = plan.batch;
    const control::LoadRequest load{data.manifest.model, recipe, data.initial, plan.threads};
    (void)trainer.call("load", control::to_json(load));
}

/// Trains on shard after shard; `stretch` of schedule_steps says where the schedule stands.
inline void train(LoneTrainer& trainer, const LoneData& data, int stretch) {
    const run::Recipe& recipe = data.manifest.recipe;
    const std::uint64_t round = recipe.total_rounds * static_cast<std::uint64_t>(stretch) / schedule_steps;
    const std::size_t shard = static_cast<std::size_t>(stretch) % data.shards.size();
    const control::TrainRequest request{
        static_cast<std::uint64_t>(stretch),  std::string(64, '1'), recipe.seed,
        run::learning_rate_at(recipe, round), data.shards[shard],   data.manifest.shards[shard].records};
    (void)trainer.call("train", control::to_json(request));
}

/// The time does not include loading.
inline LoneResult train_alone(const LonePrograms& programs, const LoneData& data, const LonePlan& plan) {
    LoneTrainer trainer(programs.trainer);
    load(trainer, data, plan);
    QElapsedTimer clock;
    clock.start();
    for (int stretch = 0; stretch < schedule_steps; ++stretch) {
        train(trainer, data, stretch);
        const double share = static_cast<double>(stretch + 1) / schedule_steps;
        while (plan.tokens > 0 ? trainer.tokens() < share * plan.tokens
                               : static_cast<double>(clock.elapsed()) < 1000 * share * plan.seconds) {
            trainer.pump();
        }
    }
    LoneResult result;
    result.seconds = static_cast<double>(clock.elapsed()) / 1000;
    const control::VectorFile target{(programs.work + "/alone.f32").toStdString(), 0};
    const auto counts = trainer.call("snapshot", control::to_json(control::SnapshotRequest{target}));
    (void)trainer.call("idle", nlohmann::json::object());
    const control::EvaluateRequest evaluate{target, data.validation, data.manifest.validation.records,
                                            data.manifest.validation.records};
    result.loss = trainer.call("evaluate", control::to_json(evaluate)).value("loss", 0.0);
    result.tokens = counts.value("tokens", 0.0);
    result.steps = counts.value("steps", 0.0);
    return result;
}

/// Tokens per second of `processes` trainers with one thread each, side by side.
inline double one_thread_speed(const LonePrograms& programs, const LoneData& data, unsigned processes, double seconds) {
    std::vector<std::unique_ptr<LoneTrainer>> trainers;
    for (unsigned i = 0; i < processes; ++i) {
        trainers.push_back(std::make_unique<LoneTrainer>(programs.trainer));
        load(*trainers.back(), data, {.threads = 1});
    }
    for (const auto& trainer : trainers) train(*trainer, data, 0);
    const auto sum = [&] {
        double tokens = 0;
        for (const auto& trainer : trainers) {
            trainer->pump();
            tokens += trainer->tokens();
        }
        return tokens;
    };
    QElapsedTimer clock;
    clock.start();
    while (clock.elapsed() < 2'000) (void)sum();  // the first steps are slower
    const double before = sum(), began = static_cast<double>(clock.elapsed());
    while (static_cast<double>(clock.elapsed()) < began + 1000 * seconds) (void)sum();
    return (sum() - before) / (static_cast<double>(clock.elapsed()) - began) * 1000;
}

}  // namespace potluck::bench
