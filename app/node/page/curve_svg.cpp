// One coordinate system: rounds from 0 to the run's last across, nats per token upwards, between the least and the
// greatest loss with a twentieth to spare. The baseline is drawn only where it lies in that range or close by,
// so that it cannot flatten the curve. Of many points every n-th is drawn, and always the last.
#include "app/node/page/curve_svg.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/base/text.h"
#include "core/control/curve_gaps.h"

namespace potluck::node {

namespace {

constexpr double width = 720, height = 280, left = 52, right = 16, top = 14, bottom = 34;
constexpr std::size_t points_drawn_max = 240;

struct Point {
    std::uint64_t round = 0;
    double loss = 0;
};

class Frame {
public:
    Frame(double rounds, double low, double high) : m_rounds(std::max(rounds, 1.0)), m_low(low), m_high(high) {}
    [[nodiscard]] double x(double round) const { return left + (width - left - right) * round / m_rounds; }
    [[nodiscard]] double y(double loss) const {
        return top + (height - top - bottom) * (m_high - loss) / (m_high - m_low);
    }
    [[nodiscard]] double rounds() const { return m_rounds; }
    [[nodiscard]] double low() const { return m_low; }
    [[nodiscard]] double high() const { return m_high; }

private:
    double m_rounds, m_low, m_high;
};

std::vector<Point> thinned(std::vector<Point> points) {
    const std::size_t step = points.size() / points_drawn_max + 1;
    std::vector<Point> kept;
    for (std::size_t i = 0; i < points.size(); ++i) {
        if (i % step == 0 || i + 1 == points.size()) kept.push_back(points[i]);
    }
    return kept;
}

std::string line_of(const Frame& frame, const std::vector<Point>& points, const char* kind, const char* label) {
    if (points.empty()) return {};
    std::vector<std::uint64_t> rounds;
    for (const Point& point : points) rounds.push_back(point.round);
    const std::vector<std::size_t> breaks = control::curve_breaks(rounds);
    std::vector<std::string> paths(1);
    std::string lines, dots;
    for (std::size_t i = 0; i < points.size(); ++i) {
        const Point& point = points[i];
        const double x = frame.x(static_cast<double>(point.round)), y = frame.y(point.loss);
        if (std::ranges::binary_search(breaks, i)) paths.emplace_back();
        paths.back() += formatted(paths.back().empty() ? "%.1f,%.1f" : " %.1f,%.1f", x, y);
        dots += formatted(
            "<circle class=\"dot %s\" cx=\"%.1f\" cy=\"%.1f\" r=\"%s\"><title>%s, round %llu: %.4f</title></circle>\n",
            kind, x, y, points.size() > 60 ? "1.6" : "2.6", label, static_cast<unsigned long long>(point.round),
            point.loss);
    }
    for (const std::string& path : paths)
        lines += "<polyline class=\"line " + std::string(kind) + "\" points=\"" + path + "\"/>\n";
    return lines + dots;
}

std::string axes(const Frame& frame) {
    std::string svg;
    const double loss_step = tick_step(frame.high() - frame.low(), 6);
    for (double loss = std::ceil(frame.low() / loss_step) * loss_step; loss <= frame.high(); loss += loss_step) {
        const double y = frame.y(loss);
        svg += formatted("<line class=\"grid\" x1=\"%.0f\" x2=\"%.0f\" y1=\"%.1f\" y2=\"%.1f\"/>\n", left,
                         width - right, y, y);
        svg += formatted("<text class=\"tick\" x=\"%.0f\" y=\"%.1f\" text-anchor=\"end\">%.*f</text>\n", left - 8,
                         y + 4, loss_step < 0.1 ? 2 : 1, loss);
    }
    const double round_step = std::max(1.0, tick_step(frame.rounds(), 8));
    for (double round = 0; round <= frame.rounds(); round += round_step) {
        svg += formatted("<text class=\"tick\" x=\"%.1f\" y=\"%.0f\" text-anchor=\"middle\">%.0f</text>\n",
                         frame.x(round), height - 12, round);
    }
    return svg;
}

}  // namespace

double tick_step(double range, int ticks_max) {
    const double least = range / ticks_max;
    const double power = std::pow(10.0, std::floor(std::log10(least)));
    for (const double factor : {1.0, 2.0, 5.0}) {
        if (factor * power >= least) return factor * power;
    }
    return 10 * power;
}

std::string curve_svg(const CurvePlan& plan) {
    const bool trains = plan.kind == CurveKind::training;
    std::vector<Point> points;
    double low = std::numeric_limits<double>::max(), high = 0, last = 0;
    for (const control::CurvePoint& point : plan.points) {
        const double loss = trains ? point.loss : point.validation;
        if (loss <= 0 || !std::isfinite(loss)) continue;
        points.push_back({point.round, loss});
        low = std::min(low, loss);
        high = std::max(high, loss);
        last = std::max(last, static_cast<double>(point.round));
    }
    if (points.empty()) return {};
    const double spare = std::max(0.05 * (high - low), 0.02);
    const bool shows_baseline =
        !trains && plan.baseline_loss > low - 0.5 * (high - low) && plan.baseline_loss < high + 0.5 * (high - low);
    if (shows_baseline) {
        low = std::min(low, plan.baseline_loss);
        high = std::max(high, plan.baseline_loss);
    }
    const Frame frame(std::max(last, static_cast<double>(plan.total_rounds)), low - spare, high + spare);
    std::string svg = formatted(
                          "<svg class=\"curve\" viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-label=\"%s over rounds\">\n"
                          "<title>%s over rounds</title>\n",
                          width, height, plan.measured.c_str(), plan.measured.c_str()) +
                      axes(frame);
    if (shows_baseline) {
        const double y = frame.y(plan.baseline_loss);
        svg += formatted(
            "<line class=\"baseline\" x1=\"%.0f\" x2=\"%.0f\" y1=\"%.1f\" y2=\"%.1f\"><title>a %s model: %.4f"
            "</title></line>\n",
            left, width - right, y, y, plan.baseline.c_str(), plan.baseline_loss);
    }
    const char* kind = trains ? "training" : "validation";
    svg += line_of(frame, thinned(std::move(points)), kind, kind);
    return svg + "</svg>\n";
}

}  // namespace potluck::node
