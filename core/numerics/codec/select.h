// The k entries of largest magnitude of one chunk. The answer is unique (ties go to the lower index), so that every
// method returns the same one. Magnitudes are compared as bit patterns without their sign, which sorts floats
// as integers; non-finite entries are set to zero first.
//
// The fast way, for k up to 128: the maxima of 256 interleaved columns of 16 entries give a threshold that at least k
// entries reach, since k columns do. Few entries beyond those k pass it, and only they are looked at again. A larger k
// finds its threshold by radix selection over the pattern's digits. Nothing is sorted.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "core/numerics/codec/sparse_codec.h"
#include "core/numerics/cpu_dispatch.h"

namespace potluck::numerics {

/// Working memory of a selection, about 50 KiB; one per thread. The last 16 places take what a vector store spills.
struct SelectScratch {
    alignas(64) std::array<std::uint32_t, chunk_size> padded;
    alignas(64) std::array<std::uint32_t, chunk_size + 16> patterns;
    alignas(64) std::array<std::uint32_t, chunk_size + 16> places;
};

/// Writes the `keep` places of largest magnitude within `chunk` to `out`, ascending. 1 <= keep <= chunk.size() <= 4096.
using Select = void (*)(std::span<float> chunk, std::size_t keep, std::uint16_t* out, SelectScratch& scratch);

[[nodiscard]] Select select_for(Isa isa);

}  // namespace potluck::numerics
