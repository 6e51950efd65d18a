// How sources are explained: long ones open with a head comment, and comments use the field's words in whole sentences.
// Pages for users are written for people who have never heard of Potluck: README fits on one page, sentences are short,
// and none has a relative clause as its subject. The name of a test is a sentence, too, and begins with its subject.
// The rules have no exceptions.
#include <QDir>
#include <QFileInfo>
#include <QRegularExpression>
#include <QTest>

#include <algorithm>

#include "tests/tidy/markdown.h"
#include "tests/tidy/source_tree.h"

using namespace potluck::tidy;

namespace {

constexpr int lines_without_head_max = 150;
constexpr int head_lines_min = 5;
constexpr qint64 readme_bytes_max = 9'216;       // a page; the READMEs of programs like this have 4 to 9 KB
constexpr qsizetype sentence_words_max = 40;     // twice what guides to technical English advise
constexpr qsizetype sentence_words_median = 20;  // the usual advice for technical English: 15 to 20

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
const QRegularExpression& foreign_words() {
    static const QRegularExpression words("\\b(gives? back|gives|is no number|whoever|somebody|a want of)\\b",
                                          QRegularExpression::CaseInsensitiveOption);
    return words;
}

bool has_foreign_words(const QStringList& lines) {
    for (const QString& line : lines) {
        if (foreign_words().match(comment_of(line)).hasMatch()) return true;
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

/// Pages for people who use Potluck.
QStringList pages_for_users() {
    return {"README.md", "docs/hosting.md", "docs/models.md", "docs/measurements.md", "docs/volunteer.md"};
}

/// "Who quits hands its seat over" makes a reader wait for the subject; a question may begin so.
bool opens_with_a_clause(const QString& sentence) {
    static const QRegularExpression clause(
        "^(Who|Whom|Whose|Whoever|What|Whatever|That which|Those who|Of what|Of whom|In which)\\b");
    return clause.match(sentence).hasMatch() && !sentence.endsWith('?');
}

/// What is wrong with a sentence; empty if nothing is.
QString fault_of(const QString& sentence) {
    if (words_in(sentence) > sentence_words_max) return "too long";
    if (opens_with_a_clause(sentence)) return "opens with a clause";
    return foreign_words().match(sentence).hasMatch() ? "a word for which the field has another" : QString();
}

QStringList faults_of(const QString& page, const QStringList& lines) {
    QStringList found;
    for (const Passage& passage : passages_of(lines)) {
        for (const QString& sentence : sentences_of(passage.text)) {
            const QString fault = fault_of(sentence);
            if (!fault.isEmpty()) found << QString("%1: %2: %3").arg(page, fault, sentence);
        }
    }
    return found;
}

/// What the fields of the control protocols mean: the last column of every table in docs/control-protocol.md, which
/// test_control_document holds equal to the texts in core/control.
QStringList field_descriptions(const QStringList& lines) {
    QStringList found;
    for (const QString& line : lines) {
        if (line.startsWith("| `")) found << line.section('|', -2, -2).trimmed();
    }
    return found;
}

/// "In which it was trained." is half a sentence whose other half is the field's name; "Seconds trained." is whole.
bool is_headless(const QString& description) {
    static const QRegularExpression opening("^(Of|In|By|Who|Whom|Whose|What|Those|That|Which|Where|Since|Until)\\b");
    return opening.match(description).hasMatch();
}

/// All that the window says, in English: the sources of its translations.
QStringList strings_of_the_window() {
    static const QRegularExpression source("<source>(.*?)</source>", QRegularExpression::DotMatchesEverythingOption);
    QStringList found;
    const QString translations = lines_of("resources/translations/potluck_de.ts").join('\n');
    for (auto all = source.globalMatch(translations); all.hasNext();)
        found << all.next().captured(1).replace("&apos;", "'").replace("&quot;", "\"").replace("&amp;", "&");
    return found;
}

/// "What it has learned" is a heading, and may open as one.
QString fault_of_string(const QString& sentence) {
    return sentence.endsWith('.') || sentence.endsWith(':') ? fault_of(sentence) : QString();
}

/// Words of the middle one of a page's sentences, by length; cells of tables are no sentences.
qsizetype median_words(const QStringList& lines) {
    QList<qsizetype> words;
    for (const Passage& passage : passages_of(lines)) {
        if (passage.is_cell) continue;
        for (const QString& sentence : sentences_of(passage.text)) words << words_in(sentence);
    }
    std::sort(words.begin(), words.end());
    return words.isEmpty() ? 0 : words[words.size() / 2];
}

/// The test that a line declares; empty if it declares none.
QString test_declared_in(const QString& line) {
    static const QRegularExpression test("^    void ([a-z0-9_]+)\\(\\)(?! override)");
    return test.match(line).captured(1);
}

/// "a_late_contribution_is_waited_for" begins with what it is about, "who_is_late_is_waited_for" makes a reader wait.
bool lacks_subject(const QString& test) {
    static const QRegularExpression opening("^(who|whoever|whose|what|which|nobody|nothing|somebody)_");
    return opening.match(test).hasMatch();
}

QStringList tests_without_subject(const QString& file, const QStringList& lines) {
    QStringList found;
    for (qsizetype i = 0; i < lines.size(); ++i) {
        const QString test = test_declared_in(lines[i]);
        if (lacks_subject(test))
            found << QString("%1:%2: a test's name begins with its subject: %3").arg(file).arg(i + 1).arg(test);
    }
    return found;
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

    void names_of_tests_begin_with_their_subject() {
        const QStringList files = files_below({"tests"}, {"*.h", "*.cpp"});
        QVERIFY(files.size() > 100);
        QStringList wrong;
        for (const QString& file : files) wrong << tests_without_subject(file, lines_of(file));
        QVERIFY2(wrong.isEmpty(), qPrintable(wrong.join("\n")));
    }

    void the_readme_fits_on_a_page() {
        const qint64 bytes = QFileInfo(QDir(QStringLiteral(POTLUCK_SOURCE_DIR)).filePath("README.md")).size();
        QVERIFY(bytes > 0);
        QVERIFY2(bytes <= readme_bytes_max, qPrintable(QString("%1 bytes").arg(bytes)));
    }

    void pages_for_users_are_plain_english() {
        QStringList wrong;
        for (const QString& page : pages_for_users()) {
            const QStringList lines = lines_of(page);
            QVERIFY2(passages_of(lines).size() > 10, qPrintable(page));
            wrong << faults_of(page, lines);
            if (const qsizetype median = median_words(lines); median >= sentence_words_median)
                wrong << QString("%1: the median sentence has %2 words").arg(page).arg(median);
        }
        QVERIFY2(wrong.isEmpty(), qPrintable(wrong.join("\n")));
    }

    void descriptions_of_fields_are_noun_phrases() {
        const QStringList descriptions = field_descriptions(lines_of("docs/control-protocol.md"));
        QVERIFY(descriptions.size() > 400);
        QStringList wrong;
        for (const QString& description : descriptions) {
            if (is_headless(description)) wrong << "headless: " + description;
            for (const QString& sentence : sentences_of(plain_text(description))) {
                const QString fault = fault_of(sentence);
                if (!fault.isEmpty()) wrong << fault + ": " + sentence;
            }
        }
        QVERIFY2(wrong.isEmpty(), qPrintable(wrong.join("\n")));
    }

    void the_window_speaks_plain_english() {
        const QStringList strings = strings_of_the_window();
        QVERIFY(strings.size() > 1000);
        QStringList wrong;
        for (const QString& text : strings) {
            for (const QString& sentence : sentences_of(text)) {
                const QString fault = fault_of_string(sentence);
                if (!fault.isEmpty()) wrong << fault + ": " + sentence;
            }
        }
        QVERIFY2(wrong.isEmpty(), qPrintable(wrong.join("\n")));
        QVERIFY(!fault_of_string("What was trained is lost.").isEmpty());
        QVERIFY(fault_of_string("What it has learned").isEmpty());
    }

    void sentences_are_found_in_a_page() {
        const QStringList page = {"# Who reads this is skipped",
                                  "One of `a. B`, see",
                                  "[a page](a.md). Two!",
                                  "* Three",
                                  "  goes on.",
                                  "| cell | Who quits |",
                                  "|---|---|",
                                  "```",
                                  "Who writes code.",
                                  "```"};
        const QList<Passage> passages = passages_of(page);
        QCOMPARE(passages.size(), qsizetype{4});
        QCOMPARE(sentences_of(passages[0].text), QStringList({"One of code, see a page.", "Two!"}));
        QCOMPARE(passages[1].text, QString("Three goes on."));
        QVERIFY(passages[2].is_cell && !passages[1].is_cell);
        QCOMPARE(faults_of("a page", page), QStringList("a page: opens with a clause: Who quits"));
        QCOMPARE(median_words(page), qsizetype{3});
    }

    void faulty_sentences_are_found() {
        const QString longest = QStringList(sentence_words_max, "word").join(' ');
        QVERIFY(fault_of(longest).isEmpty());
        QVERIFY(!fault_of(longest + " - more").isEmpty());
        QVERIFY(!fault_of("What was not sent stays here.").isEmpty());
        QVERIFY(fault_of("What was not sent?").isEmpty());
        QVERIFY(fault_of("Whole numbers stay.").isEmpty());
        QVERIFY(!fault_of("Ask somebody.").isEmpty());
        QCOMPARE(field_descriptions({"| field | meaning |", "| `a` | text | Of those. |"}), QStringList("Of those."));
        QVERIFY(is_headless("Of those.") && !is_headless("Office hours."));
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

    void test_names_without_a_subject_are_found() {
        const QStringList tests = {"    void a_late_contribution_is_waited_for() {",
                                   "    void who_is_late_is_waited_for() {",
                                   "    void what_is_read_is_whole_data();",
                                   "    void whole_numbers_stay() {",
                                   "    void nothing_offered() override { ++nothings; }",
                                   "        what_is_called();"};
        QCOMPARE(tests_without_subject("a.cpp", tests),
                 QStringList({"a.cpp:2: a test's name begins with its subject: who_is_late_is_waited_for",
                              "a.cpp:3: a test's name begins with its subject: what_is_read_is_whole_data"}));
    }
};

QTEST_APPLESS_MAIN(ProseTest)
#include "test_prose.moc"
