#include "core/run/density.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace potluck::run {

namespace {

std::uint32_t more(const Recipe& recipe, std::uint32_t k) { return std::min(2 * k, recipe.k_max); }
std::uint32_t less(const Recipe& recipe, std::uint32_t k) { return std::max(k / 2, recipe.k); }

}  // namespace

double bits_per_parameter(std::uint32_t k) {
    const double gap = static_cast<double>(chunk_entries) / k;
    return (2 + std::log2(gap) + 1.5) / gap;
}

Duration nine_of_ten(std::vector<Duration> times) {
    if (times.empty()) return Duration(0);
    std::sort(times.begin(), times.end());
    return times[(9 * times.size() + 9) / 10 - 1];
}

void Exchange::begin(TimePoint now) {
    m_begun = now;
    m_followers.clear();
    m_closed.reset();
    m_arrivals.clear();
    m_announced.clear();
    m_late.clear();
}

void Exchange::followed(const PeerId& person, TimePoint now) {
    const auto found = m_followers.find(person);
    if (found != m_followers.end() && !found->second) found->second = now;
}

void Exchange::closed(TimePoint now) {
    if (!m_closed) m_closed = now;
}

void Exchange::announced(const PeerId& person, const BlobId& payload) {
    if (m_announced.try_emplace(person, payload).first->second != payload) return;
    m_arrivals.try_emplace(payload);
    m_late.erase(person);
}

void Exchange::arrived(const BlobId& payload, TimePoint now) {
    const auto found = m_arrivals.find(payload);
    if (found != m_arrivals.end() && !found->second) found->second = now;
}

Duration Exchange::duration() const {
    std::vector<Duration> taken(m_late.size(), Duration::max());
    for (const auto& [payload, at] : m_arrivals) {
        const bool is_here = at && m_closed;
        taken.push_back(is_here ? std::max(Duration(0), *at - *m_closed) : Duration::max());
    }
    std::vector<Duration> sums;
    for (const auto& [person, at] : m_followers) sums.push_back(at ? *at - m_begun : Duration::max());
    return std::max(nine_of_ten(std::move(taken)), nine_of_ten(std::move(sums)));
}

std::uint32_t next_k(const Recipe& recipe, std::uint32_t k, const Exchange& exchange, std::uint64_t since_fall) {
    if (exchange.empty()) return k;
    const Duration most = recipe.window / exchange_divisor;
    const Duration taken = exchange.duration();
    if (taken > most) return less(recipe, k);
    // Twice as much may take twice as long.
    return taken <= most / 2 && since_fall >= rounds_after_fall ? more(recipe, k) : k;
}

bool bears_out(const Recipe& recipe, std::uint32_t k, std::uint32_t next, const Exchange& exchange,
               std::uint64_t since_fall) {
    if (next > k && since_fall < rounds_after_fall) return false;
    if (next == k || exchange.empty()) return true;
    const Duration allowed = recipe.window / exchange_divisor;
    const Duration taken = exchange.duration();
    return next < k ? taken > allowed * 3 / 4 : taken <= allowed;
}

std::uint32_t k_before_max(const Recipe& recipe, std::uint32_t k) {
    return std::min(2 * k + 1, recipe.k_max);  // half of it, rounded down, is k
}

bool k_may_follow(const Recipe& recipe, std::uint32_t k, std::uint32_t next) {
    return next == k || next == more(recipe, k) || next == less(recipe, k);
}

}  // namespace potluck::run
