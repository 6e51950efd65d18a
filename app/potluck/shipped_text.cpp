#include "app/potluck/shipped_text.h"

#include <QDir>
#include <QFileInfo>
#include <QSaveFile>

namespace potluck::app {

Result<QString> shippedText(const QString& dataFolder) {
    const QString name = dataFolder + QStringLiteral("/try-it-here.txt");
    QByteArray text;
    for (const QFileInfo& one : QDir(QStringLiteral(":/try")).entryInfoList(QDir::Files, QDir::Name)) {
        QFile file(one.filePath());
        if (file.open(QIODevice::ReadOnly)) text += file.readAll() + '\n';
    }
    // What an older version has left there is another text.
    if (QFileInfo(name).size() == text.size()) return name;
    QSaveFile file(name);
    const bool isThere = QDir().mkpath(dataFolder) && file.open(QIODevice::WriteOnly);
    if (isThere && file.write(text) == text.size() && file.commit()) return name;
    return Error{ErrorCode::io,
                 "The text for a first run cannot be written to Potluck's data folder; see whether its "
                 "disk is full."};
}

}  // namespace potluck::app
