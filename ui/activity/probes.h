// Every probe of the window's program, for this system.
#pragma once

#include <string>
#include <vector>

#include "core/activity/system/lookout.h"

namespace potluck::ui {

[[nodiscard]] activity::Probes desktopProbes(const std::vector<std::string>& programs);

}  // namespace potluck::ui
