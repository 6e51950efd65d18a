// What is installed beside the window's program: entry, AppStream data, manual, completion, unit. The validators of the
// freedesktop project judge the first two where they are installed; the rest is held against the program itself.
#include <QFile>
#include <QProcess>
#include <QRegularExpression>
#include <QStandardPaths>
#include <QtTest>

namespace {

QString read(const char* file) {
    QFile source(QStringLiteral(POTLUCK_SOURCE_DIR "/") + QLatin1String(file));
    return source.open(QIODevice::ReadOnly) ? QString::fromUtf8(source.readAll()) : QString();
}

/// What a program prints, empty if it fails.
QString printed(const QString& program, const QStringList& arguments) {
    QProcess process;
    process.start(program, arguments);
    const bool ended = process.waitForFinished(20'000) && process.exitCode() == 0;
    return ended ? QString::fromUtf8(process.readAllStandardOutput()) : QString();
}

QStringList matches(const QString& text, const QString& pattern) {
    QStringList found;
    for (auto each = QRegularExpression(pattern, QRegularExpression::MultilineOption).globalMatch(text);
         each.hasNext();)
        found << each.next().captured(1);
    return found;
}

void validate(const QString& program, const QStringList& options, const char* file) {
    if (QStandardPaths::findExecutable(program).isEmpty()) QSKIP("the validator is not installed");
    QProcess process;
    process.setProcessChannelMode(QProcess::MergedChannels);
    process.start(program, options + QStringList{QStringLiteral(POTLUCK_SOURCE_DIR "/") + QLatin1String(file)});
    QVERIFY(process.waitForFinished(20'000));
    QVERIFY2(process.exitCode() == 0, process.readAll().constData());
}

}  // namespace

class TestDesktopFiles : public QObject {
    Q_OBJECT

private slots:
    void the_entry_is_valid() {
        validate(QStringLiteral("desktop-file-validate"), {}, "resources/org.potluck.Potluck.desktop");
    }

    void the_appstream_data_are_valid() {
        validate(QStringLiteral("appstreamcli"), {QStringLiteral("validate"), QStringLiteral("--no-net")},
                 "resources/org.potluck.Potluck.metainfo.xml");
    }

    void only_links_of_our_own_are_claimed() {
        const QStringList types = matches(read("resources/org.potluck.Potluck.desktop"), "^MimeType=(.*)$");
        QCOMPARE(types, QStringList{"x-scheme-handler/potluck;"});
        QVERIFY(!read("resources/org.potluck.Potluck.metainfo.xml").contains("magnet"));
        QCOMPARE(matches(read("installer/macos/Info.plist.in"), "CFBundleURLSchemes</key><array>(.*)</array>"),
                 QStringList{"<string>potluck</string>"});
    }

    void every_option_of_the_window_is_in_its_manual_and_completion() {
        const QString help = printed(QStringLiteral(POTLUCK_BIN_DIR "/potluck"), {QStringLiteral("--help")});
        const QStringList options = matches(help, "^ .*--([a-z-]+)");
        QVERIFY2(options.contains("minimized"), qPrintable(help));
        for (const QString& option : options) {
            QVERIFY2(read("resources/man/potluck.1").contains("\\-\\-" + QString(option).replace("-", "\\-")),
                     qPrintable(option));
            if (option == "help-all") continue;  // Qt's own options interest few
            QVERIFY2(read("resources/completion/potluck.bash").contains("--" + option), qPrintable(option));
            QVERIFY2(read("resources/completion/potluck.zsh").contains("'--" + option + "["), qPrintable(option));
            QVERIFY2(read("resources/completion/potluck.fish").contains("-l " + option + " "), qPrintable(option));
        }
    }

    void every_package_has_the_version_of_the_programs() {
        const QString version = matches(read("CMakeLists.txt"), "^project\\(potluck VERSION ([0-9.]+)").value(0);
        QVERIFY(!version.isEmpty());
        QCOMPARE(matches(read("installer/debian/changelog"), "^potluck \\(([0-9.]+)\\)").value(0), version);
        QCOMPARE(matches(read("resources/org.potluck.Potluck.metainfo.xml"), "<release version=\"([0-9.]+)\"").value(0),
                 version);
    }
};

QTEST_GUILESS_MAIN(TestDesktopFiles)
#include "test_desktop_files.moc"
