// Sizes that keep a reader's breath: files of at most 800 lines, functions of at most 70, rooms of at most 30 files and
// more than one pair, each with its README.
#include <QRegularExpression>
#include <QTest>

#include "tests/tidy/source_tree.h"

using namespace potluck::tidy;

namespace {

constexpr int file_lines_max = 800;
constexpr int function_lines_max = 70;
constexpr int room_files_max = 30;

/// Rooms that list more files, with how many: none may grow, and a row goes when its room fits.
const QMap<QString, int>& larger_rooms() {
    static const QMap<QString, int> all = {{"core/base", 35},       {"core/data", 35}, {"core/model", 32},
                                           {"core/run", 35},        {"net", 31},       {"tests/integration", 36},
                                           {"tests/mutations", 36}, {"tests/sim", 35}, {"tests/ui", 34},
                                           {"ui/pages", 34},        {"ui/widgets", 35}};
    return all;
}

/// Rooms of a single header and its source that are not folded back yet.
const QStringList& single_pairs() {
    static const QStringList all = {"core/base/processor", "core/confinement", "core/data/vocabulary",
                                    "core/model/torchvision", "core/training/moments"};
    return all;
}

struct Function {
    QString head;
    qsizetype lines = 0;
};

/// The line where the head that ends on line `i` begins: parameters and initialisers may stand on lines of their own.
/// A lambda begins where its parameters do.
qsizetype head_of(const QStringList& lines, qsizetype i) {
    if (lines[i].contains("](")) return i;
    const auto open = [&](qsizetype line) { return lines[line].count(')') - lines[line].count('('); };
    qsizetype closing = open(i);
    while (i > 0 && (closing > 0 || lines[i].trimmed().startsWith(':') || lines[i - 1].endsWith(',')))
        closing += open(--i);
    return i;
}

/// Functions by their layout, wherever they stand: a line that opens a body behind a closing parenthesis ends the head,
/// and the first brace at the indentation of the head's first line ends the body.
QList<Function> functions_of(const QStringList& lines) {
    static const QRegularExpression other(
        "^\\s*(namespace|struct|class|enum|union|extern|using|if|for|while|switch|else|do|catch|\\}|//|#|\\*)");
    static const QRegularExpression opens("\\)[^;=()]*\\{$");
    QList<Function> found;
    for (qsizetype i = 0; i < lines.size(); ++i) {
        if (!opens.match(lines[i]).hasMatch() || other.match(lines[i]).hasMatch()) continue;
        const QString head = lines[head_of(lines, i)];
        const QString end = QString(head.size() - head.trimmed().size(), ' ') + '}';
        qsizetype last = i + 1;
        while (last < lines.size() && !lines[last].startsWith(end)) ++last;
        if (last < lines.size()) found.append({head.trimmed(), last - i});
    }
    return found;
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
        qsizetype seen = 0;
        for (const QString& file : files_below(product_folders(), {"*.h", "*.cpp"})) {
            const QList<Function> functions = functions_of(lines_of(file));
            seen += functions.size();
            for (const Function& function : functions) {
                if (function.lines > function_lines_max) {
                    wrong << QString("%1: %2 (%3 lines)").arg(file, function.head).arg(function.lines);
                }
            }
        }
        QVERIFY(seen > 1'500);
        QVERIFY2(wrong.isEmpty(), qPrintable(wrong.join("\n")));
    }

    void functions_are_seen_wherever_they_stand() {
        const QStringList source = {"void plain() {",
                                    "}",
                                    "class Room {",
                                    "    void inside() const {",
                                    "        a();",
                                    "    }",
                                    "    Room(int a,",
                                    "         int b) : m_a(a) {",
                                    "        b();",
                                    "    }",
                                    "};",
                                    "if (x) {",
                                    "}"};
        const QList<Function> found = functions_of(source);
        QCOMPARE(found.size(), qsizetype{3});
        QCOMPARE(found[1].head, QString("void inside() const {"));
        QCOMPARE(found[1].lines, qsizetype{2});
        QCOMPARE(found[2].head, QString("Room(int a,"));
        QCOMPARE(found[2].lines, qsizetype{2});
    }

    void every_room_has_a_readme() {
        QStringList rooms = {"tests"};
        for (const QString& file : files_below(product_folders(), {"CMakeLists.txt"}))
            rooms << file.section('/', 0, -2);
        QVERIFY(rooms.size() > 25);
        for (const QString& folder : rooms) {
            const auto lines = lines_of(folder + QStringLiteral("/README.md")).size();
            QVERIFY2(lines >= 3, qPrintable(folder));
        }
    }

    void no_room_lists_more_than_30_files() {
        QMap<QString, int> files;
        for (const QString& file : files_below({"core", "net", "ui", "app", "tests"}, {"*"})) {
            // A corpus and vectors are data, one file a case.
            const bool is_data = file.contains("/corpus/") || file.endsWith(".hex");
            if (!is_data && !file.contains("__pycache__")) ++files[file.section('/', 0, -2)];
        }
        QStringList wrong;
        for (auto room = files.constBegin(); room != files.constEnd(); ++room) {
            const int allowed = larger_rooms().value(room.key(), room_files_max);
            if (room.value() > allowed) wrong << QString("%1: %2 files").arg(room.key()).arg(room.value());
        }
        for (auto room = larger_rooms().constBegin(); room != larger_rooms().constEnd(); ++room) {
            const int now = files.value(room.key());
            if (now <= room_files_max) wrong << room.key() + " needs no exception any more";
            if (now > room_files_max && now < room.value())
                wrong << QString("%1 has shrunk to %2 files: write that down").arg(room.key()).arg(now);
        }
        QVERIFY2(wrong.isEmpty(), qPrintable(wrong.join("\n")));
    }

    void no_room_is_a_single_pair() {
        QMap<QString, QSet<QString>> sources;
        for (const QString& file : files_below(product_folders(), source_patterns()))
            sources[file.section('/', 0, -2)].insert(file.section('/', -1).section('.', 0, 0));
        QStringList single, wrong;
        for (auto room = sources.constBegin(); room != sources.constEnd(); ++room) {
            if (room.value().size() == 1) single << room.key();
        }
        for (const QString& room : single) {
            if (!single_pairs().contains(room)) wrong << room + " is a single pair: it belongs into another room";
        }
        for (const QString& room : single_pairs()) {
            if (!single.contains(room)) wrong << room + " needs no exception any more";
        }
        QVERIFY(sources.size() > 40);
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
