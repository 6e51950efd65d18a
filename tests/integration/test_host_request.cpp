// A run that is started by asking a node that is up: made in its background, joined by it, given up, refused.
#include "core/base/files.h"
#include "core/control/host_methods.h"
#include "core/run/invite.h"
#include "core/run/manifest.h"
#include "tests/integration/node_fixture.h"

using namespace potluck;
using namespace potluck::test;
namespace fs = std::filesystem;

namespace {

struct Home {
    Home() {
        write_text(root() / "text" / "words.txt");
        node.start();
    }
    [[nodiscard]] fs::path root() const { return folder.path().toStdString(); }
    [[nodiscard]] nlohmann::json choices() const {
        control::RunChoices made;
        made.data = (root() / "text").string();
        made.model = "tiny";
        made.run_name = "Words";
        made.purpose = "To see it work.";
        made.licence = "MIT";
        made.rounds = 1000;
        return to_json(made);
    }
    [[nodiscard]] nlohmann::json with(const char* field, const nlohmann::json& value) const {
        nlohmann::json made = choices();
        made[field] = value;
        return {{"choices", made}};
    }
    /// What lies in the folder of runs, half runs among it.
    [[nodiscard]] std::size_t folders() const {
        std::error_code none;
        std::size_t count = 0;
        for (const auto& entry : fs::directory_iterator(node.folder() / "runs", none)) count += entry.exists();
        return count;
    }

    /// The only run's.
    [[nodiscard]] run::Manifest manifest() const {
        const fs::path run = fs::directory_iterator(node.folder() / "runs")->path();
        const auto file = read_file(run / "manifest", 1U << 20U);
        POTLUCK_CHECK(file.ok());
        const auto read = run::parse_manifest_file(*file);
        POTLUCK_CHECK(read.ok());
        return read->manifest;
    }

    QTemporaryDir folder;
    ServingNode node{root() / "node"};
};

}  // namespace

class HostRequestTest : public QObject {
    Q_OBJECT
private slots:
    void a_run_that_was_asked_for_is_made_and_joined() {
        Home home;
        QVERIFY2(home.node.call("host", {{"choices", home.choices()}}, 60'000).is_object(), home.node.error().c_str());
        QVERIFY(home.node.wait_for([](const auto& now) { return now.run.has_value() && !now.preparation; }, 10'000));
        const control::NodeSnapshot now = home.node.status();
        QCOMPARE(now.run->name, std::string("Words"));
        QCOMPARE(now.run->purpose, std::string("To see it work."));
        QCOMPARE(now.run->licence, std::string("MIT"));
        QCOMPARE(now.run->total_rounds, std::uint64_t{1000});
        QVERIFY(run::Invite::parse(now.run->magnet).ok());
        QVERIFY(now.run->members.front().role == run::Role::volunteer);
        QVERIFY(home.node.wait_for_round(1, 60'000));
        QCOMPARE(home.folders(), std::size_t{1});
        QVERIFY(home.manifest().backbones.empty());  // a host that trains is none
    }

    void a_member_of_a_run_starts_no_second_run() {
        Home home;
        QVERIFY(home.node.call("host", home.with("role", "backbone"), 60'000).is_object());
        QVERIFY(home.node.status().run->members.front().role == run::Role::backbone);
        QVERIFY(home.node.call("host", {{"choices", home.choices()}}).is_null());
        QVERIFY(QString::fromStdString(home.node.error()).contains("before you start another"));
        QCOMPARE(home.folders(), std::size_t{1});
    }

    void patience_for_contributions_follows_the_window() {
        Home home;
        QVERIFY2(home.node.call("host", home.with("window_seconds", 300), 60'000).is_object(),
                 home.node.error().c_str());
        QCOMPARE(home.manifest().recipe.window.count(), Duration{300'000}.count());
        QCOMPARE(home.manifest().recipe.collect.count(), Duration{60'000}.count());
    }

    void impossible_choices_are_refused_in_a_sentence_and_leave_no_folder() {
        Home home;
        QVERIFY(home.node.call("host", home.with("name", "")).is_null());
        QCOMPARE(home.node.error(), std::string("Give the run a name."));
        QVERIFY(home.node.call("host", home.with("data", (home.root() / "gone").string())).is_null());
        QVERIFY(home.node.error().find("There is no file or folder") == 0);
        fs::resize_file(home.root() / "text" / "words.txt", 99'999);
        QVERIFY(home.node.call("host", {{"choices", home.choices()}}).is_null());
        QVERIFY(home.node.error().find("too little text") != std::string::npos);
        QVERIFY(!home.node.status().preparation && !home.node.status().run);
        QCOMPARE(home.folders(), std::size_t{0});
    }

    void a_run_that_is_being_made_is_shown_and_may_be_given_up() {
        Home home;
        write_text(home.root() / "text" / "more.txt", 40'000'000);
        QVERIFY(home.node.call("host", {{"choices", home.choices()}}, 1).is_null());
        QVERIFY(home.node.wait_for(
            [](const auto& now) { return now.preparation && now.preparation->run_name == "Words"; }, 10'000));
        QVERIFY(home.node.call("host", {{"choices", home.choices()}}).is_null());
        QVERIFY(home.node.error().find("making a run already") != std::string::npos);
        QVERIFY(home.node.call("cancel_hosting").is_object());
        QVERIFY(home.node.wait_for([](const auto& now) { return !now.preparation; }, 30'000));
        QVERIFY(!home.node.status().run);
        QCOMPARE(home.folders(), std::size_t{0});
        QVERIFY(home.node.call("cancel_hosting").is_null());
    }

    void a_node_that_ends_gives_up_what_it_makes() {
        Home home;
        write_text(home.root() / "text" / "more.txt", 40'000'000);
        QVERIFY(home.node.call("host", {{"choices", home.choices()}}, 1).is_null());
        QVERIFY(home.node.wait_for([](const auto& now) { return now.preparation.has_value(); }, 10'000));
        QCOMPARE(home.node.close(30'000), 0);
        QCOMPARE(home.folders(), std::size_t{0});
    }

    void an_estimate_counts_the_data_and_names_what_is_wrong() {
        Home home;
        const auto ask = [&](const nlohmann::json& params) {
            control::RunEstimate estimate;
            (void)from_json(home.node.call("estimate_run", params, 60'000), estimate);
            return estimate;
        };
        const std::uint64_t size = fs::file_size(home.root() / "text" / "words.txt");
        write_text(home.root() / "text" / ".hidden");
        const control::RunEstimate good = ask({{"choices", home.choices()}, {"gpu", "RTX 3060"}});
        QCOMPARE(good.data_bytes, size);
        QCOMPARE(good.data_files, std::uint64_t{1});
        QCOMPARE(good.data_tokens, size);
        QCOMPARE(good.rounds, std::uint64_t{1000});
        QVERIFY(good.disk > 0 && good.disk_free > good.disk);
        nlohmann::json bad = home.with("licence", "*");
        const control::RunEstimate wrong = ask(bad);
        QVERIFY(std::any_of(wrong.problems.begin(), wrong.problems.end(),
                            [](const auto& one) { return one.place == control::ChoiceField::licence; }));
    }
};

QTEST_GUILESS_MAIN(HostRequestTest)
#include "test_host_request.moc"
