#include <QTest>

#include <set>

#include "core/base/rng.h"
#include "core/run/agreement/vote_book.h"
#include "tests/unit/run/agreement/committee_fixture.h"

using namespace potluck;
using namespace potluck::run;
using namespace potluck::run::testing;

namespace {

Digest a() { return digest_of("a"); }
Digest b() { return digest_of("b"); }

struct Shelf {
    explicit Shelf(std::size_t size)
        : members(size),
          book(members.committee, proposer_order(members.committee, members.previous), members.keyrings[0]) {}
    VoteVerdict take(const SignedVote& vote) { return book.take(vote, view).verdict; }
    VoteVerdict take(const SignedProposal& proposal) { return book.take(proposal, view).verdict; }
    Members members;
    VoteBook book;
    std::uint32_t view = 0;
};

}  // namespace

class VoteBookTest : public QObject {
    Q_OBJECT
private slots:
    void every_verdict_has_a_name_of_its_own() {
        std::set<std::string> names;
        for (std::size_t i = 0; i < vote_verdicts; ++i) names.insert(name_of(static_cast<VoteVerdict>(i)));
        QCOMPARE(names.size(), vote_verdicts);
        QVERIFY(!names.contains("unknown"));
        QCOMPARE(name_of(static_cast<VoteVerdict>(vote_verdicts)), "unknown");
    }

    void an_equal_message_is_ignored_and_a_different_one_is_evidence_once() {
        Shelf shelf(4);
        const SignedVote vote = shelf.members.prevote(1, 0, a());
        QCOMPARE(shelf.take(vote), VoteVerdict::accepted);
        QCOMPARE(shelf.take(vote), VoteVerdict::repeated);
        const VoteBook::Taken second = shelf.book.take(shelf.members.prevote(1, 0, b()), 0);
        QCOMPARE(second.verdict, VoteVerdict::contradicting);
        QVERIFY(second.evidence && verify(*second.evidence, shelf.members.keyrings[0]));
        const VoteBook::Taken third = shelf.book.take(shelf.members.prevote(1, 0, std::nullopt), 0);
        QCOMPARE(third.verdict, VoteVerdict::contradicting);
        QVERIFY(!third.evidence);
        QCOMPARE(shelf.book.votes(0, Step::prevote), std::size_t{1});  // the first counts
        QCOMPARE(shelf.book.votes_for(0, Step::prevote, a()), std::size_t{1});

        QCOMPARE(shelf.take(shelf.members.proposal(0, a())), VoteVerdict::accepted);
        QVERIFY(shelf.book.take(shelf.members.proposal(0, b()), 0).evidence);
        QVERIFY(shelf.book.proposal(0)->statement.list == a());
    }

    void kinds_and_views_have_slots_of_their_own() {
        Shelf shelf(4);
        QCOMPARE(shelf.take(shelf.members.prevote(1, 0, a())), VoteVerdict::accepted);
        QCOMPARE(shelf.take(shelf.members.precommit(1, 0, b())), VoteVerdict::accepted);
        QCOMPARE(shelf.take(shelf.members.prevote(1, 1, b())), VoteVerdict::accepted);
        QCOMPARE(shelf.take(shelf.members.prevote(2, 0, b())), VoteVerdict::accepted);
    }

    void strangers_forgers_and_wrong_proposers_are_refused() {
        Shelf shelf(4);
        const HashKeyring stranger(key_of(99));
        QCOMPARE(shelf.take(sign(Vote{instance(), 0, Step::prevote, a()}, stranger)), VoteVerdict::not_member);
        QCOMPARE(shelf.take(sign(Proposal{instance(), 0, a(), {}}, stranger)), VoteVerdict::not_member);
        QCOMPARE(shelf.take(sign(Proposal{instance(), 0, a(), {}}, shelf.members.keyrings[1])),
                 VoteVerdict::wrong_proposer);
        SignedVote vote = shelf.members.prevote(1, 0, a());
        vote.statement.list = b();
        QCOMPARE(shelf.take(vote), VoteVerdict::bad_signature);
        SignedProposal proposal = shelf.members.proposal(0, a());
        proposal.statement.list = b();
        QCOMPARE(shelf.take(proposal), VoteVerdict::bad_signature);
        QVERIFY(shelf.book.views().empty());
        // A forged second message convicts nobody.
        QCOMPARE(shelf.take(shelf.members.prevote(1, 0, a())), VoteVerdict::accepted);
        const VoteBook::Taken forged = shelf.book.take(vote, 0);
        QCOMPARE(forged.verdict, VoteVerdict::bad_signature);
        QVERIFY(!forged.evidence);
    }

    void a_proposal_whose_proof_is_no_quorum_is_refused() {
        Shelf shelf(4);
        const auto proof = [&](const std::vector<std::size_t>& from) {
            return shelf.members.certificate(Step::prevote, 0, a(), from);
        };
        QCOMPARE(shelf.take(shelf.members.proposal(1, a(), proof({0, 1}))), VoteVerdict::bad_proof);
        QVERIFY(shelf.book.proposal(1) == nullptr);
        QCOMPARE(shelf.take(shelf.members.proposal(1, a(), proof({0, 1, 3}))), VoteVerdict::accepted);
    }

    void views_long_past_are_forgotten_and_refused() {
        Shelf shelf(4);
        for (std::uint32_t view = 0; view < 4; ++view)
            QCOMPARE(shelf.take(shelf.members.prevote(1, view, a())), VoteVerdict::accepted);
        shelf.view = views_behind_max + 1;
        shelf.book.forget_before(shelf.view);
        QCOMPARE(shelf.book.views(), (std::vector<std::uint32_t>{1, 2, 3}));
        QCOMPARE(shelf.take(shelf.members.prevote(2, 0, a())), VoteVerdict::stale);
        QCOMPARE(shelf.take(shelf.members.proposal(0, a())), VoteVerdict::stale);
        QCOMPARE(shelf.take(shelf.members.prevote(2, 1, a())), VoteVerdict::accepted);
    }

    void a_member_has_room_for_few_views_ahead_and_the_highest_stay() {
        Shelf shelf(4);
        for (std::uint32_t view = 1; view <= views_ahead_max; ++view) {
            QCOMPARE(shelf.take(shelf.members.prevote(1, 10 * view, a())), VoteVerdict::accepted);
        }
        QCOMPARE(shelf.take(shelf.members.prevote(1, 5, a())), VoteVerdict::ahead);
        QCOMPARE(shelf.take(shelf.members.precommit(1, 10, a())), VoteVerdict::accepted);  // has room already
        QCOMPARE(shelf.take(shelf.members.prevote(1, 0, a())), VoteVerdict::accepted);     // the current view always
        QCOMPARE(shelf.take(shelf.members.prevote(1, view_max, a())), VoteVerdict::accepted);
        QCOMPARE(shelf.book.views(), (std::vector<std::uint32_t>{0, 20, 30, 40, view_max}));
        QCOMPARE(shelf.take(shelf.members.prevote(2, 5, a())), VoteVerdict::accepted);  // others have theirs
    }

    void room_is_made_at_the_cost_of_the_own_messages_only() {
        Shelf shelf(4);
        QCOMPARE(shelf.take(shelf.members.prevote(2, 10, a())), VoteVerdict::accepted);
        for (std::uint32_t view = 1; view <= views_ahead_max + 1; ++view) {
            (void)shelf.take(shelf.members.prevote(1, 10 * view, a()));
        }
        QCOMPARE(shelf.book.votes(10, Step::prevote), std::size_t{1});
        QVERIFY(shelf.book.holds(shelf.members.prevote(2, 10, a())));
    }

    void memory_is_bounded_whatever_members_send() {
        Shelf shelf(7);
        Rng rng(1);
        for (int i = 0; i < 5'000; ++i) {
            const std::size_t member = 1 + rng.below(6);
            const auto view = static_cast<std::uint32_t>(rng.below(view_max));
            (void)shelf.take(
                shelf.members.vote(member, rng.below(2) == 0 ? Step::prevote : Step::precommit, view, a()));
            (void)shelf.take(shelf.members.proposal(view, a()));
        }
        QVERIFY(shelf.book.views().size() <= 7 * views_ahead_max);
    }

    void a_certificate_is_made_of_exactly_a_quorum() {
        Shelf shelf(7);
        for (std::size_t member = 0; member < 4; ++member) (void)shelf.take(shelf.members.precommit(member, 0, a()));
        (void)shelf.take(shelf.members.precommit(4, 0, b()));
        QVERIFY(!shelf.book.certificate(0, Step::precommit));
        (void)shelf.take(shelf.members.precommit(5, 0, a()));
        (void)shelf.take(shelf.members.precommit(6, 0, a()));
        const std::optional<Certificate> certificate = shelf.book.certificate(0, Step::precommit);
        QVERIFY(certificate && certifies(*certificate, shelf.members.committee, shelf.members.keyrings[0]));
        QVERIFY(certificate->list == a());
        QVERIFY(!shelf.book.certificate(0, Step::prevote));
    }

    void nil_makes_no_certificate() {
        Shelf shelf(4);
        for (std::size_t member = 0; member < 4; ++member)
            (void)shelf.take(shelf.members.precommit(member, 0, std::nullopt));
        QVERIFY(!shelf.book.certificate(0, Step::precommit));
        QCOMPARE(shelf.book.votes_for(0, Step::precommit, std::nullopt), std::size_t{4});
    }

    void a_view_counts_each_member_once_whatever_it_said() {
        Shelf shelf(7);
        (void)shelf.take(shelf.members.prevote(3, 3, a()));
        (void)shelf.take(shelf.members.precommit(3, 3, a()));
        (void)shelf.take(shelf.members.proposal(3, a()));  // by member 3, too
        (void)shelf.take(shelf.members.prevote(4, 3, a()));
        QVERIFY(!shelf.book.view_of_some(1));
        (void)shelf.take(shelf.members.precommit(5, 3, std::nullopt));
        QCOMPARE(shelf.book.view_of_some(1), std::optional(3U));
        QVERIFY(!shelf.book.view_of_some(4));
    }
};

QTEST_APPLESS_MAIN(VoteBookTest)
#include "test_vote_book.moc"
