// The weights of a Hugging Face checkpoint of one of our families as a flat fp32 vector in our order.
//
//   model.safetensors | model.safetensors.index.json + several files  -->  out[model.parameters()]
//
// Takes F32, F16 and BF16 (every value of which an fp32 holds exactly), names with or without the wrappers that
// transformers puts around a model ("transformer.", "model.", "decoder."), and leaves out what is no parameter: GPT-2's
// attention masks, Llama's frequencies, what batch norms remember, and a head that equals the embedding where the two
// are tied. Anything else that is missing, too much, or of another shape is told by name. The files are a stranger's:
// nothing outside their bytes is read and nothing is allocated by their numbers. Does no I/O. Threads: one.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/result.h"
#include "core/model/model_spec.h"

namespace potluck::model {

inline constexpr std::size_t checkpoint_index_bytes_max = 16U << 20U;
inline constexpr std::size_t checkpoint_files_max = 4'096;

/// The files that a model.safetensors.index.json names, each once: plain names within its folder.
[[nodiscard]] Result<std::vector<std::string>> checkpoint_files(ByteSpan index);

/// One safetensors file and what messages call it.
struct CheckpointFile {
    std::string name;
    ByteSpan bytes;
};

/// Fills `out` (model.parameters() floats). `stored_context` is the context of the checkpoint, at least the model's:
/// positions beyond the model's context are left out. `malformed` with a sentence that names the tensor; `out` is then
/// filled in part.
[[nodiscard]] Status read_checkpoint(const ModelSpec& model, std::uint32_t stored_context,
                                     std::span<const CheckpointFile> files, std::span<float> out);

}  // namespace potluck::model
