#include <QCryptographicHash>
#include <QDir>
#include <QFile>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QtTest>

#include "ui/client/single_instance.h"

using namespace potluck::ui;

class TestSingleInstance : public QObject {
    Q_OBJECT

private slots:
    void a_second_one_hands_its_link_over() {
        const QTemporaryDir folder;
        SingleInstance first(folder.path());
        QSignalSpy isFirst(&first, &SingleInstance::isFirst);
        QSignalSpy opened(&first, &SingleInstance::opened);
        first.claim({});
        QVERIFY(isFirst.wait(3000));

        SingleInstance second(folder.path());
        QSignalSpy handedOver(&second, &SingleInstance::handedOver);
        QSignalSpy secondIsFirst(&second, &SingleInstance::isFirst);
        second.claim(QStringLiteral("potluck:?xt=urn:btmh:1220ab&dn=a b\nü"));
        QVERIFY(handedOver.wait(3000));
        QCOMPARE(opened.size(), 1);
        QCOMPARE(opened.front().front().toString(), QStringLiteral("potluck:?xt=urn:btmh:1220ab&dn=a b\nü"));
        QCOMPARE(secondIsFirst.size(), 0);
    }

    void a_second_one_without_a_link_only_raises_the_window() {
        const QTemporaryDir folder;
        SingleInstance first(folder.path());
        QSignalSpy isFirst(&first, &SingleInstance::isFirst);
        QSignalSpy opened(&first, &SingleInstance::opened);
        first.claim({});
        QVERIFY(isFirst.wait(3000));
        SingleInstance second(folder.path());
        QSignalSpy handedOver(&second, &SingleInstance::handedOver);
        second.claim({});
        QVERIFY(handedOver.wait(3000));
        QCOMPARE(opened.front().front().toString(), QString());
    }

    void two_data_folders_have_two_windows() {
        const QTemporaryDir one;
        const QTemporaryDir other;
        SingleInstance first(one.path());
        SingleInstance second(other.path());
        QSignalSpy firstIs(&first, &SingleInstance::isFirst);
        QSignalSpy secondIs(&second, &SingleInstance::isFirst);
        first.claim({});
        second.claim({});
        QTRY_COMPARE(firstIs.size(), 1);
        QTRY_COMPARE(secondIs.size(), 1);
    }

    void a_socket_that_a_crash_left_behind_is_taken_over() {
        const QTemporaryDir folder;
        QFile stale(windowSocket(folder.path()));
        QVERIFY(stale.open(QIODevice::WriteOnly));
        stale.close();
        SingleInstance instance(folder.path());
        QSignalSpy isFirst(&instance, &SingleInstance::isFirst);
        instance.claim({});
        QVERIFY(isFirst.wait(3000));
        SingleInstance second(folder.path());
        QSignalSpy handedOver(&second, &SingleInstance::handedOver);
        second.claim({});
        QVERIFY(handedOver.wait(3000));
    }

    void the_socket_lies_where_no_other_account_can_put_one() {
        const QTemporaryDir folder;
        const QString below = folder.filePath(QStringLiteral("data"));
        SingleInstance first(below);
        QSignalSpy isFirst(&first, &SingleInstance::isFirst);
        first.claim({});
        QVERIFY(isFirst.wait(3000));
        QCOMPARE(windowSocket(below), below + QStringLiteral("/window.sock"));
        const QFileInfo socket(windowSocket(below));
        QVERIFY(socket.exists());
        constexpr auto others = QFile::ReadGroup | QFile::WriteGroup | QFile::ReadOther | QFile::WriteOther;
        QVERIFY(!(socket.permissions() & others));
        QVERIFY(!(QFileInfo(below).permissions() & others));
    }

    void a_long_data_folder_has_its_socket_in_the_runtime_folder() {
        const QTemporaryDir runtime;
        const QByteArray before = qgetenv("XDG_RUNTIME_DIR");
        const QString folder = QStringLiteral("/home/somebody/") + QString(120, u'x');
        qputenv("XDG_RUNTIME_DIR", runtime.path().toLocal8Bit());
        const QString socket = windowSocket(folder);
        QVERIFY2(socket.startsWith(runtime.path() + QStringLiteral("/potluck/window-")), qPrintable(socket));
        QVERIFY(prepareSocketFolder(socket));
        QVERIFY(!(QFileInfo(QFileInfo(socket).path()).permissions() & (QFile::ExeGroup | QFile::ExeOther)));
        QVERIFY(windowSocket(folder + u'y') != socket);
        qputenv("XDG_RUNTIME_DIR", "not/absolute");
        QVERIFY(windowSocket(folder).startsWith(QStringLiteral("/tmp/potluck-")));
        qputenv("XDG_RUNTIME_DIR", before);
    }

    void a_folder_that_everybody_may_write_holds_no_socket() {
        const QTemporaryDir folder;
        const QString open = folder.filePath(QStringLiteral("open"));
        QVERIFY(QDir().mkpath(open));
        QVERIFY(QFile::setPermissions(open, QFile::Permissions(0x7777)));
        QVERIFY(!prepareSocketFolder(windowSocket(open)));
        // It opens a window of its own, each time.
        for (int start = 0; start < 2; ++start) {
            SingleInstance instance(open);
            QSignalSpy isFirst(&instance, &SingleInstance::isFirst);
            instance.claim({});
            QVERIFY(isFirst.wait(3000));
            QVERIFY(!QFile::exists(windowSocket(open)));
        }
    }

    /// Another account listens in our place and answers as a window would.
    void a_squatter_receives_no_invite_and_ends_no_start() {
        const QTemporaryDir folder;
        QLocalServer squatter;
        QByteArray heard;
        connect(&squatter, &QLocalServer::newConnection, this, [&] {
            QLocalSocket* caller = squatter.nextPendingConnection();
            connect(caller, &QLocalSocket::readyRead, this, [&heard, caller] { heard += caller->readAll(); });
            caller->write("ok\n");
        });
        QVERIFY(squatter.listen(windowSocket(folder.path())));
        SingleInstance instance(folder.path(), [](const QLocalSocket&) { return false; });
        QSignalSpy isFirst(&instance, &SingleInstance::isFirst);
        QSignalSpy handedOver(&instance, &SingleInstance::handedOver);
        instance.claim(QStringLiteral("potluck:?xt=urn:btmh:1220ab"));
        QVERIFY(isFirst.wait(3000));
        QTest::qWait(100);
        QCOMPARE(heard, QByteArray());
        QCOMPARE(handedOver.size(), 0);
    }

    /// The name that everybody could take, and what sits there hears nothing.
    void an_instance_connects_to_no_socket_in_the_temporary_folder() {
        const QTemporaryDir folder;
        const QByteArray path = QDir(folder.path()).absolutePath().toUtf8();
        QLocalServer squatter;
        QSignalSpy visited(&squatter, &QLocalServer::newConnection);
        QVERIFY(squatter.listen(
            QStringLiteral("potluck-") +
            QString::fromLatin1(QCryptographicHash::hash(path, QCryptographicHash::Sha256).toHex().left(16))));
        SingleInstance instance(folder.path());
        QSignalSpy isFirst(&instance, &SingleInstance::isFirst);
        instance.claim(QStringLiteral("potluck:?xt=urn:btmh:1220ab"));
        QVERIFY(isFirst.wait(3000));
        QCOMPARE(visited.size(), 0);
    }

    void callers_of_other_accounts_are_turned_away() {
        const QTemporaryDir folder;
        SingleInstance first(folder.path(), [](const QLocalSocket&) { return false; });
        QSignalSpy isFirst(&first, &SingleInstance::isFirst);
        QSignalSpy opened(&first, &SingleInstance::opened);
        first.claim({});
        QVERIFY(isFirst.wait(3000));
        QLocalSocket caller;
        caller.connectToServer(windowSocket(folder.path()));
        QVERIFY(caller.waitForConnected(3000));
        caller.write("open potluck:?xt=urn:btmh:1220ab\n");
        QTRY_COMPARE(caller.state(), QLocalSocket::UnconnectedState);
        QCOMPARE(opened.size(), 0);
    }

    void the_other_end_of_ones_own_socket_is_ones_own() {
        const QTemporaryDir folder;
        QLocalServer server;
        QVERIFY(server.listen(folder.filePath(QStringLiteral("s"))));
        QLocalSocket caller;
        caller.connectToServer(server.fullServerName());
        QVERIFY(caller.waitForConnected(3000) && isOwnPeer(caller));
        QVERIFY(!isOwnPeer(QLocalSocket()));
    }

    void an_answer_that_no_window_gives_ends_no_start() {
        const QTemporaryDir folder;
        QLocalServer other;
        connect(&other, &QLocalServer::newConnection, this, [&] { other.nextPendingConnection()->write("no\n"); });
        QVERIFY(other.listen(windowSocket(folder.path())));
        SingleInstance instance(folder.path());
        QSignalSpy isFirst(&instance, &SingleInstance::isFirst);
        QSignalSpy handedOver(&instance, &SingleInstance::handedOver);
        instance.claim({});
        QVERIFY(isFirst.wait(5000));
        QCOMPARE(handedOver.size(), 0);
    }

    void an_argument_that_is_no_link_is_not_passed_on() {
        const QTemporaryDir folder;
        SingleInstance first(folder.path());
        QSignalSpy isFirst(&first, &SingleInstance::isFirst);
        QSignalSpy opened(&first, &SingleInstance::opened);
        first.claim({});
        QVERIFY(isFirst.wait(3000));
        SingleInstance second(folder.path());
        second.claim(QStringLiteral("file:///etc/passwd"));
        QVERIFY(opened.wait(3000));
        QCOMPARE(opened.front().front().toString(), QString());
    }
};

QTEST_GUILESS_MAIN(TestSingleInstance)
#include "test_single_instance.moc"
