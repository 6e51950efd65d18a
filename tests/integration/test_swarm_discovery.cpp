// How members find a run and each other, and what opening and closing a session promises.
#include <QtTest>

#include "tests/integration/swarm_fixture.h"

using namespace potluck;
using namespace potluck::net;

class TestSwarmDiscovery : public QObject {
    Q_OBJECT

private slots:
    void a_run_is_found_by_magnet_alone_through_a_private_dht() {
        Room room;
        for (std::size_t i = 0; i < 4; ++i) {
            room.computers.push_back(std::make_unique<Computer>(i));
            room[i].start(i == 0 ? std::vector<std::uint16_t>{} : std::vector<std::uint16_t>{room[0].session->port()});
        }
        room.run = room[1].session->publish_manifest(room.manifest).value();
        room[1].join(room.run, {});
        QVERIFY(room.wait([&] { return room[3].session->counters().dht_nodes > 0; }));

        QElapsedTimer clock;
        clock.start();
        const Result<run::Invite> invite =
            run::Invite::parse(run::Invite{.run = room.run, .name = "soup", .hints = {}}.to_magnet());
        QVERIFY(invite.ok());
        std::optional<Result<Bytes>> outcome;
        room[3].session->fetch_manifest(*invite, Duration(20'000),
                                        [&](Result<Bytes> file) { outcome = std::move(file); });
        QVERIFY(room.wait([&] { return outcome.has_value(); }));
        QVERIFY(outcome->ok());
        QVERIFY(**outcome == room.manifest);
        room[3].join(room.run, {});
        QVERIFY(room.wait([&] { return !room[3].swarm->neighbours().empty(); }));
        qInfo("manifest and first session after %lld ms", clock.elapsed());
    }

    void a_manifest_comes_from_a_hint_and_then_from_the_disk() {
        Room room;
        room.open(1);
        room.computers.push_back(std::make_unique<Computer>(1));
        room[1].start();
        std::optional<Result<Bytes>> outcome;
        const auto done = [&](Result<Bytes> file) { outcome = std::move(file); };
        room[1].session->fetch_manifest(room[0].session->invite(room.run, "soup"), Duration(20'000), done);
        QVERIFY(room[1].session->manifest_search(room.run).has_value());
        QVERIFY(room.wait([&] { return outcome.has_value(); }));
        QVERIFY2(outcome->ok(), outcome->ok() ? "" : outcome->error().message.c_str());
        QVERIFY(**outcome == room.manifest);
        QVERIFY(!room[1].session->manifest_search(room.run).has_value());

        room[0].shut();
        outcome.reset();
        room[1].session->fetch_manifest({.run = room.run, .name = {}, .hints = {}}, Duration(1'000), done);
        QVERIFY(room.wait([&] { return outcome.has_value(); }));
        QVERIFY(outcome->ok());
    }

    void a_manifest_that_nobody_has_times_out_with_a_sentence() {
        Room room;
        room.computers.push_back(std::make_unique<Computer>(0));
        room[0].start();
        std::optional<Result<Bytes>> outcome;
        room[0].session->fetch_manifest(
            {.run = RunId{{std::byte{3}}}, .name = {}, .hints = {{.host = "127.0.0.1", .port = 1}}}, Duration(600),
            [&](Result<Bytes> file) { outcome = std::move(file); });
        QVERIFY(room.wait([&] { return outcome.has_value(); }));
        QVERIFY(!outcome->ok());
        QCOMPARE(outcome->error().code, ErrorCode::timed_out);
    }

    void members_who_were_told_of_one_find_the_others() {
        Room room;
        room.open(1);
        for (std::size_t i = 1; i < 4; ++i) {
            room.computers.push_back(std::make_unique<Computer>(i));
            room[i].start({room[0].session->port()});
            QVERIFY(room[i].session->publish_manifest(room.manifest).ok());
            room[i].join(room.run, {room[0].session->port()});
        }
        QVERIFY(room.wait(
            [&] {
                return std::all_of(room.computers.begin(), room.computers.end(),
                                   [](const auto& each) { return each->swarm->neighbours().size() == 3; });
            },
            90'000));
    }

    void a_member_that_comes_back_is_met_again_without_a_hint() {
        Room room;
        room.open(2);
        QVERIFY(room.wait_until_all_know_each_other());
        QVERIFY(room[1].shut());
        QVERIFY(room.wait([&] { return room[0].swarm->neighbours().empty(); }));
        QCOMPARE(room[0].witness.lost, std::vector<PeerId>{room[1].id()});
        room[1].witness = {};
        room[1].start();
        room[1].join(room.run, {});
        QVERIFY(room.wait_until_all_know_each_other());
    }

    void a_hint_that_is_not_there_yet_is_tried_again() {
        Room room;
        room.open(1);
        const std::uint16_t port = room[0].session->port();
        room.computers.push_back(std::make_unique<Computer>(1));
        room[1].start();
        QVERIFY(room[1].session->publish_manifest(room.manifest).ok());
        room[0].shut();
        room[1].join(room.run, {port});
        QTest::qWait(300);
        room.poll();
        SessionSettings settings;
        settings.data_folder = room[0].path() / "net";
        settings.reach = NetworkScope::loopback;
        settings.port = port;
        room[0].session = std::move(*Session::open(settings));
        room[0].join(room.run, {});
        QVERIFY(room.wait_until_all_know_each_other());
    }

    void a_port_that_is_taken_and_a_folder_that_cannot_be_written_are_sentences() {
        Room room;
        room.open(1);
        QTemporaryDir folder;
        SessionSettings settings;
        settings.data_folder = folder.path().toStdString() + "/net";
        settings.reach = NetworkScope::loopback;
        settings.port = room[0].session->port();
        const Result<std::unique_ptr<Session>> taken = Session::open(settings);
        QVERIFY(!taken.ok());
        QCOMPARE(taken.error().code, ErrorCode::already_exists);
        QVERIFY(taken.error().message.find(std::to_string(settings.port)) != std::string::npos);

        settings.port = 0;
        settings.data_folder = "/proc/nowhere/net";
        const Result<std::unique_ptr<Session>> unwritable = Session::open(settings);
        QVERIFY(!unwritable.ok());
        QVERIFY(unwritable.error().message.find("/proc/nowhere") != std::string::npos);
    }

    void a_run_whose_manifest_is_missing_or_open_already_is_an_error() {
        Room room;
        room.open(1);
        const auto missing =
            room[0].session->open_swarm({.run = RunId{{std::byte{7}}}, .hints = {}}, room[0].identity, room[0].witness);
        QVERIFY(!missing.ok());
        QCOMPARE(missing.error().code, ErrorCode::not_found);
        const auto twice =
            room[0].session->open_swarm({.run = room.run, .hints = {}}, room[0].identity, room[0].witness);
        QVERIFY(!twice.ok());
        QCOMPARE(twice.error().code, ErrorCode::already_exists);
    }

    void a_session_stops_within_its_limit() {
        Room room;
        room.open(3);
        QVERIFY(room.wait_until_all_know_each_other());
        for (const auto& each : room.computers) {
            QElapsedTimer clock;
            clock.start();
            QVERIFY(each->shut());
            QVERIFY2(clock.elapsed() < 5'000, std::to_string(clock.elapsed()).c_str());
        }
    }
};

QTEST_GUILESS_MAIN(TestSwarmDiscovery)
#include "test_swarm_discovery.moc"
