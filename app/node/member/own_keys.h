// The keys in a data folder: the person's, which its 24 words bring back and which may be exported, and this computer's
// own, which never leaves it. A computer has a key of its own if its person's was imported, because the same person is
// at another computer then; where the person's key was made, that key is the computer's as well.
//
//   identity.key   the person's
//   computer.key   this computer's, if it is another; identity.key signs it
// Threads: a value; it moves, because secrets do not copy.
#pragma once

#include <filesystem>
#include <optional>

#include "core/base/result.h"
#include "core/identity/identity.h"
#include "core/run/device.h"

namespace potluck::node {

struct OwnKeys {
    identity::Identity person;
    std::optional<identity::Identity> computer{};

    /// What it speaks with.
    [[nodiscard]] const identity::Identity& device_key() const { return computer ? *computer : person; }
    /// What the others are told of it.
    [[nodiscard]] run::Device device() const;

    /// Makes the person's key if there is none.
    [[nodiscard]] static Result<OwnKeys> open_or_create(const std::filesystem::path& data_folder);
    /// `not_found` if there is no person's key.
    [[nodiscard]] static Result<OwnKeys> open(const std::filesystem::path& data_folder);
};

/// Makes `imported` the data folder's person, and this computer another one of that person. The keys of before stay
/// beside the new ones under other names, and at every moment there is a whole key under the usual name: a node that
/// finds none would make a new person. After an error the old person is still in place. One process at a time: the
/// caller holds the folder's lock.
[[nodiscard]] Status replace_identity(const std::filesystem::path& data_folder, const identity::Identity& imported);

}  // namespace potluck::node
