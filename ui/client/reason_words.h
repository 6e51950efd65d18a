// The window's words for a node's reasons: a title and a sentence for each, in the person's language. The English of
// logs and command line is core/status/sentence.h.
//
// Threads: pure, but for locale and time zone.
#pragma once

#include <QString>

#include "core/status/states.h"

namespace potluck::ui {

/// "Paused"; `trains`: whether this computer is there to train, and not only to share.
[[nodiscard]] QString titleOf(status::Reason reason, bool trains);
/// One or two sentences that say why, and what to do where no button says it. Names and details are made plain text.
[[nodiscard]] QString sentenceOf(const status::Why& why);
/// "21:37", or "Tue, 24 Nov, 08:00" if that is on another day than `now`.
[[nodiscard]] QString timeText(std::int64_t unixTime, std::int64_t now);

}  // namespace potluck::ui
