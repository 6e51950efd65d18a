// Vector files of the trainer's protocol: fp32 parameters from a byte offset on.
#pragma once

#include <cstdint>
#include <span>

#include "core/base/result.h"
#include "core/control/trainer_protocol.h"

namespace potluck::training {

/// Fills `out`; `malformed` if the file is too short or holds a value that is not finite.
[[nodiscard]] Status read_vector(const control::VectorFile& file, std::span<float> out);

/// Writes `values` at the file's offset; what lies before it stays. Creates the file if it is not there. The file is
/// not synced: a snapshot is of use to a living node only.
[[nodiscard]] Status write_vector(const control::VectorFile& file, std::span<const float> values);

}  // namespace potluck::training
