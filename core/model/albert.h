// ALBERT (Lan et al. 2019) as data: an encoder whose layers share one set of weights, with a head for masked tokens and
// one for the order of two texts. Its fields in JSON, its tensors and how many numbers those hold. Private to
// model_spec.cpp, which asks here where the family is albert.
// Pure. Threads: any.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/json.h"
#include "core/model/model_spec.h"

namespace potluck::model {

/// Reads the fields of AlbertShape; faults are remembered by `fields`.
[[nodiscard]] AlbertShape read_albert(Fields& fields, std::uint32_t vocabulary);
void write_albert(const AlbertShape& shape, nlohmann::json& object);

[[nodiscard]] std::uint64_t albert_parameters(const ModelSpec& spec);
/// The layer counts as often as it is applied, the head of masked tokens for the share of tokens that is masked.
[[nodiscard]] std::uint64_t albert_applied_parameters(const ModelSpec& spec);
[[nodiscard]] std::vector<TensorSpec> albert_tensors(const ModelSpec& spec);

}  // namespace potluck::model
