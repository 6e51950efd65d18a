// The codec as docs/payload-format.md describes it, as directly as it can be written: each chunk is sorted, each bit is
// put one by one, and all gap codes are tried in full to see which one is shortest. It is the reference of the fast
// codec, whose bytes must equal these for every input, and it is slower by orders of magnitude.
//
// Steps per group of 64 chunks: choose the k largest magnitudes of each chunk (ties to the lower index), split them by
// sign and by the mean of their sign, take the four buckets' means, subtract the means from the error feedback, then
// write means, gap code, 2-bit codes and gaps. Means are sums in eight lanes by the entry's number, the order in which
// the vectorised version adds.
//
// Sources: SparseLoCo (2508.15706); Rice 1979 and Teuhola 1978 for the gaps.
#include "core/numerics/codec/plain_codec.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>

#include "core/numerics/codec/bit_string.h"
#include "core/numerics/require.h"
#include "core/numerics/rounding.h"

namespace potluck::numerics {

namespace {

class BitReader {
public:
    explicit BitReader(std::span<const std::byte> bytes) : m_bytes(bytes) {}
    std::uint32_t take(unsigned width) {
        std::uint32_t value = 0;
        for (unsigned i = 0; i < width; ++i, ++m_at) {
            require(m_at / 8 < m_bytes.size());
            value |= ((std::to_integer<std::uint32_t>(m_bytes[m_at / 8]) >> (m_at % 8)) & 1U) << i;
        }
        return value;
    }

private:
    std::span<const std::byte> m_bytes;
    std::size_t m_at = 0;
};

struct Entry {
    std::size_t place = 0;  // in the whole vector
    std::uint32_t gap = 0;
    float value = 0;
    unsigned code = 0;
};

std::size_t kept_of(std::size_t length, std::uint32_t k) { return (length * k + 4095) / 4096; }

/// The kept entries of the chunk that begins at `begin`, ascending.
std::vector<Entry> keep_of_chunk(std::span<float> error, std::size_t begin, std::uint32_t k) {
    const std::size_t length = std::min(chunk_size, error.size() - begin);
    std::vector<std::size_t> places(length);
    std::iota(places.begin(), places.end(), begin);
    for (const std::size_t place : places) {
        if (!std::isfinite(error[place])) error[place] = 0.0F;
    }
    std::stable_sort(places.begin(), places.end(),
                     [&](std::size_t a, std::size_t b) { return std::fabs(error[a]) > std::fabs(error[b]); });
    places.resize(kept_of(length, k));
    std::sort(places.begin(), places.end());
    std::vector<Entry> entries;
    std::size_t next = begin;
    for (const std::size_t place : places) {
        entries.push_back({.place = place, .gap = static_cast<std::uint32_t>(place - next), .value = error[place]});
        next = place + 1;
    }
    return entries;
}

/// Mean magnitude of the entries that `chosen` accepts: a double, eight lanes by the entry's number.
template <class Chosen>
double mean_of(const std::vector<Entry>& entries, const Chosen& chosen) {
    std::array<double, 8> lane{};
    std::size_t count = 0;
    for (std::size_t j = 0; j < entries.size(); ++j) {
        if (!chosen(entries[j])) continue;
        lane[j % 8] += static_cast<double>(std::fabs(entries[j].value));
        ++count;
    }
    const double sum = ((lane[0] + lane[1]) + (lane[2] + lane[3])) + ((lane[4] + lane[5]) + (lane[6] + lane[7]));
    return count == 0 ? 0.0 : sum / static_cast<double>(count);
}

std::array<float, 4> quantise_plain(std::vector<Entry>& entries) {
    std::array<double, 2> sign_mean{};
    for (const bool negative : {false, true}) {
        sign_mean[negative ? 1 : 0] =
            mean_of(entries, [&](const Entry& entry) { return std::signbit(entry.value) == negative; });
    }
    for (Entry& entry : entries) {
        const unsigned negative = std::signbit(entry.value) ? 1 : 0;
        const bool high = static_cast<double>(std::fabs(entry.value)) > sign_mean[negative];
        entry.code = 2 * negative + (high ? 1 : 0);
    }
    std::array<float, 4> means{};
    for (unsigned code = 0; code < 4; ++code) {
        const double mean = mean_of(entries, [&](const Entry& entry) { return entry.code == code; });
        const float rounded = mean > 0x1p60 ? 0x1p60F : static_cast<float>(mean);
        const bool used = std::any_of(entries.begin(), entries.end(), [&](const Entry& e) { return e.code == code; });
        means[code] = code >= 2 && used ? -rounded : rounded;
    }
    return means;
}

std::uint32_t take_gap(BitReader& bits, unsigned code) {
    unsigned zeros = 0;
    while (!(code < 16 && zeros == 16) && bits.take(1) == 0) ++zeros;
    if (code >= 16) {
        const std::uint32_t v = (1U << zeros) | bits.take(zeros);
        return ((v - 1) << (code - 16)) | bits.take(code - 16);
    }
    if (zeros == 16) return bits.take(12);
    return (zeros << code) | bits.take(code);
}

BitString encode_group(std::span<float> error, std::size_t begin, std::uint32_t k) {
    std::vector<Entry> entries;
    for (std::size_t at = begin; at < std::min(begin + group_size, error.size()); at += chunk_size) {
        const std::vector<Entry> chunk = keep_of_chunk(error, at, k);
        entries.insert(entries.end(), chunk.begin(), chunk.end());
    }
    const std::array<float, 4> means = quantise_plain(entries);
    for (const Entry& entry : entries) error[entry.place] = entry.value - means[entry.code];
    BitString group;
    for (const float mean : means) group.put(std::bit_cast<std::uint32_t>(mean), 32);
    std::vector<std::uint32_t> skipped;
    for (const Entry& entry : entries) skipped.push_back(entry.gap);
    const auto [code, gaps] = code_gaps_plain(skipped);
    group.put(code, 8);
    for (const Entry& entry : entries) group.put(entry.code, 2);
    group.put(0, (8 - group.size() % 8) % 8);
    for (const std::byte byte : gaps.bytes()) group.put(std::to_integer<std::uint64_t>(byte), 8);
    return group;
}

}  // namespace

std::vector<std::byte> encode_plain(std::span<float> error, std::uint32_t k) {
    const RoundingGuard guard;
    require(k >= 1 && k <= sent_max);
    BitString table;
    std::vector<std::byte> groups;
    for (const char letter : {'P', 'L', 'P', '1'}) table.put(static_cast<std::uint64_t>(letter), 8);
    table.put(k, 32);
    table.put(error.size(), 64);
    for (std::size_t begin = 0; begin < error.size(); begin += group_size) {
        const BitString group = encode_group(error, begin, k);
        table.put(group.bytes().size(), 32);
        groups.insert(groups.end(), group.bytes().begin(), group.bytes().end());
    }
    std::vector<std::byte> payload = table.bytes();
    payload.insert(payload.end(), groups.begin(), groups.end());
    return payload;
}

std::vector<float> decode_plain(std::span<const std::byte> payload) {
    BitReader header(payload);
    static_cast<void>(header.take(32));
    const std::uint32_t k = header.take(32);
    const std::size_t size = header.take(32) | (std::size_t{header.take(32)} << 32U);
    std::vector<float> values(size);
    std::size_t offset = 16 + 4 * ((size + group_size - 1) / group_size);
    for (std::size_t begin = 0; begin < size; begin += group_size) {
        BitReader group(payload.subspan(offset));
        std::array<float, 4> means{};
        for (float& mean : means) mean = std::bit_cast<float>(group.take(32));
        const unsigned code = group.take(8);
        std::vector<std::size_t> kept;
        std::size_t entries = 0;
        for (std::size_t at = begin; at < std::min(begin + group_size, size); at += chunk_size) {
            kept.push_back(kept_of(std::min(chunk_size, size - at), k));
            entries += kept.back();
        }
        BitReader gaps(payload.subspan(offset + 17 + (entries + 3) / 4));
        for (std::size_t chunk = 0; chunk < kept.size(); ++chunk) {
            std::size_t next = begin + chunk * chunk_size;
            for (std::size_t i = 0; i < kept[chunk]; ++i) {
                next += take_gap(gaps, code);
                values.at(next++) = means[group.take(2)];
            }
        }
        offset += header.take(32);
    }
    return values;
}

}  // namespace potluck::numerics
