#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>

#include "core/device/probe.h"

namespace potluck::device {

#ifdef __linux__

namespace {

namespace fs = std::filesystem;

constexpr std::size_t bus_gpus_max = 16;
constexpr std::uint64_t display_class = 0x03;  // of the bus: everything that could show a picture

std::string first_line(const fs::path& file) {
    std::ifstream stream(file);
    std::string line;
    std::getline(stream, line);
    return line;
}

/// Reads "0x10de" and "123" alike; returns zero for any other text.
std::uint64_t number_of(const fs::path& file) {
    const std::string text = first_line(file);
    const bool hexadecimal = text.starts_with("0x");
    std::uint64_t number = 0;
    (void)std::from_chars(text.data() + (hexadecimal ? 2 : 0), text.data() + text.size(), number,
                          hexadecimal ? 16 : 10);
    return number;
}

std::string name_of(const fs::path& device, const char* vendor) {
    const std::string product = first_line(device / "product_name");  // AMD's driver tells it for some cards
    return product.empty() ? std::string(vendor) + " GPU (bus number " + first_line(device / "device") + ")" : product;
}

/// False if it is no graphics processor of a vendor we know.
bool read_gpu(const fs::path& device, BusGpu& gpu) {
    if (number_of(device / "class") >> 16U != display_class) return false;
    switch (number_of(device / "vendor")) {
        case 0x10de:
            gpu.vendor = Vendor::nvidia;
            gpu.name = name_of(device, "NVIDIA");
            break;
        case 0x1002: {
            gpu.vendor = Vendor::amd;
            gpu.name = name_of(device, "AMD");
            gpu.memory_total = number_of(device / "mem_info_vram_total");
            const std::uint64_t used = number_of(device / "mem_info_vram_used");
            gpu.memory_free = gpu.memory_total - std::min(gpu.memory_total, used);
            break;
        }
        case 0x8086:
            gpu.vendor = Vendor::intel;
            gpu.name = name_of(device, "Intel");
            break;
        default: return false;
    }
    return true;
}

}  // namespace

std::vector<BusGpu> probe_bus() {
    std::error_code unreadable;
    std::vector<fs::path> devices;
    for (fs::directory_iterator at("/sys/bus/pci/devices", unreadable), end; !unreadable && at != end;
         at.increment(unreadable)) {
        devices.push_back(at->path());
    }
    std::ranges::sort(devices);  // the order of the bus, which is also that of the drivers
    std::vector<BusGpu> gpus;
    for (const fs::path& device : devices) {
        BusGpu gpu;
        if (gpus.size() < bus_gpus_max && read_gpu(device, gpu)) gpus.push_back(std::move(gpu));
    }
    return gpus;
}

#else

std::vector<BusGpu> probe_bus() { return {}; }

#endif

}  // namespace potluck::device
