// Vector files of the trainer's protocol: fp32 parameters from a byte offset on, read and written a piece at a time, so
// that a vector larger than memory passes through.
// Threads: one. Owns: the open file.
#pragma once

#include <cstdint>
#include <fstream>
#include <functional>
#include <span>
#include <string>

#include "core/base/result.h"
#include "core/base/thread_owner.h"
#include "core/control/trainer_protocol.h"

namespace potluck::training {

class VectorReader {
public:
    /// `malformed` if the file holds fewer than `size` numbers.
    [[nodiscard]] static Result<VectorReader> open(const control::VectorFile& file, std::uint64_t size);
    /// The next numbers; `malformed` if one is not finite.
    [[nodiscard]] Status read(std::span<float> out);

private:
    VectorReader(std::ifstream stream, std::string path) : m_stream(std::move(stream)), m_path(std::move(path)) {}
    ThreadOwner m_owner;
    std::ifstream m_stream;
    std::string m_path;
};

/// Calls `take` with every piece of a vector file in turn, `begin` counting numbers.
[[nodiscard]] Status for_each_piece(
    const control::VectorFile& file, std::uint64_t size,
    const std::function<Status(std::uint64_t begin, std::span<const float> values)>& take);

/// Reads all of it once: what for_each_piece would refuse is refused before anything is changed.
[[nodiscard]] Status check_vector(const control::VectorFile& file, std::uint64_t size);

/// Writes numbers in order at the file's offset; what lies before it stays. Creates the file if it is not there. The
/// file is not synced: a snapshot is of use to a living node only.
class VectorWriter {
public:
    [[nodiscard]] static Result<VectorWriter> open(const control::VectorFile& file);
    [[nodiscard]] Status write(std::span<const float> values);
    /// To be called last: says whether everything arrived.
    [[nodiscard]] Status close();

private:
    VectorWriter(std::fstream stream, std::string path) : m_stream(std::move(stream)), m_path(std::move(path)) {}
    [[nodiscard]] Error failure() const;
    ThreadOwner m_owner;
    std::fstream m_stream;
    std::string m_path;
};

/// Numbers that pass through memory at once.
inline constexpr std::size_t vector_piece = 1 << 20U;

}  // namespace potluck::training
