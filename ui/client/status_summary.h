// What the window says about the state of things: one sign, one title, one sentence why, and what the person can do.
// All of it follows from the node's reason by the table of core/status, or from the link where there is no node. A pure
// function of the view, shared by the status card, the navigation bar and the tray, so that they never disagree.
#pragma once

#include <QString>

#include "core/status/states.h"
#include "ui/client/node_client.h"

namespace potluck::ui {

using StatusIcon = status::Sign;

struct StatusSummary {
    StatusIcon icon = StatusIcon::idle;
    QString title;         // "Training"
    QString reason;        // why; plain text
    QString memory;        // where training has ended: whether the trainer's memory is free; else empty
    double progress = -1;  // 0..1 of a long wait, negative if there is none
    status::Actions actions = {};
};

[[nodiscard]] StatusSummary summarize(const NodeView& view);
/// What the person can do now.
[[nodiscard]] status::Actions actionsOf(const NodeView& view);
/// Name of a sign in the resources.
[[nodiscard]] QString nameOf(StatusIcon icon);
[[nodiscard]] bool isInRun(const NodeView& view);
/// Whether the run that this computer is in has come to its end: nobody trains in it any more.
[[nodiscard]] bool isOver(const NodeView& view);
/// Whether the run's model embeds pictures: it goes on with no text, and shows which pictures it thinks alike.
[[nodiscard]] bool comparesPictures(const NodeView& view);
[[nodiscard]] int volunteersOnline(const control::RunSnapshot& run);

}  // namespace potluck::ui
