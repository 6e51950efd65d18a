// Qt guesses of some texts whether they are markup, and a stranger's name that looks like it would be: it could load
// files, or ask a server. So every such text is written as one of the few forms below, and what guesses and cannot be
// told otherwise is not used at all. The rule reads lines of code; what the window really shows is tested by
// tests/ui/test_hostile_strings.cpp.
#include <QRegularExpression>
#include <QTest>

#include "tests/tidy/source_tree.h"

using namespace potluck::tidy;

namespace {

/// Source without comments and with what is quoted made empty, its lines joined, so that a call is found as a whole.
QString codeOf(const QStringList& lines) {
    static const QRegularExpression quoted("\"(\\\\.|[^\"\\\\])*\"");
    QString code;
    for (QString line : lines) code += line.replace(quoted, "\"\"").section("//", 0, 0).simplified() + ' ';
    return code;
}

/// What stands in the parenthesis that opens at `open`.
QString insideOf(const QString& code, qsizetype open) {
    int depth = 0;
    for (qsizetype i = open; i < code.size(); ++i) {
        if (code[i] == '(') ++depth;
        if (code[i] == ')' && --depth == 0) return code.mid(open + 1, i - open - 1).trimmed();
    }
    return code.mid(open + 1);
}

/// A sentence of ours with nothing in it, or a text that came through one of the functions that make it harmless.
bool isHarmless(const QString& argument) {
    static const QRegularExpression ours("^([A-Za-z]+::)?tr\\( ?\"\" ?\\)$");
    static const QRegularExpression made("^(literalText|unmarkedText)\\(");
    return argument.isEmpty() || argument == "{}" || ours.match(argument).hasMatch() ||
           (made.match(argument).hasMatch() &&
            insideOf(argument, argument.indexOf('(')).size() + argument.indexOf('(') + 2 == argument.size());
}

/// What is wrong in one source file: a sentence for each place.
QStringList faultsIn(const QStringList& lines) {
    const QString code = codeOf(lines);
    QStringList faults;
    // 1. Qt guesses the format of tool tips and of their like.
    static const QRegularExpression guessed("\\b(setToolTip|setWhatsThis|QToolTip::showText|setLabelText) ?\\(");
    for (auto all = guessed.globalMatch(code); all.hasNext();) {
        const auto call = all.next();
        QString argument = insideOf(code, call.capturedEnd() - 1);
        if (call.captured(1) == "QToolTip::showText") argument = argument.section(',', 1, 1).trimmed();
        if (!isHarmless(argument)) faults << call.captured(1) + " of " + argument;
    }
    // 2. So it does of those that views ask models for.
    static const QRegularExpression role("case Qt::(ToolTipRole|WhatsThisRole): (.{0,20})");
    for (auto all = role.globalMatch(code); all.hasNext();) {
        const auto found = all.next();
        if (!found.captured(2).startsWith("return literalText("))
            faults << found.captured(1) + " is answered by " + found.captured(2);
    }
    static const QRegularExpression set("setData ?\\([^;]*Qt::(ToolTipRole|WhatsThisRole)");
    if (set.match(code).hasMatch()) faults << "setData of a tool tip";
    // 3. A label or a message box is told that its text is plain.
    static const QRegularExpression made("new Q(Label|MessageBox|InputDialog|ProgressDialog) ?[({]");
    int labels = 0, inputs = 0;
    for (auto all = made.globalMatch(code); all.hasNext();)
        (all.next().captured(1).startsWith("Input") ? inputs : labels)++;
    const auto told = code.count("setTextFormat(Qt::PlainText)");
    if (labels > told)
        faults << QString("%1 labels or boxes, of which %2 are told to show plain text").arg(labels).arg(told);
    // 4. What reads markup always, or guesses and cannot be told.
    static const QRegularExpression never(
        "\\b(QTextBrowser|QTextEdit|QTextDocument|QStaticText|QErrorMessage|setInformativeText|setHtml|insertHtml|"
        "appendHtml|"
        "setMarkdown|Qt::RichText|Qt::AutoText|Qt::MarkdownText|setStatusTip|"
        "QMessageBox::(about|critical|information|question|warning))\\b ?[({>*&;)]");
    for (auto all = never.globalMatch(code); all.hasNext();) faults << all.next().captured(1);
    return faults;
}

}  // namespace

class MarkupTest : public QObject {
    Q_OBJECT
private slots:
    void the_rule_finds_what_it_is_for_data() {
        QTest::addColumn<QString>("line");
        QTest::addColumn<bool>("isFault");
        const auto row = [](const char* line, bool isFault) { QTest::newRow(line) << QString(line) << isFault; };
        row("a->setToolTip(name);", true);
        row("a->setToolTip(tr(\"%1 tokens\").arg(name));", true);
        row("a->setToolTip(literalText(name) + team);", true);
        row("a->setToolTip(name.toHtmlEscaped());", true);
        row("a->setToolTip(open ? tr(\"Leave first.\") : name);", true);
        row("setToolTip(tr(\"Leave the run\"));", false);
        row("a->setToolTip(literalText(name));", false);
        row("m_icon->setToolTip(unmarkedText(tip.left(9)));", false);
        row("a->setToolTip({});", false);
        row("// a->setToolTip(name);", false);
        row("say(\"setToolTip(name)\");", false);
        row("QToolTip::showText(at, name);", true);
        row("QToolTip::showText(at, literalText(name), this);", false);
        row("case Qt::ToolTipRole: return row.team;", true);
        row("case Qt::ToolTipRole: return literalText(row.team);", false);
        row("item->setData(Qt::ToolTipRole, name);", true);
        row("auto* label = new QLabel(name, parent);", true);
        row("auto* label = new QLabel(parent); label->setTextFormat(Qt::PlainText);", false);
        row("auto* box = new QMessageBox(this);", true);
        row("auto* box = new QMessageBox(this); box->setTextFormat(Qt::PlainText);", false);
        row("auto* a = new QLabel(x); auto* b = new QLabel(y); a->setTextFormat(Qt::PlainText);", true);
        row("QMessageBox::warning(this, title, name);", true);
        row("if (answer == QMessageBox::Question) return;", false);
        row("box->setInformativeText(name);", true);
        row("auto* text = new QTextBrowser(this);", true);
        row("auto* text = new QPlainTextEdit(this);", false);
        row("text->setHtml(name);", true);
        row("dialog->setLabelText(name);", true);
        row("dialog->setLabelText(tr(\"Type the words.\"));", false);
    }
    void the_rule_finds_what_it_is_for() {
        QFETCH(QString, line);
        QFETCH(bool, isFault);
        const QStringList faults = faultsIn({line});
        QVERIFY2(faults.isEmpty() != isFault, qPrintable(faults.join(", ")));
    }

    void the_rule_reads_calls_over_several_lines() {
        QVERIFY(!faultsIn({"a->setToolTip(", "    name);"}).isEmpty());
        QVERIFY(faultsIn({"a->setToolTip(", "    literalText(name));"}).isEmpty());
    }

    void no_text_of_the_window_is_taken_for_markup() {
        QStringList faults;
        int calls = 0;
        for (const QString& file : files_below({"ui", "app/potluck"}, {"*.h", "*.cpp"})) {
            if (file == "ui/client/plain_text.cpp") continue;  // where texts are made literal
            const QStringList lines = lines_of(file);
            calls += static_cast<int>(lines.filter("literalText(").size());
            for (const QString& fault : faultsIn(lines)) faults << file + ": " + fault;
        }
        QVERIFY2(faults.isEmpty(), qPrintable(faults.join("\n")));
        QVERIFY(calls > 5);
    }
};

QTEST_APPLESS_MAIN(MarkupTest)
#include "test_markup.moc"
