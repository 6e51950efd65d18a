// The entry by which a desktop starts the program with the session: a file of the freedesktop autostart specification
// in the person's own configuration folder. There or not is the whole setting, so that what another program or the
// person does to it is seen.
//
// Does not: exist on Windows and macOS. Threads: a value; blocks for a small file.
#pragma once

#include <QString>

#include "core/base/result.h"
#include "ui/widgets/desktop.h"

namespace potluck::app {

/// autostart/ in XDG_CONFIG_HOME or ~/.config.
[[nodiscard]] QString autostartFolder();

class AutostartEntry {
public:
    AutostartEntry(const QString& folder, QString program);

    /// Off also where the desktop's own settings have hidden the entry.
    [[nodiscard]] ui::Autostart read() const;
    [[nodiscard]] Status write(ui::Autostart wanted) const;

private:
    QString m_folder, m_program;
    [[nodiscard]] QString file() const;
};

}  // namespace potluck::app
