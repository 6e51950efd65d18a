// The newest lines of a log file, for people to read: control bytes and broken UTF-8 are replaced, long lines cut.
// Threads: any; reads at most log_tail_bytes_max.
#pragma once

#include <cstddef>
#include <filesystem>

#include "core/base/result.h"
#include "core/control/look_methods.h"

namespace potluck::node {

inline constexpr std::size_t log_tail_bytes_max = 1U << 20U;

/// Up to `lines_max` whole lines, oldest first; `not_found` with what to do if there is no such file.
[[nodiscard]] Result<control::LogLines> log_tail(const std::filesystem::path& file, std::size_t lines_max);

}  // namespace potluck::node
