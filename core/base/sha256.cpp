#include "core/base/sha256.h"

#include <algorithm>
#include <bit>
#include <thread>

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

Digest node_of(const Digest& left, const Digest& right) {
    static const Block padding = padding_only(block_size);
    Block both;
    std::copy(left.bytes.begin(), left.bytes.end(), both.begin());
    std::copy(right.bytes.begin(), right.bytes.end(), both.begin() + 32);
    State state = sha256_blocks::initial_state;
    sha256_blocks::compress(state, both.data(), 1);
    sha256_blocks::compress(state, padding.data(), 1);
    return digest_of(state);
}

/// Leaves [first, last) of `content`; two whole blocks at a time, since their length is equal.
void hash_leaves(ByteSpan content, std::span<Digest> leaves, std::size_t first, std::size_t last) {
    static const Block padding = padding_only(merkle_block_size);
    std::size_t i = first;
    for (; i + 1 < last && (i + 2) * merkle_block_size <= content.size(); i += 2) {
        State state0 = sha256_blocks::initial_state;
        State state1 = state0;
        const std::byte* at = content.data() + i * merkle_block_size;
        sha256_blocks::compress_pair(state0, at, state1, at + merkle_block_size, merkle_block_size / block_size);
        sha256_blocks::compress_pair(state0, padding.data(), state1, padding.data(), 1);
        leaves[i] = digest_of(state0);
        leaves[i + 1] = digest_of(state1);
    }
    for (; i < last; ++i) {
        const std::size_t start = i * merkle_block_size;
        leaves[i] = sha256(content.subspan(start, std::min(merkle_block_size, content.size() - start)));
    }
}

std::vector<Digest> leaves_of(ByteSpan content, unsigned threads) {
    POTLUCK_CHECK(threads >= 1);
    const std::size_t count = (content.size() + merkle_block_size - 1) / merkle_block_size;
    std::vector<Digest> leaves(count);
    const std::size_t workers = std::min<std::size_t>(threads, std::max<std::size_t>(count / 16, 1));
    const std::size_t share = (count + workers - 1) / workers;
    std::vector<std::jthread> pool;
    for (std::size_t w = 1; w < workers; ++w) {
        pool.emplace_back([&, w] {
            hash_leaves(content, leaves, std::min(w * share, count), std::min((w + 1) * share, count));
        });
    }
    hash_leaves(content, leaves, 0, std::min(share, count));
    pool.clear();
    return leaves;
}

/// Replaces a layer by the one above it. `missing` is the hash of an absent node of this layer, and follows.
void climb(std::vector<Digest>& layer, Digest& missing) {
    const std::size_t parents = (layer.size() + 1) / 2;
    for (std::size_t i = 0; i < parents; ++i) {
        layer[i] = node_of(layer[2 * i], 2 * i + 1 < layer.size() ? layer[2 * i + 1] : missing);
    }
    layer.resize(parents);
    missing = node_of(missing, missing);
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

BlobId merkle_root(ByteSpan content, unsigned threads) {
    if (content.empty()) return {};
    std::vector<Digest> layer = leaves_of(content, threads);
    Digest missing{};
    while (layer.size() > 1) climb(layer, missing);
    return BlobId{layer.front().bytes};
}

std::vector<Digest> merkle_layer(ByteSpan content, std::size_t piece_size, unsigned threads) {
    POTLUCK_CHECK(std::has_single_bit(piece_size) && piece_size >= merkle_block_size);
    if (content.size() <= piece_size) return {};
    std::vector<Digest> layer = leaves_of(content, threads);
    Digest missing{};
    for (std::size_t covered = merkle_block_size; covered < piece_size; covered *= 2) climb(layer, missing);
    return layer;
}

}  // namespace potluck
