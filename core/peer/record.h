// The small record a volunteer must not lose: tokens trained but not yet accepted, and own contributions whose list is
// not yet known. Accepted + carried + pending tokens always add up to what was trained and snapshotted.
// Threads: a value.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/ids.h"
#include "core/run/message.h"

namespace potluck::peer {

/// Own contributions whose list is not known.
inline constexpr std::size_t own_contributions_max = 32;
/// Updates that wait for their payload: contributions may come back in bursts, their payloads one by one.
inline constexpr std::size_t deferred_updates_max = 4 * own_contributions_max;

/// error feedback += scale * payload, not done yet.
struct DeferredUpdate {
    run::BlobRef payload;
    std::int16_t scale = 0;
    bool operator==(const DeferredUpdate&) const = default;
};

struct ContributionRecord {
    TokenCount carried;
    std::vector<run::ContributionMessage> pending;  // offered, list unknown
    std::vector<DeferredUpdate> deferred{};         // one for each payload
    bool operator==(const ContributionRecord&) const = default;

    [[nodiscard]] TokenCount pending_tokens() const;
    [[nodiscard]] Bytes encode() const;
    /// Nothing if the bytes are not a record.
    [[nodiscard]] static std::optional<ContributionRecord> decode(ByteSpan bytes);
};

}  // namespace potluck::peer
