// Runs and hosts that the person hid for good: remembered as choices of the window, one for each key; nothing of it
// goes to the node. Threads: Qt's main thread.
#pragma once

#include "core/control/find_methods.h"
#include "ui/client/plain_text.h"
#include "ui/widgets/desktop.h"

namespace potluck::ui {

inline void hideRun(const Desktop& desktop, const QString& id, bool on = true) {
    rememberChoice(desktop, QStringLiteral("hidden-run-") + id, on);
}
inline void hideHost(const Desktop& desktop, const QString& id, bool on = true) {
    rememberChoice(desktop, QStringLiteral("hidden-host-") + id, on);
}
[[nodiscard]] inline bool isHiddenRun(const Desktop& desktop, const control::FoundRun& run) {
    return isRemembered(desktop, QStringLiteral("hidden-run-") + plainText(run.id, 64)) ||
           isRemembered(desktop, QStringLiteral("hidden-host-") + plainText(run.host, 64));
}

}  // namespace potluck::ui
