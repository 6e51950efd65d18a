#include <QTest>

#include <cmath>
#include <limits>
#include <set>

#include "tests/unit/run_samples.h"

using namespace potluck;
using namespace potluck::run;

namespace {

std::vector<Message> all_messages() {
    return {samples::status(),
            samples::close(),
            samples::contribution(),
            samples::ballot(),
            HistoryRequest{RoundId{3}},
            HistoryMessage{{samples::committed_list(), samples::committed_list()}},
            LayerRequest{samples::id<BlobId>(1), 2},
            samples::layer(),
            GoodbyeMessage{},
            samples::ban(4),
            PayloadRequest{samples::id<BlobId>(2)},
            CommitteeRequest{RoundId{3}},
            CommitteeMessage{{samples::committed_list(), samples::committed_list()}},
            samples::step(),
            StepRequest{RoundId{3}},
            samples::verdict(),
            samples::loss(),
            ListRequest{samples::id<Digest>(3)},
            ListMessage{samples::accept_list().encode()}};
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

bool decodes_bytes(MessageKind kind, const Bytes& body) { return decode_body(kind, body).ok(); }

/// Overwrites `width` bytes with a little-endian number.
void put(Bytes& bytes, std::size_t at, std::uint64_t number, std::size_t width) {
    for (std::size_t i = 0; i < width; ++i) bytes.at(at + i) = static_cast<std::byte>(number >> (8 * i));
}

/// Texts that no name and no team may be.
void rows_that_are_not_plain() {
    QTest::addColumn<QByteArray>("name");
    for (const char* name : {"\xff", "\xed\xa0\x80", "\xc0\x80", "\xf4\x90\x80\x80", "\xe2\x82", "\x1b[31m",
                             "two\nlines", "\x7f", "\xc2\x85", "\xe2\x80\xae", "\xe2\x80\xa8"}) {
        QTest::addRow("%s", QByteArray(name).toHex().constData()) << QByteArray(name);
    }
    QTest::addRow("41 bytes") << QByteArray(41, 'n');
}

/// Whether a status decodes that names exactly this team.
bool takes_team(const QByteArray& team) {
    StatusMessage status = samples::status();
    status.team = "t";
    Bytes body = encode_body(status);
    body.resize(body.size() - 4);
    ByteWriter tail;
    tail.string({team.constData(), static_cast<std::size_t>(team.size())});
    status.certificate.write(tail);
    body.insert(body.end(), tail.bytes().begin(), tail.bytes().end());
    return decodes_bytes(MessageKind::status, body);
}

/// A ballot of so many zero bytes: whether they are a statement and a list is not the message's business.
Bytes ballot_bytes(std::size_t statement, std::size_t list) {
    Bytes bytes(2 + statement + 4 + list);
    put(bytes, 0, statement, 2);
    put(bytes, 2 + statement, list, 4);
    return bytes;
}

struct Sizes {
    std::size_t list = accept_list_bytes_min;
    std::size_t certificate = 1;
};

/// A history of committed lists of so many zero bytes.
Bytes history_bytes(const std::vector<Sizes>& lists) {
    Bytes bytes(2);
    put(bytes, 0, lists.size(), 2);
    for (const Sizes& sizes : lists) {
        const std::size_t at = bytes.size();
        bytes.resize(at + 4 + sizes.list + 2 + sizes.certificate);
        put(bytes, at, sizes.list, 4);
        put(bytes, at + 4 + sizes.list, sizes.certificate, 2);
    }
    return bytes;
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

    void an_incomplete_or_overlong_message_is_refused() {
        for (const Message& message : all_messages()) {
            Bytes body = encode_body(message);
            for (std::size_t size = 0; size < body.size(); ++size) {
                QVERIFY(!decode_body(kind_of(message), ByteSpan(body).first(size)).ok());
            }
            body.push_back(std::byte{0});
            QVERIFY(!decode_body(kind_of(message), body).ok());
        }
    }

    void a_decoded_message_encodes_to_the_same_bytes() {
        std::vector<Message> messages = all_messages();
        StatusMessage without_checkpoint = samples::status();
        without_checkpoint.checkpoint = {};
        messages.emplace_back(without_checkpoint);
        StatusMessage of_team = samples::status();
        of_team.team = "Graz";
        messages.emplace_back(of_team);
        messages.emplace_back(samples::roll_back(4));
        for (const Message& message : messages) {
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
        for (const int kind : {0, 11, 255}) {
            QVERIFY(!decode_body(static_cast<MessageKind>(kind), {}).ok());
        }
    }

    void a_status_out_of_range_is_refused() {
        const StatusMessage good = samples::status();
        QVERIFY(refuses(good, [](StatusMessage& m) { m.role = static_cast<Role>(2); }));
        QVERIFY(refuses(good, [](StatusMessage& m) { m.phase = static_cast<Phase>(8); }));
        QVERIFY(refuses(good, [](StatusMessage& m) { m.round = {round_max + 1}; }));
        QVERIFY(refuses(good, [](StatusMessage& m) { m.checkpoint_round = {round_max + 1}; }));
        QVERIFY(refuses(good, [](StatusMessage& m) { m.window_tokens = {tokens_max + 1}; }));
        QVERIFY(refuses(good, [](StatusMessage& m) { m.checkpoint.size = blob_bytes_max + 1; }));
    }

    void a_name_that_is_not_plain_is_refused_data() { rows_that_are_not_plain(); }
    void a_team_that_is_not_plain_is_refused_data() { rows_that_are_not_plain(); }
    void a_name_that_is_not_plain_is_refused() {
        QFETCH(const QByteArray, name);
        const auto with_name = [](const QByteArray& chosen) {
            StatusMessage status = samples::status();
            status.name.clear();
            Bytes body = encode_body(status);
            body.resize(body.size() - 3);
            ByteWriter tail;
            tail.string({chosen.constData(), static_cast<std::size_t>(chosen.size())});
            status.certificate.write(tail);
            body.insert(body.end(), tail.bytes().begin(), tail.bytes().end());
            return decode_body(MessageKind::status, body).ok();
        };
        QVERIFY(with_name("B\xc3\xbcro"));
        QVERIFY(with_name(QByteArray(40, 'n')));
        QVERIFY(!with_name(name));
    }

    void a_team_that_is_not_plain_is_refused() {
        QFETCH(const QByteArray, name);
        QVERIFY(takes_team("B\xc3\xbcro"));
        QVERIFY(takes_team(QByteArray(team_bytes_max, 'n')));
        QVERIFY(!takes_team(name));
    }

    void a_team_has_one_spelling() {
        QVERIFY(!takes_team(""));
        StatusMessage status = samples::status();
        const Bytes bare = encode_body(status);
        status.team = "Graz";
        const Bytes body = encode_body(status);
        QCOMPARE(body.size(), bare.size() + 2 + 4);
        QVERIFY(decodes(status));
        status.team = "\x1b\n";
        QVERIFY(encode_body(status) == bare);
        Bytes light = bare, fourth = bare;
        light.at(106) |= std::byte{4};
        status.team.clear();
        status.light = true;
        QVERIFY(decode_body(MessageKind::status, light).value() == Message(status));
        QVERIFY(decodes(status));
        fourth.at(106) |= std::byte{8};
        QVERIFY(!decodes_bytes(MessageKind::status, fourth));
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
        StatusMessage status = samples::status();
        status.team = std::string(39, 't') + "\n\xc3\xbc!";
        const Result<Message> decoded = decode_body(MessageKind::status, encode_body(status));
        QVERIFY(decoded.ok());
        QCOMPARE(std::get<StatusMessage>(*decoded).team, std::string(39, 't'));
    }

    void a_loss_that_blew_up_is_sent_as_none_and_never_taken() {
        StatusMessage status = samples::status();
        const Bytes good = encode_body(status);
        constexpr float infinity = std::numeric_limits<float>::infinity(), loss_max = 1e6F;
        for (const float loss : {infinity, -infinity, std::numeric_limits<float>::quiet_NaN(), -0.001F, 1e38F,
                                 std::nextafter(loss_max, infinity)}) {
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
        status.loss = loss_max;
        const Result<Message> decoded = decode_body(MessageKind::status, encode_body(status));
        QVERIFY(decoded.ok());
        QCOMPARE(std::get<StatusMessage>(*decoded).loss, loss_max);
    }

    void a_contribution_out_of_range_is_refused() {
        const ContributionMessage good = samples::contribution();
        QVERIFY(refuses(good, [](ContributionMessage& m) { m.tokens = {0}; }));
        QVERIFY(refuses(good, [](ContributionMessage& m) { m.tokens = {tokens_max + 1}; }));
        QVERIFY(refuses(good, [](ContributionMessage& m) { m.payload = samples::open_blob(1, 1); }));
        QVERIFY(refuses(good, [](ContributionMessage& m) { m.payload.size = 0; }));
        QVERIFY(refuses(good, [](ContributionMessage& m) { m.round = {round_max + 1}; }));
    }

    void an_action_of_the_host_is_a_message_of_every_kind_of_it() {
        for (const HostAction& action :
             {samples::ban(1), samples::readmit(2), samples::allow(3), samples::roll_back(4), samples::lift(5)}) {
            QVERIFY(decodes(action));
            QVERIFY(refuses(action, [](HostAction& m) { m.number = 0; }));
            QVERIFY(refuses(action, [](HostAction& m) { m.number = action_number_max + 1; }));
            QVERIFY(refuses(action, [](HostAction& m) { m.kind = static_cast<ActionKind>(7); }));
        }
        QVERIFY(refuses(samples::roll_back(1), [](HostAction& m) { m.round = {round_max + 1}; }));
        QVERIFY(refuses(samples::roll_back(1), [](HostAction& m) { m.state.size = 0; }));
        QCOMPARE(domain_of(MessageKind::host_action), std::string_view("potluck/host-action/1"));
    }

    void a_list_is_as_long_as_a_list_can_be() {
        const auto fits = [](std::size_t list) {
            const bool in_history = decodes_bytes(MessageKind::history, history_bytes({{.list = list}}));
            const bool in_ballot = decodes_bytes(MessageKind::ballot, ballot_bytes(1, list));
            if (in_history != in_ballot) qFatal("%zu bytes fit one message only", list);
            return in_history;
        };
        QVERIFY(!fits(accept_list_bytes_min - 1));
        QVERIFY(fits(accept_list_bytes_min));
        QVERIFY(fits(accept_list_bytes_max));
        QVERIFY(!fits(accept_list_bytes_max + 1));
    }

    void a_ballot_may_come_without_a_list_and_a_history_may_not() {
        QVERIFY(decodes(BallotMessage{Bytes(3), {}}));
        QVERIFY(!decodes_bytes(MessageKind::ballot, ballot_bytes(1, 1)));
        QVERIFY(!decodes_bytes(MessageKind::history, history_bytes({{.list = 0}})));
    }

    void a_statement_is_one_byte_to_the_longest_of_the_committee() {
        const auto fits = [](std::size_t statement) {
            const bool in_history = decodes_bytes(MessageKind::history, history_bytes({{.certificate = statement}}));
            const bool in_ballot = decodes_bytes(MessageKind::ballot, ballot_bytes(statement, 0));
            if (in_history != in_ballot) qFatal("%zu bytes fit one message only", statement);
            return in_history;
        };
        QVERIFY(!fits(0));
        QVERIFY(fits(1));
        QVERIFY(fits(statement_bytes_max));
        QVERIFY(!fits(statement_bytes_max + 1));
    }

    void a_signed_contribution_is_rebuilt_from_the_list() {
        const AcceptList list = samples::accept_list();
        const ContributionMessage rebuilt = contribution_of(list, list.entries[0]);
        QVERIFY(rebuilt == samples::contribution());
        Envelope envelope{.run = list.run, .sender = {}, .kind = MessageKind::contribution, .body = {}};
        envelope.body = encode_body(samples::contribution());
        QCOMPARE(to_hex(signed_bytes(list.run, rebuilt)), to_hex(signed_bytes(envelope)));
        Accepted late = list.entries[0];
        late.late = true;
        const StateDigest before = samples::id<StateDigest>(0x21);
        const ContributionMessage earlier = contribution_of(list, late, before);
        QVERIFY(earlier.round.next() == rebuilt.round && earlier.base == before);
        QVERIFY(earlier.payload == rebuilt.payload && earlier.tokens == rebuilt.tokens);
        // No field of a contribution is left to be filled in by somebody else.
        const auto differs = [&](auto change) {
            AcceptList other = list;
            change(other);
            return signed_bytes(other.run, contribution_of(other, other.entries[0])) != signed_bytes(envelope);
        };
        QVERIFY(differs([](AcceptList& one) { one.run = samples::id<RunId>(0x12); }));
        QVERIFY(differs([](AcceptList& one) { one.round = {8}; }));
        QVERIFY(differs([](AcceptList& one) { one.base = samples::id<StateDigest>(0x45); }));
        QVERIFY(differs([](AcceptList& one) { one.entries[0].payload.root = samples::id<BlobId>(0xc2); }));
        QVERIFY(differs([](AcceptList& one) { one.entries[0].payload.size = 4'097; }));
        QVERIFY(differs([](AcceptList& one) { one.entries[0].tokens = {65'537}; }));
    }

    void a_history_holds_256_lists_and_not_257() {
        QCOMPARE(lists_per_history_max, std::size_t{256});
        std::vector<Sizes> lists(lists_per_history_max);
        QVERIFY(decodes_bytes(MessageKind::history, history_bytes(lists)));
        lists.emplace_back();
        QVERIFY(!decodes_bytes(MessageKind::history, history_bytes(lists)));
    }

    void a_layer_holds_16384_hashes_and_not_one_more() {
        const auto layer = [](std::uint32_t first, std::size_t hashes) {
            Bytes body(32 + 4 + 2 + 32 * hashes);
            put(body, 32, first, 4);
            put(body, 36, hashes, 2);
            return decodes_bytes(MessageKind::layer, body);
        };
        QVERIFY(layer(0, 0));
        QVERIFY(layer(piece_index_max, layer_hashes_max));
        QVERIFY(!layer(0, layer_hashes_max + 1));
        QVERIFY(!layer(piece_index_max + 1, 0));
    }

    void a_piece_index_reaches_the_end_of_the_largest_blob_and_not_beyond() {
        QCOMPARE(std::uint64_t{piece_index_max} * 16'384, blob_bytes_max);
        const auto request = [](std::uint32_t first) {
            Bytes body(32 + 4);
            put(body, 32, first, 4);
            return decodes_bytes(MessageKind::layer_request, body);
        };
        QVERIFY(request(piece_index_max));
        QVERIFY(!request(piece_index_max + 1));
    }

    void a_message_has_900_kibibytes_and_not_one_byte_more() {
        const auto history = [](std::size_t size) {
            // Two lists, the first of the greatest length, fill the body up to `size`.
            const std::size_t rest = size - 2 - 2 * (4 + 2 + 1) - accept_list_bytes_max;
            return history_bytes({{.list = accept_list_bytes_max}, {.list = rest}});
        };
        QCOMPARE(history(message_bytes_max).size(), std::size_t{900 * 1024});
        QVERIFY(decodes_bytes(MessageKind::history, history(message_bytes_max)));
        QVERIFY(!decodes_bytes(MessageKind::history, history(message_bytes_max + 1)));
    }

    void rounds_and_tokens_end_at_two_to_the_fortieth_data() {
        QTest::addColumn<int>("kind");
        QTest::addColumn<QByteArray>("body");
        QTest::addColumn<int>("at");
        const auto row = [](const char* name, const Message& message, int at) {
            const Bytes body = encode_body(message);
            QTest::newRow(name) << static_cast<int>(kind_of(message))
                                << QByteArray(as_text(body).data(), static_cast<qsizetype>(body.size())) << at;
        };
        // round_max and tokens_max; places as in docs/wire-format.md.
        row("status round", samples::status(), 10);
        row("status window tokens", samples::status(), 82);
        row("status checkpoint round", samples::status(), 98);
        row("close round", samples::close(), 0);
        row("contribution round", samples::contribution(), 0);
        row("contribution tokens", samples::contribution(), 113);
        row("history request first", HistoryRequest{RoundId{3}}, 0);
        row("host action round", samples::roll_back(4), 5);
    }
    void rounds_and_tokens_end_at_two_to_the_fortieth() {
        QFETCH(const int, kind);
        QFETCH(const QByteArray, body);
        QFETCH(const int, at);
        QCOMPARE(round_max, tokens_max);
        const auto with = [&](std::uint64_t number) {
            const ByteSpan bytes = as_bytes({body.constData(), static_cast<std::size_t>(body.size())});
            Bytes changed(bytes.begin(), bytes.end());
            put(changed, static_cast<std::size_t>(at), number, 8);
            return decodes_bytes(static_cast<MessageKind>(kind), changed);
        };
        QVERIFY(with(1));
        QVERIFY(with(1ULL << 40U));
        QVERIFY(!with((1ULL << 40U) + 1));
    }

    void a_body_that_claims_more_than_it_has_takes_no_memory() {
        ByteWriter out;
        out.u16(256);
        out.u32(0xffffffffU);
        QVERIFY(!decode_body(MessageKind::history, out.bytes()).ok());
        const Bytes huge(message_bytes_max + 1);
        for (int kind = 1; kind <= 10; ++kind) QVERIFY(!decode_body(static_cast<MessageKind>(kind), huge).ok());
    }

    void every_verdict_has_a_name_of_its_own() {
        std::set<std::string> verdicts;
        for (int i = 0; i <= static_cast<int>(Verdict::flood); ++i) verdicts.insert(name_of(static_cast<Verdict>(i)));
        QCOMPARE(verdicts.size(), std::size_t{16});
        QVERIFY(!verdicts.contains("unknown"));
    }
};

QTEST_APPLESS_MAIN(MessageTest)
#include "test_message.moc"
