// Filled rectangles only. The curve is one column of pixels for each step to the right, from the loss before to the
// loss there, as thick as stroke; rounds without a measured loss are skipped, as in curve_svg.cpp.
#include "app/node/page/page_picture.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "core/pictures/qr_modules.h"

namespace potluck::node {

namespace {

using Colour = std::array<std::uint8_t, 3>;
constexpr Colour paper{0xfb, 0xfa, 0xf7}, track{0xdd, 0xe1, 0xe6}, accent{0x1f, 0x6f, 0xc4}, faint{0xb0, 0x6a, 0x2c};
constexpr Colour dark{0x00, 0x00, 0x00}, light{0xff, 0xff, 0xff};
constexpr int margin = 60, bar_height = 36, stroke = 8, dash = 24;
constexpr int code_side = 384;  // at most, as the window's picture has it; a module is four pixels of a usual invite

struct Box {
    int x = 0, y = 0, width = 0, height = 0;
};

class Canvas {
public:
    Canvas() {
        m_picture.width = page_picture_width;
        m_picture.height = page_picture_height;
        m_picture.rgb.resize(std::size_t{3} * page_picture_width * page_picture_height);
        fill({0, 0, static_cast<int>(page_picture_width), static_cast<int>(page_picture_height)}, paper);
    }
    /// What lies outside the picture is left out.
    void fill(const Box& box, const Colour& colour) {
        const int right_end = std::min<int>(box.x + box.width, page_picture_width);
        const int bottom_end = std::min<int>(box.y + box.height, page_picture_height);
        for (int y = std::max(0, box.y); y < bottom_end; ++y) {
            for (int x = std::max(0, box.x); x < right_end; ++x) {
                const std::size_t at =
                    3 * (static_cast<std::size_t>(y) * page_picture_width + static_cast<std::size_t>(x));
                std::ranges::copy(colour, m_picture.rgb.begin() + static_cast<std::ptrdiff_t>(at));
            }
        }
    }
    pictures::Picture take() { return std::move(m_picture); }

private:
    pictures::Picture m_picture;
};

/// Losses by round: of the validation, else of the training.
std::vector<std::pair<std::uint64_t, double>> losses_of(const PageFacts& facts) {
    const auto of = [&](double control::CurvePoint::*loss) {
        std::vector<std::pair<std::uint64_t, double>> losses;
        for (const control::CurvePoint& point : facts.curve) {
            if (std::isfinite(point.*loss) && point.*loss > 0) losses.emplace_back(point.round, point.*loss);
        }
        return losses;
    };
    auto losses = of(&control::CurvePoint::validation);
    return losses.empty() ? of(&control::CurvePoint::loss) : losses;
}

void draw_progress(Canvas& canvas, const control::RunSnapshot& run) {
    const Box bar{margin, static_cast<int>(page_picture_height) - margin - bar_height,
                  static_cast<int>(page_picture_width) - 2 * margin, bar_height};
    canvas.fill(bar, track);
    const double share =
        static_cast<double>(run.round) / static_cast<double>(std::max({run.total_rounds, run.round, std::uint64_t{1}}));
    canvas.fill({bar.x, bar.y, static_cast<int>(share * bar.width), bar.height}, accent);
}

/// At the right, above the bar. Returns how much of the width it takes; none for a link that no code holds.
int draw_code(Canvas& canvas, const std::string& link) {
    const pictures::QrModules modules = pictures::qr_modules(link);
    if (modules.side == 0) return 0;
    const int across = modules.side + 2 * pictures::quiet_modules, pixels = std::max(2, code_side / across);
    const Box square{static_cast<int>(page_picture_width) - margin - pixels * across, margin, pixels * across,
                     pixels * across};
    canvas.fill(square, light);
    for (int row = 0; row < modules.side; ++row) {
        for (int column = 0; column < modules.side; ++column) {
            if (!modules.dark[static_cast<std::size_t>(row * modules.side + column)]) continue;
            canvas.fill({square.x + (column + pictures::quiet_modules) * pixels,
                         square.y + (row + pictures::quiet_modules) * pixels, pixels, pixels},
                        dark);
        }
    }
    return square.width + margin;
}

void draw_curve(Canvas& canvas, const PageFacts& facts, const control::RunSnapshot& run, int code_width) {
    const auto losses = losses_of(facts);
    if (losses.size() < 2) return;
    const Box plot{margin, margin, static_cast<int>(page_picture_width) - 2 * margin - code_width,
                   static_cast<int>(page_picture_height) - 3 * margin - bar_height};
    const auto by_loss = [](const auto& a, const auto& b) { return a.second < b.second; };
    double low = std::ranges::min_element(losses, by_loss)->second,
           high = std::ranges::max_element(losses, by_loss)->second;
    const bool has_baseline = std::isfinite(run.bigram_loss) && run.bigram_loss > 0;
    if (has_baseline) low = std::min(low, run.bigram_loss), high = std::max(high, run.bigram_loss);
    const double span = std::max(high - low, 1e-9);
    const auto height_of = [&](double loss) { return plot.y + static_cast<int>((high - loss) / span * plot.height); };
    const double first = static_cast<double>(losses.front().first);
    const double rounds = std::max(static_cast<double>(losses.back().first) - first, 1.0);
    if (has_baseline) {
        for (int x = plot.x; x < plot.x + plot.width; x += 2 * dash)
            canvas.fill({x, height_of(run.bigram_loss), dash, stroke / 2}, faint);
    }
    std::optional<std::pair<int, int>> last;
    for (const auto& [round, loss] : losses) {
        const int x = plot.x + static_cast<int>((static_cast<double>(round) - first) / rounds * (plot.width - stroke));
        const int y = height_of(loss);
        const auto [from_x, from_y] = last.value_or(std::pair(x, y));
        for (int step = from_x; step <= x; ++step) {
            const double share = x == from_x ? 1 : static_cast<double>(step - from_x) / (x - from_x);
            canvas.fill({step, static_cast<int>(std::lerp(from_y, y, share)) - stroke / 2, stroke, stroke}, accent);
        }
        last = {x, y};
    }
}

}  // namespace

pictures::Picture page_picture(const PageFacts& facts) {
    Canvas canvas;
    canvas.fill({0, 0, static_cast<int>(page_picture_width), margin / 4}, accent);
    if (const auto& run = facts.status.run) {
        draw_progress(canvas, *run);
        // A node that does not run knows its invite only.
        draw_curve(canvas, facts, *run, draw_code(canvas, run->link.empty() ? run->magnet : run->link));
    }
    return canvas.take();
}

}  // namespace potluck::node
