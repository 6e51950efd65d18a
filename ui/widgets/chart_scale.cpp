#include "ui/widgets/chart_scale.h"

#include <algorithm>
#include <cmath>

namespace potluck::ui {

namespace {

AxisRange widened(AxisRange range) {
    if (!std::isfinite(range.low) || !std::isfinite(range.high)) return {0, 1};
    if (range.low > range.high) std::swap(range.low, range.high);
    if (range.high - range.low < 1e-9 * std::max(1.0, std::abs(range.high))) {
        const double half = std::max(0.5, std::abs(range.high) * 0.05);
        return {range.low - half, range.high + half};
    }
    return range;
}

AxisScale scaleWithStep(AxisRange range, double step) {
    AxisScale scale;
    scale.step = step;
    scale.low = std::floor(range.low / step + 1e-9) * step;
    scale.high = std::ceil(range.high / step - 1e-9) * step;
    if (!(scale.high > scale.low)) scale.high = scale.low + step;
    scale.decimals = std::max(0, static_cast<int>(-std::floor(std::log10(step) + 1e-9)));
    return scale;
}

double niceStep(AxisRange range, int ticks) {
    const double raw = (range.high - range.low) / std::max(1, ticks);
    const double power = std::pow(10, std::floor(std::log10(raw)));
    for (const double factor : {1.0, 2.0, 5.0}) {
        if (factor * power >= raw * (1 - 1e-9)) return factor * power;
    }
    return 10 * power;
}

}  // namespace

std::vector<double> AxisScale::ticks() const {
    std::vector<double> values;
    const double first = std::ceil(low / step - 1e-9) * step;
    const auto steps = static_cast<int>(std::floor((high - first) / step + 1e-9));
    for (int index = 0; index <= steps; ++index) values.push_back(first + index * step);
    return values;
}

AxisScale scaleFor(AxisRange range, int ticks) {
    const AxisRange wide = widened(range);
    return scaleWithStep(wide, niceStep(wide, ticks));
}

AxisScale wholeScaleFor(AxisRange range, int ticks) {
    const AxisRange wide = widened(range);
    AxisScale scale = scaleWithStep(wide, std::max(1.0, niceStep(wide, ticks)));
    scale.low = wide.low;
    scale.high = wide.high;
    scale.decimals = 0;
    return scale;
}

}  // namespace potluck::ui
