#include "core/peer/members.h"

#include <algorithm>

namespace potluck::peer {

using run::Verdict;

void Members::joined(const PeerId& peer) {
    if (m_sessions.size() >= run::members_max && !m_sessions.contains(peer)) return;
    m_sessions[peer] = Session{};
    if (Member* member = find(peer)) member->status.sequence = 0;
}

void Members::left(const PeerId& peer) { m_sessions.erase(peer); }

bool Members::admit_message(const PeerId& peer, TimePoint now) {
    const auto found = m_sessions.find(peer);
    if (found == m_sessions.end()) return m_sessions.size() < run::members_max;
    Session& session = found->second;
    const double seconds = std::chrono::duration<double>(now - session.filled).count();
    session.tokens = std::min(messages_burst_max, session.tokens + std::max(seconds, 0.0) * messages_per_second_max);
    session.filled = now;
    if (session.tokens < 1) return false;
    session.tokens -= 1;
    return true;
}

Verdict Members::take(const PeerId& peer, const run::StatusMessage& status, TimePoint now) {
    const auto found = m_members.find(peer);
    if (found == m_members.end()) {
        if (m_members.size() >= run::members_max) return Verdict::flood;
        m_members[peer] = Member{status, now, std::nullopt};
        return Verdict::accepted;
    }
    if (status.sequence <= found->second.status.sequence) return Verdict::stale;
    found->second.status = status;
    found->second.last_seen = now;
    return Verdict::accepted;
}

void Members::remove(const PeerId& peer) { m_members.erase(peer); }

Member* Members::find(const PeerId& peer) {
    const auto found = m_members.find(peer);
    return found == m_members.end() ? nullptr : &found->second;
}

std::vector<PeerId> Members::ids() const {
    std::vector<PeerId> ids;
    for (const auto& [peer, member] : m_members) ids.push_back(peer);
    return ids;
}

void Members::expire(TimePoint now, Duration silence) {
    std::erase_if(m_members, [&](const auto& item) { return now - item.second.last_seen > silence; });
}

bool Members::count(const PeerId& peer, Verdict verdict) {
    ++m_verdicts[static_cast<std::size_t>(verdict)];
    const bool offence = verdict == Verdict::malformed || verdict == Verdict::bad_signature ||
                         verdict == Verdict::flood || verdict == Verdict::too_large;
    const auto found = m_sessions.find(peer);
    if (!offence || found == m_sessions.end()) return false;
    return ++found->second.offences == offences_max;
}

std::vector<std::pair<Verdict, std::uint64_t>> Members::verdicts() const {
    std::vector<std::pair<Verdict, std::uint64_t>> list;
    for (std::size_t i = 0; i < verdict_kinds; ++i) {
        if (m_verdicts[i] > 0) list.emplace_back(static_cast<Verdict>(i), m_verdicts[i]);
    }
    return list;
}

}  // namespace potluck::peer
