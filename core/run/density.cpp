#include "core/run/density.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/numerics/outer/step_code.h"

namespace potluck::run {

namespace {

std::uint32_t more(const Recipe& recipe, std::uint32_t k) { return std::min(2 * k, recipe.k_max); }
std::uint32_t less(const Recipe& recipe, std::uint32_t k) { return std::max(k / 2, recipe.k); }

/// What the shortest contribution takes as well, since it is made, announced and asked for. In the short windows of
/// small models this is as long as a tenth of them, whatever a line carries.
constexpr Duration exchange_base{500};

bool is_same_step(std::uint32_t k, std::uint32_t other) {
    return numerics::kept_of_step(k) == numerics::kept_of_step(other);
}

/// What an exchange took beyond that.
struct Taken {
    explicit Taken(const Exchange& exchange)
        : contributions(exchange.contributions() - exchange_base), sum(exchange.sum() - exchange_base) {}
    Duration contributions, sum;
};

/// Whether this much is too much, for contributions or for a sum that fewer values would make shorter.
bool is_over(const Taken& taken, Duration most, std::uint32_t k, std::uint32_t fewer) {
    return taken.contributions > most || (taken.sum > most && !is_same_step(k, fewer));
}

}  // namespace

double bits_per_parameter(std::uint32_t k) {
    const double gap = static_cast<double>(chunk_entries) / k;
    return (2 + std::log2(gap) + 1.5) / gap;
}

double bits_of_step(std::uint32_t k) {
    const std::uint32_t kept = numerics::kept_of_step(k);
    return bits_per_parameter(kept) + 2.0 * kept / chunk_entries;
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

Duration Exchange::contributions() const {
    std::vector<Duration> taken(m_late.size(), Duration::max());
    for (const auto& [payload, at] : m_arrivals) {
        const bool is_here = at && m_closed;
        taken.push_back(is_here ? std::max(Duration(0), *at - *m_closed) : Duration::max());
    }
    return nine_of_ten(std::move(taken));
}

Duration Exchange::sum() const {
    std::vector<Duration> taken;
    for (const auto& [person, at] : m_followers) taken.push_back(at ? *at - m_begun : Duration::max());
    return nine_of_ten(std::move(taken));
}

std::uint32_t next_k(const Recipe& recipe, std::uint32_t k, const Exchange& exchange, std::uint64_t since_fall) {
    if (exchange.empty()) return k;
    const Taken taken(exchange);
    const Duration most = recipe.window / exchange_divisor;
    if (is_over(taken, most, k, less(recipe, k))) return less(recipe, k);
    // Twice as much may take twice as long.
    const Duration of_sum = is_same_step(k, more(recipe, k)) ? most : most / 2;
    const bool has_room = taken.contributions <= most / 2 && taken.sum <= of_sum;
    return has_room && since_fall >= rounds_after_fall ? more(recipe, k) : k;
}

bool bears_out(const Recipe& recipe, std::uint32_t k, std::uint32_t next, const Exchange& exchange,
               std::uint64_t since_fall) {
    if (next > k && since_fall < rounds_after_fall) return false;
    if (next == k || exchange.empty()) return true;
    const Taken taken(exchange);
    const Duration allowed = recipe.window / exchange_divisor;
    if (next < k) return is_over(taken, allowed * 3 / 4, k, next);
    const Duration of_sum = is_same_step(k, next) ? 2 * allowed : allowed;
    return taken.contributions <= allowed && taken.sum <= of_sum;
}

std::uint32_t k_before_max(const Recipe& recipe, std::uint32_t k) {
    return std::min(2 * k + 1, recipe.k_max);  // half of it, rounded down, is k
}

bool k_may_follow(const Recipe& recipe, std::uint32_t k, std::uint32_t next) {
    return next == k || next == more(recipe, k) || next == less(recipe, k);
}

}  // namespace potluck::run
