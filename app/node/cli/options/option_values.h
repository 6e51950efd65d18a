// What a person writes as an option's value, read strictly: times, signals, hours, addresses.
// Threads: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/activity/rules.h"
#include "core/activity/schedule.h"
#include "core/activity/signals.h"
#include "core/base/result.h"
#include "core/run/invite.h"

namespace potluck::node {

/// "90s", "30m", "1h30m", "2d" as seconds; a number without its unit is refused with the question which.
[[nodiscard]] Result<std::int64_t> parse_duration(const std::string& text);
/// "battery,load", "none" or "usual" (what a new data folder has): which signals pause training.
[[nodiscard]] Result<std::vector<activity::Signal>> parse_signals(const std::string& text);
/// "22-6" trains from 22 to 6 o'clock and pauses the rest of each day, "all" trains at every hour.
[[nodiscard]] Result<activity::Schedule> parse_hours(const std::string& text);
/// "host:port" or "[v6]:port".
/// `source` is where the text stands, for the sentence about a mistyped one.
[[nodiscard]] Result<run::PeerHint> parse_endpoint(const std::string& text, const char* source);
/// The signals of which a node without a window knows anything, and the hours: "battery, load, ...".
[[nodiscard]] std::string signal_words();

}  // namespace potluck::node
