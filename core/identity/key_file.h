// The file an identity lives in: three lines of text, open to its owner only from its first byte on (mode 0600; on
// Windows an access list), never replaced.
//
//   potluck identity 1
//   seed <64 hexadecimal digits>
//   check <first 16 hexadecimal digits of the SHA-256 of the two lines above>
//
// Does not: encrypt. Anyone who can read the file can act as that person, hence the protection.
// Threads: any.
#pragma once

#include <filesystem>

#include "core/base/result.h"
#include "core/identity/secret.h"

namespace potluck::identity {

/// Who may be able to read a key file: one's own nobody else, one that was brought from elsewhere anybody, because
/// sticks, downloads and attachments have no permissions.
enum class KeyReaders { owner_only, anybody };

/// `not_found` if there is no such file; `permission` if other users can read it and must not; `malformed` if it is
/// damaged.
[[nodiscard]] Result<SecretSeed> read_key_file(const std::filesystem::path& file, KeyReaders readers);

/// Writes and syncs the file in a folder that exists. `already_exists` if the name is taken; a crash leaves the whole
/// file or none.
[[nodiscard]] Status write_key_file(const std::filesystem::path& file, const SecretSeed& seed);

/// Makes the missing folders above `file`, open to their owner only. Folders that exist keep their mode.
[[nodiscard]] Status make_private_folder_of(const std::filesystem::path& file);

}  // namespace potluck::identity
