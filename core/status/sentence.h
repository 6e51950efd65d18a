// A reason as English sentences, for logs and the command line, with what to do where there is something to do. The
// window has its own in the person's language (ui/client/reason_words.h).
//
// Threads: pure, but for the time zone.
#pragma once

#include <string>

#include "core/status/reason.h"

namespace potluck::status {

[[nodiscard]] std::string sentence(const Why& why);
/// "18:05" in this computer's time zone.
[[nodiscard]] std::string clock_text(std::int64_t unix_time);

}  // namespace potluck::status
