// Which steps a light member audits: so many that audits cost it a twentieth of what steps do, by a lot that nobody
// else can draw. Ed25519 signs the same bytes alike, and what it signs here is sent to nobody, so that the lot of a
// list is as good as random to all others and the same after a restart.
//
// With M light members, each of which audits with odds p, a lie stays hidden for R rounds with probability
// (1 - p)^(M R). An audit costs payloads / step times what a step does, so p falls as the list grows, by as much as M
// grows with it: about 0.05 * step / payload audits a round, whatever the number of members.
// Does not: fetch or compute. Threads: functions of values.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/base/sha256.h"
#include "core/identity/identity.h"

namespace potluck::peer {

inline constexpr double audit_share = 0.05;           // of the bytes of steps
inline constexpr double audit_odds_max = 0.25;        // where payloads are hardly longer than their step
inline constexpr std::uint64_t audit_rounds_max = 4;  // after which payloads are released here
inline constexpr std::string_view audit_domain = "potluck/audit/1";

/// How likely a light member audits a step of so many bytes, whose payloads have `payload_bytes` together.
[[nodiscard]] inline double audit_odds(std::uint64_t step_bytes, std::uint64_t payload_bytes) {
    if (payload_bytes == 0) return 0;
    return std::min(audit_odds_max, audit_share * static_cast<double>(step_bytes) / static_cast<double>(payload_bytes));
}

/// From 0 to below 1: what `member` draws for the list of this hash. It audits if that is less than its odds.
[[nodiscard]] inline double audit_lot(const identity::Identity& member, const Digest& list) {
    const Digest drawn = sha256(member.sign(audit_domain, list.bytes));
    double lot = 0;
    for (std::size_t i = 0; i < 6; ++i) lot = (lot + std::to_integer<int>(drawn.bytes[i])) / 256;
    return lot;
}

}  // namespace potluck::peer
