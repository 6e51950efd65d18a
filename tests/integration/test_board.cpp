// The board between real sessions on 127.0.0.1: who asks hears of runs, what is new is passed on, and what is too much
// is refused.
#include <QtTest>

#include "app/node/find/board.h"
#include "app/node/find/finder.h"
#include "tests/integration/swarm_fixture.h"
#include "tests/unit/find/announcement_samples.h"

using namespace potluck;
using namespace potluck::node;
using net::Computer;

namespace {

/// A computer on the board. Its session polls, and so does it.
struct Place {
    explicit Place(std::uint64_t seed) : computer(seed) { computer.start(); }
    void join(const std::vector<std::uint16_t>& ports) {
        std::vector<run::PeerHint> hints;
        for (const std::uint16_t port : ports) hints.push_back({.host = "127.0.0.1", .port = port});
        auto opened = Board::open(*computer.session, hints);
        POTLUCK_CHECK(opened.ok());
        board = std::move(*opened);
        poll();
    }
    void poll() {
        computer.session->poll(steady_now());
        if (board) board->tick(steady_now(), unix_milliseconds());
    }
    [[nodiscard]] std::uint16_t port() const { return computer.session->port(); }
    [[nodiscard]] std::size_t held() const { return board->runs().found(unix_milliseconds()).size(); }

    Computer computer;
    std::unique_ptr<Board> board;  // goes before the session
};

template <class Condition>
bool wait_for(std::vector<Place*> places, const Condition& condition, int milliseconds = 20'000) {
    QElapsedTimer clock;
    clock.start();
    while (!condition()) {
        if (clock.elapsed() > milliseconds) return false;
        for (Place* place : places) place->poll();
        QThread::msleep(5);
    }
    return true;
}

Bytes announced_now(std::uint64_t host, std::uint64_t number) {
    const identity::Identity key = find::samples::key(host);
    find::Announcement one = find::samples::fresh(key, number);
    one.made = unix_milliseconds();
    return find::sign(one, key);
}

}  // namespace

class TestBoard : public QObject {
    Q_OBJECT
private slots:
    void a_newcomer_hears_of_runs_from_those_who_host_them_and_from_others() {
        Place host(1), other(2), newcomer(3);
        host.join({});
        host.board->announce(announced_now(1, 1));
        other.join({host.port()});
        QVERIFY(wait_for({&host, &other}, [&] { return other.held() == 1; }));
        QCOMPARE(other.board->runs().found(unix_milliseconds())[0].vouch, find::Vouch::network);
        host.board.reset();
        newcomer.join({other.port()});
        QVERIFY(wait_for({&host, &other, &newcomer}, [&] { return newcomer.held() == 1; }));
        // Heard of from somebody who does not host it.
        QCOMPARE(newcomer.board->runs().found(unix_milliseconds())[0].vouch, find::Vouch::nobody);
        QCOMPARE(newcomer.board->answers(), std::size_t{1});
    }
    void new_announcements_are_passed_on() {
        Place host(1), middle(2), end(3);
        middle.join({});
        host.join({middle.port()});
        end.join({middle.port()});
        QVERIFY(wait_for({&host, &middle, &end}, [&] { return middle.board->neighbours() == 2; }));
        host.board->announce(announced_now(1, 1));
        QVERIFY(wait_for({&host, &middle, &end}, [&] { return end.held() == 1; }));
        host.board->announce(announced_now(1, 2));
        QVERIFY(wait_for({&host, &middle, &end}, [&] { return end.held() == 2; }));
    }
    void the_boards_text_is_its_only_torrent() {
        Place place(1);
        place.join({});
        QCOMPARE(place.computer.session->counters().torrents, std::uint64_t{1});
    }
    void a_finder_leaves_the_board_after_a_while() {
        Place host(1);
        host.join({});
        host.board->announce(announced_now(1, 1));
        Place looker(2);
        Finder finder;
        finder.set_hints({{.host = "127.0.0.1", .port = host.port()}});
        const TimePoint start = steady_now();
        control::FoundRuns found;
        const auto hears = [&] {
            finder.tick(*looker.computer.session, {}, start, unix_milliseconds());
            found = *finder.look(*looker.computer.session, start, unix_milliseconds());
            return found.rows.size() == 1;
        };
        QVERIFY(wait_for({&host, &looker}, hears));
        QCOMPARE(found.rows[0].name, std::string("Küche"));
        QCOMPARE(found.rows[0].vouched_by, control::VouchedBy::network);
        QCOMPARE(found.neighbours, std::uint64_t{1});
        QVERIFY(run::Invite::parse(found.rows[0].magnet).ok());
        finder.tick(*looker.computer.session, {}, start + Finder::open_after_look - Duration{1}, unix_milliseconds());
        QVERIFY(wait_for({&host, &looker}, [&] { return host.board->neighbours() == 1; }));
        finder.tick(*looker.computer.session, {}, start + Finder::open_after_look, unix_milliseconds());
        QVERIFY(wait_for({&host, &looker}, [&] { return host.board->neighbours() == 0; }));
        finder.close();
    }
    void a_question_that_comes_too_often_and_what_is_no_message_are_refused() {
        Place place(1);
        place.join({});
        const RunId board = *place.computer.session->publish_manifest(as_bytes(board_text));
        Computer stranger(2);
        stranger.start();
        QVERIFY(stranger.session->publish_manifest(as_bytes(board_text)).ok());
        std::vector<Bytes> heard;
        net::SwarmOptions options{.run = board, .hints = {{.host = "127.0.0.1", .port = place.port()}}};
        options.on_board = [&](const net::BoardSource&, Bytes message) { heard.push_back(std::move(message)); };
        stranger.swarm = *stranger.session->open_swarm(std::move(options), stranger.identity, stranger.witness);
        const auto both = [&](auto condition) {
            return wait_for({&place}, [&] {
                stranger.session->poll(steady_now());
                return condition();
            });
        };
        QVERIFY(both([&] { return !stranger.witness.met.empty(); }));
        place.board->announce(announced_now(1, 1));
        const PeerId peer = stranger.witness.met[0];
        for (int i = 0; i < 3; ++i) stranger.swarm->tell(peer, find::encode(find::BoardQuestion{}));
        stranger.swarm->tell(peer, Bytes{std::byte{7}});
        const auto counted = [&](run::Verdict verdict) {
            const auto& counts = place.board->runs().counts();
            return counts.contains(verdict) ? counts.at(verdict) : 0;
        };
        QVERIFY(both([&] { return counted(run::Verdict::malformed) == 1; }));
        QCOMPARE(counted(run::Verdict::flood), std::uint64_t{2});
        // Its own question, the announcement when it was made, and one answer.
        QVERIFY(both([&] { return heard.size() == 3; }));
        stranger.swarm.reset();
    }
};

QTEST_GUILESS_MAIN(TestBoard)
#include "test_board.moc"
