// What each family of its own brings to a model: its fields in JSON, its tensors and how many numbers those hold, in a
// source of the family's name. Private to model_spec.cpp, which asks here.
//
//   llama   Llama-shaped decoders
//   albert  an encoder whose layers share one set of weights, with a head for masked tokens and one for the order of
//           two texts (Lan et al. 2019)
//   coder   an encoder that turns a square picture into a few hundred whole numbers by convolutions, and a decoder that
//           turns them into the picture again
//   dalle   a decoder that goes on from a caption with the codes of a picture; its layers share a few sets of weights,
//           each has norms and scales of its own (Ramesh et al. 2021)
//   swav    a residual network that learns from pictures alone, by clusters (Caron et al. 2020)
//
// Pure. Threads: any.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/json.h"
#include "core/model/model_spec.h"

namespace potluck::model {

/// Each reads the fields of its shape; faults are remembered by `fields`.
[[nodiscard]] LlamaShape read_llama(Fields& fields, std::uint32_t heads);
[[nodiscard]] AlbertShape read_albert(Fields& fields, std::uint32_t vocabulary);
[[nodiscard]] CoderShape read_coder(Fields& fields, const ModelSpec& spec);
[[nodiscard]] DalleShape read_dalle(Fields& fields, const ModelSpec& spec);
[[nodiscard]] SwavShape read_swav(Fields& fields, const ModelSpec& spec);

void write_llama(const LlamaShape& shape, nlohmann::json& object);
void write_albert(const AlbertShape& shape, nlohmann::json& object);
void write_coder(const CoderShape& shape, nlohmann::json& object);
void write_dalle(const DalleShape& shape, nlohmann::json& object);
void write_swav(const SwavShape& shape, nlohmann::json& object);

[[nodiscard]] std::uint64_t llama_parameters(const ModelSpec& spec);
[[nodiscard]] std::uint64_t albert_parameters(const ModelSpec& spec);
[[nodiscard]] std::uint64_t coder_parameters(const ModelSpec& spec);
[[nodiscard]] std::uint64_t dalle_parameters(const ModelSpec& spec);
[[nodiscard]] std::uint64_t swav_parameters(const ModelSpec& spec);

/// The layer counts as often as it is applied, the head of masked tokens for the share of tokens that is masked.
[[nodiscard]] std::uint64_t albert_applied_parameters(const ModelSpec& spec);
/// Each convolution counts as often as it is applied to a picture, shared among the picture's values.
[[nodiscard]] std::uint64_t coder_applied_parameters(const ModelSpec& spec);
/// A set of weights counts as often as it is applied; the head is two, of captions and of codes.
[[nodiscard]] std::uint64_t dalle_applied_parameters(const ModelSpec& spec);
/// What all crops of a picture cost, shared among the picture's values.
[[nodiscard]] std::uint64_t swav_applied_parameters(const ModelSpec& spec);

[[nodiscard]] std::vector<TensorSpec> llama_tensors(const ModelSpec& spec);
[[nodiscard]] std::vector<TensorSpec> albert_tensors(const ModelSpec& spec);
/// In the order in which they are applied.
[[nodiscard]] std::vector<TensorSpec> coder_tensors(const ModelSpec& spec);
[[nodiscard]] std::vector<TensorSpec> dalle_tensors(const ModelSpec& spec);
[[nodiscard]] std::vector<TensorSpec> swav_tensors(const ModelSpec& spec);

}  // namespace potluck::model
