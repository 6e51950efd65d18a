// The small record a volunteer must not lose: tokens trained but not yet credited, own contributions whose list is not
// yet known, and those given back lately (a fork may accept them after all). Credited + carried + pending tokens always
// add up to what was trained and snapshotted.
// Threads: a value.
#pragma once

#include <optional>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/ids.h"
#include "core/run/message.h"

namespace potluck::peer {

inline constexpr std::size_t own_contributions_max = 32;

struct ContributionRecord {
    TokenCount carried;
    std::vector<run::ContributionMessage> pending;    // offered, list unknown
    std::vector<run::ContributionMessage> returned;   // refused; movement is back in the error feedback
    bool operator==(const ContributionRecord&) const = default;

    [[nodiscard]] TokenCount pending_tokens() const;
    [[nodiscard]] Bytes encode() const;
    /// Nothing if the bytes are not a record.
    [[nodiscard]] static std::optional<ContributionRecord> decode(ByteSpan bytes);
};

}  // namespace potluck::peer
