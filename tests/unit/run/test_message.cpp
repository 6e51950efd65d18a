#include <QTest>

#include <limits>
#include <set>

#include "tests/unit/run_samples.h"

using namespace potluck;
using namespace potluck::run;
using namespace potluck::model;

namespace {

std::vector<Message> all_messages() {
    return {samples::status(),
            samples::close(),
            samples::contribution(),
            ListMessage{samples::signed_list()},
            HistoryRequest{RoundId{3}},
            HistoryMessage{{samples::signed_list(), samples::signed_list()}},
            LayerRequest{samples::id<BlobId>(1), 2},
            samples::layer(),
            GoodbyeMessage{}};
}

bool decodes(const Message& message) {
    const Result<Message> decoded = decode_body(kind_of(message), encode_body(message));
    return decoded.ok() && *decoded == message;
}

template <class Value, class Change>
bool refuses(Value value, Change change) {
    change(value);
    return !decode_body(kind_of(value), encode_body(value)).ok();
}

}  // namespace

class MessageTest : public QObject {
    Q_OBJECT
private slots:
    void every_kind_survives_its_bytes_and_has_a_domain_of_its_own() {
        std::set<std::string_view> domains;
        std::uint8_t number = 0;
        for (const Message& message : all_messages()) {
            QVERIFY(decodes(message));
            QCOMPARE(static_cast<std::uint8_t>(kind_of(message)), ++number);
            QVERIFY(domains.insert(domain_of(kind_of(message))).second);
        }
        QCOMPARE(domain_of(MessageKind::contribution), std::string_view("potluck/contribution/1"));
    }

    void nothing_may_be_missing_or_left_over() {
        for (const Message& message : all_messages()) {
            Bytes body = encode_body(message);
            for (std::size_t size = 0; size < body.size(); ++size) {
                QVERIFY(!decode_body(kind_of(message), ByteSpan(body).first(size)).ok());
            }
            body.push_back(std::byte{0});
            QVERIFY(!decode_body(kind_of(message), body).ok());
        }
    }

    void what_decodes_encodes_to_the_same_bytes() {
        for (const Message& message : all_messages()) {
            const Bytes body = encode_body(message);
            for (std::size_t i = 0; i < body.size(); ++i) {
                for (const std::byte mask : {std::byte{0x01}, std::byte{0x80}, std::byte{0xff}}) {
                    Bytes other = body;
                    other[i] ^= mask;
                    const Result<Message> decoded = decode_body(kind_of(message), other);
                    if (decoded.ok()) QCOMPARE(to_hex(encode_body(*decoded)), to_hex(other));
                }
            }
        }
    }

    void a_kind_without_a_meaning_is_refused() {
        for (const int kind : {0, 10, 255}) {
            QVERIFY(!decode_body(static_cast<MessageKind>(kind), {}).ok());
        }
    }

    void a_status_out_of_range_is_refused() {
        const StatusMessage good = samples::status();
        QVERIFY(refuses(good, [](StatusMessage& m) { m.role = static_cast<Role>(2); }));
        QVERIFY(refuses(good, [](StatusMessage& m) { m.phase = static_cast<Phase>(7); }));
        QVERIFY(refuses(good, [](StatusMessage& m) { m.round = {round_max + 1}; }));
        QVERIFY(refuses(good, [](StatusMessage& m) { m.checkpoint_round = {round_max + 1}; }));
        QVERIFY(refuses(good, [](StatusMessage& m) { m.window_tokens = {tokens_max + 1}; }));
        QVERIFY(refuses(good, [](StatusMessage& m) { m.checkpoint.size = blob_bytes_max + 1; }));
    }

    void a_name_that_is_not_plain_is_refused_data() {
        QTest::addColumn<QByteArray>("name");
        for (const char* name : {"\xff", "\xed\xa0\x80", "\xc0\x80", "\xf4\x90\x80\x80", "\xe2\x82", "\x1b[31m",
                                 "two\nlines", "\x7f", "\xc2\x85", "\xe2\x80\xae", "\xe2\x80\xa8"}) {
            QTest::addRow("%s", QByteArray(name).toHex().constData()) << QByteArray(name);
        }
        QTest::addRow("41 bytes") << QByteArray(41, 'n');
    }
    void a_name_that_is_not_plain_is_refused() {
        QFETCH(const QByteArray, name);
        const auto with_name = [](const QByteArray& chosen) {
            StatusMessage status = samples::status();
            status.name.clear();
            Bytes body = encode_body(status);
            body.resize(body.size() - 2);
            ByteWriter tail;
            tail.string({chosen.constData(), static_cast<std::size_t>(chosen.size())});
            body.insert(body.end(), tail.bytes().begin(), tail.bytes().end());
            return decode_body(MessageKind::status, body).ok();
        };
        QVERIFY(with_name("B\xc3\xbcro"));
        QVERIFY(with_name(QByteArray(40, 'n')));
        QVERIFY(!with_name(name));
    }

    void a_name_is_sent_as_far_as_it_is_plain() {
        const auto arrives_as = [](const std::string& name) {
            StatusMessage status = samples::status();
            status.name = name;
            const Result<Message> decoded = decode_body(MessageKind::status, encode_body(status));
            return decoded.ok() ? std::get<StatusMessage>(*decoded).name : "refused";
        };
        QCOMPARE(arrives_as("a\x1b[2J\nb\xff\xe2\x82"), std::string("a[2Jb"));
        QCOMPARE(arrives_as(std::string(39, 'n') + "\xc3\xbc!"), std::string(39, 'n'));
        QCOMPARE(arrives_as(std::string(100'000, 'n')), std::string(40, 'n'));
        QCOMPARE(arrives_as(""), std::string());
    }

    void a_loss_that_blew_up_is_sent_as_none_and_never_taken() {
        StatusMessage status = samples::status();
        const Bytes good = encode_body(status);
        for (const float loss : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
            status.loss = loss;
            const Result<Message> decoded = decode_body(MessageKind::status, encode_body(status));
            QVERIFY(decoded.ok());
            QCOMPARE(std::get<StatusMessage>(*decoded).loss, 0.0F);
            ByteWriter bits;
            bits.f32(loss);
            Bytes forged = good;
            std::copy(bits.bytes().begin(), bits.bytes().end(), forged.begin() + 94);
            QVERIFY(!decode_body(MessageKind::status, forged).ok());
        }
    }

    void a_contribution_out_of_range_is_refused() {
        const ContributionMessage good = samples::contribution();
        QVERIFY(refuses(good, [](ContributionMessage& m) { m.tokens = {0}; }));
        QVERIFY(refuses(good, [](ContributionMessage& m) { m.tokens = {tokens_max + 1}; }));
        QVERIFY(refuses(good, [](ContributionMessage& m) { m.payload = samples::open_blob(1, 1); }));
        QVERIFY(refuses(good, [](ContributionMessage& m) { m.payload.size = 0; }));
        QVERIFY(refuses(good, [](ContributionMessage& m) { m.round = {round_max + 1}; }));
    }

    void lists_and_layers_are_bounded() {
        const ListMessage list{samples::signed_list()};
        QVERIFY(refuses(list, [](ListMessage& m) { m.list.list.resize(accept_list_bytes_min - 1); }));
        const HistoryMessage full{{lists_per_history_max, samples::signed_list()}};
        QVERIFY(decodes(full));
        Bytes body = encode_body(full);
        body[0] = std::byte{1};  // 257
        QVERIFY(!decode_body(MessageKind::history, body).ok());
        LayerMessage layer = samples::layer();
        layer.hashes.resize(layer_hashes_max);
        QVERIFY(decodes(layer));
        QVERIFY(refuses(layer, [](LayerMessage& m) { m.first = piece_index_max + 1; }));
        QVERIFY(refuses(LayerRequest{}, [](LayerRequest& m) { m.first = piece_index_max + 1; }));
    }

    void a_body_that_claims_more_than_it_has_takes_no_memory() {
        ByteWriter out;
        out.u16(256);
        out.u32(0xffffffffU);
        QVERIFY(!decode_body(MessageKind::history, out.bytes()).ok());
        const Bytes huge(message_bytes_max + 1);
        for (int kind = 1; kind <= 9; ++kind) QVERIFY(!decode_body(static_cast<MessageKind>(kind), huge).ok());
    }

    void every_verdict_has_a_name_of_its_own() {
        std::set<std::string> verdicts;
        for (int i = 0; i <= static_cast<int>(Verdict::flood); ++i) verdicts.insert(name_of(static_cast<Verdict>(i)));
        QCOMPARE(verdicts.size(), std::size_t{12});
        QVERIFY(!verdicts.contains("unknown"));
    }
};

QTEST_APPLESS_MAIN(MessageTest)
#include "test_message.moc"
