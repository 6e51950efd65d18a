#include <QTest>

#include <set>

#include "core/run/agreement/evidence.h"
#include "tests/unit/run/agreement/committee_fixture.h"

using namespace potluck;
using namespace potluck::run;
using namespace potluck::run::testing;

namespace {

const Members& members() {
    static const Members four(4);
    return four;
}

Digest a() { return digest_of("a"); }
Digest b() { return digest_of("b"); }

SignedVote vote_in(Instance where, std::uint32_t view, Step step, const Digest& list, std::size_t member = 1) {
    return sign(Vote{where, view, step, list}, members().keyrings[member]);
}

}  // namespace

class EvidenceTest : public QObject {
    Q_OBJECT
private slots:
    void two_votes_of_one_key_for_one_place_are_evidence() {
        const SignedVote one = members().prevote(1, 3, a());
        for (const SignedVote& other : {members().prevote(1, 3, b()), members().prevote(1, 3, std::nullopt)}) {
            const Evidence evidence = make_evidence(one, other);
            QVERIFY(verify(evidence, members().keyrings[0]));
            QVERIFY(evidence.author() == members().key(1));
            QVERIFY(evidence == make_evidence(other, one));
        }
    }

    void a_file_of_evidence_is_whole_in_itself() {
        const Verifier& anybody = members().keyrings[0];
        const Evidence evidence = make_evidence(members().prevote(1, 3, a()), members().prevote(1, 3, b()));
        const Bytes file = evidence.encode();
        const Result<Evidence> read = check_evidence(file, anybody);
        QVERIFY(read.ok());
        QVERIFY(*read == evidence);
        QVERIFY(read->instance() == instance());
        QCOMPARE(describe(*read), "two different prevotes in view 3 of round " +
                                      std::to_string(instance().round.value) + " (term " +
                                      std::to_string(instance().term) + ")");
        for (std::size_t at = 0; at < file.size(); ++at) {
            Bytes changed = file;
            changed[at] ^= std::byte{1};
            QVERIFY2(!check_evidence(changed, anybody).ok(), std::to_string(at).c_str());
        }
        const Evidence proposals = make_evidence(members().proposal(3, a()), members().proposal(3, b()));
        QVERIFY(describe(proposals).starts_with("two different proposals in view 3"));
    }

    void two_proposals_of_one_view_are_evidence_whether_list_or_proof_differs() {
        const Certificate polka = members().certificate(Step::prevote, 1, a(), {0, 1, 2});
        QVERIFY(verify(make_evidence(members().proposal(3, a()), members().proposal(3, b())), members().keyrings[0]));
        QVERIFY(verify(make_evidence(members().proposal(3, a()), members().proposal(3, a(), polka)),
                       members().keyrings[0]));
    }

    void other_places_and_other_keys_contradict_nothing() {
        const SignedVote one = vote_in(instance(), 3, Step::prevote, a());
        QVERIFY(contradict(one, vote_in(instance(), 3, Step::prevote, b())));
        QVERIFY(!contradict(one, one));
        QVERIFY(!contradict(one, vote_in(instance(), 4, Step::prevote, b())));
        QVERIFY(!contradict(one, vote_in(instance(), 3, Step::precommit, b())));
        QVERIFY(!contradict(one, vote_in(instance(), 3, Step::prevote, b(), 2)));
        Instance other = instance();
        other.round = RoundId{6};
        QVERIFY(!contradict(one, vote_in(other, 3, Step::prevote, b())));
        other = instance();
        other.term = 3;  // the host replaced the committee, and the round is played again
        QVERIFY(!contradict(one, vote_in(other, 3, Step::prevote, b())));
        other = instance();
        other.run = {};
        QVERIFY(!contradict(one, vote_in(other, 3, Step::prevote, b())));
        QVERIFY(!contradict(one, members().proposal(1, b())));
        QVERIFY(!contradict(members().proposal(1, a()), members().proposal(5, b())));
        const Certificate certificate = members().certificate(Step::prevote, 1, a(), {0, 1, 2});
        QVERIFY(!contradict(certificate, members().certificate(Step::prevote, 1, b(), {0, 1, 2})));
    }

    void a_forged_half_proves_nothing() {
        const SignedVote one = members().prevote(1, 3, a());
        QVERIFY(!verify(Evidence{one, one}, members().keyrings[0]));
        std::set<bool> forged_first;
        for (int i = 0; i < 20; ++i) {
            SignedVote forged = members().prevote(2, 3, digest_of("list " + std::to_string(i)));
            forged.author = members().key(1);
            const Evidence evidence = make_evidence(one, forged);
            QVERIFY(!verify(evidence, members().keyrings[0]));
            forged_first.insert(evidence.first == AgreementMessage(forged));
        }
        QCOMPARE(forged_first.size(), std::size_t{2});
    }

    void evidence_survives_its_bytes_in_one_order_only() {
        const Evidence evidence = make_evidence(members().prevote(1, 3, a()), members().prevote(1, 3, b()));
        const Bytes bytes = evidence.encode();
        QVERIFY(*Evidence::decode(bytes) == evidence);
        QVERIFY(!Evidence::decode(Evidence{evidence.second, evidence.first}.encode()).ok());
        QVERIFY(!Evidence::decode(Evidence{evidence.first, evidence.first}.encode()).ok());
        QVERIFY(!Evidence::decode(Evidence{evidence.first, members().prevote(2, 3, b())}.encode()).ok());
        for (std::size_t size = 0; size < bytes.size(); ++size)
            QVERIFY(!Evidence::decode(ByteSpan(bytes).first(size)).ok());
        Bytes longer = bytes;
        longer.push_back(std::byte{0});
        QVERIFY(!Evidence::decode(longer).ok());
    }

    void the_longest_evidence_is_as_long_as_its_limit() {
        const Members seven(7);
        const Evidence evidence =
            make_evidence(seven.proposal(3, a(), seven.certificate(Step::prevote, 1, a(), {0, 1, 2, 3, 4})),
                          seven.proposal(3, b(), seven.certificate(Step::prevote, 2, b(), {0, 1, 2, 3, 4})));
        QCOMPARE(evidence.encode().size(), evidence_bytes_max);
    }
};

QTEST_APPLESS_MAIN(EvidenceTest)
#include "test_evidence.moc"
