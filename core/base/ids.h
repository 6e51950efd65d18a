// Ids and counts as types of their own, so that a round never passes for a token count and a blob's id never for a
// person's. All 32-byte ids print as 64 hexadecimal digits and sort by their bytes.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/bytes.h"

namespace potluck {

template <class Tag>
struct Id32 {
    std::array<std::byte, 32> bytes{};

    [[nodiscard]] std::string hex() const { return to_hex(bytes); }
    /// First eight hexadecimal digits: enough for a log line, never for a decision.
    [[nodiscard]] std::string brief() const { return hex().substr(0, 8); }
    [[nodiscard]] static std::optional<Id32> parse(std::string_view text) {
        Id32 id;
        if (!from_hex(text, id.bytes)) return std::nullopt;
        return id;
    }
    [[nodiscard]] bool is_zero() const { return *this == Id32{}; }
    auto operator<=>(const Id32&) const = default;
};

using Digest = Id32<struct DigestTag>;  // SHA-256 of something
using PeerId = Id32<struct PeerTag>;    // Ed25519 public key of a person's computer
using RunId = Id32<struct RunTag>;      // BitTorrent v2 info-hash of the run's manifest
using BlobId = Id32<struct BlobTag>;    // BitTorrent v2 Merkle root of a file
/// Digest of a state: the Merkle root of its state file, hence also the BlobId of a checkpoint of it.
using StateDigest = BlobId;

template <class Tag>
struct Count {
    std::uint64_t value = 0;
    auto operator<=>(const Count&) const = default;
    Count& operator+=(Count other) {
        value += other.value;
        return *this;
    }
    friend Count operator+(Count a, Count b) { return {a.value + b.value}; }
    friend Count operator-(Count a, Count b) { return {a.value - b.value}; }
};

using TokenCount = Count<struct TokenTag>;
using ByteCount = Count<struct ByteTag>;

/// Index of a round. State theta[r] is the base of round r; applying the accept list L[r] yields theta[r+1].
struct RoundId {
    std::uint64_t value = 0;
    auto operator<=>(const RoundId&) const = default;
    [[nodiscard]] RoundId next() const { return {value + 1}; }
};

}  // namespace potluck

template <class Tag>
struct std::hash<potluck::Id32<Tag>> {
    std::size_t operator()(const potluck::Id32<Tag>& id) const noexcept {
        std::size_t value = 0;
        std::memcpy(&value, id.bytes.data(), sizeof value);
        return value;
    }
};
