// How the command line says what went wrong. Parts of an answer may be a stranger's words: control characters go.
#pragma once

#include <string>

#include "app/node/exit_code.h"
#include "core/base/result.h"

namespace potluck::node {

/// `text` for a terminal.
[[nodiscard]] std::string clean(const std::string& text);

/// Prints the error's sentence to standard error.
[[nodiscard]] ExitCode complain(const Error& error, ExitCode code);
/// With the exit code that belongs to the error.
[[nodiscard]] ExitCode complain(const Error& error);

}  // namespace potluck::node
