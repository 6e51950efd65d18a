#include <QCryptographicHash>
#include <QDir>
#include <QFile>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QtTest>

#include "ui/client/single_instance.h"

using potluck::ui::SingleInstance;

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
        const QByteArray path = QDir(folder.path()).absolutePath().toUtf8();
        const QString name =
            QStringLiteral("potluck-") +
            QString::fromLatin1(QCryptographicHash::hash(path, QCryptographicHash::Sha256).toHex().left(16));
        QFile stale(QDir::tempPath() + QLatin1Char('/') + name);
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

    void what_is_no_link_is_not_passed_on() {
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
