// Words that tell of unfinished or unsafe code, and the one way each of a few dangerous things is done.
#include <QRegularExpression>
#include <QTest>

#include "tests/tidy/source_tree.h"

using namespace potluck::tidy;

namespace {

QStringList lines_matching(const QStringList& files, const QRegularExpression& pattern) {
    QStringList found;
    for (const QString& file : files) {
        for (const QString& line : lines_of(file)) {
            if (pattern.match(line).hasMatch()) found << file + ": " + line.trimmed();
        }
    }
    return found;
}

/// The line without what stands in quotes and behind "//".
QString code_of(QString line) {
    static const QRegularExpression quoted("\"(\\\\.|[^\"\\\\])*\"");
    line.replace(quoted, "\"\"");
    return line.section("//", 0, 0);
}

QStringList product() { return files_below(product_folders(), source_patterns()); }

}  // namespace

class WordsTest : public QObject {
    Q_OBJECT
private slots:
    void no_source_mentions_unfinished_work() {
        const auto found = lines_matching(
            product(), QRegularExpression("\\b(TODO|FIXME|XXX|HACK|placeholder|for now|not implemented)\\b"));
        QVERIFY2(found.isEmpty(), qPrintable(found.join("\n")));
    }

    void our_code_does_not_throw() {
        static const QRegularExpression word("\\bthrow\\b");
        QVERIFY(word.match(code_of("if (bad) throw Fault(\"no\");")).hasMatch());
        QVERIFY(!word.match(code_of("warn(\"may throw\");  // never does throw")).hasMatch());
        QStringList found;
        for (const QString& file : product()) {
            for (const QString& line : lines_of(file)) {
                if (word.match(code_of(line)).hasMatch()) found << file + ": " + line.trimmed();
            }
        }
        QVERIFY2(found.isEmpty(), qPrintable(found.join("\n")));
    }

    void floating_point_flags_are_never_loosened() {
        const QStringList files =
            files_below({"core", "net", "ui", "app", "cmake", "tests"}, {"CMakeLists.txt", "*.cmake"})
            << "CMakeLists.txt"
            << "CMakePresets.json";
        const auto found = lines_matching(
            files, QRegularExpression("-ffast-math|-Ofast|-ffp-contract=(fast|on)|-funsafe-math|-march=native"));
        QVERIFY2(found.isEmpty(), qPrintable(found.join("\n")));
        QVERIFY(!lines_matching({"cmake/PotluckCompiler.cmake"}, QRegularExpression("-ffp-contract=off")).isEmpty());
    }

    void no_thread_is_detached_and_no_dialog_blocks() {
        const auto found =
            lines_matching(product(), QRegularExpression("\\.detach\\(\\)|->exec\\(\\)|dialog\\.exec\\("));
        QVERIFY2(found.isEmpty(), qPrintable(found.join("\n")));
    }

    void documents_name_no_line_numbers() {
        const auto found = lines_matching(files_below({"docs"}, {"*.md"}), QRegularExpression("\\.(cpp|h):\\d+"));
        QVERIFY2(found.isEmpty(), qPrintable(found.join("\n")));
    }
};

QTEST_APPLESS_MAIN(WordsTest)
#include "test_words.moc"
