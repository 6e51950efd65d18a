// Somebody who speaks the extension but means no good. The attacker is built from our own channel without its manners.
#include <QtTest>

#include <algorithm>
#include <fstream>
#include <future>

#include <boost/asio/post.hpp>
#include <libtorrent/bdecode.hpp>

#include "net/engine.h"
#include "net/links/channel.h"
#include "net/links/frame.h"
#include "net/links/secure_channel.h"
#include "net/manifests.h"
#include "tests/integration/swarm_fixture.h"

using namespace potluck;
using namespace potluck::net;

namespace {

/// Connects to a member and sends what it likes.
class Attacker {
public:
    explicit Attacker(const Room& room, std::uint64_t seed = 99)
        : m_identity(Computer::identity_of(seed)), m_run(room.run) {
        SessionSettings settings;
        settings.data_folder = m_folder.path().toStdString();
        settings.reach = NetworkScope::loopback;
        std::filesystem::create_directories(settings.data_folder / "manifests");
        m_engine = std::move(*Engine::open(settings));
        m_hub = std::make_shared<Hub>(m_engine->io(), std::function<void()>());
        Manifests manifests(*m_engine, settings.data_folder / "manifests");
        POTLUCK_CHECK(manifests.publish(room.manifest).ok());
        lt::add_torrent_params params = *manifests.seed_params(room.run);
        params.peers.emplace_back(lt::make_address("127.0.0.1"), room.computers[0]->session->port());
        params.extensions.push_back(m_hub->plugin());
        m_torrent = *m_engine->add(std::move(params), Engine::Start::when_checked);
    }
    ~Attacker() {
        m_hub->retire();
        m_torrent = {};
        static_cast<void>(m_engine->stop(Duration(3'000)));
    }

    /// Takes what came; with a channel, answers the handshake.
    void poll() {
        for (LinkEvent& event : m_hub->take()) {
            if (event.kind == LinkEvent::Kind::opened) {
                if (m_gauge) continue;  // others learn of him and connect, too
                m_link = event.link;
                m_gauge = event.gauge;
            } else if (event.link == m_link) {
                m_gauge->waiting -= event.frame.size();
                if (m_peer_hello.empty()) m_peer_hello = event.frame;
                if (m_channel) receive(event.frame);
            }
        }
    }
    /// Says after the handshake that it is the process `number`.
    void greet(std::uint8_t number = 1) {
        m_process = number;
        m_channel.emplace(m_identity, m_run.bytes);
        m_hello = m_channel->hello();
        send(m_hello);
        if (!m_peer_hello.empty()) receive(m_peer_hello);
    }
    /// Both ends of a link have the same one; of two sessions with one member the lesser is kept.
    [[nodiscard]] std::pair<Bytes, Bytes> tag() const { return std::minmax(m_hello, m_peer_hello); }
    void send(Bytes frame) { m_hub->send(m_link, m_gauge, std::move(frame)); }
    [[nodiscard]] Bytes sealed(ByteSpan plain) { return m_channel->seal(plain); }
    [[nodiscard]] bool linked() const { return m_gauge != nullptr; }
    [[nodiscard]] bool authenticated() const { return m_channel && m_channel->state() == SecureChannel::State::open; }
    [[nodiscard]] bool thrown_out() const { return m_gauge && m_gauge->closed; }
    [[nodiscard]] const PeerId& id() const { return m_identity.id(); }
    /// What it was told, opened.
    [[nodiscard]] const std::vector<Bytes>& messages() const { return m_messages; }
    [[nodiscard]] bool was_told(const run::Envelope& envelope) const {
        return std::find(m_messages.begin(), m_messages.end(), encode_frame(envelope)) != m_messages.end();
    }
    [[nodiscard]] std::size_t unsent() const { return m_gauge->unsent; }
    /// A sealed message of exactly `size` bytes on the wire.
    [[nodiscard]] Bytes sealed_of_size(std::size_t size) {
        run::Envelope envelope{
            .run = m_run, .sender = id(), .kind = run::MessageKind::status, .body = {}, .signature = {}};
        envelope.body.resize(size - encode_frame(envelope).size() - channel_overhead_bytes);
        // The length of the body is written in decimal digits, which take room themselves.
        while (encode_frame(envelope).size() + channel_overhead_bytes > size) envelope.body.pop_back();
        const Bytes plain = encode_frame(envelope);
        POTLUCK_CHECK(plain.size() + channel_overhead_bytes == size);
        return sealed(plain);
    }
    /// Reads nothing from its sockets from now on, until `go_on`.
    void stop_reading() {
        boost::asio::post(m_engine->io(), [waiting = m_go_on.get_future().share()] { waiting.wait(); });
    }
    void go_on() { m_go_on.set_value(); }

private:
    void receive(const Bytes& frame) {
        const bool was_open = authenticated();
        SecureChannel::Received received = m_channel->receive(frame);
        if (received.reply) send(*received.reply);
        if (received.message) m_messages.push_back(std::move(*received.message));
        if (!was_open && authenticated())
            send(sealed(encode_greeting(id(), Bytes(process_bytes, std::byte{m_process}))));
    }

    std::promise<void> m_go_on;
    QTemporaryDir m_folder;
    identity::Identity m_identity;
    RunId m_run;
    std::unique_ptr<Engine> m_engine;
    std::shared_ptr<Hub> m_hub;
    lt::torrent_handle m_torrent;
    std::optional<SecureChannel> m_channel;
    Bytes m_hello, m_peer_hello;
    std::vector<Bytes> m_messages;
    std::uint8_t m_process = 1;
    std::shared_ptr<LinkStats> m_gauge;
    LinkId m_link = 0;
};

/// Memory of this process, in bytes; zero where the system does not tell.
std::size_t memory_now() {
    std::ifstream file("/proc/self/statm");
    std::size_t pages = 0, resident = 0;
    file >> pages >> resident;
    return resident * 4096;
}

bool wait(Room& room, Attacker& attacker, const std::function<bool()>& condition, int milliseconds = 20'000) {
    return room.wait(
        [&] {
            attacker.poll();
            return condition();
        },
        milliseconds);
}

bool authenticate(Room& room, Attacker& attacker) {
    if (!wait(room, attacker, [&] { return attacker.linked(); })) return false;
    attacker.greet();
    const auto open = [&] { return attacker.authenticated() && !room[0].swarm->neighbours().empty(); };
    if (!wait(room, attacker, open)) return false;
    static_cast<void>(wait(
        room, attacker, [] { return false; }, 300));  // his greeting arrives
    return true;
}

}  // namespace

class TestSwarmHostile : public QObject {
    Q_OBJECT

private slots:
    void garbage_instead_of_a_handshake_ends_the_connection() {
        Room room;
        room.handshake_patience = Duration(600'000);  // it is the garbage that ends it
        room.open(1);
        Attacker attacker(room);
        QVERIFY(wait(room, attacker, [&] { return attacker.linked(); }));
        attacker.send(random_bytes(500, 1));
        QVERIFY(wait(room, attacker, [&] { return attacker.thrown_out(); }));
        QCOMPARE(room[0].swarm->counters().frames_malformed, 1U);
        QVERIFY(room[0].witness.met.empty());
    }

    void a_frame_that_was_tampered_with_ends_the_session() {
        Room room;
        room.open(1);
        Attacker attacker(room);
        QVERIFY(authenticate(room, attacker));
        Bytes frame = attacker.sealed(encode_frame(
            {.run = room.run, .sender = attacker.id(), .kind = run::MessageKind::status, .body = {}, .signature = {}}));
        frame[frame.size() / 2] ^= std::byte{1};
        attacker.send(std::move(frame));
        QVERIFY(wait(room, attacker, [&] { return attacker.thrown_out(); }));
        QVERIFY(room[0].witness.envelopes.empty());
        QCOMPARE(room[0].swarm->counters().frames_malformed, 1U);
        QCOMPARE(room[0].witness.lost, std::vector<PeerId>{attacker.id()});
    }

    void a_sealed_frame_of_garbage_ends_the_session() {
        Room room;
        room.open(1);
        Attacker attacker(room);
        QVERIFY(authenticate(room, attacker));
        attacker.send(attacker.sealed(random_bytes(2'000, 2)));
        QVERIFY(wait(room, attacker, [&] { return attacker.thrown_out(); }));
        QCOMPARE(room[0].swarm->counters().frames_malformed, 1U);
    }

    /// The node's thread takes nothing meanwhile: it is the network's thread that refuses a frame by its length.
    void a_frame_that_is_too_long_ends_the_connection() {
        for (const int more : {0, 1}) {
            Room room;
            room.open(1);
            Attacker attacker(room);
            QVERIFY(authenticate(room, attacker));
            attacker.send(Bytes(static_cast<std::size_t>(link_frame_bytes_max + more)));
            const auto sent = [&] { return attacker.unsent() == 0 || attacker.thrown_out(); };
            QVERIFY(QTest::qWaitFor(sent, 10'000));
            if (more == 1) QVERIFY(QTest::qWaitFor([&] { return attacker.thrown_out(); }, 10'000));
            QTest::qWait(300);  // what is sent arrives
            QCOMPARE(attacker.thrown_out(), more == 1);
            QVERIFY(wait(room, attacker, [&] { return room[0].swarm->counters().frames_malformed == 1; }));
        }
    }

    void a_flood_of_small_frames_ends_the_connection() {
        Room room;
        room.open(1);
        Attacker attacker(room);
        QVERIFY(authenticate(room, attacker));
        const Bytes plain = encode_frame(
            {.run = room.run, .sender = attacker.id(), .kind = run::MessageKind::status, .body = {}, .signature = {}});
        for (int i = 0; i < 20'000; ++i) attacker.send(attacker.sealed(plain));
        QVERIFY(wait(room, attacker, [&] { return attacker.thrown_out() && room[0].swarm->counters().floods == 1; }));
        QVERIFY(room[0].swarm->counters().messages_received <= static_cast<std::uint64_t>(link_frames_at_once) + 5'000);
    }

    /// The node's thread is busy and takes nothing: exactly 8 MiB may wait for it, and not a message more.
    void as_many_bytes_wait_as_the_limit_says() {
        constexpr std::size_t frame_bytes = 512 * 1024;
        constexpr int frames = static_cast<int>(link_bytes_waiting_max / frame_bytes);
        Room room;
        room.open(1);
        Attacker attacker(room);
        QVERIFY(authenticate(room, attacker));
        for (const int more : {0, 1}) {
            for (int i = 0; i < frames; ++i) attacker.send(attacker.sealed_of_size(frame_bytes));
            if (more == 1) attacker.send(attacker.sealed_of_size(200));
            const auto sent = [&] { return attacker.unsent() == 0 || attacker.thrown_out(); };
            QVERIFY(QTest::qWaitFor(sent, 10'000));
            if (more == 1) QVERIFY(QTest::qWaitFor([&] { return attacker.thrown_out(); }, 10'000));
            QTest::qWait(300);  // what is sent arrives
            QCOMPARE(attacker.thrown_out(), more == 1);
            const std::uint64_t expected = static_cast<std::uint64_t>(frames) * (more + 1U);
            QVERIFY(wait(room, attacker, [&] { return room[0].swarm->counters().messages_received == expected; }));
            QVERIFY(wait(room, attacker, [&] { return room[0].swarm->counters().floods == more * 1U; }));
        }
    }

    void a_flood_of_large_frames_takes_no_more_memory_than_may_wait() {
        if (memory_now() == 0) QSKIP("this system does not tell how much memory a process has");
        constexpr std::size_t frame_bytes = 512 * 1024, offered = 256UL << 20U, slack = 24UL << 20U;
        Room room;
        room.open(1);
        Attacker attacker(room);
        QVERIFY(authenticate(room, attacker));
        const std::size_t before = memory_now();
        std::size_t peak = before;
        // He keeps little himself: what grows is the victim's.
        for (std::size_t sent = 0; sent < offered && !attacker.thrown_out(); sent += frame_bytes) {
            attacker.send(attacker.sealed_of_size(frame_bytes));
            const auto written = [&] { return attacker.unsent() == 0 || attacker.thrown_out(); };
            QVERIFY(QTest::qWaitFor(written, 10'000));
            peak = std::max(peak, memory_now());
        }
        QVERIFY(attacker.thrown_out());
        QVERIFY2(peak - before < link_bytes_waiting_max + slack, qPrintable(QString::number((peak - before) >> 20U)));
    }

    void a_peer_that_does_not_read_is_dropped_before_much_waits_for_it() {
        constexpr std::size_t body = 512 * 1024, attempted = 128UL << 20U;
        constexpr std::size_t system_buffers = 24UL << 20U;  // both sockets', and what libtorrent holds
        Room room;
        room.open(1);
        Attacker attacker(room);
        QVERIFY(authenticate(room, attacker));
        attacker.stop_reading();
        const std::size_t before = memory_now();
        std::size_t sent = 0, peak = before;
        const run::Envelope envelope{.run = room.run,
                                     .sender = room[0].id(),
                                     .kind = run::MessageKind::status,
                                     .body = Bytes(body),
                                     .signature = {}};
        while (sent < attempted && room[0].swarm->counters().overflows == 0) {
            room[0].swarm->broadcast(envelope);
            sent += body;
            room.poll();
            QTest::qWait(2);
            peak = std::max(peak, memory_now());
        }
        QCOMPARE(room[0].swarm->counters().overflows, 1U);
        QVERIFY2(sent >= link_bytes_unsent_max, qPrintable(QString::number(sent)));
        QVERIFY2(sent <= link_bytes_unsent_max + system_buffers, qPrintable(QString::number(sent)));
        QVERIFY2(peak - before < link_bytes_unsent_max + 2 * system_buffers,
                 qPrintable(QString::number(peak - before)));
        QVERIFY(room.wait([&] { return room[0].witness.lost == std::vector<PeerId>{attacker.id()}; }));
        QVERIFY(room[0].swarm->neighbours().empty());
        attacker.go_on();
    }

    void a_handshake_that_never_ends_is_given_up() {
        QCOMPARE(SwarmOptions().handshake_patience, Duration(10'000));
        Room room;
        room.handshake_patience = Duration(700);
        room.open(1);
        Attacker attacker(room);
        QVERIFY(wait(room, attacker, [&] { return attacker.linked(); }));
        QElapsedTimer clock;
        clock.start();
        QVERIFY(wait(
            room, attacker, [&] { return attacker.thrown_out(); }, 8'000));
        QVERIFY2(clock.elapsed() > 300, qPrintable(QString::number(clock.elapsed())));
        QVERIFY(room[0].witness.met.empty());
        QCOMPARE(room[0].swarm->counters().frames_malformed, 0U);
    }

    void a_session_with_oneself_is_refused() {
        Room room;
        room.open(1);
        Attacker mirror(room, 0);  // the same identity as the first computer
        QVERIFY(mirror.id() == room[0].id());
        QVERIFY(wait(room, mirror, [&] { return mirror.linked(); }));
        mirror.greet();
        QVERIFY(wait(room, mirror, [&] { return mirror.thrown_out(); }));
        QVERIFY(room[0].witness.met.empty());
        QVERIFY(room[0].swarm->counters().refused >= 1);
        // Only who has the key could open that session, and it was not this process.
        QVERIFY(room[0].witness.own_key_elsewhere >= 1);
    }

    /// Each would come back with new hellos and push the other out, for ever.
    void of_two_processes_with_one_key_the_first_stays_and_the_other_is_shown_why() {
        Room room;
        room.open(1);
        Attacker first(room);
        QVERIFY(authenticate(room, first));
        run::Envelope status{.run = room.run,
                             .sender = first.id(),
                             .kind = run::MessageKind::status,
                             .body = random_bytes(100, 3),
                             .signature = {}};
        first.send(first.sealed(encode_frame(status)));
        QVERIFY(wait(room, first, [&] { return room[0].witness.envelopes.size() == 1; }));
        for (int i = 0; i < 4; ++i) {
            Attacker copy(room);
            const auto both = [&](const std::function<bool()>& condition) {
                return wait(room, first, [&] {
                    copy.poll();
                    return condition();
                });
            };
            QVERIFY(both([&] { return copy.linked(); }));
            copy.greet(2);
            QVERIFY(both([&] { return copy.was_told(status); }));
            // Until its connection is closed it may say what it likes: nothing of it is looked at.
            for (int frame = 0; frame < 3; ++frame) copy.send(copy.sealed(encode_frame(status)));
            QVERIFY(both([&] { return copy.thrown_out(); }));
            QCOMPARE(room[0].witness.envelopes.size(), std::size_t{1});
            QVERIFY(!first.thrown_out());
            QCOMPARE(room[0].swarm->counters().copies, static_cast<std::uint64_t>(i + 1));
        }
        QCOMPARE(room[0].witness.met, std::vector<PeerId>{first.id()});
        QVERIFY(room[0].witness.lost.empty());
    }

    void an_address_holds_as_many_connections_as_it_may_and_no_more() {
        Room room;
        room.local_sessions_max = 2;
        room.open(1);
        std::vector<std::unique_ptr<Attacker>> attackers;
        const auto all = [&](const std::function<bool()>& condition) {
            return room.wait([&] {
                for (const auto& each : attackers) each->poll();
                return condition();
            });
        };
        for (std::uint64_t i = 0; i < 2; ++i) {
            attackers.push_back(std::make_unique<Attacker>(room, 100 + i));
            QVERIFY(all([&] { return attackers.back()->linked(); }));
            attackers.back()->greet();
            QVERIFY(all([&] { return room[0].swarm->neighbours().size() == i + 1; }));
        }
        attackers.push_back(std::make_unique<Attacker>(room, 102));
        QVERIFY(all([&] { return room[0].swarm->counters().crowded >= 1; }));
        QVERIFY(all([&] { return attackers.back()->thrown_out(); }));
        QCOMPARE(room[0].swarm->neighbours().size(), 2U);
        // Who leaves makes room.
        attackers.pop_back();
        attackers.erase(attackers.begin());
        QVERIFY(all([&] { return room[0].swarm->neighbours().size() == 1; }));
        attackers.push_back(std::make_unique<Attacker>(room, 103));
        QVERIFY(all([&] { return attackers.back()->linked(); }));
        attackers.back()->greet();
        QVERIFY(all([&] { return room[0].swarm->neighbours().size() == 2; }));
    }

    /// Which of the two is kept follows from their hellos, which are random: now the older, now the newer.
    void one_session_is_kept_with_somebody_who_comes_twice() {
        bool older_was_kept = false, newer_was_kept = false;
        for (int i = 0; i < 30 && !(older_was_kept && newer_was_kept); ++i) {
            Room room;
            room.open(1);
            Attacker older(room);
            QVERIFY(authenticate(room, older));
            Attacker newer(room);
            const auto both = [&](const std::function<bool()>& condition) {
                return wait(room, older, [&] {
                    newer.poll();
                    return condition();
                });
            };
            QVERIFY(both([&] { return newer.linked(); }));
            newer.greet();
            QVERIFY(both([&] { return older.thrown_out() || newer.thrown_out(); }));
            QTest::qWait(100);
            room.poll();
            QCOMPARE(room[0].swarm->neighbours(), std::vector<PeerId>{older.id()});
            const bool newer_is_less = newer.tag() < older.tag();
            QCOMPARE(older.thrown_out(), newer_is_less);
            QCOMPARE(newer.thrown_out(), !newer_is_less);
            (newer_is_less ? newer_was_kept : older_was_kept) = true;
        }
        QVERIFY(older_was_kept && newer_was_kept);
    }

    void a_member_that_was_dropped_stays_out_for_as_long_as_was_said() {
        Room room;
        room.open(2);
        QVERIFY(room.wait_until_all_know_each_other());
        room[0].swarm->drop(room[1].id(), Duration(3'000));
        QVERIFY(room[0].swarm->neighbours().empty());
        QVERIFY(
            room.wait([&] { return room[0].swarm->counters().refused > 0 || !room[0].swarm->neighbours().empty(); }));
        QVERIFY(room[0].swarm->neighbours().empty());
        QVERIFY(room.wait([&] { return !room[0].swarm->neighbours().empty(); }, 60'000));
    }
};

QTEST_GUILESS_MAIN(TestSwarmHostile)
#include "test_swarm_hostile.moc"
