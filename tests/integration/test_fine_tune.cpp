// Checkpoints leave and enter a run: what a run exports, another goes on from; what transformers saved is hosted as it
// is, or refused in one sentence.
#include <QFile>

#include <algorithm>
#include <cstring>
#include <fstream>

#include "core/base/files.h"
#include "core/base/json.h"
#include "core/data/byte_bpe.h"
#include "core/model/hf_config.h"
#include "core/model/initial_state.h"
#include "core/model/presets.h"
#include "core/model/sparse_model.h"
#include "core/model/state_layout.h"
#include "core/model/token.h"
#include "tests/integration/node_fixture.h"

using namespace potluck;
using namespace potluck::test;
namespace fs = std::filesystem;

namespace {

const fs::path tokenizer = fs::path(POTLUCK_SOURCE_DIR) / "tests" / "golden" / "tokenizer";
const fs::path checkpoints = fs::path(POTLUCK_SOURCE_DIR) / "tests" / "golden" / "checkpoints";

QString text_of(const fs::path& path) { return QString::fromStdString(path.string()); }

/// Makes a run in `home` from a checkpoint, without serving it.
Ended host_from(const fs::path& checkpoint, const Swarm& swarm, const fs::path& home, const QStringList& more = {}) {
    return run_node(QStringList{"host", "--prepare", "--data-dir", text_of(home), "--text",
                                text_of(swarm.root() / "text"), "--from", text_of(checkpoint)} +
                    more);
}

/// The folder of the only run in `home`.
fs::path only_run(const fs::path& home) {
    fs::path found;
    for (const auto& entry : fs::directory_iterator(home / "runs")) found = entry.path();
    return found;
}

std::string first_digest(const fs::path& home) {
    const auto text = read_file(only_run(home) / "states" / "index.json", 1 << 20U);
    return text ? std::string(as_text(*text)) : std::string();
}

Bytes content(const fs::path& file) { return read_file(file, 64U << 20U).value(); }

model::ModelSpec model_of(const fs::path& exported) {
    return model::parse_hugging_face_config(content(exported / "config.json")).value();
}

/// Letters of a word that occurs in every text of these tests, and the merges that make one token of it.
const std::vector<std::string> word_tokens{"wo", "rd", "word", "Ġword"};
const std::vector<std::string> word_merges{"w o", "r d", "wo rd", "Ġ word"};

/// A tokenizer.json as Llama 3 or Qwen2 has it, whose last tokens are `word_tokens` and one that is added.
nlohmann::json large_tokenizer(data::WordPattern pattern, std::uint32_t tokens) {
    nlohmann::json vocabulary = nlohmann::json::object();
    for (unsigned byte = 0; byte < 256; ++byte) vocabulary[data::byte_symbol(static_cast<unsigned char>(byte))] = byte;
    while (vocabulary.size() + word_tokens.size() + 1 < tokens) {
        vocabulary["unused" + std::to_string(vocabulary.size())] = vocabulary.size();
    }
    for (const std::string& token : word_tokens) vocabulary[token] = vocabulary.size();
    const bool llama3 = pattern == data::WordPattern::llama3;
    const nlohmann::json split = {{"type", "Split"},
                                  {"pattern", {{"Regex", data::pattern_in_files(pattern)}}},
                                  {"behavior", "Isolated"},
                                  {"invert", false}};
    const nlohmann::json bytes = {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}};
    nlohmann::json file = {
        {"added_tokens",
         {{{"id", tokens - 1}, {"content", llama3 ? "<|begin_of_text|>" : "<|endoftext|>"}, {"special", true}}}},
        {"normalizer", nullptr},
        {"pre_tokenizer", {{"type", "Sequence"}, {"pretokenizers", {split, bytes}}}},
        {"model", {{"type", "BPE"}, {"ignore_merges", llama3}, {"vocab", vocabulary}, {"merges", word_merges}}}};
    if (!llama3) file["normalizer"] = {{"type", "NFC"}};
    return file;
}

/// A random model of more tokens than 16 bits count, saved as transformers saves it.
model::ModelSpec save_large_checkpoint(const fs::path& folder, data::WordPattern pattern) {
    const bool llama3 = pattern == data::WordPattern::llama3;
    model::ModelSpec model = model::model_preset("llama-tiny").value();
    model.vocabulary = 70'000;
    model.context = 64;
    model.layers = 1;
    model.heads = 2;
    model.width = 16;
    model.llama.kv_heads = 1;
    model.llama.head_width = 8;
    model.llama.inner = 24;
    model.llama.qkv_bias = !llama3;
    model.llama.tied = !llama3;
    const model::StateLayout layout = model::state_layout(model);
    std::vector<float> parameters(static_cast<std::size_t>(layout.parameters));
    model::fill_initial_state(model, 5, parameters);
    fs::create_directories(folder);
    std::ofstream(folder / "model.safetensors", std::ios::binary)
        << as_text(layout.header) << as_text(std::as_bytes(std::span(parameters)));
    std::ofstream(folder / "config.json") << model::hugging_face_config(model);
    std::ofstream(folder / "tokenizer.json") << large_tokenizer(pattern, model.vocabulary - 10).dump();
    return model;
}

}  // namespace

class FineTuneTest : public QObject {
    Q_OBJECT
private slots:
    void an_exported_model_is_the_first_state_of_another_run_data() {
        QTest::addColumn<QStringList>("model");
        QTest::addRow("gpt2") << QStringList{};
        QTest::addRow("opt") << QStringList{"--model", "opt-125m"};
        QTest::addRow("opt, post-norm") << QStringList{"--model", "opt-350m"};
        QTest::addRow("llama") << QStringList{"--model", "llama-tiny"};
    }
    void an_exported_model_is_the_first_state_of_another_run() {
        QFETCH(const QStringList, model);
        Swarm swarm;
        swarm.host(2, model);
        swarm.volunteer("anna");
        QVERIFY(swarm.all_end_equal(30'000));
        const std::string digest = swarm.backbone().status().run->digest;
        const fs::path folder = swarm.root() / "exported";
        QVERIFY2(swarm.exports_the_end(folder), swarm.backbone().error().c_str());

        const Ended again = host_from(folder, swarm, swarm.root() / "again");
        QVERIFY2(again.code == 0, qPrintable(again.err));
        QVERIFY2(first_digest(swarm.root() / "again").find(digest) != std::string::npos, digest.c_str());
        const Ended longer = host_from(folder, swarm, swarm.root() / "longer", {"--context", "64"});
        QVERIFY(longer.code != 0);
        QVERIFY2(longer.err.contains("positions for 32 tokens"), qPrintable(longer.err));
    }

    void an_exported_tokenizer_is_found_beside_the_model_and_may_be_smaller() {
        Swarm swarm;
        swarm.host(2, {"--tokenizer", text_of(tokenizer), "--vocabulary", "1536"});
        const fs::path folder = swarm.root() / "exported";
        QVERIFY(swarm.exports(folder));
        QCOMPARE(model_of(folder).vocabulary, 1'536U);
        const Ended again = host_from(folder, swarm, swarm.root() / "again");
        QVERIFY2(again.code == 0, qPrintable(again.err));
        QVERIFY(content(only_run(swarm.root() / "again") / "vocab.json") == content(tokenizer / "vocab.json"));
        QVERIFY(content(only_run(swarm.root() / "again") / "data" / "initial.safetensors") ==
                content(folder / "model.safetensors"));
    }

    void a_shorter_context_cuts_the_positions() {
        Swarm swarm;
        swarm.host(2);
        const fs::path folder = swarm.root() / "exported";
        QVERIFY(swarm.exports(folder));
        const Ended made = host_from(folder, swarm, swarm.root() / "short", {"--context", "16", "--dropout", "0.1"});
        QVERIFY2(made.code == 0, qPrintable(made.err));
        model::ModelSpec model = model_of(folder);
        const model::StateLayout whole = model::state_layout(model);
        model.context = 16;
        const model::StateLayout cut = model::state_layout(model);
        const Bytes old_state = content(folder / "model.safetensors");
        const Bytes state = content(only_run(swarm.root() / "short") / "data" / "initial.safetensors");
        const auto before = model::parameters_of(whole, old_state), after = model::parameters_of(cut, state);
        QVERIFY(before.ok() && after.ok());
        const std::size_t kept = std::size_t{256 + 16} * 32, dropped = std::size_t{16} * 32;
        QVERIFY(std::equal(after->begin(), after->begin() + kept, before->begin()));
        QVERIFY(std::equal(after->begin() + kept, after->end(), before->begin() + kept + dropped, before->end()));
    }

    void rotary_positions_are_made_for_any_context_of_a_checkpoint() {
        Swarm swarm;
        swarm.host(2, {"--model", "llama-tiny"});
        const fs::path folder = swarm.root() / "exported";
        QVERIFY(swarm.exports(folder));
        const Ended made = host_from(folder, swarm, swarm.root() / "short", {"--context", "16"});
        QVERIFY2(made.code == 0, qPrintable(made.err));
        model::ModelSpec model = model_of(folder);
        const Bytes state = content(only_run(swarm.root() / "short") / "data" / "initial.safetensors");
        model.context = 16;
        QVERIFY(model::parameters_of(model::state_layout(model), state).ok());
        QVERIFY(state == content(folder / "model.safetensors"));
    }

    void a_sparse_export_has_half_zeros_where_they_belong() {
        Swarm swarm;
        swarm.host(2, {"--model", "opt-125m"});
        const fs::path dense = swarm.root() / "dense", sparse = swarm.root() / "sparse";
        QVERIFY(swarm.backbone().call("export", {{"folder", dense.string()}}).is_object());
        const Ended told = run_node({"export", text_of(sparse), "--sparse-2-4", "--data-dir", swarm.backbone().data()});
        QVERIFY2(told.code == 0, qPrintable(told.err));
        QVERIFY2(told.out.contains("6144 of the 12288 weights in attention and MLP are zero"), qPrintable(told.out));

        const model::ModelSpec model = model_of(sparse);
        const model::StateLayout layout = model::state_layout(model);
        const Bytes pruned = content(sparse / "model.safetensors"), whole = content(dense / "model.safetensors");
        const auto got = model::parameters_of(layout, pruned), original = model::parameters_of(layout, whole);
        QVERIFY(got.ok() && original.ok());
        std::vector<float> expected(original->begin(), original->end());
        QCOMPARE(model::prune_2_of_4(model, expected).zeros, std::uint64_t{6'144});
        QVERIFY(std::equal(expected.begin(), expected.end(), got->begin(), got->end()));
        QVERIFY(!fs::exists(sparse / "model.safetensors.partial"));
    }

    void an_unusable_checkpoint_is_refused_in_one_sentence() {
        Swarm swarm;
        write_text(swarm.root() / "text" / "words.txt");
        const auto refusal = [&](const fs::path& folder, const QStringList& more = {}) {
            const Ended ended = host_from(folder, swarm, swarm.root() / "home", more);
            return ended.code == 0 ? QString() : ended.err;
        };
        QVERIFY(refusal(swarm.root() / "nowhere").contains("holds no config.json"));
        QVERIFY(refusal(checkpoints / "opt_fp16").contains("give its tokenizer with --tokenizer"));

        QVERIFY(
            refusal(checkpoints / "opt_fp16", {"--tokenizer", text_of(tokenizer)}).contains("and the checkpoint 20"));

        const fs::path broken = swarm.root() / "broken";
        fs::create_directories(broken);
        fs::copy_file(checkpoints / "gpt2_bf16_sharded" / "config.json", broken / "config.json");
        QVERIFY(refusal(broken).contains("holds no model.safetensors"));
    }

    void more_tokens_than_a_tokenizer_may_have_are_refused() {
        Swarm swarm;
        write_text(swarm.root() / "text" / "words.txt");
        const fs::path large = swarm.root() / "large";
        fs::create_directories(large);
        fs::copy_file(checkpoints / "llama_fp32" / "model.safetensors", large / "model.safetensors");
        nlohmann::json config =
            parse_json(as_text(content(checkpoints / "llama_fp32" / "config.json")), 1 << 20U).value();
        config["vocab_size"] = 262'145;
        std::ofstream(large / "config.json") << config.dump();
        const Ended refused = host_from(large, swarm, swarm.root() / "home", {"--tokenizer", text_of(tokenizer)});
        QVERIFY(refused.code != 0);
        QVERIFY2(refused.err.contains("trains at most 262144"), qPrintable(refused.err));
    }

    void a_vocabulary_beyond_16_bits_is_hosted_and_exported_data() {
        QTest::addColumn<int>("pattern");
        QTest::addRow("as Llama 3") << static_cast<int>(data::WordPattern::llama3);
        QTest::addRow("as Qwen2") << static_cast<int>(data::WordPattern::qwen2);
    }
    void a_vocabulary_beyond_16_bits_is_hosted_and_exported() {
        QFETCH(const int, pattern);
        Swarm swarm;
        const fs::path checkpoint = swarm.root() / "checkpoint", folder = swarm.root() / "exported";
        const model::ModelSpec model = save_large_checkpoint(checkpoint, static_cast<data::WordPattern>(pattern));
        swarm.host_model(2, {"--from", text_of(checkpoint)});

        const fs::path shard = only_run(swarm.root() / "host") / "data" / "validation.tokens";
        const Bytes stored = content(shard);
        std::vector<model::Token> tokens(stored.size() / 4);
        model::load_tokens(stored, model::TokenWidth::bits32, tokens);
        const model::Token word = model.vocabulary - 10 - 2;
        QVERIFY(std::count(tokens.begin(), tokens.end(), word) > 100);
        QVERIFY(std::ranges::all_of(tokens, [&](model::Token token) { return token < model.vocabulary - 10; }));

        swarm.volunteer("anna");
        QVERIFY(swarm.all_end_equal(60'000));
        QVERIFY2(swarm.exports_the_end(folder), swarm.backbone().error().c_str());
        QCOMPARE(model_of(folder).vocabulary, model.vocabulary);
        QVERIFY(content(folder / "tokenizer.json") == content(checkpoint / "tokenizer.json"));
    }

    void a_checkpoint_of_transformers_is_hosted_from_its_files_data() {
        QTest::addColumn<QString>("folder");
        for (const char* name : {"gpt2_bytes", "opt_bytes_sharded", "llama_bytes"})
            QTest::addRow("%s", name) << QString(name);
    }
    void a_checkpoint_of_transformers_is_hosted_from_its_files() {
        QFETCH(const QString, folder);
        Swarm swarm;
        write_text(swarm.root() / "text" / "words.txt");
        const fs::path checkpoint = checkpoints / folder.toStdString();
        const Ended made = host_from(checkpoint, swarm, swarm.root() / "home");
        QVERIFY2(made.code == 0, qPrintable(made.err));
        const Bytes state = content(only_run(swarm.root() / "home") / "data" / "initial.safetensors");
        const auto parameters = model::parameters_of(model::state_layout(model_of(checkpoint)), state);
        QVERIFY(parameters.ok());
        const Bytes expected = content(checkpoint / "expected.f32");
        QCOMPARE(expected.size(), 4 * parameters->size());
        QCOMPARE(std::memcmp(parameters->data(), expected.data(), expected.size()), 0);
    }
};

QTEST_GUILESS_MAIN(FineTuneTest)
#include "test_fine_tune.moc"
