#include "core/run/curve/measured_loss.h"

#include <algorithm>
#include <cmath>

namespace potluck::run {

std::uint32_t measured_loss_of(double nats) {
    if (!std::isfinite(nats) || nats <= 0) return 0;
    const double millionths = std::min(nats * 1e6, static_cast<double>(measured_loss_max));
    return std::max(1U, static_cast<std::uint32_t>(std::llround(millionths)));
}

}  // namespace potluck::run
