// How far the computer is from the temperature at which it throttles itself or ends: Linux's thermal zones, each of
// which tells its temperature and its trip points. A zone without a hot or critical point tells nothing that matters.
#pragma once

#include <filesystem>

#include "core/activity/probe.h"

namespace potluck::activity {

class HeatProbe final : public Probe {
public:
    explicit HeatProbe(std::filesystem::path zones = "/sys/class/thermal") : m_zones(std::move(zones)) {}

    Signal signal() const override { return Signal::heat; }
    Sight look() override;
    Duration every() const override { return Duration{2'000}; }

private:
    std::filesystem::path m_zones;
};

}  // namespace potluck::activity
