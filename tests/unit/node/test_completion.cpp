// Shell completions and the manual page, which are written from the command line's own definitions. The bash script is
// run by a real bash where there is one; the others are read.
#include <QProcess>
#include <QTest>

#include <iostream>
#include <sstream>

#include "app/node/cli/verbs/command_line.h"

using namespace potluck;
using namespace potluck::node;

namespace {

/// What the command line prints to standard output, for example "completion bash".
QString printed(std::vector<const char*> words) {
    words.insert(words.begin(), "potluck-node");
    std::ostringstream text;
    std::streambuf* const before = std::cout.rdbuf(text.rdbuf());
    CommandLine line;
    Verb* const verb = line.parse(static_cast<int>(words.size()), words.data());
    const ExitCode code = verb == nullptr ? line.exit() : verb->run(line.node());
    std::cout.rdbuf(before);
    return code == ExitCode::ok ? QString::fromStdString(text.str()) : QString();
}

enum class Listed { verbs, options };

/// The words that begin a line of --help that is indented by two.
QStringList listed(const QString& help, Listed which) {
    QStringList names;
    for (const QString& line : help.split('\n')) {
        if (!line.startsWith("  ") || line[2] == ' ') continue;
        const QString name = line.trimmed().section(' ', 0, 0).section(',', -1);
        if (name.startsWith("--") == (which == Listed::options)) names << name;
    }
    return names;
}

/// The line of --help that begins with a word.
QString line_of(const QString& help, const QString& word) {
    for (const QString& line : help.split('\n'))
        if (line.startsWith("  " + word + " ")) return line.simplified();
    return {};
}

}  // namespace

class CompletionTest : public QObject {
    Q_OBJECT
private slots:
    void every_verb_and_option_of_the_help_is_in_scripts_and_manual() {
        const QStringList verbs = listed(printed({"--help-all"}), Listed::verbs);
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
            for (const QString& option : listed(printed({verb.toUtf8().constData(), "--help"}), Listed::options)) {
                QVERIFY2(bash.contains(option), qPrintable(verb + " " + option));
                QVERIFY2(zsh.contains("'" + option + ":"), qPrintable(verb + " " + option));
                QVERIFY2(fish.contains(" -l " + option.mid(2) + " "), qPrintable(verb + " " + option));
                QVERIFY2(manual.contains(QString(option).replace("-", "\\-")), qPrintable(verb + " " + option));
            }
        }
    }

    void help_tells_what_holds_without_an_option_data() {
        QTest::addColumn<QString>("verb");
        QTest::addColumn<QString>("option");
        QTest::addColumn<QString>("end");
        QTest::newRow("a number") << "host"
                                  << "--rounds"
                                  << "is complete (default: 1000)";
        QTest::newRow("a fraction") << "host"
                                    << "--final-fraction"
                                    << "at the end (default: 0.1)";
        QTest::newRow("a time of the recipe") << "host"
                                              << "--grace"
                                              << "turn it is to propose (default: 5)";
        QTest::newRow("a name") << "host"
                                << "--optimizer"
                                << "muon (default: adamw)";
        QTest::newRow("what the description says itself") << "host"
                                                          << "--window"
                                                          << "(default: 5 to 3600, by the size of the model)";
        QTest::newRow("a range, too") << "sample"
                                      << "--tokens"
                                      << "many tokens (from 1 to 4096; default: 200)";
        QTest::newRow("a range beside its own words")
            << "demo"
            << "--minutes"
            << "(default: until the baseline is beaten, at most five minutes; from 0.1 to 10000)";
        QTest::newRow("a word for a choice") << "pack"
                                             << "--format"
                                             << "(default: nanogpt)";
        QTest::newRow("nothing where there is none") << "host"
                                                     << "--purpose"
                                                     << "What the model is for";
    }
    void help_tells_what_holds_without_an_option() {
        QFETCH(QString, verb);
        QFETCH(QString, option);
        QFETCH(QString, end);
        const QString line = line_of(printed({verb.toUtf8().constData(), "--help"}), option);
        QVERIFY2(line.endsWith(end), qPrintable(line));
        const QString manual = printed({"manual"}).replace("\\-", "-");
        QVERIFY2(manual.contains(end + ".\n"), qPrintable(end));
    }

    void the_manual_tells_every_exit_status() {
        const QString manual = printed({"manual"});
        for (int number = 0; number <= static_cast<int>(ErrorCode::cancelled); ++number) {
            const ExitCode code = exit_code_of(static_cast<ErrorCode>(number));
            QVERIFY2(manual.contains(".TP\n\\fB" + QString::number(static_cast<int>(code)) + "\\fR\n"),
                     name_of(static_cast<ErrorCode>(number)));
        }
        for (const ExitCode code : {ExitCode::ok, ExitCode::not_running, ExitCode::no_run})
            QVERIFY(manual.contains(".TP\n\\fB" + QString::number(static_cast<int>(code)) + "\\fR\n"));
    }

    void help_groups_options_and_verbs() {
        const QString host = printed({"host", "--help"});
        for (const char* group : {"What to train on:", "Model:", "Optimizer:", "Rounds:", "Members:"})
            QVERIFY2(host.contains("\n\n" + QString(group) + "\n"), group);
        const QString top = printed({"--help"});
        QVERIFY(top.indexOf("\nTake part:\n") < top.indexOf("\n  status "));
        QVERIFY2(!top.contains("ommands:"), "a verb is in no group");
        QVERIFY2(!top.contains("\n\n\n") && !host.contains("\n\n\n"), "one empty line is enough");
        QVERIFY(top.contains("(environment: POTLUCK_DHT)"));
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

    void verbs_of_programs_are_listed_by_help_all_only() {
        const QStringList usual = listed(printed({"--help"}), Listed::verbs);
        const QStringList all = listed(printed({"--help-all"}), Listed::verbs);
        for (const char* verb : {"serve", "control", "release-index", "completion", "manual"})
            QVERIFY2(!usual.contains(verb) && all.contains(verb), verb);
        for (const QString& verb : usual) QVERIFY2(all.contains(verb), qPrintable(verb));
        QCOMPARE(all.size(), usual.size() + 5);
    }

    void scripts_hold_no_character_that_ends_a_quotation() {
        const QStringList lines = printed({"completion", "fish"}).split('\n');
        for (const QString& line : lines) QVERIFY2(line.count('\'') % 2 == 0, qPrintable(line));
        QVERIFY(printed({"completion", "tcsh"}).isEmpty());
    }
};

QTEST_APPLESS_MAIN(CompletionTest)
#include "test_completion.moc"
