// Signals that a service of the desktop knows: GameMode's clients, UPower's battery, the power profile, and whether
// NetworkManager holds the connection for metered. Read twice a second or once; a service that does not run is not
// started for it.
#pragma once

#include "core/activity/probe.h"
#include "ui/activity/bus.h"

namespace potluck::ui {

/// com.feralinteractive.GameMode, property ClientCount. A daemon that does not run has no clients.
class GameModeProbe final : public activity::Probe {
public:
    activity::Signal signal() const override { return activity::Signal::game_mode; }
    activity::Sight look() override;

private:
    BusReader m_bus{BusKind::session};
};

/// org.freedesktop.UPower, property OnBattery.
class UPowerProbe final : public activity::Probe {
public:
    activity::Signal signal() const override { return activity::Signal::battery; }
    activity::Sight look() override;

private:
    BusReader m_bus{BusKind::system};
};

/// The profile of power-profiles-daemon, under its present name and the one that it had before version 0.20.
class PowerSaverProbe final : public activity::Probe {
public:
    activity::Signal signal() const override { return activity::Signal::power_saver; }
    activity::Sight look() override;
    Duration every() const override { return Duration{1'000}; }

private:
    BusReader m_bus{BusKind::system};
};

/// org.freedesktop.NetworkManager, property Metered: 1 yes, 2 no, 3 and 4 the same as guesses, 0 unknown.
class MeteredProbe final : public activity::Probe {
public:
    activity::Signal signal() const override { return activity::Signal::metered; }
    activity::Sight look() override;
    Duration every() const override { return Duration{1'000}; }

private:
    BusReader m_bus{BusKind::system};
};

/// GNOME's IdleMonitor tells milliseconds, the ScreenSaver service of KDE and others too; both know Wayland's input.
class SessionInputProbe final : public activity::Probe {
public:
    activity::Signal signal() const override { return activity::Signal::input; }
    activity::Sight look() override;
    Duration every() const override { return Duration{1'000}; }

private:
    BusReader m_bus{BusKind::session};
};

}  // namespace potluck::ui
