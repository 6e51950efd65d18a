// Vectors of floats as wide as a register of the instruction set that this is compiled for (per_isa.inl), with loads
// and stores that widen bf16 to fp32 and round back to nearest even, whole or with fewer entries at the end of a row.

constexpr int lanes = POTLUCK_LANES;
using Lanes = float __attribute__((vector_size(4 * POTLUCK_LANES), aligned(4), may_alias));
using LaneBits = std::uint32_t __attribute__((vector_size(4 * POTLUCK_LANES), aligned(4), may_alias));
using LaneHalves = std::uint16_t __attribute__((vector_size(2 * POTLUCK_LANES), aligned(2), may_alias));

POTLUCK_INLINE void load(Lanes& out, const float* from, All) { std::memcpy(&out, from, sizeof out); }
POTLUCK_INLINE void load(Lanes& out, const float* from, First first) {
    out = Lanes{};
    for (int i = 0; i < first.count; ++i) out[i] = from[i];
}
POTLUCK_INLINE void to_fp32(Lanes& out, const LaneHalves& halves) {
    const LaneBits bits = __builtin_convertvector(halves, LaneBits) << 16U;
    std::memcpy(&out, &bits, sizeof out);
}
POTLUCK_INLINE void load(Lanes& out, const Bf16* from, All) {
    LaneHalves halves;
    std::memcpy(&halves, from, sizeof halves);
    to_fp32(out, halves);
}
POTLUCK_INLINE void load(Lanes& out, const Bf16* from, First first) {
    LaneHalves halves = {};
    for (int i = 0; i < first.count; ++i) halves[i] = from[i].bits;
    to_fp32(out, halves);
}

POTLUCK_INLINE void store(const Lanes& value, float* to, All) { std::memcpy(to, &value, sizeof value); }
POTLUCK_INLINE void store(const Lanes& value, float* to, First first) {
    for (int i = 0; i < first.count; ++i) to[i] = value[i];
}
/// Rounds to nearest even; NaN stays NaN.
POTLUCK_INLINE void to_bf16(LaneHalves& out, const Lanes& value) {
    LaneBits bits;
    std::memcpy(&bits, &value, sizeof bits);
    const LaneBits rounded = bits + 0x7fffU + ((bits >> 16U) & 1U);
    const LaneBits chosen = value == value ? rounded : (LaneBits{} + 0x7fc00000U);
    out = __builtin_convertvector(chosen >> 16U, LaneHalves);
}
POTLUCK_INLINE void store(const Lanes& value, Bf16* to, All) {
    LaneHalves halves;
    to_bf16(halves, value);
    std::memcpy(static_cast<void*>(to), &halves, sizeof halves);
}
POTLUCK_INLINE void store(const Lanes& value, Bf16* to, First first) {
    LaneHalves halves;
    to_bf16(halves, value);
    for (int i = 0; i < first.count; ++i) to[i].bits = halves[i];
}

/// Adds the entries in one fixed order.
POTLUCK_INLINE float sum_of(const Lanes& value) {
    float sum = 0;
    for (int i = 0; i < lanes; ++i) sum += value[i];
    return sum;
}

POTLUCK_INLINE float largest_of(const Lanes& value) {
    float largest = value[0];
    for (int i = 1; i < lanes; ++i) largest = std::max(largest, value[i]);
    return largest;
}

/// Calls `body(offset, All or First)` along a row of `width` entries.
template <class Body>
POTLUCK_INLINE void for_each_lane_block(std::int64_t width, const Body& body) {
    std::int64_t at = 0;
    for (; at + lanes <= width; at += lanes) body(at, All{});
    if (at < width) body(at, First{static_cast<int>(width - at)});
}

/// 1 / (1 - rate) for kept entries and 0 for dropped ones, from `column` on.
POTLUCK_INLINE void dropout_factors(Lanes& out, std::uint32_t row_seed, std::int64_t column, float rate) {
    LaneBits bits;
    for (int i = 0; i < lanes; ++i) bits[i] = static_cast<std::uint32_t>(i);
    bits = (bits + static_cast<std::uint32_t>(column)) * 0x9e3779b9U + row_seed;
    bits = (bits ^ (bits >> 16U)) * 0x7feb352dU;  // a mixer of 32 bits (Wellons 2018)
    bits = (bits ^ (bits >> 15U)) * 0x846ca68bU;
    bits = bits ^ (bits >> 16U);
    const float keep = 1.0F - rate;
    const LaneBits limit = LaneBits{} + static_cast<std::uint32_t>(static_cast<double>(rate) * 4294967295.0);
    out = bits >= limit ? (Lanes{} + 1.0F / keep) : Lanes{};
}
