// JSON from strangers: what the parser refuses, and what a closed set of fields reports.
#include <QtTest>

#include "core/base/json.h"

using namespace potluck;

namespace {

nlohmann::json parsed(std::string_view text) {
    Result<nlohmann::json> value = parse_json(text, 10'000);
    POTLUCK_CHECK(value.ok());
    return std::move(*value);
}

std::string nested(std::size_t levels) { return std::string(levels, '[') + std::string(levels, ']'); }

}  // namespace

class TestJson : public QObject {
    Q_OBJECT
private slots:
    void bad_text_is_refused_data();
    void bad_text_is_refused();
    void sixteen_levels_are_allowed();
    void the_same_key_in_different_objects_is_allowed();
    void fields_give_their_values();
    void absent_fields_take_the_fallback();
    void a_wrong_field_fails_with_its_name_data();
    void a_wrong_field_fails_with_its_name();
    void an_unknown_field_fails();
    void the_first_fault_is_the_one_told();
    void a_value_that_is_no_object_fails();
    void names_from_strangers_are_made_printable();
};

void TestJson::bad_text_is_refused_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::newRow("empty") << QByteArray("");
    QTest::newRow("cut") << QByteArray("{\"a\":1");
    QTest::newRow("trailing") << QByteArray("{} {}");
    QTest::newRow("same key") << QByteArray("{\"a\":1,\"a\":2}");
    QTest::newRow("same key inside") << QByteArray("[{\"b\":{\"a\":1,\"c\":[],\"a\":2}}]");
    QTest::newRow("too deep") << QByteArray(nested(17).c_str());
    QTest::newRow("very deep") << QByteArray(nested(4000).c_str());
    QTest::newRow("not a number") << QByteArray("[NaN]");
    QTest::newRow("infinite") << QByteArray("[1e999]");
    QTest::newRow("comment") << QByteArray("[1 /* one */]");
    QTest::newRow("bad UTF-8") << QByteArray("[\"\xff\"]");
    QTest::newRow("too long") << ("\"" + QByteArray(10'000, 'a') + "\"");
}

void TestJson::bad_text_is_refused() {
    QFETCH(QByteArray, text);
    const auto value = parse_json({text.constData(), static_cast<std::size_t>(text.size())}, 10'000);
    QVERIFY(!value.ok());
    QVERIFY(value.error().code == ErrorCode::malformed);
}

void TestJson::sixteen_levels_are_allowed() { QVERIFY(parse_json(nested(16), 100).ok()); }

void TestJson::the_same_key_in_different_objects_is_allowed() {
    QVERIFY(parse_json(R"({"a":{"a":1},"b":{"a":2},"c":[{"a":3},{"a":4}]})", 100).ok());
}

void TestJson::fields_give_their_values() {
    const auto object = parsed(R"({"t":"text","n":7,"d":-1.5,"f":true,"o":{"x":1},"l":[1,2]})");
    Fields fields(object, "thing");
    QCOMPARE(fields.text("t", 4), std::string("text"));
    QCOMPARE(fields.integer("n", 7, 7), std::uint64_t{7});
    QCOMPARE(fields.number("d", -2, 0), -1.5);
    QVERIFY(fields.flag("f"));
    QVERIFY(fields.object("o").contains("x"));
    QCOMPARE(fields.array("l", 2).size(), std::size_t{2});
    QVERIFY(fields.has("t") && !fields.has("z"));
    QVERIFY(fields.finish().ok());
}

void TestJson::absent_fields_take_the_fallback() {
    const auto object = parsed("{}");
    Fields fields(object, "thing");
    QCOMPARE(fields.text_or("t", 4, "x"), std::string("x"));
    QCOMPARE(fields.integer_or("n", 0, 9, 5), std::uint64_t{5});
    QCOMPARE(fields.number_or("d", 0, 1, 0.5), 0.5);
    QVERIFY(fields.flag_or("f", true));
    QVERIFY(fields.finish().ok());
}

void TestJson::a_wrong_field_fails_with_its_name_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::newRow("missing") << QByteArray("{}");
    QTest::newRow("too low") << QByteArray(R"({"n":1})");
    QTest::newRow("too high") << QByteArray(R"({"n":11})");
    QTest::newRow("negative") << QByteArray(R"({"n":-5})");
    QTest::newRow("fraction") << QByteArray(R"({"n":5.5})");
    QTest::newRow("fraction of zero") << QByteArray(R"({"n":5.0})");
    QTest::newRow("text") << QByteArray(R"({"n":"5"})");
    QTest::newRow("null") << QByteArray(R"({"n":null})");
    QTest::newRow("beyond 64 bits") << QByteArray(R"({"n":18446744073709551616})");
}

void TestJson::a_wrong_field_fails_with_its_name() {
    QFETCH(QByteArray, text);
    const auto object = parsed(text.toStdString());
    Fields fields(object, "recipe");
    (void)fields.integer("n", 2, 10);
    const Status status = fields.finish();
    QVERIFY(!status.ok());
    QVERIFY(status.error().message.find("recipe") != std::string::npos);
    QVERIFY(status.error().message.find("\"n\"") != std::string::npos);
}

void TestJson::an_unknown_field_fails() {
    const auto object = parsed(R"({"n":5,"extra":1})");
    Fields fields(object, "recipe");
    (void)fields.integer("n", 0, 10);
    const Status status = fields.finish();
    QVERIFY(!status.ok());
    QVERIFY(status.error().message.find("extra") != std::string::npos);
}

void TestJson::the_first_fault_is_the_one_told() {
    const auto object = parsed(R"({"a":"long text","b":1})");
    Fields fields(object, "recipe");
    (void)fields.text("a", 3);
    (void)fields.flag("b");
    const Status status = fields.finish();
    QVERIFY(status.error().message.find("\"a\"") != std::string::npos);
    QVERIFY(status.error().message.find("\"b\"") == std::string::npos);
}

void TestJson::a_value_that_is_no_object_fails() {
    const auto object = parsed("[1]");
    Fields fields(object, "recipe");
    QCOMPARE(fields.integer_or("n", 0, 9, 3), std::uint64_t{3});
    (void)fields.object("o");
    QVERIFY(!fields.finish().ok());
}

void TestJson::names_from_strangers_are_made_printable() {
    const auto object = parsed(R"({"\u001b[31m":1})");
    Fields fields(object, "recipe");
    const Status status = fields.finish();
    QVERIFY(!status.ok());
    QVERIFY(status.error().message.find('\x1b') == std::string::npos);
}

QTEST_APPLESS_MAIN(TestJson)
#include "test_json.moc"
