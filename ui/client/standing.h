// What the window says about the state of things: one sign, one title, one sentence why. A pure function of the view,
// shared by the status card, the navigation bar and the tray, so that they never disagree.
#pragma once

#include <QString>

#include "ui/client/node_client.h"

namespace potluck::ui {

/// The five signs; each has an icon of its own shape, so that colour is never what tells them apart.
enum class Sign { idle, training, sharing, paused, problem };

struct Standing {
    Sign sign = Sign::idle;
    QString title;         // "Training"
    QString reason;        // why, in one sentence; plain text
    QString memory;        // while paused: whether the trainer's memory is free; else empty
    double progress = -1;  // 0..1 of a long wait, negative if there is none
};

[[nodiscard]] Standing standingOf(const NodeView& view);
/// Name of the sign's icon in the resources.
[[nodiscard]] QString iconOf(Sign sign);
/// True while the person has paused it (or a rule did): what the Resume button depends on.
[[nodiscard]] bool isPaused(const NodeView& view);
[[nodiscard]] bool isInRun(const NodeView& view);
[[nodiscard]] int volunteersOnline(const control::RunSnapshot& run);

}  // namespace potluck::ui
