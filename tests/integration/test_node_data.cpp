// Runs from token files and with byte-level BPE: what the command line packs and hosts, and what a member then has.
#include <algorithm>
#include <fstream>

#include "core/base/files.h"
#include "core/base/json.h"
#include "core/data/vocabulary/train_vocabulary.h"
#include "core/model/hf_config.h"
#include "core/model/initial_state.h"
#include "core/model/presets.h"
#include "core/model/state_layout.h"
#include "core/pictures/picture.h"
#include "core/run/manifest.h"
#include "tests/integration/node_fixture.h"

using namespace potluck;
using namespace potluck::test;
namespace fs = std::filesystem;

namespace {

const QString tokenizer = QStringLiteral(POTLUCK_SOURCE_DIR "/tests/golden/tokenizer");

Bytes bytes_of(const fs::path& file) {
    auto bytes = read_file(file, 1 << 30);
    return bytes ? *bytes : Bytes();
}

/// How many of `shards` a node has whole, by the index of its blobs.
std::size_t whole_on_disk(const fs::path& data_folder, const std::vector<run::Shard>& shards) {
    return static_cast<std::size_t>(std::count_if(shards.begin(), shards.end(), [&](const run::Shard& shard) {
        return fs::exists(data_folder / "network" / "blobs" / (shard.blob.root.hex() + "-open.blob"));
    }));
}

/// The only run in a data folder.
fs::path run_in(const fs::path& data_folder) {
    for (const auto& entry : fs::directory_iterator(data_folder / "runs")) return entry.path();
    return {};
}

/// A model as `export` writes one, without a tokenizer.
void write_model(const model::ModelSpec& spec, const fs::path& folder) {
    std::vector<float> parameters(spec.parameters());
    model::fill_initial_state(spec, 1, parameters);
    fs::create_directories(folder);
    std::ofstream(folder / "config.json") << model::hugging_face_config(spec).dump();
    std::ofstream(folder / "model.safetensors", std::ios::binary)
        << as_text(model::state_layout(spec).header) << as_text(std::as_bytes(std::span(parameters)));
}

/// A picture coder of pictures of 16 pixels.
void write_coder(const fs::path& folder) {
    model::ModelSpec spec = model::reshaped(model::model_preset("coder-small").value(), {.width = 8});
    spec.coder.side = 16;
    spec.context = model::coder_context(spec.coder);
    write_model(spec, folder);
}

/// Plain pictures with captions, of so few shades that every coder here has a code for each.
void write_captioned(const fs::path& folder, int count) {
    fs::create_directories(folder);
    for (int i = 0; i < count; ++i) {
        pictures::Picture picture{16, 16, std::vector<std::uint8_t>(3 * 16 * 16, static_cast<std::uint8_t>(i % 40))};
        std::ofstream(folder / (std::to_string(i) + ".png"), std::ios::binary)
            << as_text(pictures::encode_png(picture).value());
        std::ofstream(folder / (std::to_string(i) + ".txt")) << "shade " << i << "\n";
    }
}

/// The shards of that run.
std::vector<run::Shard> shards_of(const fs::path& data_folder) {
    const Bytes file = bytes_of(run_in(data_folder) / "manifest");
    const auto manifest = run::parse_manifest_file(file);
    return manifest.ok() ? manifest->manifest.shards : std::vector<run::Shard>();
}

}  // namespace

class NodeDataTest : public QObject {
    Q_OBJECT

    QTemporaryDir m_temporary;
    fs::path folder(const char* name) const { return fs::path(m_temporary.path().toStdString()) / name; }
    QString path(const char* name) const { return QString::fromStdString(folder(name).string()); }

    Ended prepare(const char* data_folder, const QStringList& source) const {
        return run_node(QStringList{"host", "--prepare", "--layers", "1", "--width", "32", "--heads", "2", "--context",
                                    "32", "--data-dir", path(data_folder)} +
                        source);
    }

private slots:
    void a_run_from_packed_tokens_has_the_shards_of_a_run_from_text_data() {
        QTest::addColumn<QString>("format");
        QTest::newRow("nanogpt") << "nanogpt";
        QTest::newRow("llmc") << "llmc";
    }
    void a_run_from_packed_tokens_has_the_shards_of_a_run_from_text() {
        QFETCH(QString, format);
        write_text(folder("text") / "words.txt", 400'000);
        const QByteArray packed = "packed-" + format.toUtf8(), from_tokens = "from-" + format.toUtf8(),
                         from_text = "text-" + format.toUtf8();
        const Ended pack = run_node(
            {"pack", "--text", path("text"), "--tokenizer", tokenizer, "--format", format, path(packed.constData())});
        QVERIFY2(pack.code == 0, qPrintable(pack.err));
        const Ended tokens =
            prepare(from_tokens.constData(), {"--tokens", path(packed.constData()), "--tokenizer", tokenizer});
        QVERIFY2(tokens.code == 0, qPrintable(tokens.err));
        const Ended text = prepare(from_text.constData(), {"--text", path("text"), "--tokenizer", tokenizer});
        QVERIFY2(text.code == 0, qPrintable(text.err));
        for (const char* file : {"data/shard-0000.tokens", "data/validation.tokens", "vocab.json", "merges.txt"}) {
            const Bytes one = bytes_of(run_in(folder(from_tokens.constData())) / file);
            QVERIFY2(!one.empty() && one == bytes_of(run_in(folder(from_text.constData())) / file), file);
        }
    }

    void an_encoder_is_hosted_with_a_vocabulary_trained_on_its_text() {
        write_text(folder("own") / "words.txt", 400'000);
        for (const std::uint32_t wrong : {data::trained_vocabulary_min - 1, data::trained_vocabulary_max + 1}) {
            const QString pieces = QString::number(wrong);
            QCOMPARE(run_node({"pack", "--text", path("own"), "--train-vocabulary", pieces, path("none")}).code, 2);
        }
        const Ended pack = run_node({"pack", "--text", path("own"), "--train-vocabulary", "300", path("own-packed")});
        QVERIFY2(pack.code == 0, qPrintable(pack.err));
        QVERIFY(pack.out.contains("--model albert-tiny"));
        const QString vocabulary = path("own-packed/tokenizer.model");
        const Ended host = run_node({"host", "--prepare", "--model", "albert-tiny", "--text", path("own"),
                                     "--tokenizer", vocabulary, "--data-dir", path("own-run")});
        QVERIFY2(host.code == 0, qPrintable(host.err));
        QVERIFY(bytes_of(run_in(folder("own-run")) / "tokenizer.model") == bytes_of(vocabulary.toStdString()));
        const Ended again = run_node({"pack", "--text", path("own"), "--train-vocabulary", "300", path("own-packed")});
        QVERIFY(again.code != 0 && again.err.contains("give another folder"));
    }

    void a_dalle_is_hosted_from_captioned_pictures_or_from_what_pack_made_of_them() {
        write_captioned(folder("captioned"), 150);
        write_coder(folder("coder"));
        const QStringList model = {"host",    "--prepare", "--model", "dalle-emoji", "--layers", "5",
                                   "--width", "48",        "--heads", "4",           "--coder",  path("coder")};
        const Ended direct =
            run_node(model + QStringList{"--pictures", path("captioned"), "--data-dir", path("drawn")});
        QVERIFY2(direct.code == 0, qPrintable(direct.err));
        const Ended pack = run_node({"pack", "--pictures", path("captioned"), "--coder", path("coder"), path("codes")});
        QVERIFY2(pack.code == 0, qPrintable(pack.err));
        QVERIFY(pack.out.contains("--model dalle-emoji --tokens") &&
                !fs::exists(folder("codes") / "coder.safetensors"));
        const Ended packed = run_node(model + QStringList{"--tokens", path("codes"), "--data-dir", path("from-codes")});
        QVERIFY2(packed.code == 0, qPrintable(packed.err));
        for (const char* file : {"data/validation.tokens", "coder.safetensors"}) {
            const Bytes one = bytes_of(run_in(folder("drawn")) / file);
            QVERIFY2(!one.empty() && one == bytes_of(run_in(folder("from-codes")) / file), file);
        }
        QVERIFY(bytes_of(run_in(folder("drawn")) / "coder.safetensors") ==
                bytes_of(folder("coder") / "model.safetensors"));
        const Ended sample =
            run_node({"sample", "--data-dir", path("drawn"), "--prompt", "shade 3", "--picture", path("sample.png")});
        QVERIFY2(sample.code == 0 && sample.out.contains("sample.png"), qPrintable(sample.err));
        const auto drawn = pictures::decode_picture(bytes_of(folder("sample.png")));
        QVERIFY(drawn.ok() && drawn->width == 16 && drawn->height == 16);
        QVERIFY(run_node({"sample", "--data-dir", path("drawn")}).err.contains("--prompt"));
        const Ended exported = run_node({"export", "--data-dir", path("drawn"), path("drawn-model")});
        QVERIFY2(exported.code == 0, qPrintable(exported.err));
        QVERIFY(bytes_of(folder("drawn-model") / "coder" / "model.safetensors") ==
                bytes_of(folder("coder") / "model.safetensors"));
        const Ended from =
            run_node({"sample", "--from", path("drawn-model"), "--prompt", "shade 3", "--picture", path("again.png")});
        QVERIFY2(from.code == 0, qPrintable(from.err));
        QVERIFY(bytes_of(folder("again.png")) == bytes_of(folder("sample.png")));
        // What was exported finds its coder beside it.
        const Ended again = run_node({"host", "--prepare", "--from", path("drawn-model"), "--pictures",
                                      path("captioned"), "--data-dir", path("goes-on")});
        QVERIFY2(again.code == 0, qPrintable(again.err));
    }

    void a_swav_shows_held_out_pictures_with_those_nearest_to_them() {
        write_captioned(folder("unnamed"), 150);
        const Ended host = run_node({"host", "--prepare", "--model", "swav-tiny", "--side", "16", "--pictures",
                                     path("unnamed"), "--data-dir", path("compared")});
        QVERIFY2(host.code == 0, qPrintable(host.err));
        const Ended sample = run_node({"sample", "--data-dir", path("compared"), "--picture", path("nearest.png")});
        QVERIFY2(sample.code == 0, qPrintable(sample.err));
        QVERIFY(sample.out.contains("nearest.png\n") && sample.out.contains("the 8 that are nearest"));
        const auto shown = pictures::decode_picture(bytes_of(folder("nearest.png")));
        QVERIFY(shown.ok() && shown->width == 9 * 16 + 4 && shown->height == 4 * 16);
        // The trainer of paper takes those that follow; each picture is of one shade.
        const Bytes held_out = bytes_of(run_in(folder("compared")) / "data" / "validation.tokens");
        const std::size_t length = 2 * (3 * 16 * 16 + 1), records = held_out.size() / length;
        for (std::size_t row = 0; row < 4; ++row) {
            for (std::size_t column = 0; column < 9; ++column) {
                const std::size_t number = (row * records / 4 + column) % records;
                const std::size_t left = column == 0 ? 0 : column * 16 + 4;
                QCOMPARE(std::byte{shown->rgb[3 * (row * 16 * shown->width + left)]}, held_out[number * length]);
            }
        }
    }

    void a_checkpoint_of_swav_compares_the_pictures_of_a_folder() {
        model::ModelSpec spec = model::model_preset("swav-tiny").value();
        spec.swav.side = 16;
        spec.context = model::swav_context(spec.swav);
        write_model(spec, folder("swav"));
        write_coder(folder("coder-alone"));
        write_captioned(folder("single"), 1);
        write_captioned(folder("ten"), 10);
        const QStringList sample = {"sample", "--from", path("swav"), "--picture", path("some.png")};
        const auto refusal = [&](const QStringList& arguments) {
            const Ended ended = run_node(arguments);
            return ended.code != 0 ? ended.err : QString();
        };
        QVERIFY(refusal(sample).contains("with --pictures"));
        QVERIFY(refusal({"sample", "--pictures", path("ten")}).contains("--from"));
        QVERIFY(refusal(sample + QStringList{"--pictures", path("nowhere")}).contains("no folder"));
        QVERIFY(refusal(sample + QStringList{"--pictures", path("single")}).contains("fewer than two"));
        QVERIFY(refusal({"sample", "--from", path("coder-alone"), "--pictures", path("ten")}).contains("SwAV"));
        QVERIFY(!fs::exists(folder("some.png")));
        const Ended ten = run_node(sample + QStringList{"--pictures", path("ten")});
        QVERIFY2(ten.code == 0, qPrintable(ten.err));
        const auto shown = pictures::decode_picture(bytes_of(folder("some.png")));
        QVERIFY(shown.ok() && shown->width == 9 * 16 + 4 && shown->height == 4 * 16);
        const std::vector<std::uint8_t> queries = {0, 2, 5, 7};  // of ten, whose shades are their numbers
        for (std::size_t row = 0; row < queries.size(); ++row)
            QCOMPARE(shown->rgb[3 * row * 16 * shown->width], queries[row]);
    }

    void a_dalle_is_hosted_with_a_coder_that_diffusers_saved() {
        write_captioned(folder("shades"), 150);
        const QString saved = POTLUCK_SOURCE_DIR "/tests/golden/training/vqmodel";
        const Ended host =
            run_node({"host", "--prepare", "--model", "dalle-emoji", "--layers", "5", "--width", "48", "--heads", "4",
                      "--coder", saved, "--pictures", path("shades"), "--data-dir", path("shaded")});
        QVERIFY2(host.code == 0, qPrintable(host.err));
        const Ended sample =
            run_node({"sample", "--data-dir", path("shaded"), "--prompt", "shade 3", "--picture", path("shade.png")});
        QVERIFY2(sample.code == 0, qPrintable(sample.err));
        const auto drawn = pictures::decode_picture(bytes_of(folder("shade.png")));
        QVERIFY(drawn.ok() && drawn->width == 16 && drawn->height == 16);
        const Ended exported = run_node({"export", "--data-dir", path("shaded"), path("shaded-model")});
        QVERIFY2(exported.code == 0, qPrintable(exported.err));
        const Ended from = run_node(
            {"sample", "--from", path("shaded-model"), "--prompt", "shade 3", "--picture", path("shade-again.png")});
        QVERIFY2(from.code == 0, qPrintable(from.err));
        QVERIFY(bytes_of(folder("shade-again.png")) == bytes_of(folder("shade.png")));
        const Ended trained = run_node(
            {"host", "--prepare", "--from", saved, "--pictures", path("shades"), "--data-dir", path("not-trained")});
        QVERIFY2(trained.code != 0 && trained.err.contains("--coder"), qPrintable(trained.err));
    }

    void unfit_options_for_a_dalle_run_are_refused_in_a_sentence() {
        write_captioned(folder("few"), 20);
        write_coder(folder("a-coder"));
        write_text(folder("words") / "words.txt");
        const auto refusal = [&](const QStringList& source) {
            const Ended ended = run_node(QStringList{"host", "--prepare", "--data-dir", path("refused")} + source);
            return ended.code != 0 ? ended.err : QString();
        };
        const QStringList dalle = {"--model", "dalle-emoji"}, coder = {"--coder", path("a-coder")};
        QVERIFY(refusal(dalle + QStringList{"--pictures", path("few")}).contains("--coder"));
        QVERIFY(refusal(dalle + coder + QStringList{"--text", path("words")}).contains("--pictures"));
        QVERIFY(refusal(dalle + coder + QStringList{"--pictures", path("few")}).contains("64 are needed"));
        QVERIFY(
            refusal(dalle + QStringList{"--coder", path("few"), "--pictures", path("few")}).contains("config.json"));
        QVERIFY(
            refusal(dalle + coder + QStringList{"--context", "64", "--pictures", path("few")}).contains("--caption"));
        QVERIFY(refusal(coder + QStringList{"--text", path("words")}).contains("--model dalle-emoji"));
        QVERIFY(refusal({"--caption", "9", "--text", path("words")}).contains("--model dalle-emoji"));
        QVERIFY(refusal({"--model", "tiny", "--pictures", path("few")}).contains("dalle-emoji"));
        QVERIFY(run_node({"pack", path("nothing")}).err.contains("--text or --pictures"));
        QVERIFY(run_node({"pack", "--pictures", path("few"), path("nothing")}).code != 0);
        const Ended text = run_node({"pack", "--pictures", path("few"), "--coder", path("words"), path("nothing")});
        QVERIFY2(text.code != 0 && text.err.contains("config.json"), qPrintable(text.err));
        QVERIFY(!fs::exists(folder("nothing") / "train.bin"));
    }

    void tokens_need_a_vocabulary_and_text_or_tokens_are_needed() {
        fs::create_directories(folder("bare"));
        std::ofstream(folder("bare") / "train.bin", std::ios::binary) << std::string(200'000, '\1');
        QVERIFY(prepare("none", {"--tokens", path("bare")}).err.contains("--vocabulary"));
        QVERIFY(
            prepare("none", {"--tokens", path("bare"), "--vocabulary", "100"}).err.contains("token 257 at position 0"));
        QVERIFY(prepare("none", {}).err.contains("--text, --tokens or --pictures"));
        const Ended made = prepare("bare-run", {"--tokens", path("bare"), "--vocabulary", "300"});
        QCOMPARE(made.code, 0);
        // What it chose where nothing was said.
        QVERIFY2(made.out.contains("rounds: 1000, each with a window of 5 s: at least 83 minutes"),
                 qPrintable(made.out));
    }

    void a_member_fetches_the_tokenizer_and_exports_it() {
        Swarm swarm;
        swarm.host(3, {"--tokenizer", tokenizer});
        ServingNode& anna = swarm.volunteer("anna");
        QVERIFY(swarm.all_end_equal(40'000));
        const fs::path exported = folder("exported");
        const nlohmann::json answer = anna.call("export", {{"folder", exported.string()}});
        QVERIFY2(answer.contains("files"), anna.error().c_str());
        for (const char* file : {"vocab.json", "merges.txt"})
            QVERIFY(bytes_of(exported / file) == bytes_of(fs::path(tokenizer.toStdString()) / file));
        const auto config = parse_json(as_text(bytes_of(exported / "tokenizer_config.json")), 10'000);
        QVERIFY(config.ok());
        QCOMPARE(config->at("tokenizer_class").get<std::string>(), std::string("GPT2Tokenizer"));
        QCOMPARE(config->at("eos_token").get<std::string>(), std::string("<|endoftext|>"));
    }

    /// As SmolLM's folders hold it: one file, in which digits are cut off first.
    void a_member_exports_a_tokenizer_json_as_it_was() {
        Swarm swarm;
        const fs::path source = swarm.root() / "tokenizer.json";
        const fs::path given = tokenizer.toStdString();
        nlohmann::json file = {{"normalizer", nullptr}, {"pre_tokenizer", nlohmann::json::object()}};
        file["pre_tokenizer"] = {{"type", "Sequence"},
                                 {"pretokenizers",
                                  {{{"type", "Digits"}, {"individual_digits", true}},
                                   {{"type", "ByteLevel"}, {"add_prefix_space", false}}}}};
        file["model"] = {{"type", "BPE"},
                         {"vocab", parse_json(as_text(bytes_of(given / "vocab.json")), 1 << 20U).value()},
                         {"merges", nlohmann::json::array({"e r"})}};
        std::ofstream(source) << file.dump();
        swarm.host(3, {"--tokenizer", QString::fromStdString(source.string())});
        ServingNode& anna = swarm.volunteer("anna");
        QVERIFY(swarm.all_end_equal(40'000));
        const fs::path exported = folder("exported-json");
        const nlohmann::json answer = anna.call("export", {{"folder", exported.string()}});
        QVERIFY2(answer.contains("files"), anna.error().c_str());
        QVERIFY(bytes_of(exported / "tokenizer.json") == bytes_of(source));
        const auto config = parse_json(as_text(bytes_of(exported / "tokenizer_config.json")), 10'000);
        QCOMPARE(config->at("tokenizer_class").get<std::string>(), std::string("PreTrainedTokenizerFast"));
    }

    void a_newcomer_finds_every_shard_after_the_host_is_gone() {
        Swarm swarm;
        write_text(swarm.root() / "text" / "more.txt", 18'000'000);
        swarm.host(400, swarm.allowing({"anna", "ben", "cleo", "dora"}) + QStringList{"--fit-rounds", "2"});
        const std::vector<run::Shard> shards = shards_of(swarm.backbone().folder());
        QVERIFY(shards.size() >= 3);
        for (const char* name : {"anna", "ben", "cleo"}) swarm.volunteer(name);
        ServingNode& anna = *swarm.volunteers()[0];
        const auto all_have_all = [&](const auto&) {
            return std::all_of(swarm.volunteers().begin(), swarm.volunteers().end(), [&](const auto& node) {
                return whole_on_disk(node->folder(), shards) == shards.size();
            });
        };
        QVERIFY(anna.wait_for(all_have_all, 90'000));
        QVERIFY(anna.wait_for_round(6, 60'000));
        swarm.backbone().kill();
        ServingNode dora(swarm.root() / "dora");
        dora.start({"--dht", "127.0.0.1:" + QString::number(anna.status().network.port), "--name-of-node", "dora"});
        dora.call("join", {{"invite", swarm.invite()}});
        QVERIFY(
            dora.wait_for([&](const auto&) { return whole_on_disk(dora.folder(), shards) == shards.size(); }, 60'000));
        QVERIFY(dora.wait_for([](const auto& now) { return now.run && now.run->my_tokens > 0; }, 60'000));
    }

    void a_disk_limit_that_holds_no_shard_is_told_with_what_to_do() {
        Swarm swarm;
        write_text(swarm.root() / "text" / "more.txt", 9'000'000);
        swarm.host(400);
        QVERIFY(shards_of(swarm.backbone().folder())[0].blob.size > 8U << 20U);
        ServingNode& anna = swarm.volunteer("anna");
        ServingNode ben(swarm.root() / "ben");
        ben.start({"--dht", "127.0.0.1:" + QString::number(anna.status().network.port), "--disk", "10MiB"});
        ben.call("join", {{"invite", swarm.invite()}});
        QVERIFY(ben.wait_for([](const auto& now) { return now.reason.find("--disk") != std::string::npos; }, 30'000));
        const std::uint64_t round = ben.status().run->round;
        QVERIFY(ben.wait_for_round(round + 2, 30'000));
        // With room for it, the same node fetches it and trains.
        QCOMPARE(ben.close(), 0);
        ben.start({"--dht", "127.0.0.1:" + QString::number(anna.status().network.port), "--disk", "100MiB"});
        QVERIFY(ben.wait_for([](const auto& now) { return now.run && now.run->my_tokens > 0; }, 60'000));
    }
};

QTEST_GUILESS_MAIN(NodeDataTest)
#include "test_node_data.moc"
