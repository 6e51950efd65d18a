// The machine keeps what members said and answers by `now`. leader_at() computes whose turn it is from the time since
// the window closed: candidates that cannot lead are skipped at once, each of the others costs one grace, as a view
// change in PBFT, and beyond the order the living members follow in a pseudo-random ranking.
//
// If no Close arrives, followers close their window half of `collect` after its time. A leader signs when everybody is
// in, or late with what it has; with nothing at all it opens the window again. A list that others have moved on with
// counts as well, so that one member's clock cannot hold it back.
//
// Invariants: within a round a member has one contribution, the first that was heard, and the lowest view that counts
// only grows.
//
// Sources: Castro and Liskov 1999 for views; Tendermint (1807.04938) for rotating leaders.
#include "core/run/round_machine.h"

#include <algorithm>
#include <utility>

#include "core/base/sha256.h"

namespace potluck::run {

namespace {

/// View `view` of `order` belongs to `leader`; past the end it is anybody's.
bool leads_view(const std::vector<PeerId>& order, std::uint32_t view, const PeerId& leader) {
    return view >= order.size() || order[view] == leader;
}

Digest rank_of(RoundId round, const PeerId& peer) {
    ByteWriter writer;
    writer.u64(round.value);
    writer.raw(peer.bytes);
    return sha256(writer.bytes());
}

}  // namespace

bool RunRules::admits(const PeerId& peer) const {
    return allowed.empty() || std::binary_search(allowed.begin(), allowed.end(), peer) || peer == host ||
           std::find(backbones.begin(), backbones.end(), peer) != backbones.end();
}

Verdict check_link(const AcceptList& list, const AcceptList* previous, const RunRules& rules) {
    if (list.run != rules.run) return Verdict::wrong_run;
    const RoundId round = previous == nullptr ? RoundId{0} : previous->round.next();
    if (list.round != round) return Verdict::stale;
    if (list.previous != (previous == nullptr ? Digest{} : previous->hash())) return Verdict::wrong_base;
    const std::vector<PeerId> order = leader_order(rules.backbones, rules.host, round, previous);
    if (!leads_view(order, list.view, list.leader)) return Verdict::wrong_leader;
    if (!rules.admits(list.leader)) return Verdict::not_allowed;
    for (const Accepted& entry : list.entries) {
        if (!rules.admits(entry.peer)) return Verdict::not_allowed;
    }
    return Verdict::accepted;
}

bool other_branch_wins(const Branch& ours, const Branch& theirs) {
    const bool shallow = std::max(ours.length, theirs.length) <= fork_depth_max;
    if (!shallow && ours.length != theirs.length) return theirs.length > ours.length;
    return std::pair(theirs.view, theirs.first) < std::pair(ours.view, ours.first);
}

RoundMachine::RoundMachine(RoundSettings settings) : m_settings(std::move(settings)) {}

void RoundMachine::enter(RoundId round, const StateDigest& base, const AcceptList* previous, TimePoint now) {
    m_playing = true;
    m_over = false;
    m_round = round;
    m_base = base;
    m_previous = previous == nullptr ? Digest{} : previous->hash();
    m_order = leader_order(m_settings.rules.backbones, m_settings.rules.host, round, previous);
    m_entered_at = m_opened_at = now;
    m_closed_at.reset();
    m_contributions.clear();
    m_view_min = 0;
    m_signed_view.reset();
    m_reopened = m_close_due = m_own_due = m_own_empty = false;
    m_retry_at = m_close_sent_at = m_contribution_sent_at = TimePoint{};
}

void RoundMachine::leave() { m_playing = m_over = false; }

void RoundMachine::end(RoundId round, TimePoint now) {
    m_playing = false;
    m_over = true;
    m_round = round;
    m_entered_at = now;
}

void RoundMachine::heard(const PeerId& peer, const RoundMember& member, TimePoint now) {
    if (m_members.size() >= members_max && !m_members.contains(peer)) return;
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

bool RoundMachine::can_lead(const PeerId& peer, TimePoint now) const {
    if (peer == m_settings.self) return true;
    if (!alive(peer, now)) return false;
    const RoundMember& member = m_members.at(peer).member;
    if (member.phase == Phase::joining && member.role == Role::backbone) return false;
    if (member.phase == Phase::repairing) return false;
    return member.round.value + 1 >= m_round.value;
}

std::vector<PeerId> RoundMachine::ranked_members(TimePoint now) const {
    std::vector<std::pair<Digest, PeerId>> ranked{{rank_of(m_round, m_settings.self), m_settings.self}};
    for (const auto& [peer, known] : m_members) {
        if (can_lead(peer, now)) ranked.emplace_back(rank_of(m_round, peer), peer);
    }
    std::sort(ranked.begin(), ranked.end());
    std::vector<PeerId> peers;
    peers.reserve(ranked.size());
    for (const auto& [rank, peer] : ranked) peers.push_back(peer);
    return peers;
}

Leadership RoundMachine::leader_at(TimePoint now) const {
    std::uint64_t turn = 0;  // candidates that were waited for in vain
    if (m_closed_at) {
        const Duration late = now - (*m_closed_at + m_settings.collect + m_settings.grace);
        if (late >= Duration{0}) turn = 1 + static_cast<std::uint64_t>(late / std::max(m_settings.grace, Duration{1}));
    }
    for (std::uint32_t view = m_view_min; view < m_order.size(); ++view) {
        if (!can_lead(m_order[view], now)) continue;
        if (turn == 0) return {view, m_order[view]};
        --turn;
    }
    const std::vector<PeerId> ranked = ranked_members(now);
    const std::uint64_t view = std::max<std::uint64_t>(m_order.size() + turn, m_view_min);
    return {static_cast<std::uint32_t>(std::min<std::uint64_t>(view, UINT32_MAX)), ranked[view % ranked.size()]};
}

bool RoundMachine::any_contribution() const {
    return std::any_of(m_contributions.begin(), m_contributions.end(), [](const auto& one) { return !one.second.bad; });
}

/// Every living member that trains in this round has contributed and its payload is here.
bool RoundMachine::everybody_in(TimePoint now) const {
    if (m_own_due) return false;
    for (const auto& [peer, known] : m_members) {
        const RoundMember& member = known.member;
        const bool trains =
            member.role == Role::volunteer && member.round == m_round &&
            (member.phase == Phase::training || (member.phase == Phase::collecting && member.window_tokens.value > 0));
        if (!trains || !alive(peer, now)) continue;
        const auto found = m_contributions.find(peer);
        if (found == m_contributions.end() || (!found->second.held && !found->second.bad)) return false;
    }
    return true;
}

Verdict RoundMachine::contribution(const PeerId& peer, const ContributionMessage& message) {
    if (!m_playing || message.round != m_round) return Verdict::stale;
    if (!m_settings.rules.admits(peer)) return Verdict::not_allowed;
    if (message.base != m_base) return Verdict::wrong_base;
    if (message.tokens.value == 0 || message.tokens.value > tokens_max) return Verdict::malformed;
    const bool added = m_contributions.try_emplace(peer, Contribution{message}).second;
    return added ? Verdict::accepted : Verdict::repeated;
}

void RoundMachine::payload_held(const BlobId& payload) {
    for (auto& [peer, contribution] : m_contributions) {
        if (contribution.message.payload.root == payload) contribution.held = true;
    }
}

std::optional<PeerId> RoundMachine::payload_bad(const BlobId& payload) {
    for (auto& [peer, contribution] : m_contributions) {
        if (contribution.message.payload.root != payload) continue;
        contribution.bad = true;
        contribution.held = false;
        return peer;
    }
    return std::nullopt;
}

Verdict RoundMachine::on_close(const PeerId& sender, const CloseMessage& message, TimePoint now) {
    if (!m_playing || message.round != m_round) return Verdict::stale;
    if (!leads_view(m_order, message.view, sender)) return Verdict::wrong_leader;
    const Leadership leadership = leader_at(now);
    const bool its_turn = sender == leadership.leader || message.view <= leadership.view;
    if (!its_turn && now < m_opened_at + m_settings.window) return Verdict::wrong_leader;
    if (!m_closed_at || (m_own_empty && now >= m_retry_at)) m_close_due = true;
    return Verdict::accepted;
}

void RoundMachine::close_early() { m_close_due = m_playing && !m_closed_at; }

void RoundMachine::offered(const ContributionMessage& message, TimePoint now) {
    m_own_due = m_own_empty = false;
    if (!m_playing || message.round != m_round) return;
    if (!m_closed_at) m_closed_at = now;
    m_contributions[m_settings.self] = Contribution{message, true, false};
    m_contribution_sent_at = now;
}

void RoundMachine::nothing_offered(TimePoint now) {
    m_own_due = false;
    m_own_empty = true;
    m_retry_at = now + heartbeats_to_repeat * m_settings.heartbeat;
}

bool RoundMachine::is_eligible(const AcceptList& list, TimePoint now) const {
    if (list.view < m_view_min) return false;
    const Leadership leadership = leader_at(now);
    if (list.view <= leadership.view || list.leader == leadership.leader) return true;
    const Digest hash = list.hash();
    std::size_t others = 0, moved = 0;
    for (const auto& [peer, known] : m_members) {
        if (!alive(peer, now) || known.member.round < m_round) continue;
        ++others;
        if (known.member.round > m_round.next()) ++moved;
        if (known.member.round == m_round.next() && known.member.list == hash) ++moved;
    }
    return moved > 0 && 2 * moved >= others;
}

void RoundMachine::advance_view(std::uint32_t view) {
    m_view_min = std::max(m_view_min, view == UINT32_MAX ? view : view + 1);
    m_signed_view.reset();
}

bool RoundMachine::window_over(bool leading, TimePoint now) const {
    if (m_close_due) return true;
    // A leader that is alive closes in time; the others close by themselves half of `collect` later.
    if (!leading) return now >= m_opened_at + m_settings.window + m_settings.collect / 2;
    // Contributions that are all there already: the window was closed by a leader before this one.
    if (any_contribution() && (m_reopened || everybody_in(now))) return true;
    return now >= m_opened_at + m_settings.window;
}

AcceptList RoundMachine::make_list(std::uint32_t view) const {
    AcceptList list{m_settings.rules.run, m_round, view, m_settings.self, m_previous, m_base, {}};
    for (const auto& [peer, contribution] : m_contributions) {
        if (!contribution.held || contribution.bad || list.entries.size() >= accepted_max) continue;
        list.entries.push_back({peer, contribution.message.payload, contribution.message.tokens});
    }
    return list;
}

void RoundMachine::lead(const Leadership& leadership, TimePoint now, RoundActions& out) {
    if (m_signed_view && *m_signed_view <= leadership.view) return;
    const bool late = now >= *m_closed_at + m_settings.collect;
    const bool any_held = std::any_of(m_contributions.begin(), m_contributions.end(),
                                      [](const auto& one) { return one.second.held && !one.second.bad; });
    if (any_held && (late || everybody_in(now))) {
        m_signed_view = leadership.view;
        out.sign = make_list(leadership.view);
    } else if (late && !m_own_due && !any_contribution()) {
        m_closed_at.reset();
        m_opened_at = now;
        m_reopened = true;
    } else if (now >= m_close_sent_at + heartbeats_to_repeat * m_settings.heartbeat) {
        m_close_sent_at = now;
        out.announce_close = CloseMessage{m_round, leadership.view};
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

RoundActions RoundMachine::tick(TimePoint now) {
    RoundActions out;
    if (m_over) pass_lists_on(now, out);
    if (!m_playing) return out;
    const Leadership leadership = leader_at(now);
    const bool leading = leadership.leader == m_settings.self;
    const bool again = m_closed_at && m_close_due && m_own_empty;
    if (again || (!m_closed_at && window_over(leading, now))) {
        if (!m_closed_at) m_closed_at = now;
        m_close_due = m_own_empty = false;
        const bool has_own = m_contributions.contains(m_settings.self);
        m_own_due = out.close_window = m_settings.role == Role::volunteer && !has_own;
        if (leading) m_close_sent_at = TimePoint{};
    }
    if (leading && m_closed_at) lead(leadership, now, out);
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
