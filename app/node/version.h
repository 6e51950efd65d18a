// The program's version, from the build.
#pragma once

namespace potluck::node {

inline constexpr const char* version = POTLUCK_VERSION;

}  // namespace potluck::node
