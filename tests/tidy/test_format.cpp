// Every source is formatted as the pinned clang-format writes it, so that a change shows what was changed and nothing
// else. Versions disagree with each other; where the pinned one is absent, this says so and checks nothing.
#include <QProcess>
#include <QRegularExpression>
#include <QTest>

#include "tests/tidy/source_tree.h"

using namespace potluck::tidy;

namespace {

const QString tool = QStringLiteral("clang-format-14");
const QRegularExpression pinned_version("clang-format version 14\\.");

struct Outcome {
    int code = -1;  // -1: it did not run or did not end
    QString out;
    QString errors;
};

Outcome run_tool(const QStringList& arguments, const QByteArray& input = {}) {
    QProcess process;
    process.setWorkingDirectory(QStringLiteral(POTLUCK_SOURCE_DIR));
    process.start(tool, arguments);
    if (!process.waitForStarted()) return {};
    process.write(input);
    process.closeWriteChannel();
    if (!process.waitForFinished(100'000) || process.exitStatus() != QProcess::NormalExit) return {};
    return {process.exitCode(), QString::fromUtf8(process.readAllStandardOutput()),
            QString::fromUtf8(process.readAllStandardError())};
}

}  // namespace

class FormatTest : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() {
        if (!pinned_version.match(run_tool({"--version"}).out).hasMatch()) {
            QSKIP("clang-format-14 is not installed: the format of the sources was not checked");
        }
    }

    void every_source_is_formatted() {
        const QStringList files = files_below({"core", "net", "ui", "app", "tests"}, {"*.h", "*.cpp"});
        QVERIFY(files.size() > 400);
        const Outcome outcome = run_tool(QStringList{"--dry-run", "--Werror"} + files);
        static const QRegularExpression complaint("^([^:\\n]+):\\d+:\\d+: error:", QRegularExpression::MultilineOption);
        QStringList wrong;
        for (auto found = complaint.globalMatch(outcome.errors); found.hasNext();) wrong << found.next().captured(1);
        wrong.removeDuplicates();
        QVERIFY2(wrong.isEmpty(), qPrintable("run ./dev format:\n" + wrong.join("\n")));
        QVERIFY2(outcome.code == 0, qPrintable(outcome.errors));
    }

    void the_check_sees_what_is_not_formatted() {
        const QByteArray source = "int  f( ){return 1 ;}\n";
        const Outcome outcome = run_tool({"--dry-run", "--Werror", "--assume-filename=core/base/bytes.cpp"}, source);
        QVERIFY(outcome.code != 0);
        QCOMPARE(run_tool({"--assume-filename=core/base/bytes.cpp"}, source).out, "int f() { return 1; }\n");
    }
};

QTEST_APPLESS_MAIN(FormatTest)
#include "test_format.moc"
