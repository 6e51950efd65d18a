#include "core/run/jury/suspended.h"

#include <algorithm>

namespace potluck::run {

namespace {

template <class Persons>
auto place_of(Persons& all, const PeerId& person) {
    return std::lower_bound(all.begin(), all.end(), person,
                            [](const Suspended& one, const PeerId& key) { return one.person < key; });
}

}  // namespace

const Suspended* find_suspended(const SuspendedPersons& all, const PeerId& person) {
    const auto place = place_of(all, person);
    return place != all.end() && place->person == person ? &*place : nullptr;
}

bool is_suspended(const SuspendedPersons& all, const PeerId& person, RoundId round) {
    const Suspended* known = find_suspended(all, person);
    return known != nullptr && round < known->until;
}

bool is_back_on_probation(const SuspendedPersons& all, const PeerId& person, RoundId round, std::uint64_t probation) {
    const Suspended* known = find_suspended(all, person);
    const bool is_back = known != nullptr && known->until.value > 0 && round >= known->until;
    return is_back && round.value - known->until.value < probation;
}

void suspend(SuspendedPersons& all, const PeerId& person, RoundId round) {
    auto place = place_of(all, person);
    if (place == all.end() || place->person != person) place = all.insert(place, {person, {}, 0});
    const bool has_end = place->times < suspended_rounds.size();
    place->until = has_end ? RoundId{round.value + 1 + suspended_rounds.at(place->times)} : until_lifted;
    ++place->times;
    if (all.size() <= suspended_kept_max) return;
    const auto ends_first = [](const Suspended& a, const Suspended& b) { return a.until < b.until; };
    all.erase(std::min_element(all.begin(), all.end(), ends_first));
}

void lift(SuspendedPersons& all, const PeerId& person) {
    const auto place = place_of(all, person);
    if (place != all.end() && place->person == person) place->until = {};
}

RoundId first_void_round(RoundId round, RoundId table) {
    return std::max(table, RoundId{round.value > void_rounds ? round.value - void_rounds : 0});
}

}  // namespace potluck::run
