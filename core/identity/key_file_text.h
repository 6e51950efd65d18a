// What a key file says, and what is said about it, whatever the system: the part of key_file.h that is shared by
// key_file_posix.cpp and key_file_windows.cpp, which open, protect and place the file.
// Threads: any.
#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <string>

#include "core/base/result.h"
#include "core/identity/secret.h"

namespace potluck::identity {

inline constexpr std::size_t key_file_bytes = 112;
/// One byte more than fits, to notice a file that goes on.
using KeyFileBuffer = std::array<char, key_file_bytes + 1>;

/// The exact text of the file for `seed`; the caller wipes it.
[[nodiscard]] std::string key_file_text(const SecretSeed& seed);

/// The seed in the first `size` bytes of `buffer`, which is wiped; `malformed` unless key_file_text returns these very
/// bytes for it. `file` is for the sentence.
[[nodiscard]] Result<SecretSeed> take_key_file(const std::filesystem::path& file, KeyFileBuffer& buffer,
                                               std::size_t size);

/// An unused name in the same folder, beginning with a dot.
[[nodiscard]] std::filesystem::path temporary_beside(const std::filesystem::path& file);

/// `path` in quotation marks, as UTF-8.
[[nodiscard]] std::string quoted(const std::filesystem::path& path);
[[nodiscard]] Error damaged_key_file(const std::filesystem::path& file);
[[nodiscard]] Error key_file_exists(const std::filesystem::path& file);

enum class KeyFileTask { read, write, write_into, make_folder };
struct SystemFailure {
    ErrorCode code;
    std::string reason;  // the system's own words
};
[[nodiscard]] Error key_file_error(KeyFileTask task, const std::filesystem::path& path, const SystemFailure& failure);

}  // namespace potluck::identity
