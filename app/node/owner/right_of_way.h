// The owner's right of way over training: how much of the computer training may take now, and why.
//
//   a window is heard of  ->  what it said last, for as long as it said     (it sees the desktop)
//   none                  ->  the node's own probes and policy              (processes, battery, heat, load, hours)
//
// So a window that goes away pauses nobody for ever, and a node without one makes way all the same. A person who
// resumes by hand while a signal holds has the last word about that signal until it ends. Does not: pause anything
// (node.h), or know of a pause by hand, which comes before. Threads: the loop's. Owns: its own probes, while no window
// is heard of.
#pragma once

#include <functional>
#include <optional>

#include "core/activity/policy.h"
#include "core/activity/system/lookout.h"
#include "core/base/thread_owner.h"

namespace potluck::node {

class RightOfWay {
public:
    using MakeProbes = std::function<activity::Probes(const std::vector<std::string>& programs)>;

    explicit RightOfWay(activity::Rules rules, MakeProbes probes = activity::system_probes)
        : m_make_probes(std::move(probes)), m_rules(std::move(rules)) {}

    [[nodiscard]] const activity::Rules& rules() const { return m_rules; }
    void set_rules(activity::Rules rules);

    /// A window says what it sees; that counts until `lease` is over.
    void told(TimePoint now, activity::Decision decision, Duration lease);
    /// The person says to train all the same: what holds now is ignored until it has ended or another reason holds.
    void dismiss();
    /// Call it a few times a second. `hour` is the owner's local time.
    const activity::Decision& look(TimePoint now, activity::HourOfWeek hour);
    [[nodiscard]] const activity::Decision& decision() const { return m_decision; }

private:
    [[nodiscard]] activity::Decision seen(TimePoint now, activity::HourOfWeek hour);

    ThreadOwner m_owner;
    MakeProbes m_make_probes;
    activity::Rules m_rules;
    activity::Policy m_policy;
    std::optional<activity::Lookout> m_lookout;
    activity::Decision m_told;
    std::optional<TimePoint> m_told_until;
    std::optional<activity::Signal> m_dismissed;
    activity::Decision m_seen, m_decision;  // before and after what was dismissed
};

}  // namespace potluck::node
