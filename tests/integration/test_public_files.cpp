// Files of no run between real sessions and a web server: fetched, resumed, checked, passed on.
#include <QtTest>

#include <fstream>

#include "core/base/files.h"
#include "net/blob_torrent.h"
#include "tests/integration/swarm_fixture.h"
#include "tests/integration/web_server.h"

using namespace potluck;
using namespace potluck::net;
namespace fs = std::filesystem;

namespace {

constexpr std::size_t file_bytes = 6'000'000;
const std::string name = "pack.tar.xz";

struct Shared {
    Bytes content = random_bytes(file_bytes, 3);
    run::BlobRef ref;
    Bytes torrent;

    Shared() {
        const auto hashes = hash_content(content, run::BlobKind::open, {});
        const InfoDict info = open_info(name, hashes->root, content.size(), hashes->pieces);
        ref = {.root = hashes->root, .size = content.size(), .kind = run::BlobKind::open, .info_hash = info.info_hash};
        torrent = torrent_file(info.bytes, hashes->root, hashes->layer);
    }
};

struct Outcome {
    std::optional<Result<fs::path>> result;
    FileDone done() {
        return [this](Result<fs::path> file) { result = std::move(file); };
    }
};

}  // namespace

class TestPublicFiles : public QObject {
    Q_OBJECT
    Shared m_shared;
    std::unique_ptr<QTemporaryDir> m_web;
    std::unique_ptr<WebServer> m_server;
    std::unique_ptr<Room> m_room;

    Computer& started(std::vector<std::uint16_t> dht = {}) {
        m_room->computers.push_back(std::make_unique<Computer>(m_room->next_seed++));
        m_room->computers.back()->start(dht);
        return *m_room->computers.back();
    }
    PublicFile wanted() { return {m_shared.ref, m_shared.torrent, {m_server->url(name)}}; }
    void serve(ByteSpan content) {
        std::ofstream out(fs::path(m_web->path().toStdString()) / name, std::ios::binary);
        out.write(reinterpret_cast<const char*>(content.data()), static_cast<std::streamsize>(content.size()));
    }

private slots:
    void init() {
        m_web = std::make_unique<QTemporaryDir>();
        m_server = std::make_unique<WebServer>(m_web->path().toStdString());
        m_room = std::make_unique<Room>();
        serve(m_shared.content);
    }
    void cleanup() {
        m_room.reset();
        m_server.reset();
    }

    void a_file_comes_from_a_web_server_alone() {
        Computer& anna = started();
        Outcome outcome;
        anna.session->fetch_file(wanted(), outcome.done());
        QVERIFY(m_room->wait([&] { return outcome.result.has_value(); }));
        QVERIFY2(outcome.result->ok(), outcome.result->ok() ? "" : outcome.result->error().message.c_str());
        QVERIFY(*read_file(**outcome.result, file_bytes) == m_shared.content);
        QCOMPARE(anna.session->file_progress(m_shared.ref.root), 1.0);
    }
    void a_download_that_is_cut_off_goes_on_where_it_was() {
        m_server->bytes_max = file_bytes / 2;
        Computer& anna = started();
        Outcome first, second;
        anna.session->fetch_file(wanted(), first.done());
        QVERIFY(m_room->wait([&] { return anna.session->file_progress(m_shared.ref.root) > 0.3; }));
        QVERIFY(anna.shut());
        QVERIFY(!first.result);
        m_server->bytes_max = UINT64_MAX;
        const std::uint64_t served = m_server->bytes_served;
        anna.start();
        anna.session->fetch_file(wanted(), second.done());
        QVERIFY(m_room->wait([&] { return second.result.has_value(); }));
        QVERIFY(second.result->ok());
        QVERIFY(*read_file(**second.result, file_bytes) == m_shared.content);
        // What had come before is not asked for again, but for the pieces that were cut in two.
        QVERIFY2(m_server->bytes_served - served < file_bytes * 3 / 4,
                 std::to_string(m_server->bytes_served - served).c_str());
    }
    void a_volunteer_passes_it_on_without_a_server() {
        Computer& anna = started();
        Outcome first, second;
        anna.session->fetch_file(wanted(), first.done());
        QVERIFY(m_room->wait([&] { return first.result.has_value(); }));
        QVERIFY(first.result->ok());
        m_server.reset();
        Computer& bert = started({anna.session->port()});
        // Bert has the signed name of the file only; description and content come from Anna, found by the DHT.
        bert.session->fetch_file({m_shared.ref, {}, {}}, second.done());
        QVERIFY(m_room->wait([&] { return second.result.has_value(); }, 60'000));
        QVERIFY2(second.result->ok(), second.result->ok() ? "" : second.result->error().message.c_str());
        QVERIFY(*read_file(**second.result, file_bytes) == m_shared.content);
    }
    void a_restart_seeds_it_again() {
        Computer& anna = started();
        Outcome first, second;
        anna.session->fetch_file(wanted(), first.done());
        QVERIFY(m_room->wait([&] { return first.result.has_value(); }));
        QVERIFY(anna.shut());
        anna.start();
        anna.session->share_files();
        m_server.reset();
        Computer& bert = started({anna.session->port()});
        bert.session->fetch_file({m_shared.ref, m_shared.torrent, {}}, second.done());
        QVERIFY(m_room->wait([&] { return second.result.has_value(); }, 60'000));
        QVERIFY(second.result->ok());
    }
    void a_server_that_changes_a_byte_is_not_believed() {
        Bytes changed = m_shared.content;
        changed[file_bytes / 2] ^= std::byte{1};
        serve(changed);
        Computer& anna = started();
        Outcome outcome;
        anna.session->fetch_file(wanted(), outcome.done());
        QVERIFY(m_room->wait([&] { return m_server->bytes_served >= file_bytes; }));
        QVERIFY(!m_room->wait([&] { return outcome.result && outcome.result->ok(); }, 1'500));
        QVERIFY(anna.session->file_progress(m_shared.ref.root) < 1);
    }
    /// Only what the signed info-hash covers counts; the rest of the description is whoever's who serves it.
    void trackers_and_web_seeds_of_a_description_are_left_out() {
        WebServer stranger(m_web->path().toStdString());
        const auto string = [](const std::string& text) { return std::to_string(text.size()) + ":" + text; };
        // Bencoded keys are sorted: these stand before "info", and "url-list" stands last.
        std::string torrent(as_text(m_shared.torrent));
        torrent.insert(1, string("announce") + string(stranger.url("announce")));
        torrent.insert(torrent.size() - 1, string("url-list") + string(stranger.url(name)));
        PublicFile file = wanted();
        file.torrent.assign(as_bytes(torrent).begin(), as_bytes(torrent).end());
        m_server->bytes_max = file_bytes / 2;  // so that another source would be asked
        Computer& anna = started();
        Outcome outcome;
        anna.session->fetch_file(file, outcome.done());
        QVERIFY(m_room->wait([&] { return anna.session->file_progress(m_shared.ref.root) > 0.3; }));
        QVERIFY(!m_room->wait([&] { return outcome.result.has_value(); }, 3'000));
        QCOMPARE(stranger.requests.load(), 0);
        QCOMPARE(stranger.bytes_served.load(), std::uint64_t{0});
    }
    void another_description_is_refused() {
        PublicFile file = wanted();
        file.ref.info_hash.bytes[0] ^= std::byte{1};
        Computer& anna = started();
        Outcome outcome;
        anna.session->fetch_file(std::move(file), outcome.done());
        QVERIFY(m_room->wait([&] { return outcome.result.has_value(); }));
        QCOMPARE(outcome.result->error().code, ErrorCode::untrusted);
    }
    void a_full_disk_is_told() {
        PublicFile file = wanted();
        file.ref.size = 1ULL << 40U;
        Computer& anna = started();
        Outcome outcome;
        anna.session->fetch_file(std::move(file), outcome.done());
        QVERIFY(m_room->wait([&] { return outcome.result.has_value(); }));
        QCOMPARE(outcome.result->error().code, ErrorCode::no_space);
    }
    void a_forgotten_file_is_deleted() {
        Computer& anna = started();
        Outcome outcome;
        anna.session->fetch_file(wanted(), outcome.done());
        QVERIFY(m_room->wait([&] { return outcome.result.has_value(); }));
        const fs::path file = **outcome.result;
        QVERIFY(fs::exists(file));
        anna.session->forget_file(m_shared.ref.root);
        QVERIFY(m_room->wait([&] { return !fs::exists(file); }));
        QCOMPARE(anna.session->file_progress(m_shared.ref.root), 0.0);
    }
};

QTEST_GUILESS_MAIN(TestPublicFiles)
#include "test_public_files.moc"
