#include "core/run/curve/loss_curve.h"

#include <algorithm>

#include "core/base/check.h"

namespace potluck::run {

namespace {

/// Rounds from one point to the one before it; points[0] has none before it.
std::uint64_t distance_at(const std::vector<LossPoint>& points, std::size_t index) {
    return points[index].round.value - points[index - 1].round.value;
}

/// More than a fifth above: what noise of a few thousand tokens does not do.
bool is_far_above(std::uint32_t loss, std::uint32_t best) { return std::uint64_t{loss} * 5 > std::uint64_t{best} * 6; }

}  // namespace

void LossCurve::add(const LossPoint& point) {
    POTLUCK_CHECK(points.empty() || points.back().round < point.round);
    // The newest one only stood in for this one.
    const bool is_too_close = points.size() >= 2 && distance_at(points, points.size() - 1) < stride;
    if (is_too_close) points.pop_back();
    points.push_back(point);
    if (points.size() <= loss_points_max) return;
    std::size_t index = 0;
    std::erase_if(points, [&](const LossPoint&) { return index++ % 2 == 1; });
    // At least twice as far as before. The newest one does not count: it may be closer.
    stride = measured_round_max;
    for (std::size_t i = 1; i + 1 < points.size(); ++i) stride = std::min(stride, distance_at(points, i));
}

void LossCurve::write(ByteWriter& out) const {
    POTLUCK_CHECK(!points.empty());
    wire::write(out, *this);
}

LossCurve LossCurve::read(ByteReader& in) {
    auto curve = wire::read<LossCurve>(in);
    if (!wire::rises(curve.points, &LossPoint::round)) in.fail();
    for (std::size_t i = 1; i + 1 < curve.points.size(); ++i) {
        if (distance_at(curve.points, i) < curve.stride) in.fail();
    }
    return curve;
}

std::optional<LossPoint> best_before_divergence(const LossCurve& curve) {
    if (curve.points.size() < 2) return std::nullopt;
    const auto is_less = [](const LossPoint& a, const LossPoint& b) { return a.loss < b.loss; };
    const LossPoint best = *std::min_element(curve.points.begin(), curve.points.end(), is_less);
    if (curve.points.back().loss > curve.points.front().loss) return best;
    if (curve.points.size() <= points_to_diverge) return std::nullopt;
    const auto last = curve.points.end() - static_cast<std::ptrdiff_t>(points_to_diverge);
    const auto is_far = [&](const LossPoint& point) { return is_far_above(point.loss, best.loss); };
    return std::all_of(last, curve.points.end(), is_far) ? std::optional(best) : std::nullopt;
}

}  // namespace potluck::run
