// How much memory this process can have: the computer's, or what is left of its container's limit if that is less;
// and how much it has.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "core/device/facts.h"

namespace potluck::device {

[[nodiscard]] MemoryFacts read_memory();

/// Bytes of this process in the computer's memory at this moment, shared libraries included; zero if unknown.
[[nodiscard]] std::uint64_t resident_bytes();

/// The text of a small file; nothing if it cannot be read.
using ReadText = std::function<std::optional<std::string>(const std::filesystem::path&)>;

/// Linux: /proc/meminfo, and the memory limits of both versions of cgroups, as `read` returns them. What a limit counts
/// as used includes cached files, of which the inactive ones can be had at once.
[[nodiscard]] MemoryFacts linux_memory(const ReadText& read);

}  // namespace potluck::device
