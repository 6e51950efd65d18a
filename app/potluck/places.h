// Where things are: the data folder and the node's program. The order of precedence is the same as for the command line
// of potluck-node: option, then environment, then the place that the system has for such things.
#pragma once

#include <QString>

namespace potluck::app {

/// `option` (may be empty), else POTLUCK_HOME, else the user's data folder.
[[nodiscard]] QString dataFolder(const QString& option);
/// `option` (may be empty), else beside this program, else the bare name, which is looked up in PATH.
[[nodiscard]] QString nodeProgram(const QString& option);

}  // namespace potluck::app
