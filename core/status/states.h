// The table of states: what follows from the reason for which a node is where it is. One row per reason. Window, tray,
// `potluck-node status` and the tests that walk through all states read it; none of them has a rule of its own.
//
// Threads: values and pure functions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "core/status/reason.h"

namespace potluck::status {

/// What the node does, in one word.
enum class Activity : std::uint8_t {
    idle,
    connecting,
    downloading,
    preparing,
    training,
    sharing,
    paused,
    finished,
    failed,
    not_running,
    waiting,  // for the run's committee
    alone,    // nobody else is heard of
    offline,  // nor anything else of the network
};
/// Names on the line and of the command line, by enumerator.
inline constexpr std::array activity_names = {"idle",    "connecting", "downloading", "preparing", "training",
                                              "sharing", "paused",     "finished",    "failed",    "not_running",
                                              "waiting", "alone",      "offline"};
[[nodiscard]] constexpr const char* name_of(Activity activity) {
    return activity_names[static_cast<std::size_t>(activity)];
}

/// Each has a shape of its own, so that colour is never what tells them apart. Only `training` is green.
enum class Sign : std::uint8_t { idle, training, sharing, waiting, paused, problem };

/// What the person can do about a state. Each is one press of a button and one verb of the command line.
enum class Action : std::uint8_t {
    join,         // an invite; in place of the one that is looked for, too
    cancel,       // the search
    try_again,    // what failed
    get_trainer,  // download what this computer lacks to train
    pause,        // for a while or until resumed
    resume,       // a pause
    train_again,  // after or instead of finishing
    finish,       // this round, then leave
    leave,
    allow_disk,  // more of it, where limits are set
    set_proxy,   // or none, where the network is set
    show_log,
    start_node,
};

class Actions {
public:
    constexpr Actions(std::initializer_list<Action> actions) {
        for (const Action action : actions) m_bits |= bit(action);
    }
    [[nodiscard]] constexpr bool has(Action action) const { return (m_bits & bit(action)) != 0; }
    [[nodiscard]] constexpr bool empty() const { return m_bits == 0; }

private:
    [[nodiscard]] static constexpr std::uint32_t bit(Action action) { return 1U << static_cast<unsigned>(action); }
    std::uint32_t m_bits = 0;
};

/// Whether a trainer may hold memory in a state, and whether that is worth a line to the person.
enum class TrainerMemory : std::uint8_t { may_be_held, free, free_and_told };

struct Row {
    Reason reason;
    Activity activity;  // of a volunteer; a backbone shares where a volunteer trains
    Sign sign;
    TrainerMemory memory;
    Actions actions;
};

[[nodiscard]] const Row& row_of(Reason reason);
/// What a member that trains nothing does for this reason.
[[nodiscard]] Activity activity_of(Reason reason, bool trains);
[[nodiscard]] Sign sign_of(Reason reason, Activity activity);

}  // namespace potluck::status
