// A fetch whose v1 and v2 hashes contradict each other is checked again, twice at most, and goes on if they agree then.
#include <QtTest>

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
};

Endpoint on_this_computer(std::uint16_t port) { return {lt::make_address("127.0.0.1"), port}; }

/// What libtorrent says now and then of a sound hybrid torrent; it cannot be provoked at will.
TorrentFailed contradiction(const run::BlobRef& ref) {
    return {ref.info_hash, {ErrorCode::io, "They contradict each other."}, TorrentFailed::Cause::inconsistent_hashes};
}

/// Another computer that seeds 6 MiB, slowly enough for a fetch to be met in the middle.
struct Seed {
    Seed() {
        room.open(1);
        const std::filesystem::path file = room[0].path() / "shard";
        POTLUCK_CHECK(write_file_atomically(file, content).ok());
        room[0].swarm->publish_file(file, "shard", run::BlobKind::open);
        POTLUCK_CHECK(room.wait([&] { return !room[0].witness.published.empty(); }));
        ref = *room[0].witness.published[0].second;
        room[0].session->set_rate_limits(3'000'000, 0);
    }
    Room room;
    const Bytes content = random_bytes(6UL << 20U, 31);
    run::BlobRef ref;
};

}  // namespace

class BlobRecheckTest : public QObject {
    Q_OBJECT
private slots:
    void hashes_that_contradict_each_other_once_cost_a_check() {
        Seed seed;
        Bench bench;
        bench.blobs->fetch(bench.run, seed.ref, {}, {on_this_computer(seed.room[0].session->port())});
        for (const double share : {0.2, 0.5}) {
            QVERIFY(bench.wait([&] { return bench.blobs->reception(seed.ref.root).progress > share; }, &seed.room));
            (void)bench.blobs->handle(contradiction(seed.ref));
            QVERIFY(bench.witness.failed.empty());
        }
        QVERIFY(bench.wait([&] { return bench.witness.blobs.contains(seed.ref.root); }, &seed.room));
        const ByteSpan got = bench.witness.blobs[seed.ref.root]->bytes();
        QVERIFY(std::equal(got.begin(), got.end(), seed.content.begin(), seed.content.end()));
        QVERIFY(bench.witness.failed.empty());
    }

    void hashes_that_go_on_contradicting_each_other_end_the_fetch() {
        Seed seed;
        Bench bench;
        bench.blobs->fetch(bench.run, seed.ref, {}, {on_this_computer(seed.room[0].session->port())});
        QVERIFY(bench.wait([&] { return bench.blobs->reception(seed.ref.root).progress > 0.1; }, &seed.room));
        for (int time = 0; time < rechecks_max; ++time) (void)bench.blobs->handle(contradiction(seed.ref));
        QVERIFY(bench.witness.failed.empty());
        (void)bench.blobs->handle(contradiction(seed.ref));
        QVERIFY(bench.wait([&] { return bench.witness.failed.contains(seed.ref.root); }, &seed.room));
        QVERIFY(bench.witness.blobs.empty());
        QCOMPARE(bench.blobs->bytes_stored(), 0U);
    }

    /// libtorrent pauses what contradicts itself; the torrents above are only told that there was a contradiction.
    void a_torrent_that_its_error_has_paused_is_checked_again() {
        Bench bench;
        lt::add_torrent_params params;
        params.info_hashes.v2 = lt::sha256_hash(std::string(lt::sha256_hash::size(), 'x').data());
        params.save_path = bench.folder.path().toStdString();
        params.flags = flags_for(Visibility::members);
        const lt::torrent_handle torrent = bench.engine->add(params, Engine::Start::at_once).value();
        torrent.pause();
        QVERIFY(torrent.flags() & lt::torrent_flags::paused);
        bench.engine->recheck(torrent);
        QVERIFY(!(torrent.flags() & lt::torrent_flags::paused));
    }
};

QTEST_GUILESS_MAIN(BlobRecheckTest)
#include "test_blob_recheck.moc"
