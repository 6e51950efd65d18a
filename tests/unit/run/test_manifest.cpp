#include <QTest>

#include <algorithm>

#include "core/base/json.h"
#include "core/model/presets.h"
#include "tests/unit/run_samples.h"

using namespace potluck;
using namespace potluck::run;
using namespace potluck::model;

namespace {

Result<SignedManifest> parsed(const std::string& json) {
    const Bytes file = manifest_file(as_bytes(json), samples::signature());
    return parse_manifest_file(file);
}

nlohmann::json sample_json() { return nlohmann::json::parse(samples::manifest().to_json_text()); }

/// The sample with the value at `pointer` replaced by `value`, or removed if `value` is discarded.
std::string changed(const QString& pointer, const QByteArray& value) {
    nlohmann::json object = sample_json();
    object[nlohmann::json::json_pointer(pointer.toStdString())] = nlohmann::json::parse(value.toStdString());
    return object.dump();
}

/// Eight hexadecimal digits.
std::string hex32(std::size_t number) {
    ByteWriter out;
    out.u32(static_cast<std::uint32_t>(number));
    return to_hex(out.bytes());
}

std::string repeated(std::string_view text, std::size_t times) {
    std::string all;
    for (std::size_t i = 0; i < times; ++i) all += text;
    return all;
}

/// A run's model, with data and a first state of the sizes that it has.
void take_model(Manifest& manifest, const ModelSpec& model) {
    manifest.model = model;
    const std::uint64_t record = 2 * (std::uint64_t{model.context} + 1);
    manifest.shards = {{samples::open_blob(0xc1, 100 * record), 100}};
    manifest.validation = {samples::plain_blob(0xc2, 10 * record), 10};
    manifest.initial_state.size = state_layout(model).file_size();
}

}  // namespace

class ManifestTest : public QObject {
    Q_OBJECT
private slots:
    void a_manifest_survives_its_file() {
        const std::string json = samples::manifest().to_json_text();
        const Bytes file = manifest_file(as_bytes(json), samples::signature());
        const Result<SignedManifest> result = parse_manifest_file(file);
        QVERIFY2(result.ok(), result.ok() ? "" : result.error().message.c_str());
        QVERIFY(result->manifest == samples::manifest());
        QVERIFY(result->signature == samples::signature());
        QVERIFY(result->json.data() == file.data() + 72);
        QCOMPARE(std::string(as_text(result->json)), json);
    }

    void a_sentencepiece_tokenizer_names_its_model() {
        Manifest manifest = samples::manifest();
        manifest.model.vocabulary = 32'000;
        manifest.tokenizer = {TokenizerKind::sentencepiece, samples::plain_blob(9, 500'000)};
        manifest.initial_state.size = state_layout(manifest.model).file_size();
        const Result<SignedManifest> result = parsed(manifest.to_json_text());
        QVERIFY(result.ok());
        QVERIFY(result->manifest == manifest);
        manifest.tokenizer.model.size = tokenizer_bytes_max + 1;
        QVERIFY(!parsed(manifest.to_json_text()).ok());
    }

    void a_bpe_tokenizer_names_two_files() {
        Manifest manifest = samples::manifest();
        manifest.tokenizer = {TokenizerKind::bpe, samples::plain_blob(9, 500'000), samples::plain_blob(8, 300'000)};
        const Result<SignedManifest> result = parsed(manifest.to_json_text());
        QVERIFY(result.ok());
        QVERIFY(result->manifest == manifest);
        QVERIFY(manifest.tokenizer.blobs() ==
                (std::vector<BlobRef>{manifest.tokenizer.model, manifest.tokenizer.merges}));
        manifest.tokenizer.merges.size = bpe_file_bytes_max + 1;
        QVERIFY(!parsed(manifest.to_json_text()).ok());
        nlohmann::json without = sample_json();
        without["tokenizer"] = {{"kind", "bpe"}, {"model", without["validation"]["blob"]}};
        QVERIFY(!parsed(without.dump()).ok());
    }

    void a_tokenizer_json_is_one_file() {
        Manifest manifest = samples::manifest();
        manifest.tokenizer = {TokenizerKind::tokenizer_json, samples::plain_blob(9, 500'000)};
        const Result<SignedManifest> result = parsed(manifest.to_json_text());
        QVERIFY(result.ok());
        QVERIFY(result->manifest == manifest);
        QVERIFY(manifest.tokenizer.blobs() == std::vector<BlobRef>{manifest.tokenizer.model});
        manifest.tokenizer.model.size = tokenizer_json_bytes_max;
        QVERIFY(parsed(manifest.to_json_text()).ok());
        manifest.tokenizer.model.size = tokenizer_json_bytes_max + 1;
        QVERIFY(!parsed(manifest.to_json_text()).ok());
    }

    void a_model_that_draws_names_the_coder_whose_codes_it_draws() {
        ModelSpec coder;
        coder.family = Family::coder;
        coder.heads = 1;
        coder.width = 16;
        coder.layers = 1;
        coder.coder.side = 32;
        coder.context = coder_context(coder.coder);
        Manifest manifest = samples::manifest();
        take_model(manifest, model_preset("dalle-emoji").value());
        QVERIFY(!parsed(manifest.to_json_text()).ok());  // without a coder nobody can draw
        manifest.tokenizer.pictures = {coder, samples::plain_blob(9, state_layout(coder).file_size())};
        const Result<SignedManifest> result = parsed(manifest.to_json_text());
        QVERIFY2(result.ok(), result ? "" : result.error().message.c_str());
        QVERIFY(result->manifest == manifest);
        QVERIFY(manifest.tokenizer.blobs() == std::vector<BlobRef>{manifest.tokenizer.pictures->state});
        const auto refused = [&](const auto& change) {
            Manifest other = manifest;
            change(*other.tokenizer.pictures);
            return !parsed(other.to_json_text()).ok();
        };
        QVERIFY(refused([](PictureCoder& one) { ++one.state.size; }));
        QVERIFY(refused([&](PictureCoder& one) { one.model = manifest.model; }));
        // Other codes, or in another number of places.
        QVERIFY(refused([](PictureCoder& one) { one.model.coder.levels = {8, 5, 5}; }));
        QVERIFY(refused([](PictureCoder& one) {
            one.model.coder.side = 16;
            one.model.context = coder_context(one.model.coder);
        }));
        // Its size is that of a coder of 400 MB at most.
        QVERIFY(refused([](PictureCoder& one) {
            one.model.width = 1'024;
            one.model.layers = 2;
            one.state.size = state_layout(one.model).file_size();
            if (one.state.size <= coder_bytes_max) qFatal("the coder is too small for this test");
        }));
        // One that draws nothing names none.
        nlohmann::json more = sample_json();
        more["tokenizer"]["pictures"] = nlohmann::json::parse(manifest.to_json_text())["tokenizer"]["pictures"];
        QVERIFY(!parsed(more.dump()).ok());
    }

    void a_coder_with_a_code_book_draws_for_a_run_and_is_none() {
        ModelSpec coder;
        coder.family = Family::coder;
        coder.heads = 1;
        coder.width = 8;
        coder.layers = 1;
        coder.coder = {.side = 16, .halvings = 1, .levels = {}, .book = {1'000, 4, 4, 4, true, {8, 8}}};
        coder.context = coder_context(coder.coder);
        Manifest manifest = samples::manifest();
        take_model(manifest, model_preset("dalle-emoji").value());
        manifest.tokenizer.pictures = {coder, samples::plain_blob(9, state_layout(coder).file_size())};
        const Result<SignedManifest> result = parsed(manifest.to_json_text());
        QVERIFY2(result.ok(), result ? "" : result.error().message.c_str());
        QVERIFY(result->manifest == manifest);
        manifest.tokenizer.pictures->model.coder.book.codes = 999;
        QVERIFY(!parsed(manifest.to_json_text()).ok());

        manifest = samples::manifest();
        manifest.tokenizer = {TokenizerKind::none};
        const auto run_of = [&](const ModelSpec& model) {
            take_model(manifest, model);
            return parsed(manifest.to_json_text()).ok();
        };
        QVERIFY(!run_of(coder));
        coder.coder.book = {};
        coder.coder.levels = {8, 5, 5};
        QVERIFY(run_of(coder));
    }

    void tokens_without_a_tokenizer_name_nothing() {
        Manifest manifest = samples::manifest();
        manifest.tokenizer = {TokenizerKind::none};
        const Result<SignedManifest> result = parsed(manifest.to_json_text());
        QVERIFY(result.ok());
        QVERIFY(result->manifest == manifest);
        QVERIFY(manifest.tokenizer.blobs().empty());
        nlohmann::json more = sample_json();
        more["tokenizer"] = {{"kind", "none"}, {"model", more["validation"]["blob"]}};
        QVERIFY(!parsed(more.dump()).ok());
    }

    void lists_end_at_their_limits() {
        // Each list with so many entries; what is refused is refused for the list alone, for it is within 1 MiB.
        const auto parses = [](const char* list, const nlohmann::json& entries) {
            nlohmann::json object = sample_json();
            object[list] = entries;
            const std::string json = object.dump();
            if (json.size() > manifest_bytes_max) qFatal("%s: too long for a manifest", list);
            return parsed(json).ok();
        };
        const auto keys = [](std::size_t count) {
            nlohmann::json list = nlohmann::json::array();
            for (std::size_t i = 0; i < count; ++i) list.push_back(samples::id<PeerId>(0).hex().substr(8) + hex32(i));
            return list;
        };
        const auto shards = [](std::size_t count) {
            return nlohmann::json(std::vector<nlohmann::json>(count, sample_json()["validation"]));
        };
        QVERIFY(parses("backbones", keys(backbones_max)));
        QVERIFY(!parses("backbones", keys(backbones_max + 1)));
        QVERIFY(parses("allowed", keys(allowed_max)));
        QVERIFY(!parses("allowed", keys(allowed_max + 1)));
        QVERIFY(!parses("shards", shards(0)));
        QVERIFY(parses("shards", shards(1)));
        QVERIFY(parses("shards", shards(shards_max)));
        QVERIFY(!parses("shards", shards(shards_max + 1)));
    }

    void numbers_and_texts_end_at_their_limits_data() {
        QTest::addColumn<QString>("pointer");
        QTest::addColumn<QByteArray>("fits");
        QTest::addColumn<QByteArray>("beyond");
        const auto row = [](const char* pointer, const QByteArray& fits, const QByteArray& beyond) {
            QTest::addRow("%s %s", pointer, fits.left(20).constData()) << QString(pointer) << fits << beyond;
        };
        const auto text = [](int length) { return '"' + QByteArray(length, 'a') + '"'; };
        row("/name", text(80), text(81));
        row("/purpose", text(2'000), text(2'001));
        row("/licence", text(120), text(121));
        row("/created", "1099511627776", "1099511627777");  // created_max
        row("/created", "0", "-1");
        row("/bigram_loss", "1000", "1000.0000000000001");
        row("/bigram_loss", "0", "-5e-324");
    }
    void numbers_and_texts_end_at_their_limits() {
        QFETCH(const QString, pointer);
        QFETCH(const QByteArray, fits);
        QFETCH(const QByteArray, beyond);
        QVERIFY(parsed(changed(pointer, fits)).ok());
        QVERIFY(!parsed(changed(pointer, beyond)).ok());
    }

    void tokenizer_files_end_at_their_limits() {
        const auto parses = [](const char* kind, std::uint64_t model, std::optional<std::uint64_t> merges) {
            nlohmann::json object = sample_json();
            const nlohmann::json blob = object["validation"]["blob"];
            object["tokenizer"] = {{"kind", kind}, {"model", blob}};
            object["tokenizer"]["model"]["size"] = model;
            if (merges) {
                object["tokenizer"]["merges"] = blob;
                object["tokenizer"]["merges"]["size"] = *merges;
            }
            return parsed(object.dump()).ok();
        };
        QVERIFY(parses("sentencepiece", tokenizer_bytes_max, {}));
        QVERIFY(!parses("sentencepiece", tokenizer_bytes_max + 1, {}));
        QVERIFY(parses("bpe", bpe_file_bytes_max, bpe_file_bytes_max));
        QVERIFY(!parses("bpe", bpe_file_bytes_max + 1, bpe_file_bytes_max));
        QVERIFY(!parses("bpe", bpe_file_bytes_max, bpe_file_bytes_max + 1));
    }

    void a_token_has_32_bits_where_the_vocabulary_does_not_fit_16() {
        const auto parses = [](std::uint32_t vocabulary, std::uint64_t token_bytes) {
            Manifest manifest = samples::manifest();
            manifest.model.vocabulary = vocabulary;
            manifest.tokenizer = {TokenizerKind::none};
            manifest.initial_state.size = state_layout(manifest.model).file_size();
            for (Shard* shard : {&manifest.shards.front(), &manifest.validation}) {
                shard->blob.size = shard->records * (manifest.model.context + 1) * token_bytes;
            }
            manifest.shards.resize(1);
            return parsed(manifest.to_json_text()).ok();
        };
        QVERIFY(parses(65'536, 2));
        QVERIFY(!parses(65'536, 4));
        QVERIFY(!parses(65'537, 2));
        QVERIFY(parses(65'537, 4));
        QVERIFY(parses(151'936, 4));
    }

    void records_whose_bytes_wrap_around_are_refused() {
        // A record of this model has 34 bytes. So many records would have 2^64 + 16 bytes, which u64 shows as 16; only
        // records_max keeps such a number out, and blob_bytes_max any smaller one.
        const std::uint64_t records = 542'551'296'285'575'048ULL;
        QCOMPARE(records * 34, std::uint64_t{16});
        nlohmann::json object = sample_json();
        object["validation"]["records"] = records;
        object["validation"]["blob"]["size"] = 16;
        const Result<SignedManifest> result = parsed(object.dump());
        QVERIFY(!result.ok());
        QVERIFY2(result.error().message.find("records") != std::string::npos, result.error().message.c_str());
    }

    void a_field_out_of_range_is_refused_data() {
        QTest::addColumn<QString>("pointer");
        QTest::addColumn<QByteArray>("value");
        const auto row = [](const char* pointer, const QByteArray& value) {
            QTest::addRow("%s=%s", pointer, value.left(40).constData()) << QString(pointer) << value;
        };
        const QByteArray key(64, 'a');
        row("/name", "\"\"");
        row("/name", '"' + QByteArray(81, 'n') + '"');
        row("/name", "\"a\\u001b[2J\"");
        row("/name", "\"a\\u202eb\"");
        row("/name", "7");
        row("/purpose", '"' + QByteArray(2'001, 'p') + '"');
        row("/licence", "\"\"");
        row("/licence", "\"<script>\"");
        row("/host", "\"00\"");
        row("/host", '"' + QByteArray(64, 'g') + '"');
        row("/backbones", "{}");
        row("/backbones", "[1]");
        row("/backbones", "[\"" + key + "\",\"" + key.toUpper() + "\"]");
        row("/allowed", "[\"" + key + "\",\"" + key + "\"]");
        row("/created", "-1");
        row("/created", "1e300");
        row("/bigram_loss", "-0.5");
        row("/bigram_loss", "\"2\"");
        row("/model/layers", "0");
        row("/model/vocabulary", "255");
        row("/model/context", "17");
        row("/recipe/k", "0");
        row("/recipe/code", "1");
        row("/tokenizer/kind", "\"bpe\"");
        row("/tokenizer/model", "{}");
        row("/shards", "[]");
        row("/shards", "[[]]");
        row("/shards/0/records", "99");
        row("/shards/0/records", "101");
        row("/shards/0/records", "9223372036854775808");
        row("/shards/0/blob/size", "0");
        row("/shards/0/blob/kind", "\"closed\"");
        row("/shards/0/blob/info_hash", '"' + QByteArray(64, '0') + '"');
        row("/validation/blob/info_hash", '"' + key + '"');
        row("/validation/blob/root", "null");
        row("/initial_state/size", "28639");
        row("/hook", "\"rm -rf\"");
    }
    void a_field_out_of_range_is_refused() {
        QFETCH(const QString, pointer);
        QFETCH(const QByteArray, value);
        const Result<SignedManifest> result = parsed(changed(pointer, value));
        QVERIFY(!result.ok());
        QCOMPARE(result.error().code, ErrorCode::malformed);
        QVERIFY(!result.error().message.empty());
    }

    void a_hosts_computer_has_a_key_and_a_signature_or_neither() {
        Manifest manifest = samples::manifest();
        manifest.host_device = Device{samples::id<PeerId>(0xa1), {manifest.host, samples::signature(0x66)}};
        const Result<SignedManifest> whole = parsed(manifest.to_json_text());
        QVERIFY(whole.ok() && whole->manifest.host_device == manifest.host_device);
        const QByteArray host = '"' + QByteArray::fromStdString(manifest.host.hex()) + '"';
        QVERIFY(!parsed(changed("/host_device", host)).ok());
        QVERIFY(!parsed(changed("/host_device", '"' + QByteArray(64, 'a') + '"')).ok());
        QVERIFY(!parsed(changed("/host_device_signature", '"' + QByteArray(128, 'a') + '"')).ok());
        manifest.host_device->key = manifest.host;
        QVERIFY(!parsed(manifest.to_json_text()).ok());
    }

    void every_field_is_required() {
        const nlohmann::json whole = sample_json();
        QCOMPARE(whole.size(), std::size_t{16});
        for (const auto& [name, value] : whole.items()) {
            nlohmann::json object = whole;
            object.erase(name);
            QVERIFY2(!parsed(object.dump()).ok(), name.c_str());
        }
    }

    void names_are_counted_in_characters() {
        Manifest manifest = samples::manifest();
        manifest.name = repeated("\xc3\xbc", 80);
        QVERIFY(parsed(manifest.to_json_text()).ok());
        manifest.name += "!";
        QVERIFY(!parsed(manifest.to_json_text()).ok());
    }

    void bytes_that_are_no_manifest_are_refused() {
        const std::string json = samples::manifest().to_json_text();
        const Bytes whole = manifest_file(as_bytes(json), samples::signature());
        for (std::size_t size = 0; size < whole.size(); size += size < 80 ? 1 : 97) {
            QVERIFY(!parse_manifest_file(ByteSpan(whole).first(size)).ok());
        }
        for (std::size_t i = 0; i < 8; ++i) {
            Bytes other = whole;
            other[i] ^= std::byte{0x40};
            QVERIFY(!parse_manifest_file(other).ok());
        }
        QVERIFY(!parsed(json + "x").ok());
        QVERIFY(!parsed(json + json).ok());
        QVERIFY(!parsed(repeated("[", 100'000)).ok());
        QVERIFY(!parsed(json.substr(0, json.size() - 1) + ",\"name\":\"again\"}").ok());
    }

    void a_manifest_tells_its_protocol_whatever_it_is() {
        QVERIFY(protocol_version() >= 5);
        QCOMPARE(*protocol_of(as_bytes("PLKMAN7\nand what this version cannot read")), 7U);
        for (const char* none : {"", "PLKMAN7", "PLKMANx\n", "PLKPRF7\n"}) QVERIFY(!protocol_of(as_bytes(none)));
    }

    void a_manifest_of_another_protocol_is_answered_with_what_to_do_data() {
        QTest::addColumn<QByteArray>("magic");
        QTest::addColumn<int>("code");
        QTest::addColumn<QString>("advice");
        const int unavailable = static_cast<int>(ErrorCode::unavailable);
        QTest::newRow("oldest") << QByteArray("PLKMAN1\n") << unavailable << "started with an older Potluck";
        QTest::newRow("older") << QByteArray("PLKMAN5\n") << unavailable << "started with an older Potluck";
        QTest::newRow("next") << QByteArray("PLKMAN7\n") << unavailable << "update this one";
        QTest::newRow("far") << QByteArray("PLKMAN9\n") << unavailable << "update this one";
        const int malformed = static_cast<int>(ErrorCode::malformed);
        QTest::newRow("none") << QByteArray("PLKMAN0\n") << malformed << "not a manifest of Potluck";
        QTest::newRow("other") << QByteArray("PLKVOT1\n") << malformed << "not a manifest of Potluck";
    }
    void a_manifest_of_another_protocol_is_answered_with_what_to_do() {
        QFETCH(const QByteArray, magic);
        QFETCH(const int, code);
        QFETCH(const QString, advice);
        Bytes file = manifest_file(as_bytes(samples::manifest().to_json_text()), samples::signature());
        QVERIFY(parse_manifest_file(file).ok());
        std::transform(magic.begin(), magic.end(), file.begin(), [](char c) { return static_cast<std::byte>(c); });
        const Result<SignedManifest> result = parse_manifest_file(file);
        QVERIFY(!result.ok());
        QCOMPARE(static_cast<int>(result.error().code), code);
        QVERIFY2(result.error().message.find(advice.toStdString()) != std::string::npos,
                 result.error().message.c_str());
    }

    void a_recipe_of_before_is_incomplete() {
        for (const char* field : {"fit_rounds", "probation_rounds", "rounds_late_max"}) {
            nlohmann::json object = sample_json();
            object["recipe"].erase(field);
            const Result<SignedManifest> result = parsed(object.dump());
            QVERIFY(!result.ok());
            QVERIFY2(result.error().message.find(field) != std::string::npos, result.error().message.c_str());
        }
    }

    void a_manifest_beyond_one_mebibyte_is_refused() {
        std::string json = samples::manifest().to_json_text();
        json.resize(manifest_bytes_max, ' ');
        QVERIFY(parsed(json).ok());
        QVERIFY(!parsed(json + " ").ok());
    }
};

QTEST_APPLESS_MAIN(ManifestTest)
#include "test_manifest.moc"
