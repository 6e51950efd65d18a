#include "app/potluck/autostart.h"

#include <utility>

#include <QDir>
#include <QFile>
#include <QSaveFile>
#include <QStandardPaths>

namespace potluck::app {

namespace {

constexpr qint64 entry_bytes_max = 64 * 1024;

/// A path as the value of Exec demands it: quoted, with what a quotation reserves behind a backslash, which the file
/// format escapes once more, and with percent signs that are none of its fields.
QString quoted(const QString& path) {
    QString out = QStringLiteral("\"");
    for (const QChar letter : path) {
        if (QStringLiteral("\"`$").contains(letter))
            out += QStringLiteral("\\\\");
        else if (letter == QLatin1Char('\\'))
            out += QStringLiteral("\\\\\\");
        else if (letter == QLatin1Char('%'))
            out += QLatin1Char('%');
        out += letter;
    }
    return out + QLatin1Char('"');
}

}  // namespace

QString autostartFolder() {
    return QStandardPaths::writableLocation(QStandardPaths::GenericConfigLocation) + QStringLiteral("/autostart");
}

AutostartEntry::AutostartEntry(const QString& folder, QString program)
    : m_folder(folder), m_program(std::move(program)) {}

QString AutostartEntry::file() const { return m_folder + QStringLiteral("/org.potluck.Potluck.desktop"); }

ui::Autostart AutostartEntry::read() const {
    QFile entry(file());
    if (!entry.open(QIODevice::ReadOnly)) return ui::Autostart::off;
    const QList<QByteArray> lines = entry.read(entry_bytes_max).split('\n');
    const bool hidden = lines.contains("Hidden=true") || lines.contains("X-GNOME-Autostart-enabled=false");
    return hidden ? ui::Autostart::off : ui::Autostart::on;
}

Status AutostartEntry::write(ui::Autostart wanted) const {
    if (wanted == ui::Autostart::off) {
        if (!QFile::exists(file()) || QFile::remove(file())) return {};
        return Error{ErrorCode::permission,
                     "The autostart entry cannot be removed; check who owns " + file().toStdString() + "."};
    }
    QDir().mkpath(m_folder);
    QSaveFile entry(file());
    const QString text = QStringLiteral(
                             "[Desktop Entry]\nType=Application\nName=Potluck\nIcon=org.potluck.Potluck\n"
                             "Exec=%1 --minimized\nX-GNOME-Autostart-enabled=true\n")
                             .arg(quoted(m_program));
    if (entry.open(QIODevice::WriteOnly) && entry.write(text.toUtf8()) == text.toUtf8().size() && entry.commit())
        return {};
    return Error{ErrorCode::permission,
                 "The autostart entry cannot be written; check who owns " + m_folder.toStdString() + "."};
}

}  // namespace potluck::app
