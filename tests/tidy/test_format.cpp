// Every source looks as ./dev format leaves it. Another version of clang-format breaks lines elsewhere, so one is
// pinned.
#include <QProcess>
#include <QStandardPaths>
#include <QTest>

#include "tests/tidy/source_tree.h"

using namespace potluck::tidy;

namespace {

constexpr int version = 14;  // the one of Debian 12, which ./dev installs; run_format in ./dev has the same

QString find_tool() {
    for (const QString& name : {QString("clang-format-%1").arg(version), QString("clang-format")}) {
        const QString path = QStandardPaths::findExecutable(name);
        if (path.isEmpty()) continue;
        QProcess process;
        process.start(path, {"--version"});
        if (process.waitForFinished() &&
            process.readAllStandardOutput().contains(QString("version %1.").arg(version).toUtf8()))
            return path;
    }
    return {};
}

}  // namespace

class FormatTest : public QObject {
    Q_OBJECT
private slots:
    void every_source_looks_as_the_formatter_leaves_it() {
        const QString tool = find_tool();
        if (tool.isEmpty()) QSKIP(qPrintable(QString("clang-format %1 is not installed").arg(version)));
        QStringList arguments{"--dry-run", "-Werror"};
        arguments += files_below({"core", "net", "ui", "app", "tests"}, {"*.cpp", "*.h", "*.cu", "*.inl"});
        QVERIFY(arguments.size() > 400);
        QProcess process;
        process.setWorkingDirectory(POTLUCK_SOURCE_DIR);
        process.start(tool, arguments);
        QVERIFY(process.waitForFinished(100'000));
        QVERIFY2(process.exitStatus() == QProcess::NormalExit && process.exitCode() == 0,
                 "run ./dev format\n" + process.readAllStandardError().left(2'000));
    }
};

QTEST_GUILESS_MAIN(FormatTest)
#include "test_format.moc"
