#include "net/links/redial.h"

#include <algorithm>

namespace potluck::net {

void Redial::add_hint(const Endpoint& address) {
    if (m_hints.size() < hints_max) m_hints.insert(address);
    add(address);
    find_urgent();
}

void Redial::met(const PeerId& member, const std::vector<Endpoint>& addresses) {
    if (!m_located.contains(member) && m_located.size() >= located_max) {
        const auto other =
            std::ranges::find_if(m_located, [this](const auto& one) { return !m_needed.contains(one.first); });
        if (other == m_located.end()) return;
        m_located.erase(other);
    }
    std::vector<Endpoint>& known = m_located[member];
    for (const Endpoint& address : addresses) {
        std::erase(known, address);
        known.insert(known.begin(), address);
    }
    if (known.size() > addresses_per_member_max) known.resize(addresses_per_member_max);
    find_urgent();
}

void Redial::need(const std::vector<PeerId>& members, TimePoint now) {
    m_needed = {members.begin(), members.end()};
    const std::set<Endpoint> before = m_urgent;
    find_urgent();
    for (const Endpoint& address : m_urgent) {
        if (before.contains(address)) continue;
        Attempt& attempt = m_attempts[address];
        // What failed for minutes is tried as if it had not: since then something has changed.
        if (attempt.wait > Duration{0})
            attempt = {std::min(attempt.next, now + retry_urgent_first), retry_urgent_first};
    }
}

void Redial::find_urgent() {
    m_urgent.clear();
    if (m_needed.empty()) return;
    m_urgent = m_hints;
    for (const PeerId& member : m_needed) {
        const auto found = m_located.find(member);
        if (found != m_located.end()) m_urgent.insert(found->second.begin(), found->second.end());
    }
}

Duration Redial::varied(Duration wait) {
    const double factor = 1 + retry_jitter * (2 * m_random.unit() - 1);
    return std::chrono::duration_cast<Duration>(wait * factor);
}

std::vector<Redial::Endpoint> Redial::due(TimePoint now, const std::function<bool(const Endpoint&)>& is_connected) {
    std::vector<Endpoint> dialled;
    for (auto& [address, attempt] : m_attempts) {
        const bool urgent = is_urgent(address);
        const Duration first = urgent ? retry_urgent_first : retry_first;
        if (is_connected(address)) {
            attempt = {.next = now + first, .wait = first};
        } else if (attempt.next <= now) {
            dialled.push_back(address);
            const Duration longest = urgent ? retry_urgent_longest : retry_longest;
            attempt.wait = attempt.wait == Duration{0} ? first : std::min(2 * attempt.wait, longest);
            attempt.next = now + varied(attempt.wait);
        }
    }
    return dialled;
}

std::vector<Redial::Endpoint> Redial::addresses() const {
    std::vector<Endpoint> addresses;
    addresses.reserve(m_attempts.size());
    for (const auto& [address, attempt] : m_attempts) addresses.push_back(address);
    return addresses;
}

}  // namespace potluck::net
