// Bits one by one, for the plain versions (plain_codec.h, outer/step_code.h); nothing else calls it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace potluck::numerics {

/// A growing string of bits, lowest bit of each byte first.
class BitString {
public:
    void put(std::uint64_t value, unsigned width) {
        for (unsigned i = 0; i < width; ++i) {
            if (m_size % 8 == 0) m_bytes.push_back(std::byte{0});
            if (((value >> i) & 1U) != 0) m_bytes.back() |= std::byte{1} << (m_size % 8);
            ++m_size;
        }
    }
    [[nodiscard]] const std::vector<std::byte>& bytes() const { return m_bytes; }
    [[nodiscard]] std::size_t size() const { return m_size; }

private:
    std::vector<std::byte> m_bytes;
    std::size_t m_size = 0;
};

/// The shortest of all gap codes, the first one on a tie, with its byte.
[[nodiscard]] std::pair<unsigned, BitString> code_gaps_plain(std::span<const std::uint32_t> gaps);

}  // namespace potluck::numerics
