// What a member says of itself and when, what is kept of that, and to whom it is shown.
#include <QTest>

#include "core/peer/own_status.h"
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
    facts.window.left = Duration{4'200};
    facts.training.loaded = facts.training.has_data = true;
    return facts;
}

/// The person has the key 7; its computers are 8 and 9.
struct NamesBench : Fixture {
    /// `computer` says `name`, as its status of this number.
    void hear(std::uint8_t computer, std::uint64_t sequence, const std::string& name,
              SpokenNames::Words words = SpokenNames::Words::fresh) {
        run::StatusMessage status;
        status.sequence = sequence;
        status.name = name;
        status.certificate = run::certify(key_of(7), key_of(computer).id());
        static_cast<void>(members.take(key_of(computer).id(), status, Source::itself, TimePoint{}));
        run::Envelope envelope;
        envelope.run = context.run;
        envelope.sender = key_of(computer).id();
        envelope.body = run::encode_body(status);
        names.heard(envelope, status, words);
    }
    static PeerId stranger(std::uint32_t number) {
        PeerId id;
        id.bytes[0] = static_cast<std::byte>(number & 255U);
        id.bytes[1] = static_cast<std::byte>(number >> 8U);
        id.bytes[2] = std::byte{1};
        return id;
    }
    /// A key that nobody knows says a name.
    void hear_stranger(std::uint32_t number, SpokenNames::Words words = SpokenNames::Words::fresh) {
        run::StatusMessage status;
        status.name = "Eve";
        run::Envelope envelope;
        envelope.run = context.run;
        envelope.sender = stranger(number);
        envelope.body = run::encode_body(status);
        names.heard(envelope, status, words);
    }
    [[nodiscard]] bool keeps_stranger(std::uint32_t number) const {
        return ledger.signed_name_of(context.run, stranger(number)).has_value();
    }
    [[nodiscard]] std::string kept() const {
        const auto words = ledger.signed_name_of(context.run, key_of(7).id());
        if (!words) return {};
        return std::get<run::StatusMessage>(*run::decode_body(words->kind, words->body)).name;
    }

    Members members;
    SpokenNames names{context, members, ledger};
};

constexpr std::int64_t wall_clock_at_start = 1'700'000'000'123;  // milliseconds since 1970

/// The statuses of a run's host, key 1; key 2 is a backbone.
struct OwnBench : Fixture, OwnStatus::Mediator {
    OwnBench() : Fixture(manifest_with_backbone()) {}
    static run::Manifest manifest_with_backbone() {
        run::Manifest manifest = manifest_of();
        manifest.backbones = {key_of(2).id()};
        return manifest;
    }
    StatusFacts all_facts() const override {
        StatusFacts facts = own.facts();
        facts.seats_here = seats_here;
        facts.seats_needed = 2;
        return facts;
    }
    void wait(Duration time) { context.set_now(context.now() + time); }
    /// A neighbour shows this member a status of this number, signed with its own key.
    run::Verdict show(std::uint64_t sequence) {
        run::StatusMessage status;
        status.sequence = sequence;
        run::Envelope envelope;
        envelope.run = context.run;
        envelope.sender = self.id();
        envelope.body = run::encode_body(status);
        envelope.signature = self.sign(run::domain_of(envelope.kind), run::signed_bytes(envelope));
        return own.on_own(envelope);
    }
    /// Key 3 is heard of, through others only.
    void hear_of_another() {
        run::StatusMessage status;
        status.sequence = 1;
        POTLUCK_CHECK(members.take(key_of(3).id(), status, Source::others, context.now()) == run::Verdict::accepted);
    }

    std::int64_t wall_clock = wall_clock_at_start;
    const std::function<std::int64_t()> unix_clock = [this] { return wall_clock; };
    std::size_t seats_here = 0;
    Members members;
    run::RoundMachine machine{run::RoundSettings{.self = self.id(),
                                                 .role = run::Role::volunteer,
                                                 .window = Duration{60'000},
                                                 .collect = Duration{3'000},
                                                 .heartbeat = Duration{1'000}}};
    OwnStatus own{{context, chain, machine, members, keyring, unix_clock, *this}};
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
        facts.window.closed = true;
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

    void a_status_says_that_its_member_takes_steps() {
        StatusFacts facts = training_member();
        QVERIFY(!status_message_of(facts).light);
        facts.light = true;
        QVERIFY(status_message_of(facts).light);
    }

    void while_collecting_the_status_says_what_is_offered() {
        StatusFacts facts = training_member();
        facts.training.window_tokens = {500};
        facts.training.pending_tokens = {640};
        QCOMPARE(status_message_of(facts).window_tokens.value, 500ULL);
        facts.window.closed = true;
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
        facts.window.closed = true;
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

    void names_of_strangers_are_written_at_a_pace() {
        NamesBench bench;
        for (std::uint32_t i = 0; i <= strangers_at_once; ++i) bench.hear_stranger(i);
        QVERIFY(bench.keeps_stranger(strangers_at_once - 1));
        QVERIFY(!bench.keeps_stranger(strangers_at_once));
        bench.context.set_now(bench.context.now() + strangers_pace);
        bench.hear_stranger(strangers_at_once);
        bench.hear_stranger(strangers_at_once + 1);
        QVERIFY(bench.keeps_stranger(strangers_at_once));
        QVERIFY(!bench.keeps_stranger(strangers_at_once + 1));
    }

    void a_flood_of_strangers_hides_no_name_of_a_contributor() {
        NamesBench bench;
        for (std::uint32_t i = 0; i < strangers_at_once; ++i) bench.hear_stranger(i);
        bench.hear(8, 10, "Ann");
        QCOMPARE(bench.kept(), std::string());
        QVERIFY(bench.chain.append(bench.list_of({bench.payload_of(1.0F, key_of(7).id()).entry}), bench.commit(1, 0.5F))
                    .ok());
        bench.hear(8, 20, "Anna");
        QCOMPARE(bench.kept(), std::string("Anna"));
    }

    void a_name_that_a_flood_put_off_is_written_with_a_later_status() {
        NamesBench bench;
        for (std::uint32_t i = 0; i < strangers_at_once; ++i) bench.hear_stranger(i);
        bench.hear(8, 10, "Ann");
        bench.hear(8, 20, "Ann", SpokenNames::Words::repeated);
        QCOMPARE(bench.kept(), std::string());
        bench.context.set_now(bench.context.now() + strangers_pace);
        bench.hear(8, 30, "Ann", SpokenNames::Words::repeated);
        QCOMPARE(bench.kept(), std::string("Ann"));
        bench.context.set_now(bench.context.now() + strangers_pace);
        bench.hear(8, 40, "Anna", SpokenNames::Words::repeated);
        QCOMPARE(bench.kept(), std::string("Ann"));
    }

    /// Computers that are not here any more make room for others.
    void names_that_wait_are_as_many_as_members_may_be() {
        NamesBench bench;
        const auto last = static_cast<std::uint32_t>(strangers_at_once + run::members_max);
        for (std::uint32_t i = 0; i <= last; ++i) bench.hear_stranger(i);
        bench.context.set_now(bench.context.now() + 2 * strangers_pace);
        bench.hear_stranger(last - 1, SpokenNames::Words::repeated);
        QVERIFY(!bench.keeps_stranger(last - 1));
        bench.hear_stranger(last, SpokenNames::Words::repeated);
        QVERIFY(bench.keeps_stranger(last));
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

    void statuses_are_numbered_by_the_clock_and_marked_by_their_process() {
        OwnBench bench;
        constexpr std::uint64_t marks = 1'048'576, begun = wall_clock_at_start, mark = begun % marks;
        QCOMPARE(bench.own.next().sequence, (begun + 1) * marks + mark);
        QCOMPARE(bench.own.next().sequence, (begun + 2) * marks + mark);
        bench.wall_clock += 1'000;
        QCOMPARE(bench.own.next().sequence, (begun + 1'000) * marks + mark);
        bench.wall_clock -= 60'000;  // set back
        QCOMPARE(bench.own.next().sequence, (begun + 1'001) * marks + mark);
    }

    void a_member_whose_earlier_life_had_higher_numbers_goes_on_far_above_them() {
        OwnBench bench;
        const std::uint64_t said = bench.own.next().sequence + 1'000 * process_marks;
        bench.own.broadcast();
        QVERIFY(!bench.own.due());
        QCOMPARE(bench.show(said), run::Verdict::repeated);
        QVERIFY(bench.own.due());
        const std::uint64_t jump = (std::uint64_t{1} << 32U) * process_marks;
        QCOMPARE(bench.own.next().sequence, said + jump + process_marks);
        QVERIFY(!bench.own.facts().own_key_elsewhere);
    }

    void another_process_with_its_key_is_told_of_for_a_minute() {
        OwnBench bench;
        const std::uint64_t own = bench.own.next().sequence;
        QCOMPARE(bench.show(own), run::Verdict::repeated);
        QVERIFY(!bench.own.facts().own_key_elsewhere);
        QCOMPARE(bench.show(own - 1), run::Verdict::contradicting);  // the mark is not this process's
        bench.wait(Duration{59'999});
        QVERIFY(bench.own.facts().own_key_elsewhere);
        bench.wait(Duration{1});
        QVERIFY(!bench.own.facts().own_key_elsewhere);
    }

    void two_seconds_without_a_tick_are_a_sleep() {
        OwnBench bench;
        const PeerId neighbour = key_of(2).id();
        bench.members.joined(neighbour);
        const auto admits = [&] {
            return bench.members.admit_message(neighbour, run::MessageKind::status, bench.context.now());
        };
        bench.own.notice_sleep();
        for (int i = 0; i < 300; ++i) QVERIFY(admits());
        bench.wall_clock += 1'999;
        bench.own.notice_sleep();
        QVERIFY(!admits());
        bench.wall_clock += 2'000;
        bench.own.notice_sleep();
        QVERIFY(admits());
    }

    void a_member_is_alone_since_another_was_here_last() {
        OwnBench bench;
        bench.own.start();
        bench.wait(Duration{5'000});
        QCOMPARE(bench.own.facts().alone_for, Duration{5'000});
        bench.hear_of_another();
        bench.own.tick();
        QCOMPARE(bench.own.facts().alone_for, Duration{0});
        bench.members.remove(key_of(3).id());
        bench.wait(Duration{1'000});
        QCOMPARE(bench.own.facts().alone_for, Duration{1'000});
    }

    void a_status_older_than_an_hour_is_of_long_ago() {
        OwnBench bench;
        run::StatusMessage said;
        said.sequence = static_cast<std::uint64_t>(wall_clock_at_start - 3'600'000) * process_marks;
        QVERIFY(!bench.own.is_long_ago(said));
        said.sequence -= 1;
        QVERIFY(bench.own.is_long_ago(said));
    }

    void a_status_is_due_at_each_heartbeat_and_at_each_change() {
        OwnBench bench;
        bench.own.broadcast();
        bench.wait(Duration{999});
        QVERIFY(!bench.own.due());
        bench.wait(Duration{1});
        QVERIFY(bench.own.due());
        bench.own.changed();
        bench.own.broadcast();
        QVERIFY(!bench.own.due());
        bench.own.changed();
        QVERIFY(bench.own.due());
    }

    void the_network_is_told_of_missed_members_and_of_those_that_decide() {
        OwnBench bench;
        bench.hear_of_another();
        bench.seats_here = 1;
        bench.own.broadcast();
        QVERIFY(bench.swarm.sought == ids_of({3}));
        QVERIFY(bench.swarm.deciders.members == ids_of({2}));
        QVERIFY(bench.swarm.deciders.quorum == Deciders::Quorum::missing);
        bench.seats_here = 2;
        bench.own.broadcast();
        QVERIFY(bench.swarm.deciders.quorum == Deciders::Quorum::here);
    }
};

QTEST_APPLESS_MAIN(PeerStatusTest)
#include "test_peer_status.moc"
