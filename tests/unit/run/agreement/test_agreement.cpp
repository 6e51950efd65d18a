// One member under test among members whose messages the test writes: rule by rule of algorithm 1 (arXiv 1807.04938).
// Member i of the fixture proposes in view i.
#include <QTest>

#include "tests/unit/run/agreement/agreement_fixture.h"

using namespace potluck;
using namespace potluck::run;
using namespace potluck::run::testing;

namespace {

/// The lists of this member's votes of one step among what it sent.
std::vector<std::optional<Digest>> own(const Bench& bench, const Actions& actions, Step step, std::size_t self) {
    std::vector<std::optional<Digest>> lists;
    for (const Vote& vote : votes_in(actions.send, bench.members.key(self), step)) lists.push_back(vote.list);
    return lists;
}

using Lists = std::vector<std::optional<Digest>>;
const std::optional<Digest> nil;

const SignedProposal* own_proposal(const Actions& actions) {
    for (const AgreementMessage& message : actions.send) {
        if (const auto* proposal = std::get_if<SignedProposal>(&message)) return proposal;
    }
    return nullptr;
}

bool has_certificate(const Actions& actions, Step step) {
    return std::any_of(actions.send.begin(), actions.send.end(), [&](const AgreementMessage& message) {
        const auto* certificate = std::get_if<Certificate>(&message);
        return certificate != nullptr && certificate->step == step;
    });
}

/// Member 3 of four, in view 0, locked on `list`: it has precommitted.
void lock(Bench& bench, const Digest& list) {
    (void)bench.start();
    (void)bench.receive(bench.members.proposal(0, list));
    (void)bench.receive_all({bench.members.prevote(0, 0, list), bench.members.prevote(1, 0, list)});
}

/// Into `view` by the word of the two members before it.
void jump(Bench& bench, std::uint32_t view) {
    (void)bench.receive_all({bench.members.prevote(1, view, nil), bench.members.prevote(2, view, nil)});
    QCOMPARE(bench.machine->view(), view);
}

}  // namespace

class AgreementTest : public QObject {
    Q_OBJECT
private slots:
    // --- proposing -------------------------------------------------------------------------------------------------

    void a_proposer_asks_its_source_until_it_has_a_list() {
        Bench bench(4, 0);
        QVERIFY(bench.start().send.empty());
        QVERIFY(bench.lists.asked > 0);
        bench.lists.own = bench.list("own");
        const Actions actions = bench.step(bench.machine->reconsider(bench.now));
        QVERIFY(own_proposal(actions) != nullptr && own_proposal(actions)->statement.list == *bench.lists.own);
        QCOMPARE(own(bench, actions, Step::prevote, 0), Lists{*bench.lists.own});
        bench.lists.own = bench.list("another");
        QVERIFY(own_proposal(bench.step(bench.machine->reconsider(bench.now))) == nullptr);
    }

    void a_member_does_not_propose_out_of_turn() {
        Bench bench(4, 1);
        bench.lists.own = bench.list("own");
        QVERIFY(bench.start().send.empty());
        QCOMPARE(bench.lists.asked, 0);
    }

    void a_committee_of_one_decides_alone_and_only_what_is_on_disk() {
        Bench bench(1);
        bench.lists.own = bench.list("own");
        Actions actions = bench.machine->start(bench.now);
        for (int records = 0; records < 3; ++records) {  // proposal, prevote, precommit
            QVERIFY(actions.persist && actions.send.empty() && !actions.decided);
            actions = bench.machine->persisted(actions.persist->number, bench.now);
            QCOMPARE(actions.send.size(), std::size_t{1});
            actions.send.clear();
        }
        QVERIFY(actions.decided && actions.decided->list == *bench.lists.own);
        QVERIFY(certifies(*actions.decided, bench.members.committee, bench.members.keyrings[0]));
    }

    // --- prevotes: lines 22 to 33, 57 to 60
    // ---------------------------------------------------------------------------

    void a_valid_list_gets_a_prevote_and_an_invalid_one_nil() {
        for (const Validity validity : {Validity::valid, Validity::invalid}) {
            Bench bench(4, 3);
            (void)bench.start();
            const Digest list = bench.list("list", validity);
            const Actions actions = bench.receive(bench.members.proposal(0, list));
            QCOMPARE(own(bench, actions, Step::prevote, 3),
                     Lists{validity == Validity::valid ? std::optional(list) : nil});
        }
    }

    void a_list_that_is_not_known_yet_is_waited_for() {
        Bench bench(4, 3);
        (void)bench.start();
        const Digest list = digest_of("list");
        QVERIFY(bench.receive(bench.members.proposal(0, list)).send.empty());
        bench.lists.known[list] = Validity::valid;
        QCOMPARE(own(bench, bench.step(bench.machine->reconsider(bench.now)), Step::prevote, 3), Lists{list});
    }

    void a_member_that_waits_in_vain_prevotes_nil_at_the_time_out() {
        Bench bench(4, 3);
        (void)bench.start();
        (void)bench.receive(bench.members.proposal(0, digest_of("never known")));
        QVERIFY(bench.wait(bench.times.propose - Duration{1}).send.empty() || bench.times.repeat < bench.times.propose);
        QVERIFY(votes_in(bench.wait(Duration{0}).send, bench.members.key(3), Step::prevote).empty());
        QCOMPARE(own(bench, bench.wait(Duration{1}), Step::prevote, 3), Lists{nil});
    }

    void a_member_votes_once_in_each_step() {
        Bench bench(4, 3);
        const Digest list = bench.list("list");
        (void)bench.start();
        (void)bench.receive(bench.members.proposal(0, list));
        QVERIFY(bench.receive(bench.members.proposal(0, bench.list("second"))).evidence.size() == 1);
        QVERIFY(own(bench, bench.step(bench.machine->reconsider(bench.now)), Step::prevote, 3).empty());
        QCOMPARE(bench.machine->count(VoteVerdict::contradicting), std::uint64_t{1});
    }

    // --- locking and precommits: lines 34 to 46, 61 to 64 ------------------------------------------------------------

    void a_polka_locks_its_list_and_precommits_it() {
        Bench bench(4, 3);
        const Digest list = bench.list("list");
        (void)bench.start();
        (void)bench.receive(bench.members.proposal(0, list));
        QVERIFY(own(bench, bench.receive(bench.members.prevote(0, 0, list)), Step::precommit, 3).empty());
        const Actions actions = bench.receive(bench.members.prevote(1, 0, list));
        QCOMPARE(own(bench, actions, Step::precommit, 3), Lists{list});
        QVERIFY(bench.saved->locked == (Lock{0, list}));
        QVERIFY(bench.saved->valid &&
                certifies(*bench.saved->valid, bench.members.committee, bench.members.keyrings[0]));
    }

    void a_polka_for_what_is_not_known_to_be_valid_locks_nothing() {
        Bench bench(4, 3);
        const Digest list = digest_of("list");
        (void)bench.start();
        (void)bench.wait(bench.times.propose);
        Actions actions = bench.receive_all(
            {bench.members.prevote(0, 0, list), bench.members.prevote(1, 0, list), bench.members.prevote(2, 0, list)});
        QVERIFY(own(bench, actions, Step::precommit, 3).empty());
        QVERIFY(!bench.saved->locked);
        bench.lists.known[list] = Validity::valid;
        actions = bench.step(bench.machine->reconsider(bench.now));
        QCOMPARE(own(bench, actions, Step::precommit, 3), Lists{list});
    }

    void prevotes_of_a_quorum_for_nil_are_precommitted_at_once() {
        Bench bench(4, 3);
        (void)bench.start();
        (void)bench.wait(bench.times.propose);
        (void)bench.receive(bench.members.prevote(0, 0, nil));
        QCOMPARE(own(bench, bench.receive(bench.members.prevote(1, 0, nil)), Step::precommit, 3), Lists{nil});
    }

    void prevotes_that_differ_are_waited_for_until_the_time_out() {
        Bench bench(4, 3);
        const Digest list = bench.list("list");
        bench.times.repeat = Duration{100'000};
        bench.make({});
        (void)bench.start();
        (void)bench.receive(bench.members.proposal(0, list));
        (void)bench.receive(bench.members.prevote(0, 0, nil));
        QVERIFY(bench.wait(bench.times.propose * 2).send.empty());  // two prevotes are no quorum: no time-out runs
        (void)bench.receive(bench.members.prevote(1, 0, bench.list("other")));
        QVERIFY(bench.wait(bench.times.prevote - Duration{1}).send.empty());
        QCOMPARE(own(bench, bench.wait(Duration{1}), Step::precommit, 3), Lists{nil});
    }

    void a_locked_member_prevotes_nothing_else_without_a_newer_polka() {
        Bench bench(4, 3);
        const Digest locked = bench.list("locked");
        const Digest other = bench.list("other");
        lock(bench, locked);
        jump(bench, 5);
        QCOMPARE(own(bench, bench.receive(bench.members.proposal(5, other)), Step::prevote, 3), Lists{nil});
    }

    void a_locked_member_prevotes_its_own_list_again() {
        Bench bench(4, 3);
        const Digest locked = bench.list("locked");
        lock(bench, locked);
        jump(bench, 5);
        QCOMPARE(own(bench, bench.receive(bench.members.proposal(5, locked)), Step::prevote, 3), Lists{locked});
    }

    void a_newer_polka_unlocks_and_an_older_one_does_not() {
        for (const std::uint32_t proof_view : {6U, 3U}) {
            Bench bench(4, 3);
            const Digest locked = bench.list("locked");
            const Digest other = bench.list("other");
            (void)bench.start();
            jump(bench, 4);  // locked in view 4
            (void)bench.receive(bench.members.proposal(4, locked));
            (void)bench.receive_all({bench.members.prevote(0, 4, locked), bench.members.precommit(1, 4, nil)});
            (void)bench.receive(bench.members.certificate(Step::prevote, 4, locked, {0, 1, 2}));
            QVERIFY(bench.saved->locked == (Lock{4, locked}));
            jump(bench, 9);
            const Certificate proof = bench.members.certificate(Step::prevote, proof_view, other, {0, 1, 2});
            const Actions actions = bench.receive(bench.members.proposal(9, other, proof));
            QCOMPARE(own(bench, actions, Step::prevote, 3), Lists{proof_view > 4 ? std::optional(other) : nil});
        }
    }

    void a_polka_of_the_lock_s_own_view_unlocks() {
        Bench bench(4, 3);
        const Digest locked = bench.list("locked");
        const Digest other = bench.list("other");
        lock(bench, locked);
        jump(bench, 5);
        const Certificate proof = bench.members.certificate(Step::prevote, 0, other, {0, 1, 2});
        QCOMPARE(own(bench, bench.receive(bench.members.proposal(5, other, proof)), Step::prevote, 3), Lists{other});
    }

    void a_lock_outlives_views_and_moves_with_a_newer_polka_only() {
        Bench bench(4, 3);
        const Digest locked = bench.list("locked");
        const Digest other = bench.list("other");
        lock(bench, locked);
        (void)bench.receive_all({bench.members.prevote(0, 5, other), bench.members.prevote(1, 5, other)});
        QCOMPARE(bench.machine->view(), 5U);
        (void)bench.wait(bench.times.propose + 5 * bench.times.growth);
        QVERIFY(bench.saved->prevote->statement.list == nil);
        QVERIFY(bench.saved->locked == (Lock{0, locked}));
        QCOMPARE(own(bench, bench.receive(bench.members.prevote(2, 5, other)), Step::precommit, 3), Lists{other});
        QVERIFY(bench.saved->locked == (Lock{5, other}));
    }

    void a_proposer_proposes_the_list_of_the_newest_polka_with_its_proof() {
        Bench bench(4, 3);
        const Digest locked = bench.list("locked");
        lock(bench, locked);
        bench.lists.own = bench.list("own");
        (void)bench.receive_all({bench.members.prevote(1, 2, nil), bench.members.prevote(2, 2, nil)});
        const Actions actions = bench.receive_all({bench.members.prevote(0, 3, nil), bench.members.prevote(1, 3, nil)});
        QCOMPARE(bench.machine->view(), 3U);
        QVERIFY(own_proposal(actions) != nullptr);
        QVERIFY(own_proposal(actions)->statement.list == locked);
        QVERIFY(own_proposal(actions)->statement.proof && own_proposal(actions)->statement.proof->view == 0);
        QCOMPARE(bench.lists.asked, 0);
        QCOMPARE(own(bench, actions, Step::prevote, 3), Lists{locked});
    }

    // --- views: lines 47 to 48, 55 to 56, 65 to 67 -------------------------------------------------------------------

    void precommits_without_a_commit_end_the_view_at_their_time_out() {
        Bench bench(4, 3);
        (void)bench.start();
        bench.times.repeat = Duration{100'000};
        (void)bench.receive_all({bench.members.precommit(0, 0, nil), bench.members.precommit(1, 0, nil)});
        (void)bench.wait(bench.times.precommit);
        QCOMPARE(bench.machine->view(), 0U);  // two are no quorum
        (void)bench.receive(bench.members.precommit(2, 0, bench.list("list")));
        (void)bench.wait(bench.times.precommit - Duration{1});
        QCOMPARE(bench.machine->view(), 0U);
        (void)bench.wait(Duration{1});
        QCOMPARE(bench.machine->view(), 1U);
    }

    void time_outs_grow_with_the_view() {
        Bench bench(4, 3);
        bench.times.repeat = Duration{1'000'000};
        bench.make({});
        (void)bench.start();
        QCOMPARE(*bench.machine->wake_at() - bench.now, bench.times.propose);
        jump(bench, 6);
        QCOMPARE(*bench.machine->wake_at() - bench.now, bench.times.propose + 6 * bench.times.growth);
        QVERIFY(bench.wait(bench.times.propose + 6 * bench.times.growth - Duration{1}).send.empty());
        QCOMPARE(own(bench, bench.wait(Duration{1}), Step::prevote, 3), Lists{nil});
        (void)bench.receive_all({bench.members.precommit(0, 6, nil), bench.members.precommit(1, 6, nil),
                                 bench.members.precommit(2, 6, nil)});
        QCOMPARE(*bench.machine->wake_at() - bench.now, bench.times.precommit + 6 * bench.times.growth);
    }

    void a_member_follows_f_plus_one_others_and_not_fewer() {
        Bench bench(7, 6);
        (void)bench.start();
        (void)bench.receive_all({bench.members.prevote(0, 4, nil), bench.members.precommit(0, 4, nil),
                                 bench.members.prevote(1, 4, nil), bench.members.prevote(2, 5, nil)});
        QCOMPARE(bench.machine->view(), 0U);
        (void)bench.receive(bench.members.prevote(2, 4, nil));
        QCOMPARE(bench.machine->view(), 4U);
    }

    void a_polka_of_a_later_view_is_followed() {
        Bench bench(7, 6);
        (void)bench.start();
        (void)bench.receive(bench.members.certificate(Step::prevote, 8, digest_of("list"), {0, 1, 2, 3, 4}));
        QCOMPARE(bench.machine->view(), 8U);
    }

    void the_last_view_is_not_left() {
        Bench bench(4, 3);
        (void)bench.start();
        jump(bench, view_max);
        (void)bench.receive_all({bench.members.precommit(0, view_max, nil), bench.members.precommit(1, view_max, nil),
                                 bench.members.precommit(2, view_max, nil)});
        (void)bench.wait(bench.times.precommit + bench.times.growth * view_max);
        QCOMPARE(bench.machine->view(), view_max);
    }

    void a_view_about_to_fail_shows_its_polka() {
        Bench bench(4, 3);
        const Digest list = bench.list("list");
        lock(bench, list);
        Actions actions = bench.receive(bench.members.precommit(0, 0, nil));
        QVERIFY(!has_certificate(actions, Step::prevote));
        actions = bench.receive(bench.members.precommit(1, 0, nil));
        QVERIFY(has_certificate(actions, Step::prevote));
    }

    void members_that_have_not_begun_listen_and_begin_with_f_plus_one_others() {
        Bench bench(4, 3);
        const Digest list = bench.list("list");
        QVERIFY(bench.receive(bench.members.proposal(0, list)).send.empty());
        QVERIFY(!bench.machine->wake_at());
        QCOMPARE(own(bench, bench.receive(bench.members.prevote(1, 0, list)), Step::prevote, 3), Lists{list});
        Bench other(4, 3);
        (void)other.receive(other.members.proposal(0, other.list("list")));
        QCOMPARE(own(other, other.start(), Step::prevote, 3), Lists{digest_of("list")});
    }

    // --- decisions: lines 49 to 54 -----------------------------------------------------------------------------------

    void precommits_of_a_quorum_decide_even_of_a_view_left_and_a_list_unknown() {
        Bench bench(4, 3);
        const Digest list = digest_of("never seen");
        (void)bench.start();
        jump(bench, 1);
        Actions actions = bench.receive_all({bench.members.precommit(0, 0, list), bench.members.precommit(1, 0, list)});
        QVERIFY(!actions.decided);
        actions = bench.receive(bench.members.precommit(2, 0, list));
        QVERIFY(actions.decided && actions.decided->list == list && actions.decided->view == 0);
        QVERIFY(certifies(*actions.decided, bench.members.committee, bench.members.keyrings[3]));
        QVERIFY(bench.machine->decision() == actions.decided);
        QVERIFY(!bench.machine->wake_at());
    }

    void a_certificate_decides_and_a_forged_one_does_not() {
        Bench bench(4, 3);
        (void)bench.start();
        const Digest list = digest_of("list");
        Certificate forged = bench.members.certificate(Step::precommit, 0, list, {0, 1, 2});
        forged.list = digest_of("another");
        QCOMPARE(bench.receive(forged).verdict, VoteVerdict::bad_proof);
        QCOMPARE(bench.receive(bench.members.certificate(Step::precommit, 0, list, {0, 1})).verdict,
                 VoteVerdict::bad_proof);
        QVERIFY(!bench.machine->decision());
        QVERIFY(bench.receive(bench.members.certificate(Step::precommit, 0, list, {0, 1, 2})).decided);
        const Actions again = bench.receive(bench.members.certificate(Step::precommit, 0, list, {0, 1, 2}));
        QCOMPARE(again.verdict, VoteVerdict::repeated);
        QVERIFY(!again.decided);
    }

    void prevotes_decide_nothing() {
        Bench bench(4, 3);
        const Digest list = bench.list("list");
        (void)bench.start();
        (void)bench.receive(bench.members.proposal(0, list));
        const Actions actions = bench.receive_all(
            {bench.members.prevote(0, 0, list), bench.members.prevote(1, 0, list), bench.members.prevote(2, 0, list)});
        QVERIFY(!actions.decided);
        QVERIFY(!bench.receive(bench.members.certificate(Step::prevote, 0, list, {0, 1, 2})).decided);
    }

    void a_decided_member_votes_no_more_and_answers_members_that_missed_it() {
        Bench bench(4, 3);
        const Digest list = bench.list("list");
        (void)bench.start();
        (void)bench.receive(bench.members.certificate(Step::precommit, 0, list, {0, 1, 2}));
        QVERIFY(bench.receive(bench.members.precommit(1, 0, list)).send.empty());  // only late, not behind
        bench.now = bench.now + bench.times.repeat;
        Actions actions = bench.receive(bench.members.prevote(1, 0, nil));
        QVERIFY(has_certificate(actions, Step::precommit));
        QCOMPARE(actions.send.size(), std::size_t{1});
        QVERIFY(bench.receive(bench.members.prevote(2, 0, nil)).send.empty());  // once in a while
        bench.now = bench.now + bench.times.repeat;
        const HashKeyring stranger(key_of(99));
        QVERIFY(bench.receive(sign(Vote{instance(), 0, Step::prevote, nil}, stranger)).send.empty());
        QVERIFY(has_certificate(bench.receive(bench.members.prevote(1, 0, nil)), Step::precommit));
        QVERIFY(bench.receive(bench.members.proposal(0, list)).send.empty());
    }

    void an_observer_decides_and_never_votes() {
        Bench bench(4, 3);
        const HashKeyring observer(key_of(50));
        KnownLists lists;
        const Digest list = digest_of("list");
        lists.known[list] = Validity::valid;
        Agreement machine({instance(), bench.members.committee, bench.members.previous, {}}, observer, lists, {});
        QVERIFY(!machine.votes());
        (void)machine.start(bench.now);
        Actions actions = machine.receive(bench.members.proposal(0, list), bench.now);
        QVERIFY(!actions.persist && actions.send.empty());
        for (std::size_t member = 0; member < 3; ++member) {
            actions = machine.receive(bench.members.precommit(member, 0, list), bench.now);
        }
        QVERIFY(actions.decided && !actions.persist && actions.send.empty());
    }

    void four_members_with_ed25519_keys_decide() {
        std::vector<identity::Identity> identities;
        std::vector<PeerId> keys;
        for (int i = 0; i < 4; ++i) {
            std::array<std::byte, 32> seed{};
            seed[0] = static_cast<std::byte>(i);
            identities.push_back(identity::Identity::from_seed(seed));
            keys.push_back(identities.back().id());
        }
        std::vector<IdentityKeyring> keyrings(identities.begin(), identities.end());
        KnownLists lists;
        lists.own = digest_of("list");
        lists.known[*lists.own] = Validity::valid;
        std::vector<Agreement> machines;
        for (const IdentityKeyring& keyring : keyrings) {
            machines.emplace_back(AgreementSettings{instance(), *Committee::from_keys(keys), {}, {}}, keyring, lists,
                                  std::nullopt);
        }
        std::deque<AgreementMessage> wire;
        // Writes every record at once, and puts on the wire what waited for it.
        const auto act = [&](Agreement& machine, Actions actions) {
            wire.insert(wire.end(), actions.send.begin(), actions.send.end());
            while (actions.persist) {
                actions = machine.persisted(actions.persist->number, {});
                wire.insert(wire.end(), actions.send.begin(), actions.send.end());
            }
        };
        for (Agreement& machine : machines) act(machine, machine.start({}));
        while (!wire.empty()) {
            const AgreementMessage message = decode_agreement_message(encode(wire.front())).value();
            wire.pop_front();
            for (Agreement& machine : machines) act(machine, machine.receive(message, {}));
        }
        for (const Agreement& machine : machines) {
            QVERIFY(machine.decision() && machine.decision()->list == *lists.own);
            QVERIFY(certifies(*machine.decision(), *Committee::from_keys(keys), keyrings[0]));
        }
    }

    // --- what is refused ---------------------------------------------------------------------------------------------

    void everything_refused_is_counted_by_its_reason() {
        Bench bench(4, 3);
        (void)bench.start();
        const auto verdict_of = [&](auto change) {
            Vote vote{instance(), 0, Step::prevote, nil};
            change(vote);
            return bench.receive(sign(vote, bench.members.keyrings[1])).verdict;
        };
        QCOMPARE(verdict_of([](Vote& vote) { vote.instance.run = {}; }), VoteVerdict::other_run);
        QCOMPARE(verdict_of([](Vote& vote) { vote.instance.term = 1; }), VoteVerdict::other_run);
        QCOMPARE(verdict_of([](Vote& vote) { vote.instance.round = RoundId{4}; }), VoteVerdict::stale);
        QCOMPARE(verdict_of([](Vote& vote) { vote.instance.round = RoundId{6}; }), VoteVerdict::ahead);
        QCOMPARE(verdict_of([](Vote&) {}), VoteVerdict::accepted);
        QCOMPARE(verdict_of([](Vote&) {}), VoteVerdict::repeated);
        Certificate other = bench.members.certificate(Step::precommit, 0, digest_of("list"), {0, 1, 2});
        other.instance.term = 1;
        QCOMPARE(bench.receive(other).verdict, VoteVerdict::other_run);
        QVERIFY(!bench.machine->decision());
        QCOMPARE(bench.machine->count(VoteVerdict::other_run), std::uint64_t{3});
        QCOMPARE(bench.machine->count(VoteVerdict::stale), std::uint64_t{1});
        QCOMPARE(bench.machine->count(VoteVerdict::ahead), std::uint64_t{1});
        QCOMPARE(bench.machine->count(VoteVerdict::accepted), std::uint64_t{1});
        QCOMPARE(bench.machine->count(VoteVerdict::repeated), std::uint64_t{1});
    }

    // --- disk and restarts -------------------------------------------------------------------------------------------

    void no_own_vote_is_sent_repeated_or_counted_before_its_record_is_on_disk() {
        Bench bench(4, 3);
        const Digest list = bench.list("list");
        (void)bench.start();
        Actions actions = bench.machine->receive(bench.members.proposal(0, list), bench.now);
        QVERIFY(actions.persist && actions.send.empty());
        QVERIFY(actions.persist->record.prevote && actions.persist->record.prevote->statement.list == list);
        const std::uint64_t number = actions.persist->number;
        // Two prevotes of others and the own one would be a polka, were the own one on disk.
        for (std::size_t member = 0; member < 2; ++member) {
            actions = bench.machine->receive(bench.members.prevote(member, 0, list), bench.now);
            QVERIFY(!actions.persist);
        }
        bench.now = bench.now + bench.times.repeat;
        actions = bench.machine->tick(bench.now);
        QVERIFY(!actions.send.empty() && votes_in(actions.send, bench.members.key(3), Step::prevote).empty());
        actions = bench.machine->persisted(number, bench.now);
        QCOMPARE(votes_in(actions.send, bench.members.key(3), Step::prevote).size(), std::size_t{1});
        QVERIFY(votes_in(actions.send, bench.members.key(3), Step::precommit).empty());
        QVERIFY(actions.persist && actions.persist->record.precommit && actions.persist->record.locked);
    }

    void an_older_record_on_disk_does_not_free_newer_messages() {
        Bench bench(4, 3);
        const Digest list = bench.list("list");
        (void)bench.start();
        const Actions first = bench.machine->receive(bench.members.proposal(0, list), bench.now);
        (void)bench.machine->receive(bench.members.prevote(0, 0, list), bench.now);
        (void)bench.machine->receive(bench.members.prevote(1, 0, list), bench.now);
        const Actions second = bench.machine->receive(bench.members.prevote(2, 0, list), bench.now);
        QVERIFY(first.persist && second.persist && second.persist->number > first.persist->number);
        const Actions freed = bench.machine->persisted(first.persist->number, bench.now);
        QCOMPARE(own(bench, freed, Step::prevote, 3), Lists{list});
        QVERIFY(own(bench, freed, Step::precommit, 3).empty());
        QCOMPARE(own(bench, bench.machine->persisted(second.persist->number, bench.now), Step::precommit, 3),
                 Lists{list});
    }

    void a_restarted_member_repeats_its_votes_and_makes_no_others() {
        Bench bench(4, 3);
        const Digest list = bench.list("list");
        (void)bench.start();
        (void)bench.receive(bench.members.proposal(0, list));
        bench.restart();
        bench.lists.known[list] = Validity::invalid;  // were it asked again, it would say something else
        Actions actions = bench.start();
        QCOMPARE(own(bench, actions, Step::prevote, 3), Lists{list});
        actions = bench.receive(bench.members.proposal(0, list));
        QVERIFY(own(bench, actions, Step::prevote, 3).empty());
        bench.lists.known[list] = Validity::valid;
        (void)bench.receive_all({bench.members.prevote(0, 0, list), bench.members.prevote(1, 0, list)});
        bench.restart();
        actions = bench.start();
        QCOMPARE(own(bench, actions, Step::precommit, 3), Lists{list});
        actions = bench.receive_all(
            {bench.members.prevote(0, 0, nil), bench.members.prevote(1, 0, nil), bench.members.prevote(2, 0, nil)});
        QVERIFY(own(bench, actions, Step::precommit, 3).empty());
        QVERIFY(bench.saved->locked == (Lock{0, list}));
    }

    void a_restarted_proposer_proposes_what_it_proposed() {
        Bench bench(4, 0);
        bench.lists.own = bench.list("first");
        bench.saved = bench.machine->start(bench.now).persist->record;  // on disk, and the process dies
        QVERIFY(bench.saved->proposal && !bench.saved->prevote);
        bench.restart();
        bench.lists.own = bench.list("second");
        const Actions actions = bench.start();
        QVERIFY(own_proposal(actions) != nullptr && own_proposal(actions)->statement.list == digest_of("first"));
        for (const AgreementMessage& message : actions.send) {
            const auto* proposal = std::get_if<SignedProposal>(&message);
            QVERIFY(proposal == nullptr || proposal->statement.list == digest_of("first"));
        }
        QCOMPARE(own(bench, actions, Step::prevote, 0), Lists{digest_of("first")});
    }

    void a_lock_survives_a_restart_in_a_later_view() {
        Bench bench(4, 3);
        const Digest locked = bench.list("locked");
        const Digest other = bench.list("other");
        lock(bench, locked);
        jump(bench, 5);
        (void)bench.wait(bench.times.propose + 5 * bench.times.growth);  // prevotes nil, and is on disk in view 5
        bench.restart();
        (void)bench.start();
        QCOMPARE(bench.machine->view(), 5U);
        jump(bench, 9);
        QCOMPARE(own(bench, bench.receive(bench.members.proposal(9, other)), Step::prevote, 3), Lists{nil});
    }

    void a_record_of_a_view_in_which_nothing_was_said_is_not_begun_anew() {
        Bench bench(4, 3);
        (void)bench.start();
        (void)bench.receive_all({bench.members.precommit(0, 0, nil), bench.members.precommit(1, 0, nil),
                                 bench.members.precommit(2, 0, nil)});
        // One tick prevotes nil and enters the next view: the record written has no message of its own.
        (void)bench.wait(bench.times.propose + bench.times.precommit);
        QCOMPARE(bench.machine->view(), 1U);
        QVERIFY(bench.saved && bench.saved->view == 1 && !bench.saved->prevote);
        bench.restart();
        (void)bench.start();
        QCOMPARE(bench.machine->view(), 1U);
        QVERIFY(own(bench, bench.receive(bench.members.proposal(0, bench.list("list"))), Step::prevote, 3).empty());
    }

    void a_restarted_member_can_show_what_brought_it_to_its_view() {
        Bench bench(4, 3);
        (void)bench.start();
        jump(bench, 5);
        (void)bench.wait(bench.times.propose + 5 * bench.times.growth);
        bench.restart();
        const Actions actions = bench.start();
        QCOMPARE(votes_in(actions.send, bench.members.key(1), Step::prevote).size(), std::size_t{1});
        QCOMPARE(votes_in(actions.send, bench.members.key(2), Step::prevote).size(), std::size_t{1});
        Bench other(4, 3);
        (void)other.start();
        (void)other.receive_all({other.members.precommit(0, 0, nil), other.members.precommit(1, 0, nil),
                                 other.members.precommit(2, 0, nil)});
        (void)other.wait(other.times.precommit);
        (void)other.wait(other.times.propose + other.times.growth);
        other.restart();
        const Actions shown = other.start();
        for (std::size_t member = 0; member < 3; ++member) {
            QCOMPARE(votes_in(shown.send, other.members.key(member), Step::precommit).size(), std::size_t{1});
        }
    }

    void a_restarted_member_can_show_the_polka_that_brought_it_to_its_view() {
        Bench bench(4, 3);
        (void)bench.start();
        (void)bench.receive(bench.members.certificate(Step::prevote, 5, digest_of("unknown"), {0, 1, 2}));
        (void)bench.wait(bench.times.propose + 5 * bench.times.growth);
        QVERIFY(bench.saved->view == 5 && !bench.saved->valid);
        bench.restart();
        QVERIFY(has_certificate(bench.start(), Step::prevote));
    }

    void a_record_of_an_earlier_round_or_another_key_is_no_matter() {
        Bench bench(4, 3);
        const Digest list = bench.list("list");
        lock(bench, list);
        for (int kind = 0; kind < 3; ++kind) {
            VoteRecord record;
            record.author = bench.members.key(kind == 0 ? 2 : 3);
            record.instance = instance();
            record.view = 7;
            if (kind == 1) record.instance.round = RoundId{4};
            if (kind == 2) record.instance.term = 1, record.instance.round = RoundId{9};
            bench.make(record);
            (void)bench.start();
            QVERIFY(bench.machine->votes());
            QCOMPARE(bench.machine->view(), 0U);
        }
    }

    void a_member_that_lost_its_chain_but_not_its_record_abstains() {
        for (int kind = 0; kind < 3; ++kind) {
            Bench bench(4, 3);
            VoteRecord record;
            record.author = bench.members.key(3);
            record.instance = instance();
            if (kind == 0) record.instance.round = RoundId{6};
            if (kind == 1) record.instance.term = 3, record.instance.round = RoundId{1};
            if (kind == 2) record.instance.run = {};
            bench.make(record);
            QVERIFY(!bench.machine->votes());
            (void)bench.start();
            const Digest list = bench.list("list");
            const Actions actions = bench.receive(bench.members.proposal(0, list));
            QVERIFY(actions.send.empty() && !actions.persist);
            QVERIFY(bench.receive(bench.members.certificate(Step::precommit, 0, list, {0, 1, 2})).decided);
        }
    }

    void a_member_that_meets_a_forgotten_own_vote_abstains() {
        Bench bench(4, 3);
        (void)bench.start();
        const Digest list = bench.list("list");
        (void)bench.receive(bench.members.prevote(3, 0, nil));
        QVERIFY(!bench.machine->votes());
        QVERIFY(bench.receive(bench.members.proposal(0, list)).send.empty());

        Bench contradicted(4, 3);
        (void)contradicted.start();
        (void)contradicted.receive(contradicted.members.proposal(0, contradicted.list("list")));
        QVERIFY(contradicted.machine->votes());
        (void)contradicted.receive(contradicted.members.prevote(3, 0, contradicted.list("list")));  // an echo
        QVERIFY(contradicted.machine->votes());
        (void)contradicted.receive(contradicted.members.prevote(3, 0, nil));
        QVERIFY(!contradicted.machine->votes());
    }

    void an_own_vote_of_a_view_left_is_no_loss_of_memory() {
        Bench bench(4, 3);
        (void)bench.start();
        jump(bench, 1);
        (void)bench.wait(bench.times.propose + bench.times.growth);
        bench.restart();
        (void)bench.start();
        QCOMPARE(bench.receive(bench.members.prevote(3, 0, nil)).verdict, VoteVerdict::accepted);
        QVERIFY(bench.machine->votes());
    }

    void messages_that_may_have_been_lost_are_repeated() {
        Bench bench(4, 3);
        const Digest list = bench.list("list");
        lock(bench, list);
        const Actions actions = bench.wait(bench.times.repeat);
        QVERIFY(has_certificate(actions, Step::prevote));
        QVERIFY(own_proposal(actions) != nullptr);
        QCOMPARE(votes_in(actions.send, bench.members.key(3), Step::prevote).size(), std::size_t{1});
        QCOMPARE(votes_in(actions.send, bench.members.key(3), Step::precommit).size(), std::size_t{1});
        QCOMPARE(votes_in(actions.send, bench.members.key(0), Step::prevote).size(), std::size_t{1});
        QVERIFY(bench.wait(bench.times.repeat - Duration{1}).send.empty());
        QVERIFY(!bench.wait(Duration{1}).send.empty());
    }
};

QTEST_APPLESS_MAIN(AgreementTest)
#include "test_agreement.moc"
