#include "core/activity/system/heat.h"

#include <algorithm>
#include <optional>

#include "core/activity/system/small_file.h"

namespace potluck::activity {

namespace {

constexpr int trips_max = 32;
constexpr double unit = 1000;         // files hold thousandths of a degree
constexpr double plausible_min = 30;  // drivers without a point tell 0 or less
constexpr double plausible_max = 130;

/// The lowest temperature of a zone at which the system does something drastic.
std::optional<double> limit_of(const std::filesystem::path& zone) {
    std::optional<double> lowest;
    for (int trip = 0; trip < trips_max; ++trip) {
        const std::string stem = "trip_point_" + std::to_string(trip);
        const std::string type = line_in(zone / (stem + "_type"));
        if (type.empty()) break;
        if (type != "hot" && type != "critical") continue;
        const auto value = number_in(zone / (stem + "_temp"));
        if (!value || *value < plausible_min * unit || *value > plausible_max * unit) continue;
        lowest = std::min(lowest.value_or(*value), *value);
    }
    return lowest;
}

}  // namespace

Sight HeatProbe::look() {
#ifdef __linux__
    Sight closest = blind(Blindness::no_device);
    for (const std::filesystem::path& zone : entries_of(m_zones)) {
        if (!zone.filename().string().starts_with("thermal_zone")) continue;
        const auto limit = limit_of(zone);
        const auto value = number_in(zone / "temp");
        if (!limit || !value) continue;
        const double margin = (*limit - *value) / unit;
        if (!closest.reading || margin < closest.reading->value) closest = seen(margin, line_in(zone / "type"));
    }
    return closest;
#else
    return blind(Blindness::other_system);
#endif
}

}  // namespace potluck::activity
