// What the command line says: of a line that it does not understand one sentence of ours, never the parser's; of a node
// that runs in a terminal a line a round.
#include <QTest>

#include <iostream>
#include <sstream>

#include "app/node/cli/options/model_options.h"
#include "app/node/cli/run_lines.h"
#include "app/node/cli/verbs/command_line.h"
#include "core/model/traits.h"

using namespace potluck;
using namespace potluck::node;

class CommandLineTest : public QObject {
    Q_OBJECT
private slots:
    void a_wrong_line_is_answered_in_one_sentence_data() {
        QTest::addColumn<QString>("line");
        QTest::addColumn<QString>("sentence");
        const auto row = [](const char* name, const char* line, const char* sentence) {
            QTest::newRow(name) << QString(line) << QString(sentence);
        };
        row("nothing", "",
            "Say what to do, for example potluck-node join <invite>; potluck-node --help lists the commands.");
        row("a verb without its part", "receipt",
            "After receipt comes export or verify, for example potluck-node receipt export.");
        row("a missing value", "join", "join takes <invite>, for example potluck-node join <invite>.");
        row("a missing value of a part", "receipt verify",
            "verify takes <file>, for example potluck-node receipt verify <file>.");
        row("a missing option", "release-index packs",
            "release-index takes --serial <value>, for example potluck-node release-index <folder> --serial <value>.");
        row("a word for a choice", "status --effort loud", "--effort takes balanced, full or quiet, not loud.");
        row("a word of a list", "host --text t --optimizer sgd", "--optimizer takes adamw, lamb or muon, not sgd.");
        row("a number of a list", "host --text t --state-bits 9", "--state-bits takes 8 or 32, not 9.");
        row("a number beyond its type", "status --port 99999", "--port takes a number from 0 to 65535, not 99999.");
        row("a number beyond its range", "sample --temperature 11",
            "--temperature takes a number from 0 to 10, not 11.");
        row("a word for a number", "host --text t --rounds many", "--rounds takes a number, not many.");
        row("a value that stands alone", "completion tcsh", "shell takes bash, zsh or fish, not tcsh.");
        row("too few pictures together", "host --pictures p --together 1",
            "--together takes a number from 2 to 4096, not 1.");
        row("an option without its value", "status --port",
            "--port needs a value; potluck-node status --help says which.");
        row("a closed run that is to be announced", "host --text t --allow a --announce",
            "A run with --allow is for those whom you invite; leave --announce out.");
        row("a language that is no tag", "host --text t --announce --language d_e",
            "A language is a tag such as de or pt-BR.");
        row("a page that is no link", "host --text t --announce --web-page x.org",
            "A page is a link that begins with https:// or http://, of at most 160 letters.");
        row("a part of a verb that works alone", "runs find --for 0", "--for takes a number from 1 to 3600, not 0.");
        row("options that exclude each other", "host --text a --tokens b",
            "--text and --tokens exclude each other; give one of them.");
        row("an option without another", "sample --pictures p", "--pictures counts together with --from; give both.");
        row("a text that is read as a sentence", "status --proxy nonsense",
            "A proxy is written socks5://host:port or http://host:port, with name:password@ before the host if it asks "
            "for them; none goes without one.");
        row("an unknown verb", "jion", "There is no command jion; did you mean join?");
        row("a character that commands a terminal", "status --port \x1b[2J",
            "--port takes a number from 0 to 65535, not ?[2J.");
    }
    void a_wrong_line_is_answered_in_one_sentence() {
        QFETCH(QString, line);
        QFETCH(QString, sentence);
        std::vector<std::string> words{"potluck-node"};
        for (const QString& word : line.split(' ', Qt::SkipEmptyParts)) words.push_back(word.toStdString());
        std::vector<const char*> pointers;
        for (const std::string& word : words) pointers.push_back(word.c_str());
        std::ostringstream text;
        std::streambuf* const before = std::cerr.rdbuf(text.rdbuf());
        CommandLine command_line;
        const Verb* const verb = command_line.parse(static_cast<int>(pointers.size()), pointers.data());
        std::cerr.rdbuf(before);
        QVERIFY(verb == nullptr);
        QCOMPARE(command_line.exit(), ExitCode::usage);
        QCOMPARE(QString::fromStdString(text.str()), "potluck-node: " + sentence + "\n");
    }

    void pictures_are_computed_together_as_many_as_a_host_says() {
        QCOMPARE(model_of({.preset = "swav-resnet50"})->swav.together, 64U);
        QCOMPARE(model_of({.preset = "swav-resnet50", .together = 16})->swav.together, 16U);
        QCOMPARE(model_of({.preset = "swav-tiny", .prototypes = 30})->swav.prototypes, 30U);
        for (const std::uint32_t pictures : {model::records_together_min, model::records_together_max}) {
            const model::ModelSpec model = model_of({.preset = "swav-tiny", .together = pictures}).value();
            QVERIFY(model::ModelSpec::from_json(model.to_json()).value() == model);
        }
        QCOMPARE(model_of({.preset = "tiny", .together = 16}).error().message,
                 std::string("--together is for SwAV; choose --model swav-tiny."));
        QCOMPARE(model_of({.preset = "tiny", .prototypes = 30}).error().message,
                 std::string("--prototypes is for SwAV; choose --model swav-tiny."));
    }

    void a_terminal_gets_a_line_a_round_and_one_for_each_hindrance() {
        RunLines lines;
        control::NodeSnapshot now;
        const auto line_of = [&](status::Reason reason, status::Activity activity, const char* sentence) {
            now.why = {{reason}};
            now.activity = activity;
            now.reason = sentence;
            return QString::fromStdString(lines.next(now).value_or(""));
        };
        QCOMPARE(line_of(status::Reason::node_starting, status::Activity::not_running, "Starting."),
                 QString("Starting."));
        QCOMPARE(line_of(status::Reason::node_starting, status::Activity::not_running, "Starting."), QString(""));
        now.run.emplace();
        now.run->total_rounds = 9;
        now.run->round = 3;
        QCOMPARE(line_of(status::Reason::training, status::Activity::training, "Training."),
                 QString("round 3 of 9: Training."));
        QCOMPARE(line_of(status::Reason::training, status::Activity::training, "Training, 12 %."), QString(""));
        QCOMPARE(line_of(status::Reason::trainer_failed, status::Activity::failed, "It broke."),
                 QString("round 3 of 9: It broke."));
        QCOMPARE(line_of(status::Reason::training, status::Activity::training, "Training."), QString(""));
        QCOMPARE(line_of(status::Reason::trainer_failed, status::Activity::failed, "It broke."), QString(""));
        now.run->round = 4;
        QCOMPARE(line_of(status::Reason::trainer_failed, status::Activity::failed, "It broke."),
                 QString("round 4 of 9: It broke."));
    }
};

QTEST_APPLESS_MAIN(CommandLineTest)
#include "test_command_line.moc"
