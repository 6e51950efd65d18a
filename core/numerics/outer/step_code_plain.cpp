// C as docs/payload-format.md describes it, as directly as it can be written: the means of one coordinate after the
// other, each chunk sorted, each bit put one by one, every gap code tried in full.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/numerics/codec/bit_string.h"
#include "core/numerics/outer/outer_step.h"
#include "core/numerics/outer/step_code.h"
#include "core/numerics/require.h"
#include "core/numerics/rounding.h"

namespace potluck::numerics {

namespace {

/// One chunk's kept means, as they are written.
struct PlainChunk {
    std::vector<std::uint32_t> gaps;
    std::vector<int> scales;
    std::vector<int> values;
};

/// The smallest scale for which no value of the block is beyond 7, found by trying.
int plain_scale(std::span<const float> block) {
    float largest = 0;
    for (const float mean : block) largest = std::max(largest, std::fabs(mean));
    if (largest == 0) return 0;
    int scale = -126;
    while (std::nearbyint(std::ldexp(static_cast<double>(largest), -scale)) > 7) ++scale;
    return scale;
}

PlainChunk chunk_of(std::span<const float> means, std::size_t kept) {
    std::vector<std::size_t> places(means.size());
    std::iota(places.begin(), places.end(), std::size_t{0});
    std::stable_sort(places.begin(), places.end(),
                     [&](std::size_t a, std::size_t b) { return std::fabs(means[a]) > std::fabs(means[b]); });
    places.resize(kept);
    std::sort(places.begin(), places.end());
    PlainChunk chunk;
    std::vector<float> chosen;
    std::size_t next = 0;
    for (const std::size_t place : places) {
        chunk.gaps.push_back(static_cast<std::uint32_t>(place - next));
        chosen.push_back(means[place]);
        next = place + 1;
    }
    for (std::size_t at = 0; at < kept; at += 256) {
        const std::span<const float> block = std::span(chosen).subspan(at, std::min<std::size_t>(256, kept - at));
        const int scale = plain_scale(block);
        chunk.scales.push_back(scale);
        for (const float mean : block) {
            chunk.values.push_back(static_cast<int>(std::nearbyint(std::ldexp(static_cast<double>(mean), -scale))));
        }
    }
    return chunk;
}

std::vector<std::byte> group_of(std::span<const float> means, std::uint32_t kept) {
    PlainChunk all;
    for (std::size_t at = 0; at < means.size(); at += chunk_size) {
        const std::size_t length = std::min(chunk_size, means.size() - at);
        const PlainChunk one = chunk_of(means.subspan(at, length), (length * kept + 4095) / 4096);
        all.gaps.insert(all.gaps.end(), one.gaps.begin(), one.gaps.end());
        all.scales.insert(all.scales.end(), one.scales.begin(), one.scales.end());
        all.values.insert(all.values.end(), one.values.begin(), one.values.end());
    }
    BitString group;
    const bool has_gaps = kept < 4096;
    const auto [code, gaps] = has_gaps ? code_gaps_plain(all.gaps) : std::pair<unsigned, BitString>{};
    group.put(code, 8);
    for (const int scale : all.scales) group.put(static_cast<std::uint64_t>(scale) & 255U, 8);
    for (const int value : all.values) group.put(static_cast<std::uint64_t>(value) & 15U, 4);
    group.put(0, (8 - group.size() % 8) % 8);
    for (const std::byte byte : gaps.bytes()) group.put(std::to_integer<std::uint64_t>(byte), 8);
    return group.bytes();
}

}  // namespace

std::vector<std::byte> encode_step_plain(std::span<const WeightedPayload> list, std::uint64_t size, OuterStep step) {
    const RoundingGuard guard;
    // An exact step from zero with alpha -1 is the means themselves.
    step.alpha = -1.0F;
    step.form = StepForm::exact;
    std::vector<float> means(static_cast<std::size_t>(size), 0.0F);
    apply_outer_step_plain(means, means, list, step);
    std::uint32_t k = 0;
    for (const WeightedPayload& entry : list) k = std::max(k, entry.payload->k());
    const std::uint32_t kept = kept_of_step(k);
    BitString table;
    std::vector<std::byte> groups;
    for (const char letter : {'P', 'L', 'S', '1'}) table.put(static_cast<std::uint64_t>(letter), 8);
    table.put(kept, 32);
    table.put(size, 64);
    for (std::size_t begin = 0; begin < means.size(); begin += group_size) {
        const auto length = std::min(group_size, means.size() - begin);
        const std::vector<std::byte> group = group_of(std::span<const float>(means).subspan(begin, length), kept);
        table.put(group.size(), 32);
        groups.insert(groups.end(), group.begin(), group.end());
    }
    std::vector<std::byte> bytes = table.bytes();
    bytes.insert(bytes.end(), groups.begin(), groups.end());
    return bytes;
}

}  // namespace potluck::numerics
