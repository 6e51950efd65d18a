// A whole member: what it refuses of a neighbour's messages before anybody looks into them, each with its reason.
#include <QTest>

#include "core/peer/peer.h"
#include "core/peer/presence/members.h"
#include "tests/unit/peer/peer_fixture.h"

using namespace potluck;
using namespace potluck::peer;
using run::Verdict;

namespace {

/// The host, which trains nothing, in round 1. Its neighbour is number 6, of an open run.
struct Bench {
    /// The list of round 0 is changed by `change`.
    explicit Bench(const run::Manifest& manifest = Fixture::manifest_of(),
                   const std::function<void(run::AcceptList&)>& change = {})
        : own(manifest) {
        (void)own.commit(0, 0.5F);
        run::AcceptList first = own.unsigned_list_of({});
        if (change) change(first);
        POTLUCK_CHECK(own.chain.append(own.committed(first, {1}), own.commit(1, 0.5F)).ok());
        own.swarm.around = ids_of({6});
        peer.emplace(Fixture::run_id(), manifest, PeerSettings{},
                     Peer::World{own.swarm, nullptr, own.disk, own.ledger, own.self, own.work.offload()});
        peer->start(own.context.now());
        peer->on_neighbour(key_of(6).id());
        own.work.finish_all();
    }
    static run::Envelope signed_by(std::uint8_t author, run::MessageKind kind, Bytes body) {
        run::Envelope made{Fixture::run_id(), key_of(author).id(), kind, std::move(body), {}};
        made.signature = key_of(author).sign(run::domain_of(kind), run::signed_bytes(made));
        return made;
    }
    static run::Envelope of(std::uint8_t author, const run::Message& message) {
        return signed_by(author, run::kind_of(message), run::encode_body(message));
    }
    /// The verdict on this message alone, which the neighbour brings.
    Verdict on(const run::Envelope& message) {
        const auto before = peer->verdicts();
        peer->on_envelope(key_of(6).id(), message);
        for (const auto& item : peer->verdicts()) {
            if (std::find(before.begin(), before.end(), item) == before.end()) return item.first;
        }
        qFatal("no verdict");
    }
    Verdict on(const run::Message& message) { return on(of(6, message)); }
    /// The verdict on the same message with another signature.
    Verdict on_forged(const run::Message& message) {
        run::Envelope forged = of(6, message);
        forged.signature[0] ^= std::byte{1};
        return on(forged);
    }
    /// The host says of itself what it has not said.
    Verdict on_own_status(std::uint64_t sequence) {
        run::StatusMessage status;
        status.sequence = sequence;
        return on(of(1, status));
    }

    Fixture own;
    std::optional<Peer> peer;
};

}  // namespace

class PeerRefusalsTest : public QObject {
    Q_OBJECT
private slots:
    void a_body_that_is_none_is_malformed() {
        Bench bench;
        QCOMPARE(bench.on(Bench::signed_by(6, run::MessageKind::close, Bytes(3))), Verdict::malformed);
        QCOMPARE(bench.on(Bench::signed_by(1, run::MessageKind::status, Bytes(3))), Verdict::malformed);
    }

    void a_ballot_that_says_nothing_is_malformed() {
        Bench bench;
        QCOMPARE(bench.on(run::BallotMessage{Bytes(5), {}}), Verdict::malformed);
    }

    void answers_to_no_question_are_stale() {
        Bench bench;
        const run::CommittedList next = bench.own.list_of({}).committed;
        const run::CommittedList known = *bench.own.chain.committed_at(RoundId{0});
        QCOMPARE(bench.on(run::HistoryMessage{{next}}), Verdict::stale);
        QCOMPARE(bench.on(run::CommitteeMessage{{known}}), Verdict::stale);
        QCOMPARE(bench.peer->view().round, RoundId{1});
    }

    void questions_for_what_is_not_here_are_stale() {
        Bench bench;
        QCOMPARE(bench.on(run::HistoryRequest{RoundId{1}}), Verdict::stale);
        QCOMPARE(bench.on(run::HistoryRequest{RoundId{0}}), Verdict::accepted);
        QCOMPARE(bench.on(run::PayloadRequest{merkle_root(as_bytes("nothing"))}), Verdict::stale);
        QCOMPARE(bench.on(run::LayerRequest{merkle_root(as_bytes("no state")), 0}), Verdict::stale);
    }

    void its_own_messages_are_no_news() {
        Bench bench;
        QCOMPARE(bench.on(Bench::of(1, run::CloseMessage{RoundId{1}})), Verdict::repeated);
    }

    void its_own_status_that_it_never_sent_is_told_once_the_clock_is_right() {
        Bench bench;
        constexpr std::uint64_t far = 1ULL << 62U;
        QCOMPARE(bench.on_own_status(far), Verdict::repeated);
        QCOMPARE(bench.on_own_status(far + (far >> 1U)), Verdict::contradicting);
    }

    void a_certificate_that_its_person_has_not_signed_is_forged() {
        Bench bench;
        run::StatusMessage status;
        status.sequence = 1;
        status.certificate = run::certify(key_of(7), key_of(6).id());
        status.certificate.signature[5] ^= std::byte{1};
        QCOMPARE(bench.on(status), Verdict::bad_signature);
        status.certificate = run::certify(key_of(7), key_of(6).id());
        QCOMPARE(bench.on(status), Verdict::accepted);
    }

    void a_stranger_to_a_closed_run_is_refused_for_a_window_and_a_minute_at_most() {
        for (const Duration window : {Duration{5'000}, Duration{600'000}}) {
            run::Manifest manifest = Fixture::manifest_of();
            manifest.allowed = {key_of(7).id()};
            manifest.recipe.window = window;
            Bench bench(manifest);
            run::StatusMessage status;
            status.sequence = 1;
            QCOMPARE(bench.on(status), Verdict::not_allowed);
            QVERIFY(bench.own.swarm.dropped == ids_of({6}));
            QCOMPARE(bench.own.swarm.dropped_for.back(), std::min(window, Duration{60'000}));
        }
    }

    /// A stranger's status for which there is no room costs no arithmetic.
    void a_status_without_a_place_is_refused_before_its_signature_is_checked() {
        Bench bench;
        run::StatusMessage status;
        status.sequence = 1;
        const auto told_of = [&](std::uint32_t number, std::byte flaw = {}) {
            std::array<std::byte, 32> seed{};
            std::memcpy(seed.data(), &number, sizeof number);
            const identity::Identity stranger = identity::Identity::from_seed(seed);
            run::Envelope made{
                Fixture::run_id(), stranger.id(), run::MessageKind::status, run::encode_body(status), {}};
            made.signature = stranger.sign(run::domain_of(made.kind), run::signed_bytes(made));
            made.signature[3] ^= flaw;
            return bench.on(made);
        };
        QCOMPARE(told_of(1'000, std::byte{1}), Verdict::bad_signature);
        for (std::uint32_t i = 0; i < relayed_members_max; ++i) {
            if (i % 100 == 0) bench.peer->tick(bench.own.context.now() + Duration{static_cast<int>(20 * i)});
            QCOMPARE(told_of(2'000 + i), Verdict::accepted);
        }
        QCOMPARE(told_of(1'000, std::byte{1}), Verdict::no_room);
        QCOMPARE(bench.on(status), Verdict::accepted);  // a neighbour's
    }

    void contributions_of_a_suspended_person_are_refused() {
        const PeerId person = key_of(6).id();
        const Fixture::Made made = Fixture().payload_of(1.0F, person);
        run::JurorVerdict verdict;
        verdict.person = person;
        Bench bench(Fixture::manifest_of(), [&](run::AcceptList& list) {
            list.entries = {Fixture().payload_of(2.0F, key_of(5).id()).entry};
            list.suspensions = {{person, {{key_of(1).id(), verdict, {}}}}};
        });
        run::ContributionMessage message;
        message.round = RoundId{1};
        message.base = *bench.own.chain.digest_at(RoundId{1});
        message.payload = made.payload->ref;
        message.tokens = {64};
        QCOMPARE(bench.on(message), Verdict::suspended);
        QVERIFY(bench.on(Bench::of(8, message)) != Verdict::suspended);
    }

    /// Every neighbour passes them on: the copies cost no arithmetic.
    void copies_of_a_seats_step_and_of_a_jurors_verdict_are_known_without_their_signatures() {
        run::Manifest manifest = Fixture::manifest_of();
        manifest.allowed = {key_of(6).id()};
        manifest.recipe.outer.form = numerics::StepForm::coded;
        manifest.recipe.measuring.jury = 0.03;
        Bench bench(manifest);
        const run::StepMessage step{RoundId{1}, {}, {merkle_root(as_bytes("step")), 100, run::BlobKind::plain, {}}, {}};
        QCOMPARE(bench.on_forged(step), Verdict::bad_signature);
        QCOMPARE(bench.on(step), Verdict::accepted);
        QCOMPARE(bench.on_forged(step), Verdict::repeated);
        run::JurorVerdict verdict;
        verdict.person = key_of(9).id();
        QCOMPARE(bench.on_forged(verdict), Verdict::bad_signature);
        QCOMPARE(bench.on(verdict), Verdict::accepted);
        QCOMPARE(bench.on_forged(verdict), Verdict::repeated);
    }

    void losses_are_refused_in_a_run_that_measures_none() {
        Bench bench;
        QCOMPARE(bench.on(run::MeasuredLoss{RoundId{0}, 3'000'000, 1}), Verdict::not_allowed);
    }

    void a_member_that_says_goodbye_is_gone() {
        Bench bench;
        run::StatusMessage status;
        status.sequence = 1;
        QCOMPARE(bench.on(status), Verdict::accepted);
        QCOMPARE(bench.peer->view().members.size(), std::size_t{2});
        QCOMPARE(bench.on(run::GoodbyeMessage{}), Verdict::accepted);
        QCOMPARE(bench.peer->view().members.size(), std::size_t{1});
    }

    void bytes_that_are_no_list_are_malformed() {
        Bench bench;
        const Bytes list = bench.own.list_of({}).committed.list;
        CheckedList out;
        const auto read = [&](ByteSpan bytes) {
            return bench.own.chain.read(bytes, bench.own.chain.head(), bench.own.chain.rules(), out);
        };
        QCOMPARE(read(list), Verdict::accepted);
        QCOMPARE(read(ByteSpan(list).first(list.size() - 1)), Verdict::malformed);
    }
};

QTEST_APPLESS_MAIN(PeerRefusalsTest)
#include "test_peer_refusals.moc"
