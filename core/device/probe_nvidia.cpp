// NVIDIA's driver, asked through the interfaces that it installs itself: libcuda (the CUDA driver API) and NVML
// (nvml.h). Their functions and numbers are the stable C interfaces of both; no header of theirs is needed.
#include <array>

#ifdef _WIN32
#include <windows.h>
#else
#include <unistd.h>
#endif

#include "core/device/nvml.h"
#include "core/device/probe.h"
#include "core/device/shared_library.h"

#ifdef _WIN32
#define POTLUCK_DRIVER_CALL __stdcall
#else
#define POTLUCK_DRIVER_CALL
#endif

namespace potluck::device {

namespace {

#ifdef _WIN32
constexpr const char* cuda_library = "nvcuda.dll";
#else
constexpr const char* cuda_library = "libcuda.so.1";
#endif

constexpr int cuda_gpus_max = 16;
constexpr int major_attribute = 75, minor_attribute = 76;  // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, _MINOR
constexpr int text_bytes = 128;

using Init = int(POTLUCK_DRIVER_CALL*)(unsigned flags);
using GetNumber = int(POTLUCK_DRIVER_CALL*)(int* number);
using GetDevice = int(POTLUCK_DRIVER_CALL*)(int* device, int index);
using GetText = int(POTLUCK_DRIVER_CALL*)(char* text, int bytes, int device);
using GetBytes = int(POTLUCK_DRIVER_CALL*)(std::size_t* bytes, int device);
using GetAttribute = int(POTLUCK_DRIVER_CALL*)(int* value, int attribute, int device);

std::uint32_t attribute_of(const SharedLibrary& cuda, int attribute, int device) {
    const auto get = cuda.find<GetAttribute>("cuDeviceGetAttribute");
    int value = 0;
    return get != nullptr && get(&value, attribute, device) == 0 && value > 0 ? static_cast<std::uint32_t>(value) : 0;
}

/// "0000:01:00.0"; empty: unknown.
std::string bus_place_of(const SharedLibrary& cuda, int device) {
    const auto get = cuda.find<GetText>("cuDeviceGetPCIBusId");
    std::array<char, text_bytes> text{};
    return get != nullptr && get(text.data(), text_bytes - 1, device) == 0 ? text.data() : "";
}

NvidiaGpu probe_gpu(const SharedLibrary& cuda, const Nvml& nvml, int device) {
    NvidiaGpu gpu;
    std::array<char, text_bytes> text{};
    const auto name = cuda.find<GetText>("cuDeviceGetName");
    gpu.name = name != nullptr && name(text.data(), text_bytes - 1, device) == 0 ? text.data() : "NVIDIA GPU";
    gpu.major = attribute_of(cuda, major_attribute, device);
    gpu.minor = attribute_of(cuda, minor_attribute, device);
    std::size_t bytes = 0;
    const auto total = cuda.find<GetBytes>("cuDeviceTotalMem_v2");
    if (total != nullptr && total(&bytes, device) == 0) gpu.memory_total = bytes;
    gpu.memory_free = nvml.free_memory(nvml.at(bus_place_of(cuda, device)));
    return gpu;
}

}  // namespace

NvidiaFacts probe_nvidia() {
    NvidiaFacts facts;
    const SharedLibrary cuda(cuda_library);
    const auto init = cuda.find<Init>("cuInit");
    const auto version = cuda.find<GetNumber>("cuDriverGetVersion");
    const auto count_of = cuda.find<GetNumber>("cuDeviceGetCount");
    const auto device_at = cuda.find<GetDevice>("cuDeviceGet");
    if (init == nullptr || version == nullptr || count_of == nullptr || device_at == nullptr) return facts;
    const Nvml nvml;
    facts.version = nvml.driver_version();
    int number = 0;
    if (version(&number) == 0 && number > 0) facts.cuda = static_cast<std::uint32_t>(number);
    facts.failure = init(0);
    int count = 0;
    if (facts.failure == 0) facts.failure = count_of(&count);
    facts.driver = facts.failure == 0 ? NvidiaFacts::Driver::working : NvidiaFacts::Driver::failed;
    for (int i = 0; i < count && i < cuda_gpus_max; ++i) {
        int device = 0;
        if (device_at(&device, i) == 0) facts.gpus.push_back(probe_gpu(cuda, nvml, device));
    }
    return facts;
}

std::string nvidia_bus_place(std::uint32_t index) {
    const SharedLibrary cuda(cuda_library);
    const auto init = cuda.find<Init>("cuInit");
    const auto device_at = cuda.find<GetDevice>("cuDeviceGet");
    int device = 0;
    if (init == nullptr || device_at == nullptr || init(0) != 0) return {};
    return device_at(&device, static_cast<int>(index)) == 0 ? bus_place_of(cuda, device) : std::string();
}

std::optional<std::uint64_t> own_nvidia_memory(std::uint32_t index) {
#ifdef _WIN32
    const std::uint64_t own = GetCurrentProcessId();
#else
    const auto own = static_cast<std::uint64_t>(getpid());
#endif
    const Nvml nvml;
    return nvml.memory_of(nvml.at(nvidia_bus_place(index)), own);
}

}  // namespace potluck::device
