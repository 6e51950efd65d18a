#include "core/run/sample_order.h"

#include "core/base/check.h"
#include "core/base/rng.h"

namespace potluck::run {

namespace {

/// Separates the uses that one (seed, round, peer) is put to.
enum class Purpose : std::uint64_t { shard = 1, records = 2 };

/// The key of (seed, round, peer) for one purpose; the peer's key enters as four little-endian words.
std::uint64_t key_of(std::uint64_t seed, RoundId round, const PeerId& peer, Purpose purpose) {
    std::uint64_t key = mix64(seed + static_cast<std::uint64_t>(purpose));
    key = mix64(key ^ round.value);
    ByteReader words(peer.bytes);
    while (words.remaining() > 0) key = mix64(key ^ words.u64());
    return key;
}

}  // namespace

std::size_t shard_of(std::uint64_t seed, RoundId round, const PeerId& peer, std::size_t shards) {
    POTLUCK_CHECK(shards > 0);
    return static_cast<std::size_t>(key_of(seed, round, peer, Purpose::shard) % shards);
}

std::uint64_t record_at(std::uint64_t seed, RoundId round, const PeerId& peer, std::uint64_t records, std::uint64_t n) {
    POTLUCK_CHECK(records > 0);
    const std::uint64_t epoch = n / records;
    const std::uint64_t key = mix64(key_of(seed, round, peer, Purpose::records) ^ epoch);
    return KeyedPermutation(key, records).at(n % records);
}

}  // namespace potluck::run
