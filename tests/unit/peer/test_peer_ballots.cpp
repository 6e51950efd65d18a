// One member's part in deciding a list: what it votes for, when, and what of it is on disk first. The other three of
// the committee are played by the test.
#include <QTest>

#include <memory>
#include <sstream>
#include <string>

#include <spdlog/sinks/ostream_sink.h>

#include "core/base/log.h"
#include "tests/unit/peer/ballots_bench.h"

using namespace potluck;
using namespace potluck::peer;

using Bench = BallotsBench;

namespace {

/// The vote on a good list after something about it was changed; its contributors sign what they then find.
std::string vote_on(const std::function<void(Bench&, run::AcceptList&)>& change) {
    Bench bench;
    run::AcceptList list = bench.good_list();
    change(bench, list);
    Fixture::sign_entries(list);
    POTLUCK_CHECK(bench.hear(bench.proposal(list)) == Verdict::accepted);
    return bench.own_vote();
}

const std::string none = "none", nil = "nil", for_list = "list";

}  // namespace

class PeerBallotsTest : public QObject {
    Q_OBJECT
private slots:
    // What gets a vote.

    void a_good_list_gets_a_vote() {
        QCOMPARE(vote_on([](Bench&, run::AcceptList&) {}), for_list);
    }

    void a_ballot_before_its_round_has_begun_is_stale() {
        Bench bench;
        const run::BallotMessage proposal = bench.proposal(bench.good_list());
        bench.make_ballots();
        QCOMPARE(bench.hear(proposal), Verdict::stale);
    }

    void a_list_for_another_base_gets_none() {
        QCOMPARE(vote_on([](Bench&, run::AcceptList& list) { list.base.bytes[0] ^= std::byte{1}; }), nil);
    }

    void a_list_of_another_term_gets_none() {
        QCOMPARE(vote_on([](Bench&, run::AcceptList& list) { list.term = 1; }), nil);
        // Nor if the host has signed that term: such a list is another committee's to decide.
        QCOMPARE(
            vote_on([](Bench& bench, run::AcceptList& list) {
                run::HostAction replacement;
                replacement.number = 1;
                replacement.kind = run::ActionKind::replace;
                replacement.previous = list.previous;
                replacement.committee = list.committee;
                replacement.term = 1;
                list.term = 1;
                list.actions = {Bench::by_host(replacement)};
                CheckedList read;
                POTLUCK_CHECK(bench.chain.read(list.encode(), nullptr, bench.chain.rules(), read) == Verdict::accepted);
            }),
            nil);
    }

    void a_list_that_does_not_follow_the_chain_gets_none() {
        QCOMPARE(vote_on([](Bench&, run::AcceptList& list) { list.round = RoundId{1}; }), nil);
        QCOMPARE(vote_on([](Bench&, run::AcceptList& list) { list.committee = ids_of({8}); }), nil);
    }

    void an_empty_list_gets_none() {
        QCOMPARE(vote_on([](Bench&, run::AcceptList& list) { list.entries.clear(); }), nil);
    }

    void a_list_without_contributions_hands_over_the_seat_of_who_leaves() {
        const auto votes = [](run::Phase phase, const std::vector<PeerId>& next) {
            Bench bench;
            bench.second_leaves();
            bench.hear_of(9, run::Phase::training);
            bench.hear_of(turns()[1], phase);
            run::AcceptList list = bench.good_list();
            list.entries.clear();
            list.committee = next;
            (void)bench.hear(bench.proposal(list));
            return bench.own_vote();
        };
        const std::vector<PeerId> heir = heirs_of(turns()[1]);
        QCOMPARE(votes(run::Phase::leaving, heir), for_list);
        QCOMPARE(votes(run::Phase::leaving, {key_of(turns()[1]).id()}), none);
        // It may just not have heard yet.
        QCOMPARE(votes(run::Phase::training, heir), none);
        QCOMPARE(votes(run::Phase::leaving, ids_of({1, 2, 3, 4})), nil);
    }

    void a_seat_is_handed_over_early_only_if_its_holder_leaves_and_the_heir_is_here() {
        const auto votes = [](bool leaves, bool is_heir_here) {
            Bench bench;
            bench.second_leaves();
            if (!leaves) {
                // It may lose its seat for another reason, which waits for the next contributions.
                bench.hear_of(turns()[1], run::Phase::training);
                bench.seats.convict(key_of(turns()[1]).id(), key_of(turns()[1]).id());
            }
            if (is_heir_here) bench.hear_of(9, run::Phase::training);
            run::AcceptList list = bench.unsigned_list_of({});
            std::erase(list.committee, key_of(turns()[1]).id());
            list.committee.push_back(key_of(9).id());
            std::sort(list.committee.begin(), list.committee.end());
            POTLUCK_CHECK(bench.seats.accepts(list.committee) == is_heir_here);
            POTLUCK_CHECK(bench.hear(bench.proposal(list)) == Verdict::accepted);
            return bench.own_vote();
        };
        QCOMPARE(votes(true, true), for_list);
        QCOMPARE(votes(true, false), none);
        QCOMPARE(votes(false, true), none);
    }

    void a_seat_is_handed_over_without_waiting_for_the_window() {
        Bench bench(0);
        bench.begin();
        bench.machine.enter(RoundId{0}, bench.keeper.digest(), bench.chain.committee(), bench.context.now());
        const Bench::Made early = bench.contribution(5, 1.0F);
        const run::ContributionMessage message{RoundId{0}, bench.keeper.digest(), early.payload->ref, {64}};
        QCOMPARE(bench.machine.contribution(key_of(5).id(), message, {}), Verdict::accepted);
        (void)bench.machine.payload_held(early.payload->ref.root, early.payload->author);
        bench.ballots->decide_early();
        QVERIFY(bench.own_proposals().empty());
        bench.second_leaves();
        bench.hear_of(9, run::Phase::training);
        bench.ballots->decide_early();
        QCOMPARE(bench.own_proposals().size(), std::size_t{1});
        const run::AcceptList list = bench.own_list();
        QVERIFY(list.entries.empty());
        QVERIFY(bench.seats.hands_over(list.committee));
    }

    void later_views_of_a_round_leave_the_committee_as_it_is() {
        for (const std::uint32_t turn : {0U, views_to_change_seats}) {
            Bench bench(turn);
            const Bench::Made made = bench.contribution(5, 1.0F);
            const run::ContributionMessage message{RoundId{0}, bench.keeper.digest(), made.payload->ref, {64}};
            QCOMPARE(bench.machine.contribution(key_of(5).id(), message, {}), Verdict::accepted);
            (void)bench.machine.payload_held(made.payload->ref.root, made.payload->author);
            bench.second_leaves();
            bench.hear_of(9, run::Phase::training);
            for (std::uint32_t view = 0; view < turn; ++view) {
                bench.swarm.sent.clear();
                for (const std::uint8_t who : turns()) {
                    if (who != turns()[turn]) (void)bench.hear(bench.vote(who, Step::precommit, std::nullopt, view));
                }
                bench.tick_after(Duration{1'000} + view * Duration{500});
            }
            bench.ballots->reconsider();
            QCOMPARE(bench.own_proposals().size(), std::size_t{1});
            const bool changes = bench.own_list().committee != bench.chain.committee();
            QCOMPARE(changes, turn < views_to_change_seats);
        }
    }

    void a_newcomer_is_marked_and_nobody_else() {
        for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
            QCOMPARE(vote_on([i](Bench&, run::AcceptList& list) { list.entries[i].newcomer ^= true; }), nil);
        }
    }

    void a_committee_that_this_member_would_not_accept_gets_none() {
        QCOMPARE(vote_on([](Bench&, run::AcceptList& list) { list.committee = ids_of({1, 2}); }), nil);
        QCOMPARE(vote_on([](Bench&, run::AcceptList& list) { list.committee = ids_of({1, 2, 3, 9}); }), nil);
        QCOMPARE(vote_on([](Bench&, run::AcceptList& list) { list.committee = ids_of({9}); }), nil);
    }

    void an_entry_that_its_contributor_has_not_signed_gets_none() {
        const auto vote_on_unsigned = [](const std::function<void(run::AcceptList&)>& change) {
            Bench bench;
            run::AcceptList list = bench.good_list();
            change(list);
            POTLUCK_CHECK(bench.hear(bench.proposal(list)) == Verdict::accepted);
            return bench.own_vote();
        };
        QCOMPARE(vote_on_unsigned([](run::AcceptList&) {}), for_list);
        QCOMPARE(vote_on_unsigned([](run::AcceptList& list) { list.entries[0].tokens = {65}; }), nil);
        QCOMPARE(vote_on_unsigned([](run::AcceptList& list) { list.entries[1].signature[9] ^= std::byte{1}; }), nil);
    }

    void a_payload_that_is_not_here_is_asked_for_and_waited_for() {
        Bench bench;
        const Bench::Made here = bench.contribution(2, 1.0F), away = bench.contribution(5, 2.0F);
        bench.deliver(here);
        (void)bench.hear(bench.proposal(bench.unsigned_list_of({here.entry, away.entry})));
        QCOMPARE(bench.own_vote(), none);
        QVERIFY(bench.asked_for(away));
        bench.deliver(away);
        QCOMPARE(bench.own_vote(), for_list);
    }

    void a_payload_that_never_comes_costs_the_proposer_its_turn() {
        Bench bench;
        const Bench::Made away = bench.contribution(5, 2.0F);
        (void)bench.hear(bench.proposal(bench.unsigned_list_of({away.entry})));
        bench.tick_after(bench.context.manifest.recipe.grace - Duration{1});
        QCOMPARE(bench.own_vote(), none);
        bench.tick_after(Duration{1});
        QCOMPARE(bench.own_vote(), nil);
    }

    void a_payload_that_does_not_parse_gets_none() {
        Bench bench;
        const run::BlobRef noise{merkle_root(as_bytes("noise")), 40, run::BlobKind::plain, {}};
        (void)bench.hear(bench.proposal(bench.unsigned_list_of({{key_of(5).id(), noise, {64}, true}})));
        QCOMPARE(bench.own_vote(), none);
        QCOMPARE(bench.payloads->arrived(noise, std::make_shared<sim::MemoryBlob>(Bytes(40)), bench.context.now()),
                 Payloads::Outcome::bad);
        bench.ballots->reconsider();
        QCOMPARE(bench.own_vote(), nil);
    }

    void a_payload_of_another_author_gets_none() {
        Bench bench;
        const Bench::Made copied = bench.contribution(6, 1.0F);
        bench.deliver(copied);
        run::Accepted entry = copied.entry;
        entry.peer = key_of(5).id();
        (void)bench.hear(bench.proposal(bench.unsigned_list_of({entry})));
        QCOMPARE(bench.own_vote(), nil);
    }

    void a_payload_that_sends_more_than_the_newest_list_allows_gets_none() {
        const auto vote_where_allowed = [](std::uint32_t times) {
            Bench bench(0);  // who proposes first in round 1 is another
            const Bench::Made dense = bench.contribution(5, 1.0F, 2);
            run::AcceptList before = bench.unsigned_list_of({});
            before.k = times * bench.context.manifest.recipe.k;
            POTLUCK_CHECK(bench.chain.append(bench.committed(before, {1, 2, 3}), bench.commit(1, 0.5F)).ok());
            bench.keeper.hold({RoundId{1}, *bench.chain.digest_at(RoundId{1})});
            bench.machine.enter(RoundId{1}, bench.keeper.digest(), bench.chain.committee(), bench.context.now());
            bench.wait(window);
            bench.begin();
            bench.ballots->decide();
            bench.deliver(dense);
            for (const std::uint8_t who : turns()) {
                const identity::Identity author = key_of(who);
                if (author.id() != bench.ballots->proposer()) continue;
                POTLUCK_CHECK(author.id() != bench.self.id());
                (void)bench.hear(bench.proposal_by(author, bench.unsigned_list_of({dense.entry}), 0));
            }
            return bench.own_vote();
        };
        QCOMPARE(vote_where_allowed(1), nil);
        QCOMPARE(vote_where_allowed(2), for_list);
    }

    void a_list_says_how_much_is_sent_next() {
        const auto said = [](const std::function<void(Bench&, const BlobId&)>& happens) {
            Bench bench(0);
            const Bench::Made made = bench.contribution(5, 1.0F);
            const run::ContributionMessage message{RoundId{0}, bench.keeper.digest(), made.payload->ref, {64}};
            POTLUCK_CHECK(bench.machine.contribution(key_of(5).id(), message, {}) == Verdict::accepted);
            (void)bench.machine.payload_held(made.payload->ref.root, made.payload->author);
            happens(bench, made.payload->ref.root);
            bench.ballots->reconsider();
            return bench.own_list().k;
        };
        const std::uint32_t k = Fixture::manifest_of().recipe.k;
        QCOMPARE(said([](Bench&, const BlobId&) {}), k);
        QCOMPARE(said([](Bench& bench, const BlobId& payload) {
                     bench.exchange.closed(bench.context.now());
                     bench.exchange.announced(key_of(5).id(), payload);
                     bench.exchange.arrived(payload, bench.context.now());
                 }),
                 2 * k);
    }

    void a_window_is_open_for_half_its_length_before_a_list_ends_it() {
        Bench bench;
        bench.machine.enter(RoundId{0}, bench.keeper.digest(), bench.chain.committee(), bench.context.now());
        bench.wait(window / 2 - Duration{1});
        bench.begin();
        bench.ballots->decide();
        (void)bench.hear(bench.proposal(bench.good_list()));
        QCOMPARE(bench.own_vote(), none);
        bench.tick_after(Duration{1});
        QCOMPARE(bench.own_vote(), for_list);
    }

    void a_member_out_of_step_cannot_judge() {
        Bench bench;
        bench.mediator.stepping = false;
        (void)bench.hear(bench.proposal(bench.good_list()));
        QCOMPARE(bench.own_vote(), none);
        bench.mediator.stepping = true;
        bench.machine.leave();
        bench.ballots->reconsider();
        QCOMPARE(bench.own_vote(), none);
        bench.machine.enter(RoundId{0}, bench.keeper.digest(), bench.chain.committee(), TimePoint{});
        bench.ballots->reconsider();
        QCOMPARE(bench.own_vote(), for_list);
    }

    // What this member proposes.

    void its_own_list_says_what_is_held_and_marks_newcomers() {
        Bench bench(0);
        bench.begin();
        for (const std::uint8_t who : {std::uint8_t{2}, std::uint8_t{5}}) {
            const Bench::Made made = bench.contribution(who, static_cast<float>(who));
            const run::ContributionMessage message{RoundId{0}, bench.keeper.digest(), made.payload->ref, {64}};
            QCOMPARE(bench.machine.contribution(key_of(who).id(), message, {}), Verdict::accepted);
            if (who == 5) QVERIFY(bench.own_proposals().empty());
            (void)bench.machine.payload_held(made.payload->ref.root, made.payload->author);
        }
        bench.ballots->decide();
        QCOMPARE(bench.own_proposals().size(), std::size_t{1});
        QVERIFY(bench.ballots->proposes());
        const run::AcceptList list = bench.own_list();
        QVERIFY(list.hash() == bench.own_proposals()[0].list);
        QVERIFY(list.base == bench.keeper.digest());
        QVERIFY(list.committee == ids_of({1, 2, 3, 4}));
        QCOMPARE(list.entries.size(), std::size_t{2});
        for (const run::Accepted& entry : list.entries) QCOMPARE(entry.newcomer, entry.peer == key_of(5).id());
        QCOMPARE(bench.own_vote(), for_list);
    }

    void no_list_is_proposed_too_early_or_out_of_step() {
        Bench bench(0);
        bench.begin();
        const Bench::Made made = bench.contribution(5, 1.0F);
        const run::ContributionMessage message{RoundId{0}, bench.keeper.digest(), made.payload->ref, {64}};
        QCOMPARE(bench.machine.contribution(key_of(5).id(), message, {}), Verdict::accepted);
        bench.ballots->decide();
        QVERIFY(bench.own_proposals().empty());  // nothing is held
        bench.begin();
        (void)bench.machine.payload_held(made.payload->ref.root, made.payload->author);
        for (const std::size_t turn : {1U, 2U}) (void)bench.hear(bench.vote(turns()[turn], Step::prevote, {}));
        QVERIFY(bench.own_proposals().empty());  // others have begun, and this window is open
        bench.mediator.stepping = false;
        bench.ballots->decide();
        QVERIFY(bench.own_proposals().empty());
        bench.mediator.stepping = true;
        bench.ballots->reconsider();
        QCOMPARE(bench.own_proposals().size(), std::size_t{1});
    }

    // Disk before network.

    void a_vote_is_on_disk_before_it_is_sent() {
        Bench bench;
        const run::AcceptList list = bench.good_list();
        (void)bench.hear(bench.proposal(list));
        QCOMPARE(bench.votes.tries, 1);
        QCOMPARE(bench.unsaved_when_saved, std::size_t{0});
        QCOMPARE(bench.own_votes().size(), std::size_t{1});
        bench.others_vote(Step::prevote, list.hash());
        QCOMPARE(bench.votes.tries, 2);
        QCOMPARE(bench.unsaved_when_saved, std::size_t{1});
        QCOMPARE(bench.own_votes().size(), std::size_t{2});
    }

    void a_member_whose_disk_fails_is_silent_and_tries_again() {
        Bench bench;
        bench.votes.fails = true;
        (void)bench.hear(bench.proposal(bench.good_list()));
        QVERIFY(bench.own_votes().empty());
        QCOMPARE(bench.errors.last(), std::string("The disk is full."));
        bench.tick_after(Duration{999});
        QCOMPARE(bench.votes.tries, 1);
        bench.tick_after(Duration{1});
        QCOMPARE(bench.votes.tries, 2);
        QVERIFY(bench.own_votes().empty());
        bench.votes.fails = false;
        bench.tick_after(save_votes_again_after);
        QCOMPARE(bench.own_vote(), for_list);
        bench.tick_after(save_votes_again_after);
        QCOMPARE(bench.votes.tries, 3);
    }

    // Restarts.

    void a_restarted_member_never_votes_differently() {
        Bench bench;
        const run::AcceptList first = bench.good_list(1.0F), second = bench.good_list(2.0F);
        (void)bench.hear(bench.proposal(first));
        QCOMPARE(bench.own_vote(), for_list);
        bench.swarm.sent.clear();
        bench.begin();
        bench.deliver_all();
        bench.ballots->decide();
        (void)bench.hear(bench.proposal(second));
        for (int i = 0; i < 3; ++i) bench.tick_after(bench.context.manifest.recipe.grace);
        const std::vector<run::Vote> votes = bench.own_votes();
        QVERIFY(!votes.empty());
        QVERIFY(votes[0].step == Step::prevote && votes[0].list == first.hash());
        for (const run::Vote& vote : votes) QVERIFY(vote.step == Step::precommit || vote == votes[0]);
    }

    void a_restarted_member_knows_the_list_that_it_is_bound_to() {
        Bench bench;
        const run::AcceptList list = bench.good_list();
        (void)bench.hear(bench.proposal(list));
        bench.others_vote(Step::prevote, list.hash());
        QCOMPARE(bench.own_votes().size(), std::size_t{2});
        bench.swarm.sent.clear();
        bench.begin();
        bench.ballots->decide();
        POTLUCK_CHECK(bench.hear({bench.certificate(list, {1, 2, 3}, Step::precommit).statement, {}}) ==
                      Verdict::accepted);
        QVERIFY(bench.ballots->decision() != nullptr);
        QVERIFY(bench.ballots->decision()->list == list);
    }

    void a_list_it_has_voted_for_stays_valid_over_a_restart() {
        Bench bench;
        const run::AcceptList list = bench.good_list();
        (void)bench.hear(bench.proposal(list));
        bench.swarm.sent.clear();
        bench.mediator.stepping = false;
        bench.begin();
        bench.ballots->decide();
        bench.others_vote(Step::prevote, list.hash());
        const std::vector<run::Vote> votes = bench.own_votes();
        QVERIFY(!votes.empty());
        for (const run::Vote& vote : votes) QVERIFY(vote.list == list.hash());
        QVERIFY(votes.back().step == Step::precommit);
    }

    void an_unreadable_file_keeps_it_out_of_exactly_one_round() {
        Bench bench;
        const run::AcceptList list = bench.good_list();
        (void)bench.hear(bench.proposal(list));
        (*bench.votes.bytes)[40] ^= std::byte{1};
        bench.swarm.sent.clear();
        for (int life = 0; life < 2; ++life) {
            bench.begin();
            bench.deliver_all();
            bench.ballots->decide();
            (void)bench.hear(bench.proposal(list));
            bench.tick_after(bench.context.manifest.recipe.grace);
            QVERIFY(bench.own_votes().empty());
            QVERIFY(bench.errors.last().find("cannot be read") != std::string::npos);
        }
        QVERIFY(bench.chain.append(bench.committed(list, {1, 2, 3}), bench.keeper.digest()).ok());
        bench.machine.enter(RoundId{1}, bench.keeper.digest(), bench.chain.committee(), TimePoint{});
        bench.ballots->enter();
        bench.ballots->decide();
        bench.tick_after(bench.context.manifest.recipe.grace);
        QCOMPARE(bench.own_vote(), nil);
        QVERIFY(bench.own_votes()[0].instance.round == RoundId{1});
    }

    void a_damaged_list_binds_to_nothing() {
        Bench bench;
        const run::AcceptList list = bench.good_list();
        (void)bench.hear(bench.proposal(list));
        bench.votes.bytes->back() ^= std::byte{1};
        bench.swarm.fetched.clear();
        bench.begin();
        bench.ballots->decide();
        (void)bench.hear({bench.certificate(list, {1, 2, 3}, Step::precommit).statement, {}});
        QVERIFY(bench.ballots->decision() == nullptr);
    }

    // Which lists are kept.

    void a_list_that_nobody_in_the_committee_named_is_not_kept() {
        Bench bench;
        const Bench::Made made = bench.contribution(5, 1.0F);
        const run::AcceptList list = bench.unsigned_list_of({made.entry});
        run::BallotMessage forged = bench.proposal(list);
        forged.statement.back() ^= std::byte{1};
        QCOMPARE(bench.hear(bench.proposal_by(key_of(7), list, 0)), Verdict::wrong_author);
        QCOMPARE(bench.hear(bench.proposal_by(key_of(turns()[1]), list, 0)), Verdict::wrong_author);
        QCOMPARE(bench.hear(forged), Verdict::bad_signature);
        QCOMPARE(bench.hear(bench.certificate(list, {1, 2}, Step::prevote)), Verdict::bad_signature);
        QVERIFY(!bench.asked_for(made));
        QCOMPARE(bench.hear(bench.proposal(list)), Verdict::accepted);
        QVERIFY(bench.asked_for(made));
    }

    void a_list_is_the_one_that_its_message_names() {
        Bench bench;
        const run::AcceptList list = bench.good_list(1.0F), other = bench.good_list(2.0F);
        run::BallotMessage message = bench.proposal(list);
        message.list = other.encode();
        QCOMPARE(bench.hear(message), Verdict::malformed);
        message.statement.pop_back();
        QCOMPARE(bench.hear(message), Verdict::malformed);
    }

    void a_vote_brings_no_list() {
        Bench bench;
        const Bench::Made made = bench.contribution(5, 1.0F);
        const run::AcceptList list = bench.unsigned_list_of({made.entry});
        run::BallotMessage message = bench.vote(turns()[0], Step::prevote, list.hash());
        message.list = list.encode();
        QCOMPARE(bench.hear(message), Verdict::malformed);
        QVERIFY(!bench.asked_for(made));
        message = bench.vote(turns()[0], Step::prevote, std::nullopt);
        message.list = list.encode();
        QCOMPARE(bench.hear(message), Verdict::malformed);
    }

    void a_certificate_that_was_not_checked_brings_no_list() {
        Bench bench;
        const run::AcceptList list = bench.good_list();
        QCOMPARE(bench.hear(bench.certificate(list, {1, 2, 3}, Step::prevote, 3)), Verdict::accepted);
        const Bench::Made made = bench.contribution(6, 3.0F);
        run::BallotMessage forged = bench.certificate(bench.unsigned_list_of({made.entry}), {1, 2, 3}, Step::prevote);
        forged.statement.back() ^= std::byte{1};
        QCOMPARE(bench.hear(forged), Verdict::bad_signature);
        QVERIFY(!bench.asked_for(made));
    }

    void proposals_for_views_far_ahead_take_no_room() {
        Bench bench;
        for (std::uint32_t view = 4; view < 400; view += 4) {
            const run::AcceptList bogus =
                bench.unsigned_list_of({bench.contribution(6, static_cast<float>(view)).entry});
            (void)bench.hear(bench.proposal(bogus, view));
        }
        QVERIFY(bench.swarm.fetched.empty());
        (void)bench.hear(bench.proposal(bench.good_list()));
        QCOMPARE(bench.own_vote(), for_list);
        bench.ballots->check_invariants();
    }

    void a_proposal_for_the_next_view_is_kept() {
        Bench bench;
        const Bench::Made next = bench.contribution(5, 1.0F), later = bench.contribution(6, 2.0F);
        (void)bench.hear(bench.proposal(bench.unsigned_list_of({next.entry}), 1));
        (void)bench.hear(bench.proposal(bench.unsigned_list_of({later.entry}), 2));
        QVERIFY(bench.asked_for(next));
        QVERIFY(!bench.asked_for(later));
    }

    void a_list_that_it_is_locked_on_outlives_many_others() {
        Bench bench;
        const run::AcceptList locked = bench.good_list();
        (void)bench.hear(bench.proposal(locked));
        bench.others_vote(Step::prevote, locked.hash());
        for (std::uint32_t view = 1; view < 2 * ballot_lists_max; ++view) {
            bench.fail_view(view - 1);
            const Bench::Made made = bench.contribution(6, 10.0F + static_cast<float>(view));
            if (view % 4 != 3) (void)bench.hear(bench.proposal(bench.unsigned_list_of({made.entry}), view));
        }
        bench.ballots->check_invariants();
        (void)bench.hear({bench.certificate(locked, {1, 2, 3}, Step::precommit).statement, {}});
        QVERIFY(bench.ballots->decision() != nullptr);
    }

    void a_round_of_many_views_still_hears_of_new_lists() {
        Bench bench;
        const std::uint32_t last = 2 * ballot_lists_max;
        for (std::uint32_t view = 0; view <= last; ++view) {
            const run::AcceptList list = bench.good_list(1.0F + static_cast<float>(view));
            if (view % 4 != 3) {
                QCOMPARE(bench.hear(bench.proposal(list, view)), Verdict::accepted);
                const run::Vote newest = bench.own_votes().back();
                QVERIFY(newest.view == view && newest.list == list.hash());
            }
            bench.ballots->check_invariants();
            bench.fail_view(view);
        }
    }

    void older_lists_make_room_before_one_that_waits_for_a_payload() {
        Bench bench;
        const std::uint32_t view = 2 * ballot_lists_max;
        for (std::uint32_t past = 0; past < view; ++past) {
            const Bench::Made made = bench.contribution(6, 1.0F + static_cast<float>(past));
            if (past % 4 != 3) (void)bench.hear(bench.proposal(bench.unsigned_list_of({made.entry}), past));
            bench.fail_view(past);
        }
        const Bench::Made late = bench.contribution(5, 100.0F), next = bench.contribution(5, 200.0F);
        const run::AcceptList list = bench.unsigned_list_of({late.entry});
        (void)bench.hear(bench.proposal(list, view));
        (void)bench.hear(bench.proposal(bench.unsigned_list_of({next.entry}), view + 1));
        bench.deliver(late);
        QVERIFY(!bench.own_votes().empty());
        const run::Vote newest = bench.own_votes().back();
        QVERIFY(newest.view == view && newest.list == list.hash());
    }

    // What is passed on.

    void new_ballots_are_passed_on_once_to_all_but_the_sender() {
        Bench bench;
        const run::BallotMessage message = bench.vote(turns()[0], Step::prevote, std::nullopt);
        const PeerId from = bench.swarm.around.front();
        QCOMPARE(bench.ballots->receive(from, message), Verdict::accepted);
        QCOMPARE(bench.swarm.sent_to.size(), bench.swarm.around.size() - 1);
        for (const auto& [to, envelope] : bench.swarm.sent_to) {
            QVERIFY(to != from);
            QVERIFY(std::get<run::BallotMessage>(*run::decode_body(envelope.kind, envelope.body)) == message);
        }
        QCOMPARE(bench.ballots->receive(bench.swarm.around.back(), message), Verdict::repeated);
        QCOMPARE(bench.swarm.sent_to.size(), bench.swarm.around.size() - 1);
    }

    /// It may have been lost behind this member, and its author says it again because of that.
    void a_repeated_ballot_is_passed_on_again_once_in_a_while() {
        Bench bench;
        const Duration pause = run::heartbeats_to_repeat * bench.context.settings.heartbeat;
        const run::BallotMessage message = bench.vote(turns()[0], Step::prevote, std::nullopt);
        const PeerId from = bench.swarm.around.front();
        const std::size_t others = bench.swarm.around.size() - 1;
        QCOMPARE(bench.ballots->receive(from, message), Verdict::accepted);
        bench.wait(pause - Duration{1});
        QCOMPARE(bench.ballots->receive(from, message), Verdict::repeated);
        QCOMPARE(bench.swarm.sent_to.size(), others);
        bench.wait(Duration{1});
        for (int time = 0; time < 2; ++time) QCOMPARE(bench.ballots->receive(from, message), Verdict::repeated);
        QCOMPARE(bench.swarm.sent_to.size(), 2 * others);
        QVERIFY(bench.swarm.sent_to.back().first != from);
    }

    /// What says nothing new was not looked at otherwise.
    void a_forged_certificate_is_not_passed_on() {
        Bench bench;
        const run::AcceptList list = bench.good_list();
        const run::BallotMessage polka = bench.certificate(list, {1, 2, 3}, Step::prevote);
        QCOMPARE(bench.hear(polka), Verdict::accepted);
        bench.swarm.sent_to.clear();
        run::BallotMessage forged{polka.statement, {}};
        forged.statement.back() ^= std::byte{1};
        bench.wait(Duration{10'000});
        QCOMPARE(bench.hear(forged), Verdict::repeated);
        QVERIFY(bench.swarm.sent_to.empty());
        QCOMPARE(bench.hear(polka), Verdict::repeated);
        QVERIFY(!bench.swarm.sent_to.empty());
    }

    void ballots_that_are_not_the_committees_are_not_passed_on() {
        Bench bench;
        QCOMPARE(bench.hear(bench.vote(7, Step::prevote, std::nullopt)), Verdict::wrong_author);
        run::BallotMessage forged = bench.vote(turns()[0], Step::prevote, std::nullopt);
        forged.statement.back() ^= std::byte{1};
        QCOMPARE(bench.hear(forged), Verdict::bad_signature);
        QVERIFY(bench.swarm.sent_to.empty());
    }

    void evidence_convicts_and_is_passed_on_once() {
        Bench bench;
        for (const int who : {1, 2, 3, 4, 9}) {
            const PeerId id = key_of(static_cast<std::uint8_t>(who)).id();
            QCOMPARE(bench.members.take(id, {}, Source::itself, bench.context.now()), Verdict::accepted);
        }
        const std::uint8_t liar = turns()[1];
        const std::vector<PeerId> without = heirs_of(liar);
        QCOMPARE(bench.hear(bench.vote(liar, Step::prevote, std::nullopt)), Verdict::accepted);
        QVERIFY(!bench.seats.accepts(without));
        const std::size_t passed_on = bench.swarm.sent_to.size();
        const std::size_t others = bench.swarm.around.size() - 1;
        const run::BallotMessage second = bench.vote(liar, Step::prevote, sha256(as_bytes("second")));
        QCOMPARE(bench.hear(second), Verdict::contradicting);
        QVERIFY(bench.seats.accepts(without));
        QCOMPARE(bench.swarm.sent_to.size(), passed_on + others);
        QCOMPARE(bench.hear(second), Verdict::contradicting);
        QCOMPARE(bench.hear(bench.vote(liar, Step::prevote, sha256(as_bytes("third")))), Verdict::contradicting);
        QCOMPARE(bench.swarm.sent_to.size(), passed_on + others);
    }

    void the_log_names_each_transition_once() {
        std::ostringstream lines;
        spdlog::logger& logger = log::of("agreement");
        const auto sink = std::make_shared<spdlog::sinks::ostream_sink_st>(lines);
        sink->set_pattern("%v");
        logger.sinks().push_back(sink);
        logger.set_level(spdlog::level::debug);
        Bench bench;
        const run::AcceptList list = bench.good_list();
        (void)bench.hear(bench.proposal(list));
        bench.others_vote(Step::prevote, list.hash());
        bench.others_vote(Step::precommit, list.hash());
        logger.sinks().pop_back();
        logger.set_level(spdlog::level::info);
        const std::string name = "list " + list.hash().brief();
        QCOMPARE(lines.str(), "round 0, view 0: prevotes " + name + "\nround 0, view 0: locks " + name +
                                  "\nround 0, view 0: precommits " + name + "\nround 0, view 0: decided, " + name +
                                  " by 3 of 4 seats\n");
    }

    // Decisions.

    void a_list_that_a_quorum_commits_becomes_the_decision() {
        Bench bench;
        const run::AcceptList list = bench.good_list();
        (void)bench.hear(bench.proposal(list));
        bench.others_vote(Step::prevote, list.hash());
        bench.others_vote(Step::precommit, list.hash(), 1);
        QVERIFY(bench.ballots->decision() == nullptr);
        (void)bench.hear(bench.vote(turns()[1], Step::precommit, list.hash()));
        const CheckedList* decision = bench.ballots->decision();
        QVERIFY(decision != nullptr);
        QVERIFY(decision->hash == list.hash());
        CheckedList out;
        QCOMPARE(bench.chain.check(decision->committed, nullptr, bench.chain.rules(), out), Verdict::accepted);
        QCOMPARE(bench.ballots->views_lost(), 0ULL);
        bench.ballots->check_invariants();
    }

    void a_decision_waits_for_its_list() {
        Bench bench;
        const run::AcceptList list = bench.unsigned_list_of({bench.contribution(5, 1.0F).entry});
        run::BallotMessage committed = bench.certificate(list, {1, 2, 4}, Step::precommit, 2);
        committed.list.clear();
        QCOMPARE(bench.hear(committed), Verdict::accepted);
        QVERIFY(bench.ballots->decision() == nullptr);
        QCOMPARE(bench.ballots->views_lost(), 2ULL);
        committed.list = list.encode();
        QCOMPARE(bench.hear(committed), Verdict::repeated);
        QVERIFY(bench.ballots->decision() != nullptr);
        CheckedList out;
        QCOMPARE(bench.chain.check(bench.ballots->decision()->committed, nullptr, bench.chain.rules(), out),
                 Verdict::accepted);
    }

    void a_committed_list_that_cannot_follow_is_no_decision() {
        Bench bench;
        run::AcceptList list = bench.good_list();
        list.previous.bytes[0] ^= std::byte{1};
        list.round = RoundId{0};
        (void)bench.hear(bench.certificate(list, {1, 2, 3}, Step::precommit));
        QVERIFY(bench.ballots->decision() == nullptr);
    }

    void a_member_without_a_seat_or_a_state_learns_what_was_decided() {
        Bench bench;
        bench.mediator.stepping = false;
        const run::AcceptList list = bench.good_list();
        (void)bench.hear(bench.proposal(list));
        for (const std::size_t turn : {0U, 1U, 2U}) {
            (void)bench.hear(bench.vote(turns()[turn], Step::precommit, list.hash()));
        }
        QVERIFY(bench.ballots->decision() != nullptr);
        QVERIFY(bench.own_votes().empty());
    }

    void a_list_from_a_history_is_the_decision_of_its_round() {
        Bench bench;
        const CheckedList committed = bench.committed(bench.good_list(), {1, 2, 3});
        CheckedList later = committed;
        later.list.round = RoundId{1};
        bench.ballots->learn(later);
        QVERIFY(bench.ballots->decision() == nullptr);
        bench.ballots->learn(committed);
        QVERIFY(bench.ballots->decision() != nullptr);
        QVERIFY(bench.ballots->decision()->hash == committed.hash);
    }

    void the_next_round_begins_without_the_votes_of_the_last() {
        Bench bench;
        const run::AcceptList list = bench.good_list();
        (void)bench.hear(bench.certificate(list, {1, 2, 3}, Step::precommit));
        QVERIFY(bench.chain.append(*bench.ballots->decision(), bench.keeper.digest()).ok());
        bench.ballots->enter();
        QVERIFY(bench.ballots->decision() == nullptr);
        QCOMPARE(bench.hear(bench.vote(turns()[0], Step::prevote, std::nullopt)), Verdict::accepted);
    }
};

QTEST_APPLESS_MAIN(PeerBallotsTest)
#include "test_peer_ballots.moc"
