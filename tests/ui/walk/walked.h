// Which states the two walks must have been in, and which not: together all that the table of core/status knows, so
// that a new state is either walked or given a reason here why it is not.
//
// Threads: values.
#pragma once

#include <algorithm>
#include <array>
#include <iterator>

#include "core/status/states.h"

namespace potluck::test {

using status::Reason;

/// By test_state_walk.
inline constexpr auto walked_often =
    std::to_array<Reason>({Reason::no_run, Reason::searching_network, Reason::training, Reason::alone_waiting,
                           Reason::paused, Reason::yielding, Reason::trainer_restarting, Reason::trainer_failed,
                           Reason::finishing_to_leave, Reason::not_admitted, Reason::run_complete, Reason::node_down});

/// By test_state_walk_rare.
inline constexpr auto walked_rarely = std::to_array<Reason>(
    {Reason::search_offline, Reason::search_proxy_shut, Reason::proxy_shut, Reason::run_unreachable,
     Reason::run_refused, Reason::members_unreachable, Reason::offline, Reason::waiting_for_committee, Reason::alone,
     Reason::keeping, Reason::collecting, Reason::window_reopened, Reason::trainer_changed, Reason::trainer_missing,
     Reason::disk_too_small, Reason::identity_in_use, Reason::finished, Reason::calculates_differently,
     Reason::node_silent});

/// Steps on the way into a run, through a round and out of it, which a fast computer takes between two snapshots; a
/// walk looks at them when they come, and none of them needs a click.
inline constexpr auto passing_by = std::to_array<Reason>(
    {Reason::searching_run, Reason::asking_run, Reason::fetching_run, Reason::checking_model, Reason::searching_members,
     Reason::fetching_model, Reason::fetching_history, Reason::catching_up, Reason::fetching_data,
     Reason::starting_trainer, Reason::exchanging, Reason::repairing_model, Reason::finishing, Reason::leaving,
     Reason::node_starting, Reason::node_stopping});

/// What fails on the disk itself. A limit that is too small, which a walk can bring about, has a state of its own.
inline constexpr auto of_a_broken_disk = std::to_array<Reason>({Reason::hindered, Reason::trouble});

/// By what members measure of others' work and of the model; tests/sim/jury brings them about.
inline constexpr auto by_measuring = std::to_array<Reason>({Reason::suspended, Reason::diverging});

/// Of the command line: a window always has a node, or says why not.
inline constexpr auto never_in_a_window = std::to_array<Reason>({Reason::not_running});

constexpr bool is_each_once() {
    std::array<int, status::reason_count> times{};
    const auto count = [&](const auto& list) {
        for (const Reason reason : list) ++times[static_cast<std::size_t>(reason)];
    };
    count(walked_often);
    count(walked_rarely);
    count(passing_by);
    count(of_a_broken_disk);
    count(by_measuring);
    count(never_in_a_window);
    return std::all_of(times.begin(), times.end(), [](int number) { return number == 1; });
}
static_assert(is_each_once(), "a state that is neither walked nor excused, or both");

}  // namespace potluck::test
