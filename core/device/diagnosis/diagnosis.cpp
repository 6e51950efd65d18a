// Turns facts into rows: the processor, the GPUs that NVIDIA's driver lists, AMD's and driverless NVIDIA cards by the
// bus, Apple's GPU. Each test that a device can fail stands in the order in which a person has to mend things: the
// owner of a card that is too old is not told to install GPU support, and the driver's version is not blamed before
// that support is there.
//
// The first reason found is the only one shown, and it ends with what to do. What has no row (Intel's graphics, a
// driver that fails without a card) becomes a note. explain_choice() completes the rows once speeds are measured: only
// then is it known how much faster those are that train, and whether its 16-bit products are emulated.
//
// Source: CUresult of the CUDA driver API for cuInit's codes; the CUDA 13 release notes for the oldest card.
#include "core/device/diagnosis/diagnosis.h"

#include <algorithm>
#include <cstdio>

#include "core/device/diagnosis/choice.h"

namespace potluck::device {

namespace {

using control::DetectReply;
using control::DeviceRow;

constexpr int cuda_no_device = 100, cuda_driver_mismatch = 803, cuda_not_permitted = 800;  // what cuInit may give
constexpr std::uint32_t cuda_13 = 13'000;

std::string mebibytes(std::uint64_t bytes) { return std::to_string(bytes >> 20U) + " MiB"; }

/// 12040 as "12.4".
std::string cuda_name(std::uint32_t version) {
    return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

/// `build`: which of LibTorch's builds holds the back end.
std::string install_advice(const ComputerFacts& facts, const std::string& build) {
    return "unpack LibTorch " + facts.torch + " for " + build +
           " and name its lib folder by the environment variable POTLUCK_TORCH_CUDA.";
}

/// The oldest cards that a back end has code for: CUDA 13 ended with everything before Turing.
struct Capability {
    std::uint32_t major = 0, minor = 0;
};
Capability lowest_capability(std::uint32_t runtime) { return runtime >= cuda_13 ? Capability{7, 5} : Capability{7, 0}; }
bool below(const NvidiaGpu& gpu, Capability lowest) {
    return gpu.major < lowest.major || (gpu.major == lowest.major && gpu.minor < lowest.minor);
}

std::string driver_failure(const NvidiaFacts& nvidia, System system) {
    switch (nvidia.failure) {
        case cuda_no_device:
            return "NVIDIA's driver finds no GPU it can use; check that none of CUDA_VISIBLE_DEVICES, a container or a "
                   "virtual machine hides it, then restart the computer.";
        case cuda_not_permitted:
            return "This account may not use the GPU; ask whoever looks after the computer for access to it.";
        case cuda_driver_mismatch: return "NVIDIA's driver was updated while it was in use; restart the computer.";
        default: break;
    }
    const std::string code = " (error " + std::to_string(nvidia.failure) + ")";
    if (system == System::linux_like) {
        return "NVIDIA's driver does not start" + code +
               "; after a sleep of the computer \"sudo rmmod nvidia_uvm && sudo modprobe nvidia_uvm\" helps, else "
               "restart the computer or install the driver again.";
    }
    return "NVIDIA's driver does not start" + code + "; restart the computer or install the driver again.";
}

/// Why a GPU that NVIDIA's driver knows cannot train; empty if it can.
std::string nvidia_problem(const ComputerFacts& facts, std::size_t index) {
    const NvidiaGpu& gpu = facts.nvidia.gpus[index];
    const BackendFacts& backend = facts.backend;
    const Capability lowest = lowest_capability(backend.runtime);
    if (below(gpu, lowest)) {
        return "This card is too old: its compute capability is " + std::to_string(gpu.major) + "." +
               std::to_string(gpu.minor) + ", and " + std::to_string(lowest.major) + "." +
               std::to_string(lowest.minor) + " is the lowest that works.";
    }
    if (backend.kind != BackendFacts::Kind::cuda) {
        return "GPU support is not installed: " + install_advice(facts, "CUDA");
    }
    if (!backend.failure.empty()) {
        return "GPU support is installed but does not load (" + backend.failure + "); install it again, of the same " +
               "version as LibTorch.";
    }
    if (backend.runtime / 1000 > facts.nvidia.cuda / 1000) {
        return "The driver is too old: it serves CUDA " + cuda_name(facts.nvidia.cuda) + " and GPU support needs " +
               std::to_string(backend.runtime / 1000) + ".0; update NVIDIA's driver.";
    }
    if (index >= backend.devices) {
        return "GPU support does not see this card although the driver does; restart the computer, and if that does "
               "not help, update NVIDIA's driver.";
    }
    if (gpu.memory_free > 0 && gpu.memory_free < gpu_memory_min) {
        return "Only " + mebibytes(gpu.memory_free) + " of its memory are free and " + mebibytes(gpu_memory_min) +
               " are needed; close games and other programs that use the GPU.";
    }
    return {};
}

DeviceRow nvidia_row(const ComputerFacts& facts, std::size_t index) {
    const NvidiaGpu& gpu = facts.nvidia.gpus[index];
    DeviceRow row;
    row.id = "cuda:" + std::to_string(index);
    row.name = gpu.name;
    row.features = "compute capability " + std::to_string(gpu.major) + "." + std::to_string(gpu.minor);
    if (!facts.nvidia.version.empty()) row.features += ", driver " + facts.nvidia.version;
    if (facts.nvidia.cuda > 0) row.features += ", CUDA " + cuda_name(facts.nvidia.cuda);
    row.memory_total = gpu.memory_total;
    row.memory_free = gpu.memory_free > 0 ? gpu.memory_free : gpu.memory_total;
    row.reason = nvidia_problem(facts, index);
    row.usable = row.reason.empty();
    return row;
}

/// NVIDIA cards on the bus that no working driver speaks for.
DeviceRow driverless_row(const ComputerFacts& facts, const BusGpu& gpu, std::size_t index) {
    DeviceRow row;
    row.id = "nvidia:" + std::to_string(index);
    row.name = gpu.name;
    row.memory_total = gpu.memory_total;
    row.reason = facts.nvidia.driver == NvidiaFacts::Driver::absent
                     ? "NVIDIA's driver is not installed; install it, restart the computer, and ask again."
                     : driver_failure(facts.nvidia, facts.system);
    return row;
}

/// LibTorch names AMD's GPUs as it does NVIDIA's.
DeviceRow amd_row(const ComputerFacts& facts, const BusGpu& gpu, std::size_t index) {
    const BackendFacts& backend = facts.backend;
    const bool rocm = backend.kind == BackendFacts::Kind::rocm;
    DeviceRow row;
    row.id = (rocm ? "cuda:" : "amd:") + std::to_string(index);
    row.name = gpu.name;
    row.memory_total = gpu.memory_total;
    row.memory_free = gpu.memory_free;
    if (!rocm) {
        row.reason = facts.system == System::linux_like
                         ? "GPU support for AMD is not installed: " + install_advice(facts, "ROCm")
                         : "AMD's GPUs can train on Linux only.";
    } else if (!backend.failure.empty()) {
        row.reason = "GPU support for AMD is installed but does not load (" + backend.failure +
                     "); install ROCm and LibTorch of matching versions.";
    } else if (index >= backend.devices) {
        row.reason =
            "ROCm does not support this card, or this account may not use it; add the account to the groups "
            "\"render\" and \"video\", sign in again, and ask again.";
    } else if (gpu.memory_free > 0 && gpu.memory_free < gpu_memory_min) {
        row.reason = "Only " + mebibytes(gpu.memory_free) + " of its memory are free and " + mebibytes(gpu_memory_min) +
                     " are needed; close games and other programs that use the GPU.";
    }
    row.usable = row.reason.empty();
    return row;
}

DeviceRow processor_row(const ProcessorFacts& processor) {
    DeviceRow row;
    row.id = "cpu";
    row.name = processor.name;
    row.features = std::to_string(processor.cores) + (processor.cores == 1 ? " core" : " cores");
    if (processor.logical > processor.cores) row.features += ", " + std::to_string(processor.logical) + " threads";
    if (const std::string simd = features_of(processor.simd); !simd.empty()) row.features += ", " + simd;
    row.memory_total = processor.memory.total;
    row.memory_free = processor.memory.free;
    row.usable = processor.memory.free == 0 || processor.memory.free >= ram_min;
    if (!row.usable) {
        row.reason = "Only " + mebibytes(processor.memory.free) + " of memory are free and " + mebibytes(ram_min) +
                     " are needed; close other programs.";
    }
    return row;
}

DeviceRow metal_row(const ComputerFacts& facts) {
    DeviceRow row;
    row.id = "mps";
    row.name = facts.processor.name + " GPU";
    row.features = "Metal, shares the computer's memory";
    row.memory_total = facts.processor.memory.total;
    row.memory_free = facts.processor.memory.free;
    row.usable = facts.processor.memory.free == 0 || facts.processor.memory.free >= ram_min;
    if (!row.usable) row.reason = "Too little memory is free; close other programs.";
    return row;
}

void diagnose_gpus(const ComputerFacts& facts, DetectReply& reply) {
    for (std::size_t i = 0; i < facts.nvidia.gpus.size(); ++i) reply.devices.push_back(nvidia_row(facts, i));
    std::size_t driverless = 0, amd = 0;
    for (const BusGpu& gpu : facts.bus) {
        if (gpu.vendor == Vendor::amd) reply.devices.push_back(amd_row(facts, gpu, amd++));
        if (gpu.vendor == Vendor::nvidia && facts.nvidia.gpus.empty()) {
            reply.devices.push_back(driverless_row(facts, gpu, driverless++));
        }
    }
    if (facts.metal) reply.devices.push_back(metal_row(facts));
}

void note_what_is_missing(const ComputerFacts& facts, DetectReply& reply) {
    const bool intel = std::ranges::any_of(facts.bus, [](const BusGpu& gpu) { return gpu.vendor == Vendor::intel; });
    const bool nvidia_on_bus =
        std::ranges::any_of(facts.bus, [](const BusGpu& gpu) { return gpu.vendor == Vendor::nvidia; });
    if (intel) {
        reply.notes.emplace_back("Intel's graphics are not used: training runs on GPUs of NVIDIA, AMD and Apple.");
    }
    if (facts.nvidia.driver == NvidiaFacts::Driver::failed && !nvidia_on_bus) {
        reply.notes.push_back(driver_failure(facts.nvidia, facts.system));
    }
    if (facts.system == System::mac && !facts.metal) {
        reply.notes.emplace_back(
            "This Mac's GPU cannot be used: that takes macOS 12.3 or later and a LibTorch with Metal.");
    }
    if (reply.devices.size() > 1) return;
    reply.notes.emplace_back("No GPU that could train was found.");
    if (facts.backend.kind != BackendFacts::Kind::none) {
        reply.notes.emplace_back("GPU support is installed but there is no GPU for it; the processor trains.");
    }
}

std::string times(double ratio) {
    char text[32];
    std::snprintf(text, sizeof text, ratio < 10 ? "%.1f" : "%.0f", ratio);
    return text;
}

double speed_of(const DeviceRow& device, std::string_view precision) {
    for (const control::PrecisionSpeed& speed : device.speeds) {
        if (speed.precision == precision) return speed.teraflops;
    }
    return 0;
}

/// What is to be known about 16-bit arithmetic on this device; empty if there is nothing.
std::string half_precision_remark(const DeviceRow& device) {
    const double fp32 = speed_of(device, "fp32"), bf16 = speed_of(device, "bf16"), fp16 = speed_of(device, "fp16");
    if (fp32 <= 0 || bf16 <= 0) return {};
    const double other = device.id == "cpu" ? fp32 : std::max(fp32, fp16);
    if (bf16 >= emulated_below * other) return {};
    const char* instead = other > fp32 ? "fp16" : "fp32";
    return std::string(" It has no fast bf16 arithmetic, so ") + instead + " is used.";
}

}  // namespace

std::string features_of(const SimdFacts& simd) {
    std::string text = simd.avx512 ? "AVX-512"
                       : simd.avx2 ? "AVX2"
                       : simd.neon ? "NEON"
                       : simd.sse2 ? "SSE2 only: slow"
                                   : "";
    if (simd.avx512_bf16) text += " with bf16";
    if (simd.amx_bf16) text += text.empty() ? "AMX" : ", AMX";
    return text;
}

DetectReply diagnose_devices(const ComputerFacts& facts) {
    DetectReply reply;
    reply.devices.push_back(processor_row(facts.processor));
    diagnose_gpus(facts, reply);
    note_what_is_missing(facts, reply);
    return reply;
}

double best_speed(const DeviceRow& device) {
    double best = 0;
    for (const control::PrecisionSpeed& speed : device.speeds) best = std::max(best, speed.teraflops);
    return best;
}

void explain_choice(DetectReply& reply) {
    const Result<ChosenDevices> chosen = choose_devices(reply, {});
    if (!chosen.ok() || !chosen->lead.usable) return;
    const DeviceRow& lead = chosen->lead;
    const auto trains = [&](const DeviceRow& device) {
        return device.id == lead.id || std::ranges::count(chosen->further, device.id, &DeviceRow::id) > 0;
    };
    for (DeviceRow& device : reply.devices) {
        if (!device.usable) continue;
        if (trains(device)) {
            device.reason = chosen->further.empty() ? "It trains." : "It trains, together with the other GPUs.";
        } else if (best_speed(device) > 0 && best_speed(lead) > best_speed(device)) {
            device.reason = "It could train, but " + lead.id + " is " + times(best_speed(lead) / best_speed(device)) +
                            " times as fast; choose it by --device " + device.id + ".";
        } else {
            device.reason = "It could train; choose it by --device " + device.id + ".";
        }
        device.reason += half_precision_remark(device);
    }
}

}  // namespace potluck::device
