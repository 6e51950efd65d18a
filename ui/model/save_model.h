// Asks for a folder and has the node write the model there.
//
// Threads: Qt's main thread.
#pragma once

#include <QWidget>

#include "ui/client/node_client.h"

namespace potluck::ui {

/// The dialog belongs to `parent`; what becomes of it is told by the client's `modelSaved` and `refused`.
void askWhereToSave(NodeClient& client, QWidget* parent);
/// "Round 12 is in /home/ada/model…", and whether the run's committee has agreed on it.
[[nodiscard]] QString savedText(const control::ExportedFiles& files, const QString& folder);

}  // namespace potluck::ui
