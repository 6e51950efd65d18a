// The sparse codec: what a volunteer sends of a round's movement (SparseLoCo, arXiv 2508.15706; indices are coded as
// gaps here, Golomb-Rice or exponential Golomb, whichever is shorter in a group, instead of 12 bits each).
//
// The flat parameter vector is cut into chunks of 4,096; of each chunk the k entries of largest magnitude are sent
// with 2 bits each: sign, and whether the magnitude lies above the mean of that sign's kept entries. Every group of
// 64 chunks carries the four bucket means as fp32 and its own byte length, so groups decode independently.
//
//   payload := header | group table | groups         all little-endian, layout in docs/payload-format.md
//
// Everything here rounds in one way only: the same input yields the same bytes for any thread count and processor.
// Does not: know rounds, peers or files. No dependencies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace potluck::numerics {

inline constexpr std::size_t chunk_size = 4096;
inline constexpr std::size_t chunks_per_group = 64;
inline constexpr std::size_t group_size = chunk_size * chunks_per_group;
inline constexpr std::uint32_t sent_max = 4096;  // k of a chunk

/// Why bytes are not a payload. `none` means they are.
enum class PayloadFault { none, truncated, bad_magic, wrong_size, bad_k, bad_mean, bad_index, trailing_bytes };
[[nodiscard]] const char* name_of(PayloadFault fault);

/// error <- decay * error + (anchor - local), element by element in fp32 (two rounded multiplies/subtractions and one
/// addition, never fused). All three spans have the same length; they may be memory-mapped files larger than RAM.
void accumulate_error(std::span<float> error, std::span<const float> anchor, std::span<const float> local, float decay,
                      unsigned threads);

/// Encodes the k largest of every chunk of `error` and subtracts exactly what the receiver will decode, so that the
/// rest (quantisation error included) stays for later rounds. Non-finite entries are set to zero and never sent.
/// k of a shorter last chunk is ceil(k * length / 4096). Ties go to the lower index. 1 <= k <= 4096.
[[nodiscard]] std::vector<std::byte> encode(std::span<float> error, std::uint32_t k, unsigned threads);

/// A payload that has been checked once, completely; the bytes must outlive it. Decoding it cannot fail.
class PayloadView {
public:
    PayloadView() = default;
    /// Checks everything: header, table, every index, every mean finite and |mean| <= 2^60. `expected_size` is the
    /// run's parameter count, and another is `wrong_size`; a k beyond `k_max` is `bad_k`.
    [[nodiscard]] static PayloadFault parse(std::span<const std::byte> bytes, std::uint64_t expected_size,
                                            std::uint32_t k_max, PayloadView& out);

    [[nodiscard]] std::uint64_t size() const { return m_size; }
    [[nodiscard]] std::uint32_t k() const { return m_k; }
    [[nodiscard]] std::size_t group_count() const { return m_offsets.size(); }
    /// L2 norm of the decoded payload, from integer bucket counts and the means in a fixed order of double operations.
    [[nodiscard]] double norm() const { return m_norm; }

    /// Largest magnitude among the decoded values; means that no entry uses do not count.
    [[nodiscard]] double largest() const { return m_largest; }

    /// Calls nothing, allocates nothing: writes the entries of group `group` to `indices` (absolute positions within
    /// the group, 0..group_size-1, ascending) and `codes` (0..3, index into `means`). Returns how many there are;
    /// both spans have room for chunks_per_group * k entries.
    [[nodiscard]] std::size_t decode_group(std::size_t group, std::span<std::uint32_t> indices,
                                           std::span<std::uint8_t> codes, std::span<float, 4> means) const;

    /// The payload's bytes from the start of group `group` on, for readers that walk a group themselves.
    [[nodiscard]] std::span<const std::byte> group_from(std::size_t group) const;

private:
    std::span<const std::byte> m_bytes;
    std::vector<std::uint64_t> m_offsets;
    std::uint64_t m_size = 0;
    std::uint32_t m_k = 0;
    double m_norm = 0;
    double m_largest = 0;
};

/// target += scale * decoded(payload), element by element in fp32: `scale` 1 returns a refused payload to the error
/// feedback, `-alpha` makes the look-ahead anchor. Lengths match.
void add_decoded(std::span<float> target, const PayloadView& payload, float scale, unsigned threads);

/// Upper bound of the bytes of a payload for `size` parameters at `k`; a peer that announces more lies.
[[nodiscard]] std::uint64_t payload_bytes_max(std::uint64_t size, std::uint32_t k);

}  // namespace potluck::numerics
