// How the command line says what went wrong. Parts of an answer may be a stranger's words: control characters go.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "app/node/exit_code.h"
#include "core/base/result.h"

namespace potluck::node {

/// One line of `text` for a terminal.
[[nodiscard]] std::string clean(const std::string& text);
/// The same of a text of several lines and any length, such as a model writes.
[[nodiscard]] std::string clean_lines(std::string_view text);
/// `value` as JSON, in which control characters and marks of direction stand as \uXXXX: what reads it gets them back, a
/// terminal on which it lands does not obey them. `indent` as in nlohmann's dump.
[[nodiscard]] std::string json_text(const nlohmann::json& value, int indent);

/// Prints the error's sentence to standard error.
[[nodiscard]] ExitCode complain(const Error& error, ExitCode code);
/// With the exit code that belongs to the error.
[[nodiscard]] ExitCode complain(const Error& error);

}  // namespace potluck::node
