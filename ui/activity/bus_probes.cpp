#include "ui/activity/bus_probes.h"

#ifdef __linux__

namespace potluck::ui {

using activity::blind;
using activity::Blindness;
using activity::seen;
using activity::Sight;
using State = BusAnswer::State;

namespace {

Sight unseen(State state) { return blind(state == State::no_answer ? Blindness::no_answer : Blindness::no_service); }

}  // namespace

Sight GameModeProbe::look() {
    const QString name = QStringLiteral("com.feralinteractive.GameMode");
    const BusAnswer clients =
        m_bus.read({name, QStringLiteral("/com/feralinteractive/GameMode"), name, QStringLiteral("ClientCount")});
    if (clients.state == State::not_running) return seen(0);
    return clients.state == State::here ? seen(clients.value.toInt()) : unseen(clients.state);
}

Sight UPowerProbe::look() {
    const QString name = QStringLiteral("org.freedesktop.UPower");
    const BusAnswer battery =
        m_bus.read({name, QStringLiteral("/org/freedesktop/UPower"), name, QStringLiteral("OnBattery")});
    return battery.state == State::here ? seen(battery.value.toBool() ? 1 : 0) : unseen(battery.state);
}

Sight PowerSaverProbe::look() {
    BusAnswer profile;
    for (const auto& [name, path] :
         {std::pair("org.freedesktop.UPower.PowerProfiles", "/org/freedesktop/UPower/PowerProfiles"),
          std::pair("net.hadess.PowerProfiles", "/net/hadess/PowerProfiles")}) {
        const QString service = QString::fromLatin1(name);
        profile = m_bus.read({service, QString::fromLatin1(path), service, QStringLiteral("ActiveProfile")});
        if (profile.state == State::here) {
            return seen(profile.value.toString() == QLatin1String("power-saver") ? 1 : 0);
        }
    }
    return unseen(profile.state);
}

Sight MeteredProbe::look() {
    constexpr unsigned yes = 1, guess_yes = 3;
    const QString name = QStringLiteral("org.freedesktop.NetworkManager");
    const BusAnswer metered =
        m_bus.read({name, QStringLiteral("/org/freedesktop/NetworkManager"), name, QStringLiteral("Metered")});
    if (metered.state != State::here) return unseen(metered.state);
    const unsigned value = metered.value.toUInt();
    return seen(value == yes || value == guess_yes ? 1 : 0);
}

Sight SessionInputProbe::look() {
    const QString mutter = QStringLiteral("org.gnome.Mutter.IdleMonitor");
    const QString saver = QStringLiteral("org.freedesktop.ScreenSaver");
    BusAnswer idle = m_bus.call(
        {mutter, QStringLiteral("/org/gnome/Mutter/IdleMonitor/Core"), mutter, QStringLiteral("GetIdletime")});
    if (idle.state != State::here) {
        idle = m_bus.call({saver, QStringLiteral("/ScreenSaver"), saver, QStringLiteral("GetSessionIdleTime")});
    }
    return idle.state == State::here ? seen(static_cast<double>(idle.value.toULongLong()) / 1000) : unseen(idle.state);
}

}  // namespace potluck::ui

#endif
