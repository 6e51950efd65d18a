// What leaves a run. A real run's model is proven by what `export` writes beside it, without a node: `potluck-node
// verify` takes it, names the byte that was changed and the certificate that was forged, and says so by its exit code.
// `potluck-node page` shows the run, of a node or of its folder.
#include "tests/integration/node_fixture.h"

#include "core/base/files.h"

using namespace potluck;
using namespace potluck::test;
namespace fs = std::filesystem;

namespace {

QString text_of(const fs::path& path) { return QString::fromStdString(path.string()); }

void change_byte(const fs::path& file, std::uint64_t at, std::byte mask) {
    auto map = MappedFile::open_write(file);
    QVERIFY(map.ok() && map->writable().size() > at);
    map->writable()[at] ^= mask;
    QVERIFY(map->sync().ok());
}

std::string content_of(const fs::path& file) {
    const auto bytes = read_file(file, 1 << 20);
    return bytes ? std::string(as_text(*bytes)) : std::string();
}

nlohmann::json json_of(const Ended& ended) {
    nlohmann::json json = nlohmann::json::parse(ended.out.toStdString(), nullptr, false);
    return json.is_discarded() ? nlohmann::json::object() : json;
}

}  // namespace

class VerifyTest : public QObject {
    Q_OBJECT
private slots:
    void the_last_model_of_a_run_is_proven_and_a_changed_byte_is_named() {
        Swarm swarm;
        swarm.host(4, {"--licence", "CC0-1.0", "--purpose", "To test."});
        ServingNode& anna = swarm.volunteer("anna");
        QVERIFY(swarm.all_end_equal(40'000));
        const fs::path folder = swarm.root() / "model", model = folder / "model.safetensors";
        QVERIFY2(swarm.exports_the_end(folder), swarm.backbone().error().c_str());
        const control::NodeSnapshot now = swarm.backbone().status();

        const Ended taken = run_node({"verify", text_of(folder), "--json"});
        QVERIFY2(taken.code == 0, qPrintable(taken.out + taken.err));
        const nlohmann::json json = json_of(taken);
        QCOMPARE(json.at("verified"), true);
        QCOMPARE(json.at("run").get<std::string>(), now.run->id);
        QCOMPARE(json.at("digest").get<std::string>(), now.run->digest);
        QCOMPARE(json.at("round"), 4);
        QCOMPARE(json.at("tokens").get<std::uint64_t>(), now.run->accepted_tokens);
        QCOMPARE(json.at("signers"), nlohmann::json::array({json.at("host")}));
        QCOMPARE(json.at("contributors").size(), std::size_t{1});
        QCOMPARE(json.at("contributors")[0].at("id").get<std::string>(), anna.status().peer_id);
        QVERIFY(json.at("shards").size() >= 1);
        const Ended people = run_node({"verify", text_of(model)});
        QCOMPARE(people.code, 0);
        QVERIFY2(people.out.contains("is what the run's committee agreed on, byte for byte"), qPrintable(people.out));
        check_card(folder / "README.md");

        change_byte(model, 20'000, std::byte{4});
        const Ended refused = run_node({"verify", text_of(folder)});
        QCOMPARE(refused.code, 14);
        QVERIFY2(refused.err.contains("byte 20000 is ") && refused.err.contains("wte.weight["),
                 qPrintable(refused.err));
        const nlohmann::json told = json_of(run_node({"verify", text_of(folder), "--json"}));
        QCOMPARE(told.at("verified"), false);
        QCOMPARE(told.at("changed_byte").at("at"), 20'000);
        QCOMPARE(told.at("damaged")[0].at("begin"), 16'384);
        change_byte(model, 20'000, std::byte{4});
        QCOMPARE(run_node({"verify", text_of(folder)}).code, 0);

        check_forgeries(folder);
        check_receipt(anna, swarm.root() / "anna.receipt", now.run->id);
    }

    void a_page_shows_a_node_s_run_or_its_folder_s_with_proofs_of_checkpoints() {
        Swarm swarm;
        swarm.host(4, {"--purpose", "<b>To test.</b>"});
        swarm.volunteer("anna");
        QVERIFY(swarm.all_end_equal(40'000));
        const fs::path www = swarm.root() / "www";
        const QString data = swarm.backbone().data();
        const Ended written = run_node({"page", text_of(www), "--data-dir", data});
        QVERIFY2(written.code == 0, qPrintable(written.err));
        const std::string live = content_of(www / "index.html");
        for (const char* part : {"<bdi>Test</bdi>", "&lt;b&gt;To test.", "<bdi>anna</bdi>",
                                 "xt=urn:btih:", "href=\"round-3.proof\"", "volunteers now"})
            QVERIFY2(live.find(part) != std::string::npos, part);
        const auto checkpoints = swarm.backbone().call("checkpoints").at("rows");
        const fs::path state = checkpoints.at(0).at("file").get<std::string>();
        QCOMPARE(run_node({"verify", text_of(state), "--proof", text_of(www / "round-3.proof")}).code, 0);

        QCOMPARE(swarm.backbone().close(), 0);
        fs::remove(www / "round-3.proof");
        QVERIFY(write_file_atomically(www / "round-1.proof", as_bytes("of a checkpoint that is gone")).ok());
        QCOMPARE(run_node({"page", text_of(www), "--data-dir", data}).code, 0);
        const std::string stored = content_of(www / "index.html");
        QVERIFY(stored.find("Complete") != std::string::npos && stored.find("volunteers now") == std::string::npos);
        QVERIFY(fs::exists(www / "round-3.proof") && !fs::exists(www / "round-1.proof"));
        const Ended nowhere = run_node({"page", text_of(www), "--data-dir", text_of(swarm.root() / "none")});
        QVERIFY2(nowhere.code != 0 && content_of(www / "index.html") == stored, qPrintable(nowhere.err));
    }

    void a_state_without_agreement_is_not_proven() {
        Swarm swarm;
        swarm.host(50);
        const fs::path folder = swarm.root() / "model";
        const Ended written = run_node({"export", text_of(folder), "--data-dir", swarm.backbone().data()});
        QVERIFY2(written.code == 0, qPrintable(written.err));
        // The initial state stands in the description that the host has signed.
        const Ended taken = run_node({"verify", text_of(folder)});
        QVERIFY2(taken.code == 0 && taken.out.contains("as the state that the run begins with"), qPrintable(taken.err));
        const fs::path sparse = swarm.root() / "sparse";
        const Ended pruned =
            run_node({"export", text_of(sparse), "--sparse-2-4", "--data-dir", swarm.backbone().data()});
        QVERIFY2(pruned.code == 0, qPrintable(pruned.err));
        QVERIFY(!fs::exists(sparse / "potluck.proof") && fs::exists(sparse / "README.md"));
        const Ended without = run_node({"verify", text_of(sparse)});
        QCOMPARE(without.code, 1);
        QVERIFY2(without.err.contains("There is no proof at "), qPrintable(without.err));
        const Ended other = run_node({"verify", text_of(sparse), "--proof", text_of(folder / "potluck.proof")});
        QCOMPARE(other.code, 14);
        QVERIFY2(other.err.contains("is not what was agreed on after round 0"), qPrintable(other.err));
        QCOMPARE(run_node({"verify", text_of(swarm.root() / "nowhere")}).code, 1);
    }

private:
    static void check_card(const fs::path& file) {
        const auto card = read_file(file, 1 << 20);
        QVERIFY(card.ok());
        const std::string text(as_text(*card));
        for (const char* part : {"license: cc0-1.0\n", "\n# Test\n", "> To test\\.", "| anna |", "potluck-node verify"})
            QVERIFY2(text.find(part) != std::string::npos, part);
    }

    /// Written beside a running node, and checked by somebody who has nothing else.
    static void check_receipt(ServingNode& anna, const fs::path& file, const std::string& run) {
        const QString id = QString::fromStdString(run), path = text_of(file);
        const Ended made =
            run_node({"receipt", "export", path, "--run", id.left(8), "--note", "For Ben.", "--data-dir", anna.data()});
        QVERIFY2(made.code == 0, qPrintable(made.err));
        const Ended checked = run_node({"receipt", "verify", path, "--json"});
        QVERIFY2(checked.code == 0, qPrintable(checked.err));
        const nlohmann::json json = json_of(checked);
        QCOMPARE(json.at("run").get<std::string>(), run);
        QCOMPARE(json.at("person").get<std::string>(), anna.status().person_id);
        QCOMPARE(json.at("note"), "For Ben.");
        QCOMPARE(json.at("tokens").get<std::uint64_t>(), anna.status().run->my_tokens);
        QCOMPARE(json.at("rank"), 1);
        const QString told = run_node({"receipt", "verify", path}).out;
        QVERIFY2(told.contains("tokens in 4 rounds, 100.0 % of all"), qPrintable(told));
        QVERIFY2(told.contains("host         ") && told.contains("Anybody can found a run"), qPrintable(told));
        change_byte(file, 60, std::byte{1});
        QCOMPARE(run_node({"receipt", "verify", path}).code, 14);
        const Ended unknown = run_node({"receipt", "export", path, "--run", "ffffffffff", "--data-dir", anna.data()});
        QVERIFY(unknown.code != 0 && unknown.err.contains("No run here has an id that begins with ffffffffff"));
    }

    /// A certificate ends the file.
    static void check_forgeries(const fs::path& folder) {
        const fs::path proof = folder / "potluck.proof";
        const std::uint64_t size = fs::file_size(proof);
        change_byte(proof, size - 10, std::byte{1});
        const Ended forged = run_node({"verify", text_of(folder)});
        QCOMPARE(forged.code, 14);
        QVERIFY2(forged.err.contains("The list of round 4 in this proof was not signed by a quorum of its committee"),
                 qPrintable(forged.err));
        const nlohmann::json told = json_of(run_node({"verify", text_of(folder), "--json"}));
        QCOMPARE(told.at("verified"), false);
        QCOMPARE(told.at("code").get<std::string>(), std::string("untrusted"));
        fs::resize_file(proof, size - 1);
        QCOMPARE(run_node({"verify", text_of(folder)}).code, 5);
    }
};

QTEST_GUILESS_MAIN(VerifyTest)
#include "test_verify.moc"
