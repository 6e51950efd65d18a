// parse() is the only gate for a step that another member has computed: every length is compared with the bytes that
// are there before anything is read by it, and what passed applies without a check. What a step may say is narrower
// than what its bits could: no value is -8, no scale lies outside those that F's means need.
//
// Source: docs/payload-format.md.
#include <cstring>

#include "core/numerics/codec/checked_gaps.h"
#include "core/numerics/outer/step_code.h"
#include "core/numerics/outer/step_layout.h"

namespace potluck::numerics {

namespace {

using layout::GroupShape;

/// Both values of a byte are one that a step has.
bool are_values(std::byte pair) {
    const auto bits = std::to_integer<unsigned>(pair);
    return (bits & 15U) != 8 && (bits >> 4U) != 8;
}

PayloadFault check_group(std::span<const std::byte> group, const GroupShape& shape, std::uint32_t kept) {
    const std::size_t fixed = step_layout::fixed_size(shape, kept);
    if (group.size() < fixed) return PayloadFault::truncated;
    const std::size_t blocks = step_layout::blocks_of(shape, kept);
    for (std::size_t block = 0; block < blocks; ++block) {
        const int scale = std::to_integer<std::int8_t>(group[1 + block]);
        if (scale < step_layout::scale_min || scale > step_layout::scale_max) return PayloadFault::bad_mean;
    }
    for (std::size_t at = 1 + blocks; at < fixed; ++at) {
        if (!are_values(group[at])) return PayloadFault::bad_mean;
    }
    const bool half_left = shape.entries % 2 == 1;
    if (half_left && std::to_integer<unsigned>(group[fixed - 1]) >> 4U != 0) return PayloadFault::trailing_bytes;
    const auto code = std::to_integer<std::uint8_t>(group[0]);
    if (kept < chunk_size) return check_gaps(group.subspan(fixed), code, shape, kept);
    if (code != 0) return PayloadFault::bad_index;
    return group.size() == fixed ? PayloadFault::none : PayloadFault::trailing_bytes;
}

}  // namespace

PayloadFault StepView::parse(std::span<const std::byte> bytes, std::uint64_t expected_size, StepView& out) {
    out = StepView();
    if (bytes.size() < layout::header_size) return PayloadFault::truncated;
    if (std::memcmp(bytes.data(), step_layout::magic, sizeof step_layout::magic) != 0) return PayloadFault::bad_magic;
    if (layout::load(&bytes[8], 8) != expected_size) return PayloadFault::wrong_size;
    const auto kept = static_cast<std::uint32_t>(layout::load(&bytes[4], 4));
    if (kept < step_layout::kept_min || kept > chunk_size || kept != kept_of_step(kept / 2)) return PayloadFault::bad_k;
    const std::uint64_t count = layout::group_count(expected_size);
    if (count > (bytes.size() - layout::header_size) / layout::table_entry_size) return PayloadFault::truncated;

    StepView view;
    view.m_groups.reserve(static_cast<std::size_t>(count));
    std::size_t offset = layout::header_size + static_cast<std::size_t>(count) * layout::table_entry_size;
    for (std::size_t g = 0; g < count; ++g) {
        const auto size = static_cast<std::size_t>(
            layout::load(&bytes[layout::header_size + g * layout::table_entry_size], layout::table_entry_size));
        if (size > bytes.size() - offset) return PayloadFault::truncated;
        const std::span<const std::byte> group = bytes.subspan(offset, size);
        const PayloadFault fault = check_group(group, layout::shape_of(g, expected_size, kept), kept);
        if (fault != PayloadFault::none) return fault;
        view.m_groups.push_back(group);
        offset += size;
    }
    if (offset != bytes.size()) return PayloadFault::trailing_bytes;
    view.m_size = expected_size;
    view.m_kept = kept;
    out = std::move(view);
    return PayloadFault::none;
}

}  // namespace potluck::numerics
