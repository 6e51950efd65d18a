#include "core/run/shard_holders.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "core/base/mix.h"

namespace potluck::run {

namespace {

/// Bytes as one word; they enter as little-endian words.
std::uint64_t word_of(std::uint64_t start, ByteSpan bytes) {
    std::uint64_t word = mix64(start);
    for (ByteReader words(bytes); words.remaining() > 0;) word = mix64(word ^ words.u64());
    return word;
}

std::uint64_t word_of(const PeerId& key) { return word_of(1, key.bytes); }
std::uint64_t word_of(const BlobId& shard) { return word_of(2, shard.bytes); }
std::uint64_t weight_of(std::uint64_t key, std::uint64_t shard) { return mix64(key ^ shard); }

/// The place of a member in a shard's order, or of a shard in a member's: by weight, and by index where two weights are
/// equal, which nobody will see.
using Place = std::pair<std::uint64_t, std::size_t>;

/// What one member keeps, the lowest weight first.
struct Kept {
    std::set<Place> shards;
    std::uint64_t bytes = 0;
};

class Matching {
public:
    Matching(std::span<const Shard> shards, std::span<const ShardHolder> members, std::size_t copies)
        : m_shards(shards), m_members(members), m_copies(copies), m_kept(members.size()), m_lowest(shards.size()) {
        for (const ShardHolder& member : members) m_keys.push_back(word_of(member.key));
        m_held.resize(shards.size());
    }

    void place_all() {
        std::vector<std::size_t> wanting(m_shards.size());
        for (std::size_t i = 0; i < wanting.size(); ++i) wanting[i] = i;
        while (!wanting.empty()) {
            const std::size_t shard = wanting.back();
            wanting.pop_back();
            const std::vector<Place> next = next_members(shard, m_copies - m_held[shard]);
            for (const Place& place : next) {
                m_lowest[shard] = place;
                ++m_held[shard];
                keep(place, shard, wanting);
            }
        }
    }

    [[nodiscard]] std::vector<std::vector<std::size_t>> holders() const {
        std::vector<std::vector<Place>> places(m_shards.size());
        for (std::size_t member = 0; member < m_kept.size(); ++member) {
            for (const auto& [weight, shard] : m_kept[member].shards) places[shard].emplace_back(weight, member);
        }
        std::vector<std::vector<std::size_t>> holders(m_shards.size());
        for (std::size_t shard = 0; shard < places.size(); ++shard) {
            std::sort(places[shard].rbegin(), places[shard].rend());
            for (const Place& place : places[shard]) holders[shard].push_back(place.second);
        }
        return holders;
    }

private:
    /// Up to `count` members below those that this shard has asked already, the highest weight first.
    [[nodiscard]] std::vector<Place> next_members(std::size_t shard, std::size_t count) const {
        std::vector<Place> best;
        if (count == 0) return best;
        const std::uint64_t word = word_of(m_shards[shard].blob.root);
        for (std::size_t member = 0; member < m_members.size(); ++member) {
            const Place place{weight_of(m_keys[member], word), member};
            if (m_lowest[shard] && place >= *m_lowest[shard]) continue;
            if (best.size() == count && place <= best.back()) continue;
            if (best.size() == count) best.pop_back();
            best.insert(std::upper_bound(best.begin(), best.end(), place, std::greater<>()), place);
        }
        return best;
    }

    /// The member takes the shard, and lets go of its lowest weights until all of it fits.
    void keep(const Place& at, std::size_t shard, std::vector<std::size_t>& wanting) {
        Kept& kept = m_kept[at.second];
        kept.shards.emplace(at.first, shard);
        kept.bytes += m_shards[shard].blob.size;
        while (kept.bytes > m_members[at.second].bytes_max) {
            const std::size_t refused = kept.shards.begin()->second;
            kept.shards.erase(kept.shards.begin());
            kept.bytes -= m_shards[refused].blob.size;
            --m_held[refused];
            wanting.push_back(refused);
        }
    }

    std::span<const Shard> m_shards;
    std::span<const ShardHolder> m_members;
    std::size_t m_copies;
    std::vector<std::uint64_t> m_keys;
    std::vector<Kept> m_kept;                    // by member
    std::vector<std::optional<Place>> m_lowest;  // by shard: the last member asked
    std::vector<std::size_t> m_held;             // by shard: who keeps it now
};

}  // namespace

std::uint64_t holder_weight(const PeerId& key, const BlobId& shard) { return weight_of(word_of(key), word_of(shard)); }

std::vector<std::vector<std::size_t>> shard_holders(std::span<const Shard> shards, std::span<const ShardHolder> members,
                                                    std::size_t copies) {
    Matching matching(shards, members, copies);
    matching.place_all();
    return matching.holders();
}

}  // namespace potluck::run
