// The transport over real child processes. A shell script stands for the node where the node itself is not the point.
#include <QFile>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QtTest>

#include "ui/client/process_transport.h"

using potluck::ui::ProcessTransport;
using potluck::ui::Transport;

namespace {

QString script(const QTemporaryDir& folder, const QByteArray& body) {
    const QString path = folder.filePath(QStringLiteral("node"));
    QFile file(path);
    if (!file.open(QIODevice::WriteOnly)) return {};
    file.write("#!/bin/sh\n" + body);
    file.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
    return path;
}

Transport::End endOf(const QSignalSpy& ended) { return ended.front().at(0).value<Transport::End>(); }

}  // namespace

class TestProcessTransport : public QObject {
    Q_OBJECT

private slots:
    void bytes_go_there_and_back() {
        const QTemporaryDir folder;
        ProcessTransport transport(script(folder, "echo \"$1 $2 $3\"; exec cat\n"), QStringLiteral("/data here"));
        QByteArray heard;
        connect(&transport, &Transport::received, this, [&](const QByteArray& bytes) { heard += bytes; });
        transport.open(Transport::Way::serve);
        transport.send("hello\n");
        QTRY_COMPARE(heard, QByteArray("serve --data-dir /data here\nhello\n"));
    }

    void closing_its_input_ends_it_in_an_orderly_way() {
        const QTemporaryDir folder;
        ProcessTransport transport(script(folder, "exec cat\n"), folder.path());
        QSignalSpy ended(&transport, &Transport::ended);
        transport.open(Transport::Way::control);
        transport.close();
        QVERIFY(ended.wait(5000));
        QCOMPARE(endOf(ended), Transport::End::closed);
    }

    void exit_code_four_means_that_a_node_runs_already() {
        const QTemporaryDir folder;
        ProcessTransport transport(script(folder, "exit 4\n"), folder.path());
        QSignalSpy ended(&transport, &Transport::ended);
        transport.open(Transport::Way::serve);
        QVERIFY(ended.wait(5000));
        QCOMPARE(endOf(ended), Transport::End::already_running);
    }

    void its_last_words_are_told() {
        const QTemporaryDir folder;
        ProcessTransport transport(script(folder, "echo first >&2; echo 'the disk is full' >&2; exit 1\n"),
                                   folder.path());
        QSignalSpy ended(&transport, &Transport::ended);
        transport.open(Transport::Way::serve);
        QVERIFY(ended.wait(5000));
        QCOMPARE(endOf(ended), Transport::End::failed);
        QCOMPARE(ended.front().at(1).toString(), QStringLiteral("the disk is full"));
    }

    void a_program_that_is_not_there_is_missing() {
        ProcessTransport transport(QStringLiteral("/nowhere/potluck-node"), QStringLiteral("/nowhere"));
        QSignalSpy ended(&transport, &Transport::ended);
        transport.open(Transport::Way::serve);
        QVERIFY(ended.wait(5000));
        QCOMPARE(endOf(ended), Transport::End::missing);
    }
};

QTEST_GUILESS_MAIN(TestProcessTransport)
#include "test_process_transport.moc"
