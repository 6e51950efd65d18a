// A shard: a memory-mapped file of tokens in records of context + 1, each token as wide as the vocabulary needs
// (core/model/token.h), and the order in which one peer reads it in one round. A record holds context inputs (its first
// tokens) and as many targets (the same, shifted). The file must not be truncated while it is open.
// Threads: one. Owns: the mapping.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "core/base/files.h"
#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/base/thread_owner.h"
#include "core/model/token.h"

namespace potluck::training {

struct ShardShape {
    std::uint64_t records = 0;
    std::uint32_t context = 0;
    std::uint32_t vocabulary = 0;
};

class Shard {
public:
    /// `malformed` if the file's size is not exactly that of its records.
    [[nodiscard]] static Result<Shard> open(const std::filesystem::path& path, const ShardShape& shape);

    /// Appends record `index` (below `records`): context + 1 tokens. `malformed` at a token beyond the vocabulary.
    [[nodiscard]] Status append_record(std::uint64_t index, std::vector<model::Token>& out) const;
    [[nodiscard]] const ShardShape& shape() const { return m_shape; }

private:
    Shard(MappedFile file, const ShardShape& shape, std::filesystem::path path)
        : m_file(std::move(file)), m_shape(shape), m_path(std::move(path)) {}
    MappedFile m_file;
    ShardShape m_shape;
    std::filesystem::path m_path;
};

/// Whose samples of which round: the key of run::record_at.
struct OrderKey {
    std::uint64_t seed = 0;
    RoundId round;
    PeerId peer;
    bool operator==(const OrderKey&) const = default;
};

/// Reads a shard in the order of `key`, from any position on: resuming is one integer.
class SampleReader {
public:
    SampleReader(Shard shard, const OrderKey& key, std::uint64_t position)
        : m_shard(std::move(shard)), m_key(key), m_position(position) {}

    /// Appends the next `count` records to `out` and moves on.
    [[nodiscard]] Status read(std::uint32_t count, std::vector<model::Token>& out);
    [[nodiscard]] std::uint64_t position() const {
        m_owner.check();
        return m_position;
    }

private:
    ThreadOwner m_owner;
    Shard m_shard;
    OrderKey m_key;
    std::uint64_t m_position = 0;
};

}  // namespace potluck::training
