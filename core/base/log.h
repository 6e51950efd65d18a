// The log: one line = UTC time with milliseconds, level, component, message. Text that came from a peer is passed
// through `printable` first, so that no peer can put terminal codes or forged lines into a log. A component that writes
// more lines than a person reads is cut short, and the log says how many lines were left out.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include <spdlog/spdlog.h>

namespace potluck::log {

enum class Destination { stderr_only, file_only, both };

/// Starts logging for this process. `file` rotates at 10 MiB, five files kept. Call once, from main, before others log.
void start(std::string_view program, Destination destination, const std::filesystem::path& file = {});
/// "trace", "debug", "info", "warning", "error"; false for another word.
bool set_level(std::string_view level);
/// The logger of one component, for example "net"; cheap, thread-safe, works before `start` (to standard error).
[[nodiscard]] spdlog::logger& of(std::string_view component);
/// `text` with control bytes and invalid UTF-8 replaced by '?', cut to `limit` bytes.
[[nodiscard]] std::string printable(std::string_view text, std::size_t limit = 120);

}  // namespace potluck::log
