// The model's validation loss as this computer measures it: now and then its own trainer evaluates the newest agreed
// state on the first records of the validation shard, always the same ones, so that the points make one curve.
//
// It must not cost what the person gave for training: a measurement takes at most a twentieth of a window (else it is
// not made: the computer is too slow for this model), and the next one waits until all of them together are at most
// one per cent of the time. The trainer holds a second copy of the weights meanwhile, which no memory plan counts, so
// only models up to `parameters_max` are measured.
// Does not: talk to the trainer; RunSession does. Threads: one at a time. Owns: the points, kept in a file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "core/base/clock.h"
#include "core/base/ids.h"
#include "core/base/thread_owner.h"
#include "core/run/manifest.h"

namespace potluck::node {

struct ValidationPoint {
    RoundId round;
    double loss = 0;      // nats per token
    std::int64_t at = 0;  // unix seconds
    bool operator==(const ValidationPoint&) const = default;
};

[[nodiscard]] std::filesystem::path validation_file_in(const std::filesystem::path& run_folder);

class Validation {
public:
    static constexpr std::uint64_t parameters_max = 16'000'000;     // 64 MB of fp32
    static constexpr std::uint64_t shard_bytes_max = 64ULL << 20U;  // to be fetched for it
    static constexpr std::uint64_t tokens_max = 8192, records_min = 4;
    static constexpr std::uint64_t pictures_max = 256;  // a record of which has thousands of values, not tokens
    static constexpr double share_of_time_max = 0.01, share_of_window_max = 0.05;
    static constexpr Duration every_min{10'000};
    static constexpr std::size_t points_max = 500;

    /// Points of earlier starts are read from `file`; a damaged file counts as none.
    Validation(const run::Manifest& manifest, std::filesystem::path file);

    /// Whether this run is measured here at all: the shard is worth fetching.
    [[nodiscard]] bool wanted() const { return m_wanted; }
    /// How many records to evaluate now; 0: not now. `speed` of training in tokens per second.
    [[nodiscard]] std::uint64_t records_due(TimePoint now, RoundId round, double speed);
    void begun(TimePoint now, RoundId round);
    void measured(TimePoint now, double loss, std::int64_t at);
    /// The trainer ended as it was asked to; the next try is as after a measurement that cost nothing.
    void cancelled(TimePoint now);
    /// The next try is an hour later: what failed once, for want of memory, fails again.
    void failed(TimePoint now);

    [[nodiscard]] bool under_way() const { return m_begun.has_value(); }
    /// By rising round.
    [[nodiscard]] const std::vector<ValidationPoint>& points() const { return m_points; }

private:
    void load();
    void keep(const ValidationPoint& point);

    ThreadOwner m_owner;
    std::filesystem::path m_file;
    std::uint64_t m_context = 1, m_shard_records = 0;
    std::uint64_t m_together = 1;  // records that are only computed together
    std::uint64_t m_records_max = 0;
    double m_window_seconds = 0;
    bool m_wanted = false;
    std::uint64_t m_records = 0;  // chosen once, so that the curve is of the same records
    std::optional<TimePoint> m_begun;
    TimePoint m_next;
    RoundId m_round;
    std::vector<ValidationPoint> m_points;
};

}  // namespace potluck::node
