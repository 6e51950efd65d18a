#include "app/potluck/places.h"

#include <QCoreApplication>
#include <QDir>
#include <QFileInfo>
#include <QStandardPaths>

namespace potluck::app {

QString dataFolder(const QString& option)
{
    if (!option.isEmpty()) return QDir(option).absolutePath();
    const QString home = qEnvironmentVariable("POTLUCK_HOME");
    if (!home.isEmpty()) return QDir(home).absolutePath();
    const QFileInfo portable(QCoreApplication::applicationDirPath() + QStringLiteral("/profile"));
    if (portable.isDir()) return portable.absoluteFilePath();
    return QStandardPaths::writableLocation(QStandardPaths::GenericDataLocation) + QStringLiteral("/potluck");
}

QString nodeProgram(const QString& option)
{
    if (!option.isEmpty()) return option;
    const QString beside = QStandardPaths::findExecutable(QStringLiteral("potluck-node"),
                                                          {QCoreApplication::applicationDirPath()});
    return beside.isEmpty() ? QStringLiteral("potluck-node") : beside;
}

}  // namespace potluck::app
