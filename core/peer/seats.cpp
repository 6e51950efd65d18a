#include "core/peer/seats.h"

#include <algorithm>
#include <iterator>

namespace potluck::peer {

namespace {

bool contains(const std::vector<PeerId>& sorted, const PeerId& key) {
    return std::binary_search(sorted.begin(), sorted.end(), key);
}

/// The sizes that stand 0, 1 and 2 liars.
bool is_committee_size(std::size_t size) { return size == 1 || size == 4 || size == 7; }

}  // namespace

Seats::Seats(const Context& context, const ChainLog& chain, const Members& members)
    : m_context(context), m_chain(chain), m_members(members), m_trusted(context.rules.trusted()) {}

bool Seats::is_here(const PeerId& key) const { return key == m_context.self() || m_members.all().contains(key); }

/// At the round that the newest list led to, or still at the one before.
bool Seats::is_in_step(const PeerId& key) const {
    if (key == m_context.self()) return true;
    const auto found = m_members.all().find(key);
    if (found == m_members.all().end()) return false;
    const run::StatusMessage& status = found->second.status;
    const bool takes_part = status.phase != run::Phase::joining && status.phase != run::Phase::repairing;
    return takes_part && status.round.next() >= m_chain.height();
}

void Seats::count_round() {
    const std::size_t rounds_kept = m_context.manifest.recipe.fit_rounds;
    for (const PeerId& key : m_trusted) {
        Attended& attended = m_attended[key];
        attended.in_step.push_back(is_in_step(key));
        if (attended.in_step.size() > rounds_kept) attended.in_step.pop_front();
        attended.rounds_silent = is_here(key) ? 0 : attended.rounds_silent + 1;
    }
}

run::Standing Seats::standing_of(const PeerId& key) const {
    run::Standing standing{.key = key, .person = key};
    standing.attendance = is_here(key) ? run::Attendance::here : run::Attendance::away;
    standing.convicted = m_convicted.contains(key);
    standing.rounds_silent = run::silent_rounds_max;
    const auto found = m_attended.find(key);
    if (found == m_attended.end()) return standing;
    const Attended& attended = found->second;
    const auto rounds = static_cast<std::uint32_t>(std::count(attended.in_step.begin(), attended.in_step.end(), true));
    standing.in_step = 1000 * rounds / m_context.manifest.recipe.fit_rounds;
    standing.rounds_silent = attended.rounds_silent;
    const auto member = m_members.all().find(key);
    const bool trains = member == m_members.all().end() || member->second.status.role == run::Role::volunteer;
    // A backbone trains nothing; what it can be measured by is that it is there.
    const std::uint64_t accepted = trains ? m_chain.rounds_accepted(key) : rounds;
    standing.rounds_accepted = static_cast<std::uint32_t>(std::min<std::uint64_t>(accepted, UINT32_MAX));
    return standing;
}

std::vector<PeerId> Seats::committee_to_propose() const {
    const std::vector<PeerId> present = m_chain.committee();
    const Result<run::Committee> committee = run::Committee::from_keys(present);
    if (!committee.ok()) return present;
    std::vector<run::Standing> standings;
    for (const PeerId& key : m_trusted) standings.push_back(standing_of(key));
    const auto change = run::next_committee(*committee, m_trusted, standings, m_context.manifest.recipe.fit_rounds);
    return change ? change->committee.members() : present;
}

bool Seats::may_lose_its_seat(const PeerId& key) const {
    if (m_convicted.contains(key) || !contains(m_trusted, key)) return true;
    const auto found = m_attended.find(key);
    return !is_here(key) && found != m_attended.end() && found->second.rounds_silent >= silent_rounds_excused;
}

bool Seats::accepts(const std::vector<PeerId>& next) const {
    const std::vector<PeerId> present = m_chain.committee();
    if (next == present) return true;
    if (!is_committee_size(next.size())) return false;
    std::vector<PeerId> joined, left;
    std::set_difference(next.begin(), next.end(), present.begin(), present.end(), std::back_inserter(joined));
    std::set_difference(present.begin(), present.end(), next.begin(), next.end(), std::back_inserter(left));
    const bool are_fit = std::all_of(joined.begin(), joined.end(), [&](const PeerId& key) {
        return contains(m_trusted, key) && is_here(key) && !m_convicted.contains(key);
    });
    const auto excused = [&](const PeerId& key) { return may_lose_its_seat(key); };
    // A smaller committee has fewer seats than members that are here; one of them has to be gone for that.
    const bool may_leave = next.size() < present.size() ? std::any_of(left.begin(), left.end(), excused)
                                                        : std::all_of(left.begin(), left.end(), excused);
    return are_fit && may_leave;
}

std::size_t Seats::seated_here() const {
    const std::vector<PeerId> committee = m_chain.committee();
    return static_cast<std::size_t>(
        std::count_if(committee.begin(), committee.end(), [&](const PeerId& key) { return is_here(key); }));
}

}  // namespace potluck::peer
