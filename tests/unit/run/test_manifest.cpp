#include <QTest>

#include "core/base/json.h"
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

std::string repeated(std::string_view text, std::size_t times) {
    std::string all;
    for (std::size_t i = 0; i < times; ++i) all += text;
    return all;
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

    void the_largest_lists_fit_into_a_manifest() {
        Manifest manifest = samples::manifest();
        manifest.shards.assign(shards_max, manifest.shards.front());
        QVERIFY(parsed(manifest.to_json_text()).ok());
        manifest.shards.push_back(manifest.shards.front());
        QVERIFY(!parsed(manifest.to_json_text()).ok());
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

    void every_field_is_required() {
        const nlohmann::json whole = sample_json();
        QCOMPARE(whole.size(), std::size_t{14});
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
        Bytes other = whole;
        other[6] = std::byte{'2'};
        QVERIFY(!parse_manifest_file(other).ok());
        QVERIFY(!parsed(json + "x").ok());
        QVERIFY(!parsed(json + json).ok());
        QVERIFY(!parsed(repeated("[", 100'000)).ok());
        QVERIFY(!parsed(json.substr(0, json.size() - 1) + ",\"name\":\"again\"}").ok());
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
