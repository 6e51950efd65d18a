// Whether the computer runs from its battery, as the system itself tells it.
//
// Linux: /sys/class/power_supply. A battery of the computer (not of a mouse: `scope` says Device) that discharges while
// no mains supply is online. "The first mains" would be wrong with docks and USB-C, which come and go, so all are
// looked at each time and no path is kept. Windows: GetSystemPowerStatus.
#pragma once

#include <filesystem>

#include "core/activity/probe.h"

namespace potluck::activity {

class BatteryProbe final : public Probe {
public:
    explicit BatteryProbe(std::filesystem::path supplies = "/sys/class/power_supply")
        : m_supplies(std::move(supplies)) {}

    Signal signal() const override { return Signal::battery; }
    Sight look() override;

private:
    std::filesystem::path m_supplies;
};

}  // namespace potluck::activity
