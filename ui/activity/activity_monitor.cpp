#include "ui/activity/activity_monitor.h"

#include <utility>

namespace potluck::ui {

ActivityMonitor::ActivityMonitor(NodeClient& client, MakeProbes probes, QObject* parent)
    : QObject(parent), m_client(client), m_makeProbes(std::move(probes)) {
    connect(&m_timer, &QTimer::timeout, this, &ActivityMonitor::look);
    m_timer.start(look_every);
}

ActivityMonitor::~ActivityMonitor() = default;

void ActivityMonitor::look() {
    const NodeView& view = m_client.view();
    if (view.link.state != Link::State::up || !view.snapshot.rules) {
        m_toldAt.reset();  // another node may answer next, or the same one that has forgotten
        return;
    }
    const Result<activity::Rules> rules = control::rules_of(*view.snapshot.rules);
    if (!rules.ok()) return;
    if (!m_lookout || m_programs != rules->programs) {
        m_programs = rules->programs;
        m_lookout = std::make_unique<activity::Lookout>(m_makeProbes(*m_programs));
    }
    const TimePoint now = steady_now();
    const activity::Sights sights = m_lookout->sights();
    const auto hour = activity::hour_of_week(unix_seconds());
    tell(now, m_policy.decide(now, hour, sights, *rules));
    m_client.showSights(sights, m_policy.input_drifts());
}

void ActivityMonitor::tell(TimePoint now, const activity::Decision& decision) {
    const bool changed =
        decision.level != m_told.level || decision.signal != m_told.signal || decision.ends != m_told.ends;
    if (m_toldAt && !changed && now - *m_toldAt < tell_every) return;
    m_told = decision;
    m_toldAt = now;
    m_client.giveWay(decision, lease);
}

}  // namespace potluck::ui
