#include <QTest>

#include <algorithm>

#include "net/links/frame.h"

using namespace potluck;
using namespace potluck::net;

namespace {

RunId some_run() { return RunId{{std::byte{9}}}; }
PeerId peer_of(std::uint8_t number) { return PeerId{{std::byte{number}}}; }

run::Envelope sample(std::size_t body) {
    run::Envelope envelope;
    envelope.run = some_run();
    envelope.sender.bytes.fill(std::byte{0x5a});
    envelope.kind = run::MessageKind::contribution;
    envelope.body.assign(body, std::byte{0x31});
    envelope.signature.fill(std::byte{0xee});
    return envelope;
}

Result<run::Envelope> decoded(const std::string& text) { return decode_frame(as_bytes(text), some_run()); }

std::string with(const std::string& kind, const std::string& more = "") {
    return "d1:f32:" + std::string(32, 'F') + "1:ki" + kind + "e1:m2:hi1:s64:" + std::string(64, 'S') + more + "e";
}

std::string payload_of(const std::string& kind, const std::string& payload) {
    return "d1:f32:" + std::string(32, 'F') + "1:ki" + kind + "e1:m2:hi1:p" + payload +
           "1:s64:" + std::string(64, 'S') + "e";
}

bool is_malformed(const std::string& text) {
    const Result<run::Envelope> result = decoded(text);
    return !result.ok() && result.error().code == ErrorCode::malformed;
}

}  // namespace

class TestFrame : public QObject {
    Q_OBJECT

private slots:
    void a_frame_comes_back_as_it_was() {
        for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{5'000}, run::message_bytes_max}) {
            const Bytes frame = encode_frame(sample(size));
            QVERIFY(frame.size() <= frame_bytes_max);
            const Result<run::Envelope> result = decode_frame(frame, some_run());
            QVERIFY(result.ok());
            QVERIFY(*result == sample(size));
        }
    }

    void the_bytes_are_those_of_the_wire_format() {
        QCOMPARE(std::string(as_text(encode_frame(sample(3)))),
                 "d1:f32:" + std::string(32, '\x5a') + "1:ki3e1:m3:1111:s64:" + std::string(64, '\xee') + "e");
    }

    void a_contribution_may_bring_its_payload() {
        for (const std::size_t size : {std::size_t{1}, run::payload_in_message_max}) {
            run::Envelope envelope = sample(100);
            envelope.payload.assign(size, std::byte{0x77});
            const Bytes frame = encode_frame(envelope);
            QVERIFY(frame.size() <= frame_bytes_max);
            const Result<run::Envelope> result = decode_frame(frame, some_run());
            QVERIFY(result.ok() && *result == envelope);
        }
    }

    void the_run_is_that_of_the_channel() { QVERIFY(decoded(with("1"))->run == some_run()); }

    void unknown_fields_are_skipped() {
        QVERIFY(decoded(with("1", "1:zi5e")).ok());
        QVERIFY(decoded(with("1", "1:zd1:ali1eee")).ok());
    }

    void every_kind_of_this_version_is_known() {
        for (int kind = 1; kind <= 19; ++kind) QVERIFY(decoded(with(std::to_string(kind).c_str())).ok());
    }

    void a_kind_of_later_versions_is_not_malformed() {
        for (const char* kind : {"20", "255"}) {
            const Result<run::Envelope> result = decoded(with(kind));
            QVERIFY(!result.ok());
            QCOMPARE(result.error().code, ErrorCode::unavailable);
        }
    }

    void a_malformed_frame_is_refused_data() {
        QTest::addColumn<std::string>("text");
        QTest::newRow("nothing") << std::string();
        QTest::newRow("a list") << std::string("le");
        QTest::newRow("a string") << std::string("3:abc");
        QTest::newRow("an empty dictionary") << std::string("de");
        QTest::newRow("garbage") << std::string(1'000, '\x9c');
        QTest::newRow("no end") << with("1").substr(0, with("1").size() - 1);
        QTest::newRow("more after the end") << with("1") + "e";
        QTest::newRow("kind 0") << with("0");
        QTest::newRow("kind -1") << with("-1");
        QTest::newRow("kind 256") << with("256");
        const std::string longest = std::to_string(run::payload_in_message_max + 1) + ":";
        QTest::newRow("a payload of another kind") << payload_of("4", "1:x");
        QTest::newRow("an empty payload") << payload_of("3", "0:");
        QTest::newRow("a number for a payload") << payload_of("3", "i5e");
        QTest::newRow("too long a payload")
            << payload_of("3", longest + std::string(run::payload_in_message_max + 1, 'x'));
        QTest::newRow("a short sender") << "d1:f31:" + std::string(31, 'F') +
                                               "1:ki1e1:m2:hi1:s64:" + std::string(64, 'S') + "e";
        QTest::newRow("a long signature")
            << "d1:f32:" + std::string(32, 'F') + "1:ki1e1:m2:hi1:s65:" + std::string(65, 'S') + "e";
        QTest::newRow("no signature") << "d1:f32:" + std::string(32, 'F') + "1:ki1e1:m2:hie";
        QTest::newRow("a kind that is a string")
            << "d1:f32:" + std::string(32, 'F') + "1:k1:11:m2:hi1:s64:" + std::string(64, 'S') + "e";
        QTest::newRow("a body that claims to be huge") << std::string("d1:m99999999999:x");
        QTest::newRow("too deep") << with("1", "1:z" + std::string(20, 'l') + std::string(20, 'e'));
        std::string many;
        for (int i = 0; i < 100; ++i) many += "i1e";
        QTest::newRow("too many tokens") << with("1", "1:zl" + many + "e");
        QTest::newRow("too long") << with(
            "1", "1:z" + std::to_string(frame_bytes_max) + ":" + std::string(frame_bytes_max, 'z'));
        QTest::newRow("too long a body") << "d1:f32:" + std::string(32, 'F') + "1:ki1e1:m" +
                                                std::to_string(run::message_bytes_max + 1) + ":" +
                                                std::string(run::message_bytes_max + 1, 'm') +
                                                "1:s64:" + std::string(64, 'S') + "e";
    }
    void a_malformed_frame_is_refused() {
        QFETCH(std::string, text);
        QVERIFY(is_malformed(text));
    }

    void the_limits_of_size_depth_and_tokens_are_exact() {
        // An unknown field fills the frame up, so that nothing but its size can be wrong with it.
        const auto padded = [](std::size_t size) {
            const std::size_t around = with("1", "1:z" + std::to_string(size) + ":").size();
            return with("1", "1:z" + std::to_string(size - around) + ":" + std::string(size - around, 'z'));
        };
        QCOMPARE(padded(frame_bytes_max).size(), frame_bytes_max);
        QVERIFY(decoded(padded(frame_bytes_max)).ok());
        QVERIFY(is_malformed(padded(frame_bytes_max + 1)));
        const auto nested = [](std::size_t depth) {
            return with("1", "1:z" + std::string(depth, 'l') + std::string(depth, 'e'));
        };
        // The dictionary is the first level, and the innermost value another.
        std::size_t deepest = 0;
        while (decoded(nested(deepest + 1)).ok()) ++deepest;
        QCOMPARE(deepest, std::size_t{frame_depth_max - 2});
        const auto listed = [](std::size_t numbers) {
            std::string many;
            for (std::size_t i = 0; i < numbers; ++i) many += "i1e";
            return with("1", "1:zl" + many + "e");
        };
        // The dictionary, its four fields, the fifth with its list, and their ends.
        std::size_t fit = 0;
        while (decoded(listed(fit + 1)).ok()) ++fit;
        QCOMPARE(fit, std::size_t{frame_tokens_max - 13});
    }

    void a_frame_that_was_cut_is_refused() {
        const std::string text = with("1");
        for (std::size_t size = 0; size < text.size(); ++size) QVERIFY(is_malformed(text.substr(0, size)));
    }

    void questions_and_introductions_come_back_as_they_were() {
        const PeerId sender = peer_of(1), other = peer_of(2);
        const Bytes question = encode_question(sender, other);
        QVERIFY(decode_question(question) == other);
        QVERIFY(!decode_introduction(question) && !decode_greeting(question));
        for (const char* address : {"203.0.113.9", "2001:db8::9"}) {
            const Introduction told{other, {boost::asio::ip::make_address(address), 7000}};
            const Bytes frame = encode_introduction(sender, told);
            QVERIFY(decode_introduction(frame) == told);
            QVERIFY(!decode_question(frame));
            // Versions that do not know it skip it.
            QVERIFY(decode_frame(frame, RunId{}).error().code == ErrorCode::unavailable);
        }
    }

    void messages_of_the_board_come_back_as_they_were() {
        const Bytes message(board_bytes_max, std::byte{1});
        const Bytes frame = encode_board(peer_of(1), message);
        QVERIFY(decode_board(frame) == message);
        QVERIFY(!decode_question(frame) && !decode_greeting(frame));
        // Versions that do not know it skip it.
        QVERIFY(decode_frame(frame, RunId{}).error().code == ErrorCode::unavailable);
        QVERIFY(!decode_board(encode_board(peer_of(1), Bytes(board_bytes_max + 1))));
        QVERIFY(!decode_board(encode_board(peer_of(1), {})));
        QVERIFY(!decode_board(encode_question(peer_of(1), peer_of(2))));
    }

    void notes_of_another_length_are_none() {
        for (std::size_t size = 0; size < 64; ++size) {
            for (const std::uint8_t kind : {question_kind, introduction_kind}) {
                run::Envelope envelope;
                envelope.kind = static_cast<run::MessageKind>(kind);
                envelope.body.assign(size, std::byte{7});
                const Bytes frame = encode_frame(envelope);
                QCOMPARE(decode_question(frame).has_value(), kind == question_kind && size == 32);
                QCOMPARE(decode_introduction(frame).has_value(),
                         kind == introduction_kind && (size == 38 || size == 50));
            }
        }
    }

    void a_greeting_of_another_length_is_none() {
        for (std::size_t size = 0; size < 64; ++size) {
            const Bytes frame = encode_greeting(peer_of(1), Bytes(size, std::byte{7}));
            QCOMPARE(decode_greeting(frame).has_value(), size == 33);
        }
    }
};

QTEST_GUILESS_MAIN(TestFrame)
#include "test_frame.moc"
