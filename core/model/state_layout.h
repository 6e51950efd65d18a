// The state file: a safetensors file of fp32 tensors whose header is a pure function of the model spec, padded with
// spaces to a whole number of 16 KiB blocks, so that equal parameters give equal files, equal Merkle roots and a
// checkpoint that opens in Python as it is. Format: huggingface/safetensors README.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/result.h"
#include "core/model/model_spec.h"

namespace potluck::model {

struct StateLayout {
    Bytes header;                  // 8-byte length, JSON, padding: a multiple of 16,384 bytes
    std::uint64_t parameters = 0;  // fp32 values that follow the header
    [[nodiscard]] std::uint64_t file_size() const { return header.size() + 4 * parameters; }
};

[[nodiscard]] StateLayout state_layout(const ModelSpec& spec);

/// The parameters within a state file's bytes; `malformed` if the bytes are not a state of this layout.
[[nodiscard]] Result<std::span<const float>> parameters_of(const StateLayout& layout, ByteSpan file);

/// One entry of any safetensors header.
struct SafetensorsEntry {
    std::string name;
    std::string dtype;  // "F32", "BF16", "F16", ...
    std::vector<std::uint64_t> shape;
    std::uint64_t begin = 0, end = 0;  // bytes, relative to the end of the header
};

inline constexpr std::uint64_t safetensors_header_max = 16ULL << 20U;
inline constexpr std::size_t safetensors_tensors_max = 65'536;

/// Reads the header of any safetensors file of `file_size` bytes from its first bytes. Strict: sizes match dtype and
/// shape, ranges are inside the file, in order and do not overlap.
[[nodiscard]] Result<std::vector<SafetensorsEntry>> parse_safetensors_header(ByteSpan start, std::uint64_t file_size);

}  // namespace potluck::model
