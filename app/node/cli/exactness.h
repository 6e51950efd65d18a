// Whether this build rounds as all others do: one compiled with loosened arithmetic would compute other states than the
// others of a run, and must refuse to train.
// Threads: pure functions.
#pragma once

#include "core/base/result.h"

namespace potluck::node {

/// The sentence to refuse with.
[[nodiscard]] const char* exactness_text();
/// Nothing if this program computes shared state exactly as all others do.
[[nodiscard]] Status check_exactness();

}  // namespace potluck::node
