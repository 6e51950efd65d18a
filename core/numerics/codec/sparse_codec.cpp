#include "core/numerics/codec/sparse_codec.h"

#include <array>

#include "core/numerics/codec/encoder.h"
#include "core/numerics/codec/gap_code.h"
#include "core/numerics/codec/payload_layout.h"
#include "core/numerics/parallel.h"
#include "core/numerics/require.h"

namespace potluck::numerics {

void accumulate_error(std::span<float> error, std::span<const float> anchor, std::span<const float> local, float decay,
                      unsigned threads) {
    require(error.size() == anchor.size() && error.size() == local.size());
    const auto count = static_cast<std::size_t>(layout::group_count(error.size()));
    exact_parallel_for(count, threads, [&] {
        return [=](std::size_t group) {
            const std::size_t begin = group * group_size;
            const std::size_t length = std::min(group_size, error.size() - begin);
            float* POTLUCK_RESTRICT e = error.data() + begin;
            const float* POTLUCK_RESTRICT m = anchor.data() + begin;
            const float* POTLUCK_RESTRICT l = local.data() + begin;
            for (std::size_t i = 0; i < length; ++i) e[i] = decay * e[i] + (m[i] - l[i]);
        };
    });
}

std::vector<std::byte> encode(std::span<float> error, std::uint32_t k, unsigned threads) {
    return encode_with(isa_in_use(), error, k, threads);
}

void add_decoded(std::span<float> target, const PayloadView& payload, float scale, unsigned threads) {
    require(target.size() == payload.size());
    // A group is decoded before it is added: the additions then wait for memory side by side instead of in turn.
    exact_parallel_for(payload.group_count(), threads, [&] {
        const std::size_t most = chunks_per_group * payload.k();
        return [target, &payload, scale, indices = std::vector<std::uint32_t>(most),
                codes = std::vector<std::uint8_t>(most)](std::size_t group) mutable {
            std::array<float, 4> step{};
            const std::size_t count = payload.decode_group(group, indices, codes, step);
            for (float& mean : step) mean = scale * mean;
            float* const at = target.data() + group * group_size;
            for (std::size_t i = 0; i < count; ++i) at[indices[i]] = at[indices[i]] + step[codes[i]];
        };
    });
}

std::uint64_t payload_bytes_max(std::uint64_t size, std::uint32_t k) {
    require(k >= 1 && k <= sent_max);
    const std::uint64_t groups = layout::group_count(size);
    std::uint64_t bytes = layout::header_size + groups * (layout::table_entry_size + layout::group_header_size);
    // For every chunk, some Rice parameter b needs no more than (1 + b) k bits and one bit per 2^b skipped
    // parameters; the 28-bit escape for 16 zeros and more at most doubles the latter.
    std::uint64_t chunk_bits = ~0ULL;
    for (unsigned b = 0; b <= gap_code::parameter_max; ++b) {
        chunk_bits = std::min<std::uint64_t>(chunk_bits, (1 + b) * k + 2 * ((chunk_size - k) >> b));
    }
    const std::uint64_t chunks = size / chunk_size + (size % chunk_size != 0);
    // Per group, codes and gaps each end in a byte that may be partly used; a short last chunk keeps at most k.
    bytes += groups * 2 + (chunks * (2 * k + chunk_bits) + 7) / 8;
    return bytes;
}

}  // namespace potluck::numerics
