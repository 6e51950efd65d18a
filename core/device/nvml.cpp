#include "core/device/nvml.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

namespace potluck::device {

namespace {

constexpr int version_bytes = 128;
constexpr int gpu_sensor = 0;  // NVML_TEMPERATURE_GPU
constexpr double milliwatts = 1000;
constexpr unsigned processes_max = 256;              // of a GPU, that are looked at
constexpr unsigned long long unknown_bytes = ~0ULL;  // NVML_VALUE_NOT_AVAILABLE

std::optional<double> in_watts(std::optional<unsigned> told) {
    return told ? std::optional(*told / milliwatts) : std::nullopt;
}

}  // namespace

Nvml::Nvml(const std::filesystem::path& library) : m_library(library) {
    const auto init = m_library.find<int (*)()>("nvmlInit_v2");
    m_ready = init != nullptr && init() == 0;
}

Nvml::~Nvml() {
    const auto shutdown = m_library.find<int (*)()>("nvmlShutdown");
    if (m_ready && shutdown != nullptr) (void)shutdown();
}

std::string Nvml::driver_version() const {
    const auto get = m_library.find<int (*)(char*, unsigned)>("nvmlSystemGetDriverVersion");
    std::array<char, version_bytes> text{};
    if (!m_ready || get == nullptr || get(text.data(), version_bytes - 1) != 0) return {};
    return text.data();
}

Nvml::Gpu Nvml::at(const std::string& bus_place) const {
    const auto find = m_library.find<int (*)(const char*, Gpu*)>("nvmlDeviceGetHandleByPciBusId_v2");
    Gpu gpu = nullptr;
    if (!m_ready || find == nullptr || find(bus_place.c_str(), &gpu) != 0) return nullptr;
    return gpu;
}

std::uint64_t Nvml::free_memory(Gpu gpu) const {
    // nvmlMemory_t is three such numbers. A pointer to a struct of ours would be another type to a sanitizer.
    const auto get = m_library.find<int (*)(Gpu, unsigned long long*)>("nvmlDeviceGetMemoryInfo");
    std::array<unsigned long long, 3> total_free_used{};
    if (gpu == nullptr || get == nullptr || get(gpu, total_free_used.data()) != 0) return 0;
    return total_free_used[1];
}

std::optional<std::uint64_t> Nvml::memory_of(Gpu gpu, std::uint64_t process) const {
    // nvmlProcessInfo_t is a process's number in 32 bits, what it holds in 64, and two numbers of 32.
    using Holder = std::array<unsigned long long, 3>;
    const auto get =
        m_library.find<int (*)(Gpu, unsigned*, unsigned long long*)>("nvmlDeviceGetComputeRunningProcesses_v3");
    std::array<Holder, processes_max> holders{};
    unsigned count = processes_max;
    if (gpu == nullptr || get == nullptr || get(gpu, &count, holders.front().data()) != 0) return std::nullopt;
    for (const auto& [number, bytes, instances] : std::span(holders).first(std::min(count, processes_max))) {
        std::uint32_t holder = 0;
        std::memcpy(&holder, &number, sizeof holder);
        if (holder == process && bytes != unknown_bytes) return bytes;
    }
    return std::nullopt;
}

std::optional<unsigned> Nvml::number(const char* function, Gpu gpu) const {
    const auto get = m_library.find<int (*)(Gpu, unsigned*)>(function);
    unsigned value = 0;
    if (gpu == nullptr || get == nullptr || get(gpu, &value) != 0) return std::nullopt;
    return value;
}

std::optional<double> Nvml::watts(Gpu gpu) const { return in_watts(number("nvmlDeviceGetPowerUsage", gpu)); }

std::optional<double> Nvml::watts_max(Gpu gpu) const {
    return in_watts(number("nvmlDeviceGetEnforcedPowerLimit", gpu));
}

std::optional<double> Nvml::celsius(Gpu gpu) const {
    const auto get = m_library.find<int (*)(Gpu, int, unsigned*)>("nvmlDeviceGetTemperature");
    unsigned value = 0;
    if (gpu == nullptr || get == nullptr || get(gpu, gpu_sensor, &value) != 0) return std::nullopt;
    return value;
}

}  // namespace potluck::device
