// The canonical layouts against vectors that were written by another program (wire/vectors.py): what the product
// writes is these bytes, and these bytes read back as the same value.
#include <QFile>
#include <QRegularExpression>
#include <QTest>

#include "core/base/sha256.h"
#include "core/model/state_layout.h"
#include "core/run/accept_list.h"
#include "core/run/credit_table.h"
#include "core/run/invite.h"
#include "core/run/manifest.h"
#include "core/run/message.h"
#include "tests/unit/run_samples.h"

using namespace potluck;
using namespace potluck::run;
using namespace potluck::model;
namespace samples = potluck::run::samples;

namespace {

/// The bytes of wire/<name>.hex, without blanks and comments.
Bytes vector_of(const char* name) {
    QFile file(QStringLiteral(POTLUCK_SOURCE_DIR "/tests/golden/wire/%1.hex").arg(QLatin1String(name)));
    if (!file.open(QIODevice::ReadOnly)) qFatal("no vector %s", name);
    QByteArray digits;
    for (const QByteArray& line : file.readAll().split('\n')) digits += line.split('#').front().trimmed();
    Bytes bytes(static_cast<std::size_t>(digits.size() / 2));
    if (!from_hex(std::string_view(digits.constData(), static_cast<std::size_t>(digits.size())), bytes)) {
        qFatal("vector %s is not hexadecimal", name);
    }
    return bytes;
}

ModelSpec gpt2_small() { return {.vocabulary = 50'257, .context = 1'024, .layers = 12, .heads = 12, .width = 768}; }

ModelSpec opt_125m() {
    return {.family = Family::opt,
            .vocabulary = 50'272,
            .context = 2'048,
            .layers = 12,
            .heads = 12,
            .width = 768,
            .activation = Activation::relu};
}

ModelSpec opt_350m() {
    return {.family = Family::opt,
            .vocabulary = 50'272,
            .context = 2'048,
            .layers = 24,
            .heads = 16,
            .width = 1'024,
            .activation = Activation::relu,
            .norm = NormPlace::after,
            .embedding = 512};
}

ModelSpec smollm2_135m() {
    return {.family = Family::llama,
            .vocabulary = 49'152,
            .context = 2'048,
            .layers = 30,
            .heads = 9,
            .width = 576,
            .activation = Activation::silu_gated,
            .llama = {.kv_heads = 3, .head_width = 64, .inner = 1'536, .rope_theta = 1e5}};
}

ModelSpec qwen(const LlamaShape& shape) {
    return {.family = Family::llama,
            .vocabulary = 256,
            .layers = 2,
            .heads = 2,
            .width = 8,
            .activation = Activation::silu_gated,
            .llama = shape};
}

QString hex(ByteSpan bytes) { return QString::fromStdString(to_hex(bytes)); }

/// So many bytes of a vector from `at` on.
Bytes part_of(const char* name, std::size_t at, std::size_t size) {
    const Bytes all = vector_of(name);
    const ByteSpan part = ByteSpan(all).subspan(at, size);
    return {part.begin(), part.end()};
}

void compare_message(const char* name, const Message& message) {
    const Bytes expected = vector_of(name);
    QCOMPARE(hex(encode_body(message)), hex(expected));
    const Result<Message> decoded = decode_body(kind_of(message), expected);
    QVERIFY2(decoded.ok(), name);
    QVERIFY(*decoded == message);
}

run::CreditTable credit_table() {
    return {.run = samples::id<RunId>(0x11),
            .round = {1'000},
            .tokens = {70'000},
            .contributions = 12,
            .actions = 5,
            .vouched = {samples::id<PeerId>(0xa1)},
            .banned = {samples::id<PeerId>(0xb2)},
            .credits = {{samples::id<PeerId>(0xa1), {65'536}, 10}, {samples::id<PeerId>(0xb2), {4'464}, 2}}};
}

AcceptList list_with_table() {
    AcceptList list = samples::accept_list();
    list.table = run::table_ref(credit_table().encode());
    return list;
}

}  // namespace

class WireVectorsTest : public QObject {
    Q_OBJECT
private slots:
    void blob_references_have_their_layout() {
        for (const auto& [name, blob] : {std::pair{"blob_ref_plain", samples::plain_blob(0xc1, 65'536)},
                                         std::pair{"blob_ref_open", samples::open_blob(0xc2, blob_bytes_max)}}) {
            ByteWriter out;
            blob.write(out);
            QCOMPARE(hex(out.bytes()), hex(vector_of(name)));
            const Bytes expected = vector_of(name);
            ByteReader in(expected);
            QVERIFY(BlobRef::read(in) == blob);
            QVERIFY(in.finished());
        }
    }

    void an_accept_list_has_its_layout_and_hash() {
        const Bytes expected = vector_of("accept_list");
        QCOMPARE(hex(samples::accept_list().encode()), hex(expected));
        const Result<AcceptList> decoded = AcceptList::decode(expected);
        QVERIFY(decoded.ok());
        QVERIFY(*decoded == samples::accept_list());
        QCOMPARE(hex(decoded->hash().bytes), hex(vector_of("accept_list_hash")));
    }

    void lists_with_late_entries_or_actions_have_their_layout() {
        AcceptList late = samples::accept_list();
        for (Accepted& entry : late.entries) entry.late = true;
        AcceptList bounded = samples::accept_list();
        bounded.entries[0].vouched = true;
        bounded.bounds = run::Bounds{.norm = 1.5, .claim_max = 262'144, .unvouched = 500};
        for (const auto& [name, list] : {std::pair{"accept_list_bounds", bounded}, std::pair{"accept_list_late", late},
                                         std::pair{"accept_list_moderated", samples::moderated_list()},
                                         std::pair{"accept_list_roll_back", samples::roll_back_list()},
                                         std::pair{"accept_list_suspensions", samples::suspending_list()},
                                         std::pair{"accept_list_losses", samples::list_with_losses()},
                                         std::pair{"accept_list_computers", samples::list_of_computers()},
                                         std::pair{"accept_list_table", list_with_table()}}) {
            const Bytes expected = vector_of(name);
            QCOMPARE(hex(list.encode()), hex(expected));
            const Result<AcceptList> decoded = AcceptList::decode(expected);
            QVERIFY2(decoded.ok() && *decoded == list, name);
        }
    }

    void a_table_has_its_layout() {
        QCOMPARE(hex(credit_table().encode()), hex(vector_of("credit_table")));
        const Result<run::CreditTable> decoded = run::CreditTable::decode(vector_of("credit_table"));
        QVERIFY(decoded.ok() && *decoded == credit_table());
        run::CreditTable suspending = credit_table();
        suspending.suspended = {{samples::id<PeerId>(0xe1), {1'040}, 1}};
        QCOMPARE(hex(suspending.encode()), hex(vector_of("credit_table_suspended")));
        run::CreditTable with_curve = credit_table();
        with_curve.curve = {{{{0}, 5'545'177}, {{20}, 4'100'000}, {{30}, 3'900'000}}, 20};
        QCOMPARE(hex(with_curve.encode()), hex(vector_of("credit_table_curve")));
    }

    void weights_follow_from_claims_as_the_document_says_data() {
        QTest::addColumn<int>("entries");
        QTest::newRow("weights") << 6;
        QTest::newRow("weights_of_newcomers") << 3;
        QTest::newRow("weights_at_the_limits") << 10;
        QTest::newRow("weights_of_persons") << 7;
    }
    void weights_follow_from_claims_as_the_document_says() {
        QFETCH(const int, entries);
        const Bytes bytes = vector_of(QTest::currentDataTag());
        ByteReader in(bytes);
        QCOMPARE(int{in.u16()}, entries);
        std::vector<Accepted> claims;
        std::vector<TokenCount> weights;
        for (int i = 0; i < entries; ++i) {
            Accepted& claim = claims.emplace_back();
            claim.peer = samples::id<PeerId>(static_cast<std::uint8_t>(200 + i));
            claim.certificate.person = samples::id<PeerId>(in.u8());
            claim.tokens = {in.u64()};
            claim.newcomer = in.u8() == 1;
            weights.push_back({in.u64()});
        }
        QVERIFY(in.finished());
        QVERIFY(weights_of(claims, {}) == weights);
    }

    void an_entry_carries_the_signature_of_a_contribution_message() {
        const AcceptList list = *AcceptList::decode(vector_of("accept_list"));
        compare_message("contribution", contribution_of(list, list.entries[0]));
    }

    void every_message_has_its_layout() {
        StatusMessage bare = samples::status();
        bare.checkpoint = {};
        bare.checkpoint_round = {};
        const CommittedList committed{samples::accept_list().encode(), vector_of("accept_list_certificate")};
        compare_message("status", samples::status());
        compare_message("status_without_checkpoint", bare);
        StatusMessage of_computer = bare;
        of_computer.certificate = samples::certificate();
        compare_message("status_of_computer", of_computer);
        StatusMessage of_team = samples::status();
        of_team.team = "Physik Universit\xc3\xa4t Graz";
        compare_message("status_with_team", of_team);
        StatusMessage of_light = bare;
        of_light.light = true;
        compare_message("status_of_light", of_light);
        ContributionMessage by_computer = samples::contribution();
        by_computer.certificate = samples::certificate();
        compare_message("contribution_of_computer", by_computer);
        compare_message("close", samples::close());
        compare_message("contribution", samples::contribution());
        compare_message("ballot", BallotMessage{part_of("ballot", 2, 178), samples::accept_list().encode()});
        compare_message("ballot_without_list", BallotMessage{part_of("ballot_without_list", 2, 179), {}});
        compare_message("history_request", HistoryRequest{RoundId{7}});
        compare_message("history", HistoryMessage{{committed, committed}});
        compare_message("layer_request", LayerRequest{samples::id<BlobId>(0x44), 3});
        compare_message("layer", samples::layer());
        compare_message("goodbye", GoodbyeMessage{});
        compare_message("payload_request", PayloadRequest{samples::id<BlobId>(0xc1)});
        compare_message("committee_request", CommitteeRequest{RoundId{7}});
        compare_message("step", samples::step());
        compare_message("step_request", StepRequest{RoundId{7}});
        compare_message("list_request", ListRequest{samples::accept_list().hash()});
        compare_message("list", ListMessage{samples::accept_list().encode()});
        compare_message("committee", CommitteeMessage{{committed, committed}});
        compare_message("host_action_ban", samples::ban(4));
        compare_message("host_action_readmit", samples::readmit(5));
        compare_message("host_action_allow", samples::allow(6));
        compare_message("host_action_roll_back", samples::roll_back(7));
        compare_message("host_action_replace", samples::replacement(8));
        compare_message("host_action_lift", samples::lift(9));
        compare_message("verdict", samples::verdict());
        compare_message("loss", samples::loss());
    }

    void a_signature_covers_the_run_and_the_body() {
        Envelope envelope{.run = samples::id<RunId>(0x11), .sender = {}, .kind = MessageKind::close, .body = {}};
        envelope.body = encode_body(samples::close());
        QCOMPARE(hex(signed_bytes(envelope)), hex(vector_of("signed_bytes")));
        QCOMPARE(hex(signed_bytes(envelope.run, samples::close())), hex(vector_of("signed_bytes")));
    }

    void a_manifest_file_has_its_layout() {
        const Bytes expected = vector_of("manifest");
        const std::string json = samples::manifest().to_json_text();
        QCOMPARE(hex(manifest_file(as_bytes(json), samples::signature())), hex(expected));
        const Result<SignedManifest> parsed = parse_manifest_file(expected);
        QVERIFY2(parsed.ok(), parsed.ok() ? "" : parsed.error().message.c_str());
        QVERIFY(parsed->manifest == samples::manifest());
    }

    void a_person_signs_its_own_key_and_the_computers() {
        const Bytes expected = vector_of("device_signed_bytes");
        QCOMPARE(hex(signed_bytes_of_device(samples::certificate().person, samples::id<PeerId>(0xa1))), hex(expected));
        QCOMPARE(device_domain, std::string_view("potluck/device/1"));
    }

    void a_manifest_of_another_computer_than_the_hosts_own_has_its_layout() {
        const Bytes expected = vector_of("manifest_of_computer");
        Manifest manifest = samples::manifest();
        manifest.host_device = Device{samples::id<PeerId>(0xa1), {manifest.host, samples::signature(0x66)}};
        const std::string json = manifest.to_json_text();
        QCOMPARE(hex(manifest_file(as_bytes(json), samples::signature())), hex(expected));
        const Result<SignedManifest> parsed = parse_manifest_file(expected);
        QVERIFY2(parsed.ok(), parsed.ok() ? "" : parsed.error().message.c_str());
        QVERIFY(parsed->manifest == manifest);
    }

    void a_manifest_with_byte_level_bpe_has_its_layout() {
        const Bytes expected = vector_of("manifest_bpe");
        Manifest manifest = samples::manifest();
        manifest.tokenizer = {TokenizerKind::bpe, samples::plain_blob(0xc1, 1'042'301),
                              samples::plain_blob(0xc2, 456'318)};
        const std::string json = manifest.to_json_text();
        QCOMPARE(hex(manifest_file(as_bytes(json), samples::signature())), hex(expected));
        const Result<SignedManifest> parsed = parse_manifest_file(expected);
        QVERIFY2(parsed.ok(), parsed.ok() ? "" : parsed.error().message.c_str());
        QVERIFY(parsed->manifest == manifest);
    }

    void an_invite_is_written_as_this_link() {
        const Bytes expected = vector_of("invite");
        QCOMPARE(samples::invite().to_magnet(), std::string(as_text(expected)));
        const Result<Invite> parsed = Invite::parse(as_text(expected));
        QVERIFY(parsed.ok());
        QVERIFY(*parsed == samples::invite());
    }

    void the_document_shows_these_vectors() {
        QFile file(QStringLiteral(POTLUCK_SOURCE_DIR "/docs/wire-format.md"));
        QVERIFY(file.open(QIODevice::ReadOnly));
        QRegularExpression block("```hex (\\w+)\n(.*?)```", QRegularExpression::DotMatchesEverythingOption);
        auto matches = block.globalMatch(QString::fromUtf8(file.readAll()));
        int shown = 0;
        for (; matches.hasNext(); ++shown) {
            const QRegularExpressionMatch match = matches.next();
            QFile vector(QStringLiteral(POTLUCK_SOURCE_DIR "/tests/golden/wire/%1.hex").arg(match.captured(1)));
            QVERIFY2(vector.open(QIODevice::ReadOnly), qPrintable(match.captured(1)));
            QCOMPARE(match.captured(2), QString::fromUtf8(vector.readAll()));
        }
        QVERIFY2(shown >= 25, qPrintable(QString::number(shown)));
    }

    void the_header_of_a_state_is_fixed_by_its_model() {
        QCOMPARE(hex(sha256(state_layout(samples::model()).header).bytes), hex(vector_of("state_header_small")));
        QCOMPARE(hex(sha256(state_layout(gpt2_small()).header).bytes), hex(vector_of("state_header_gpt2")));
        QCOMPARE(hex(sha256(state_layout(opt_125m()).header).bytes), hex(vector_of("state_header_opt_125m")));
        QCOMPARE(hex(sha256(state_layout(opt_350m()).header).bytes), hex(vector_of("state_header_opt_350m")));
        QCOMPARE(hex(sha256(state_layout(smollm2_135m()).header).bytes), hex(vector_of("state_header_smollm2_135m")));
        const LlamaShape qwen2{.kv_heads = 1, .head_width = 6, .inner = 24, .qkv_bias = true, .tied = false};
        const LlamaShape qwen3{.kv_heads = 1, .head_width = 6, .inner = 24, .qk_norm = true};
        QCOMPARE(hex(sha256(state_layout(qwen(qwen2)).header).bytes), hex(vector_of("state_header_qwen2_small")));
        QCOMPARE(hex(sha256(state_layout(qwen(qwen3)).header).bytes), hex(vector_of("state_header_qwen3_small")));
    }
};

QTEST_APPLESS_MAIN(WireVectorsTest)
#include "test_wire_vectors.moc"
