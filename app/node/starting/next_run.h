// Goes on when a run is complete: with a run of a list that the person follows, if they have switched that on. The
// trainer is asked first whether this computer can train it; what it cannot is not asked about again in this life.
//
// Does not: choose among strangers' runs, or leave a run that goes on.
// Threads: the loop's. Owns: the timer.
#pragma once

#include <chrono>
#include <memory>
#include <set>
#include <string>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "app/node/session/node.h"
#include "app/node/starting/run_planner.h"
#include "core/base/thread_owner.h"
#include "core/control/find_methods.h"

namespace potluck::node {

class NextRun {
public:
    static constexpr std::chrono::seconds look_every{5};

    /// Both outlive it.
    NextRun(boost::asio::io_context& loop, Node& node, RunPlanner& planner);
    ~NextRun() { *m_alive = false; }
    NextRun(const NextRun&) = delete;
    NextRun& operator=(const NextRun&) = delete;

    /// A run that a list vouches for and that goes on, which is none of `tried`; null if there is none.
    [[nodiscard]] static const control::FoundRun* choose(const control::FoundRuns& found,
                                                         const std::set<std::string>& tried);

private:
    void wait();
    void look();
    void ask_about(const control::FoundRun& run);
    [[nodiscard]] bool is_wanted() const;

    ThreadOwner m_owner;
    Node& m_node;
    RunPlanner& m_planner;
    boost::asio::steady_timer m_timer;
    std::shared_ptr<bool> m_alive = std::make_shared<bool>(true);
    std::set<std::string> m_tried;  // ids of runs
    bool m_asking = false;
};

}  // namespace potluck::node
