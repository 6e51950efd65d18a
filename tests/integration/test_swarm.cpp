#include <QtTest>

#include <boost/asio/steady_timer.hpp>

#include "net/engine.h"
#include "tests/integration/swarm_fixture.h"

using namespace potluck;
using namespace potluck::net;

class TestSwarm : public QObject {
    Q_OBJECT

private slots:
    void messages_flow_both_ways_between_authenticated_members() {
        Room room;
        room.open(2);
        QVERIFY(room.wait_until_all_know_each_other());
        QCOMPARE(room[0].swarm->neighbours(), std::vector<PeerId>{room[1].id()});

        const run::Envelope there = envelope_of(room[0], room.run, random_bytes(100, 1));
        const run::Envelope back = envelope_of(room[1], room.run, random_bytes(run::message_bytes_max, 2));
        room[0].swarm->broadcast(there);
        room[1].swarm->send(room[0].id(), back);
        QVERIFY(room.wait([&] { return !room[0].witness.envelopes.empty() && !room[1].witness.envelopes.empty(); }));
        QVERIFY(room[1].witness.envelopes[0].first == room[0].id());
        QVERIFY(room[1].witness.envelopes[0].second == there);
        QVERIFY(room[0].witness.envelopes[0].second == back);
        QCOMPARE(room[0].swarm->counters().frames_malformed, 0U);
    }

    void a_blob_arrives_byte_for_byte_at_everybody() {
        Room room;
        room.open(3);
        QVERIFY(room.wait_until_all_know_each_other());
        for (const std::size_t size : {1UL, 16'384UL, 60'000UL, 3'000'001UL}) {
            const Bytes content = random_bytes(size, size);
            const Result<run::BlobRef> ref = room[0].swarm->publish(content);
            QVERIFY(ref.ok());
            QVERIFY(room[0].swarm->blob(ref->root) != nullptr);
            for (const std::size_t i : {1U, 2U})
                room[i].swarm->fetch(*ref,
                                     {.sources = {room[0].id()}, .deadline = {}, .damaged_copy = {}, .layer = {}});
            QVERIFY(room.wait([&] {
                return room[1].witness.blobs.contains(ref->root) && room[2].witness.blobs.contains(ref->root);
            }));
            for (const std::size_t i : {1U, 2U}) {
                const ByteSpan got = room[i].witness.blobs[ref->root]->bytes();
                QVERIFY(std::equal(got.begin(), got.end(), content.begin(), content.end()));
                QCOMPARE(room[i].swarm->progress(ref->root), 1.0);
            }
        }
    }

    void traffic_with_a_neighbour_is_measured_at_both_ends() {
        Room room;
        room.open(2);
        QVERIFY(room.wait_until_all_know_each_other());
        const auto flow = [&](std::size_t i) {
            const std::vector<MemberFlow> flows = room[i].swarm->flows();
            return flows.size() == 1 && flows[0].peer == room[1 - i].id() ? flows[0] : MemberFlow{};
        };
        room[0].swarm->broadcast(envelope_of(room[0], room.run, random_bytes(run::message_bytes_max, 1)));
        constexpr std::uint64_t much = run::message_bytes_max / 100;
        QVERIFY(room.wait([&] { return flow(0).sent_per_second > much && flow(1).received_per_second > much; }));
        QVERIFY(flow(0).received_per_second < much && flow(1).sent_per_second < much);
        QVERIFY(room.wait([&] { return flow(0).sent_per_second < much && flow(1).received_per_second < much; }));
        // A blob comes over a connection of its own.
        const run::BlobRef ref = room[1].swarm->publish(random_bytes(30'000'000, 2)).value();
        room[0].swarm->fetch(ref, {.sources = {room[1].id()}, .deadline = {}, .damaged_copy = {}, .layer = {}});
        QVERIFY(room.wait([&] { return flow(0).received_per_second > much && flow(1).sent_per_second > much; }));
        QVERIFY(flow(0).sent_per_second < much && flow(1).received_per_second < much);
        room[1].shut();
        QVERIFY(room.wait([&] { return room[0].swarm->flows().empty(); }));
    }

    /// What the network thread still waits for uses the session when it is taken apart.
    void a_session_that_is_cut_off_stays_whole() {
        const QTemporaryDir folder;
        SessionSettings settings;
        settings.data_folder = folder.path().toStdString();
        settings.reach = NetworkScope::loopback;
        std::unique_ptr<Engine> engine = std::move(Engine::open(settings)).value();
        const auto answer = std::make_shared<boost::asio::steady_timer>(engine->io(), std::chrono::hours(1));
        auto waiting = std::make_shared<int>();
        const std::weak_ptr<int> is_whole = waiting;
        answer->async_wait([answer, waiting = std::move(waiting)](const auto&) {});
        QVERIFY(!engine->stop(Duration{100}));
        engine.reset();
        QVERIFY(!is_whole.expired());
    }

    void a_payload_reaches_five_peers_within_300_ms_data() {
        QTest::addColumn<bool>("due");
        QTest::newRow("whenever") << false;
        QTest::newRow("due now") << true;
    }

    void a_payload_reaches_five_peers_within_300_ms() {
        QFETCH(bool, due);
        Room room;
        room.open(6);
        QVERIFY(room.wait_until_all_know_each_other());
        std::vector<double> latencies;
        for (std::uint64_t round = 0; round < 10; ++round) {
            const Bytes content = random_bytes(60'000, 100 + round);
            QElapsedTimer clock;
            clock.start();
            const run::BlobRef ref = room[0].swarm->publish(content).value();
            const double published = static_cast<double>(clock.nsecsElapsed()) / 1e6;
            const TimePoint deadline = due ? steady_now() : TimePoint{};
            for (std::size_t i = 1; i < 6; ++i) {
                room[i].swarm->fetch(
                    ref, {.sources = {room[0].id()}, .deadline = deadline, .damaged_copy = {}, .layer = {}});
            }
            QVERIFY(room.wait([&] {
                return std::all_of(room.computers.begin() + 1, room.computers.end(),
                                   [&](const auto& each) { return each->witness.blobs.contains(ref.root); });
            }));
            latencies.push_back(static_cast<double>(clock.nsecsElapsed()) / 1e6);
            qInfo("published in %.1f ms, at all five after %.1f ms", published, latencies.back());
        }
        std::sort(latencies.begin(), latencies.end());
        // The quickest tell what the protocol takes; how busy this computer is only ever adds to it.
        QVERIFY2(latencies[2] < 300, "even the quickest are slow");
    }
};

QTEST_GUILESS_MAIN(TestSwarm)
#include "test_swarm.moc"
