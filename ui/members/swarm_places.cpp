#include "ui/members/swarm_places.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <tuple>
#include <utility>

namespace potluck::ui {

namespace {

/// FNV-1a, so that a key stands for the same on every computer.
std::uint64_t hashOf(std::string_view key) {
    std::uint64_t hash = 14'695'981'039'346'656'037ULL;
    for (const char character : key) hash = (hash ^ static_cast<unsigned char>(character)) * 1'099'511'628'211ULL;
    return hash;
}

struct Candidate {
    std::string_view key;
    int rank = 0;
    bool is_new = true;
    std::uint64_t hash = 0;

    [[nodiscard]] auto order() const { return std::tie(rank, is_new, hash, key); }
};

/// The first `count` by rank, those who have a place before those of the same rank who have none; no key twice.
std::vector<Candidate> chosen(const SwarmPlaces& before, const std::vector<SwarmGuest>& guests, int rings) {
    const auto count = static_cast<std::size_t>(placesIn(rings));
    std::vector<Candidate> all;
    all.reserve(guests.size());
    for (const SwarmGuest& guest : guests) {
        const auto found = before.find(guest.key);
        const bool is_new = found == before.end() || found->second < 0 || found->second >= placesIn(rings);
        all.push_back({guest.key, guest.rank, is_new, hashOf(guest.key)});
    }
    const auto first = [](const Candidate& a, const Candidate& b) { return a.order() < b.order(); };
    // Twice as many leave room for keys that come twice.
    const auto sorted = all.begin() + static_cast<std::ptrdiff_t>(std::min(all.size(), 2 * count));
    std::partial_sort(all.begin(), sorted, all.end(), first);
    all.erase(sorted, all.end());
    const auto same = [](const Candidate& a, const Candidate& b) { return a.key == b.key; };
    all.erase(std::unique(all.begin(), all.end(), same), all.end());
    if (all.size() > count) all.resize(count);
    return all;
}

int ringsFor(std::size_t members) {
    int rings = 1;
    while (static_cast<std::size_t>(placesIn(rings)) < members) ++rings;
    return rings;
}

using Taken = std::array<bool, placesIn(swarm_rings_max)>;

/// How far the nearest taken place of the ring is; as far as can be if none is.
int gapAt(const Taken& taken, int ring, int index) {
    const int first = placesIn(ring - 1), count = 8 * ring;
    int gap = 0;
    for (; gap <= count / 2; ++gap) {
        const bool left = taken[static_cast<std::size_t>(first + (index + count - gap) % count)];
        if (left || taken[static_cast<std::size_t>(first + (index + gap) % count)]) break;
    }
    return gap;
}

int placeFor(const Taken& taken, std::uint64_t hash, int rings) {
    for (int ring = 1; ring <= rings; ++ring) {
        const int count = 8 * ring;
        int best = -1, best_gap = 0;
        for (int step = 0; step < count; ++step) {
            const int index =
                static_cast<int>((hash + static_cast<std::uint64_t>(step)) % static_cast<unsigned>(count));
            const int gap = gapAt(taken, ring, index);
            if (gap <= best_gap) continue;
            best = index;
            best_gap = gap;
        }
        if (best >= 0) return placesIn(ring - 1) + best;
    }
    return -1;
}

}  // namespace

int ringOf(int place) {
    int ring = 1;
    while (placesIn(ring) <= place) ++ring;
    return ring;
}

SwarmPlaces arrange(const SwarmPlaces& before, std::vector<SwarmGuest> guests, int rings) {
    rings = std::clamp(rings, 1, swarm_rings_max);
    const std::vector<Candidate> members = chosen(before, guests, rings);
    SwarmPlaces places;
    Taken taken{};
    for (const Candidate& member : members) {
        if (member.is_new) continue;
        const int place = before.find(member.key)->second;
        if (std::exchange(taken[static_cast<std::size_t>(place)], true)) continue;
        places.emplace(member.key, place);
    }
    if (ringsOf(places) > ringsFor(members.size()) + 1) {
        places.clear();
        taken.fill(false);
    }
    for (const Candidate& member : members) {
        if (places.contains(member.key)) continue;
        const int place = placeFor(taken, member.hash, rings);
        if (place < 0) break;
        taken[static_cast<std::size_t>(place)] = true;
        places.emplace(member.key, place);
    }
    return places;
}

int ringsOf(const SwarmPlaces& places) {
    int outermost = 0;
    for (const auto& [key, place] : places) outermost = std::max(outermost, place);
    return ringOf(outermost);
}

QPointF pointOf(int place, int rings) {
    const int ring = ringOf(place), count = 8 * ring;
    // Every second ring is turned by half a place: lines to it pass between those who stand further in.
    const double turn = place - placesIn(ring - 1) + (ring % 2 == 0 ? 0.5 : 0.0);
    const double angle = 2 * std::numbers::pi * turn / count - std::numbers::pi / 2;
    const double radius = static_cast<double>(ring) / std::max(ring, rings);
    return {radius * std::cos(angle), radius * std::sin(angle)};
}

}  // namespace potluck::ui
