// Shell completions and the manual page, which are written from the command line's own definitions. The bash script is
// run by a real bash where there is one; the others are read.
#include <QProcess>
#include <QTest>

#include <iostream>
#include <sstream>

#include "app/node/cli/command_line.h"

using namespace potluck::node;

namespace {

/// What the command line prints to standard output, for example "completion bash".
QString printed(std::vector<const char*> words) {
    words.insert(words.begin(), "potluck-node");
    std::ostringstream text;
    std::streambuf* const before = std::cout.rdbuf(text.rdbuf());
    const ParsedCommand parsed = parse_command_line(static_cast<int>(words.size()), words.data());
    std::cout.rdbuf(before);
    return parsed.command || parsed.exit != ExitCode::ok ? QString() : QString::fromStdString(text.str());
}

/// The words after a heading of --help, one per line that is indented by two.
QStringList listed(const QString& help, const QString& heading) {
    QStringList names;
    bool inside = false;
    for (const QString& line : help.split('\n')) {
        if (!line.startsWith(' ')) inside = line.startsWith(heading);
        if (inside && line.startsWith("  ") && line.size() > 2 && line[2] != ' ')
            names << line.trimmed().section(' ', 0, 0).section(',', -1);
    }
    return names;
}

}  // namespace

class CompletionTest : public QObject {
    Q_OBJECT
private slots:
    void every_verb_and_option_of_the_help_is_in_scripts_and_manual() {
        const QStringList verbs = listed(printed({"--help"}), "Subcommands:");
        QVERIFY2(verbs.size() > 20 && verbs.contains("host"), qPrintable(verbs.join(' ')));
        const QString bash = printed({"completion", "bash"}), zsh = printed({"completion", "zsh"}),
                      fish = printed({"completion", "fish"}), manual = printed({"manual"});
        for (const QString& verb : verbs) {
            QVERIFY2(bash.contains("|/" + verb + "|") || bash.contains("|/" + verb + ")") ||
                         bash.contains(" /" + verb + "|"),
                     qPrintable(verb));
            QVERIFY2(zsh.contains(" '" + verb + ":"), qPrintable(verb));
            QVERIFY2(fish.contains(" -a " + verb + " -d '"), qPrintable(verb));
            QVERIFY2(manual.contains(".SS " + QString(verb).replace("-", "\\-") + "\n"), qPrintable(verb));
            for (const QString& option :
                 listed(printed({verb.toUtf8().constData(), "--help"}), "Options:").filter("--")) {
                QVERIFY2(bash.contains(option), qPrintable(verb + " " + option));
                QVERIFY2(zsh.contains("'" + option + ":"), qPrintable(verb + " " + option));
                QVERIFY2(fish.contains(" -l " + option.mid(2) + " "), qPrintable(verb + " " + option));
                QVERIFY2(manual.contains(QString(option).replace("-", "\\-")), qPrintable(verb + " " + option));
            }
        }
    }

    void bash_completes_verbs_below_verbs_and_options_of_their_own_data() {
        QTest::addColumn<QString>("line");
        QTest::addColumn<QString>("expected");
        QTest::newRow("a verb") << "potluck-node leaderb"
                                << "leaderboard";
        QTest::newRow("a verb below a verb") << "potluck-node committee ver"
                                             << "verify";
        QTest::newRow("after an option of the top") << "potluck-node --loopback identity exp"
                                                    << "export";
        QTest::newRow("an option of its own") << "potluck-node host --amplif"
                                              << "--amplification";
        QTest::newRow("an option of the top after a verb") << "potluck-node host --max-up"
                                                           << "--max-upload";
        QTest::newRow("not another verb's option") << "potluck-node join --amplif"
                                                   << "";
    }
    void bash_completes_verbs_below_verbs_and_options_of_their_own() {
        QFETCH(QString, line);
        QFETCH(QString, expected);
        QProcess bash;
        bash.start("bash", {"--norc", "-c",
                            "source /dev/stdin; COMP_WORDS=(" + line +
                                "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _potluck_node; echo ${COMPREPLY[*]}"});
        if (!bash.waitForStarted()) QSKIP("no bash here");
        bash.write(printed({"completion", "bash"}).toUtf8());
        bash.closeWriteChannel();
        QVERIFY(bash.waitForFinished());
        QCOMPARE(QString::fromUtf8(bash.readAllStandardError()), QString());
        QCOMPARE(QString::fromUtf8(bash.readAllStandardOutput()).trimmed(), expected);
    }

    void scripts_hold_no_character_that_ends_a_quotation() {
        const QStringList lines = printed({"completion", "fish"}).split('\n');
        for (const QString& line : lines) QVERIFY2(line.count('\'') % 2 == 0, qPrintable(line));
        QVERIFY(printed({"completion", "tcsh"}).isEmpty());
    }
};

QTEST_APPLESS_MAIN(CompletionTest)
#include "test_completion.moc"
