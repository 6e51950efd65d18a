// The project's own source files, for tests that read them.
#pragma once

#include <QDir>
#include <QDirIterator>
#include <QFile>
#include <QString>
#include <QStringList>

namespace potluck::tidy {

/// Paths relative to the root of every file below `folders` whose name matches one of `patterns`, sorted.
inline QStringList files_below(const QStringList& folders, const QStringList& patterns) {
    const QDir root(QStringLiteral(POTLUCK_SOURCE_DIR));
    QStringList found;
    for (const QString& folder : folders) {
        QDirIterator walk(root.filePath(folder), patterns, QDir::Files, QDirIterator::Subdirectories);
        while (walk.hasNext()) found << root.relativeFilePath(walk.next());
    }
    found.sort();
    return found;
}

inline QStringList lines_of(const QString& path) {
    QFile file(QDir(QStringLiteral(POTLUCK_SOURCE_DIR)).filePath(path));
    if (!file.open(QIODevice::ReadOnly)) return {};
    return QString::fromUtf8(file.readAll()).split(QLatin1Char('\n'));
}

inline QStringList product_folders() { return {"core", "net", "ui", "app"}; }
inline QStringList source_patterns() { return {"*.h", "*.cpp", "*.cu"}; }

}  // namespace potluck::tidy
