#include <QTest>

#include "core/run/plain_text.h"

using namespace potluck::run;

class PlainTextTest : public QObject {
    Q_OBJECT
private slots:
    void characters_are_counted_not_bytes() {
        QCOMPARE(plain_text_length("", LineBreaks::refused), std::optional<std::size_t>(0));
        QCOMPARE(plain_text_length("B\xc3\xbcro \xe2\x82\xac \xf0\x9f\x8d\xb2", LineBreaks::refused),
                 std::optional<std::size_t>(8));
        QCOMPARE(plain_text_length("\xf4\x8f\xbf\xbf\xed\x9f\xbf\xee\x80\x80", LineBreaks::refused),
                 std::optional<std::size_t>(3));
    }

    void line_breaks_pass_only_where_they_are_allowed() {
        QCOMPARE(plain_text_length("a\n\tb", LineBreaks::allowed), std::optional<std::size_t>(4));
        QVERIFY(!plain_text_length("a\nb", LineBreaks::refused));
        QVERIFY(!plain_text_length("a\rb", LineBreaks::allowed));
    }

    void controls_separators_and_marks_of_direction_are_not_plain() {
        for (const char* text : {"\x1b", "\x1f", "\x7f", "\xc2\x80", "\xc2\x9f", "\xe2\x80\xa8", "\xe2\x80\xa9",
                                 "\xe2\x80\xaa", "\xe2\x80\xae", "\xe2\x81\xa6", "\xe2\x81\xa9"})
            QVERIFY(!plain_text_length(text, LineBreaks::allowed));
        for (const char* text : {" ", "~", "\xc2\xa0", "\xe2\x80\xa7", "\xe2\x80\xaf", "\xe2\x81\xa5", "\xe2\x81\xaa"})
            QCOMPARE(plain_text_length(text, LineBreaks::refused), std::optional<std::size_t>(1));
    }

    void the_plain_text_of_any_bytes_is_plain() {
        std::string bytes;
        for (unsigned i = 0; i < 100'000; ++i) bytes.push_back(static_cast<char>((i * 2'654'435'761U) >> 24U));
        const std::string plain = plain_text_of(bytes, 50'000, LineBreaks::refused);
        QVERIFY(plain.size() > 20'000 && plain.size() <= 50'000);
        QVERIFY(plain_text_length(plain, LineBreaks::refused).has_value());
        QCOMPARE(plain_text_of(plain, plain.size(), LineBreaks::refused), plain);
    }

    void a_cut_falls_between_characters() {
        const std::string text = "\xe2\x82\xac\xe2\x82\xac";
        for (std::size_t most = 0; most <= 6; ++most) {
            QCOMPARE(plain_text_of(text, most, LineBreaks::refused).size(), most / 3 * 3);
        }
    }
};

QTEST_APPLESS_MAIN(PlainTextTest)
#include "test_plain_text.moc"
