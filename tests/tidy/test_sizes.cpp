// Sizes that keep a reader's breath: files of at most 800 lines, functions of at most 70, every room with its README.
#include <QRegularExpression>
#include <QTest>

#include "tests/tidy/source_tree.h"

using namespace potluck::tidy;

namespace {

constexpr int file_lines_max = 800;
constexpr int function_lines_max = 70;
constexpr int room_files_max = 35;

/// A function body at namespace scope starts on a line at column 0 that ends in '{' and is no type or namespace.
bool starts_function(const QString& line) {
    static const QRegularExpression other("^(namespace|struct|class|enum|union|extern|using|template\\s*<[^>]*>\\s*(struct|class)|\\{|\\}|//|#)");
    static const QRegularExpression initialiser("=\\s*\\{$");
    return !line.isEmpty() && !line.at(0).isSpace() && line.endsWith("{") && line.contains("(") &&
           !other.match(line).hasMatch() && !initialiser.match(line).hasMatch();
}

}  // namespace

class SizesTest : public QObject {
    Q_OBJECT
private slots:
    void no_file_is_longer_than_800_lines() {
        QStringList wrong;
        for (const QString& file : files_below({"core", "net", "ui", "app", "tests"}, source_patterns())) {
            const auto lines = lines_of(file).size();
            if (lines > file_lines_max) wrong << QString("%1: %2 lines").arg(file).arg(lines);
        }
        QVERIFY2(wrong.isEmpty(), qPrintable(wrong.join("\n")));
    }

    void no_function_is_longer_than_70_lines() {
        QStringList wrong;
        for (const QString& file : files_below(product_folders(), {"*.cpp"})) {
            const QStringList lines = lines_of(file);
            for (qsizetype i = 0; i < lines.size(); ++i) {
                if (!starts_function(lines[i])) continue;
                const auto end = lines.indexOf("}", i);
                if (end > 0 && end - i > function_lines_max) {
                    wrong << QString("%1: %2 (%3 lines)").arg(file, lines[i]).arg(end - i);
                }
            }
        }
        QVERIFY2(wrong.isEmpty(), qPrintable(wrong.join("\n")));
    }

    void every_room_has_a_readme() {
        QStringList rooms = {"tests"};
        for (const QString& file : files_below(product_folders(), {"CMakeLists.txt"})) rooms << file.section('/', 0, -2);
        QVERIFY(rooms.size() > 25);
        for (const QString& folder : rooms) {
            const auto lines = lines_of(folder + QStringLiteral("/README.md")).size();
            QVERIFY2(lines >= 3, qPrintable(folder));
        }
    }

    void no_room_lists_more_than_35_files() {
        QMap<QString, int> files;
        for (const QString& file : files_below({"core", "net", "ui", "app", "tests"}, {"*"})) {
            if (!file.contains("/corpus/") && !file.contains("__pycache__")) ++files[file.section('/', 0, -2)];
        }
        QStringList wrong;
        for (auto room = files.constBegin(); room != files.constEnd(); ++room) {
            if (room.value() > room_files_max) wrong << QString("%1: %2 files").arg(room.key()).arg(room.value());
        }
        QVERIFY2(wrong.isEmpty(), qPrintable(wrong.join("\n")));
    }

    void lines_fit_into_120_columns() {
        QStringList wrong;
        for (const QString& file : files_below(product_folders(), source_patterns())) {
            for (const QString& line : lines_of(file)) {
                if (line.size() > 120) wrong << file + ": " + line;
                if (line.endsWith(' ') || line.contains('\t')) wrong << file + " has stray blanks: " + line;
            }
        }
        QVERIFY2(wrong.isEmpty(), qPrintable(wrong.join("\n")));
    }
};

QTEST_APPLESS_MAIN(SizesTest)
#include "test_sizes.moc"
