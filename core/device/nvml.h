// NVIDIA's management library, as its driver installs it: what it knows of the driver and of each GPU without taking
// any of the GPU's memory. Opened at run time; where it is missing or refuses, everything is unknown.
//
// Source: the NVML API Reference Guide, for names, units and the order of arguments.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "core/device/shared_library.h"

namespace potluck::device {

#ifdef _WIN32
inline constexpr const char* nvml_library = "nvml.dll";
#else
inline constexpr const char* nvml_library = "libnvidia-ml.so.1";
#endif

class Nvml {
public:
    /// `library`: another one in tests.
    explicit Nvml(const std::filesystem::path& library = nvml_library);
    ~Nvml();
    Nvml(const Nvml&) = delete;
    Nvml& operator=(const Nvml&) = delete;

    /// "580.65"; empty: unknown.
    [[nodiscard]] std::string driver_version() const;

    /// The GPU at a place of the PCI bus, as the driver writes it ("0000:01:00.0"); null if it is not known there.
    using Gpu = void*;
    [[nodiscard]] Gpu at(const std::string& bus_place) const;

    // A GPU may be null: nothing is known of it then.
    [[nodiscard]] std::uint64_t free_memory(Gpu gpu) const;  // bytes; 0: unknown
    /// Bytes of the GPU that a process holds, the driver's own for it included; nothing if the driver names no such
    /// process, as within a container.
    [[nodiscard]] std::optional<std::uint64_t> memory_of(Gpu gpu, std::uint64_t process) const;
    [[nodiscard]] std::optional<double> watts(Gpu gpu) const;
    [[nodiscard]] std::optional<double> watts_max(Gpu gpu) const;  // that are enforced now
    [[nodiscard]] std::optional<double> celsius(Gpu gpu) const;

private:
    [[nodiscard]] std::optional<unsigned> number(const char* function, Gpu gpu) const;

    SharedLibrary m_library;
    bool m_ready = false;
};

}  // namespace potluck::device
