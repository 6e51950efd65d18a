// Asks before the files of a run are deleted, and says what a host loses by it.
//
// Threads: Qt's main thread.
#pragma once

#include <functional>

#include "core/control/record_methods.h"

class QString;
class QWidget;

namespace potluck::ui {

/// `kept` says what stays or comes back; a host is told more.
void askToDelete(const control::KnownRun& run, const QString& kept, QWidget* parent, std::function<void()> agreed);

}  // namespace potluck::ui
