#include "app/node/owner/usage_meter.h"

#include <algorithm>

#include "core/base/log.h"

namespace potluck::node {

void UsageMeter::load(TimePoint now) {
    m_owner.check();
    m_traffic = TrafficBook::load(m_folder);
    m_energy = EnergyBook::load(m_folder);
    m_counted_at = m_saved_at = now;
}

bool UsageMeter::is_due(TimePoint now) const {
    m_owner.check();
    return now >= m_counted_at + count_every;
}

void UsageMeter::count(TimePoint now, std::int64_t unix_time, const Used& used) {
    m_owner.check();
    const Duration passed = std::min(now - m_counted_at, 2 * count_every);
    m_counted_at = now;
    const Calendar calendar = calendar_of(unix_time);
    m_traffic.note(used.bytes_up, used.bytes_down, calendar);
    if (used.training) {
        m_energy.note(passed, used.training->watts, calendar);
    } else {
        m_energy.turn(calendar);
    }
}

void UsageMeter::save(TimePoint now) {
    m_owner.check();
    m_saved_at = now;
    for (const Status& kept : {m_traffic.save(m_folder), m_energy.save(m_folder)}) {
        if (!kept) log::of("node").warn("{}", kept.error().message);
    }
}

void UsageMeter::save_if_due(TimePoint now) {
    m_owner.check();
    if (now >= m_saved_at + save_every) save(now);
}

const control::Traffic& UsageMeter::traffic() const {
    m_owner.check();
    return m_traffic.traffic;
}

const control::Energy& UsageMeter::energy() const {
    m_owner.check();
    return m_energy.energy;
}

std::optional<double> UsageMeter::mean_watts() const {
    m_owner.check();
    return m_energy.mean_watts();
}

}  // namespace potluck::node
