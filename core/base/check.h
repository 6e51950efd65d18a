// POTLUCK_CHECK guards what only a bug of ours can break. It aborts with file and line, in release builds too;
// whatever a peer, a file or a person can cause is a Result or a Verdict instead.
#pragma once

#include <string_view>

namespace potluck {

/// Prints `expression` with its place to standard error and aborts. Never returns.
[[noreturn]] void check_failed(std::string_view expression, std::string_view file, int line);

}  // namespace potluck

#define POTLUCK_CHECK(expression) \
    ((expression) ? static_cast<void>(0) : ::potluck::check_failed(#expression, __FILE__, __LINE__))
