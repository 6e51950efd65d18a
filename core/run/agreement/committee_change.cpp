// Every seated or trusted key falls into one class:
//
//   steady     seated, trusted, heard of lately: keeps its seat before anybody gets one
//   candidate  trusted, here, fit, without a seat: the fittest first
//   silent     seated, not heard of for silent_rounds_max rounds: keeps its seat only if no candidate can have it
//   untried    trusted and here, not fit yet: better than a seat that is gone
//   gone       leaving, no longer trusted, or convicted: keeps its seat only while nobody above can have it
//
// Seats are filled in this order. There are as many as today, or more where steady members and candidates fill the next
// size; never fewer. One gone or silent seat of four costs the run nothing, and two cost it time.
#include "core/run/agreement/committee_change.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "core/base/check.h"
#include "core/run/run_rules.h"

namespace potluck::run {

namespace {

Standing standing_of(const std::vector<Standing>& standings, const PeerId& key) {
    const auto found = std::lower_bound(standings.begin(), standings.end(), key,
                                        [](const Standing& one, const PeerId& sought) { return one.key < sought; });
    if (found != standings.end() && found->key == key) return *found;
    return Standing{.key = key, .person = key, .rounds_silent = silent_rounds_max};
}

bool is_trusted(const std::vector<PeerId>& trusted, const PeerId& key) {
    return std::binary_search(trusted.begin(), trusted.end(), key);
}

bool is_fit(const Standing& one, std::uint32_t fit_rounds) {
    return one.rounds_accepted >= fit_rounds && one.in_step >= in_step_fit_min;
}

/// Why a seated key has to go whatever else is true; none if it may stay.
std::optional<Departure> why_gone(const Standing& one, const std::vector<PeerId>& trusted) {
    if (one.convicted) return Departure::convicted;
    if (!is_trusted(trusted, one.key)) return Departure::distrusted;
    if (one.attendance == Attendance::leaving) return Departure::handed_over;
    return std::nullopt;
}

struct Classes {
    std::vector<Standing> steady, candidates, silent, untried, gone;
};

Classes classes_of(const Committee& committee, const CommitteeView& view) {
    Classes classes;
    for (const PeerId& key : committee.members()) {
        const Standing one = standing_of(view.standings, key);
        const bool is_silent = one.rounds_silent >= silent_rounds_max;
        (why_gone(one, view.trusted) ? classes.gone : is_silent ? classes.silent : classes.steady).push_back(one);
    }
    for (const Standing& one : view.standings) {
        const bool is_here = one.attendance == Attendance::here && one.rounds_silent < silent_rounds_max;
        const bool may_sit = is_here && !one.convicted && is_trusted(view.trusted, one.key);
        if (!may_sit || committee.index_of(one.key)) continue;
        (is_fit(one, view.fit_rounds) ? classes.candidates : classes.untried).push_back(one);
    }
    return classes;
}

/// Members that are here before those that are away, then by time in step, then by rounds, then those whose line is
/// fast enough for a seat, then by lot. Of the gone, members that leave come before the distrusted, and these before
/// the convicted.
void sort_by_fitness(std::vector<Standing>& members, const CommitteeView& view) {
    const auto rank = [&](const Standing& one) {
        return std::tuple(one.convicted, !is_trusted(view.trusted, one.key), one.attendance != Attendance::here,
                          ~one.in_step, ~one.rounds_accepted, one.light, lot_of(view.previous, one.key));
    };
    std::sort(members.begin(), members.end(), [&](const Standing& a, const Standing& b) { return rank(a) < rank(b); });
}

/// One device a person.
class Seating {
public:
    explicit Seating(const CommitteeView& view) : m_view(view) {}
    /// The fittest of `more` until there are `size`.
    void add(std::vector<Standing> more, std::size_t size) {
        sort_by_fitness(more, m_view);
        for (const Standing& one : more) {
            const bool has_seat = std::any_of(m_seats.begin(), m_seats.end(),
                                              [&](const Standing& other) { return other.person == one.person; });
            if (!has_seat && m_seats.size() < size) m_seats.push_back(one);
        }
    }
    [[nodiscard]] std::size_t size() const { return m_seats.size(); }
    [[nodiscard]] std::vector<PeerId> keys() const {
        std::vector<PeerId> keys;
        for (const Standing& one : m_seats) keys.push_back(one.key);
        return keys;
    }

private:
    const CommitteeView& m_view;
    std::vector<Standing> m_seats;
};

/// Empty if there is no committee of a size that may be.
std::vector<PeerId> seats_of(const Committee& committee, const CommitteeView& view) {
    const Classes classes = classes_of(committee, view);
    Seating counted_on(view);
    counted_on.add(classes.steady, committee_members_max);
    counted_on.add(classes.candidates, committee_members_max);
    const std::size_t size = std::max(largest_committee(committee.size()), largest_committee(counted_on.size()));
    Seating seating(view);
    for (const auto* members :
         {&classes.steady, &classes.candidates, &classes.silent, &classes.untried, &classes.gone}) {
        seating.add(*members, size);
    }
    return seating.size() == size ? seating.keys() : std::vector<PeerId>{};
}

}  // namespace

std::optional<CommitteeChange> next_committee(const Committee& committee, const CommitteeView& view) {
    POTLUCK_CHECK(std::is_sorted(view.trusted.begin(), view.trusted.end()));
    POTLUCK_CHECK(std::is_sorted(view.standings.begin(), view.standings.end(),
                                 [](const Standing& a, const Standing& b) { return a.key < b.key; }));
    std::vector<PeerId> keys = seats_of(committee, view);
    if (keys.empty()) return std::nullopt;
    CommitteeChange change{*Committee::from_keys(std::move(keys)), {}, {}};
    if (change.committee == committee) return std::nullopt;
    for (const PeerId& key : change.committee.members()) {
        if (!committee.index_of(key)) change.joined.push_back(key);
    }
    for (const PeerId& key : committee.members()) {
        if (change.committee.index_of(key)) continue;
        const Standing one = standing_of(view.standings, key);
        const Departure otherwise = one.rounds_silent >= silent_rounds_max ? Departure::silent : Departure::duplicate;
        change.left.push_back({key, why_gone(one, view.trusted).value_or(otherwise)});
    }
    return change;
}

}  // namespace potluck::run
