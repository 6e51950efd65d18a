#include "core/activity/system/lookout.h"

#include <utility>

#include "core/activity/system/battery.h"
#include "core/activity/system/heat.h"
#include "core/activity/system/load.h"
#include "core/activity/system/local_time.h"
#include "core/activity/system/programs.h"
#include "core/base/check.h"

namespace potluck::activity {

namespace {

class FirstThatSees final : public Probe {
public:
    explicit FirstThatSees(Probes probes) : m_probes(std::move(probes)) { POTLUCK_CHECK(!m_probes.empty()); }

    Signal signal() const override { return m_probes.front()->signal(); }
    Sight look() override {
        Sight last;
        for (const std::unique_ptr<Probe>& probe : m_probes) {
            last = probe->look();
            if (last.reading) return last;
        }
        return last;
    }
    Duration every() const override { return m_probes.front()->every(); }

private:
    Probes m_probes;
};

}  // namespace

Lookout::Lookout(Probes probes) {
    for (std::unique_ptr<Probe>& probe : probes) m_watches.push_back(std::make_unique<Watch>(std::move(probe)));
}

Lookout::~Lookout() {
    for (const std::unique_ptr<Watch>& watch : m_watches) watch->ask_to_stop();
}

Sights Lookout::sights() const {
    m_owner.check();
    Sights sights;
    sights.fill(blind(Blindness::other_system));
    for (const std::unique_ptr<Watch>& watch : m_watches) sights[place_of(watch->signal())] = watch->sight();
    return sights;
}

std::unique_ptr<Probe> first_that_sees(Probes probes) { return std::make_unique<FirstThatSees>(std::move(probes)); }

Probes system_probes(const std::vector<std::string>& programs) {
    const auto table = std::make_shared<ProcessTable>();
    Probes probes;
    probes.push_back(std::make_unique<ProgramsProbe>(table, programs));
    probes.push_back(std::make_unique<SteamProbe>(table));
    probes.push_back(std::make_unique<BatteryProbe>());
    probes.push_back(std::make_unique<HeatProbe>());
    probes.push_back(std::make_unique<LoadProbe>());
    return probes;
}

HourOfWeek hour_of_week(std::int64_t unix_time) {
    const std::tm parts = local_time(unix_time);
    const auto day = static_cast<std::size_t>(parts.tm_wday + 6) % days_per_week;  // tm_wday begins with Sunday
    return {day * hours_per_day + static_cast<std::size_t>(parts.tm_hour)};
}

}  // namespace potluck::activity
