// The machine keeps what members said and answers by `now`. Whose turn it is to propose announces the end of the
// window; if no Close arrives, the others close theirs half of `collect` after its time. There is enough for a list
// when everybody who trains is in, or `collect` after closing with whatever is held; with nothing at all the window
// opens again, for everybody by its own clock, so that no single member is needed for that.
//
// Invariants: within a round a member has one contribution, the first that was heard, and a held payload is its
// maker's; once there was enough for a list there stays enough.
#include "core/run/round_machine.h"

#include <algorithm>
#include <utility>

namespace potluck::run {

RoundMachine::RoundMachine(RoundSettings settings) : m_settings(std::move(settings)) {}

void RoundMachine::enter(RoundId round, const StateDigest& base, std::vector<PeerId> committee, TimePoint now) {
    m_playing = true;
    m_over = false;
    m_round = round;
    m_base = base;
    m_committee = std::move(committee);
    m_entered_at = m_opened_at = now;
    m_closed_at.reset();
    m_contributions.clear();
    std::erase_if(m_contributors, [&](const auto& one) { return one.second.next() < round; });
    m_ready = m_reopened = m_close_due = m_own_due = m_own_empty = false;
    m_retry_at = m_close_sent_at = m_contribution_sent_at = TimePoint{};
}

void RoundMachine::leave() { m_playing = m_over = false; }

void RoundMachine::end(RoundId round, TimePoint now) {
    m_playing = false;
    m_over = true;
    m_round = round;
    m_entered_at = now;
}

bool RoundMachine::open_long_enough(TimePoint now) const { return now >= m_entered_at + m_settings.window / 2; }

void RoundMachine::heard(const PeerId& peer, const RoundMember& member, TimePoint now) {
    if (m_members.size() >= members_max && !m_members.contains(peer)) {
        // Members who are gone make room: over a run's life more keys come than there is room for.
        std::erase_if(m_members, [&](const auto& one) { return !alive(one.first, now); });
        if (m_members.size() >= members_max) return;
    }
    Known& known = m_members[peer];
    if (known.lost || known.member.round != member.round) known.list_sent = now;  // its own list gets a head start
    known.member = member;
    known.last_seen = now;
    known.lost = false;
}

void RoundMachine::lost(const PeerId& peer) {
    const auto found = m_members.find(peer);
    if (found != m_members.end()) found->second.lost = true;
}

bool RoundMachine::alive(const PeerId& peer, TimePoint now) const {
    if (peer == m_settings.self) return true;
    const auto found = m_members.find(peer);
    return found != m_members.end() && !found->second.lost &&
           now - found->second.last_seen <= heartbeats_to_live * m_settings.heartbeat;
}

bool RoundMachine::any_held() const {
    return std::any_of(m_contributions.begin(), m_contributions.end(),
                       [](const auto& one) { return one.second.held && !one.second.bad; });
}

/// What `peer` has offered is here, or found to be of no use.
bool RoundMachine::is_in(const PeerId& peer) const {
    const auto found = m_contributions.find(peer);
    return found != m_contributions.end() && (found->second.held || found->second.bad);
}

/// Every living member that trains in this round has contributed and its payload is here. Of members that others pass
/// on no status is heard: they are expected if they contributed to the round before.
bool RoundMachine::everybody_in(TimePoint now) const {
    if (m_own_due) return false;
    for (const auto& [peer, round] : m_contributors) {
        if (peer != m_settings.self && !m_members.contains(peer) && !is_in(peer)) return false;
    }
    for (const auto& [peer, known] : m_members) {
        const RoundMember& member = known.member;
        const bool trains =
            member.role == Role::volunteer && member.round == m_round &&
            (member.phase == Phase::training || (member.phase == Phase::collecting && member.window_tokens.value > 0));
        if (trains && alive(peer, now) && !is_in(peer)) return false;
    }
    return true;
}

void RoundMachine::note_contributor(const PeerId& peer, RoundId round) {
    const bool is_near = m_playing && round <= m_round && round.next() >= m_round;
    if (!is_near) return;
    if (m_contributors.size() >= members_max && !m_contributors.contains(peer)) return;
    m_contributors[peer] = std::max(m_contributors[peer], round);
}

Verdict RoundMachine::contribution(const PeerId& peer, const ContributionMessage& message, const Signature& signature) {
    note_contributor(peer, message.round);
    if (!m_playing || message.round != m_round) return Verdict::stale;
    if (message.base != m_base) return Verdict::wrong_base;
    if (message.tokens.value == 0 || message.tokens.value > tokens_max) return Verdict::malformed;
    if (m_contributions.size() >= accepted_max && !m_contributions.contains(peer)) return Verdict::flood;
    const bool added = m_contributions.try_emplace(peer, Contribution{message, signature}).second;
    return added ? Verdict::accepted : Verdict::repeated;
}

bool RoundMachine::holds(const PeerId& peer, const ContributionMessage& message, const Signature& signature) const {
    const auto found = m_contributions.find(peer);
    return m_playing && found != m_contributions.end() && found->second.message == message &&
           found->second.signature == signature;
}

std::optional<RoundMachine::SignedContribution> RoundMachine::contribution_of(const BlobId& payload) const {
    for (const auto& [author, contribution] : m_contributions) {
        if (contribution.message.payload.root != payload || contribution.bad) continue;
        return SignedContribution{author, contribution.message, contribution.signature};
    }
    return std::nullopt;
}

std::vector<PeerId> RoundMachine::payload_held(const BlobId& payload, const PeerId& author) {
    std::vector<PeerId> copiers;
    for (auto& [peer, contribution] : m_contributions) {
        if (contribution.message.payload.root != payload || contribution.bad) continue;
        contribution.bad = peer != author;
        contribution.held = !contribution.bad;
        if (contribution.bad) copiers.push_back(peer);
    }
    return copiers;
}

std::optional<PeerId> RoundMachine::payload_bad(const BlobId& payload) {
    std::optional<PeerId> liar;
    for (auto& [peer, contribution] : m_contributions) {
        if (contribution.message.payload.root != payload || contribution.bad) continue;
        contribution.bad = true;
        contribution.held = false;
        if (!liar) liar = peer;
    }
    return liar;
}

std::vector<Accepted> RoundMachine::held_entries() const {
    std::vector<Accepted> entries;
    for (const auto& [peer, contribution] : m_contributions) {
        if (!contribution.held || contribution.bad || entries.size() >= accepted_max) continue;
        const ContributionMessage& message = contribution.message;
        entries.push_back({peer, message.payload, message.tokens, false, contribution.signature});
    }
    return entries;
}

Verdict RoundMachine::on_close(const PeerId& sender, const CloseMessage& message, TimePoint now) {
    if (!m_playing || message.round != m_round) return Verdict::stale;
    if (!std::binary_search(m_committee.begin(), m_committee.end(), sender)) return Verdict::wrong_author;
    if (!open_long_enough(now)) return Verdict::stale;
    if (!m_closed_at || (m_own_empty && now >= m_retry_at)) m_close_due = true;
    return Verdict::accepted;
}

void RoundMachine::close_early() { m_close_due = m_playing && !m_closed_at; }

void RoundMachine::offered(const ContributionMessage& message, const Signature& signature, TimePoint now) {
    m_own_due = m_own_empty = false;
    if (!m_playing || message.round != m_round) return;
    if (!m_closed_at) m_closed_at = now;
    m_contributions[m_settings.self] = Contribution{message, signature, true, false};
    m_contribution_sent_at = now;
}

void RoundMachine::nothing_offered(TimePoint now) {
    m_own_due = false;
    m_own_empty = true;
    m_retry_at = now + heartbeats_to_repeat * m_settings.heartbeat;
}

bool RoundMachine::window_over(bool proposes, TimePoint now) const {
    if (m_close_due) return true;
    // Who proposes closes in time; the others close by themselves half of `collect` later.
    if (!proposes) return now >= m_opened_at + m_settings.window + m_settings.collect / 2;
    // Contributions that are all there already: another member has closed the window.
    if (any_held() && open_long_enough(now) && (m_reopened || everybody_in(now))) return true;
    return now >= m_opened_at + m_settings.window;
}

void RoundMachine::collect(bool proposes, TimePoint now, RoundActions& out) {
    const bool late = now >= *m_closed_at + m_settings.collect;
    m_ready = m_ready || (any_held() && (late || everybody_in(now)));
    out.decide = m_ready;
    if (m_ready) return;
    if (late && !m_own_due) {
        m_closed_at.reset();
        m_opened_at = now;
        m_reopened = true;
    } else if (proposes && now >= m_close_sent_at + heartbeats_to_repeat * m_settings.heartbeat) {
        m_close_sent_at = now;
        out.announce_close = CloseMessage{m_round};
    }
}

void RoundMachine::pass_lists_on(TimePoint now, RoundActions& out) {
    const Duration pause = heartbeats_to_repeat * m_settings.heartbeat;
    for (auto& [peer, known] : m_members) {
        if (m_round.value == 0 || known.member.round.next() != m_round || !alive(peer, now)) continue;
        const TimePoint since = std::max(known.list_sent, m_entered_at);
        if (known.member.phase == Phase::repairing || now < since + pause) continue;
        known.list_sent = now;
        out.send_list_to.push_back(peer);
    }
}

RoundActions RoundMachine::tick(TimePoint now, bool proposes) {
    RoundActions out;
    if (m_over) pass_lists_on(now, out);
    if (!m_playing) return out;
    const bool again = m_closed_at && m_close_due && m_own_empty;
    if (again || (!m_closed_at && window_over(proposes, now))) {
        if (!m_closed_at) m_closed_at = now;
        m_close_due = m_own_empty = false;
        const bool has_own = m_contributions.contains(m_settings.self);
        m_own_due = out.close_window = m_settings.role == Role::volunteer && !has_own;
        if (proposes) m_close_sent_at = TimePoint{};
    }
    if (m_closed_at) collect(proposes, now, out);
    const auto own = m_contributions.find(m_settings.self);
    if (own != m_contributions.end() && m_closed_at &&
        now >= m_contribution_sent_at + heartbeats_to_repeat * m_settings.heartbeat) {
        m_contribution_sent_at = now;
        out.repeat_contribution = true;
    }
    pass_lists_on(now, out);
    return out;
}

}  // namespace potluck::run
