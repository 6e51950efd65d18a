// One of the run's losses as a drawing that needs no script: SVG with classes, which the page's style colours for light
// and dark. Every point has a title, which a browser shows under the pointer. Rounds of which nothing is known are a
// gap. Threads: functions of values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/control/node_protocol.h"

namespace potluck::node {

/// The validation loss stands beside the baseline, which is one; the members' training loss beside nothing.
enum class CurveKind { validation, training };

struct CurvePlan {
    CurveKind kind = CurveKind::validation;
    std::vector<control::CurvePoint> points;  // by rising round
    std::uint64_t total_rounds = 0;           // the width of the drawing; 0: up to the last point
    double baseline_loss = 0;                 // drawn beside a validation loss; 0: none
    std::string baseline = "bigram";          // what it is of
    std::string measured = {};                // the losses, as a title
};

/// Empty if no point has such a loss.
[[nodiscard]] std::string curve_svg(const CurvePlan& plan);

/// Distances between ticks that people read well: 1, 2 or 5 times a power of ten, at most `ticks_max` in `range` > 0.
[[nodiscard]] double tick_step(double range, int ticks_max);

}  // namespace potluck::node
