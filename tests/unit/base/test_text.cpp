// Text of strangers: cut at characters, read strictly, and harmless in a message.
#include <QtTest>

#include "core/base/text.h"

using namespace potluck;

class TestText : public QObject {
    Q_OBJECT
private slots:
    void well_formed_characters_are_taken_one_by_one() {
        std::string_view text = "a\xc3\xa4\xe2\x82\xac\xf0\x9f\x8d\xb2";
        for (const std::uint32_t wanted : {0x61U, 0xe4U, 0x20acU, 0x1f372U}) {
            const std::optional<std::uint32_t> point = take_code_point(text);
            QVERIFY(point);
            QCOMPARE(*point, wanted);
        }
        QVERIFY(text.empty());
        QVERIFY(!take_code_point(text));
    }

    void invalid_utf8_is_refused_and_not_consumed_data() {
        QTest::addColumn<QByteArray>("bytes");
        QTest::newRow("continuation first") << QByteArray("\x80");
        QTest::newRow("slash in two bytes") << QByteArray("\xc0\xaf");
        QTest::newRow("slash in three bytes") << QByteArray("\xe0\x80\xaf");
        QTest::newRow("slash in four bytes") << QByteArray("\xf0\x80\x80\xaf");
        QTest::newRow("last of two bytes written in three") << QByteArray("\xe0\x9f\xbf");
        QTest::newRow("surrogate") << QByteArray("\xed\xa0\x80");
        QTest::newRow("last surrogate") << QByteArray("\xed\xbf\xbf");
        QTest::newRow("above the last character") << QByteArray("\xf4\x90\x80\x80");
        QTest::newRow("five bytes") << QByteArray("\xf8\x88\x80\x80\x80");
        QTest::newRow("cut short") << QByteArray("\xe2\x82");
        QTest::newRow("no continuation") << QByteArray("\xe2\x28\xa1");
    }

    void invalid_utf8_is_refused_and_not_consumed() {
        QFETCH(QByteArray, bytes);
        const std::string_view before(bytes.constData(), static_cast<std::size_t>(bytes.size()));
        std::string_view text = before;
        QVERIFY(!take_code_point(text));
        QVERIFY(text == before);
    }

    void a_prefix_ends_between_characters() {
        const std::string_view text = "ab\xe2\x82\xac";
        QVERIFY(utf8_prefix(text, 5) == text);
        QVERIFY(utf8_prefix(text, 99) == text);
        QVERIFY(utf8_prefix(text, 4) == "ab");
        QVERIFY(utf8_prefix(text, 3) == "ab");
        QVERIFY(utf8_prefix(text, 2) == "ab");
        QVERIFY(utf8_prefix(text, 0).empty());
    }

    void links_carry_every_byte() {
        std::string all;
        for (int byte = 0; byte < 256; ++byte) all.push_back(static_cast<char>(byte));
        const std::string encoded = percent_encoded(all);
        for (const char c : encoded) QVERIFY(c > 0x20 && c < 0x7f);
        const std::optional<std::string> decoded = percent_decoded(encoded, Plus::space);
        QVERIFY(decoded && *decoded == all);
        QCOMPARE(percent_encoded("Az09-._~ /+"), std::string("Az09-._~%20%2f%2b"));
    }

    void escapes_are_read_strictly() {
        QVERIFY(percent_decoded("a+b%2B%2b", Plus::space) == "a b++");
        QVERIFY(percent_decoded("a+b", Plus::literal) == "a+b");
        for (const char* broken : {"%", "%2", "a%", "%zz", "%-1", "% 1"}) {
            QVERIFY2(!percent_decoded(broken, Plus::literal), broken);
        }
    }

    void a_strangers_text_cannot_leave_its_quotation() {
        QCOMPARE(printable_ascii("a \"b\"\n\x1b[31m\xc3\xa4\x7f", 40), std::string("a ?b???[31m???"));
        QCOMPARE(printable_ascii("abcdef", 3), std::string("abc"));
    }

    void letters_do_not_depend_on_a_locale() {
        for (int code = -128; code < 128; ++code) {
            const auto c = static_cast<char>(code);
            QCOMPARE(is_digit(c), code >= '0' && code <= '9');
            QCOMPARE(is_letter(c), (code >= 'a' && code <= 'z') || (code >= 'A' && code <= 'Z'));
            QCOMPARE(to_lower(c), code >= 'A' && code <= 'Z' ? static_cast<char>(code + 32) : c);
            QCOMPARE(same_letter(c, 'q'), c == 'q' || c == 'Q');
            QCOMPARE(is_hex_digit(c), std::string_view("0123456789abcdefABCDEF").find(c) != std::string_view::npos);
        }
    }

    void the_case_of_letters_can_be_passed_over() {
        QVERIFY(same_letters("Game.EXE", "gAME.exe"));
        QVERIFY(!same_letters("game", "game.exe") && !same_letters("game", "gama") && !same_letters("\xc4", "\xe4"));
    }

    void formatted_text_has_whatever_length_it_takes() {
        const std::string word(3'000, 'x');
        QCOMPARE(formatted("%s|%d", word.c_str(), 7), word + "|7");
        QCOMPARE(formatted("%s", ""), std::string());
    }
};

QTEST_APPLESS_MAIN(TestText)
#include "test_text.moc"
