// The run's validation losses by round, from its lists alone: the same on every computer, few enough for a table of
// credit (core/run/credit_table.h). It gets coarser with the run, never shorter:
//
//   every point --512 are full--> every second one, twice as far apart --full again--> ...
//
// The newest point always stands; the next one takes its place if it came sooner than the others are apart.
//
// Threads: a value.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/ids.h"
#include "core/run/curve/measured_loss.h"

namespace potluck::run {

inline constexpr std::size_t loss_points_max = 512;
/// Stride, number and points of a curve in a table.
inline constexpr std::size_t loss_curve_bytes_max = 8 + 2 + 12 * loss_points_max;

struct LossPoint {
    RoundId round;           // of the state
    std::uint32_t loss = 1;  // millionths of a nat a token
    bool operator==(const LossPoint&) const = default;

    static constexpr std::string_view label = "point";
    static void fields(auto& it, auto&& field) {
        field("round", it.round, wire::Whole{0, measured_round_max}, "of the state");
        field("loss", it.loss, wire::Whole{1, measured_loss_max}, "millionths of a nat a token");
    }
};

struct LossCurve {
    std::vector<LossPoint> points;  // by rising round, at most loss_points_max
    std::uint64_t stride = 1;       // rounds that two neighbours are apart at least, but for the newest
    bool operator==(const LossCurve&) const = default;

    static constexpr std::string_view label = "curve";
    static void fields(auto& it, auto&& field) {
        field("stride", it.stride, wire::Whole{1, measured_round_max}, "rounds that two points are apart at least");
        field("points", it.points, wire::list_of<std::uint16_t>(1, loss_points_max, wire::Part{}),
              "by rising round, at least the stride apart but for the newest");
    }

    /// `point` is of a later round than all others.
    void add(const LossPoint& point);

    /// The curve has at least one point.
    void write(ByteWriter& out) const;
    /// Fails the reader if points are out of order, too close or out of range, or if there is none.
    [[nodiscard]] static LossCurve read(ByteReader& in);
};

/// Points in a row that are far above the best one in a run that diverges.
inline constexpr std::size_t points_to_diverge = 5;

/// The best point of a run that gets worse: its newest point is above its first, or the last five are each more than a
/// fifth above the best. Nothing while it learns.
[[nodiscard]] std::optional<LossPoint> best_before_divergence(const LossCurve& curve);

}  // namespace potluck::run
