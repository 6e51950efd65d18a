// A picture coder as data: an encoder that turns a square picture into a few hundred whole numbers by convolutions, and
// a decoder that turns them into the picture again. Its fields in JSON, its tensors and how many numbers those hold.
// Private to model_spec.cpp, which asks here where the family is coder.
// Pure. Threads: any.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/json.h"
#include "core/model/model_spec.h"

namespace potluck::model {

/// Reads the fields of CoderShape; faults are remembered by `fields`.
[[nodiscard]] CoderShape read_coder(Fields& fields, const ModelSpec& spec);
void write_coder(const CoderShape& shape, nlohmann::json& object);

[[nodiscard]] std::uint64_t coder_parameters(const ModelSpec& spec);
/// Each convolution counts as often as it is applied to a picture, shared among the picture's values.
[[nodiscard]] std::uint64_t coder_applied_parameters(const ModelSpec& spec);
/// In the order in which they are applied.
[[nodiscard]] std::vector<TensorSpec> coder_tensors(const ModelSpec& spec);

}  // namespace potluck::model
