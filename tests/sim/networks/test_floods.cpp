// Contributions of fresh keys by the thousand, each of them well-formed, signed and within every budget: rounds go on
// at their pace, honest members keep each other, and what it costs them stays small.
#include <QTest>

#include <algorithm>
#include <array>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "core/base/check.h"
#include "core/base/sha256.h"
#include "core/peer/payloads/payload_questions.h"
#include "core/peer/payloads/payloads.h"
#include "tests/sim/checks.h"
#include "tests/sim/scenario.h"
#include "tests/sim/seeds.h"
#include "tests/sim/stranger.h"

using namespace potluck;
using namespace potluck::sim;

namespace {

constexpr std::size_t keys_made = 3'200;  // what a round has places for, and some
constexpr std::uint64_t rounds = 6;

const std::vector<identity::Identity>& fresh_keys() {
    static const std::vector<identity::Identity> keys = [] {
        std::vector<identity::Identity> made;
        for (std::uint32_t number = 0; number < keys_made; ++number) {
            std::array<std::byte, 32> seed{};
            seed.fill(std::byte{0xdd});
            seed[0] = static_cast<std::byte>(number);
            seed[1] = static_cast<std::byte>(number >> 8U);
            made.push_back(identity::Identity::from_seed(seed));
        }
        return made;
    }();
    return keys;
}

/// Offers contributions to the present round in the name of one fresh key after the other, through sessions of its own,
/// `per_tick` at each tick. Nobody can fetch their payloads.
class Flood {
public:
    Flood(World& world, std::size_t sessions, std::size_t per_tick) : m_world(world), m_per_tick(per_tick) {
        for (std::size_t i = 0; i < sessions; ++i)
            m_sessions.push_back(std::make_unique<Stranger>(world, hostile_key(static_cast<std::uint8_t>(i))));
    }
    void tick() {
        const auto head = m_world.home(0).ledger.head(m_world.run());
        if (!head) return;
        const StateDigest base = m_world.home(0).ledger.digest_after(m_world.run(), head->round).value();
        for (std::size_t i = 0; i < m_per_tick; ++i, ++m_next) {
            const identity::Identity& key = fresh_keys()[m_next % keys_made];
            run::ContributionMessage message{head->round.next(), base, {}, {640}};
            message.payload.root.bytes = sha256(key.id().bytes).bytes;
            message.payload.root.bytes[0] = static_cast<std::byte>(head->round.value);
            message.payload.size = 200;
            const run::Envelope envelope = sealed(key, m_world.run(), message);
            for (std::size_t member = 0; member < m_world.size(); ++member)
                m_world.peer(member).on_envelope(m_sessions[m_next % m_sessions.size()]->id(), envelope);
        }
    }
    [[nodiscard]] std::size_t offered() const { return m_next; }

private:
    World& m_world;
    std::size_t m_per_tick, m_next = 0;
    std::vector<std::unique_ptr<Stranger>> m_sessions;
};

/// Of the last state from what members train toward, as a share of the first one's.
double distance_after(World& world) {
    return FakeTrainer::distance(world.home(0).disk.state(RoundId{rounds}).parameters) /
           FakeTrainer::distance(world.initial_state());
}

/// Whether any two honest members refuse each other.
bool any_severed(World& world) {
    for (std::size_t a = 0; a < world.size(); ++a) {
        for (std::size_t b = 0; b < world.size(); ++b) {
            if (a != b && world.network().port(world.home(a).id())->refuses(world.home(b).id())) return true;
        }
    }
    return false;
}

/// Contributions that drew no place at the host.
std::uint64_t refused_for_room(World& world) {
    for (const auto& [verdict, count] : world.peer(0).verdicts()) {
        if (verdict == run::Verdict::no_room) return count;
    }
    return 0;
}

/// A run in the middle of a long window, and contributions of fresh keys to its round, one after the other.
struct Draw {
    Draw() : world(10, {.backbones = 1, .volunteers = 2, .rounds = 20, .window = Duration{60'000}}) {
        world.start_all();
        const bool there = world.run_until([&] { return world.all_at(2); }, Duration{300'000});
        POTLUCK_CHECK(there);
        world.run_for(Duration{2'000});
    }
    run::Envelope offer_of(std::size_t number) {
        const run::AcceptList head = world.home(0).ledger.head(world.run()).value();
        const StateDigest base = world.home(0).ledger.digest_after(world.run(), head.round).value();
        run::ContributionMessage message{head.round.next(), base, {}, {640}};
        message.payload.root = payload_of(number);
        message.payload.size = 200;
        return sealed(fresh_keys()[number], world.run(), message);
    }
    static BlobId payload_of(std::size_t number) { return {sha256(fresh_keys()[number].id().bytes).bytes}; }
    /// Which of the first `count` keys draw a place when `session` has passed on all of them to the first volunteer.
    std::set<std::size_t> drawn_through(const PeerId& session, std::size_t count) {
        std::set<std::size_t> drawn;
        for (std::size_t number = 0; number < count; ++number) {
            const run::Verdict verdict = verdict_of(world, 1, session, offer_of(number));
            POTLUCK_CHECK(verdict == run::Verdict::accepted || verdict == run::Verdict::no_room);
            if (verdict == run::Verdict::accepted) drawn.insert(number);
        }
        return drawn;
    }
    /// Of the first `count`, those whose lots are not among the 64 lowest.
    std::set<std::size_t> losers_of(std::size_t count) {
        const Digest last = world.home(0).ledger.head(world.run())->hash();
        std::vector<std::pair<Digest, std::size_t>> lots;
        for (std::size_t number = 0; number < count; ++number) {
            ByteWriter lot;
            lot.raw(last.bytes);
            lot.raw(fresh_keys()[number].id().bytes);
            lots.emplace_back(sha256(lot.bytes()), number);
        }
        std::sort(lots.begin(), lots.end());
        std::set<std::size_t> losers;
        for (std::size_t i = run::newcomers_max; i < lots.size(); ++i) losers.insert(lots[i].second);
        return losers;
    }
    World world;
};

}  // namespace

class FloodsTest : public QObject {
    Q_OBJECT
private slots:
    void fresh_keys_stop_no_rounds_data() {
        QTest::addColumn<int>("sessions");
        QTest::addColumn<int>("per_tick");
        QTest::addColumn<int>("late");
        QTest::newRow("60 a second through one session") << 1 << 6 << 0;
        QTest::newRow("3,200 at once through two sessions, each round") << 2 << 320 << 0;
        QTest::newRow("3,200 at once through twenty sessions") << 20 << 320 << 0;
        QTest::newRow("the same where late contributions count") << 20 << 320 << 1;
    }
    void fresh_keys_stop_no_rounds() {
        QFETCH(int, sessions);
        QFETCH(int, per_tick);
        QFETCH(int, late);
        World world(7, {.backbones = 1,
                        .volunteers = 4,
                        .rounds = rounds,
                        .friends = false,
                        .rounds_late_max = static_cast<std::uint32_t>(late)});
        world.start_all();
        // Those that train honestly are established when the flood comes.
        QVERIFY(world.run_until([&] { return world.all_at(3); }, Duration{60'000}));
        const TimePoint began = world.now();
        Flood flood(world, static_cast<std::size_t>(sessions), static_cast<std::size_t>(per_tick));
        std::size_t wanted = 0, questions = 0;
        world.network().on_send = [&](const PeerId&, const PeerId&, const run::Envelope& envelope) {
            if (envelope.kind == run::MessageKind::payload_request) ++questions;
        };
        TimePoint tick_at = world.now();
        const auto flood_and_look = [&] {
            if (world.now() >= tick_at) {
                tick_at = world.now() + Duration{100};
                flood.tick();
            }
            for (std::size_t i = 0; i < world.size(); ++i)
                wanted = std::max(wanted, world.network().port(world.home(i).id())->wanted());
            return world.all_at(rounds);
        };
        QVERIFY(world.run_until(flood_and_look, Duration{120'000}));
        const Duration taken = world.now() - began;
        QVERIFY(flood.offered() > 600);
        QVERIFY(refused_for_room(world) > 500);
        QVERIFY(!any_severed(world));
        // A window and what the exchange takes, and in every other round the wait for those that contribute nothing.
        QVERIFY2(taken <= (rounds - 3) * Duration{6'000 + 2'000}, std::to_string(taken.count()).c_str());
        QVERIFY2(wanted <= peer::newcomers_fetched_max + 2 * world.size(), std::to_string(wanted).c_str());
        // At most 64 places a round and session to be asked about, by each of five members.
        const std::size_t questions_max = (rounds - 2) * run::newcomers_max * world.size() * world.size();
        QVERIFY2(questions <= questions_max, std::to_string(questions).c_str());
        for (std::size_t i = 1; i < world.size(); ++i) {
            const ledger::Credit credit = world.home(0).ledger.credit_of(world.run(), world.home(i).id());
            QCOMPARE(credit.rounds, rounds);
        }
        // What the model learned is what it learns without a flood.
        World calm(7, world.plan());
        calm.start_all();
        QVERIFY(calm.run_until([&] { return calm.all_at(rounds); }, Duration{120'000}));
        const double beside = distance_after(world), alone = distance_after(calm);
        qInfo("distance %.4f of the first beside the flood, %.4f without", beside, alone);
        QVERIFY(beside <= 1.05 * alone);
        for (const identity::Identity& key : fresh_keys())
            QCOMPARE(world.home(0).ledger.credit_of(world.run(), key.id()).rounds, std::uint64_t{0});
        QCOMPARE(digest_origins(world).wrong, 0U);
    }

    /// Statuses are free, too.
    void fresh_keys_that_pretend_to_train_are_not_waited_for() {
        World world(8, {.backbones = 1, .volunteers = 3, .rounds = rounds});
        world.start_all();
        QVERIFY(world.run_until([&] { return world.all_at(3); }, Duration{60'000}));
        const TimePoint began = world.now();
        std::vector<std::unique_ptr<Stranger>> idle;
        for (std::uint8_t i = 0; i < 8; ++i) idle.push_back(std::make_unique<Stranger>(world, hostile_key(i)));
        TimePoint tick_at = world.now();
        std::uint64_t sequence = 0;
        const auto pretend_and_look = [&] {
            if (world.now() >= tick_at) {
                tick_at = world.now() + Duration{1'000};
                ++sequence;
                run::StatusMessage status;
                status.sequence = sequence;
                status.phase = run::Phase::training;
                status.round = RoundId{world.round_of(0)};
                status.window_tokens = {640};
                for (const auto& one : idle) one->broadcast(status);
            }
            return world.all_at(rounds);
        };
        QVERIFY(world.run_until(pretend_and_look, Duration{120'000}));
        const Duration taken = world.now() - began;
        QVERIFY2(taken <= (rounds - 3) * Duration{6'000 + 2'000}, std::to_string(taken.count()).c_str());
    }

    /// Its contributions come when the others' are long there, and none that is late counts.
    void a_slow_newcomer_is_waited_for_until_it_is_known() {
        World world(11, {.backbones = 1, .volunteers = 3, .rounds = 20});
        const std::size_t slow = world.size() - 1;
        for (std::size_t i = 0; i < slow; ++i) world.start(i);
        QVERIFY(world.run_until([&] { return world.round_of(0) >= 3; }, Duration{60'000}));
        world.home(slow).slowness = 12;
        world.start(slow);
        QVERIFY(world.run_until([&] { return world.round_of(0) >= 20; }, Duration{400'000}));
        const std::uint64_t accepted = world.home(0).ledger.credit_of(world.run(), world.home(slow).id()).rounds;
        QVERIFY2(accepted >= 9, std::to_string(accepted).c_str());
    }

    void a_newcomer_without_a_place_costs_no_signature() {
        Draw draw;
        const Stranger session(draw.world, hostile_key(1));
        const std::uint64_t before = draw.world.verifications();
        const std::size_t drawn = draw.drawn_through(session.id(), 300).size();
        QVERIFY(drawn >= run::newcomers_per_session && drawn <= run::newcomer_draws_per_session);
        QCOMPARE(draw.world.verifications(), before + drawn);
    }

    void a_hub_that_the_host_vouches_for_passes_on_more_newcomers() {
        Draw draw;
        QVERIFY(draw.drawn_through(draw.world.home(0).id(), 300).size() > run::newcomers_max);
    }

    void a_neighbour_is_asked_32_questions_until_it_answers() {
        Draw draw;
        std::set<BlobId> asked;
        std::size_t questions = 0;
        draw.world.network().on_send = [&](const PeerId& from, const PeerId&, const run::Envelope& envelope) {
            if (from != draw.world.home(1).id() || envelope.kind != run::MessageKind::payload_request) return;
            asked.insert(std::get<run::PayloadRequest>(*run::decode_body(envelope.kind, envelope.body)).payload);
            ++questions;
        };
        (void)draw.drawn_through(draw.world.home(0).id(), 300);
        QCOMPARE(questions, peer::questions_unanswered_max);
        // Others have their turn, but not those that have given way meanwhile.
        const std::set<BlobId> at_once = std::exchange(asked, {});
        draw.world.run_for(Duration{12'000});
        QVERIFY(asked.size() > 8);
        for (const std::size_t loser : draw.losers_of(300)) QVERIFY(!asked.contains(Draw::payload_of(loser)));
    }

    void a_newcomer_that_gives_way_is_not_fetched_any_more() {
        Draw draw;
        const std::set<std::size_t> drawn = draw.drawn_through(draw.world.home(0).id(), 300);
        const std::set<std::size_t> losers = draw.losers_of(300);
        std::size_t displaced = 0;
        for (const std::size_t one : drawn) displaced += losers.contains(one) ? 1 : 0;
        QVERIFY(displaced > 10);
        const auto* port = draw.world.network().port(draw.world.home(1).id());
        std::size_t fetched = 0;
        for (int i = 0; i < 120; ++i) {
            draw.world.run_for(Duration{100});
            for (const std::size_t one : drawn) {
                if (!port->wants(Draw::payload_of(one))) continue;
                QVERIFY(!losers.contains(one));
                ++fetched;
            }
        }
        QVERIFY(fetched > 0);
    }

    /// A newcomer that works finds its place beside a flood that is not everywhere.
    void an_honest_newcomer_gets_in_beside_a_flood() {
        World world(9, {.backbones = 1, .volunteers = 4, .rounds = 12});
        const std::size_t late = world.size() - 1;
        for (std::size_t i = 0; i < late; ++i) world.start(i);
        QVERIFY(world.run_until([&] { return world.round_of(0) >= 3; }, Duration{60'000}));
        world.start(late);
        Stranger session(world, hostile_key(99));
        TimePoint tick_at = world.now();
        std::size_t next = 0;
        const auto flood_and_look = [&] {
            if (world.now() >= tick_at) {
                tick_at = world.now() + Duration{100};
                const auto head = world.home(0).ledger.head(world.run());
                for (int i = 0; head && i < 100; ++i) {
                    const identity::Identity& key = fresh_keys()[next++ % keys_made];
                    run::ContributionMessage message{
                        head->round.next(),
                        world.home(0).ledger.digest_after(world.run(), head->round).value(),
                        {},
                        {640}};
                    message.payload.root.bytes = sha256(key.id().bytes).bytes;
                    message.payload.size = 200;
                    world.peer(0).on_envelope(session.id(), sealed(key, world.run(), message));
                }
            }
            return world.round_of(0) >= 12;
        };
        QVERIFY(world.run_until(flood_and_look, Duration{300'000}));
        QVERIFY(world.home(0).ledger.credit_of(world.run(), world.home(late).id()).rounds >= 4);
    }
};

QTEST_APPLESS_MAIN(FloodsTest)
#include "test_floods.moc"
