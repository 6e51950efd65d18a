// How sources are explained: long ones open with a head comment, and comments use the field's words in whole sentences.
// The rules have no exceptions.
#include <QRegularExpression>
#include <QTest>

#include "tests/tidy/source_tree.h"

using namespace potluck::tidy;

namespace {

constexpr int lines_without_head_max = 150;
constexpr int head_lines_min = 5;

/// What a line says behind `//`, `///` or `//<`; empty if it has no comment.
QString comment_of(const QString& line) {
    static const QRegularExpression comment("(?:^|\\s)//+<?\\s*(.*)$");
    return comment.match(line).captured(1);
}

/// Comment lines with which a file begins.
qsizetype head_lines(const QStringList& lines) {
    qsizetype count = 0;
    while (count < lines.size() && lines[count].startsWith("//")) ++count;
    return count;
}

bool lacks_head(const QStringList& lines) {
    return lines.size() > lines_without_head_max && head_lines(lines) < head_lines_min;
}

/// Words for which the field has another: returns, NaN, the caller, out of memory.
bool has_foreign_words(const QStringList& lines) {
    static const QRegularExpression words("\\b(gives? back|gives|is no number|whoever|somebody|a want of)\\b",
                                          QRegularExpression::CaseInsensitiveOption);
    for (const QString& line : lines) {
        if (words.match(comment_of(line)).hasMatch()) return true;
    }
    return false;
}

/// A comment "Of what waits on disk" is half a sentence whose other half is the name below it.
bool has_headless_genitive(const QStringList& lines) {
    for (qsizetype i = 0; i < lines.size(); ++i) {
        const bool goes_on = i > 0 && lines[i - 1].trimmed().startsWith("//") && lines[i].trimmed().startsWith("//") &&
                             !lines[i - 1].trimmed().endsWith('.');
        if (!goes_on && comment_of(lines[i]).startsWith("Of ")) return true;
    }
    return false;
}

QStringList files_that(bool (*breaks_rule)(const QStringList&), const QStringList& files) {
    QStringList found;
    for (const QString& file : files) {
        if (breaks_rule(lines_of(file))) found << file;
    }
    return found;
}

}  // namespace

class ProseTest : public QObject {
    Q_OBJECT
private slots:
    void long_sources_open_with_a_head() {
        const QStringList wrong = files_that(lacks_head, files_below(product_folders(), {"*.cpp"}));
        QVERIFY2(wrong.isEmpty(), qPrintable(wrong.join("\n")));
    }

    void comments_use_the_fields_words() {
        const QStringList wrong = files_that(has_foreign_words, files_below(product_folders(), source_patterns()));
        QVERIFY2(wrong.isEmpty(), qPrintable(wrong.join("\n")));
    }

    void no_comment_is_a_headless_genitive() {
        const QStringList wrong = files_that(has_headless_genitive, files_below(product_folders(), source_patterns()));
        QVERIFY2(wrong.isEmpty(), qPrintable(wrong.join("\n")));
    }

    void bounds_are_called_max_and_min() {
        static const QRegularExpression bound("\\b\\w+_(most|least)\\b");
        QStringList wrong;
        for (const QString& file : files_below(product_folders(), source_patterns())) {
            for (const QString& line : lines_of(file)) {
                if (bound.match(line).hasMatch()) wrong << file + ": " + line.trimmed();
            }
        }
        QVERIFY2(wrong.isEmpty(), qPrintable(wrong.join("\n")));
    }

    void the_rules_see_what_they_forbid() {
        QStringList source(lines_without_head_max + 1, "int x;");
        QVERIFY(lacks_head(source));
        for (int i = 0; i < head_lines_min; ++i) source.prepend("// a head");
        QVERIFY(!lacks_head(source));
        QVERIFY(has_foreign_words({"    int rows;  // gives back a copy"}));
        QVERIFY(!has_foreign_words({"    int somebody = gives(whoever);"}));
        QVERIFY(has_headless_genitive({"/// Of a number in memory.", "int width;"}));
        QVERIFY(!has_headless_genitive({"// the end", "// Of which there are two.", "int width;"}));
    }
};

QTEST_APPLESS_MAIN(ProseTest)
#include "test_prose.moc"
