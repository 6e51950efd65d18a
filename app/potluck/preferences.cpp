#include "app/potluck/preferences.h"

namespace potluck::app {

namespace {

const QString look_key = QStringLiteral("window/look");
const QString geometry_key = QStringLiteral("window/geometry");
const QString end_key = QStringLiteral("notices/end");
const QString language_key = QStringLiteral("window/language");
const QString choices_key = QStringLiteral("choices/");

}  // namespace

Preferences::Preferences(const QString& dataFolder)
    : m_settings(dataFolder + QStringLiteral("/window.ini"), QSettings::IniFormat) {}

ui::Look Preferences::look() const { return ui::lookNamed(m_settings.value(look_key).toString()); }
void Preferences::setLook(ui::Look look) { m_settings.setValue(look_key, ui::nameOf(look)); }
QByteArray Preferences::geometry() const { return m_settings.value(geometry_key).toByteArray(); }
void Preferences::setGeometry(const QByteArray& geometry) { m_settings.setValue(geometry_key, geometry); }
QString Preferences::language() const { return m_settings.value(language_key).toString(); }
void Preferences::setLanguage(const QString& language) { m_settings.setValue(language_key, language); }
bool Preferences::choice(const QString& name) const { return m_settings.value(choices_key + name).toBool(); }
void Preferences::setChoice(const QString& name, bool on) { m_settings.setValue(choices_key + name, on); }
std::string Preferences::endTold() const { return m_settings.value(end_key).toString().toStdString(); }
void Preferences::setEndTold(const std::string& run) { m_settings.setValue(end_key, QString::fromStdString(run)); }

}  // namespace potluck::app
