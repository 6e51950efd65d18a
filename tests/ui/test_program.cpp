// The desktop program as a process: its options, and what a second start does. A shell script stands for the node.
#include <QFile>
#include <QProcess>
#include <QTemporaryDir>
#include <QtTest>

namespace {

const QString program = QStringLiteral(POTLUCK_BIN_DIR "/potluck");

struct Outcome {
    int code = -1;
    QByteArray output;
    QByteArray errors;
};

Outcome run(const QStringList& arguments) {
    // Qt complains on standard error where the session has no folder for sockets.
    const QTemporaryDir runtime;
    QProcess process;
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    environment.insert(QStringLiteral("XDG_RUNTIME_DIR"), runtime.path());
    process.setProcessEnvironment(environment);
    process.start(program, arguments);
    if (!process.waitForFinished(20'000)) process.kill();
    return {process.exitStatus() == QProcess::NormalExit ? process.exitCode() : -1, process.readAllStandardOutput(),
            process.readAllStandardError()};
}

/// A node that never says a word, writes "started" into the folder, and ends with its input.
QString silentNode(const QTemporaryDir& folder) {
    const QString path = folder.filePath(QStringLiteral("node"));
    QFile file(path);
    if (!file.open(QIODevice::WriteOnly)) return {};
    file.write("#!/bin/sh\necho \"$@\" >> \"$3/started\"\nexec cat\n");
    file.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
    return path;
}

QByteArray startsIn(const QTemporaryDir& folder) {
    QFile file(folder.filePath(QStringLiteral("started")));
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

}  // namespace

class TestProgram : public QObject {
    Q_OBJECT

private slots:
    void help_and_version_go_to_standard_output() {
        const Outcome help = run({QStringLiteral("--help")});
        QCOMPARE(help.code, 0);
        QVERIFY(help.output.contains("--data-dir") && help.output.contains("--minimized"));
        QCOMPARE(run({QStringLiteral("--version")}).code, 0);
    }

    void invalid_arguments_are_refused_with_a_sentence_data() {
        QTest::addColumn<QStringList>("arguments");
        QTest::newRow("unknown option") << QStringList{"--unheard-of"};
        QTest::newRow("no invite") << QStringList{"https://example.org"};
        QTest::newRow("two invites") << QStringList{"potluck:?xt=a", "potluck:?xt=b"};
    }
    void invalid_arguments_are_refused_with_a_sentence() {
        QFETCH(QStringList, arguments);
        const Outcome outcome = run(arguments);
        QCOMPARE(outcome.code, 2);
        QVERIFY2(outcome.errors.startsWith("potluck: ") && outcome.errors.count('\n') == 1, outcome.errors);
    }

    void a_second_start_hands_over_and_ends_without_a_node() {
        const QTemporaryDir folder;
        const QStringList arguments{"--data-dir", folder.path(), "--node", silentNode(folder)};
        QProcess first;
        first.start(program, arguments);
        QTRY_VERIFY_WITH_TIMEOUT(startsIn(folder).contains("serve"), 20'000);
        QCOMPARE(run(arguments + QStringList{"potluck:?xt=urn:btmh:1220ab"}).code, 0);
        QCOMPARE(startsIn(folder).count('\n'), 1);
        QCOMPARE(first.state(), QProcess::Running);
        first.kill();
        first.waitForFinished();
    }

    void the_environment_names_the_data_folder() {
        const QTemporaryDir folder;
        QProcess process;
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        environment.insert(QStringLiteral("POTLUCK_HOME"), folder.path());
        process.setProcessEnvironment(environment);
        process.start(program, {"--minimized", "--node", silentNode(folder)});
        QTRY_VERIFY_WITH_TIMEOUT(startsIn(folder).contains("serve --data-dir " + folder.path().toUtf8()), 20'000);
        process.kill();
        process.waitForFinished();
    }
};

QTEST_GUILESS_MAIN(TestProgram)
#include "test_program.moc"
