// Leaves are hashed in pairs, because two independent SHA-256 of one length keep a core's SHA unit busier than one, and
// shared among threads in runs of 256 KiB. The layers above hold 1/512 of the bytes and are climbed in place by one.
#include "core/base/merkle.h"

#include <algorithm>
#include <array>
#include <bit>

#include "core/base/check.h"
#include "core/base/parallel.h"
#include "core/base/sha256.h"

namespace potluck {

namespace {

/// Leaves that a thread takes at a time: 256 KiB take some 200 microseconds, much longer than it takes to ask for them.
constexpr std::size_t leaves_per_run = 16;

/// Leaves [first, last) of `content`.
void hash_leaves(ByteSpan content, std::span<Digest> leaves, std::size_t first, std::size_t last) {
    std::size_t i = first;
    for (; i + 1 < last && (i + 2) * merkle_block_size <= content.size(); i += 2) {
        const ByteSpan both = content.subspan(i * merkle_block_size, 2 * merkle_block_size);
        const std::array<Digest, 2> pair = sha256_pair(both.first(merkle_block_size), both.last(merkle_block_size));
        leaves[i] = pair[0];
        leaves[i + 1] = pair[1];
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
    const std::size_t runs = (count + leaves_per_run - 1) / leaves_per_run;
    parallel_for(runs, threads, [&] {
        return [&](std::size_t run) {
            const std::size_t first = run * leaves_per_run;
            hash_leaves(content, leaves, first, std::min(first + leaves_per_run, count));
        };
    });
    return leaves;
}

/// Replaces a layer by the one above it. `missing` is the hash of an absent node of this layer, and follows.
void climb(std::vector<Digest>& layer, Digest& missing) {
    const std::size_t parents = (layer.size() + 1) / 2;
    for (std::size_t i = 0; i < parents; ++i) {
        layer[i] = merkle_parent(layer[2 * i], 2 * i + 1 < layer.size() ? layer[2 * i + 1] : missing);
    }
    layer.resize(parents);
    missing = merkle_parent(missing, missing);
}

/// Root of a tree without content that covers `covered` bytes, a power-of-two multiple of a block.
Digest missing_subtree(std::uint64_t covered) {
    Digest node{};
    for (std::uint64_t size = merkle_block_size; size < covered; size *= 2) node = merkle_parent(node, node);
    return node;
}

}  // namespace

Digest merkle_parent(const Digest& left, const Digest& right) {
    std::array<std::byte, 64> both{};
    std::copy(left.bytes.begin(), left.bytes.end(), both.begin());
    std::copy(right.bytes.begin(), right.bytes.end(), both.begin() + 32);
    return sha256(both);
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

Digest merkle_last_piece(const BlobId& root, std::uint64_t size, std::uint64_t piece_size) {
    Digest node{root.bytes};
    std::uint64_t covered = merkle_block_size;
    while (covered < size) covered *= 2;
    for (; covered < piece_size; covered *= 2) node = merkle_parent(node, missing_subtree(covered));
    return node;
}

BlobId merkle_root_of_layer(std::span<const Digest> layer, std::uint64_t size, std::uint64_t piece_size) {
    if (size <= piece_size || layer.size() != (size + piece_size - 1) / piece_size) return {};
    std::vector<Digest> nodes(layer.begin(), layer.end());
    Digest missing = missing_subtree(piece_size);
    while (nodes.size() > 1) climb(nodes, missing);
    return BlobId{nodes.front().bytes};
}

}  // namespace potluck
