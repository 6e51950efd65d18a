// Text from strangers in the log, and where lines go.
#include <QtTest>

#include "core/base/files.h"
#include "core/base/log.h"
#include "tests/hostile_strings.h"

using namespace potluck;

class TestLog : public QObject {
    Q_OBJECT
private slots:
    void peer_text_cannot_control_a_terminal_data();
    void peer_text_cannot_control_a_terminal();
    void hostile_strings_control_nothing_data();
    void hostile_strings_control_nothing();
    void a_cut_never_splits_a_character();
    void a_line_has_time_level_component_and_message();
    void a_flood_is_cut_short_and_counted();
    void levels_are_known_by_name();
};

void TestLog::peer_text_cannot_control_a_terminal_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QByteArray>("shown");
    QTest::newRow("plain") << QByteArray("hello") << QByteArray("hello");
    const QByteArray beyond_ascii("\xc3\xbc \xf0\x9f\x8d\xb2");
    QTest::newRow("umlaut and emoji") << beyond_ascii << beyond_ascii;
    QTest::newRow("escape") << QByteArray("a\x1b[31mb") << QByteArray("a?[31mb");
    QTest::newRow("new line") << QByteArray("a\nb\rc") << QByteArray("a?b?c");
    QTest::newRow("C1 control") << QByteArray(
                                       "a\xc2\x9b"
                                       "b")
                                << QByteArray("a?b");
    QTest::newRow("right to left") << QByteArray(
                                          "a\xe2\x80\xae"
                                          "b")
                                   << QByteArray("a?b");
    QTest::newRow("lone continuation") << QByteArray(
                                              "a\x80"
                                              "b")
                                       << QByteArray("a?b");
    QTest::newRow("overlong slash") << QByteArray(
                                           "a\xc0\xaf"
                                           "b")
                                    << QByteArray("a??b");
    QTest::newRow("surrogate") << QByteArray("\xed\xa0\x80") << QByteArray("???");
    QTest::newRow("cut in the middle") << QByteArray("a\xe2\x82") << QByteArray("a??");
    QTest::newRow("beyond Unicode") << QByteArray("\xf4\x90\x80\x80") << QByteArray("????");
}

void TestLog::peer_text_cannot_control_a_terminal() {
    QFETCH(QByteArray, text);
    QFETCH(QByteArray, shown);
    QCOMPARE(log::printable({text.constData(), static_cast<std::size_t>(text.size())}), shown.toStdString());
}

void TestLog::hostile_strings_control_nothing_data() {
    QTest::addColumn<std::string>("text");
    for (const tests::HostileString& one : tests::hostile_strings()) QTest::newRow(one.name) << one.utf8;
}

void TestLog::hostile_strings_control_nothing() {
    QFETCH(std::string, text);
    const std::string shown = log::printable(text, 200);
    QVERIFY(!tests::commands_terminals(shown) && shown.size() <= 200);
    QVERIFY(!shown.empty());
}

void TestLog::a_cut_never_splits_a_character() {
    QCOMPARE(log::printable("abcdef", 3), std::string("abc"));
    QCOMPARE(log::printable("ab\xc3\xbc", 3), std::string("ab"));
    QCOMPARE(log::printable("\x01\x02\x03", 2), std::string("??"));
}

void TestLog::a_line_has_time_level_component_and_message() {
    const QTemporaryDir folder;
    const std::filesystem::path file = std::filesystem::path(folder.path().toStdString()) / "a.log";
    spdlog::logger& early = log::of("net");
    log::start("test", log::Destination::file_only, file);
    early.info("first {}", 1);
    log::of("node").warn("second");
    log::of("node").debug("not shown");
    const Result<Bytes> text = read_file(file, 10'000);
    log::start("test", log::Destination::stderr_only);
    QVERIFY(text.ok());
    const QString lines = QString::fromStdString(std::string(as_text(*text)));
    const QRegularExpression form(
        "^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z info net: first 1\n"
        "\\S+Z warning node: second\n$");
    QVERIFY2(form.match(lines).hasMatch(), qPrintable(lines));
}

void TestLog::a_flood_is_cut_short_and_counted() {
    const QTemporaryDir folder;
    const std::filesystem::path file = std::filesystem::path(folder.path().toStdString()) / "a.log";
    log::start("test", log::Destination::file_only, file);
    spdlog::logger& flooded = log::of("flooded");
    const auto now = spdlog::log_clock::now();
    for (int n = 0; n < 10'000; ++n) flooded.log(now, {}, spdlog::level::warn, "again");
    flooded.log(now + std::chrono::minutes(1), {}, spdlog::level::warn, "later");
    log::of("quiet").info("heard");
    const Result<Bytes> text = read_file(file, 1'000'000);
    log::start("test", log::Destination::stderr_only);
    QVERIFY(text.ok());
    const QString lines = QString::fromStdString(std::string(as_text(*text)));
    QCOMPARE(lines.count("flooded: again"), 100);
    QVERIFY(lines.contains("flooded: 9900 lines were left out\n"));
    QVERIFY(lines.indexOf("left out") < lines.indexOf("flooded: later"));
    QVERIFY(lines.contains("quiet: heard"));
}

void TestLog::levels_are_known_by_name() {
    QVERIFY(!log::set_level("loud"));
    QVERIFY(log::set_level("error"));
    QVERIFY(!log::of("later").should_log(spdlog::level::warn));
    QVERIFY(log::set_level("trace"));
    QVERIFY(log::of("later").should_log(spdlog::level::debug));
}

QTEST_APPLESS_MAIN(TestLog)
#include "test_log.moc"
