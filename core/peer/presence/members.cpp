// Budgets are token buckets, one for each kind in a session and one for the session; a message takes from both or from
// neither, so that what is refused uses nothing up.
//
// Sequences of members who have gone are kept until there are too many; then the lowest goes, which is the oldest,
// since they begin at their authors' clocks. Those of trusted persons stay longest: they may have seats.
#include "core/peer/presence/members.h"

#include <algorithm>

namespace potluck::peer {

using run::Verdict;

namespace {

constexpr bool no_kind_takes_more_than_half() {
    for (std::size_t kind = 1; kind < message_kinds; ++kind) {
        const MessageBudget budget = budget_of(static_cast<run::MessageKind>(kind));
        if (2 * budget.per_second > session_budget.per_second || 2 * budget.at_once > session_budget.at_once)
            return false;
    }
    return true;
}
static_assert(no_kind_takes_more_than_half());

/// Numbers that no kind has share the first place.
std::size_t slot_of(run::MessageKind kind) {
    const auto number = static_cast<std::size_t>(kind);
    return number < message_kinds ? number : 0;
}

}  // namespace

bool is_credible(const run::StatusMessage& status, const run::Recipe& recipe) {
    // Tokens of refused contributions are offered again, also where windows are so short that many are.
    const auto seconds = std::chrono::ceil<std::chrono::seconds>(std::max(recipe.window, Duration{60'000}));
    const std::uint64_t offered_max =
        windows_offered_max * tokens_per_second_max * static_cast<std::uint64_t>(seconds.count());
    return status.round.value <= recipe.total_rounds && status.checkpoint_round.value <= recipe.total_rounds &&
           status.tokens_per_second <= tokens_per_second_max && status.window_tokens.value <= offered_max;
}

bool is_in_step(const run::StatusMessage& status, RoundId height) {
    const bool takes_part = status.phase != run::Phase::joining && status.phase != run::Phase::repairing;
    return takes_part && status.round.next() >= height;
}

void Members::Bucket::fill(const MessageBudget& budget, TimePoint now) {
    const double seconds = std::chrono::duration<double>(now - filled).count();
    tokens = std::max(tokens, std::min(budget.at_once, tokens + std::max(seconds, 0.0) * budget.per_second));
    filled = now;
}

void Members::joined(const PeerId& peer) {
    if (m_sessions.size() >= run::members_max && !m_sessions.contains(peer)) return;
    Session fresh;
    fresh.all.tokens = session_budget.at_once;
    for (std::size_t kind = 0; kind < message_kinds; ++kind) {
        fresh.kinds[kind].tokens = budget_of(static_cast<run::MessageKind>(kind)).at_once;
    }
    m_sessions[peer] = fresh;
    m_is_sample.reset();
}

void Members::left(const PeerId& peer) {
    m_sessions.erase(peer);
    m_is_sample.reset();
}

void Members::was_away(Duration silence) {
    const double seconds = std::chrono::duration<double>(std::min(silence, backlog_max)).count();
    for (auto& [peer, session] : m_sessions) {
        session.all.tokens += seconds * session_budget.per_second;
        for (std::size_t kind = 0; kind < message_kinds; ++kind) {
            session.kinds[kind].tokens += seconds * budget_of(static_cast<run::MessageKind>(kind)).per_second;
        }
    }
}

bool Members::admit_message(const PeerId& peer, run::MessageKind kind, TimePoint now) {
    const auto found = m_sessions.find(peer);
    if (found == m_sessions.end()) return m_sessions.size() < run::members_max;
    Bucket& all = found->second.all;
    Bucket& of_kind = found->second.kinds.at(slot_of(kind));
    all.fill(session_budget, now);
    of_kind.fill(budget_of(kind), now);
    if (all.tokens < 1 || of_kind.tokens < 1) return false;
    all.tokens -= 1;
    of_kind.tokens -= 1;
    return true;
}

bool Members::trusts(const PeerId& peer) const {
    return std::binary_search(m_trusted.begin(), m_trusted.end(), person_of(peer));
}

run::DeviceCertificate Members::certificate_of(const PeerId& peer) const {
    const auto found = m_heard.find(peer);
    return found == m_heard.end() ? run::DeviceCertificate{} : found->second.certificate;
}

PeerId Members::person_of(const PeerId& peer) const {
    const auto found = m_heard.find(peer);
    return found == m_heard.end() ? peer : found->second.certificate.person_of(peer);
}

bool Members::is_relayed(const PeerId& peer) const { return !m_sessions.contains(peer); }

bool Members::is_sample() const {
    if (m_members.size() < relayed_members_max) return false;
    if (!m_is_sample) {
        const auto is_counted = [this](const auto& one) { return is_relayed(one.first) && !trusts(one.first); };
        const auto count = std::count_if(m_members.begin(), m_members.end(), is_counted);
        m_is_sample = static_cast<std::size_t>(count) >= relayed_members_max;
    }
    return *m_is_sample;
}

bool Members::has_room_for(const PeerId& peer, const PeerId& person, Source source) const {
    if (m_members.contains(peer)) return true;
    if (m_members.size() >= run::members_max) return false;
    if (source == Source::itself) return true;
    if (!std::binary_search(m_trusted.begin(), m_trusted.end(), person)) return !is_sample();
    const auto competes = [&](const auto& one) { return is_relayed(one.first) && person_of(one.first) == person; };
    return static_cast<std::size_t>(std::count_if(m_members.begin(), m_members.end(), competes)) <
           run::devices_per_person_max;
}

/// The author among those who are not here that goes first: trusted ones go last.
Members::HeardOf::iterator Members::oldest_absent() {
    auto oldest = m_heard.end();
    for (const bool spares_trusted : {true, false}) {
        for (auto it = m_heard.begin(); it != m_heard.end(); ++it) {
            if (m_members.contains(it->first) || (spares_trusted && trusts(it->first))) continue;
            if (oldest == m_heard.end() || it->second.sequence < oldest->second.sequence) oldest = it;
        }
        if (oldest != m_heard.end()) break;
    }
    return oldest;
}

void Members::keep(const PeerId& peer, const run::StatusMessage& status) {
    m_heard[peer] = {status.sequence, status.certificate};
    if (m_heard.size() <= sequences_max) return;
    const auto oldest = oldest_absent();
    if (oldest != m_heard.end()) m_heard.erase(oldest);
}

Verdict Members::take(const PeerId& peer, const run::StatusMessage& status, Source source, TimePoint now,
                      Duration silence) {
    const std::optional<std::uint64_t> known = sequence_of(peer);
    if (known && status.sequence <= *known)
        return status.sequence == *known && source == Source::others ? Verdict::repeated : Verdict::stale;
    if (!has_room_for(peer, status.certificate.person_of(peer), source)) return Verdict::no_room;
    if (!m_members.contains(peer) || certificate_of(peer) != status.certificate) m_is_sample.reset();
    Member& member = m_members[peer];
    const bool speaks_itself =
        member.heard_itself && m_sessions.contains(peer) && now - *member.heard_itself <= silence;
    if (source == Source::others && speaks_itself) return Verdict::repeated;
    member.status = status;
    member.last_seen = now;
    if (source == Source::itself) member.heard_itself = now;
    keep(peer, status);
    return Verdict::accepted;
}

void Members::heard_through(const PeerId& peer, const PeerId& neighbour) {
    Member* member = find(peer);
    if (member == nullptr || peer == neighbour) return;
    if (!member->through || !is_neighbour(*member->through)) member->through = neighbour;
}

Member* Members::find(const PeerId& peer) {
    const auto found = m_members.find(peer);
    return found == m_members.end() ? nullptr : &found->second;
}

std::string Members::team_of(const PeerId& peer) const {
    const auto found = m_members.find(peer);
    if (found != m_members.end() && !found->second.status.team.empty()) return found->second.status.team;
    for (const auto& one : m_members) {
        const std::string& team = one.second.status.team;
        if (!team.empty() && person_of(one.first) == person_of(peer)) return team;
    }
    return {};
}

std::vector<PeerId> Members::heard_through_others() const {
    std::vector<PeerId> ids;
    for (const auto& [peer, member] : m_members) {
        if (!is_neighbour(peer)) ids.push_back(peer);
    }
    return ids;
}

std::vector<PeerId> Members::neighbours() const {
    std::vector<PeerId> ids;
    for (const auto& [peer, member] : m_members) {
        if (is_neighbour(peer)) ids.push_back(peer);
    }
    return ids;
}

std::optional<std::uint64_t> Members::sequence_of(const PeerId& peer) const {
    const auto found = m_heard.find(peer);
    return found == m_heard.end() ? std::nullopt : std::optional(found->second.sequence);
}

bool Members::count(const PeerId& peer, run::MessageKind kind, Verdict verdict, Source source) {
    ++m_verdicts.at(slot_of(kind)).at(static_cast<std::size_t>(verdict));
    // What this member passes on makes others ask: their questions are throttled, and no fault of theirs.
    const bool is_caused_here = kind == run::MessageKind::payload_request;
    const bool is_too_much = verdict == Verdict::flood && source == Source::itself && !is_caused_here;
    const bool offence = verdict == Verdict::malformed || verdict == Verdict::bad_signature || is_too_much ||
                         verdict == Verdict::too_large || verdict == Verdict::absurd;
    const auto found = m_sessions.find(peer);
    if (!offence || found == m_sessions.end()) return false;
    return ++found->second.offences == offences_max;
}

std::vector<std::pair<Verdict, std::uint64_t>> Members::verdicts() const {
    std::vector<std::pair<Verdict, std::uint64_t>> list;
    for (std::size_t verdict = 0; verdict < verdict_kinds; ++verdict) {
        std::uint64_t count = 0;
        for (const auto& of_kind : m_verdicts) count += of_kind[verdict];
        if (count > 0) list.emplace_back(static_cast<Verdict>(verdict), count);
    }
    return list;
}

std::vector<Refusal> Members::refusals() const {
    std::vector<Refusal> list;
    for (std::size_t kind = 0; kind < message_kinds; ++kind) {
        for (std::size_t verdict = 0; verdict < verdict_kinds; ++verdict) {
            const std::uint64_t count = m_verdicts[kind][verdict];
            if (count == 0 || static_cast<Verdict>(verdict) == Verdict::accepted) continue;
            list.push_back({static_cast<run::MessageKind>(kind), static_cast<Verdict>(verdict), count});
        }
    }
    return list;
}

}  // namespace potluck::peer
