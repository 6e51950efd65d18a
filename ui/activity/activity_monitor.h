// Looks after the owner while the window's program runs: asks the probes four times a second, lets the policy decide by
// the rules that the node holds, and tells the node what follows, at every change and every few seconds, since it
// counts for a while only. What the probes see is shown to the window through the client.
//
// Nothing here waits: probes look on threads of their own. Does not: pause anything, or keep any setting.
// Threads: Qt's main thread. Owns: the probes. The client outlives it.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include <QObject>
#include <QTimer>

#include "core/activity/policy.h"
#include "core/activity/system/lookout.h"
#include "ui/client/node_client.h"

namespace potluck::ui {

class ActivityMonitor : public QObject {
    Q_OBJECT

public:
    using MakeProbes = std::function<activity::Probes(const std::vector<std::string>& programs)>;
    static constexpr std::chrono::milliseconds look_every{250};
    static constexpr Duration tell_every{5'000};
    /// Long enough for a window that is slow for a moment, short enough for one that is gone.
    static constexpr std::chrono::seconds lease{20};

    ActivityMonitor(NodeClient& client, MakeProbes probes, QObject* parent = nullptr);
    ~ActivityMonitor() override;

private:
    void look();
    void tell(TimePoint now, const activity::Decision& decision);

    NodeClient& m_client;
    MakeProbes m_makeProbes;
    QTimer m_timer;
    activity::Policy m_policy;
    std::optional<std::vector<std::string>> m_programs;  // that the probes look for
    std::unique_ptr<activity::Lookout> m_lookout;
    activity::Decision m_told;
    std::optional<TimePoint> m_toldAt;
};

}  // namespace potluck::ui
