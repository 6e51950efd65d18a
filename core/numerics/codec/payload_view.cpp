// parse() is the only gate for a stranger's payload: one pass in which every length is compared with the bytes that are
// there before anything is allocated or read by it, every gap is decoded to see that each index stays within its chunk,
// and every bit which means nothing must be zero. A PayloadView exists only for bytes that passed, so that decoding,
// which F repeats for every contribution, checks nothing.
//
// The same pass yields the norm, by which F clips: a group's sum of squares is how often each of its four codes occurs
// times the square of that code's mean. Codes are counted 32 at a time with popcounts; groups are added in order, in
// double precision and round to nearest, so that every computer has the same norm.
//
// Source: docs/payload-format.md.
#include <array>
#include <cmath>

#include "core/numerics/codec/checked_gaps.h"
#include "core/numerics/codec/group_cursor.h"
#include "core/numerics/codec/payload_layout.h"
#include "core/numerics/codec/sparse_codec.h"
#include "core/numerics/require.h"
#include "core/numerics/rounding.h"

namespace potluck::numerics {

namespace {

using layout::GroupShape;

/// What a checked group adds to its payload.
struct GroupFacts {
    double squares = 0;
    double largest = 0;
};

struct Counts {
    std::array<std::uint64_t, 4> of{};
};

PayloadFault check_means(const std::byte* group) {
    for (std::size_t c = 0; c < 4; ++c) {
        const auto pattern = static_cast<std::uint32_t>(layout::load(group + 4 * c, 4)) & 0x7fffffffU;
        if (pattern > std::bit_cast<std::uint32_t>(layout::mean_max)) return PayloadFault::bad_mean;
    }
    return PayloadFault::none;
}

/// How often each 2-bit code stands in the first `entries` places. A byte holds four.
Counts count_codes(const std::byte* codes, std::size_t entries) {
    std::uint64_t highs = 0;
    std::uint64_t negatives = 0;
    std::uint64_t both = 0;
    for (std::size_t at = 0; at < entries; at += 32) {
        const std::size_t here = std::min<std::size_t>(32, entries - at);
        std::uint64_t word = layout::load(codes + at / 4, (here + 3) / 4);
        if (here < 32) word &= (1ULL << (2 * here)) - 1;
        constexpr std::uint64_t low_bits = 0x5555555555555555ULL;
        const std::uint64_t high = word & low_bits;
        const std::uint64_t negative = (word >> 1U) & low_bits;
        highs += static_cast<std::uint64_t>(std::popcount(high));
        negatives += static_cast<std::uint64_t>(std::popcount(negative));
        both += static_cast<std::uint64_t>(std::popcount(high & negative));
    }
    return {{entries - highs - negatives + both, highs - both, negatives - both, both}};
}

/// Bits above the last code of the last code byte are zero.
bool codes_end_clean(const std::byte* codes, const GroupShape& shape) {
    const std::size_t used = shape.entries % 4;
    return used == 0 || std::to_integer<unsigned>(codes[shape.codes_size() - 1]) >> (2 * used) == 0;
}

PayloadFault check_group(std::span<const std::byte> group, const GroupShape& shape, std::uint32_t k,
                         GroupFacts& facts) {
    const std::size_t fixed = layout::group_header_size + shape.codes_size();
    if (group.size() < fixed) return PayloadFault::truncated;
    if (const PayloadFault fault = check_means(group.data()); fault != PayloadFault::none) return fault;
    const std::byte* codes = group.data() + layout::group_header_size;
    if (!codes_end_clean(codes, shape)) return PayloadFault::trailing_bytes;
    const auto code = std::to_integer<std::uint8_t>(group[16]);
    if (const PayloadFault fault = check_gaps(group.subspan(fixed), code, shape, k); fault != PayloadFault::none) {
        return fault;
    }
    const Counts counts = count_codes(codes, shape.entries);
    for (std::size_t c = 0; c < 4; ++c) {
        const double mean = std::fabs(static_cast<double>(layout::load_mean(group.data(), c)));
        facts.squares += static_cast<double>(counts.of[c]) * (mean * mean);
        if (counts.of[c] > 0) facts.largest = std::max(facts.largest, mean);
    }
    return PayloadFault::none;
}

}  // namespace

const char* name_of(PayloadFault fault) {
    switch (fault) {
        case PayloadFault::none: return "none";
        case PayloadFault::truncated: return "truncated";
        case PayloadFault::bad_magic: return "bad_magic";
        case PayloadFault::wrong_size: return "wrong_size";
        case PayloadFault::bad_k: return "bad_k";
        case PayloadFault::bad_mean: return "bad_mean";
        case PayloadFault::bad_index: return "bad_index";
        case PayloadFault::trailing_bytes: return "trailing_bytes";
    }
    return "unknown";
}

PayloadFault PayloadView::parse(std::span<const std::byte> bytes, std::uint64_t expected_size, std::uint32_t k_max,
                                PayloadView& out) {
    const RoundingGuard guard;
    out = PayloadView();
    if (bytes.size() < layout::header_size) return PayloadFault::truncated;
    if (std::memcmp(bytes.data(), layout::magic, sizeof layout::magic) != 0) return PayloadFault::bad_magic;
    if (layout::load(&bytes[8], 8) != expected_size) return PayloadFault::wrong_size;
    const auto k = static_cast<std::uint32_t>(layout::load(&bytes[4], 4));
    if (k < 1 || k > k_max || k > sent_max) return PayloadFault::bad_k;
    const std::uint64_t count = layout::group_count(expected_size);
    if (count > (bytes.size() - layout::header_size) / layout::table_entry_size) return PayloadFault::truncated;

    PayloadView view;
    view.m_offsets.reserve(static_cast<std::size_t>(count));
    GroupFacts facts;
    std::size_t offset = layout::header_size + static_cast<std::size_t>(count) * layout::table_entry_size;
    for (std::size_t g = 0; g < count; ++g) {
        const auto size = static_cast<std::size_t>(
            layout::load(&bytes[layout::header_size + g * layout::table_entry_size], layout::table_entry_size));
        if (size > bytes.size() - offset) return PayloadFault::truncated;
        const GroupShape shape = layout::shape_of(g, expected_size, k);
        const PayloadFault fault = check_group(bytes.subspan(offset, size), shape, k, facts);
        if (fault != PayloadFault::none) return fault;
        view.m_offsets.push_back(offset);
        offset += size;
    }
    if (offset != bytes.size()) return PayloadFault::trailing_bytes;
    view.m_bytes = bytes;
    view.m_size = expected_size;
    view.m_k = k;
    view.m_norm = std::sqrt(facts.squares);
    view.m_largest = facts.largest;
    out = std::move(view);
    return PayloadFault::none;
}

std::span<const std::byte> PayloadView::group_from(std::size_t group) const {
    require(group < m_offsets.size());
    return m_bytes.subspan(m_offsets[group]);
}

std::size_t PayloadView::decode_group(std::size_t group, std::span<std::uint32_t> indices,
                                      std::span<std::uint8_t> codes, std::span<float, 4> means) const {
    const GroupShape shape = layout::shape_of(group, m_size, m_k);
    require(indices.size() >= shape.entries && codes.size() >= shape.entries);
    const std::span<const std::byte> from = group_from(group);
    for (std::size_t c = 0; c < 4; ++c) means[c] = layout::load_mean(from.data(), c);
    GroupCursor cursor(from, shape);
    std::size_t entry = 0;
    for (std::size_t at = 0; at < shape.length; at += chunk_size) {
        const std::size_t kept = layout::kept(std::min(chunk_size, shape.length - at), m_k);
        cursor.walk_chunk(kept, [&](std::uint32_t place, unsigned code) {
            indices[entry] = static_cast<std::uint32_t>(at) + place;
            codes[entry++] = static_cast<std::uint8_t>(code);
        });
    }
    return entry;
}

}  // namespace potluck::numerics
