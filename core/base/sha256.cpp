#include "core/base/sha256.h"

#include <algorithm>

#include "core/base/check.h"
#include "core/base/sha256_blocks.h"

namespace potluck {

namespace {

using sha256_blocks::State;

constexpr std::size_t block_size = 64;
using Block = std::array<std::byte, block_size>;

Digest digest_of(const State& state) {
    Digest digest;
    for (std::size_t i = 0; i < 32; ++i) {
        digest.bytes[i] = static_cast<std::byte>((state[i / 4] >> (24 - 8 * (i % 4))) & 0xffU);
    }
    return digest;
}

void put_length(Block& block, std::uint64_t bytes) {
    for (std::size_t i = 0; i < 8; ++i) block[56 + i] = static_cast<std::byte>(((bytes * 8) >> (56 - 8 * i)) & 0xffU);
}

/// The last block of a message that fills whole blocks.
Block padding_only(std::uint64_t bytes) {
    Block block{};
    block[0] = std::byte{0x80};
    put_length(block, bytes);
    return block;
}

}  // namespace

Sha256::Sha256() : m_state(sha256_blocks::initial_state) {}

void Sha256::update(ByteSpan bytes) {
    m_total += bytes.size();
    if (m_filled > 0) {
        const std::size_t taken = std::min(block_size - m_filled, bytes.size());
        std::copy_n(bytes.begin(), taken, m_block.begin() + static_cast<std::ptrdiff_t>(m_filled));
        m_filled += taken;
        bytes = bytes.subspan(taken);
        if (m_filled < block_size) return;
        sha256_blocks::compress(m_state, m_block.data(), 1);
        m_filled = 0;
    }
    const std::size_t whole = bytes.size() / block_size;
    if (whole > 0) sha256_blocks::compress(m_state, bytes.data(), whole);
    bytes = bytes.subspan(whole * block_size);
    std::copy(bytes.begin(), bytes.end(), m_block.begin());
    m_filled = bytes.size();
}

Digest Sha256::finish() {
    m_block[m_filled] = std::byte{0x80};
    std::fill(m_block.begin() + static_cast<std::ptrdiff_t>(m_filled) + 1, m_block.end(), std::byte{0});
    if (m_filled + 1 > block_size - 8) {
        sha256_blocks::compress(m_state, m_block.data(), 1);
        m_block.fill(std::byte{0});
    }
    put_length(m_block, m_total);
    sha256_blocks::compress(m_state, m_block.data(), 1);
    return digest_of(m_state);
}

Digest sha256(ByteSpan bytes) {
    Sha256 hash;
    hash.update(bytes);
    return hash.finish();
}

std::array<Digest, 2> sha256_pair(ByteSpan first, ByteSpan second) {
    POTLUCK_CHECK(first.size() == second.size() && first.size() % block_size == 0);
    const Block padding = padding_only(first.size());
    State state0 = sha256_blocks::initial_state;
    State state1 = state0;
    sha256_blocks::compress_pair(state0, first.data(), state1, second.data(), first.size() / block_size);
    sha256_blocks::compress_pair(state0, padding.data(), state1, padding.data(), 1);
    return {digest_of(state0), digest_of(state1)};
}

}  // namespace potluck
