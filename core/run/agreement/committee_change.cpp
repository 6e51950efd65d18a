// Every seated or trusted key falls into one class, and seats are filled from the best class down:
//
//   steady     seated, trusted, heard of lately: keeps its seat before anybody gets one
//   candidate  trusted, here, fit, without a seat: the fittest first
//   silent     seated, not heard of for silent_rounds_max rounds: keeps its seat only if nobody else can have it
//   gone       convicted, no longer trusted, or leaving: never
//
// steady + candidates is what the committee can count on. It takes the largest size that this fills. Where that is less
// than today's, today's size is kept, with silent members, as long as one of those it counts on may still be lost.
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

/// Who is here before who is away, then by time in step, then by rounds.
bool fitter(const Standing& a, const Standing& b) {
    const auto rank = [](const Standing& one) {
        return std::tuple(one.attendance == Attendance::here, one.in_step, one.rounds_accepted);
    };
    return rank(a) != rank(b) ? rank(a) > rank(b) : a.key < b.key;
}

/// Why a seated key has to go whatever else is true; none if it may stay.
std::optional<Departure> why_gone(const Standing& one, const std::vector<PeerId>& trusted) {
    if (one.convicted) return Departure::convicted;
    if (!is_trusted(trusted, one.key)) return Departure::distrusted;
    if (one.attendance == Attendance::leaving) return Departure::handed_over;
    return std::nullopt;
}

/// Adds the fittest of `more` until `seats` has `size`, one device a person.
void seat_fittest(std::vector<Standing>& seats, std::vector<Standing> more, std::size_t size) {
    std::sort(more.begin(), more.end(), fitter);
    for (const Standing& one : more) {
        const bool has_seat =
            std::any_of(seats.begin(), seats.end(), [&](const Standing& other) { return other.person == one.person; });
        if (!has_seat && seats.size() < size) seats.push_back(one);
    }
}

struct Classes {
    std::vector<Standing> steady, silent, candidates;
};

Classes classes_of(const Committee& committee, const std::vector<PeerId>& trusted,
                   const std::vector<Standing>& standings, std::uint32_t fit_rounds) {
    Classes classes;
    for (const PeerId& key : committee.members()) {
        const Standing one = standing_of(standings, key);
        if (why_gone(one, trusted)) continue;
        (one.rounds_silent >= silent_rounds_max ? classes.silent : classes.steady).push_back(one);
    }
    std::vector<Standing> untried;
    for (const Standing& one : standings) {
        const bool is_here = one.attendance == Attendance::here && one.rounds_silent < silent_rounds_max;
        const bool may_sit = is_here && !one.convicted && is_trusted(trusted, one.key);
        if (!may_sit || committee.index_of(one.key)) continue;
        (is_fit(one, fit_rounds) ? classes.candidates : untried).push_back(one);
    }
    // The last seat goes to an untried member rather than to none: all of them are trusted.
    if (classes.steady.empty() && classes.candidates.empty()) seat_fittest(classes.candidates, untried, 1);
    return classes;
}

std::vector<Standing> seats_of(const Committee& committee, const Classes& classes) {
    std::vector<Standing> seats;
    seat_fittest(seats, classes.steady, committee_members_max);
    seat_fittest(seats, classes.candidates, committee_members_max);
    const std::size_t counted_on = seats.size();
    std::size_t size = largest_committee(counted_on);
    if (size < committee.size() && counted_on > committee.quorum()) {
        std::vector<Standing> with_silent = seats;
        seat_fittest(with_silent, classes.silent, committee.size());
        if (with_silent.size() >= committee.size()) {
            seats = std::move(with_silent);
            size = committee.size();
        }
    }
    seats.resize(std::min(seats.size(), size));
    return seats;
}

}  // namespace

std::optional<CommitteeChange> next_committee(const Committee& committee, const std::vector<PeerId>& trusted,
                                              const std::vector<Standing>& standings, std::uint32_t fit_rounds) {
    POTLUCK_CHECK(std::is_sorted(trusted.begin(), trusted.end()));
    POTLUCK_CHECK(std::is_sorted(standings.begin(), standings.end(),
                                 [](const Standing& a, const Standing& b) { return a.key < b.key; }));
    std::vector<PeerId> keys;
    const Classes classes = classes_of(committee, trusted, standings, fit_rounds);
    for (const Standing& one : seats_of(committee, classes)) keys.push_back(one.key);
    if (keys.empty()) return std::nullopt;  // nobody to hand over to: the seats stay, and the run waits
    CommitteeChange change{*Committee::from_keys(std::move(keys)), {}, {}};
    if (change.committee == committee) return std::nullopt;
    for (const PeerId& key : change.committee.members()) {
        if (!committee.index_of(key)) change.joined.push_back(key);
    }
    for (const PeerId& key : committee.members()) {
        if (change.committee.index_of(key)) continue;
        const Standing one = standing_of(standings, key);
        const bool is_silent = one.rounds_silent >= silent_rounds_max;
        change.left.push_back(
            {key, why_gone(one, trusted).value_or(is_silent ? Departure::silent : Departure::shrunk)});
    }
    return change;
}

}  // namespace potluck::run
