// What the sensors of the device that trains say: the power it draws and how warm it is. What a system does not have,
// or keeps from ordinary programs, is missing and never zero.
//
// A processor's power is that of its whole package, other programs' share included. Linux counts its energy (RAPL) but
// since CVE-2020-8694 lets only root read that on most systems; its limit and its temperature anybody may read. A
// GPU's are what NVIDIA's management library says of the board. Others, and other systems, tell nothing yet.
//
// Threads: one owner.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/device/nvml.h"

namespace potluck::device {

struct SensorReading {
    std::optional<double> watts, celsius;
    bool operator==(const SensorReading&) const = default;
};

/// What several devices draw together, missing where one of them tells nothing, and how warm the warmest is.
[[nodiscard]] SensorReading together(std::span<const SensorReading> readings);

class Sensors {
public:
    virtual ~Sensors() = default;
    /// Power may be the mean since the last reading, and is missing in the first one then.
    [[nodiscard]] virtual SensorReading read(TimePoint now) = 0;
    /// What the device may draw at most, as its limit says now.
    [[nodiscard]] virtual std::optional<double> watts_max() const = 0;
};

/// Reads Linux's processors: powercap's zones "intel-rapl:N" (which AMD's processors have, too) that are a package, and
/// the hottest sensor of a hwmon driver that is known to be a processor's.
class ProcessorSensors final : public Sensors {
public:
    static constexpr Duration watts_over_min{200};  // the counters move about once a millisecond

    explicit ProcessorSensors(std::filesystem::path sys = "/sys");

    [[nodiscard]] SensorReading read(TimePoint now) override;
    [[nodiscard]] std::optional<double> watts_max() const override;

private:
    struct Package {
        std::filesystem::path folder;
        std::uint64_t range = 0;  // where its counter begins again, in microjoules
        std::optional<std::uint64_t> before;
    };
    [[nodiscard]] std::optional<double> watts(TimePoint now);

    std::vector<Package> m_packages;
    std::vector<std::filesystem::path> m_thermometers;
    TimePoint m_before;
};

class NvidiaSensors final : public Sensors {
public:
    /// `bus_place` as NVML names it.
    explicit NvidiaSensors(const std::string& bus_place, const std::filesystem::path& library = nvml_library);

    [[nodiscard]] SensorReading read(TimePoint now) override;
    [[nodiscard]] std::optional<double> watts_max() const override;

private:
    Nvml m_nvml;
    Nvml::Gpu m_gpu;
};

/// Reads `device` as plans name it ("cpu", "cuda:1"); null for one whose sensors are not known.
[[nodiscard]] std::unique_ptr<Sensors> sensors_of(const std::string& device);

}  // namespace potluck::device
