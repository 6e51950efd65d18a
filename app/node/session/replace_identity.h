// Replaces the identity of a data folder. The old key file stays beside the new one under another name, and at every
// moment there is a whole key under the usual name: a node that finds none would make a new person.
// Threads: one process at a time (the caller holds the folder's lock).
#pragma once

#include <filesystem>

#include "core/base/result.h"
#include "core/identity/identity.h"

namespace potluck::node {

/// Makes `imported` the data folder's identity. After an error the old one is still in place.
[[nodiscard]] Status replace_identity(const std::filesystem::path& data_folder, const identity::Identity& imported);

}  // namespace potluck::node
