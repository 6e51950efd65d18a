// The files in which MNIST and Fashion-MNIST come, as they are or packed by gzip:
//
//   0, 0, 8 (bytes), number of sizes | each size, 32 bits, the highest byte first | the bytes, the last size's side by
//   side
//
// Source: Y. LeCun's page of MNIST, "File formats". Only bytes are read, since pictures and labels are nothing else.
// It reads no files itself. Threads: values.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/result.h"

namespace potluck::pictures {

inline constexpr std::size_t idx_sizes_max = 3;
inline constexpr std::uint64_t idx_bytes_max = 512ULL << 20U;

struct IdxTable {
    std::vector<std::uint32_t> sizes;  // 1 to idx_sizes_max of them, none 0
    Bytes values;                      // their product
};

/// `malformed` with a sentence for what is no such file, is cut or goes on, holds more than idx_bytes_max, or is packed
/// as tightly as no pictures are. Memory grows with what is unpacked, and no more is unpacked than the header says.
[[nodiscard]] Result<IdxTable> read_idx(ByteSpan file);

}  // namespace potluck::pictures
