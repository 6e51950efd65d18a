// The one text for a computer that has nothing to train with, wherever it is said: by the state of a run, beside its
// preview, in the plan of a run of one's own, and where the download is offered. Command lines are for those who use
// one. Pure, but for the locale.
#pragma once

#include <QString>

#include "core/control/node_protocol.h"

namespace potluck::ui {

/// What is missing, and how it comes here; empty where a trainer is installed or nothing is known.
[[nodiscard]] QString noTrainerText(const control::NodeSnapshot& node);

}  // namespace potluck::ui
