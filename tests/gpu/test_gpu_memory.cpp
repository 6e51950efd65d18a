// What the memory plan promises of a GPU, against what the driver says the trainer's process holds there, and how soon
// it holds nothing. Skipped where there is no NVIDIA GPU.
#include <QTest>

#include <chrono>
#include <cstdint>
#include <optional>
#include <thread>

#include "core/confinement/confinement.h"
#include "core/control/trainer_protocol.h"
#include "core/device/probe.h"
#include "core/model/presets.h"
#include "tests/gpu/gpu_memory.h"
#include "tests/gpu/measured_run.h"
#include "tests/integration/trainer_child.h"

using namespace potluck;
using namespace potluck::control;
using namespace potluck::tests;
using nlohmann::json;

namespace {

using Clock = std::chrono::steady_clock;

json layout(const char* products, const char* state, const char* checkpointing, const char* flow, int micro_batch) {
    return {{"device", "cuda:0"},   {"micro_batch", micro_batch},
            {"matmul", products},   {"weights", "fp32"},
            {"gradient", "fp32"},   {"checkpointing", checkpointing},
            {"state_bits", 8},      {"state", state},
            {"weights_flow", flow}, {"anchor", "host"}};
}

/// Of a preset with another context or side, so that activations weigh as much as all else.
MeasuredRun run_of(const char* preset, std::uint32_t batch) {
    model::ModelSpec model = model::model_preset(preset).value();
    if (model.family == model::Family::llama) model.context = 1024;
    if (model.family == model::Family::coder) {
        model.coder.side = 64;
        model.context = model::coder_context(model.coder);
    }
    if (model.family == model::Family::swav) model.swav.together = batch;
    return MeasuredRun(model, batch);
}

double mib(std::uint64_t bytes) { return static_cast<double>(bytes) / static_cast<double>(mebibyte); }

}  // namespace

class GpuMemoryTest : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() {
        if (device::probe_nvidia().gpus.empty()) QSKIP("no NVIDIA GPU answers");
    }

    void the_measured_peak_is_within_a_tenth_of_the_plan_data() {
        QTest::addColumn<QString>("preset");
        QTest::addColumn<int>("batch");
        QTest::addColumn<json>("layout");
        const auto row = [](const char* name, const char* preset, int batch, const json& layout) {
            QTest::newRow(name) << QString(preset) << batch << layout;
        };
        row("gpt2, fp32", "gpt2", 8, layout("fp32", "device", "none", "resident", 8));
        row("gpt2, fp32, full", "gpt2", 8, layout("fp32", "device", "full", "resident", 8));
        row("gpt2, bf16", "gpt2", 16, layout("bf16", "device", "none", "resident", 16));
        row("gpt2, bf16, selective", "gpt2", 16, layout("bf16", "device", "selective", "resident", 16));
        row("gpt2, bf16, full", "gpt2", 16, layout("bf16", "device", "full", "resident", 16));
        row("gpt2-medium, bf16, state on the host", "gpt2-medium", 4, layout("bf16", "host", "none", "resident", 4));
        row("gpt2-medium, bf16, streamed", "gpt2-medium", 4, layout("bf16", "host", "full", "streamed", 4));
        row("opt-125m, bf16", "opt-125m", 4, layout("bf16", "device", "none", "resident", 4));
        row("llama, bf16", "smollm2-135m", 8, layout("bf16", "device", "none", "resident", 8));
        row("llama, bf16, selective", "smollm2-135m", 16, layout("bf16", "device", "selective", "resident", 16));
        row("llama, bf16, full", "smollm2-135m", 16, layout("bf16", "device", "full", "resident", 16));
        row("albert", "albert-base", 16, layout("fp32", "device", "none", "resident", 16));
        row("albert, full", "albert-base", 32, layout("fp32", "device", "full", "resident", 32));
        row("coder", "coder-small", 64, layout("fp32", "device", "none", "resident", 64));
        row("dalle", "dalle-emoji", 64, layout("fp32", "device", "none", "resident", 64));
        row("dalle, full", "dalle-emoji", 128, layout("fp32", "device", "full", "resident", 128));
        row("dalle, reversed", "dalle-emoji", 128, layout("fp32", "device", "reversed", "resident", 128));
        row("swav", "swav-tiny", 512, layout("fp32", "device", "none", "resident", 512));
        row("swav, full", "swav-tiny", 512, layout("fp32", "device", "full", "resident", 512));
        row("swav, ResNet-50", "swav-resnet50", 16, layout("fp32", "device", "none", "resident", 16));
        row("swav, ResNet-50, bf16", "swav-resnet50", 16, layout("bf16", "device", "none", "resident", 16));
        row("swav, ResNet-50, bf16, full", "swav-resnet50", 64, layout("bf16", "device", "full", "resident", 64));
    }
    void the_measured_peak_is_within_a_tenth_of_the_plan() {
        QFETCH(const QString, preset);
        QFETCH(const int, batch);
        QFETCH(const json, layout);
        const MeasuredRun run = run_of(preset.toUtf8().constData(), static_cast<std::uint32_t>(batch));
        TrainerChild child(QStringList{});
        LoadRequest request = run.load();
        request.layout = layout;
        request.threads = 2;
        PlanReply plan;
        const Reply loaded = child.call("load", to_json(request));
        QVERIFY2(!loaded.error, loaded.error ? loaded.error->message.c_str() : "");
        QVERIFY(from_json(loaded.result, plan).ok());
        const GpuMemory gpu(0);
        const std::optional<std::uint64_t> before = gpu.bytes_of(child.process());
        QVERIFY(!child.call("train", run.train()).error);
        QVERIFY(train(child, 6));
        // LibTorch's allocator keeps what it has taken once, so the last reading is the largest.
        const std::optional<std::uint64_t> held = gpu.bytes_of(child.process());
        QVERIFY(held.has_value());
        const double ratio = mib(*held) / mib(plan.gpu_peak);
        qInfo("planned %.0f MiB, measured %.0f MiB, %.0f of it before training, ratio %.3f", mib(plan.gpu_peak),
              mib(*held), mib(before.value_or(0)), ratio);
        for (const PlanPart& part : plan.parts) {
            if (part.gpu > 0) qInfo("  %s %s: %.0f MiB", part.what.c_str(), part.how.c_str(), mib(part.gpu));
        }
        QVERIFY2(ratio > 0.9 && ratio < 1.1, qPrintable(QString::number(ratio)));
    }

    void a_confined_trainer_finds_the_gpu() {
        const MeasuredRun run = run_of("gpt2", 4);
        const confinement::Variable hidden =
            confinement::hidden_variable(run.folder.filePath("keys").toStdString(), {});
        const confinement::Variable writable = confinement::writable_variable({run.folder.path().toStdString()});
        qputenv(hidden.name.c_str(), QByteArray::fromStdString(hidden.value));
        qputenv(writable.name.c_str(), QByteArray::fromStdString(writable.value));
        TrainerChild child(QStringList{});
        qunsetenv(hidden.name.c_str());
        qunsetenv(writable.name.c_str());
        LoadRequest request = run.load();
        request.budget.device = "cuda:0";
        const Reply loaded = child.call("load", to_json(request));
        QVERIFY2(!loaded.error, loaded.error ? loaded.error->message.c_str() : "");
    }

    void a_killed_trainer_holds_no_memory_within_two_seconds() {
        const MeasuredRun run = run_of("gpt2", 16);
        TrainerChild child(QStringList{});
        LoadRequest request = run.load();
        request.budget.device = "cuda:0";
        QVERIFY(!child.call("load", to_json(request)).error);
        QVERIFY(!child.call("train", run.train()).error);
        QVERIFY(train(child, 3));
        const GpuMemory gpu(0);
        const std::int64_t process = child.process();
        const std::optional<std::uint64_t> held = gpu.bytes_of(process);
        QVERIFY(held && *held > 512 * mebibyte);
        const Clock::time_point start = Clock::now();
        child.kill();
        while (gpu.bytes_of(process) && Clock::now() - start < std::chrono::seconds(10))
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        const std::chrono::duration<double> took = Clock::now() - start;
        qInfo("%.0f MiB free %.3f s after the kill", mib(*held), took.count());
        QVERIFY(took < std::chrono::seconds(2));
    }
};

QTEST_GUILESS_MAIN(GpuMemoryTest)
#include "test_gpu_memory.moc"
