// Llama-shaped decoders as data: their fields in JSON, their tensors and how many numbers those hold. Private to
// model_spec.cpp, which asks here where the family is llama.
// Pure. Threads: any.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/json.h"
#include "core/model/model_spec.h"

namespace potluck::model {

/// Reads the fields of LlamaShape; faults are remembered by `fields`.
[[nodiscard]] LlamaShape read_llama(Fields& fields, std::uint32_t heads);
void write_llama(const LlamaShape& shape, nlohmann::json& object);

[[nodiscard]] std::uint64_t llama_parameters(const ModelSpec& spec);
[[nodiscard]] std::vector<TensorSpec> llama_tensors(const ModelSpec& spec);

}  // namespace potluck::model
