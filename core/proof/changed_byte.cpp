// The hash of a piece tells that it differs, not where. But if only one byte does, the original can be found: it is
// among 255 * 16,384 contents, and the one with the right hash is it. SHA-256 of all that stands before the byte's
// 64-byte block is kept, so each try hashes what follows, 8 KiB on average. Flipped bits, which is how memory and disks
// fail, are tried first: 131,072 tries, a second at most. The other values take some 20 s of one core with SHA
// instructions, and are left out without them.
#include <algorithm>
#include <array>
#include <atomic>
#include <bit>

#include "core/base/merkle.h"
#include "core/base/parallel.h"
#include "core/base/sha256_blocks.h"
#include "core/proof/check_proof.h"

namespace potluck::proof {

namespace {

constexpr std::size_t block = 64;

/// A content padded as SHA-256 pads it (FIPS 180-4, section 5.1.1), and the state before each of its blocks.
class Tries {
public:
    Tries(ByteSpan content, const Digest& wanted)
        : m_content(content.size()), m_padded(content.begin(), content.end()) {
        m_padded.push_back(std::byte{0x80});
        while (m_padded.size() % block != block - 8) m_padded.push_back(std::byte{0});
        const std::uint64_t bits = 8 * static_cast<std::uint64_t>(content.size());
        for (int shift = 56; shift >= 0; shift -= 8) m_padded.push_back(static_cast<std::byte>(bits >> shift));
        sha256_blocks::State state = sha256_blocks::initial_state;
        for (std::size_t at = 0; at < m_padded.size(); at += block) {
            m_before.push_back(state);
            sha256_blocks::compress(state, m_padded.data() + at, 1);
        }
        for (std::size_t i = 0; i < m_wanted.size(); ++i) {
            for (std::size_t j = 0; j < 4; ++j) {
                m_wanted[i] = m_wanted[i] << 8U | std::to_integer<std::uint32_t>(wanted.bytes[4 * i + j]);
            }
        }
    }

    [[nodiscard]] std::size_t size() const { return m_content; }
    /// Whether the content has the wanted hash once `mask` flips bits of the byte at `place`.
    [[nodiscard]] bool fits(std::size_t place, std::byte mask) const {
        const std::size_t first = place / block * block;
        std::array<std::byte, block> changed{};
        std::copy_n(m_padded.begin() + static_cast<std::ptrdiff_t>(first), block, changed.begin());
        changed[place - first] ^= mask;
        sha256_blocks::State state = m_before[first / block];
        sha256_blocks::compress(state, changed.data(), 1);
        const std::size_t rest = first + block;
        if (rest < m_padded.size()) {
            sha256_blocks::compress(state, m_padded.data() + rest, (m_padded.size() - rest) / block);
        }
        return state == m_wanted;
    }

private:
    std::size_t m_content;
    Bytes m_padded;
    std::vector<sha256_blocks::State> m_before;
    sha256_blocks::State m_wanted{};
};

enum class Masks { one_bit, several_bits };

/// A place and a mask that fit.
std::optional<ByteChange> search(const Tries& tries, ByteSpan content, Masks masks, unsigned threads,
                                 const Progress& progress) {
    const bool one_bit = masks == Masks::one_bit;
    constexpr std::size_t places_per_part = 256;
    const std::size_t parts = (tries.size() + places_per_part - 1) / places_per_part;
    std::atomic<std::uint32_t> found{0};  // place * 256 + mask; 0: none
    for (std::size_t part = 0; part < parts && found == 0; ++part) {
        const std::size_t begin = part * places_per_part;
        const std::size_t count = std::min(places_per_part, tries.size() - begin);
        parallel_for(count, threads, [&] {
            return [&](std::size_t offset) {
                for (unsigned mask = 1; mask < 256 && found == 0; ++mask) {
                    if (std::has_single_bit(mask) != one_bit) continue;
                    const std::size_t place = begin + offset;
                    if (tries.fits(place, static_cast<std::byte>(mask))) {
                        found = static_cast<std::uint32_t>(place * 256 + mask);
                    }
                }
            };
        });
        if (progress && !one_bit) progress(static_cast<double>(part + 1) / static_cast<double>(parts));
    }
    if (found == 0) return std::nullopt;
    const std::size_t place = found / 256;
    return ByteChange{place, content[place], content[place] ^ static_cast<std::byte>(found % 256)};
}

}  // namespace

std::optional<ByteChange> find_changed_byte(const ProofFile& proof, const StateCheck& check, ByteSpan file,
                                            unsigned threads, const Progress& progress) {
    const bool one_piece = check.damaged.size() == 1 && check.piece_size == merkle_block_size &&
                           check.damaged[0].end - check.damaged[0].begin <= merkle_block_size;
    if (!one_piece || check.damaged[0].end > file.size()) return std::nullopt;
    const std::uint64_t begin = check.damaged[0].begin;
    const ByteSpan content = file.subspan(begin, check.damaged[0].end - begin);
    const Tries tries(content, proof.pieces()[begin / check.piece_size]);
    auto change = search(tries, content, Masks::one_bit, threads, progress);
    if (!change && sha256_blocks::has_instructions())
        change = search(tries, content, Masks::several_bits, threads, progress);
    if (change) change->at += begin;
    return change;
}

}  // namespace potluck::proof
