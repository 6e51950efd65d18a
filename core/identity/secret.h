// What the sources of this folder share: the wiped seed, the one start of libsodium, and the casts between our bytes
// and its. Shows nothing of libsodium itself.
// Threads: any.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>

#include "core/base/bytes.h"

namespace potluck::identity {

/// Starts libsodium once per process; every entry into it comes after this. Aborts if the system has no randomness.
void start_sodium();

/// Overwrites memory in a way no optimiser removes.
void wipe(std::span<std::byte> bytes);
void wipe(std::string& text);

/// The 32 bytes a key pair follows from. Every copy wipes itself.
struct SecretSeed {
    std::array<std::byte, 32> bytes{};

    SecretSeed() = default;
    explicit SecretSeed(const std::array<std::byte, 32>& from) : bytes(from) {}
    SecretSeed(const SecretSeed&) = default;
    SecretSeed& operator=(const SecretSeed&) = default;
    ~SecretSeed() { wipe(bytes); }
};

[[nodiscard]] inline unsigned char* raw(std::byte* bytes) { return reinterpret_cast<unsigned char*>(bytes); }
[[nodiscard]] inline const unsigned char* raw(const std::byte* bytes) {
    return reinterpret_cast<const unsigned char*>(bytes);
}

}  // namespace potluck::identity
