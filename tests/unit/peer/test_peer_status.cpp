// What a member says of itself, what is kept of that, and to whom it is shown.
#include <QTest>

#include "core/peer/presence/spoken_names.h"
#include "core/peer/status_facts.h"
#include "core/run/agreement/keyring.h"
#include "tests/unit/peer/peer_fixture.h"

using namespace potluck;
using namespace potluck::peer;
using status::Reason;
using status::Why;

namespace {
StatusFacts training_member() {
    StatusFacts facts;
    facts.volunteer = true;
    facts.state = RoundId{3};
    facts.chain_height = RoundId{3};
    facts.members_known = true;
    facts.window_left = Duration{4'200};
    facts.training.loaded = facts.training.has_data = true;
    return facts;
}

/// The person has the key 7; its computers are 8 and 9.
struct NamesBench : Fixture {
    /// `computer` says `name`, as its status of this number.
    void hear(std::uint8_t computer, std::uint64_t sequence, const std::string& name) {
        run::StatusMessage status;
        status.sequence = sequence;
        status.name = name;
        status.certificate = run::certify(key_of(7), key_of(computer).id());
        static_cast<void>(members.take(key_of(computer).id(), status, Source::itself, TimePoint{}));
        run::Envelope envelope;
        envelope.run = context.run;
        envelope.sender = key_of(computer).id();
        envelope.body = run::encode_body(status);
        names.remember(envelope, status);
    }
    [[nodiscard]] std::string kept() const {
        const auto words = ledger.signed_name_of(context.run, key_of(7).id());
        if (!words) return {};
        return std::get<run::StatusMessage>(*run::decode_body(words->kind, words->body)).name;
    }

    Members members;
    SpokenNames names{context, members, ledger};
};
}  // namespace

class PeerStatusTest : public QObject {
    Q_OBJECT
private slots:
    void the_phase_follows_the_first_thing_that_is_in_the_way() {
        StatusFacts facts = training_member();
        QCOMPARE(phase_of(facts), run::Phase::training);
        facts.training.loaded = false;
        QCOMPARE(phase_of(facts), run::Phase::joining);
        facts.window_closed = true;
        QCOMPARE(phase_of(facts), run::Phase::collecting);
        facts.training.finished = true;
        QCOMPARE(phase_of(facts), run::Phase::finished);
        facts.training.paused = true;
        QCOMPARE(phase_of(facts), run::Phase::paused);
        facts.applying = true;
        QCOMPARE(phase_of(facts), run::Phase::applying);
        facts.chain_height = RoundId{4};
        QCOMPARE(phase_of(facts), run::Phase::joining);
        facts.run_complete = true;
        QCOMPARE(phase_of(facts), run::Phase::finished);
        facts.leaving = true;
        QCOMPARE(phase_of(facts), run::Phase::leaving);
        facts.repairing = true;
        QCOMPARE(phase_of(facts), run::Phase::repairing);
        facts.state.reset();
        QCOMPARE(phase_of(facts), run::Phase::joining);
    }

    void a_computer_that_calculates_differently_says_so_and_trains_no_more() {
        StatusFacts facts = training_member();
        facts.calculates_differently = true;
        QCOMPARE(phase_of(facts), run::Phase::paused);
        QVERIFY(why_of(facts).reason == Reason::calculates_differently);
        facts.volunteer = false;
        QCOMPARE(phase_of(facts), run::Phase::training);
        facts.repairing = true;
        QVERIFY(why_of(facts).reason == Reason::calculates_differently);
    }

    void a_newcomer_whose_disk_is_full_is_told_what_does_not_fit() {
        StatusFacts facts = training_member();
        facts.state.reset();
        facts.members_known = true;
        facts.last_error = "The disk is full.";
        facts.error_recent = true;
        QVERIFY(why_of(facts).reason == Reason::fetching_history);  // other errors are tried again at others'
        facts.disk_full = true;
        QVERIFY((why_of(facts) == Why{Reason::hindered, "The disk is full."}));
    }

    void a_backbone_trains_in_no_trainer() {
        StatusFacts facts = training_member();
        facts.volunteer = facts.training.loaded = false;
        QCOMPARE(phase_of(facts), run::Phase::training);
        QCOMPARE(status_message_of(facts).role, run::Role::backbone);
    }

    void while_collecting_the_status_says_what_is_offered() {
        StatusFacts facts = training_member();
        facts.training.window_tokens = {500};
        facts.training.pending_tokens = {640};
        QCOMPARE(status_message_of(facts).window_tokens.value, 500ULL);
        facts.window_closed = true;
        QCOMPARE(status_message_of(facts).window_tokens.value, 640ULL);
        facts.training.contributing = true;
        QCOMPARE(status_message_of(facts).window_tokens.value, 1140ULL);
        facts.training.window_tokens = {0};
        QCOMPARE(status_message_of(facts).window_tokens.value, 641ULL);
    }

    void a_name_and_a_team_are_cut_to_what_a_message_holds() {
        StatusFacts facts = training_member();
        facts.name = std::string(run::name_bytes_max + 1, 'n');
        QCOMPARE(status_message_of(facts).name.size(), run::name_bytes_max);
        QCOMPARE(status_message_of(facts).team, std::string());
        facts.team = std::string(run::team_bytes_max + 1, 't');
        QCOMPARE(status_message_of(facts).team.size(), run::team_bytes_max);
    }

    void a_member_without_a_state_names_no_list_and_no_digest() {
        StatusFacts facts = training_member();
        facts.digest.bytes.fill(std::byte{1});
        facts.list.bytes.fill(std::byte{1});
        QVERIFY(status_message_of(facts).list == facts.list);
        facts.state.reset();
        QVERIFY(status_message_of(facts).list == Digest{});
        QVERIFY(status_message_of(facts).digest == StateDigest{});
    }

    void the_reason_tells_what_to_wait_for() {
        StatusFacts facts = training_member();
        facts.training.tokens_per_second = 120.4;
        QVERIFY((why_of(facts) == Why{.reason = Reason::training, .round = 3, .seconds = 5, .tokens_per_second = 120}));
        facts.window_closed = true;
        QVERIFY(why_of(facts).reason == Reason::exchanging);
        facts.last_error = "The disk is full.";
        facts.error_recent = true;
        QVERIFY((why_of(facts) == Why{Reason::trouble, "The disk is full."}));
        facts.training.loaded = false;
        QVERIFY((why_of(facts) == Why{Reason::hindered, "The disk is full."}));
        facts.error_recent = false;
        QVERIFY(why_of(facts).reason == Reason::starting_trainer);
        facts.training.has_data = false;
        QVERIFY(why_of(facts).reason == Reason::fetching_data);
        facts.training.finishing = true;
        QVERIFY(why_of(facts).reason == Reason::finishing);
        facts.training.failed = true;
        facts.training.failure = "signal 9";
        QVERIFY((why_of(facts) == Why{Reason::trainer_failed, "signal 9"}));
    }

    void a_host_whose_run_gets_worse_is_told_since_when() {
        StatusFacts facts = training_member();
        facts.training.best = run::LossPoint{{20}, 4'100'000};
        facts.training.newest_loss = 5'600'000;
        QVERIFY((why_of(facts) == Why{.reason = Reason::diverging, .detail = "5.600 / 4.100", .round = 20}));
        QCOMPARE(phase_of(facts), run::Phase::training);
        // What keeps the computer from its work comes first.
        facts.training.loaded = false;
        QVERIFY(why_of(facts).reason == Reason::starting_trainer);
        facts.training.loaded = true;
        facts.run_complete = true;
        QVERIFY(why_of(facts).reason == Reason::run_complete);
    }

    void alone_for_a_round_is_told_with_what_becomes_of_the_training() {
        StatusFacts facts = training_member();
        facts.members_known = false;
        facts.round_length = Duration{70'000};
        facts.unix_time = 1'000;
        facts.alone_for = Duration{70'000};
        facts.seats_here = facts.seats_needed = 1;
        QVERIFY(why_of(facts).reason == Reason::training);
        facts.alone_for = Duration{90'000};
        QVERIFY((why_of(facts) == Why{.reason = Reason::alone, .here = 1, .needed = 1, .since = 910}));
        facts.seats_needed = 3;
        QVERIFY((why_of(facts) == Why{.reason = Reason::alone_waiting, .here = 1, .needed = 3, .since = 910}));
        facts.members_known = true;
        QVERIFY((why_of(facts) == Why{.reason = Reason::waiting_for_committee, .here = 1, .needed = 3}));
        facts.members_known = false;
        facts.state.reset();
        QVERIFY((why_of(facts) == Why{.reason = Reason::members_unreachable, .since = 910}));
        facts.alone_for = Duration{1'000};
        QVERIFY(why_of(facts).reason == Reason::searching_members);
    }

    void the_newest_status_with_another_name_is_kept() {
        NamesBench bench;
        bench.hear(8, 5, "");
        QCOMPARE(bench.kept(), std::string());
        bench.hear(8, 10, "Ann");
        bench.hear(9, 20, "Anna");
        QCOMPARE(bench.kept(), std::string("Anna"));
        bench.hear(9, 30, "");
        QCOMPARE(bench.kept(), std::string("Anna"));
    }

    void an_old_status_that_is_shown_again_takes_no_name_back() {
        NamesBench bench;
        bench.hear(8, 20, "Anna");
        bench.hear(9, 10, "Ann");
        QCOMPARE(bench.kept(), std::string("Anna"));
    }

    void the_same_name_costs_no_write() {
        NamesBench bench;
        bench.hear(8, 10, "Ann");
        bench.hear(9, 20, "Ann");
        QVERIFY(bench.ledger.signed_name_of(bench.context.run, key_of(7).id())->sender == key_of(8).id());
    }

    void a_computer_is_shown_what_another_of_its_person_said() {
        NamesBench bench;
        bench.names.remind(key_of(8).id());
        QVERIFY(bench.swarm.sent_to.empty());
        bench.hear(8, 10, "Ann");
        bench.hear(9, 20, "");
        bench.names.remind(key_of(8).id());  // its own words, which it took back
        bench.names.remind(key_of(5).id());  // another person's
        QVERIFY(bench.swarm.sent_to.empty());
        bench.names.remind(key_of(9).id());
        QCOMPARE(bench.swarm.sent_to.size(), std::size_t{1});
        QVERIFY(bench.swarm.sent_to[0].first == key_of(9).id());
        QVERIFY(bench.swarm.sent_to[0].second.sender == key_of(8).id());
    }
};

QTEST_APPLESS_MAIN(PeerStatusTest)
#include "test_peer_status.moc"
