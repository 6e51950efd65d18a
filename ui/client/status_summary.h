// What the window says about the state of things: one icon, one title, one sentence why, all of which follow from the
// node's activity. A pure function of the view, shared by the status card, the navigation bar and the tray, so that
// they never disagree.
#pragma once

#include <QString>

#include "ui/client/node_client.h"

namespace potluck::ui {

/// Each has a shape of its own, so that colour is never what tells them apart.
enum class StatusIcon { idle, training, sharing, paused, problem };

struct StatusSummary {
    StatusIcon icon = StatusIcon::idle;
    QString title;         // "Training"
    QString reason;        // why, in one sentence; plain text
    QString memory;        // while paused: whether the trainer's memory is free; else empty
    double progress = -1;  // 0..1 of a long wait, negative if there is none
};

[[nodiscard]] StatusSummary summarize(const NodeView& view);
/// Which icon stands for an activity.
[[nodiscard]] StatusIcon iconFor(control::Activity activity);
/// Its name in the resources.
[[nodiscard]] QString nameOf(StatusIcon icon);
/// True while the person has paused it (or a rule did): what the Resume button depends on.
[[nodiscard]] bool isPaused(const NodeView& view);
[[nodiscard]] bool isInRun(const NodeView& view);
[[nodiscard]] int volunteersOnline(const control::RunSnapshot& run);

}  // namespace potluck::ui
