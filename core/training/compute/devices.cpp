#include "core/training/compute/devices.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/detail/CUDAHooksInterface.h>

#include "core/device/diagnosis/diagnosis.h"
#include "core/device/probe.h"
#include "core/device/shared_library.h"
#include "core/training/compute/device.h"
#include "core/training/compute/tensor_guard.h"

namespace potluck::training {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t failure_bytes_max = 400;

struct BackendFile {
    device::BackendFacts::Kind kind;
    const char* name;
};

#ifdef _WIN32
constexpr BackendFile backend_files[] = {{device::BackendFacts::Kind::cuda, "torch_cuda.dll"}};
#else
constexpr BackendFile backend_files[] = {{device::BackendFacts::Kind::cuda, "libtorch_cuda.so"},
                                         {device::BackendFacts::Kind::rocm, "libtorch_hip.so"}};
#endif

/// A driver that takes the process along is left alone the next time.
bool gpus_wanted() { return std::getenv("POTLUCK_NO_GPU") == nullptr; }

void trying(const char* what) {
    std::fprintf(stderr, "trying %s\n", what);
    std::fflush(stderr);
}

/// The file of a back end, and of which kind it is.
device::BackendFacts find_backend() {
    std::vector<fs::path> folders;
    if (const char* named = std::getenv("POTLUCK_TORCH_CUDA"); named != nullptr) folders.emplace_back(named);
    folders.push_back(device::file_of_code(reinterpret_cast<const void*>(&at::globalContext)).parent_path());
    device::BackendFacts facts;
    for (const fs::path& folder : folders) {
        for (const BackendFile& file : backend_files) {
            std::error_code unknown;
            if (folder.empty() || !fs::exists(folder / file.name, unknown)) continue;
            facts.kind = file.kind;
            facts.file = fs::absolute(folder / file.name, unknown).string();
            return facts;
        }
    }
    return facts;
}

void ask_backend(device::BackendFacts& facts) {
    const Status asked = guarded([&]() -> Status {
        const at::CUDAHooksInterface& hooks = at::detail::getCUDAHooks();
        if (facts.kind == device::BackendFacts::Kind::cuda && hooks.hasCUDART()) {
            facts.runtime = static_cast<std::uint32_t>(std::max(0L, static_cast<long>(hooks.versionCUDART())));
        }
        const int count = hooks.hasCUDA() ? hooks.getNumGPUs() : 0;
        facts.devices = std::min(devices_max, static_cast<std::uint32_t>(std::max(0, count)));
        return {};
    });
    if (!asked.ok()) facts.failure = asked.error().message;
}

void measure(control::DeviceRow& row) {
    const Result<DeviceId> device = parse_device(row.id);
    if (!device.ok()) return;
    trying(("to compute on " + row.id).c_str());
    const Result<DeviceSpeed> speed = measure_device(*device);
    if (!speed.ok()) {
        row.usable = false;
        row.reason = "A trial computation on it failed: " + speed.error().message;
        return;
    }
    row.speeds.push_back({"fp32", speed->fp32});
    if (speed->bf16 > 0) row.speeds.push_back({"bf16", speed->bf16});
    if (speed->fp16 > 0) row.speeds.push_back({"fp16", speed->fp16});
    row.gigabytes_per_second = speed->gigabytes_per_second;
    row.busy = speed->busy;
}

}  // namespace

device::BackendFacts open_backend() {
    device::BackendFacts facts = gpus_wanted() ? find_backend() : device::BackendFacts{};
    if (facts.kind == device::BackendFacts::Kind::none) return facts;
    trying(("LibTorch's GPU back end, " + facts.file).c_str());
    const device::SharedLibrary library(facts.file, device::SharedLibrary::Symbols::visible);
    facts.failure = library.failure().substr(0, failure_bytes_max);
    if (library.open()) ask_backend(facts);
    return facts;
}

device::ComputerFacts probe_computer() {
    device::ComputerFacts facts;
#ifdef _WIN32
    facts.system = System::windows;
#elif defined(__APPLE__)
    facts.system = System::mac;
#endif
    facts.torch = torch_version();
    facts.processor = device::probe_processor();
    if (!gpus_wanted()) return facts;
    facts.bus = device::probe_bus();
    trying("NVIDIA's driver");
    facts.nvidia = device::probe_nvidia();
    facts.backend = open_backend();
    facts.metal = at::globalContext().hasMPS();
    return facts;
}

Result<control::DetectReply> detect_devices() {
    control::DetectReply reply = device::diagnose_devices(probe_computer());
    for (control::DeviceRow& row : reply.devices) {
        if (row.usable) measure(row);
    }
    device::explain_choice(reply);
    return reply;
}

std::string device_name(const DeviceId& device) {
    if (device.kind == DeviceKind::mps) return device::probe_processor().name + " GPU";
    if (device.kind == DeviceKind::cuda) {
        const device::NvidiaFacts nvidia = device::probe_nvidia();
        return device.index < nvidia.gpus.size() ? nvidia.gpus[device.index].name : "GPU " + id_of(device);
    }
    const int threads = at::get_num_threads();
    const std::string simd = device::features_of(device::probe_simd());
    return "CPU, " + std::to_string(threads) + (threads == 1 ? " thread" : " threads") +
           (simd.empty() ? "" : ", " + simd);
}

}  // namespace potluck::training
