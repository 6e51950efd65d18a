#include "core/activity/system/battery.h"

#include "core/activity/system/small_file.h"
#include "core/base/system_handle.h"

namespace potluck::activity {

Sight BatteryProbe::look() {
#ifdef _WIN32
    SYSTEM_POWER_STATUS status{};
    constexpr BYTE no_battery = 128, unknown = 255;
    if (!::GetSystemPowerStatus(&status) || status.ACLineStatus == unknown) return blind(Blindness::no_answer);
    if (status.BatteryFlag == no_battery) return blind(Blindness::no_device);
    return seen(status.ACLineStatus == 0 ? 1 : 0);
#elif defined(__linux__)
    bool battery = false, discharges = false, mains = false;
    for (const std::filesystem::path& supply : entries_of(m_supplies)) {
        if (line_in(supply / "scope") == "Device") continue;
        if (line_in(supply / "type") == "Battery") {
            battery = true;
            discharges = discharges || line_in(supply / "status") == "Discharging";
        } else {
            mains = mains || number_in(supply / "online").value_or(0) >= 1;
        }
    }
    if (!battery) return blind(Blindness::no_device);
    return seen(discharges && !mains ? 1 : 0);
#else
    return blind(Blindness::other_system);
#endif
}

}  // namespace potluck::activity
