// What the window remembers between two starts: its look, its geometry, and the run whose end it has told of. An INI
// file in the data folder; a damaged one counts as empty.
#pragma once

#include <string>

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
    [[nodiscard]] std::string endTold() const;
    void setEndTold(const std::string& run);

private:
    QSettings m_settings;
};

}  // namespace potluck::app
