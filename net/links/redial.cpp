#include "net/links/redial.h"

#include <algorithm>

namespace potluck::net {

void Redial::add_hint(const Endpoint& address) {
    if (m_hints.size() < hints_max) m_hints.insert(address);
    add(address);
    look_up_members();
}

void Redial::met(const PeerId& member, const std::vector<Endpoint>& addresses) {
    if (!m_located.contains(member) && m_located.size() >= located_max) {
        const auto other =
            std::ranges::find_if(m_located, [this](const auto& one) { return !m_deciders.contains(one.first); });
        if (other == m_located.end()) return;
        m_located.erase(other);
    }
    std::vector<Endpoint>& known = m_located[member];
    for (const Endpoint& address : addresses) {
        std::erase(known, address);
        known.insert(known.begin(), address);
    }
    if (known.size() > addresses_per_member_max) known.resize(addresses_per_member_max);
    look_up_members();
}

void Redial::need(const std::set<PeerId>& deciders, const std::vector<PeerId>& missed, TimePoint now) {
    m_deciders = deciders;
    m_needed = {missed.begin(), missed.end()};
    const std::set<Endpoint> before = m_urgent;
    look_up_members();
    for (const Endpoint& address : m_urgent) {
        if (before.contains(address)) continue;
        Attempt& attempt = m_attempts[address];
        // What failed for minutes is tried as if it had not: since then something has changed.
        if (attempt.wait > Duration{0})
            attempt = {std::min(attempt.next, now + retry_urgent_first), retry_urgent_first};
    }
}

void Redial::look_up_members() {
    m_deciding = addresses_of(m_deciders);
    m_urgent = m_needed.empty() ? std::set<Endpoint>{} : addresses_of(m_needed);
}

/// And the hints, which may be all that leads to them.
std::set<Redial::Endpoint> Redial::addresses_of(const std::set<PeerId>& members) const {
    std::set<Endpoint> addresses = m_hints;
    for (const PeerId& member : members) {
        const auto found = m_located.find(member);
        if (found != m_located.end()) addresses.insert(found->second.begin(), found->second.end());
    }
    return addresses;
}

/// Whether one more of the others is dialled now.
bool Redial::takes_turn(TimePoint now) {
    constexpr Duration second{1'000};
    if (m_next_other >= now) return false;
    m_next_other = std::max(m_next_other, now - second) + second / others_dialled_at_once;
    return true;
}

Duration Redial::varied(Duration wait) {
    const double factor = 1 + retry_jitter * (2 * m_random.unit() - 1);
    return std::chrono::duration_cast<Duration>(wait * factor);
}

/// The address that has waited longest comes first: however many a stranger has made known, the rest have their turns.
std::vector<Redial::Endpoint> Redial::due(TimePoint now, Whom whom,
                                          const std::function<bool(const Endpoint&)>& is_connected) {
    std::vector<Attempts::iterator> dialled, others;
    for (auto it = m_attempts.begin(); it != m_attempts.end(); ++it) {
        const Duration first = first_wait(it->first);
        if (is_connected(it->first)) {
            it->second = {.next = now + first, .wait = first};
        } else if (it->second.next <= now) {
            (m_deciding.contains(it->first) ? dialled : others).push_back(it);
        }
    }
    std::ranges::stable_sort(others, {}, [](const Attempts::iterator& one) { return one->second.next; });
    for (const Attempts::iterator& one : others) {
        if (whom == Whom::everybody && takes_turn(now)) dialled.push_back(one);
    }
    std::vector<Endpoint> addresses;
    for (const Attempts::iterator& one : dialled) {
        auto& [address, attempt] = *one;
        const Duration longest = is_urgent(address) ? retry_urgent_longest : retry_longest;
        attempt.wait = attempt.wait == Duration{0} ? first_wait(address) : std::min(2 * attempt.wait, longest);
        attempt.next = now + varied(attempt.wait);
        addresses.push_back(address);
    }
    return addresses;
}

}  // namespace potluck::net
