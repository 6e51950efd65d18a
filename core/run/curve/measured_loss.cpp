#include "core/run/curve/measured_loss.h"

#include <algorithm>
#include <cmath>

#include "core/base/check.h"

namespace potluck::run {

std::uint32_t measured_loss_of(double nats) {
    if (!std::isfinite(nats) || nats <= 0) return 0;
    const double millionths = std::min(nats * 1e6, static_cast<double>(measured_loss_max));
    return std::max(1U, static_cast<std::uint32_t>(std::llround(millionths)));
}

std::uint32_t Measured::median() const {
    POTLUCK_CHECK(!losses.empty());
    std::vector<std::uint32_t> all;
    for (const SignedLoss& one : losses) all.push_back(one.loss);
    const auto middle = all.begin() + static_cast<std::ptrdiff_t>((all.size() - 1) / 2);
    std::nth_element(all.begin(), middle, all.end());
    return *middle;
}

}  // namespace potluck::run
