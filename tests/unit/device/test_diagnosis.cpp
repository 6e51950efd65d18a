#include <QTest>

#include <map>

#include "core/device/diagnosis/diagnosis.h"
#include "core/device/memory.h"
#include "core/device/probe.h"
#include "core/training/compute/devices.h"

using namespace potluck;
using namespace potluck::training;
using namespace potluck::device;
using control::DetectReply;
using control::DeviceRow;

namespace {

constexpr std::uint64_t gib = 1ULL << 30U;

/// A common desktop without any GPU.
ComputerFacts plain_computer() {
    ComputerFacts facts;
    facts.torch = "2.13.0";
    facts.processor = {.name = "AMD Ryzen 5 5600X 6-Core Processor",
                       .cores = 6,
                       .logical = 12,
                       .simd = {.avx2 = true},
                       .memory = {.total = 16 * gib, .free = 11 * gib}};
    return facts;
}

NvidiaGpu rtx_3060() {
    return {
        .name = "NVIDIA GeForce RTX 3060", .major = 8, .minor = 6, .memory_total = 12 * gib, .memory_free = 11 * gib};
}

ComputerFacts with_nvidia(std::vector<NvidiaGpu> gpus) {
    ComputerFacts facts = plain_computer();
    for (const NvidiaGpu& gpu : gpus) facts.bus.push_back({.vendor = Vendor::nvidia, .name = gpu.name});
    facts.nvidia = {
        .driver = NvidiaFacts::Driver::working, .cuda = 13'000, .version = "580.65", .gpus = std::move(gpus)};
    return facts;
}

BackendFacts cuda_backend(std::uint32_t devices) {
    return {.kind = BackendFacts::Kind::cuda, .file = "/t/libtorch_cuda.so", .runtime = 13'000, .devices = devices};
}

const DeviceRow& only_gpu(const DetectReply& reply) {
    if (reply.devices.size() != 2) qFatal("%zu devices", reply.devices.size());
    return reply.devices.back();
}

bool says(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

ReadText files(std::map<std::string, std::string> texts) {
    return [texts = std::move(texts)](const std::filesystem::path& file) -> std::optional<std::string> {
        const auto found = texts.find(file.generic_string());
        if (found == texts.end()) return std::nullopt;
        return found->second;
    };
}

constexpr const char* meminfo = "MemTotal:       16384000 kB\nMemFree:         1000 kB\nMemAvailable:    8192000 kB\n";

}  // namespace

class DeviceJudgeTest : public QObject {
    Q_OBJECT
private slots:
    void without_a_gpu_the_processor_trains() {
        DetectReply reply = diagnose_devices(plain_computer());
        QCOMPARE(reply.devices.size(), std::size_t{1});
        QVERIFY(reply.devices.front().usable);
        QCOMPARE(reply.devices.front().features, std::string("6 cores, 12 threads, AVX2"));
        QVERIFY(says(reply.notes.front(), "No GPU"));
        explain_choice(reply);
        QCOMPARE(reply.devices.front().reason, std::string("It trains."));
    }

    void a_gpu_without_a_back_end_is_named_and_told_what_is_missing() {
        const DetectReply reply = diagnose_devices(with_nvidia({rtx_3060()}));
        const DeviceRow& row = only_gpu(reply);
        QVERIFY(!row.usable);
        QCOMPARE(row.name, std::string("NVIDIA GeForce RTX 3060"));
        QVERIFY(says(row.features, "8.6") && says(row.features, "580.65") && says(row.features, "CUDA 13.0"));
        QVERIFY(says(row.reason, "not installed") && says(row.reason, "LibTorch 2.13.0 for CUDA"));
    }

    void a_gpu_with_driver_and_back_end_is_usable() {
        ComputerFacts facts = with_nvidia({rtx_3060()});
        facts.backend = cuda_backend(1);
        const DetectReply reply = diagnose_devices(facts);
        QVERIFY(only_gpu(reply).usable);
        QVERIFY(only_gpu(reply).reason.empty());
        QCOMPARE(only_gpu(reply).id, std::string("cuda:0"));
        QCOMPARE(only_gpu(reply).memory_free, 11 * gib);
    }

    void an_unusable_nvidia_card_is_explained_data() {
        QTest::addColumn<int>("fault");
        QTest::addColumn<QString>("word");
        QTest::newRow("Pascal") << 0 << "6.1";
        QTest::newRow("Volta under CUDA 13") << 1 << "7.5 is the lowest";
        QTest::newRow("old driver") << 2 << "driver is too old: it serves CUDA 12.4";
        QTest::newRow("broken back end") << 3 << "undefined symbol";
        QTest::newRow("unseen") << 4 << "does not see";
        QTest::newRow("full memory") << 5 << "512 MiB";
    }
    void an_unusable_nvidia_card_is_explained() {
        QFETCH(const int, fault);
        QFETCH(const QString, word);
        ComputerFacts facts = with_nvidia({rtx_3060()});
        facts.backend = cuda_backend(1);
        NvidiaGpu& gpu = facts.nvidia.gpus.front();
        if (fault == 0) gpu.major = 6, gpu.minor = 1;
        if (fault == 1) gpu.major = 7, gpu.minor = 0;
        if (fault == 2) facts.nvidia.cuda = 12'040;
        if (fault == 3) facts.backend.failure = "undefined symbol";
        if (fault == 4) facts.backend.devices = 0;
        if (fault == 5) gpu.memory_free = gib / 2;
        const DetectReply reply = diagnose_devices(facts);
        QVERIFY(!only_gpu(reply).usable);
        QVERIFY2(says(only_gpu(reply).reason, qPrintable(word)), only_gpu(reply).reason.c_str());
        QVERIFY(reply.devices.front().usable);
    }

    void an_old_card_is_told_so_before_anything_is_downloaded_for_it() {
        NvidiaGpu old = rtx_3060();
        old.major = 6;
        old.minor = 1;
        QVERIFY(says(only_gpu(diagnose_devices(with_nvidia({old}))).reason, "too old"));
    }

    void a_volta_card_works_with_cuda_12() {
        NvidiaGpu volta = rtx_3060();
        volta.major = 7;
        volta.minor = 0;
        ComputerFacts facts = with_nvidia({volta});
        facts.backend = cuda_backend(1);
        facts.backend.runtime = 12'080;
        QVERIFY(only_gpu(diagnose_devices(facts)).usable);
    }

    void a_driver_serves_every_minor_version_of_its_cuda() {
        ComputerFacts facts = with_nvidia({rtx_3060()});
        facts.backend = cuda_backend(1);
        facts.backend.runtime = 12'080;
        facts.nvidia.cuda = 12'020;
        QVERIFY(only_gpu(diagnose_devices(facts)).usable);
    }

    void each_of_several_gpus_is_a_row_of_its_own() {
        NvidiaGpu old = rtx_3060();
        old.major = 5;
        ComputerFacts facts = with_nvidia({rtx_3060(), old, rtx_3060()});
        facts.backend = cuda_backend(3);
        const DetectReply reply = diagnose_devices(facts);
        QCOMPARE(reply.devices.size(), std::size_t{4});
        QVERIFY(reply.devices[1].usable && !reply.devices[2].usable && reply.devices[3].usable);
        QCOMPARE(reply.devices[3].id, std::string("cuda:2"));
    }

    void a_card_without_its_driver_is_seen_on_the_bus() {
        ComputerFacts facts = plain_computer();
        facts.bus = {{.vendor = Vendor::nvidia, .name = "NVIDIA GPU (bus number 0x2504)"}};
        QVERIFY(says(only_gpu(diagnose_devices(facts)).reason, "driver is not installed"));
    }

    void a_driver_that_fails_tells_the_remedy_data() {
        QTest::addColumn<int>("failure");
        QTest::addColumn<QString>("word");
        QTest::newRow("hidden") << 100 << "CUDA_VISIBLE_DEVICES";
        QTest::newRow("updated in use") << 803 << "restart the computer";
        QTest::newRow("after sleep") << 999 << "nvidia_uvm";
    }
    void a_driver_that_fails_tells_the_remedy() {
        QFETCH(const int, failure);
        QFETCH(const QString, word);
        ComputerFacts facts = plain_computer();
        facts.nvidia.driver = NvidiaFacts::Driver::failed;
        facts.nvidia.failure = failure;
        QVERIFY(says(diagnose_devices(facts).notes.front(), qPrintable(word)));
        facts.bus = {{.vendor = Vendor::nvidia, .name = "NVIDIA GPU"}};
        QVERIFY(says(only_gpu(diagnose_devices(facts)).reason, qPrintable(word)));
    }

    void an_amd_card_needs_the_rocm_build() {
        ComputerFacts facts = plain_computer();
        facts.bus = {{.vendor = Vendor::amd, .name = "AMD GPU", .memory_total = 16 * gib, .memory_free = 15 * gib}};
        QVERIFY(!only_gpu(diagnose_devices(facts)).usable);
        QVERIFY(says(only_gpu(diagnose_devices(facts)).reason, "ROCm"));
        facts.backend = {.kind = BackendFacts::Kind::rocm, .file = "/t/libtorch_hip.so", .devices = 1};
        QVERIFY(only_gpu(diagnose_devices(facts)).usable);
        QCOMPARE(only_gpu(diagnose_devices(facts)).id, std::string("cuda:0"));
        facts.backend.devices = 0;
        QVERIFY(says(only_gpu(diagnose_devices(facts)).reason, "render"));
        facts.system = System::windows;
        facts.backend = {};
        QVERIFY(says(only_gpu(diagnose_devices(facts)).reason, "Linux only"));
    }

    void an_apple_gpu_shares_the_memory() {
        ComputerFacts facts = plain_computer();
        facts.system = System::mac;
        QVERIFY(says(diagnose_devices(facts).notes.front(), "macOS"));
        facts.processor.name = "Apple M2";
        facts.metal = true;
        QCOMPARE(only_gpu(diagnose_devices(facts)).name, std::string("Apple M2 GPU"));
        QVERIFY(only_gpu(diagnose_devices(facts)).usable);
    }

    void intel_graphics_are_mentioned_and_no_device() {
        ComputerFacts facts = plain_computer();
        facts.bus = {{.vendor = Vendor::intel, .name = "Intel GPU"}};
        QCOMPARE(diagnose_devices(facts).devices.size(), std::size_t{1});
        QVERIFY(says(diagnose_devices(facts).notes.front(), "Intel"));
    }

    void a_computer_without_free_memory_cannot_train() {
        ComputerFacts facts = plain_computer();
        facts.processor.memory.free = gib / 4;
        const DetectReply reply = diagnose_devices(facts);
        QVERIFY(!reply.devices.front().usable);
        QVERIFY(says(reply.devices.front().reason, "256 MiB"));
    }

    void the_fastest_device_trains_and_the_others_say_by_how_much() {
        ComputerFacts facts = with_nvidia({rtx_3060()});
        facts.backend = cuda_backend(1);
        DetectReply reply = diagnose_devices(facts);
        reply.devices[0].speeds = {{"fp32", 0.5}, {"bf16", 0.1}};
        reply.devices[1].speeds = {{"fp32", 9}, {"bf16", 25}, {"fp16", 25}};
        explain_choice(reply);
        QVERIFY(says(reply.devices[0].reason, "cuda:0 is 50 times as fast"));
        QVERIFY(says(reply.devices[0].reason, "fp32 is used"));
        QCOMPARE(reply.devices[1].reason, std::string("It trains."));
    }

    void several_gpus_say_that_they_train_together() {
        ComputerFacts facts = with_nvidia({rtx_3060(), rtx_3060()});
        facts.backend = cuda_backend(2);
        DetectReply reply = diagnose_devices(facts);
        reply.devices[0].speeds = {{"fp32", 99}};  // which is no reason to leave the GPUs
        reply.devices[1].speeds = reply.devices[2].speeds = {{"fp32", 9}};
        explain_choice(reply);
        QCOMPARE(reply.devices[1].reason, std::string("It trains, together with the other GPUs."));
        QCOMPARE(reply.devices[2].reason, reply.devices[1].reason);
        QCOMPARE(reply.devices[0].reason, std::string("It could train; choose it by --device cpu."));
    }

    void a_card_that_emulates_bf16_says_so() {
        ComputerFacts facts = with_nvidia({rtx_3060()});
        facts.backend = cuda_backend(1);
        DetectReply reply = diagnose_devices(facts);
        reply.devices[0].speeds = {{"fp32", 0.5}};
        reply.devices[1].speeds = {{"fp32", 6}, {"bf16", 4}, {"fp16", 24}};
        explain_choice(reply);
        QVERIFY(says(reply.devices[1].reason, "fp16 is used"));
    }

    void a_device_is_named_in_one_way() {
        QCOMPARE(id_of(*parse_device("cuda:3")), std::string("cuda:3"));
        QCOMPARE(id_of(*parse_device("cuda")), std::string("cuda:0"));
        QCOMPARE(id_of(*parse_device("cpu")), std::string("cpu"));
        for (const char* wrong : {"", "gpu", "cuda:", "cuda:-1", "cuda:1x", "cuda:99", "CPU"}) {
            QVERIFY2(!parse_device(wrong).ok(), wrong);
        }
    }

    void free_memory_is_what_the_system_says_is_available() {
        const MemoryFacts memory = linux_memory(files({{"/proc/meminfo", meminfo}}));
        QCOMPARE(memory.total, 16'384'000ULL * 1024);
        QCOMPARE(memory.free, 8'192'000ULL * 1024);
    }

    void a_container_has_what_its_limit_leaves() {
        const MemoryFacts memory =
            linux_memory(files({{"/proc/meminfo", meminfo},
                                {"/proc/self/cgroup", "0::/user/app\n"},
                                {"/sys/fs/cgroup/user/app/memory.max", "max\n"},
                                {"/sys/fs/cgroup/user/app/memory.current", "5\n"},
                                {"/sys/fs/cgroup/user/memory.max", "4000000000\n"},
                                {"/sys/fs/cgroup/user/memory.current", "3000000000\n"},
                                {"/sys/fs/cgroup/user/memory.stat", "anon 1\nfile 2\ninactive_file 500000000\n"}}));
        QCOMPARE(memory.total, 4'000'000'000ULL);
        QCOMPARE(memory.free, 1'500'000'000ULL);
    }

    void the_limits_of_the_old_cgroups_count_too() {
        const MemoryFacts memory =
            linux_memory(files({{"/proc/meminfo", meminfo},
                                {"/proc/self/cgroup", "3:cpu:/x\n7:memory:/docker/abc\n"},
                                {"/sys/fs/cgroup/memory/memory.limit_in_bytes", "2000000000\n"},
                                {"/sys/fs/cgroup/memory/memory.usage_in_bytes", "1900000000\n"},
                                {"/sys/fs/cgroup/memory/memory.stat", "total_inactive_file 100000000\n"}}));
        QCOMPARE(memory.total, 2'000'000'000ULL);
        QCOMPARE(memory.free, 200'000'000ULL);
    }

    void cores_are_counted_once_however_many_threads_they_run() {
        const ProcessorFacts facts = parse_cpuinfo(
            "processor\t: 0\nmodel name\t: Some Processor\nphysical id\t: 0\ncore id\t\t: 0\n\n"
            "processor\t: 1\nmodel name\t: Some Processor\nphysical id\t: 0\ncore id\t\t: 0\n\n"
            "processor\t: 2\nmodel name\t: Some Processor\nphysical id\t: 1\ncore id\t\t: 0\n");
        QCOMPARE(facts.name, std::string("Some Processor"));
        QCOMPARE(facts.logical, 3U);
        QCOMPARE(facts.cores, 2U);
    }

    void an_arm_processor_is_named_after_its_last_core() {
        const std::string little =
            "processor\t: 0\nCPU implementer\t: 0x41\nCPU architecture: 8\nCPU part\t: 0xd05\n\n";
        const std::string big = "processor\t: 1\nCPU implementer\t: 0x41\nCPU architecture: 8\nCPU part\t: 0xd0b\n\n";
        QCOMPARE(parse_cpuinfo(little + big).name, std::string("Cortex-A76"));
        QCOMPARE(parse_cpuinfo(little + big).logical, 2U);
        QCOMPARE(parse_cpuinfo("processor\t: 0\nCPU implementer\t: 0x61\nCPU part\t: 0xd05\n").name, std::string());
        QCOMPARE(parse_cpuinfo("processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xfff\n").name, std::string());
    }

    void the_best_vector_instructions_are_named() {
        QCOMPARE(features_of({.avx2 = true, .avx512 = true, .avx512_bf16 = true, .amx_bf16 = true}),
                 std::string("AVX-512 with bf16, AMX"));
        QCOMPARE(features_of({.sse2 = true, .avx2 = true}), std::string("AVX2"));
        QCOMPARE(features_of({.sse2 = true}), std::string("SSE2 only: slow"));
        QCOMPARE(features_of({}), std::string());
    }

    void features_beyond_the_instruction_set_in_use_are_not_named() {
        const SimdFacts all{.sse2 = true, .avx2 = true, .avx512 = true, .avx512_bf16 = true, .amx_bf16 = true};
        QCOMPARE(features_of(within(all, Isa::avx512)), std::string("AVX-512 with bf16, AMX"));
        QCOMPARE(features_of(within(all, Isa::avx2)), std::string("AVX2"));
        QCOMPARE(features_of(within(all, Isa::baseline)), std::string("SSE2 only: slow"));
        QCOMPARE(features_of(within({.sse2 = true, .avx2 = true}, Isa::avx512)), std::string("AVX2"));
    }
};

QTEST_GUILESS_MAIN(DeviceJudgeTest)
#include "test_diagnosis.moc"
