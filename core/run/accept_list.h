// The accept list L[r]: which contributions make theta[r+1]. Signed by the round's leader, chained by hash, the same
// bytes on every computer; the ledger keeps them for ever and credit is counted from nothing else.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/run/blob_ref.h"

namespace potluck::run {

inline constexpr std::size_t accepted_max = 4096;
inline constexpr std::uint64_t tokens_max = 1ULL << 40U;  // of one contribution
inline constexpr std::uint64_t round_max = 1ULL << 40U;   // of any message; far beyond any recipe, so r + 1 is safe
/// Sizes of encode() with one entry and with accepted_max.
inline constexpr std::size_t accept_list_bytes_min = 142 + 113;
inline constexpr std::size_t accept_list_bytes_max = 142 + 113 * accepted_max;
/// Domain under which a leader signs encode().
inline constexpr std::string_view accept_list_domain = "accept-list";

struct Accepted {
    PeerId peer;
    BlobRef payload;    // plain
    TokenCount tokens;  // trained for it, the weight in F; 1..2^40
    auto operator<=>(const Accepted&) const = default;
};

struct AcceptList {
    RunId run;
    RoundId round;
    std::uint32_t view = 0;  // how many leaders were passed over before this one
    PeerId leader;
    Digest previous;                // hash of L[r-1]; zero for round 0
    StateDigest base;               // digest of theta[r]
    std::vector<Accepted> entries;  // sorted by peer, no peer twice, at least one
    bool operator==(const AcceptList&) const = default;

    /// The canonical bytes that are signed and hashed (docs/wire-format.md).
    [[nodiscard]] Bytes encode() const;
    /// Strict: sorted, unique, bounded, nothing left over.
    [[nodiscard]] static Result<AcceptList> decode(ByteSpan bytes);
    /// SHA-256 of encode(): the list's place in the chain.
    [[nodiscard]] Digest hash() const;
};

/// Keys that may lead round r, best first: the manifest's backbones, then the contributors of L[r-1] ordered by
/// SHA-256(round, key), then the host. `previous` is null for round 0. A list of view v must be signed by entry
/// v of this order; for v at or past its end, by any member.
[[nodiscard]] std::vector<PeerId> leader_order(const std::vector<PeerId>& backbones, const PeerId& host, RoundId round,
                                               const AcceptList* previous);

}  // namespace potluck::run
