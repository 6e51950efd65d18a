#include <QTest>

#include "core/control/rpc.h"

using namespace potluck;
using namespace potluck::control;

class RpcTest : public QObject {
    Q_OBJECT
private slots:
    void a_request_survives_the_line() {
        const std::string line = encode(Request{7, "status", {{"most", 3}}});
        QVERIFY(line.ends_with('\n'));
        QCOMPARE(std::count(line.begin(), line.end(), '\n'), 1);
        const Line back = decode(line.substr(0, line.size() - 1)).value();
        const Request& request = std::get<Request>(back);
        QCOMPARE(request.id, 7U);
        QCOMPARE(request.method, std::string("status"));
        QCOMPARE(request.params.at("most").get<int>(), 3);
    }

    void a_notification_has_no_id() {
        const Line back = decode(encode(Notification{"progress", nlohmann::json::object()})).value();
        QCOMPARE(std::get<Notification>(back).method, std::string("progress"));
    }

    void an_error_keeps_its_kind_and_sentence() {
        for (int code = 0; code <= static_cast<int>(ErrorCode::cancelled); ++code) {
            const Error error{static_cast<ErrorCode>(code), "The disk is full; free 2 GB."};
            Reply reply{.id = 9, .result = {}, .error = error};
            const Line back = decode(encode(reply)).value();
            const Reply& read = std::get<Reply>(back);
            QVERIFY(read.error && read.error->code == static_cast<ErrorCode>(code));
            QCOMPARE(read.error->message, std::string("The disk is full; free 2 GB."));
            QVERIFY(read.result.is_null());
        }
    }

    void a_reply_without_result_is_an_empty_object() {
        const Line back = decode(encode(Reply{.id = 1, .result = {}, .error = {}})).value();
        QVERIFY(std::get<Reply>(back).result.is_object());
        QVERIFY(!std::get<Reply>(back).error);
    }

    void text_that_is_no_utf8_still_gives_a_line() {
        const std::string line = encode(Request{1, "set_name", {{"name", "caf\xff"}}});
        QVERIFY(decode(line).ok());
    }

    void a_line_outside_the_protocol_is_refused_data() {
        QTest::addColumn<QByteArray>("line");
        const auto row = [](const char* name, const char* line) { QTest::newRow(name) << QByteArray(line); };
        row("empty", "");
        row("no JSON", "hello");
        row("array", "[]");
        row("no version", R"({"id":1,"method":"a"})");
        row("other version", R"({"jsonrpc":"1.0","id":1,"method":"a"})");
        row("negative id", R"({"jsonrpc":"2.0","id":-1,"method":"a"})");
        row("huge id", R"({"jsonrpc":"2.0","id":9007199254740993,"method":"a"})");
        row("text id", R"({"jsonrpc":"2.0","id":"1","method":"a"})");
        row("unknown field", R"({"jsonrpc":"2.0","id":1,"method":"a","extra":1})");
        row("params are an array", R"({"jsonrpc":"2.0","id":1,"method":"a","params":[1]})");
        row("empty method", R"({"jsonrpc":"2.0","id":1,"method":""})");
        row("neither method nor result", R"({"jsonrpc":"2.0","id":1})");
        row("result and error",
            R"({"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"","data":{"kind":"io"}}})");
        row("unknown kind", R"({"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"","data":{"kind":"odd"}}})");
        row("long method", ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"" + std::string(65, 'm') + "\"}").c_str());
        row("long sentence", (R"({"jsonrpc":"2.0","id":1,"error":{"code":1,"message":")" + std::string(4097, 's') +
                              R"(","data":{"kind":"io"}}})")
                                 .c_str());
        row("reply without id", R"({"jsonrpc":"2.0","result":{}})");
    }
    void a_line_outside_the_protocol_is_refused() {
        QFETCH(const QByteArray, line);
        QVERIFY(!decode({line.constData(), static_cast<std::size_t>(line.size())}).ok());
    }

    void a_line_beyond_the_limit_is_refused() {
        const std::string body = R"({"jsonrpc":"2.0","id":1,"method":"a"})";
        QVERIFY(decode(body + std::string(line_bytes_max - body.size(), ' ')).ok());
        QVERIFY(!decode(body + std::string(line_bytes_max - body.size() + 1, ' ')).ok());
    }

    void lines_come_whole_however_the_bytes_arrive() {
        const std::string stream = "one\ntwo\n\nthree";
        LineSplitter splitter;
        std::vector<std::string> lines;
        for (const char byte : stream) {
            for (std::string& line : splitter.feed({&byte, 1})) lines.push_back(std::move(line));
        }
        QVERIFY((lines == std::vector<std::string>{"one", "two", ""}));
        QVERIFY((splitter.feed("!\n") == std::vector<std::string>{"three!"}));
    }

    void a_line_without_end_fails_for_good() {
        LineSplitter splitter;
        const std::string chunk(1 << 20, 'x');
        for (int i = 0; i < 4; ++i) QVERIFY(splitter.feed(chunk).empty() && !splitter.failed());
        QVERIFY(splitter.feed("x").empty());
        QVERIFY(splitter.failed());
        QVERIFY(splitter.feed("\nfine\n").empty());
    }
};

QTEST_GUILESS_MAIN(RpcTest)
#include "test_rpc.moc"
