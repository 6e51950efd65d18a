// What members see of each other differs by a round or a heartbeat, and what a proposer wants must be what the others
// want as well, or a view is lost. So standings come in coarse steps, and a voter counts half the silence that a
// proposer does.
//
// Threads: the peer's.
#include "core/peer/chain/seats.h"

#include <algorithm>
#include <iterator>

namespace potluck::peer {

namespace {

bool contains(const std::vector<PeerId>& sorted, const PeerId& key) {
    return std::binary_search(sorted.begin(), sorted.end(), key);
}

}  // namespace

Seats::Seats(const Context& context, const ChainLog& chain, const Members& members)
    : m_context(context), m_chain(chain), m_members(members) {}

/// A seat's certificate stands in the list that gave it the seat; the others are told by statuses.
run::DeviceCertificate Seats::certificate_of(const PeerId& key) const {
    if (key == m_context.self()) return m_context.certificate;
    const run::Owners seated = m_chain.committee_owners();
    const auto found = seated.find(key);
    return found == seated.end() ? m_members.certificate_of(key) : found->second;
}

run::Owners Seats::owners_of(const std::vector<PeerId>& committee) const {
    run::Owners owners;
    for (const PeerId& key : committee) {
        const run::DeviceCertificate certificate = certificate_of(key);
        if (!certificate.is_own()) owners.emplace(key, certificate);
    }
    return owners;
}

PeerId Seats::device_of(const PeerId& key) const {
    if (is_here(key)) return key;
    if (m_context.self_person() == key) return m_context.self();
    const auto& members = m_members.all();
    const auto found = std::find_if(members.begin(), members.end(),
                                    [&](const auto& one) { return m_members.person_of(one.first) == key; });
    return found == members.end() ? key : found->first;
}

bool Seats::is_convicted(const PeerId& key) const {
    const PeerId person = person_of(key);
    return std::any_of(m_convicted.begin(), m_convicted.end(),
                       [&](const auto& one) { return one.first == key || one.second == person; });
}

std::vector<PeerId> Seats::trusted_devices() const {
    std::vector<PeerId> keys = m_chain.rules().trusted();
    const auto add = [&](const PeerId& key) {
        if (is_trusted(key)) keys.push_back(key);
    };
    add(m_context.self());
    for (const PeerId& key : m_chain.committee()) add(key);
    for (const auto& [key, member] : m_members.all()) add(key);
    for (const auto& [key, attended] : m_attended) {
        if (attended.rounds_silent < run::silent_rounds_max) add(key);
    }
    std::sort(keys.begin(), keys.end());
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    return keys;
}

bool Seats::is_here(const PeerId& key) const { return key == m_context.self() || m_members.all().contains(key); }

const run::StatusMessage* Seats::status_of(const PeerId& key) const {
    const auto found = m_members.all().find(key);
    return found == m_members.all().end() ? nullptr : &found->second.status;
}

bool Seats::is_leaving(const PeerId& key) const {
    if (key == m_context.self()) return m_leaving;
    const run::StatusMessage* status = status_of(key);
    return status != nullptr && status->phase == run::Phase::leaving;
}

/// At the round that the newest list led to, or still at the one before.
bool Seats::is_in_step(const PeerId& key) const {
    if (key == m_context.self()) return true;
    const run::StatusMessage* status = status_of(key);
    return status != nullptr && peer::is_in_step(*status, m_chain.height());
}

void Seats::count_round() {
    const std::size_t rounds_kept = m_context.manifest.recipe.fit_rounds;
    const std::vector<PeerId> counted = trusted_devices();
    std::erase_if(m_attended, [&](const auto& one) { return !contains(counted, one.first); });
    for (const PeerId& key : counted) {
        // Who has gone has to prove itself anew, or one key could hand its seat over round after round.
        if (is_leaving(key)) m_attended.erase(key);
        Attended& attended = m_attended[key];
        // Who votes is in step, also where its statuses do not arrive.
        const bool votes = m_heard.contains(key) && !is_leaving(key);
        attended.in_step.push_back(votes || is_in_step(key));
        if (attended.in_step.size() > rounds_kept) attended.in_step.pop_front();
        attended.rounds_silent = votes || is_here(key) ? 0 : attended.rounds_silent + 1;
    }
    m_heard.clear();
}

run::Standing Seats::standing_of(const PeerId& key) const {
    run::Standing standing{.key = key, .person = person_of(key)};
    if (is_here(key)) standing.attendance = is_leaving(key) ? run::Attendance::leaving : run::Attendance::here;
    standing.convicted = is_convicted(key);
    standing.rounds_silent = is_here(key) ? 0 : run::silent_rounds_max;
    const auto found = m_attended.find(key);
    if (found == m_attended.end()) return standing;
    const Attended& attended = found->second;
    const std::uint32_t fit_rounds = m_context.manifest.recipe.fit_rounds;
    const std::size_t rounds = attended.in_step.size();
    const auto missed = static_cast<std::size_t>(std::count(attended.in_step.begin(), attended.in_step.end(), false));
    const bool is_steady = 1000 * missed <= (1000 - run::in_step_fit_min) * rounds;
    const bool is_tried = is_steady && rounds >= fit_rounds;
    // In steps so coarse that members who saw one round more or less of each other still choose the same.
    standing.in_step = is_tried ? 1000 : is_steady ? run::in_step_fit_min - 1 : 0;
    standing.rounds_silent = attended.rounds_silent;
    const run::StatusMessage* status = status_of(key);
    standing.light = status != nullptr && status->light;
    const run::Role role = key == m_context.self() ? m_context.settings.role
                           : status == nullptr     ? run::Role::volunteer
                                                   : status->role;
    const bool trains = role == run::Role::volunteer;
    // A backbone trains nothing; what it can be measured by is that it is there.
    const std::uint64_t accepted = trains ? m_chain.rounds_accepted(standing.person) : is_tried ? fit_rounds : 0;
    standing.rounds_accepted = static_cast<std::uint32_t>(std::min<std::uint64_t>(accepted, fit_rounds));
    return standing;
}

std::vector<PeerId> Seats::committee_to_propose() const {
    // Who has counted no round knows nobody's silence.
    const std::vector<PeerId> present = m_chain.committee();
    if (m_attended.empty() && !is_any_leaving()) return present;
    const Result<run::Committee> committee = run::Committee::from_keys(present);
    if (!committee.ok()) return present;
    const std::vector<PeerId> trusted = trusted_devices();
    std::vector<run::Standing> standings;
    for (const PeerId& key : trusted) standings.push_back(standing_of(key));
    const auto change = run::next_committee(*committee, {.trusted = trusted,
                                                         .standings = standings,
                                                         .fit_rounds = m_context.manifest.recipe.fit_rounds,
                                                         .previous = m_chain.hash_before(m_chain.height())});
    return change ? change->committee.members() : present;
}

std::vector<PeerId> Seats::committee_without_self() const {
    Seats gone = *this;
    gone.leave();
    std::vector<PeerId> next = gone.committee_to_propose();
    std::erase(next, m_context.self());
    return next;
}

bool Seats::may_lose_its_seat(const PeerId& key) const {
    if (is_convicted(key) || !is_trusted(key) || is_leaving(key)) return true;
    const auto found = m_attended.find(key);
    return !is_here(key) && found != m_attended.end() && found->second.rounds_silent >= silent_rounds_excused;
}

bool Seats::accepts(const std::vector<PeerId>& next) const {
    const std::vector<PeerId> present = m_chain.committee();
    if (next == present) return true;
    // It never shrinks, however many are away: a smaller committee stands fewer liars, and is the host's to name.
    if (!run::is_committee_size(next.size()) || next.size() < present.size()) return false;
    std::vector<PeerId> joined, left;
    std::set_difference(next.begin(), next.end(), present.begin(), present.end(), std::back_inserter(joined));
    std::set_difference(present.begin(), present.end(), next.begin(), next.end(), std::back_inserter(left));
    const bool are_fit = std::all_of(joined.begin(), joined.end(), [&](const PeerId& key) {
        return is_trusted(key) && is_here(key) && !is_leaving(key) && !is_convicted(key);
    });
    const auto excused = [&](const PeerId& key) { return may_lose_its_seat(key); };
    return are_fit && std::all_of(left.begin(), left.end(), excused);
}

bool Seats::hands_over(const std::vector<PeerId>& next) const {
    const std::vector<PeerId> present = m_chain.committee();
    return std::any_of(present.begin(), present.end(),
                       [&](const PeerId& key) { return is_leaving(key) && !contains(next, key); });
}

bool Seats::is_any_leaving() const {
    const std::vector<PeerId> present = m_chain.committee();
    return std::any_of(present.begin(), present.end(), [&](const PeerId& key) { return is_leaving(key); });
}

bool Seats::hand_over_due() const { return is_any_leaving() && hands_over(committee_to_propose()); }

void Seats::leave() {
    m_leaving = true;
    m_had_seat = m_had_seat || contains(m_chain.committee(), m_context.self());
}

void Seats::stay() { m_leaving = m_had_seat = false; }

bool Seats::may_go() const {
    if (!m_had_seat) return true;
    const std::vector<PeerId> seated = m_chain.committee();
    if (contains(seated, m_context.self())) return committee_to_propose() == seated;
    const auto knows = [&](const PeerId& key) {
        const run::StatusMessage* status = status_of(key);
        return status != nullptr && status->round >= m_chain.height();
    };
    const auto informed = static_cast<std::size_t>(std::count_if(seated.begin(), seated.end(), knows));
    return informed >= run::Committee::from_keys(seated)->quorum();
}

std::size_t Seats::seated_here() const {
    const std::vector<PeerId> committee = m_chain.committee();
    return static_cast<std::size_t>(
        std::count_if(committee.begin(), committee.end(), [&](const PeerId& key) { return is_here(key); }));
}

}  // namespace potluck::peer
