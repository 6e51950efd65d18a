// What is told of a newer version. Threads: a pure function.
#pragma once

#include <string>

#include "core/control/release_protocol.h"

namespace potluck::node {

/// "Potluck 0.3.0 is out (2030-01-01): It is faster.", and where to get it.
[[nodiscard]] std::string news_text(const control::NewerRelease& newer);

}  // namespace potluck::node
