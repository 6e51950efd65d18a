// Each forgery gets past everything but one line of the product, and its verdict is the one that this line returns.
#include <QTest>

#include <set>

#include "core/numerics/codec/sparse_codec.h"
#include "core/peer/payloads/payloads.h"
#include "core/run/agreement/vote.h"
#include "tests/sim/scenario.h"
#include "tests/sim/stranger.h"

using namespace potluck;
using namespace potluck::sim;
using run::Verdict;

namespace {

constexpr std::size_t host = 0, victim = 1, other = 2;  // members; the host is the committee

/// A world in the middle of a window, and somebody who is no member of it.
struct Scene {
    explicit Scene(std::uint64_t seed, WorldPlan plan = {.rounds = 10}) : world(seed, plan) {
        world.start_all();
        stranger.emplace(world, hostile_key(1));
        const bool there = world.run_until([&] { return world.all_at(2); }, Duration{60'000});
        POTLUCK_CHECK(there);
        world.run_for(Duration{2'000});
    }
    /// A list that may follow the victim's chain if the committee, which is the host, commits it.
    run::AcceptList next_list(run::BlobRef payload) {
        const ledger::Ledger& ledger = world.home(victim).ledger;
        const run::AcceptList head = ledger.head(world.run()).value();
        run::AcceptList list{world.run(),
                             0,
                             head.round.next(),
                             head.hash(),
                             ledger.digest_after(world.run(), head.round).value(),
                             head.k,
                             world.first_committee(),
                             {}};
        const run::ContributionMessage own{list.round, list.base, payload, {640}};
        list.entries = {{stranger->id(), payload, {640}, true, stranger->envelope(own).signature}};
        return list;
    }
    run::CommittedList committed_by(const identity::Identity& key, const run::AcceptList& list) {
        const run::Instance instance{world.run(), 0, list.round};
        const run::SignedVote vote =
            run::sign({instance, 0, run::Step::precommit, list.hash()}, run::IdentityKeyring(key));
        const run::Certificate certificate{instance, 0, run::Step::precommit, list.hash(), 1, {vote.signature}};
        return {list.encode(), run::encode(run::AgreementMessage(certificate))};
    }
    run::BallotMessage ballot_by(const identity::Identity& key, const run::AcceptList& list) {
        const run::CommittedList committed = committed_by(key, list);
        return {committed.certificate, committed.list};
    }
    run::ContributionMessage contribution(run::BlobRef payload, std::uint64_t tokens) {
        const ledger::Ledger& ledger = world.home(victim).ledger;
        const RoundId last = ledger.head(world.run())->round;
        return {last.next(), ledger.digest_after(world.run(), last).value(), payload, {tokens}};
    }
    run::Envelope late_contribution() {
        run::ContributionMessage late = contribution(stranger->publish_payload(0.01F), 640);
        late.round = {0};
        return stranger->envelope(late);
    }
    bool victim_refuses() { return world.network().port(world.home(victim).id())->refuses(stranger->id()); }
    const run::StatusMessage* status_of(std::size_t member, std::size_t seen_by) {
        view = world.peer(seen_by).view();
        for (const peer::MemberView& one : view.members) {
            if (one.id == world.home(member).id()) return &one.status;
        }
        return nullptr;
    }

    World world;
    std::optional<Stranger> stranger;
    peer::PeerView view;
};

std::uint64_t payload_size_max(World& world) {
    return peer::payload_author_bytes + numerics::payload_bytes_max(world.initial_state().size(), world.newest_k());
}

/// One message of each kind, as a member could send it.
std::vector<run::Message> one_of_each(Scene& scene) {
    const run::BlobRef payload = scene.stranger->publish_payload(0.01F);
    const run::AcceptList list = scene.next_list(payload);
    const identity::Identity& key = scene.world.home(host).identity;
    return {run::StatusMessage{},
            run::CloseMessage{{2}},
            scene.contribution(payload, 640),
            scene.ballot_by(key, list),
            run::HistoryRequest{{0}},
            run::HistoryMessage{{scene.committed_by(key, list)}},
            run::LayerRequest{payload.root, 0},
            run::PayloadRequest{payload.root},
            run::LayerMessage{payload.root, 0, {}},
            run::GoodbyeMessage{}};
}

}  // namespace

class ForgeriesTest : public QObject {
    Q_OBJECT
private slots:
    void a_list_needs_the_committees_signatures() {
        Scene scene(1);
        const run::AcceptList list = scene.next_list(scene.stranger->publish_payload(0.01F));
        const auto by = [&](const identity::Identity& key) {
            return scene.stranger->verdict(victim, scene.stranger->envelope(scene.ballot_by(key, list)));
        };
        QCOMPARE(by(hostile_key(1)), Verdict::bad_signature);
        QCOMPARE(by(scene.world.home(other).identity), Verdict::bad_signature);
        QCOMPARE(by(scene.world.home(host).identity), Verdict::accepted);
    }

    void a_list_is_the_one_that_was_voted_for() {
        Scene scene(14);
        const run::AcceptList list = scene.next_list(scene.stranger->publish_payload(0.01F));
        run::BallotMessage ballot = scene.ballot_by(scene.world.home(host).identity, list);
        run::AcceptList another = list;
        another.entries[0].tokens = {641};
        ballot.list = another.encode();
        QCOMPARE(scene.stranger->verdict(victim, scene.stranger->envelope(ballot)), Verdict::malformed);
    }

    void proposals_and_votes_without_a_seat_are_refused() {
        Scene scene(15);
        const run::AcceptList list = scene.next_list(scene.stranger->publish_payload(0.01F));
        const run::Instance instance{scene.world.run(), 0, list.round};
        for (const identity::Identity& key : {hostile_key(1), world_key(other)}) {
            const run::IdentityKeyring keyring(key);
            const auto verdict = [&](const run::AgreementMessage& message, const Bytes& bytes) {
                return scene.stranger->verdict(
                    victim, scene.stranger->envelope(run::BallotMessage{run::encode(message), bytes}));
            };
            const run::AgreementMessage proposal = run::sign(run::Proposal{instance, 0, list.hash(), {}}, keyring);
            QCOMPARE(verdict(proposal, list.encode()), Verdict::wrong_author);
            const run::AgreementMessage vote =
                run::sign(run::Vote{instance, 0, run::Step::precommit, list.hash()}, keyring);
            QCOMPARE(verdict(vote, {}), Verdict::wrong_author);
            QCOMPARE(verdict(vote, list.encode()), Verdict::malformed);
        }
    }

    void a_history_needs_the_committees_signatures() {
        for (const bool forged : {true, false}) {
            Scene scene(2);
            const run::AcceptList list = scene.next_list(scene.stranger->publish_payload(0.01F));
            run::StatusMessage status;
            status.sequence = 1;
            status.phase = run::Phase::training;
            status.round = {list.round.value + 2};
            QCOMPARE(scene.stranger->verdict(victim, scene.stranger->envelope(status)), Verdict::accepted);
            const auto asked = [&] {
                const auto request =
                    scene.stranger->last(scene.world.home(victim).id(), run::MessageKind::history_request);
                return request.has_value();
            };
            QVERIFY(scene.world.run_until(asked, Duration{5'000}));
            const identity::Identity liar = hostile_key(1);
            const auto committed = scene.committed_by(forged ? liar : scene.world.home(host).identity, list);
            QCOMPARE(scene.stranger->verdict(victim, scene.stranger->envelope(run::HistoryMessage{{committed}})),
                     forged ? Verdict::bad_signature : Verdict::accepted);
        }
    }

    void a_payload_is_its_makers_however_fast_another_offers_it() {
        Scene scene(16);
        const run::BlobRef payload = scene.stranger->publish_payload(0.01F);
        Stranger copier(scene.world, hostile_key(2));
        const run::ContributionMessage message = scene.contribution(payload, 640);
        QCOMPARE(copier.verdict(host, copier.envelope(message)), Verdict::accepted);
        QCOMPARE(scene.stranger->verdict(host, scene.stranger->envelope(message)), Verdict::accepted);
        const std::uint64_t round = scene.world.round_of(host);
        QVERIFY(scene.world.run_until([&] { return scene.world.round_of(host) > round; }, Duration{30'000}));
        const auto list =
            run::AcceptList::decode(scene.world.home(host).ledger.list(scene.world.run(), RoundId{round})->list);
        std::set<PeerId> accepted;
        for (const run::Accepted& entry : list->entries) accepted.insert(entry.peer);
        QVERIFY(accepted.contains(scene.stranger->id()));
        QVERIFY(!accepted.contains(copier.id()));
    }

    void of_the_copies_of_a_contribution_one_signature_is_checked() {
        Scene scene(22);
        Stranger neighbour(scene.world, hostile_key(2));
        const run::Envelope envelope =
            scene.stranger->envelope(scene.contribution(scene.stranger->publish_payload(0.01F), 640));
        const std::uint64_t before = scene.world.verifications();
        QCOMPARE(scene.stranger->verdict(host, envelope), Verdict::accepted);
        QCOMPARE(scene.world.verifications(), before + 1);
        QCOMPARE(neighbour.verdict(host, envelope), Verdict::repeated);
        QCOMPARE(scene.world.verifications(), before + 1);
        // It is the copy of what was checked only if it has the same signature.
        run::Envelope forged = envelope;
        forged.signature[0] ^= std::byte{1};
        QCOMPARE(neighbour.verdict(host, forged), Verdict::bad_signature);
    }

    void a_contribution_brings_its_own_payload_or_none() {
        Scene scene(21);
        const run::BlobRef ref = scene.stranger->publish_payload(0.01F);
        const ByteSpan payload = scene.stranger->folder().blobs.at(ref.root)->bytes();
        const run::Envelope bare = scene.stranger->envelope(scene.contribution(ref, 640));
        const auto bringing = [&](Bytes brought) {
            run::Envelope envelope = bare;
            envelope.payload = std::move(brought);
            return scene.stranger->verdict(host, envelope);
        };
        const auto has_it = [&] { return scene.world.home(host).folder.blobs.contains(ref.root); };
        scene.stranger->folder().withholds = true;
        QCOMPARE(scene.stranger->verdict(host, bare), Verdict::accepted);
        Bytes altered(payload.begin(), payload.end());
        altered.back() ^= std::byte{1};
        QCOMPARE(bringing(altered), Verdict::malformed);
        QCOMPARE(bringing(Bytes(payload.begin(), payload.end() - 1)), Verdict::malformed);
        QVERIFY(!has_it());
        // Whoever passes it on may bring what the first one lacked.
        QCOMPARE(bringing(Bytes(payload.begin(), payload.end())), Verdict::repeated);
        QVERIFY(has_it());
    }

    void a_payload_request_is_answered_once_when_the_payload_arrives() {
        Scene scene(22);
        Stranger asker(scene.world, hostile_key(2));
        const run::BlobRef ref = scene.stranger->publish_payload(0.01F);
        scene.stranger->folder().withholds = true;
        run::Envelope contribution = scene.stranger->envelope(scene.contribution(ref, 640));
        const run::Envelope question = asker.envelope(run::PayloadRequest{ref.root});
        const auto answers = [&] {
            scene.world.run_for(Duration{500});
            return std::count_if(asker.heard().begin(), asker.heard().end(), [&](const run::Envelope& heard) {
                return heard.sender == scene.stranger->id() && !heard.payload.empty();
            });
        };
        QCOMPARE(asker.verdict(host, question), Verdict::stale);
        QCOMPARE(scene.stranger->verdict(host, contribution), Verdict::accepted);
        QCOMPARE(asker.verdict(host, question), Verdict::accepted);
        QCOMPARE(answers(), 0);
        const ByteSpan payload = scene.stranger->folder().blobs.at(ref.root)->bytes();
        contribution.payload.assign(payload.begin(), payload.end());
        QCOMPARE(scene.stranger->verdict(host, contribution), Verdict::repeated);
        QCOMPARE(answers(), 1);
        QCOMPARE(asker.verdict(host, question), Verdict::repeated);
        QCOMPARE(answers(), 1);
    }

    void a_message_of_any_kind_needs_its_senders_signature() {
        Scene scene(3);
        const identity::Identity liar = hostile_key(2);
        for (const run::Message& message : one_of_each(scene)) {
            run::Envelope envelope = scene.stranger->envelope(message);
            envelope.signature = sealed(liar, scene.world.run(), message).signature;
            QCOMPARE(scene.stranger->verdict(victim, envelope), Verdict::bad_signature);
        }
    }

    void a_signature_holds_for_one_kind_and_one_run() {
        Scene scene(4);
        const run::Message message = run::HistoryRequest{{0}};
        run::Envelope envelope = scene.stranger->envelope(message);
        envelope.signature = hostile_key(1).sign(run::domain_of(run::MessageKind::close), run::signed_bytes(envelope));
        QCOMPARE(scene.stranger->verdict(victim, envelope), Verdict::bad_signature);
        RunId elsewhere = scene.world.run();
        elsewhere.bytes[0] ^= std::byte{1};
        run::Envelope foreign = sealed(hostile_key(1), elsewhere, message);
        QCOMPARE(scene.stranger->verdict(victim, foreign), Verdict::wrong_run);
        foreign.run = scene.world.run();
        QCOMPARE(scene.stranger->verdict(victim, foreign), Verdict::bad_signature);
    }

    void a_replayed_goodbye_is_not_taken_from_another_session() {
        Scene scene(5);
        const PeerId gone = scene.world.home(other).id();
        scene.world.peer(other).leave();
        scene.world.run_for(Duration{500});
        const auto goodbye = scene.stranger->last(gone, run::MessageKind::goodbye);
        QVERIFY(goodbye.has_value());
        scene.world.kill(other, Death::closes_sessions);
        scene.world.run_for(Duration{500});
        scene.world.start(other);
        scene.world.run_for(Duration{1'000});
        QCOMPARE(scene.stranger->verdict(victim, *goodbye), Verdict::not_allowed);
        QVERIFY(scene.status_of(other, victim) != nullptr);
        // It would be taken from its own session.
        QCOMPARE(verdict_of(scene.world, victim, gone, *goodbye), Verdict::accepted);
        QVERIFY(scene.status_of(other, victim) == nullptr);
    }

    void a_replayed_status_changes_nothing_whoever_passes_it_on() {
        Scene scene(6);
        const auto replay = scene.stranger->last(scene.world.home(other).id(), run::MessageKind::status);
        QVERIFY(replay.has_value());
        scene.world.kill(other, Death::closes_sessions);
        scene.world.run_for(Duration{500});
        scene.world.start(other);
        scene.world.run_for(Duration{1'000});
        const auto decoded = run::decode_body(replay->kind, replay->body);
        const std::uint64_t sequence = std::get<run::StatusMessage>(*decoded).sequence;
        QVERIFY(scene.status_of(other, victim)->sequence > sequence);  // it grows over restarts
        QCOMPARE(scene.stranger->verdict(victim, *replay), Verdict::stale);
        QVERIFY(scene.status_of(other, victim)->sequence > sequence);
    }

    void a_contribution_may_be_passed_on_but_counts_once_and_in_its_round() {
        Scene scene(7);
        const auto sent = [&] {
            return scene.stranger->last(scene.world.home(other).id(), run::MessageKind::contribution);
        };
        const auto in_this_round = [&] {
            if (!sent()) return false;
            const auto decoded = run::decode_body(run::MessageKind::contribution, sent()->body);
            return std::get<run::ContributionMessage>(*decoded).round.value == scene.world.round_of(victim);
        };
        QVERIFY(scene.world.run_until(in_this_round, Duration{20'000}));
        const run::Envelope replay = *sent();
        scene.world.run_for(Duration{60});
        QCOMPARE(scene.stranger->verdict(victim, replay), Verdict::repeated);
        const std::uint64_t round = scene.world.round_of(victim);
        QVERIFY(scene.world.run_until([&] { return scene.world.round_of(victim) > round; }, Duration{20'000}));
        QCOMPARE(scene.stranger->verdict(victim, replay), Verdict::stale);
    }

    void a_second_contribution_in_a_round_counts_for_nothing() {
        Scene scene(23);
        const auto contribute = [&](float value) {
            const run::BlobRef payload = scene.stranger->publish_payload(value);
            return scene.stranger->verdict(victim, scene.stranger->envelope(scene.contribution(payload, 640)));
        };
        QCOMPARE(contribute(0.01F), Verdict::accepted);
        QCOMPARE(contribute(0.02F), Verdict::repeated);
    }

    void a_contribution_names_the_state_it_was_made_from() {
        Scene scene(8);
        run::ContributionMessage message = scene.contribution(scene.stranger->publish_payload(0.01F), 640);
        message.base.bytes[0] ^= std::byte{1};
        QCOMPARE(scene.stranger->verdict(victim, scene.stranger->envelope(message)), Verdict::wrong_base);
    }

    void the_largest_payload_is_allowed_and_nothing_larger() {
        Scene scene(9);
        run::BlobRef payload = scene.stranger->publish_payload(0.01F);
        payload.size = payload_size_max(scene.world) + 1;
        QCOMPARE(scene.stranger->verdict(victim, scene.stranger->envelope(scene.contribution(payload, 640))),
                 Verdict::too_large);
        payload.size -= 1;
        QCOMPARE(scene.stranger->verdict(victim, scene.stranger->envelope(scene.contribution(payload, 640))),
                 Verdict::accepted);
    }

    void fifty_offences_of_any_kind_end_the_session_data() {
        QTest::addColumn<int>("offence");
        for (const Verdict one : {Verdict::malformed, Verdict::bad_signature, Verdict::too_large, Verdict::flood}) {
            QTest::newRow(run::name_of(one)) << static_cast<int>(one);
        }
    }
    void fifty_offences_of_any_kind_end_the_session() {
        QFETCH(int, offence);
        const auto expected = static_cast<Verdict>(offence);
        Scene scene(10);
        run::BlobRef payload = scene.stranger->publish_payload(0.01F);
        payload.size = payload_size_max(scene.world) + 1;
        run::Envelope envelope = scene.stranger->envelope(scene.contribution(payload, 640));
        if (expected == Verdict::malformed) envelope.body.pop_back();
        if (expected == Verdict::bad_signature) envelope.signature[0] ^= std::byte{1};
        if (expected == Verdict::flood) {
            envelope = scene.stranger->envelope(run::HistoryRequest{{9}});
            while (scene.stranger->verdict(victim, envelope) == Verdict::stale) continue;
        }
        const int already = expected == Verdict::flood ? 1 : 0;
        for (int i = already; i < 49; ++i) QCOMPARE(scene.stranger->verdict(victim, envelope), expected);
        QVERIFY(!scene.victim_refuses());
        QCOMPARE(scene.stranger->verdict(victim, envelope), expected);
        QVERIFY(scene.victim_refuses());
    }

    /// Before it is read: of what is so long no part is looked at.
    void a_message_longer_than_the_limit_is_not_looked_at() {
        Scene scene(23);
        for (const run::Message& message : one_of_each(scene)) {
            run::Envelope envelope = scene.stranger->envelope(message);
            envelope.body.resize(run::message_bytes_max);
            const std::uint64_t before = scene.world.verifications();
            QVERIFY(scene.stranger->verdict(victim, envelope) != Verdict::too_large);
            envelope.body.push_back(std::byte{0});
            QCOMPARE(scene.stranger->verdict(victim, envelope), Verdict::too_large);
            QCOMPARE(scene.world.verifications(), before);
        }
        // Nor is one that claims to be this member's own, or is passed on for somebody else.
        run::Envelope forged = scene.stranger->envelope(run::StatusMessage{});
        forged.body.resize(run::message_bytes_max + 1);
        for (const std::size_t author : {host, victim}) {
            forged.sender = scene.world.home(author).id();
            QCOMPARE(scene.stranger->verdict(victim, forged), Verdict::too_large);
        }
    }

    void late_messages_are_no_offence() {
        Scene scene(11);
        const run::Envelope late = scene.late_contribution();
        for (int i = 0; i < 300; ++i) QCOMPARE(scene.stranger->verdict(victim, late), Verdict::stale);
        QVERIFY(!scene.victim_refuses());
    }

    void six_hundred_contributions_at_once_are_no_flood() {
        Scene scene(12);
        const run::Envelope late = scene.late_contribution();
        for (int i = 0; i < 600; ++i) QCOMPARE(scene.stranger->verdict(victim, late), Verdict::stale);
        QCOMPARE(scene.stranger->verdict(victim, late), Verdict::flood);
    }

    void tokens_beyond_the_limit_are_malformed() {
        Scene scene(13);
        const run::BlobRef payload = scene.stranger->publish_payload(0.01F);
        const auto claim = [&](std::uint64_t tokens) {
            return scene.stranger->verdict(victim, scene.stranger->envelope(scene.contribution(payload, tokens)));
        };
        QCOMPARE(claim(run::tokens_max + 1), Verdict::malformed);
        QCOMPARE(claim(0), Verdict::malformed);
        QCOMPARE(claim(run::tokens_max), Verdict::accepted);
    }
};

QTEST_APPLESS_MAIN(ForgeriesTest)
#include "test_forgeries.moc"
