#include "app/node/owner/right_of_way.h"

#include <utility>

namespace potluck::node {

using activity::Decision;
using activity::Level;

void RightOfWay::set_rules(activity::Rules rules) {
    m_owner.check();
    if (rules.programs != m_rules.programs) m_lookout.reset();  // made anew with the list that holds now
    m_rules = std::move(rules);
}

void RightOfWay::told(TimePoint now, Decision decision, Duration lease) {
    m_owner.check();
    m_told = std::move(decision);
    m_told_until = now + lease;
    m_lookout.reset();
    m_policy = {};
}

void RightOfWay::dismiss() {
    m_owner.check();
    if (m_seen.level != Level::pause) return;
    m_dismissed = m_seen.signal;
    m_decision = {};
}

const Decision& RightOfWay::look(TimePoint now, activity::HourOfWeek hour) {
    m_owner.check();
    m_seen = seen(now, hour);
    const bool same = m_seen.level != Level::run && m_dismissed == m_seen.signal;
    if (!same) m_dismissed.reset();
    m_decision = same ? Decision{} : m_seen;
    return m_decision;
}

Decision RightOfWay::seen(TimePoint now, activity::HourOfWeek hour) {
    if (m_told_until && now < *m_told_until) return m_told;
    m_told_until.reset();
    if (!m_lookout) m_lookout.emplace(m_make_probes(m_rules.programs));
    return m_policy.decide(now, hour, m_lookout->sights(), m_rules);
}

}  // namespace potluck::node
