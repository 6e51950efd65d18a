#include "app/potluck/places.h"

#include <QCoreApplication>
#include <QDir>
#include <QStandardPaths>

namespace potluck::app {

QString dataFolder(const QString& option) {
    if (!option.isEmpty()) return QDir(option).absolutePath();
    const QString home = qEnvironmentVariable("POTLUCK_HOME");
    if (!home.isEmpty()) return QDir(home).absolutePath();
        // potluck-node has the same default: a window and a command line without options mean the same node.
#if defined(Q_OS_WIN) || defined(Q_OS_MACOS)
    const QString name = QStringLiteral("/Potluck");
#else
    const QString name = QStringLiteral("/potluck");
#endif
    return QStandardPaths::writableLocation(QStandardPaths::GenericDataLocation) + name;
}

QString nodeProgram(const QString& option) {
    if (!option.isEmpty()) return option;
    const QString beside =
        QStandardPaths::findExecutable(QStringLiteral("potluck-node"), {QCoreApplication::applicationDirPath()});
    return beside.isEmpty() ? QStringLiteral("potluck-node") : beside;
}

}  // namespace potluck::app
