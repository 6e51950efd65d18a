// Reports that a node's snapshot has changed in something that people notice, by comparing a key of it every 200 ms. No
// other part of the node has to report its changes.
// Threads: the loop's.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "core/base/thread_owner.h"
#include "core/control/node_protocol.h"

namespace potluck::node {

/// What must be told at once; everything else is told each second.
[[nodiscard]] std::string change_key(const control::NodeSnapshot& now);

class ChangeReport {
public:
    static constexpr std::uint64_t ticks_per_look = 4;  // a snapshot asks the ledger

    /// Called after everything that changes the key.
    void on_change(std::function<void()> listener);
    /// At every tick of 50 ms. `look` makes the snapshot, where one is due and a listener is set.
    void tick(const std::function<control::NodeSnapshot()>& look);

private:
    ThreadOwner m_owner;
    std::function<void()> m_changed;
    std::string m_last_reported;
    std::uint64_t m_ticks = 0;
};

}  // namespace potluck::node
