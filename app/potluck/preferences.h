// What the window remembers between two starts: its look and its place on the screen. An INI file in the data folder;
// a damaged one counts as empty.
#pragma once

#include <QByteArray>
#include <QSettings>

#include "ui/widgets/theme.h"

namespace potluck::app {

class Preferences {
public:
    explicit Preferences(const QString& dataFolder);

    [[nodiscard]] ui::Look look() const;
    void setLook(ui::Look look);
    [[nodiscard]] QByteArray geometry() const;
    void setGeometry(const QByteArray& geometry);

private:
    QSettings m_settings;
};

}  // namespace potluck::app
