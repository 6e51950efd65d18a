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
    double low = 0;             // first tick, at most the range's low
    double high = 1;            // last tick, at least the range's high
    double step = 1;
    int decimals = 0;           // digits that tell two ticks apart

    [[nodiscard]] std::vector<double> ticks() const;
    /// 0 at `low`, 1 at `high`.
    [[nodiscard]] double position(double value) const { return (value - low) / (high - low); }
};

/// About `ticks` ticks over `range`, which may be empty, reversed or a single value; never more than twice as many.
[[nodiscard]] AxisScale scaleFor(AxisRange range, int ticks);
/// The same with whole steps, for rounds.
[[nodiscard]] AxisScale wholeScaleFor(AxisRange range, int ticks);

}  // namespace potluck::ui
