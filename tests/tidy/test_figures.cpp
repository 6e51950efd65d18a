// Every figure of docs/measurements.md names the program of this repository that measured it.
#include <QDir>
#include <QDirIterator>
#include <QFileInfo>
#include <QRegularExpression>
#include <QSet>
#include <QTest>

#include "tests/tidy/source_tree.h"

using namespace potluck;

namespace {

/// Checks of the real programs: the functions that these scripts list.
QSet<QString> listed_checks() {
    static const QRegularExpression list("\n(?:SHORT|LONG|CHECKS) = \\[([^\\]]+)\\]");
    QSet<QString> names;
    for (const char* script : {"tests/homes/run", "tests/small/run", "tests/fresh/find"}) {
        auto lists = list.globalMatch(tidy::lines_of(script).join('\n'));
        while (lists.hasNext()) {
            for (const QString& name : lists.next().captured(1).split(','))
                names << name.trimmed().section('.', -1);  // of another file
        }
    }
    return names;
}

/// Names of benches and tests (files below tests/ without their ending), checks of the real programs, and the node
/// itself, whose demo measures.
QSet<QString> programs() {
    QSet<QString> names = listed_checks();
    names << "potluck-node";
    QDirIterator walk(QStringLiteral(POTLUCK_SOURCE_DIR "/tests"), QDir::Files, QDirIterator::Subdirectories);
    while (walk.hasNext()) {
        const QFileInfo file(walk.next());
        const bool bench = file.dir().dirName() == "bench";
        if (file.suffix() == "cpp" && (bench || file.baseName().startsWith("test_"))) names << file.baseName();
        if (bench && file.suffix() != "cpp" && file.suffix() != "h") names << file.fileName();
    }
    return names;
}

/// The cells of the rows of every table whose last column is "measured by", without its head.
QList<QStringList> figures() {
    QList<QStringList> rows;
    bool inside = false;
    for (const QString& line : tidy::lines_of("docs/measurements.md")) {
        const bool head = line.endsWith("| measured by |");
        if (head || !line.startsWith('|')) inside = head;
        if (!inside || head || line.startsWith("|--")) continue;
        QStringList cells = line.mid(1, line.size() - 2).split('|');
        for (QString& cell : cells) cell = cell.trimmed();
        rows << cells;
    }
    return rows;
}

}  // namespace

class FiguresTest : public QObject {
    Q_OBJECT
private slots:
    void every_figure_names_a_program_that_exists() {
        const QSet<QString> known = programs();
        QVERIFY(known.contains("bench_numerics") && known.contains("optimizer_python.py"));
        QVERIFY(known.contains("caps_are_kept") && known.contains("sixteen_homes_compute"));
        const QRegularExpression quoted("`([A-Za-z0-9_.-]+)");
        QVERIFY(figures().size() > 60);
        for (const QStringList& cells : figures()) {
            QVERIFY2(cells.size() == 4, qPrintable(cells.join('|')));
            auto names = quoted.globalMatch(cells.last());
            QVERIFY2(names.hasNext(), qPrintable("no command: " + cells.first()));
            while (names.hasNext()) {
                const QString name = names.next().captured(1);
                QVERIFY2(known.contains(name), qPrintable(cells.first() + ": " + name));
            }
        }
    }

    void the_bench_command_runs_every_bench() {
        const QString script = tidy::lines_of("tests/bench/run").join('\n');
        QDirIterator walk(QStringLiteral(POTLUCK_SOURCE_DIR "/tests/bench"), {"bench_*.cpp", "*.py"}, QDir::Files);
        while (walk.hasNext()) {
            const QFileInfo file(walk.next());
            const QString name = file.suffix() == "py" ? file.fileName() : file.baseName();
            if (name == "bench_training" || name == "training_python.py") continue;  // tests/bench/training starts both
            QVERIFY2(script.contains(name), qPrintable(name));
        }
        QVERIFY(script.contains("/training\""));
    }
};

QTEST_APPLESS_MAIN(FiguresTest)
#include "test_figures.moc"
