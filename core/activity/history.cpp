#include "core/activity/history.h"

#include <algorithm>

namespace potluck::activity {

bool History::note(std::int64_t now, const Decision& decision) {
    if (goes_on()) {
        const Episode& last = m_episodes.back();
        if (last.level == decision.level && last.signal == decision.signal) return false;
        close(now);
    } else if (decision.level == Level::run) {
        return false;
    }
    if (decision.level == Level::run) return true;
    m_episodes.push_back({decision.level, decision.signal, decision.detail, now, 0});
    trim();
    return true;
}

void History::close(std::int64_t now) {
    if (goes_on()) m_episodes.back().ended = std::max(now, m_episodes.back().began);
}

void History::restore(std::vector<Episode> episodes) {
    m_episodes = std::move(episodes);
    for (Episode& episode : m_episodes) episode.ended = std::max(episode.ended, episode.began);
    trim();
}

void History::trim() {
    if (m_episodes.size() <= episodes_max) return;
    m_episodes.erase(m_episodes.begin(), m_episodes.end() - static_cast<std::ptrdiff_t>(episodes_max));
}

}  // namespace potluck::activity
