// The autostart entry as a file, and how a desktop reads it.
#include <QFile>
#include <QTemporaryDir>
#include <QtTest>

#include "app/potluck/autostart.h"

using namespace potluck;
using app::AutostartEntry;
using ui::Autostart;

namespace {

QByteArray read(const QString& file) {
    QFile entry(file);
    return entry.open(QIODevice::ReadOnly) ? entry.readAll() : QByteArray();
}

}  // namespace

class TestAutostart : public QObject {
    Q_OBJECT

private slots:
    void the_entry_is_there_exactly_while_it_is_on() {
        const QTemporaryDir folder;
        const AutostartEntry entry(folder.filePath("autostart"), "/usr/bin/potluck");
        QCOMPARE(entry.read(), Autostart::off);
        QVERIFY(entry.write(Autostart::on).ok());
        QCOMPARE(entry.read(), Autostart::on);
        const QByteArray text = read(folder.filePath("autostart/org.potluck.Potluck.desktop"));
        QVERIFY(text.startsWith("[Desktop Entry]\n"));
        QVERIFY(text.contains("\nExec=\"/usr/bin/potluck\" --minimized\n"));
        QVERIFY(entry.write(Autostart::off).ok());
        QVERIFY(entry.write(Autostart::off).ok());
        QVERIFY(!QFile::exists(folder.filePath("autostart/org.potluck.Potluck.desktop")));
    }

    void an_entry_hidden_by_the_desktop_is_off() {
        const QTemporaryDir folder;
        const AutostartEntry entry(folder.path(), "/usr/bin/potluck");
        for (const char* line : {"Hidden=true\n", "X-GNOME-Autostart-enabled=false\n"}) {
            QVERIFY(entry.write(Autostart::on).ok());
            QFile file(folder.filePath("org.potluck.Potluck.desktop"));
            QVERIFY(file.open(QIODevice::Append));
            file.write(line);
            file.close();
            QCOMPARE(entry.read(), Autostart::off);
        }
    }

    void a_path_with_every_reserved_character_stays_one_word() {
        const QTemporaryDir folder;
        QVERIFY(AutostartEntry(folder.path(), R"(/a b/100%/"$`\/potluck)").write(Autostart::on).ok());
        QVERIFY(read(folder.filePath("org.potluck.Potluck.desktop"))
                    .contains(R"(Exec="/a b/100%%/\\"\\$\\`\\\\/potluck" --minimized)"));
    }

    void a_folder_that_cannot_be_written_is_told() {
        const QTemporaryDir folder;
        QFile in_the_way(folder.filePath("autostart"));
        QVERIFY(in_the_way.open(QIODevice::WriteOnly));
        const Status written = AutostartEntry(folder.filePath("autostart"), "/usr/bin/potluck").write(Autostart::on);
        QCOMPARE(written.error().code, ErrorCode::permission);
    }
};

QTEST_GUILESS_MAIN(TestAutostart)
#include "test_autostart.moc"
