// Round numbers for a chart's axis. Pure functions of values.
#pragma once

#include <vector>

namespace potluck::ui {

struct AxisRange {
    double low = 0;
    double high = 1;
};

/// A scale whose ticks are multiples of 1, 2 or 5 times a power of ten.
struct AxisScale {
    double low = 0;
    double high = 1;
    double step = 1;
    int decimals = 0;  // digits that tell two ticks apart

    /// The multiples of `step` from `low` to `high`.
    [[nodiscard]] std::vector<double> ticks() const;
    /// 0 at `low`, 1 at `high`.
    [[nodiscard]] double position(double value) const { return (value - low) / (high - low); }
};

/// About `ticks` ticks that enclose `range`, which may be empty, reversed or a single value; never more than twice as
/// many.
[[nodiscard]] AxisScale scaleFor(AxisRange range, int ticks);
/// Whole steps inside `range`, which is kept as it is: for rounds, so that the curve fills its width.
[[nodiscard]] AxisScale wholeScaleFor(AxisRange range, int ticks);

}  // namespace potluck::ui
