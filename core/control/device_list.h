// The devices that a person chose to train, as one text: "cpu", "mps", "cuda:1", or several GPUs that train together,
// "cuda:0,cuda:2". An empty text leaves the choice to the trainer. Node, trainer and window read it by this file.
//
// Does not: know which devices there are. Threads: functions of values.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace potluck::control {

/// As many as there are ids, "cuda:0" to "cuda:15".
inline constexpr std::size_t gpus_chosen_max = 16;
/// Sixteen ids of seven bytes, and the commas between them.
inline constexpr std::size_t device_choice_bytes_max = 128;

/// The ids one by one, in the order of their numbers, "cuda" as "cuda:0"; none of an empty text. `invalid_argument`
/// with a sentence for an id that cannot be, one that stands there twice, and "cpu" or "mps" beside another.
[[nodiscard]] Result<std::vector<std::string>> devices_of_choice(const std::string& text);

/// The reverse.
[[nodiscard]] std::string choice_of(std::span<const std::string> devices);

}  // namespace potluck::control
