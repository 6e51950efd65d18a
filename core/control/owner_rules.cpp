#include "core/control/node_protocol.h"

namespace potluck::control {

OwnerRules described(const activity::Rules& rules) {
    OwnerRules described;
    for (const activity::Signal signal : activity::automatic_signals) {
        if (!rules.on[activity::place_of(signal)]) described.off.push_back(signal);
    }
    described.programs = rules.programs;
    described.resume_seconds = static_cast<std::uint64_t>(rules.resume_delay.count()) / 1000;
    described.hours = rules.schedule.text();
    return described;
}

Result<activity::Rules> rules_of(const OwnerRules& described) {
    activity::Rules rules;
    rules.on.fill(true);
    for (const activity::Signal signal : described.off) rules.on[activity::place_of(signal)] = false;
    rules.programs = described.programs;
    rules.resume_delay = Duration{1000 * static_cast<Duration::rep>(described.resume_seconds)};
    const auto schedule = activity::Schedule::parse(described.hours);
    if (!schedule) {
        return Error{ErrorCode::invalid_argument, "The hours are 168 letters r, q and p, one for each of the week."};
    }
    rules.schedule = *schedule;
    return rules;
}

}  // namespace potluck::control
