// What the window says about giving way to its owner, in the person's language: why, for how long, and what cannot be
// noticed here. Pure functions; the English of logs and command line is core/activity/words.h.
#pragma once

#include <QString>

#include "core/control/node_protocol.h"

namespace potluck::ui {

/// "A program fills the screen (mpv)." What was noticed comes from programs' names and is made plain text.
[[nodiscard]] QString whyYielding(activity::Signal signal, const std::string& detail);
/// What the switch of a signal says: "A program fills the &screen".
[[nodiscard]] QString ruleText(activity::Signal signal);
/// Why a signal is not, or not wholly, noticed on this computer; empty if it is.
[[nodiscard]] QString blindText(activity::Blindness blindness);
/// "2 h 10 min", "less than a minute".
[[nodiscard]] QString lastedText(std::int64_t seconds);
/// "You played for 2 h 10 min; nothing was trained." `now` in unix seconds, for what goes on.
[[nodiscard]] QString episodeText(const control::EpisodeRow& episode, std::int64_t now);

}  // namespace potluck::ui
