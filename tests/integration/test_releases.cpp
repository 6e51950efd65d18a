// Releases on one computer, with a web server or a stick: what is fetched, what is refused, what is installed.
#include <QTemporaryDir>
#include <QtTest>

#include <fstream>

#include <boost/asio/io_context.hpp>

#include <archive.h>
#include <archive_entry.h>

#include "app/node/release/http_get.h"
#include "app/node/release/index_maker.h"
#include "app/node/release/known_release.h"
#include "app/node/release/releases.h"
#include "core/base/clock.h"
#include "core/base/files.h"
#include "core/run/manifest.h"
#include "tests/integration/proxy_server.h"
#include "tests/integration/web_server.h"
#include "tests/unit/release/release_samples.h"

using namespace potluck;
using namespace potluck::node;
using release::TestKey;
namespace fs = std::filesystem;

namespace {

const std::string pack_name = "potluck-trainer-" + own_version().text() + "-" + this_computer().system + "-" +
                              this_computer().architecture + "-cpu.tar.xz";

void add_member(archive* out, const char* name, const std::string& content) {
    archive_entry* entry = archive_entry_new();
    archive_entry_set_pathname(entry, name);
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_perm(entry, 0755);
    archive_entry_set_size(entry, static_cast<la_int64_t>(content.size()));
    archive_write_header(out, entry);
    archive_write_data(out, content.data(), content.size());
    archive_entry_free(entry);
}

/// A pack with a program that says `words`, or without any.
void make_pack(const fs::path& file, const std::string& words) {
    archive* out = archive_write_new();
    archive_write_add_filter_xz(out);
    archive_write_set_format_pax_restricted(out);
    archive_write_open_filename(out, file.string().c_str());
    if (!words.empty()) add_member(out, "potluck-trainer", "#!/bin/sh\necho " + words + "\n");
    add_member(out, "libtorch.so", std::string(200'000, 'x'));
    archive_write_close(out);
    archive_write_free(out);
}

std::string text_of(const fs::path& file) {
    const auto bytes = read_file(file, 1 << 22);
    return bytes ? std::string(as_text(*bytes)) : std::string();
}

/// One computer with a network of its own on loopback.
struct Computer {
    explicit Computer(const fs::path& folder, ReleaseSource source) {
        net::SessionSettings settings;
        settings.data_folder = folder / "network";
        settings.reach = net::NetworkScope::loopback;
        network = *net::Session::open(std::move(settings));
        releases =
            std::make_unique<Releases>(loop, *network, Releases::Settings{folder, std::move(source), this_computer()});
    }
    ~Computer() {
        releases.reset();
        static_cast<void>(network->stop(Duration(2'000)));
    }
    /// How a wish went: its refusal at once, or its end.
    Status outcome(const std::function<Status(Releases::Done)>& wish) {
        std::optional<Status> ended;
        if (const Status begun = wish([&](const Status& how) { ended = how; }); !begun) return begun;
        const TimePoint give_up = steady_now() + Duration(30'000);
        while (!ended && steady_now() < give_up) {
            network->poll(steady_now());
            loop.run_for(std::chrono::milliseconds(5));
            loop.restart();
        }
        return ended ? *ended : Status(Error{ErrorCode::timed_out, "It takes too long."});
    }
    Status check() {
        return outcome([this](auto done) { return releases->check(std::move(done)); });
    }
    Status install(const std::string& kind = "") {
        return outcome([&](auto done) { return releases->install(kind, std::move(done)); });
    }
    Status install_file(const fs::path& file) {
        return outcome([&](auto done) { return releases->install_file(file, std::move(done)); });
    }

    boost::asio::io_context loop;
    std::unique_ptr<net::Session> network;
    std::unique_ptr<Releases> releases;
};

bool says(const Status& status, const char* part) {
    return !status && status.error().message.find(part) != std::string::npos;
}

}  // namespace

class TestReleases : public QObject {
    Q_OBJECT
    std::unique_ptr<QTemporaryDir> m_folder;
    std::unique_ptr<WebServer> m_server;
    fs::path m_web, m_home;

    void publish(std::uint64_t serial, const TestKey& key = TestKey(), std::int64_t now = unix_seconds()) {
        IndexPlan plan;
        plan.folder = m_web;
        plan.serial = serial;
        plan.url = m_server->url("");
        plan.notes = m_web / "notes";
        plan.page = "https://example.org";
        const auto index = make_index(plan, now);
        QVERIFY2(index.ok(), index ? "" : index.error().message.c_str());
        sign(key);
    }
    void sign(const TestKey& key = TestKey()) {
        std::ofstream(m_web / "releases.json.minisig") << key.sign(text_of(m_web / "releases.json"));
    }
    ReleaseSource source() { return {TestKey().line(), m_server->url("releases.json")}; }
    ReleaseSource source_without_web() { return {TestKey().line(), ""}; }

private slots:
    void init() {
        m_folder = std::make_unique<QTemporaryDir>();
        m_web = fs::path(m_folder->path().toStdString()) / "web";
        m_home = fs::path(m_folder->path().toStdString()) / "home";
        fs::create_directories(m_web);
        m_server = std::make_unique<WebServer>(m_web);
        make_pack(m_web / pack_name, "one");
        std::ofstream(m_web / "notes") << "It is faster.\n";
    }
    void cleanup() { m_server.reset(); }

    void a_pack_is_offered_with_its_size_and_installed() {
        publish(1);
        Computer anna(m_home, source());
        QVERIFY(anna.check().ok());
        const control::ReleaseState offered = anna.releases->view();
        QCOMPARE(offered.packs.size(), std::size_t{1});
        QCOMPARE(offered.packs[0].bytes, static_cast<std::uint64_t>(fs::file_size(m_web / pack_name)));
        QVERIFY(offered.packs[0].magnet.find("&ws=http") != std::string::npos);
        QVERIFY(!offered.newer);
        const Status installed = anna.install();
        QVERIFY2(installed.ok(), installed ? "" : installed.error().message.c_str());
        QCOMPARE(text_of(anna.releases->trainer()), std::string("#!/bin/sh\necho one\n"));
        QCOMPARE(anna.releases->view().installed, std::string("cpu"));
        // It is found again by whoever asks the folder.
        const auto found = installed_pack(m_home, own_version());
        QVERIFY(found && found->trainer == anna.releases->trainer());
        QVERIFY(!installed_pack(m_home, release::Version{{9, 9, 9}}));
    }
    void an_index_of_another_key_is_refused_and_changes_nothing() {
        publish(1);
        sign(TestKey(2));
        Computer anna(m_home, source());
        QVERIFY(says(anna.check(), "another key"));
        QVERIFY(says(anna.install(), "another key"));
        QVERIFY(anna.releases->view().packs.empty());
        QVERIFY(!anna.releases->view().error.empty());
        QVERIFY(!fs::exists(kept_index_file(m_home)));
    }
    void an_older_index_is_refused_also_after_a_restart() {
        publish(5);
        {
            Computer anna(m_home, source());
            QVERIFY(anna.check().ok());
        }
        publish(4);
        Computer anna(m_home, source());
        QVERIFY(says(anna.check(), "older"));
        QCOMPARE(anna.releases->view().packs.size(), std::size_t{1});
    }
    /// Index and signature are one file, so that no moment leaves one without the other.
    void an_index_and_its_signature_are_one_file() {
        publish(5);
        Computer anna(m_home, source());
        QVERIFY(anna.check().ok());
        QVERIFY(anna.releases->checked() > 0);
        std::vector<std::string> files;
        for (const auto& entry : fs::directory_iterator(m_home / "packs"))
            files.push_back(entry.path().filename().string());
        QCOMPARE(files, std::vector<std::string>{"releases.kept"});
        const std::string kept = text_of(kept_index_file(m_home));
        const std::string key = TestKey().line();
        QCOMPARE(kept_index(m_home, key)->serial, std::uint64_t{5});
        for (const std::string& damaged :
             {kept.substr(0, kept.size() / 2), kept.substr(1), std::string("potluck-index 1 x\n"),
              std::string("potluck-index 1 99999\n"), std::string("potluck-index 1 5")}) {
            std::ofstream(kept_index_file(m_home), std::ios::trunc | std::ios::binary) << damaged;
            QVERIFY(!kept_index(m_home, key));
        }
    }
    void the_pair_of_an_earlier_version_still_counts() {
        publish(5);
        fs::create_directories(m_home / "packs");
        for (const char* file : {"releases.json", "releases.json.minisig"})
            fs::copy_file(m_web / file, m_home / "packs" / file);
        publish(4);
        {
            Computer anna(m_home, source());
            QVERIFY(anna.releases->checked() > 0);
            QVERIFY(says(anna.check(), "older"));
        }
        publish(6);
        Computer anna(m_home, source());
        QVERIFY(anna.check().ok());
        QVERIFY(!fs::exists(m_home / "packs/releases.json"));
        QCOMPARE(kept_index(m_home, TestKey().line())->serial, std::uint64_t{6});
    }
    void an_index_that_has_expired_is_refused() {
        publish(1, TestKey(), unix_seconds() - 200 * 86'400);
        Computer anna(m_home, source());
        QVERIFY(says(anna.check(), "expired"));
    }
    void a_build_without_a_key_says_so() {
        Computer anna(m_home, {});
        QVERIFY(says(anna.check(), "no release key"));
        QVERIFY(says(anna.install(), "no release key"));
        QVERIFY(!anna.releases->view().has_key);
    }
    void a_server_that_is_away_is_told() {
        Computer anna(m_home, source());
        QVERIFY(says(anna.check(), "not on its server"));
        m_server.reset();
        QVERIFY(says(anna.check(), "connection"));
        m_server = std::make_unique<WebServer>(m_web);
    }
    void a_download_above_its_limit_is_refused() {
        std::ofstream(m_web / "large") << std::string(5'000, 'x');
        const auto fetched = http_get(m_server->url("large"), 4'999, {});
        QVERIFY(!fetched.ok());
        QCOMPARE(fetched.error().code, ErrorCode::malformed);
        QVERIFY(http_get(m_server->url("large"), 5'000, {}).ok());
        QVERIFY(!http_get("file:///etc/passwd", 5'000, {}).ok());
    }
    void downloads_go_through_the_proxy_alone() {
        std::ofstream(m_web / "small") << "here";
        const std::string url = m_server->url("small");
        const auto port = static_cast<std::uint16_t>(std::stoi(url.substr(url.rfind(':') + 1)));
        tests::ProxyServer proxy({net::ProxyKind::socks5, {}, 0, "ada", "lovelace"});
        qputenv("NO_PROXY", "127.0.0.1");  // what the environment excepts goes through it, too
        const auto fetched = http_get(url, 100, {}, proxy.address());
        qunsetenv("NO_PROXY");
        QVERIFY(fetched.ok());
        QCOMPARE(std::string(as_text(*fetched)), std::string("here"));
        QCOMPARE(proxy.opened_to(port), 1);
        net::Proxy wrong = proxy.address();
        wrong.password = "byron";
        const int before = m_server->requests;
        const auto refused = http_get(url, 100, {}, wrong);
        QVERIFY(!refused.ok() && refused.error().message.find("proxy") != std::string::npos);
        QVERIFY(refused.error().message.find("byron") == std::string::npos);
        QCOMPARE(m_server->requests.load(), before);
    }

    void a_pack_on_a_stick_is_installed_offline() {
        publish(1);
        Computer anna(m_home, source_without_web());
        const Status installed = anna.install_file(m_web / pack_name);
        QVERIFY2(installed.ok(), installed ? "" : installed.error().message.c_str());
        QVERIFY(!anna.releases->trainer().empty());
        QCOMPARE(m_server->requests.load(), 0);
    }
    void a_pack_that_was_changed_is_refused() {
        publish(1);
        make_pack(m_web / pack_name, "evil");
        Computer anna(m_home, source_without_web());
        QVERIFY(says(anna.install_file(m_web / pack_name), "not the pack that was signed for"));
        QVERIFY(anna.releases->trainer().empty());
        QVERIFY(!fs::exists(m_home / "packs/installed.json"));
    }
    void a_stick_without_the_index_is_told() {
        Computer anna(m_home, source_without_web());
        QVERIFY(says(anna.install_file(m_web / pack_name), "signed index has to lie beside"));
    }
    void a_file_that_the_index_does_not_name_is_refused() {
        publish(1);
        fs::copy_file(m_web / pack_name, m_web / "other.tar.xz");
        Computer anna(m_home, source_without_web());
        QVERIFY(says(anna.install_file(m_web / "other.tar.xz"), "names no pack"));
    }
    void a_pack_without_a_trainer_is_not_installed() {
        make_pack(m_web / pack_name, "");
        publish(1);
        Computer anna(m_home, source_without_web());
        QVERIFY(says(anna.install_file(m_web / pack_name), "no trainer"));
        QVERIFY(anna.releases->trainer().empty());
    }
    void a_newer_pack_replaces_the_old_one() {
        publish(1);
        Computer anna(m_home, source_without_web());
        QVERIFY(anna.install_file(m_web / pack_name).ok());
        const fs::path old = anna.releases->trainer();
        make_pack(m_web / pack_name, "two");
        publish(2);
        QVERIFY(anna.install_file(m_web / pack_name).ok());
        QCOMPARE(text_of(anna.releases->trainer()), std::string("#!/bin/sh\necho two\n"));
        QVERIFY(!fs::exists(old));
    }
    void a_kind_that_there_is_not_is_told() {
        publish(1);
        Computer anna(m_home, source());
        QVERIFY(says(anna.install("cuda"), "There is no cuda trainer"));
    }
    void removing_leaves_nothing_behind() {
        publish(1);
        Computer anna(m_home, source());
        QVERIFY(anna.install().ok());
        const fs::path trainer = anna.releases->trainer();
        QVERIFY(anna.releases->remove().ok());
        QVERIFY(!fs::exists(trainer) && anna.releases->trainer().empty());
        QVERIFY(!installed_pack(m_home, own_version()));
        QVERIFY(says(anna.releases->remove(), "No downloaded trainer"));
    }
    void a_download_can_be_given_up() {
        publish(1);
        m_server->bytes_max = 10'000;  // the index and a part of the pack
        Computer anna(m_home, source());
        bool given_up = false;
        const Status ended = anna.outcome([&](Releases::Done done) {
            const Status begun = anna.releases->install("", std::move(done));
            const TimePoint give_up = steady_now() + Duration(20'000);
            while (anna.releases->view().stage != control::ReleaseStage::downloading && steady_now() < give_up) {
                anna.network->poll(steady_now());
                anna.loop.run_for(std::chrono::milliseconds(5));
                anna.loop.restart();
            }
            given_up = anna.releases->remove().ok();
            return begun;
        });
        QVERIFY(given_up);
        QVERIFY(says(ended, "given up"));
        QVERIFY(!anna.releases->busy());
    }
    void one_thing_is_done_at_a_time() {
        publish(1);
        Computer anna(m_home, source());
        Status second;
        QVERIFY(anna.outcome([&](Releases::Done done) {
                        const Status begun = anna.releases->check(std::move(done));
                        second = anna.releases->check([](const Status&) {});
                        return begun;
                    })
                    .ok());
        QVERIFY(says(second, "under way"));
    }
    void a_computer_that_passes_nothing_on_keeps_no_archive() {
        publish(1);
        const auto archives = [this] {
            std::size_t found = 0;
            std::error_code gone;  // a file that is removed meanwhile has no size
            for (const auto& entry : fs::recursive_directory_iterator(m_home / "network/blobs"))
                found += entry.is_regular_file(gone) && entry.file_size(gone) == fs::file_size(m_web / pack_name);
            return found;
        };
        Computer anna(m_home, source());
        QVERIFY(anna.install().ok());
        QCOMPARE(archives(), std::size_t{1});
        anna.releases->pass_on(false);
        QTRY_COMPARE(archives(), std::size_t{0});
        QVERIFY(!anna.releases->trainer().empty());
    }
    void a_newer_version_is_told_and_which_one_a_run_needs() {
        publish(1);
        auto index = *release::Index::parse(text_of(m_web / "releases.json"));
        index.releases.push_back(
            {release::Version{{9, 0, 0}}, "2030-01-01", run::protocol_version() + 1, "Much.", "https://example.org/9"});
        std::ofstream(m_web / "releases.json", std::ios::trunc) << index.to_text();
        sign();
        Computer anna(m_home, source());
        QVERIFY(anna.check().ok());
        QCOMPARE(anna.releases->view().newer->version, std::string("9.0.0"));
        QCOMPARE(anna.releases->version_for(run::protocol_version() + 1)->text(), std::string("9.0.0"));
        QVERIFY(!anna.releases->version_for(run::protocol_version() + 2));
        // The folder knows it without a network, and believes no other key.
        QCOMPARE(known_newer(m_home, TestKey().line())->version, std::string("9.0.0"));
        QVERIFY(!known_newer(m_home, TestKey(2).line()));
        QVERIFY(!known_newer(m_web, TestKey().line()));
    }
    void a_pack_may_serve_a_version_that_came_later() {
        publish(1);
        Computer anna(m_home, source());
        QVERIFY(anna.install().ok());
        auto index = *release::Index::parse(text_of(m_web / "releases.json"));
        index.serial = 2;
        index.packs[0].apps.push_back(release::Version{{9, 0, 0}});
        std::ofstream(m_web / "releases.json", std::ios::trunc) << index.to_text();
        sign();
        QVERIFY(anna.check().ok());
        QVERIFY(installed_pack(m_home, release::Version{{9, 0, 0}}).has_value());
    }
    void the_same_packs_give_the_same_index() {
        publish(1, TestKey(), 1'000'000);
        const std::string first = text_of(m_web / "releases.json");
        publish(1, TestKey(), 1'000'000);
        QCOMPARE(text_of(m_web / "releases.json"), first);
    }
};

QTEST_GUILESS_MAIN(TestReleases)
#include "test_releases.moc"
