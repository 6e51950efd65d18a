// Lists too long to travel with what the committee says of them: whom this member asks, and whom it answers.
#include <QTest>

#include "core/base/sha256.h"
#include "tests/unit/peer/ballots_bench.h"

using namespace potluck;
using namespace potluck::peer;

namespace {

struct Bench : BallotsBench {
    static PeerId id(std::uint8_t who) { return key_of(who).id(); }
    /// What the committee says of a list, without it.
    static run::BallotMessage bare(run::BallotMessage message) {
        message.list.clear();
        return message;
    }
    Verdict hear_from(std::uint8_t from, const run::BallotMessage& message) {
        return ballots->receive(id(from), message);
    }
    /// To whom this very message went since the last look, in order.
    std::vector<PeerId> receivers(const run::Message& message) {
        std::vector<PeerId> neighbours;
        for (const auto& [to, envelope] : std::exchange(swarm.sent_to, {})) {
            if (envelope.kind == run::kind_of(message) && envelope.body == run::encode_body(message))
                neighbours.push_back(to);
        }
        return neighbours;
    }
    /// Whom this member has asked for `list` since the last look, and who got it.
    std::vector<PeerId> asked(const run::AcceptList& list) { return receivers(run::ListRequest{list.hash()}); }
    std::vector<PeerId> answered(const run::AcceptList& list) { return receivers(run::ListMessage{list.encode()}); }
    Verdict request(std::uint8_t from, const run::AcceptList& list) {
        return ballots->on_list_request(id(from), {list.hash()});
    }
    run::AcceptList signed_list() {
        run::AcceptList list = good_list();
        sign_entries(list);
        return list;
    }
};

}  // namespace

class LongListsTest : public QObject {
    Q_OBJECT
private slots:
    void a_list_travels_with_its_ballot_up_to_eight_kibibytes() {
        const Bytes statement{std::byte{1}};
        const Bytes most(run::list_in_ballot_max), more(run::list_in_ballot_max + 1);
        QVERIFY(ballot_with(statement, most) == (run::BallotMessage{statement, most}));
        QVERIFY(ballot_with(statement, more) == (run::BallotMessage{statement, {}}));
    }

    void the_neighbour_that_brings_a_proposal_is_asked_for_its_list() {
        Bench bench;
        const run::AcceptList list = bench.signed_list();
        const run::BallotMessage proposal = Bench::bare(bench.proposal(list));
        QCOMPARE(bench.hear_from(7, proposal), Verdict::accepted);
        QCOMPARE(bench.asked(list), std::vector{Bench::id(7)});
        QCOMPARE(bench.own_vote(), std::string("none"));
        QCOMPARE(bench.ballots->on_list({list.encode()}), Verdict::accepted);
        QCOMPARE(bench.own_vote(), std::string("list"));
        QCOMPARE(bench.hear_from(8, proposal), Verdict::repeated);
        QVERIFY(bench.asked(list).empty());
    }

    void a_list_for_a_turn_far_ahead_is_not_asked_for() {
        Bench bench;
        const run::AcceptList list = bench.signed_list();
        QCOMPARE(bench.hear_from(7, Bench::bare(bench.proposal(list, 2))), Verdict::accepted);
        QVERIFY(bench.asked(list).empty());
        QCOMPARE(bench.hear_from(7, Bench::bare(bench.proposal(list, 1))), Verdict::accepted);
        QCOMPARE(bench.asked(list), std::vector{Bench::id(7)});
    }

    void another_neighbour_is_asked_when_the_list_does_not_come() {
        Bench bench;
        const run::AcceptList list = bench.signed_list();
        const run::BallotMessage proposal = Bench::bare(bench.proposal(list));
        (void)bench.hear_from(7, proposal);
        (void)bench.hear_from(8, proposal);
        QCOMPARE(bench.asked(list), std::vector{Bench::id(7)});
        bench.tick_after(list_asked_again_first - Duration{1});
        QVERIFY(bench.asked(list).empty());
        bench.tick_after(Duration{1});
        QCOMPARE(bench.asked(list), std::vector{Bench::id(8)});
    }

    void a_certificate_without_its_list_is_asked_about_if_it_is_true() {
        Bench bench;
        const run::AcceptList list = bench.signed_list(), other = bench.good_list(2.0F);
        const auto certified = [&](const run::AcceptList& one) {
            return Bench::bare(bench.certificate(one, {turns()[0], turns()[1], turns()[2]}, Step::precommit));
        };
        QCOMPARE(bench.hear_from(7, certified(list)), Verdict::accepted);
        QCOMPARE(bench.asked(list), std::vector{Bench::id(7)});
        QVERIFY(bench.ballots->decision() == nullptr);
        const auto forged = Bench::bare(bench.certificate(other, {turns()[0], turns()[1]}, Step::precommit));
        QVERIFY(bench.hear_from(8, forged) != Verdict::accepted);
        QVERIFY(bench.asked(other).empty());
        QCOMPARE(bench.ballots->on_list({list.encode()}), Verdict::accepted);
        QVERIFY(bench.ballots->decision() != nullptr);
    }

    void a_list_that_nobody_was_asked_for_is_stale() {
        Bench bench;
        const run::AcceptList list = bench.signed_list(), other = bench.good_list(2.0F);
        QCOMPARE(bench.ballots->on_list({list.encode()}), Verdict::stale);
        (void)bench.hear_from(7, Bench::bare(bench.proposal(list)));
        QCOMPARE(bench.ballots->on_list({other.encode()}), Verdict::stale);
        QCOMPARE(bench.own_vote(), std::string("none"));
    }

    void a_neighbour_that_asks_gets_the_list_at_once_or_as_soon_as_it_is_here() {
        Bench bench;
        const run::AcceptList list = bench.signed_list();
        QCOMPARE(bench.request(8, list), Verdict::stale);
        (void)bench.hear_from(7, Bench::bare(bench.proposal(list)));
        QCOMPARE(bench.request(8, list), Verdict::accepted);
        QVERIFY(bench.answered(list).empty());
        (void)bench.ballots->on_list({list.encode()});
        QCOMPARE(bench.answered(list), std::vector{Bench::id(8)});
        QCOMPARE(bench.request(9, list), Verdict::accepted);
        QCOMPARE(bench.answered(list), std::vector{Bench::id(9)});
    }

    void a_neighbour_that_has_not_taken_the_last_answer_gets_no_other() {
        Bench bench;
        const run::AcceptList list = bench.signed_list();
        (void)bench.hear(bench.proposal(list));
        bench.swarm.bytes_unsent = run::message_bytes_max;
        QCOMPARE(bench.request(8, list), Verdict::repeated);
        QVERIFY(bench.answered(list).empty());
        bench.swarm.bytes_unsent = run::message_bytes_max - 1;
        QCOMPARE(bench.request(8, list), Verdict::accepted);
    }

    void the_list_before_is_still_given() {
        Bench bench;
        const run::AcceptList list = bench.signed_list();
        QVERIFY(bench.chain.append(bench.committed(list, {1, 2, 3}), bench.commit(1, 0.5F)).ok());
        bench.ballots->enter();
        QCOMPARE(bench.request(8, list), Verdict::accepted);
        QCOMPARE(bench.answered(list), std::vector{Bench::id(8)});
    }
};

QTEST_APPLESS_MAIN(LongListsTest)
#include "test_long_lists.moc"
