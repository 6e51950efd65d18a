// The program's parts put together as main does it, up to the end: quitting must end the event loop although the window
// refuses to be closed by others. A shell script stands for the node.
#include <QAbstractButton>
#include <QComboBox>
#include <QFile>
#include <QFileDialog>
#include <QFileOpenEvent>
#include <QLabel>
#include <QLineEdit>
#include <QMessageBox>
#include <QTemporaryDir>
#include <QTimer>
#include <QtTest>

#include "app/potluck/program.h"
#include "app/potluck/shipped_text.h"

using namespace potluck;

namespace {

QString script(const QTemporaryDir& folder, const QByteArray& body) {
    const QString path = folder.filePath(QStringLiteral("node"));
    QFile file(path);
    if (!file.open(QIODevice::WriteOnly)) return {};
    file.write("#!/bin/sh\n" + body);
    file.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
    return path;
}

ui::MainWindow* shownWindow() {
    for (QWidget* widget : QApplication::topLevelWidgets()) {
        auto* window = qobject_cast<ui::MainWindow*>(widget);
        if (window != nullptr && window->isVisible()) return window;
    }
    return nullptr;
}

/// Runs the program until it ends by itself; 7 after 20 seconds.
int runAndQuit(const QTemporaryDir& folder, const QString& node) {
    app::Program program(*qApp, {.data_folder = folder.path(), .node_program = node, .link = {}});
    QTimer poll;
    int presses = 0;
    QObject::connect(&poll, &QTimer::timeout, &poll, [&] {
        ui::MainWindow* window = shownWindow();
        // Twice: an impatient person must not delay the end.
        if (window != nullptr && presses < 2) {
            ++presses;
            QTest::keyClick(window, Qt::Key_Q, Qt::ControlModifier);
        }
    });
    poll.start(300);
    QTimer::singleShot(20'000, &poll, [] { QApplication::exit(7); });
    program.start();
    return QApplication::exec();
}

}  // namespace

class TestQuitting : public QObject {
    Q_OBJECT

private slots:
    void a_first_run_alone_has_text_enough() {
        const QTemporaryDir folder;
        ui::loadResources();
        const Result<QString> name = app::shippedText(folder.filePath(QStringLiteral("data")));
        QVERIFY2(name.ok(), name ? "" : name.error().message.c_str());
        QFile file(*name);
        QVERIFY(file.open(QIODevice::ReadOnly));
        const QByteArray text = file.readAll();
        QVERIFY(text.size() >= 100'000);  // less is refused by the node
        QVERIFY(QString::fromUtf8(text).contains(QStringLiteral("Potluck")));
        file.close();
        QVERIFY(file.open(QIODevice::WriteOnly | QIODevice::Truncate));  // as a full disk leaves it
        file.close();
        QVERIFY(app::shippedText(folder.filePath(QStringLiteral("data"))).ok());
        QCOMPARE(file.size(), text.size());
        QVERIFY(!app::shippedText(*name).ok());
    }

    void quitting_ends_the_node_and_then_the_program() {
        const QTemporaryDir folder;
        const QString ended = folder.filePath(QStringLiteral("ended"));
        QCOMPARE(runAndQuit(folder, script(folder, "cat >/dev/null\ntouch \"$3/ended\"\n")), 0);
        QVERIFY(QFile::exists(ended));
    }

    void a_link_that_arrives_as_an_event_is_shown_and_not_joined() {
        const QTemporaryDir folder;
        const QString link = QStringLiteral("potluck:?xt=urn:btmh:1220") + QString(64, QLatin1Char('a'));
        QString shown;
        QTimer poll;
        QObject::connect(&poll, &QTimer::timeout, &poll, [&] {
            ui::MainWindow* window = shownWindow();
            if (window == nullptr) return;
            QFileOpenEvent event{QUrl(link)};
            QCoreApplication::sendEvent(qApp, &event);
            for (const QLineEdit* field : window->findChildren<QLineEdit*>())
                if (field->text().contains(QLatin1String("urn:btmh"))) shown = field->text();
        });
        poll.start(100);
        QCOMPARE(runAndQuit(folder, script(folder, "cat >\"$3/asked\"\n")), 0);
        QCOMPARE(shown, link);
        QFile asked(folder.filePath(QStringLiteral("asked")));
        QVERIFY(asked.open(QIODevice::ReadOnly));
        QVERIFY(!asked.readAll().contains("\"join\""));
    }

    void choices_made_in_the_window_are_restored_at_the_next_start() {
        const QTemporaryDir folder;
        const QString picture = QStringLiteral("members-as-picture");
        QTimer poll;
        QObject::connect(&poll, &QTimer::timeout, &poll, [&] {
            ui::MainWindow* window = shownWindow();
            auto* languages = window == nullptr ? nullptr : window->findChild<QComboBox*>(QStringLiteral("language"));
            if (languages == nullptr) return;
            window->findChild<QAbstractButton*>(QStringLiteral("membersAsPicture"))->click();
            languages->setCurrentIndex(languages->findData(QStringLiteral("de")));
            emit languages->activated(languages->currentIndex());
            poll.stop();
        });
        poll.start(100);
        QCOMPARE(runAndQuit(folder, QStringLiteral("/nowhere/potluck-node")), 0);
        const app::Preferences next(folder.path());
        QVERIFY(next.choice(picture));
        QVERIFY(!next.choice(QStringLiteral("another")));
        QCOMPARE(next.language(), QStringLiteral("de"));
    }

    /// The node ends, another program moves the data, and the node comes back.
    void data_are_moved_while_no_node_runs_data() {
        QTest::addColumn<QByteArray>("mover");
        QTest::addColumn<QString>("told");
        QTest::newRow("moved") << QByteArray("echo '50 %'; echo \"$4\" > \"$3/place\"; exit 0") << "Moved.";
        QTest::newRow("refused") << QByteArray("echo \"$4\" > \"$3/place\"; echo 'potluck-node: No room.' >&2; exit 1")
                                 << "No room.";
        QTest::newRow("killed") << QByteArray("echo \"$4\" > \"$3/place\"; kill -9 $$") << "nothing has changed";
    }
    void data_are_moved_while_no_node_runs() {
        QFETCH(QByteArray, mover);
        QFETCH(QString, told);
        const QTemporaryDir folder;
        const QString node = script(folder, "if [ \"$1\" = move-data ]; then\n[ ! -e \"$3/serves\" ] && " + mover +
                                                "\nexit 9\nfi\ntouch \"$3/serves\"\necho x >>\"$3/starts\"\n"
                                                "cat >/dev/null\nrm \"$3/serves\"\n");
        app::Program program(*qApp, {.data_folder = folder.path(), .node_program = node, .link = {}});
        program.start();
        QTRY_VERIFY(shownWindow() != nullptr && QFile::exists(folder.filePath("serves")));
        ui::MainWindow* window = shownWindow();
        window->showPage(ui::MainWindow::storage_page);
        window->findChild<QAbstractButton*>(QStringLiteral("moveData"))->click();
        auto* dialog = window->findChild<QFileDialog*>(QStringLiteral("moveTo"));
        emit dialog->fileSelected(QStringLiteral("/mnt/big"));
        dialog->close();
        for (const QMessageBox* box : window->findChildren<QMessageBox*>()) {
            for (QAbstractButton* button : box->buttons())
                if (box->isVisible() && box->buttonRole(button) == QMessageBox::AcceptRole) button->click();
        }
        QVERIFY(!window->isEnabled());
        const auto* outcome = window->findChild<QLabel*>(QStringLiteral("moveOutcome"));
        QTRY_VERIFY2(outcome->text().contains(told), qPrintable(outcome->text()));
        const auto content = [&](const char* name) {
            QFile file(folder.filePath(name));
            return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
        };
        QCOMPARE(content("place"), QByteArray("/mnt/big\n"));
        QVERIFY(window->isEnabled());
        QTRY_COMPARE(content("starts"), QByteArray("x\nx\n"));
        QTimer::singleShot(20'000, window, [] { QApplication::exit(7); });
        window->activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(window));
        QTest::keyClick(window, Qt::Key_Q, Qt::ControlModifier);
        QCOMPARE(QApplication::exec(), 0);
    }

    void quitting_works_without_a_node() {
        const QTemporaryDir folder;
        QCOMPARE(runAndQuit(folder, QStringLiteral("/nowhere/potluck-node")), 0);
    }
};

QTEST_MAIN(TestQuitting)
#include "test_quitting.moc"
