// The machine keeps what members said and answers by `now`. Whose turn it is to propose announces the end of the
// window; if no Close arrives, the others close theirs half of `collect` after its time. There is enough for a list
// when everybody who trains is in, or `collect` after closing with whatever is held, if that is half of what members
// offer; less is enough a window later. With nothing at all the window opens again, for everybody by its own clock, so
// that no single member is needed for that. What came too late for its own list may stand in the next one, which waits
// for nobody's.
//
// Invariants: within a round a member has one contribution, the first that was heard, and a held payload is its
// maker's; once there was enough for a list there stays enough.
#include "core/run/round_machine.h"

#include <algorithm>
#include <utility>

namespace potluck::run {

RoundMachine::RoundMachine(RoundSettings settings) : m_settings(std::move(settings)) {}

void RoundMachine::enter(RoundId round, const StateDigest& base, std::vector<PeerId> committee, TimePoint now,
                         std::optional<RoundBefore> before, RoundHistory history) {
    // What was heard for the round before is late now; a round that begins again keeps what it has.
    const bool follows = m_playing && m_round.next() == round && before && before->base == m_base;
    if (follows) {
        m_late = std::exchange(m_offers, {});
        for (const PeerId& peer : before->accepted) m_late.erase(peer);
    } else if (!m_playing || m_round != round || !before) {
        m_late.begin(history.previous);
    }
    m_before = std::move(before);
    m_playing = true;
    m_over = false;
    m_round = round;
    m_base = base;
    m_committee = std::move(committee);
    m_entered_at = m_opened_at = now;
    m_closed_at.reset();
    m_offers.begin(history.previous);
    m_known = std::move(history.known);
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

/// Before the first list nobody is known, and everybody counts as known.
bool RoundMachine::is_known(const PeerId& peer) const {
    return !m_known || std::binary_search(m_known->begin(), m_known->end(), peer);
}

/// Keys are free, and a member that pretends to train would make everybody wait.
bool RoundMachine::is_awaited(const PeerId& peer) const {
    return m_round.value % newcomers_awaited_every == 0 || is_known(peer);
}

/// Every living member that is known and trains in this round has contributed and its payload is here. Members without
/// a session here send no status: they are expected if they contributed to the round before.
bool RoundMachine::everybody_in(TimePoint now) const {
    if (m_own_due) return false;
    for (const auto& [peer, round] : m_contributors) {
        const bool is_expected = peer != m_settings.self && is_awaited(peer) && !m_members.contains(peer);
        if (is_expected && !m_offers.is_in(peer)) return false;
    }
    for (const auto& [peer, known] : m_members) {
        const RoundMember& member = known.member;
        const bool trains =
            member.role == Role::volunteer && member.round == m_round &&
            (member.phase == Phase::training || (member.phase == Phase::collecting && member.window_tokens.value > 0));
        const bool is_expected = trains && (known.member.vouched || is_awaited(peer)) && alive(peer, now);
        if (is_expected && !m_offers.is_in(peer)) return false;
    }
    return true;
}

std::size_t RoundMachine::unknown_contributors() const {
    return static_cast<std::size_t>(std::count_if(m_contributors.begin(), m_contributors.end(),
                                                  [this](const auto& one) { return !is_known(one.first); }));
}

void RoundMachine::note_contributor(const PeerId& peer, RoundId round) {
    const bool is_near = m_playing && round <= m_round && round.next() >= m_round;
    if (!is_near) return;
    if (!m_contributors.contains(peer)) {
        if (m_contributors.size() >= members_max) return;
        if (!is_known(peer) && unknown_contributors() >= unknown_contributors_max) return;
    }
    m_contributors[peer] = std::max(m_contributors[peer], round);
}

bool RoundMachine::has_place_for(const PeerId& peer, const ContributionMessage& message,
                                 const OfferOrigin& origin) const {
    return (is_late(message) ? m_late : m_offers).has_place_for(peer, origin);
}

std::vector<BlobId> RoundMachine::take_displaced() {
    std::vector<BlobId> displaced = m_offers.take_displaced();
    const std::vector<BlobId> late = m_late.take_displaced();
    displaced.insert(displaced.end(), late.begin(), late.end());
    std::erase_if(displaced, [&](const BlobId& id) { return m_offers.naming(id) || m_late.naming(id); });
    return displaced;
}

Verdict RoundMachine::contribution(const PeerId& peer, const ContributionMessage& message, const Signature& signature,
                                   const OfferOrigin& origin) {
    note_contributor(peer, message.round);
    const bool late = is_late(message);
    if (!m_playing || (message.round != m_round && !late)) return Verdict::stale;
    if (late && std::binary_search(m_before->accepted.begin(), m_before->accepted.end(), peer)) return Verdict::stale;
    if (message.base != (late ? m_before->base : m_base)) return Verdict::wrong_base;
    if (message.tokens.value == 0 || message.tokens.value > tokens_max) return Verdict::malformed;
    return (late ? m_late : m_offers).take(peer, message, signature, origin);
}

bool RoundMachine::is_late(const ContributionMessage& message) const {
    return m_before && message.round.next() == m_round;
}

bool RoundMachine::holds(const PeerId& peer, const ContributionMessage& message, const Signature& signature) const {
    return m_playing && (m_offers.holds(peer, message, signature) || m_late.holds(peer, message, signature));
}

std::optional<SignedContribution> RoundMachine::contribution_of(const BlobId& payload) const {
    if (!m_playing) return std::nullopt;
    const auto found = m_offers.naming(payload);
    return found ? found : m_late.naming(payload);
}

std::vector<PeerId> RoundMachine::payload_held(const BlobId& payload, const PeerId& author) {
    std::vector<PeerId> copiers = m_offers.payload_held(payload, author);
    const std::vector<PeerId> late = m_late.payload_held(payload, author);
    copiers.insert(copiers.end(), late.begin(), late.end());
    return copiers;
}

std::optional<PeerId> RoundMachine::payload_bad(const BlobId& payload) {
    const auto liar = m_offers.payload_bad(payload);
    const auto late = m_late.payload_bad(payload);
    return liar ? liar : late;
}

std::vector<Accepted> RoundMachine::held_entries() const {
    std::map<PeerId, Accepted> entries;  // of each author one
    const auto add = [&](const SignedContribution& one, bool late) {
        const ContributionMessage& message = one.message;
        if (entries.size() >= accepted_max) return;
        entries.try_emplace(one.author, Accepted{one.author, message.payload, message.tokens, false, one.signature,
                                                 late, message.certificate});
    };
    for (const SignedContribution& one : m_offers.held()) add(one, false);
    for (const SignedContribution& one : m_late.held()) add(one, true);
    std::vector<Accepted> sorted;
    for (const auto& [author, entry] : entries) sorted.push_back(entry);
    return sorted;
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
    if (m_playing && is_late(message)) m_late.put_own(m_settings.self, message, signature);
    if (!m_playing || message.round != m_round) return;
    if (!m_closed_at) m_closed_at = now;
    m_offers.put_own(m_settings.self, message, signature);
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
    if (m_offers.any_held() && open_long_enough(now) && (m_reopened || everybody_in(now))) return true;
    return now >= m_opened_at + m_settings.window;
}

void RoundMachine::collect(bool proposes, TimePoint now, RoundActions& out) {
    const TimePoint patient_until = *m_closed_at + m_settings.collect;
    const bool late = now >= patient_until, later = now >= patient_until + m_settings.window;
    // What lines bring late is worth another window. Newcomers, whose keys are free, cannot feign that.
    const bool is_enough = later || (late && m_offers.half_held()) || everybody_in(now);
    m_ready = m_ready || (m_offers.any_held() && is_enough);
    out.decide = m_ready;
    if (m_ready) return;
    if (late && !m_offers.any_held() && !m_own_due) {
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
        const bool has_own = m_offers.contains(m_settings.self);
        m_own_due = out.close_window = m_settings.role == Role::volunteer && !has_own;
        if (proposes) m_close_sent_at = TimePoint{};
    }
    if (m_closed_at) collect(proposes, now, out);
    const bool has_offered = m_offers.contains(m_settings.self) || m_late.contains(m_settings.self);
    if (has_offered && m_closed_at && now >= m_contribution_sent_at + heartbeats_to_repeat * m_settings.heartbeat) {
        m_contribution_sent_at = now;
        out.repeat_contribution = true;
    }
    pass_lists_on(now, out);
    return out;
}

}  // namespace potluck::run
