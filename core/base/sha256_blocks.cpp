// The compression function of SHA-256 twice: as FIPS 180-4 writes it, and with the instructions that processors have
// for it: x86's SHA extensions (Gulley et al., "Intel SHA Extensions", 2013) or ARM64's FEAT_SHA256 (Arm ARM, C7.2).
// One of x86 computes two rounds, two of ARM64 compute four, so four_rounds takes one vector of four message words; the
// four vectors of a block take turns, and each is replaced by the words sixteen further on as soon as it has been used.
// The last four groups need no new words.
//
// A single stream waits for the latency of every round instruction. compress_lanes<2> interleaves two independent
// messages, which is what leaves of a Merkle tree are. The processor is asked once. On x86 no check of XCR0 is needed,
// because only SSE registers are used, and the baseline of core/base/processor/isa.h goes without. A test holds both
// paths to each other.
#include "core/base/sha256_blocks.h"

#include <bit>

#include "core/base/processor/isa.h"

#if defined(__x86_64__) || defined(_M_X64)
#define POTLUCK_SHA_X86 1
#include <immintrin.h>
#if defined(_MSC_VER)
#include <intrin.h>
#define POTLUCK_SHA_TARGET
#else
#include <cpuid.h>
#define POTLUCK_SHA_TARGET __attribute__((target("sha,sse4.1,ssse3")))
#endif
#elif defined(__aarch64__) && (defined(__ARM_FEATURE_SHA2) || (defined(__linux__) && !defined(__clang__)))
#define POTLUCK_SHA_ARM 1
#include <arm_neon.h>
#if defined(__ARM_FEATURE_SHA2)  // of every processor that this is compiled for, as on Apple's
#define POTLUCK_SHA_TARGET
#else
#include <sys/auxv.h>
#define POTLUCK_SHA_TARGET __attribute__((target("+crypto")))  // GCC 12 has no smaller word for it
#endif
#endif
#define POTLUCK_SHA (POTLUCK_SHA_X86 || POTLUCK_SHA_ARM)

namespace potluck::sha256_blocks {

namespace {

alignas(16) constexpr std::uint32_t round_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

std::uint32_t big_endian_word(const std::byte* at) {
    std::uint32_t word = 0;
    for (int i = 0; i < 4; ++i) word = (word << 8U) | std::to_integer<std::uint32_t>(at[i]);
    return word;
}

void expand_schedule(std::uint32_t (&w)[64], const std::byte* block) {
    for (std::size_t i = 0; i < 16; ++i) w[i] = big_endian_word(block + 4 * i);
    for (std::size_t i = 16; i < 64; ++i) {
        const std::uint32_t a = w[i - 15];
        const std::uint32_t b = w[i - 2];
        const std::uint32_t s0 = std::rotr(a, 7) ^ std::rotr(a, 18) ^ (a >> 3U);
        const std::uint32_t s1 = std::rotr(b, 17) ^ std::rotr(b, 19) ^ (b >> 10U);
        w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
}

void compress_block_plain(State& state, const std::byte* block) {
    std::uint32_t w[64];
    expand_schedule(w, block);
    auto [a, b, c, d, e, f, g, h] = state;
    for (std::size_t i = 0; i < 64; ++i) {
        const std::uint32_t s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
        const std::uint32_t t1 = h + s1 + ((e & f) ^ (~e & g)) + round_constants[i] + w[i];
        const std::uint32_t s0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
        const std::uint32_t t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
        h = g;
        g = f;
        f = e;
        e = d + t1;
        d = c;
        c = b;
        b = a;
        a = t1 + t2;
    }
    const State added = {a, b, c, d, e, f, g, h};
    for (std::size_t i = 0; i < 8; ++i) state[i] += added[i];
}

#if POTLUCK_SHA_X86

// The round instruction wants the state as the vectors (a, b, e, f) and (c, d, g, h), highest lane first.
struct Registers {
    __m128i abef;
    __m128i cdgh;
};
using Words = __m128i;  // four of a message

POTLUCK_SHA_TARGET inline Registers load_state(const State& state) {
    const __m128i dcba = _mm_shuffle_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(state.data())), 0xb1);
    const __m128i hgfe = _mm_shuffle_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(state.data() + 4)), 0x1b);
    return {_mm_alignr_epi8(dcba, hgfe, 8), _mm_blend_epi16(hgfe, dcba, 0xf0)};
}

POTLUCK_SHA_TARGET inline void store_state(State& state, const Registers& registers) {
    const __m128i feba = _mm_shuffle_epi32(registers.abef, 0x1b);
    const __m128i dchg = _mm_shuffle_epi32(registers.cdgh, 0xb1);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(state.data()), _mm_blend_epi16(feba, dchg, 0xf0));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(state.data() + 4), _mm_alignr_epi8(dchg, feba, 8));
}

POTLUCK_SHA_TARGET inline void add(Registers& to, const Registers& from) {
    to.abef = _mm_add_epi32(to.abef, from.abef);
    to.cdgh = _mm_add_epi32(to.cdgh, from.cdgh);
}

POTLUCK_SHA_TARGET inline void load_block(Words (&message)[4], const std::byte* block) {
    const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0bLL, 0x0405060700010203LL);
    for (int i = 0; i < 4; ++i) {
        message[i] = _mm_shuffle_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(block) + i), swap);
    }
}

/// Four rounds with message words m0, and the words sixteen further on in its place.
POTLUCK_SHA_TARGET inline void four_rounds(Registers& r, Words& m0, Words m1, Words m2, Words m3, int i) {
    const __m128i k = _mm_load_si128(reinterpret_cast<const __m128i*>(round_constants) + i);
    const __m128i sum = _mm_add_epi32(m0, k);
    r.cdgh = _mm_sha256rnds2_epu32(r.cdgh, r.abef, sum);
    r.abef = _mm_sha256rnds2_epu32(r.abef, r.cdgh, _mm_shuffle_epi32(sum, 0x0e));
    if (i < 12) {
        const __m128i carried = _mm_add_epi32(_mm_sha256msg1_epu32(m0, m1), _mm_alignr_epi8(m3, m2, 4));
        m0 = _mm_sha256msg2_epu32(carried, m3);
    }
}

bool ask_processor() {
    unsigned leaf1[4] = {};
    unsigned leaf7[4] = {};
#if defined(_MSC_VER)
    __cpuidex(reinterpret_cast<int*>(leaf1), 1, 0);
    __cpuidex(reinterpret_cast<int*>(leaf7), 7, 0);
#else
    if (__get_cpuid(1, &leaf1[0], &leaf1[1], &leaf1[2], &leaf1[3]) == 0) return false;
    if (__get_cpuid_count(7, 0, &leaf7[0], &leaf7[1], &leaf7[2], &leaf7[3]) == 0) return false;
#endif
    const bool ssse3 = ((leaf1[2] >> 9U) & 1U) != 0;
    const bool sse41 = ((leaf1[2] >> 19U) & 1U) != 0;
    const bool sha = ((leaf7[1] >> 29U) & 1U) != 0;
    return isa_in_use() != Isa::baseline && ssse3 && sse41 && sha;
}

#elif POTLUCK_SHA_ARM

struct Registers {
    uint32x4_t abcd;
    uint32x4_t efgh;
};
using Words = uint32x4_t;  // four of a message

POTLUCK_SHA_TARGET inline Registers load_state(const State& state) {
    return {vld1q_u32(state.data()), vld1q_u32(state.data() + 4)};
}

POTLUCK_SHA_TARGET inline void store_state(State& state, const Registers& registers) {
    vst1q_u32(state.data(), registers.abcd);
    vst1q_u32(state.data() + 4, registers.efgh);
}

POTLUCK_SHA_TARGET inline void add(Registers& to, const Registers& from) {
    to.abcd = vaddq_u32(to.abcd, from.abcd);
    to.efgh = vaddq_u32(to.efgh, from.efgh);
}

POTLUCK_SHA_TARGET inline void load_block(Words (&message)[4], const std::byte* block) {
    for (int i = 0; i < 4; ++i) {
        const uint8x16_t bytes = vld1q_u8(reinterpret_cast<const std::uint8_t*>(block) + 16 * i);
        message[i] = vreinterpretq_u32_u8(vrev32q_u8(bytes));
    }
}

/// Four rounds with message words m0, and the words sixteen further on in its place.
POTLUCK_SHA_TARGET inline void four_rounds(Registers& r, Words& m0, Words m1, Words m2, Words m3, int i) {
    const uint32x4_t sum = vaddq_u32(m0, vld1q_u32(round_constants + 4 * i));
    const uint32x4_t abcd = r.abcd;
    r.abcd = vsha256hq_u32(abcd, r.efgh, sum);
    r.efgh = vsha256h2q_u32(r.efgh, abcd, sum);
    if (i < 12) m0 = vsha256su1q_u32(vsha256su0q_u32(m0, m1), m2, m3);
}

bool ask_processor() {
#if defined(__ARM_FEATURE_SHA2)
    return true;
#else
    return (getauxval(AT_HWCAP) & HWCAP_SHA2) != 0;
#endif
}

#endif

#if POTLUCK_SHA

template <std::size_t lanes>
POTLUCK_SHA_TARGET void compress_lanes(const std::array<State*, lanes>& states,
                                       std::array<const std::byte*, lanes> blocks, std::size_t count) {
    Registers now[lanes];
    for (std::size_t l = 0; l < lanes; ++l) now[l] = load_state(*states[l]);
    for (; count > 0; --count) {
        Words m[lanes][4];
        Registers before[lanes];
        for (std::size_t l = 0; l < lanes; ++l) {
            load_block(m[l], blocks[l]);
            blocks[l] += 64;
            before[l] = now[l];
        }
        for (int i = 0; i < 16; i += 4) {
            for (std::size_t l = 0; l < lanes; ++l) four_rounds(now[l], m[l][0], m[l][1], m[l][2], m[l][3], i);
            for (std::size_t l = 0; l < lanes; ++l) four_rounds(now[l], m[l][1], m[l][2], m[l][3], m[l][0], i + 1);
            for (std::size_t l = 0; l < lanes; ++l) four_rounds(now[l], m[l][2], m[l][3], m[l][0], m[l][1], i + 2);
            for (std::size_t l = 0; l < lanes; ++l) four_rounds(now[l], m[l][3], m[l][0], m[l][1], m[l][2], i + 3);
        }
        for (std::size_t l = 0; l < lanes; ++l) add(now[l], before[l]);
    }
    for (std::size_t l = 0; l < lanes; ++l) store_state(*states[l], now[l]);
}

#endif

}  // namespace

bool has_instructions() {
#if POTLUCK_SHA
    static const bool has = ask_processor();
    return has;
#else
    return false;
#endif
}

void compress_plain(State& state, const std::byte* blocks, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) compress_block_plain(state, blocks + 64 * i);
}

void compress(State& state, const std::byte* blocks, std::size_t count) {
#if POTLUCK_SHA
    if (has_instructions()) return compress_lanes<1>({&state}, {blocks}, count);
#endif
    compress_plain(state, blocks, count);
}

void compress_pair(State& state0, const std::byte* blocks0, State& state1, const std::byte* blocks1,
                   std::size_t count) {
#if POTLUCK_SHA
    if (has_instructions()) return compress_lanes<2>({&state0, &state1}, {blocks0, blocks1}, count);
#endif
    compress_plain(state0, blocks0, count);
    compress_plain(state1, blocks1, count);
}

}  // namespace potluck::sha256_blocks
