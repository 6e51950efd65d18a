// What the window remembers between two starts: its look, its language, its geometry, small choices by their names, and
// the run whose end it has told of. An INI file in the data folder; a damaged one counts as empty.
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
    /// Empty for the system's.
    [[nodiscard]] QString language() const;
    void setLanguage(const QString& language);
    [[nodiscard]] bool choice(const QString& name) const;
    void setChoice(const QString& name, bool on);
    [[nodiscard]] std::string endTold() const;
    void setEndTold(const std::string& run);

private:
    QSettings m_settings;
};

}  // namespace potluck::app
