// What this computer has used over all starts of the node, in all, this month and since midnight: what it has sent and
// received, and the time and energy of its training. Two small JSON files in the data folder, written once a minute, so
// that a node that is killed forgets a minute at most.
//
// Does not: measure; it is told what the network counted since it was opened, and what the trainer's device draws.
// Threads: values.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "core/base/result.h"
#include "core/control/node_protocol.h"

namespace potluck::node {

/// Last local midnight before `unix_time`.
[[nodiscard]] std::int64_t midnight_before(std::int64_t unix_time);

/// When the day and the month of a moment began, in unix seconds by this computer's clock.
struct Calendar {
    std::int64_t midnight = 0, month = 0;
};
[[nodiscard]] Calendar calendar_of(std::int64_t unix_time);

struct TrafficBook {
    control::Traffic traffic;
    Calendar now;                                    // of what `traffic` says of day and month
    std::uint64_t counted_up = 0, counted_down = 0;  // of this network, already in `traffic`

    /// The network has sent and received this much since it was opened. A smaller count is that of another one.
    void note(std::uint64_t up, std::uint64_t down, const Calendar& calendar);
    [[nodiscard]] Status save(const std::filesystem::path& data_folder) const;
    /// Zeros if there is no such file, or a damaged one: nothing depends on it.
    [[nodiscard]] static TrafficBook load(const std::filesystem::path& data_folder);
};

struct EnergyBook {
    control::Energy energy;
    Calendar now;  // of what `energy` says of day and month

    /// So long was trained, at `watts` if they could be read.
    void note(Duration time, std::optional<double> watts, const Calendar& calendar);
    /// Its day and month are over even where nothing is trained.
    void turn(const Calendar& calendar);
    /// Watts while it trained, as far as they could be read; nothing without a minute of that.
    [[nodiscard]] std::optional<double> mean_watts() const;
    [[nodiscard]] Status save(const std::filesystem::path& data_folder) const;
    /// As for traffic.
    [[nodiscard]] static EnergyBook load(const std::filesystem::path& data_folder);
};

}  // namespace potluck::node
