// Checkpoints leave and enter a run: what a run exports, another goes on from; what transformers saved is hosted as it
// is, or refused in one sentence.
#include <QFile>

#include <algorithm>
#include <cstring>

#include "core/base/files.h"
#include "core/base/json.h"
#include "core/model/hf_config.h"
#include "core/model/sparse_model.h"
#include "core/model/state_layout.h"
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
        QVERIFY(swarm.backbone().call("export", {{"folder", folder.string()}}).is_object());
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
        QVERIFY(swarm.backbone().call("export", {{"folder", folder.string()}}).is_object());
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
        QVERIFY(swarm.backbone().call("export", {{"folder", folder.string()}}).is_object());
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

    void what_cannot_be_gone_on_from_is_refused_in_one_sentence() {
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
