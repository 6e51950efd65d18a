#include "ui/session/notices.h"

#include <utility>

#include "ui/client/status_summary.h"

namespace potluck::ui {

bool Notices::isNewEnd(const NodeView& view) {
    if (!view.snapshot.run) return true;
    return std::exchange(m_endTold, view.snapshot.run->id) != view.snapshot.run->id;
}

std::optional<Notice> Notices::next(const NodeView& view) {
    if (view.link.state != Link::State::up) return std::nullopt;
    const control::Activity now = view.snapshot.activity;
    const std::optional<control::Activity> before = std::exchange(m_before, now);
    if (before == now) return std::nullopt;
    const bool isEnd = now == control::Activity::finished && isNewEnd(view);  // remembered even if the window shows it
    if (!before) return std::nullopt;
    const StatusSummary summary = summarize(view);
    switch (now) {
        case control::Activity::finished:
            if (!isEnd) return std::nullopt;
            [[fallthrough]];
        case control::Activity::failed: return Notice{Notice::Weight::normal, summary.title, summary.reason};
        case control::Activity::paused:
            if (!view.snapshot.yield || std::exchange(m_toldOfPause, true)) return std::nullopt;
            return Notice{Notice::Weight::quiet, summary.title, summary.reason};
        default: return std::nullopt;
    }
}

}  // namespace potluck::ui
