#include "ui/activity/probes.h"

#include <utility>

#include "ui/activity/bus_probes.h"
#include "ui/activity/x11.h"

namespace potluck::ui {

activity::Probes desktopProbes(const std::vector<std::string>& programs) {
    activity::Probes probes = activity::system_probes(programs);
#ifdef __linux__
    for (std::unique_ptr<activity::Probe>& probe : probes) {
        if (probe->signal() != activity::Signal::battery) continue;
        activity::Probes ways;
        ways.push_back(std::make_unique<UPowerProbe>());
        ways.push_back(std::move(probe));
        probe = activity::first_that_sees(std::move(ways));
    }
    activity::Probes input;
    input.push_back(std::make_unique<SessionInputProbe>());
    input.push_back(std::make_unique<X11InputProbe>());
    probes.push_back(activity::first_that_sees(std::move(input)));
    probes.push_back(std::make_unique<X11FullScreenProbe>());
    probes.push_back(std::make_unique<GameModeProbe>());
    probes.push_back(std::make_unique<PowerSaverProbe>());
    probes.push_back(std::make_unique<MeteredProbe>());
#endif
    return probes;
}

}  // namespace potluck::ui
