// Whether training may go on beside its owner: the person's own pause before what was noticed of the computer's use. It
// tells the run's session what changed, and the history of pauses what is in force.
//
//   settings (paused, effort), RightOfWay --hold()--> obey() --> RunSession: pause, resume, share of the time
//                                                          '--> pauses.json
//
// Does not: change settings; their writer is the node.
// Threads: the loop's. Owns: the right of way, the history of pauses and its file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "app/node/owner/right_of_way.h"
#include "app/node/session/settings.h"
#include "core/activity/history.h"
#include "core/base/thread_owner.h"
#include "core/control/node_methods.h"

namespace potluck::node {

class RunSession;

class OwnerWatch {
public:
    static constexpr Duration look_every{200};
    /// The share of the time that the trainer computes at most while training is to be quiet.
    static constexpr double quiet_share = 0.5;

    /// `settings` outlive it. `make_probes`: this computer's, or a test's.
    OwnerWatch(const NodeSettings& settings, std::filesystem::path data_folder,
               RightOfWay::MakeProbes make_probes = activity::system_probes);

    /// Takes up the history of earlier starts.
    void load();
    void save_closed();

    // `session`: of the run that the node is in; null outside one.
    void look_if_due(TimePoint now, RunSession* session);
    void look(TimePoint now, RunSession* session);
    /// A session has begun, which trains until it is told otherwise.
    void begin(TimePoint now, RunSession& session);
    /// Call it whenever settings or the session have changed.
    void obey(TimePoint now, RunSession* session);
    /// What a window sees of the owner's use of this computer; it counts for `call.seconds`.
    void give_way(TimePoint now, const control::Yield& call, RunSession* session);
    void set_rules(activity::Rules rules);
    /// The person wants to train on in spite of what is noticed now.
    void dismiss();

    /// What training must obey now.
    [[nodiscard]] activity::Decision hold() const;
    /// What was noticed of the computer's use, and since when, in unix seconds.
    [[nodiscard]] const activity::Decision& noticed() const;
    [[nodiscard]] std::int64_t noticed_since() const;
    /// Seconds from the last look until training may take more, if nothing more is noticed; 0 while a signal holds.
    [[nodiscard]] std::uint64_t seconds_left() const;
    /// What the session was told last.
    [[nodiscard]] activity::Level obeyed() const;
    [[nodiscard]] control::PauseHistory pauses() const;

private:
    ThreadOwner m_owner;
    const NodeSettings& m_settings;
    std::filesystem::path m_folder;
    RightOfWay m_right_of_way;
    activity::History m_pauses;
    activity::Level m_obeyed = activity::Level::run;
    std::optional<TimePoint> m_looked_at;
    std::int64_t m_noticed_since = 0;
};

}  // namespace potluck::node
