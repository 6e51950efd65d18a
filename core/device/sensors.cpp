// Energy comes as a counter in microjoules that begins again after `max_energy_range_uj`, so power is its difference
// over the time between two readings. Only zones called "package-N" count: cores and memory are parts of a package, and
// "psys" holds all of it. Folders are found once; a sensor that goes away is one that cannot be read.
//
// Temperatures: hwmon's `temp*_input` in thousandths of a degree. Which driver is a processor's is known by its name.
//
// Sources: the kernel's power/powercap.rst and hwmon/sysfs-interface.rst; CVE-2020-8694 for who may read energy.
#include "core/device/sensors.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <system_error>
#include <utility>

#include "core/device/probe.h"

namespace potluck::device {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t folder_entries_max = 256;  // looked at in a folder of /sys
constexpr double micro = 1e6, milli = 1e3;
constexpr std::array processor_drivers = {"coretemp", "k10temp", "zenpower", "cpu_thermal"};

std::optional<std::string> word_in(const fs::path& file) {
    std::ifstream in(file);
    std::string word;
    if (!(in >> word)) return std::nullopt;
    return word;
}

std::optional<std::int64_t> integer_in(const fs::path& file) {
    const auto word = word_in(file);
    std::int64_t number = 0;
    if (!word) return std::nullopt;
    const auto [end, failed] = std::from_chars(word->data(), word->data() + word->size(), number);
    if (failed != std::errc() || end != word->data() + word->size()) return std::nullopt;
    return number;
}

std::vector<fs::path> entries_of(const fs::path& folder) {
    std::vector<fs::path> entries;
    std::error_code failed;
    for (fs::directory_iterator it(folder, failed), end; !failed && it != end; it.increment(failed)) {
        if (entries.size() == folder_entries_max) break;
        entries.push_back(it->path());
    }
    std::sort(entries.begin(), entries.end());
    return entries;
}

bool is_package(const fs::path& zone) {
    const std::string name = zone.filename().string();
    const bool top = name.starts_with("intel-rapl:") && std::count(name.begin(), name.end(), ':') == 1;
    return top && word_in(zone / "name").value_or("").starts_with("package");
}

bool is_processor(const fs::path& monitor) {
    const std::string driver = word_in(monitor / "name").value_or("");
    return std::find(processor_drivers.begin(), processor_drivers.end(), driver) != processor_drivers.end();
}

}  // namespace

SensorReading together(std::span<const SensorReading> readings) {
    SensorReading all;
    double sum = 0;
    bool complete = !readings.empty();
    for (const SensorReading& one : readings) {
        sum += one.watts.value_or(0);
        complete = complete && one.watts.has_value();
        if (one.celsius) all.celsius = std::max(all.celsius.value_or(*one.celsius), *one.celsius);
    }
    if (complete) all.watts = sum;
    return all;
}

ProcessorSensors::ProcessorSensors(fs::path sys) {
    for (const fs::path& zone : entries_of(sys / "class/powercap")) {
        if (!is_package(zone)) continue;
        const auto range = integer_in(zone / "max_energy_range_uj");
        m_packages.push_back({zone, static_cast<std::uint64_t>(std::max<std::int64_t>(0, range.value_or(0))), {}});
    }
    for (const fs::path& monitor : entries_of(sys / "class/hwmon")) {
        if (!is_processor(monitor)) continue;
        for (const fs::path& file : entries_of(monitor)) {
            const std::string name = file.filename().string();
            if (name.starts_with("temp") && name.ends_with("_input")) m_thermometers.push_back(file);
        }
    }
}

/// Missing unless every package could be read, now and before.
std::optional<double> ProcessorSensors::watts(TimePoint now) {
    const Duration passed = now - m_before;
    const bool early = !m_packages.empty() && m_packages.front().before && passed < watts_over_min;
    if (m_packages.empty() || early) return std::nullopt;
    double joules = 0;
    bool is_whole = true;
    for (Package& package : m_packages) {
        const auto told = integer_in(package.folder / "energy_uj");
        const auto counted = told && *told >= 0 ? std::optional(static_cast<std::uint64_t>(*told)) : std::nullopt;
        const auto before = std::exchange(package.before, counted);
        if (!counted || !before || (*counted < *before && package.range < *before)) {
            is_whole = false;
        } else {
            const std::uint64_t more = *counted >= *before ? *counted - *before : package.range - *before + *counted;
            joules += static_cast<double>(more) / micro;
        }
    }
    m_before = now;
    if (!is_whole) return std::nullopt;
    return joules / std::chrono::duration<double>(passed).count();
}

SensorReading ProcessorSensors::read(TimePoint now) {
    SensorReading reading;
    reading.watts = watts(now);
    for (const fs::path& file : m_thermometers) {
        const auto told = integer_in(file);
        if (!told) continue;
        const double celsius = static_cast<double>(*told) / milli;
        reading.celsius = std::max(reading.celsius.value_or(celsius), celsius);
    }
    return reading;
}

std::optional<double> ProcessorSensors::watts_max() const {
    double sum = 0;
    for (const Package& package : m_packages) {
        const auto limit = integer_in(package.folder / "constraint_0_power_limit_uw");
        if (!limit || *limit <= 0) return std::nullopt;
        sum += static_cast<double>(*limit) / micro;
    }
    return m_packages.empty() ? std::nullopt : std::optional(sum);
}

NvidiaSensors::NvidiaSensors(const std::string& bus_place, const fs::path& library)
    : m_nvml(library), m_gpu(m_nvml.at(bus_place)) {}

SensorReading NvidiaSensors::read(TimePoint) { return {m_nvml.watts(m_gpu), m_nvml.celsius(m_gpu)}; }

std::optional<double> NvidiaSensors::watts_max() const { return m_nvml.watts_max(m_gpu); }

std::unique_ptr<Sensors> sensors_of(const std::string& device) {
    if (device == "cpu") return std::make_unique<ProcessorSensors>();
    constexpr std::string_view cuda = "cuda:";
    std::uint32_t index = 0;
    if (!device.starts_with(cuda)) return nullptr;
    const char* const end = device.data() + device.size();
    const auto [read, failed] = std::from_chars(device.data() + cuda.size(), end, index);
    if (failed != std::errc() || read != end) return nullptr;
    const std::string place = nvidia_bus_place(index);
    return place.empty() ? nullptr : std::make_unique<NvidiaSensors>(place);
}

}  // namespace potluck::device
