#include "app/node/member/validation.h"

#include <chrono>
#include <utility>

namespace potluck::node {

namespace {

constexpr Duration after_cancel{2'000};
constexpr Duration after_failure{3'600'000};
/// A forward pass is at least this much faster than a training step on as many tokens (Kaplan et al. 2020, 2.1: a third
/// of the arithmetic); less is assumed, because the second copy of the weights has to be read.
constexpr double forward_speedup = 2;

}  // namespace

Validation::Validation(const run::Manifest& manifest)
    : m_records(manifest.recipe.measuring.every > 0 ? manifest.records_measured() : 0),
      m_tokens(manifest.tokens_measured()),
      m_window_seconds(std::chrono::duration<double>(manifest.recipe.window).count()),
      m_is_small(manifest.validation.blob.size <= shard_bytes_max) {}

bool Validation::may_begin(TimePoint now, double speed, bool is_last) const {
    m_owner.check();
    if (m_records == 0 || m_begun || now < m_next || speed <= 0) return false;
    if (now < m_affordable && !is_last) return false;
    const double patience = is_last ? static_cast<double>(run::last_losses_seconds) : 0;
    const double seconds = share_of_window_max * m_window_seconds + patience;
    return static_cast<double>(m_tokens) <= seconds * speed * forward_speedup;
}

void Validation::begun(TimePoint now) {
    m_owner.check();
    m_begun = now;
}

void Validation::measured(TimePoint now) {
    m_owner.check();
    if (!m_begun) return;
    const std::chrono::duration<double, std::milli> cost = now - *std::exchange(m_begun, std::nullopt);
    if (!std::exchange(m_has_measured, true)) return;
    m_affordable = now + Duration{static_cast<std::int64_t>(cost.count() / share_of_time_max)};
}

void Validation::cancelled(TimePoint now) {
    m_owner.check();
    m_begun.reset();
    m_next = now + after_cancel;
}

void Validation::failed(TimePoint now) {
    m_owner.check();
    m_begun.reset();
    m_next = now + after_failure;
}

}  // namespace potluck::node
