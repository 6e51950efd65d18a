// In each call: every signal that is switched on and seen is compared with its limit; those that have met it for their
// hold call for a level; the strongest call wins, and among equals the first in the order of Signal. The decision in
// force stays while its own signal still calls for its level, so that the reason does not change while one signal
// among several comes and goes.
//
// The order of the comparison at the end is what makes pausing fast and resuming slow: a stronger level is adopted at
// once, a weaker one when nothing stronger has been called for since resume_delay.
#include "core/activity/policy.h"

namespace potluck::activity {

namespace {

Duration hold_of(Signal signal) {
    switch (signal) {
        case Signal::gpu_use: return gpu_use_hold;
        case Signal::heat: return heat_hold;
        case Signal::load: return load_hold;
        default: return Duration{0};
    }
}

/// A person at the keyboard wants a responsive computer, not an idle one: training goes on beside it, in half the time.
Level level_of(Signal signal) { return signal == Signal::input ? Level::quiet : Level::pause; }

}  // namespace

void Policy::look_at_input(TimePoint now, const Sight& sight) {
    const bool gap = !sight.reading || sight.reading->value >= input_break_seconds;
    if (gap || !m_last_break) m_last_break = now;
    m_drifts = now - *m_last_break >= drift_after;
}

bool Policy::meets(TimePoint now, Signal signal, const Reading& reading) {
    const auto limit_met = [&] {
        switch (signal) {
            case Signal::gpu_use: return reading.value >= gpu_use_min;
            case Signal::gpu_memory: return reading.value < gpu_memory_free_min;
            case Signal::heat: return reading.value < heat_margin_min;
            case Signal::load: return reading.value >= load_min;
            case Signal::input: return reading.value < away_after_seconds && !m_drifts;
            default: return reading.value >= 1;
        }
    };
    std::optional<TimePoint>& since = m_since[place_of(signal)];
    if (!limit_met()) {
        since.reset();
        return false;
    }
    if (!since) since = now;
    return now - *since >= hold_of(signal);
}

Decision Policy::wanted(TimePoint now, HourOfWeek hour, const Sights& sights, const Rules& rules) {
    Decision best;
    const auto call = [&](Decision decision) {
        const bool stays = decision.level == m_decision.level && decision.signal == m_decision.signal;
        if (decision.level > best.level || (stays && decision.level == best.level)) best = std::move(decision);
    };
    for (const Signal signal : automatic_signals) {
        const Sight& sight = sights[place_of(signal)];
        if (signal == Signal::schedule || !sight.reading || !rules.on[place_of(signal)]) {
            m_since[place_of(signal)].reset();
            continue;
        }
        if (meets(now, signal, *sight.reading)) call({level_of(signal), signal, sight.reading->detail});
    }
    if (rules.on[place_of(Signal::schedule)]) call({rules.schedule.at(hour), Signal::schedule, {}});
    return best;
}

Decision Policy::decide(TimePoint now, HourOfWeek hour, const Sights& sights, const Rules& rules) {
    look_at_input(now, sights[place_of(Signal::input)]);
    Decision next = wanted(now, hour, sights, rules);
    const bool weaker = next.level < m_decision.level;
    if (weaker && !m_weaker_since) m_weaker_since = now;
    const bool switched_off = !rules.on[place_of(m_decision.signal)];
    if (weaker && !switched_off && now - *m_weaker_since < rules.resume_delay) {
        m_decision.ends = *m_weaker_since + rules.resume_delay;
        return m_decision;
    }
    m_weaker_since.reset();
    m_decision = std::move(next);
    return m_decision;
}

}  // namespace potluck::activity
