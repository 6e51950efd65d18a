// Every figure of the README names the program of this repository that measured it.
#include <QDir>
#include <QDirIterator>
#include <QFileInfo>
#include <QRegularExpression>
#include <QSet>
#include <QTest>

#include "tests/tidy/source_tree.h"

using namespace potluck;

namespace {

/// Names of benches and tests: files below tests/ without their ending.
QSet<QString> programs() {
    QSet<QString> names;
    QDirIterator walk(QStringLiteral(POTLUCK_SOURCE_DIR "/tests"), QDir::Files, QDirIterator::Subdirectories);
    while (walk.hasNext()) {
        const QFileInfo file(walk.next());
        const bool bench = file.dir().dirName() == "bench";
        if (file.suffix() == "cpp" && (bench || file.baseName().startsWith("test_"))) names << file.baseName();
        if (bench && file.suffix() != "cpp" && file.suffix() != "h") names << file.fileName();
    }
    return names;
}

/// The cells of the rows of the table under "## Figures", without its head.
QList<QStringList> figures() {
    QList<QStringList> rows;
    bool inside = false;
    for (const QString& line : tidy::lines_of("README.md")) {
        if (line.startsWith("## ")) inside = line == "## Figures";
        if (!inside || !line.startsWith("| ") || line.startsWith("| what")) continue;
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
        const QRegularExpression quoted("`([A-Za-z0-9_.]+)");
        QVERIFY(figures().size() > 10);
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
