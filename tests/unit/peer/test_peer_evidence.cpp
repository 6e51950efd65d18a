// What a member of a committee keeps on its disk: proofs that keys lied, and its own votes.
#include <QTest>

#include "tests/unit/peer/ballots_bench.h"

using namespace potluck;
using namespace potluck::peer;

using Bench = BallotsBench;

class PeerEvidenceTest : public QObject {
    Q_OBJECT
private slots:
    void evidence_is_on_disk_before_it_is_passed_on_and_the_first_of_a_key_stays() {
        Bench bench;
        const std::uint8_t liar = turns()[1];
        (void)bench.hear(bench.vote(liar, Step::prevote, std::nullopt));
        const std::size_t passed_on = bench.swarm.sent_to.size();
        std::size_t passed_on_at_save = 0;
        int saves = 0;
        bench.votes.before_save_evidence = [&] {
            ++saves;
            passed_on_at_save = bench.swarm.sent_to.size();
        };
        QCOMPARE(bench.hear(bench.vote(liar, Step::prevote, sha256(as_bytes("second")))), Verdict::contradicting);
        QCOMPARE(saves, 1);
        QCOMPARE(passed_on_at_save, passed_on);
        (void)bench.hear(bench.vote(liar, Step::precommit, std::nullopt));
        QCOMPARE(bench.hear(bench.vote(liar, Step::precommit, sha256(as_bytes("fourth")))), Verdict::contradicting);
        QCOMPARE(saves, 1);
        const Bytes& file = bench.votes.evidence.at(key_of(liar).id());
        const Result<run::Evidence> proof = run::check_evidence(file, run::Ed25519Verifier());
        QVERIFY(proof.ok());
        QVERIFY(proof->author() == key_of(liar).id());
        QVERIFY(proof->instance() == (run::Instance{bench.context.run, 0, RoundId{0}}));
        QCOMPARE(bench.ballots->evidence().size(), std::size_t{1});
    }

    void evidence_outlives_the_process() {
        Bench bench;
        for (const int who : {1, 2, 3, 4, 9}) {
            const PeerId id = key_of(static_cast<std::uint8_t>(who)).id();
            QCOMPARE(bench.members.take(id, {}, Source::itself, bench.context.now()), Verdict::accepted);
        }
        const auto votes = [&](std::uint8_t who, RoundId round, const RunId& run_id) {
            run::Vote vote{{run_id, 0, round}, 0, Step::prevote, std::nullopt};
            const run::AgreementMessage one = run::sign(vote, run::IdentityKeyring(key_of(who)));
            vote.list = sha256(as_bytes("list"));
            return run::make_evidence(one, run::sign(vote, run::IdentityKeyring(key_of(who))));
        };
        const std::uint8_t liar = turns()[1], accused = turns()[2], other = turns()[0];
        const auto put = [&](std::uint8_t name, const run::Evidence& evidence) {
            bench.votes.evidence[key_of(name).id()] = evidence.encode();
        };
        put(liar, votes(liar, RoundId{4}, bench.context.run));
        // Of another run, and one whose second signature does not hold.
        put(accused, votes(accused, RoundId{4}, RunId{}));
        put(other, votes(other, RoundId{4}, bench.context.run));
        bench.votes.evidence[key_of(other).id()].back() ^= std::byte{1};
        bench.votes.evidence[key_of(9).id()] = Bytes(3);
        QVERIFY(!bench.seats.accepts(heirs_of(liar)));
        bench.begin();
        QVERIFY(bench.ballots->evidence().empty());
        bench.ballots->load_evidence();
        QCOMPARE(bench.ballots->evidence().size(), std::size_t{1});
        QVERIFY(bench.ballots->evidence().contains(key_of(liar).id()));
        QVERIFY(bench.seats.accepts(heirs_of(liar)));
    }

    void evidence_that_cannot_be_written_convicts_all_the_same() {
        Bench bench;
        for (const int who : {1, 2, 3, 4, 9}) {
            const PeerId id = key_of(static_cast<std::uint8_t>(who)).id();
            QCOMPARE(bench.members.take(id, {}, Source::itself, bench.context.now()), Verdict::accepted);
        }
        const std::uint8_t liar = turns()[1];
        bench.votes.fails = true;
        (void)bench.hear(bench.vote(liar, Step::prevote, std::nullopt));
        (void)bench.hear(bench.vote(liar, Step::prevote, sha256(as_bytes("second"))));
        QVERIFY(bench.seats.accepts(heirs_of(liar)));
        QVERIFY(bench.ballots->evidence().empty());
        QCOMPARE(bench.errors.last(), std::string("The disk is full."));
    }

    void a_file_of_votes_longer_than_any_is_not_read() {
        Bench bench;
        (void)bench.hear(bench.proposal(bench.good_list()));
        const Bytes saved = *bench.votes.bytes;
        bench.votes.bytes->resize(votes_bytes_max);
        bench.begin();
        QVERIFY(bench.errors.last().empty());
        bench.votes.bytes = saved;
        bench.votes.bytes->resize(votes_bytes_max + 1);
        bench.begin();
        QVERIFY(bench.errors.last().find("cannot be read") != std::string::npos);
    }

    void three_lists_are_read_from_a_file_of_votes() {
        for (std::size_t named = 0; named < 4; ++named) {
            Bench bench;
            std::vector<run::AcceptList> lists;
            for (const float value : {1.0F, 2.0F, 3.0F, 4.0F}) lists.push_back(bench.good_list(value));
            (void)bench.hear(bench.proposal(lists[0]));
            ByteReader in(*bench.votes.bytes);
            const std::uint32_t size = in.u32();
            ByteWriter out;
            out.u32(size);
            out.raw(in.raw(size));
            out.u8(4);
            for (const run::AcceptList& list : lists) {
                const Bytes bytes = list.encode();
                out.u32(static_cast<std::uint32_t>(bytes.size()));
                out.raw(bytes);
            }
            bench.votes.bytes = out.take();
            bench.begin();
            (void)bench.hear({bench.certificate(lists[named], {1, 2, 3}, Step::precommit).statement, {}});
            QCOMPARE(bench.ballots->decision() != nullptr, named < 3);
        }
    }
};

QTEST_APPLESS_MAIN(PeerEvidenceTest)
#include "test_peer_evidence.moc"
