// The text of a first run alone: Potluck's own documents, which the program carries, as one file in the data folder.
#pragma once

#include <QString>

#include "core/base/result.h"

namespace potluck::app {

/// Writes the file unless it is there already; its path. `io` with what to do if it cannot be written.
[[nodiscard]] Result<QString> shippedText(const QString& dataFolder);

}  // namespace potluck::app
