// How much this computer has sent and received, in all, this month and since midnight, over all starts of the node: a
// small JSON file in the data folder, written once a minute, so that a node that is killed forgets a minute at most.
//
// Does not: measure; it is told what the network counted since it was opened.
// Threads: a value.
#pragma once

#include <cstdint>
#include <filesystem>

#include "core/base/result.h"
#include "core/control/node_protocol.h"

namespace potluck::node {

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

}  // namespace potluck::node
