#include "core/training/kernels/flat.h"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <vector>

#include "core/base/check.h"
#include "core/base/half.h"
#include "core/base/mix.h"
#include "core/base/parallel.h"
#include "core/training/kernels/per_isa.h"

namespace potluck::training {

namespace {

constexpr std::size_t share_min = 1 << 21;  // floats; below this a thread costs more than it saves

struct Range {
    std::size_t begin = 0, end = 0;
    [[nodiscard]] std::size_t size() const { return end - begin; }
};

/// Cuts [0, size) into one share per thread. The cut, and so the order in which sums are added, follows from `threads`.
void for_shares(std::size_t size, unsigned threads, const std::function<void(Range, std::size_t)>& work) {
    const std::size_t shares = std::clamp<std::size_t>(size / share_min, 1, std::max(1U, threads));
    parallel_for(shares, threads, [&] {
        return [&](std::size_t i) { work({size * i / shares, size * (i + 1) / shares}, i); };
    });
}

float to_number(float value) { return value; }
float to_number(std::uint16_t half) { return to_fp32(Bf16{half}); }

#define POTLUCK_KERNELS "core/training/kernels/flat.inl"
#include "core/training/kernels/per_isa.inl"

template <class Dtype>
double squares_of_shares(std::span<const Dtype> values, unsigned threads) {
    std::vector<double> sums(std::max(1U, threads), 0.0);
    for_shares(values.size(), threads, [&](Range range, std::size_t share) {
        sums[share] = POTLUCK_DISPATCH(squares_of, values.data() + range.begin, range.size());
    });
    double total = 0;
    for (const double sum : sums) total += sum;
    return total;
}

}  // namespace

double sum_of_squares(std::span<const float> values, unsigned threads) { return squares_of_shares(values, threads); }
double sum_of_squares(std::span<const std::uint16_t> bits, unsigned threads) {
    return squares_of_shares(bits, threads);
}

void rebase(std::span<float> local, std::span<float> anchor, std::span<const float> next, unsigned threads) {
    POTLUCK_CHECK(local.size() == anchor.size() && local.size() == next.size());
    for_shares(local.size(), threads, [&](Range range, std::size_t) {
        POTLUCK_DISPATCH(rebase_span, local.data() + range.begin, anchor.data() + range.begin,
                         next.data() + range.begin, range.size());
    });
}

void rebase(std::span<std::uint16_t> local, std::span<float> anchor, std::span<const float> next,
            const RoundingKey& key) {
    POTLUCK_CHECK(local.size() == anchor.size() && local.size() == next.size());
    for (std::size_t i = 0; i < local.size(); ++i) {
        const float moved = to_number(local[i]) + (next[i] - anchor[i]);
        const std::uint64_t random = mix64(key.seed ^ (key.first + i)) & 0xFFFFU;
        local[i] = static_cast<std::uint16_t>((std::bit_cast<std::uint32_t>(moved) + random) >> 16U);
        anchor[i] = next[i];
    }
}

}  // namespace potluck::training
