// A fetch whose v1 and v2 hashes contradict each other is checked again, twice at most, and goes on if they agree then.
#include <QtTest>

#include <fstream>

#include <libtorrent/session.hpp>
#include <libtorrent/settings_pack.hpp>
#include <libtorrent/torrent_info.hpp>

#include "core/base/files.h"
#include "core/base/mailbox.h"
#include "core/base/worker.h"
#include "net/blob_entry.h"
#include "tests/integration/swarm_fixture.h"

using namespace potluck;
using namespace potluck::net;

namespace {

/// Blobs of one computer, with every event of libtorrent's in the test's hands.
struct Bench {
    Bench() {
        SessionSettings settings;
        settings.data_folder = folder.path().toStdString();
        settings.reach = NetworkScope::loopback;
        std::filesystem::create_directories(settings.data_folder / "blobs");
        engine = std::move(Engine::open(settings)).value();
        blobs = std::make_unique<Blobs>(*engine, worker, settings.data_folder / "blobs", settings.blob_bytes_max,
                                        [this](const RunId&, const Blobs::Call& call) { call(witness); });
        blobs->restore(run);
    }
    ~Bench() {
        worker.finish();
        blobs.reset();
        (void)engine->stop(Duration{2'000});
    }
    void poll() {
        for (const auto& done : finished.take_all()) done();
        for (const Event& event : engine->take_events()) {
            const auto* failed = std::get_if<TorrentFailed>(&event);
            errors += failed != nullptr && failed->cause == TorrentFailed::Cause::inconsistent_hashes ? 1 : 0;
            (void)blobs->handle(event);
        }
        engine->ask_for_progress();
    }
    bool wait(const std::function<bool()>& done, Room* room = nullptr) {
        const TimePoint end = steady_now() + Duration{30'000};
        while (!done() && steady_now() < end) {
            poll();
            if (room != nullptr) room->poll();
            QThread::msleep(5);
        }
        return done();
    }

    QTemporaryDir folder;
    RunId run{{std::byte{1}}};
    Witness witness;
    Mailbox<std::function<void()>> finished{Worker::jobs_max};
    Worker worker{[this](std::function<void()> done) { POTLUCK_CHECK(finished.post(std::move(done))); }};
    std::unique_ptr<Engine> engine;
    std::unique_ptr<Blobs> blobs;
    int errors = 0;
};

Endpoint on_this_computer(std::uint16_t port) { return {lt::make_address("127.0.0.1"), port}; }

/// A stock client that seeds `content` under a description whose SHA-1 of one piece is wrong.
struct Liar {
    Liar(ByteSpan content, const std::string& save_path) {
        lt::settings_pack pack;
        pack.set_str(lt::settings_pack::listen_interfaces, "127.0.0.1:0");
        pack.set_bool(lt::settings_pack::enable_dht, false);
        pack.set_bool(lt::settings_pack::enable_lsd, false);
        pack.set_bool(lt::settings_pack::allow_multiple_connections_per_ip, true);
        session.apply_settings(pack);
        ContentHashes hashes = hash_content(content, run::BlobKind::open, {}).value();
        hashes.pieces[3][0] ^= std::byte{1};
        const InfoDict info = open_info("lie", hashes.root, content.size(), hashes.pieces);
        ref = {hashes.root, content.size(), run::BlobKind::open, info.info_hash};
        POTLUCK_CHECK(write_file_atomically(save_path + "/lie", content).ok());
        lt::add_torrent_params params = params_for(torrent_info_of(torrent_file(info.bytes, hashes.root, hashes.layer)),
                                                   save_path + "/lie", Visibility::everybody);
        params.flags |= lt::torrent_flags::seed_mode;
        session.add_torrent(std::move(params));
    }
    lt::session session;
    run::BlobRef ref;
};

}  // namespace

class BlobRecheckTest : public QObject {
    Q_OBJECT
private slots:
    void hashes_that_contradict_each_other_once_cost_a_check() {
        Room room;
        room.open(1);
        const Bytes content = random_bytes(6UL << 20U, 31);
        const std::filesystem::path file = room[0].path() / "shard";
        POTLUCK_CHECK(write_file_atomically(file, content).ok());
        room[0].swarm->publish_file(file, "shard", run::BlobKind::open);
        QVERIFY(room.wait([&] { return !room[0].witness.published.empty(); }));
        const run::BlobRef ref = *room[0].witness.published[0].second;
        room[0].session->set_rate_limits(3'000'000, 0);

        Bench bench;
        bench.blobs->fetch(bench.run, ref, {}, {on_this_computer(room[0].session->port())});
        for (const double share : {0.2, 0.5}) {
            QVERIFY(bench.wait([&] { return bench.blobs->progress(ref.root) > share; }, &room));
            (void)bench.blobs->handle(TorrentFailed{ref.info_hash,
                                                    {ErrorCode::io, "They contradict each other."},
                                                    TorrentFailed::Cause::inconsistent_hashes});
            QVERIFY(bench.witness.failed.empty());
        }
        QVERIFY(bench.wait([&] { return bench.witness.blobs.contains(ref.root); }, &room));
        const ByteSpan got = bench.witness.blobs[ref.root]->bytes();
        QVERIFY(std::equal(got.begin(), got.end(), content.begin(), content.end()));
        QVERIFY(bench.witness.failed.empty());
    }

    void hashes_that_go_on_contradicting_each_other_end_the_fetch() {
        const Bytes content = random_bytes(1UL << 20U, 32);
        QTemporaryDir theirs;
        const Liar liar(content, theirs.path().toStdString());
        Bench bench;
        bench.blobs->fetch(bench.run, liar.ref, {}, {on_this_computer(liar.session.listen_port())});
        QVERIFY(bench.wait([&] { return bench.witness.failed.contains(liar.ref.root); }));
        QCOMPARE(bench.errors, 1 + rechecks_max);
        QVERIFY(bench.witness.blobs.empty());
        QCOMPARE(bench.blobs->bytes_stored(), 0U);
    }
};

QTEST_GUILESS_MAIN(BlobRecheckTest)
#include "test_blob_recheck.moc"
