// A decision as an English sentence, for logs and the command line. The window has its own in the person's language.
#pragma once

#include <string>

#include "core/activity/signals.h"

namespace potluck::activity {

/// "Paused while a game runs (Steam app 1091500)", "Training quietly while you use the computer"; without a full stop,
/// because what becomes of the memory follows. `decision` is none that runs.
[[nodiscard]] std::string sentence(const Decision& decision);
/// "while a game runs (Steam app 1091500)"
[[nodiscard]] std::string reason(Signal signal, const std::string& detail);

}  // namespace potluck::activity
