// Lets a node hand over what others need of this computer before it sleeps: its seat goes to another member, and comes
// back by itself. A run that was left a moment ago has handed over already.
// Threads: the loop's. Owns: the watch that holds the system's sleep up.
#pragma once

#include <optional>

#include "app/node/owner/sleep_watch.h"
#include "core/base/thread_owner.h"

namespace potluck::node {

class RunSession;

class SleepHandover {
public:
    /// For a vote that is under way, and one on the seat. The system waits for five seconds.
    static constexpr Duration limit{3'000};

    /// At every tick. `session`: of the run that the node is in; null outside one.
    void tick(TimePoint now, RunSession* session);

private:
    ThreadOwner m_owner;
    SleepWatch m_watch;
    std::optional<TimePoint> m_asleep_by;  // the system waits for us until then
};

}  // namespace potluck::node
