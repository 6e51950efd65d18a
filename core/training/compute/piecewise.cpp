#include "core/training/compute/piecewise.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cstdint>

namespace potluck::training {

void add_in_pieces(const at::Tensor& target, const at::Tensor& sums) {
    constexpr std::int64_t piece = 1 << 18;
    for (std::int64_t begin = 0; begin < target.numel(); begin += piece) {
        const std::int64_t count = std::min(piece, target.numel() - begin);
        target.narrow(0, begin, count).add_(sums.narrow(0, begin, count).to(target.device()));
    }
}

}  // namespace potluck::training
