// Newcomers and sleepers that are far behind take the short way: who changed the committee, a table, and on from there.
#include <QTest>

#include <memory>

#include "core/run/credit_table.h"
#include "tests/sim/checks.h"
#include "tests/sim/scenario.h"
#include "tests/sim/seeds.h"
#include "tests/sim/stranger.h"

using namespace potluck;
using namespace potluck::sim;

namespace {

constexpr std::uint64_t table_every = 4;

WorldPlan plan_of(std::uint64_t seed) {
    WorldPlan plan;
    plan.backbones = 1 + seed % 2;
    plan.volunteers = 4;
    plan.rounds = 30;
    plan.friends = seed % 3 != 0;  // then the committee grows and changes
    plan.table_every = table_every;
    plan.window = Duration{3'000};
    plan.links.loss = seed % 2 == 0 ? 0 : 0.1;
    return plan;
}

/// Lists that came to a member with anything but a ballot, and how often it asked for a short way.
struct Counted {
    std::size_t history = 0, committee = 0, asked = 0;
};
void count_lists(World& world, const PeerId& to, Counted& counted) {
    world.network().on_send = [&counted, to](const PeerId& from, const PeerId& receiver,
                                             const run::Envelope& envelope) {
        if (from == to && envelope.kind == run::MessageKind::committee_request) ++counted.asked;
        if (receiver != to) return;
        const auto message = run::decode_body(envelope.kind, envelope.body);
        if (!message.ok()) return;
        if (const auto* one = std::get_if<run::HistoryMessage>(&*message)) counted.history += one->lists.size();
        if (const auto* one = std::get_if<run::CommitteeMessage>(&*message)) counted.committee += one->lists.size();
    };
}

bool has_jumped(World& world, std::size_t member) {
    const ledger::Ledger& ledger = world.home(member).ledger;
    return ledger.kept_from(world.run()).value > 0 && !ledger.list(world.run(), RoundId{2});
}

/// All that are up have the same credit.
std::string same_credit(World& world) {
    const run::CreditTable truth = world.home(0).ledger.table(world.rules());
    for (std::size_t i = 1; i < world.size(); ++i) {
        const run::CreditTable own = world.home(i).ledger.table(world.rules());
        if (!world.home(i).alive() || own.round != truth.round) continue;
        if (own != truth) return "member " + std::to_string(i) + " has other credit";
    }
    return {};
}

std::string finish(World& world) {
    const std::string wrong = finish_run(world, Duration{600'000});
    return wrong.empty() ? same_credit(world) : wrong;
}

}  // namespace

class ShortcutTest : public QObject {
    Q_OBJECT
private slots:
    void a_newcomer_far_behind_reads_what_matters_and_no_more() {
        const std::string wrong = first_wrong(seeds(12), [](std::uint64_t seed) -> std::string {
            World world(seed, plan_of(seed));
            const std::size_t late = world.size() - 1;
            for (std::size_t i = 0; i < late; ++i) world.start(i);
            if (!world.run_until([&] { return world.round_of(0) >= 21; }, Duration{400'000})) return "no 21 rounds";
            Counted counted;
            count_lists(world, world.home(late).id(), counted);
            world.start(late);
            const auto in_step = [&] { return world.round_of(late) >= world.round_of(0); };
            if (!world.run_until(in_step, Duration{30'000})) return "the newcomer does not get in step";
            if (!has_jumped(world, late)) return "the newcomer has read all lists";
            if (counted.history > 3 * table_every) return std::to_string(counted.history) + " lists were read";
            if (counted.committee > 20) return std::to_string(counted.committee) + " lists led there";
            return finish(world);
        });
        QVERIFY2(wrong.empty(), wrong.c_str());
    }

    void a_member_that_slept_for_long_keeps_its_books() {
        const std::string wrong = first_wrong(seeds(12), [](std::uint64_t seed) -> std::string {
            World world(seed, plan_of(seed));
            world.start_all();
            if (!world.run_until([&] { return world.all_at(4); }, Duration{100'000})) return "no 4 rounds";
            const std::size_t sleeper = world.size() - 1 - seed % 2;
            world.run_for(Duration{static_cast<int>(world.rng().below(6'000))});
            // Some have just offered what the next list will hold.
            const auto has_offered = [&] {
                const auto bytes = world.home(sleeper).disk.load_record();
                const auto record = bytes ? peer::ContributionRecord::decode(*bytes) : std::nullopt;
                return record && !record->pending.empty();
            };
            if (seed % 2 == 0 && !world.run_until(has_offered, Duration{60'000})) return "nothing was offered";
            if (seed % 4 == 0) world.run_for(Duration{300});
            world.kill(sleeper, Death::silent);
            if (!world.run_until([&] { return world.round_of(0) >= 18; }, Duration{300'000})) return "no 18 rounds";
            world.start(sleeper);
            const auto in_step = [&] { return world.round_of(sleeper) >= world.round_of(0); };
            if (!world.run_until(in_step, Duration{60'000})) return "the sleeper does not get in step";
            if (!has_jumped(world, sleeper)) return "the sleeper has read all lists";
            return finish(world);
        });
        QVERIFY2(wrong.empty(), wrong.c_str());
    }

    void volunteers_forget_old_lists_and_still_lead_others_on() {
        const std::string wrong = first_wrong(seeds(4), [](std::uint64_t seed) -> std::string {
            WorldPlan plan = plan_of(seed);
            plan.friends = true;
            plan.backbones = 1;
            World world(seed, plan);
            const std::size_t late = world.size() - 1;
            for (std::size_t i = 0; i < late; ++i) world.start(i);
            if (!world.run_until([&] { return world.all_at(20); }, Duration{400'000})) return "no 20 rounds";
            for (std::size_t i = 1; i < late; ++i) {
                const std::uint64_t kept = world.home(i).ledger.kept_from(world.run()).value;
                if (kept != 20 - 2 * table_every && kept != 16 - 2 * table_every) return "a volunteer keeps too much";
            }
            if (world.home(0).ledger.kept_from(world.run()).value != 0) return "the host has forgotten lists";
            world.quit(0);  // it held all lists
            world.start(late);
            const auto in_step = [&] { return world.round_of(late) >= world.round_of(1); };
            if (!world.run_until(in_step, Duration{60'000})) return "nobody leads the newcomer on";
            if (!has_jumped(world, late)) return "the newcomer has read all lists";
            world.start(0);
            return finish(world);
        });
        QVERIFY2(wrong.empty(), wrong.c_str());
    }

    void a_newcomer_after_the_end_has_the_model_and_the_whole_board() {
        const std::string wrong = first_wrong(seeds(4), [](std::uint64_t seed) -> std::string {
            WorldPlan plan = plan_of(seed);
            plan.rounds = 11;
            World world(seed, plan);
            const std::size_t late = world.size() - 1;
            for (std::size_t i = 0; i < late; ++i) world.start(i);
            const auto all_over = [&] { return world.all_at(11); };
            if (!world.run_until(all_over, Duration{300'000})) return "the run does not end";
            world.run_for(Duration{10'000});
            world.start(late);
            const auto has_all = [&] { return world.round_of(late) == 11 && same_credit(world).empty(); };
            if (!world.run_until(has_all, Duration{120'000})) return "the newcomer has not got all";
            return has_jumped(world, late) ? agreement(world) : "the newcomer has read all lists";
        });
        QVERIFY2(wrong.empty(), wrong.c_str());
    }

    void the_hosts_changes_hold_for_later_newcomers() {
        const std::string wrong = first_wrong(seeds(4), [](std::uint64_t seed) -> std::string {
            WorldPlan plan = plan_of(seed);
            plan.friends = false;
            World world(seed, plan);
            const std::size_t late = world.size() - 1, banned = late - 1;
            for (std::size_t i = 0; i < late; ++i) world.start(i);
            if (!world.run_until([&] { return world.all_at(3); }, Duration{100'000})) return "no 3 rounds";
            if (!world.peer(0).moderate(run::ActionKind::ban, world.home(banned).id(), {}).ok()) return "no ban";
            if (!world.run_until([&] { return world.round_of(0) >= 18; }, Duration{300'000})) return "no 18 rounds";
            world.start(late);
            const auto in_step = [&] { return world.round_of(late) >= world.round_of(0); };
            if (!world.run_until(in_step, Duration{60'000})) return "the newcomer does not get in step";
            if (!has_jumped(world, late)) return "the newcomer has read all lists";
            const std::uint64_t rounds = world.home(late).ledger.credit_of(world.run(), world.home(banned).id()).rounds;
            if (rounds == 0 || rounds > 6) return "the banned one was accepted " + std::to_string(rounds) + " times";
            world.kill(banned, Death::closes_sessions);
            // It takes part, so its rules are those of the others.
            const auto takes_part = [&] {
                return world.home(0).ledger.credit_of(world.run(), world.home(late).id()).rounds > 0;
            };
            return world.run_until(takes_part, Duration{60'000}) ? same_credit(world)
                                                                 : "the newcomer does not take part";
        });
        QVERIFY2(wrong.empty(), wrong.c_str());
    }

    void a_member_slightly_behind_reads_the_lists() {
        const std::string wrong = first_wrong(seeds(4), [](std::uint64_t seed) -> std::string {
            WorldPlan plan = plan_of(seed);
            plan.rounds = 16;
            plan.links.loss = 0;  // or the others may be a table's distance ahead before the first list arrives
            World world(seed, plan);
            world.start_all();
            if (!world.run_until([&] { return world.all_at(9); }, Duration{200'000})) return "no 9 rounds";
            const std::size_t away = world.size() - 1;
            world.kill(away, Death::closes_sessions);
            if (!world.run_until([&] { return world.round_of(0) >= 12; }, Duration{100'000})) return "no 12 rounds";
            Counted counted;
            count_lists(world, world.home(away).id(), counted);
            world.start(away);
            const std::string end = finish(world);
            if (counted.asked > 0) return "it has looked for a short way";
            return end;
        });
        QVERIFY2(wrong.empty(), wrong.c_str());
    }

    /// Any number of keys can say to be far ahead. Who has missed two rounds gets them while it looks into that.
    void a_crowd_that_says_to_be_far_ahead_holds_up_nobody() {
        const std::string wrong = first_wrong(seeds(3), [](std::uint64_t seed) -> std::string {
            WorldPlan plan = plan_of(2 * seed);
            plan.friends = false;
            plan.rounds = 12;
            World world(seed, plan);
            world.start_all();
            if (!world.run_until([&] { return world.all_at(3); }, Duration{100'000})) return "no 3 rounds";
            const std::size_t away = world.size() - 1;
            world.kill(away, Death::closes_sessions);
            if (!world.run_until([&] { return world.round_of(0) >= 6; }, Duration{100'000})) return "no 6 rounds";
            std::vector<std::unique_ptr<Stranger>> crowd;
            for (std::uint8_t i = 0; i < 40; ++i) crowd.push_back(std::make_unique<Stranger>(world, hostile_key(i)));
            world.start(away);
            run::StatusMessage status;
            status.sequence = 1ULL << 62U;
            status.phase = run::Phase::training;
            status.round = RoundId{12};
            const auto lies = [&] {
                ++status.sequence;
                for (const auto& liar : crowd) liar->send(away, status);
                return world.round_of(away) >= world.round_of(0);
            };
            return world.run_until(lies, Duration{30'000}) ? finish(world) : "it does not get in step";
        });
        QVERIFY2(wrong.empty(), wrong.c_str());
    }

    /// A table that is newer than all checkpoints leads to lists without a state.
    void a_newcomer_is_not_led_to_a_table_without_a_state() {
        const std::string wrong = first_wrong(seeds(4), [](std::uint64_t seed) -> std::string {
            WorldPlan plan = plan_of(seed);
            plan.checkpoint_every = 13;
            World world(seed, plan);
            const std::size_t late = world.size() - 1;
            for (std::size_t i = 0; i < late; ++i) world.start(i);
            if (!world.run_until([&] { return world.round_of(0) >= 21; }, Duration{400'000})) return "no 21 rounds";
            world.start(late);
            const auto in_step = [&] { return world.round_of(late) >= world.round_of(0); };
            if (!world.run_until(in_step, Duration{60'000})) return "the newcomer does not get in step";
            const std::uint64_t kept = world.home(late).ledger.kept_from(world.run()).value;
            return kept > 0 && kept <= 12 ? std::string() : "it began with round " + std::to_string(kept);
        });
        QVERIFY2(wrong.empty(), wrong.c_str());
    }

    /// The committee is replaced from a round on that the newcomer has never seen.
    void a_replacement_from_further_back_is_followed() {
        const std::string wrong = first_wrong(seeds(4), [](std::uint64_t seed) -> std::string {
            WorldPlan plan = plan_of(seed);
            plan.friends = true;
            plan.backbones = 1;
            plan.checkpoint_every = 6;  // a state of before the replacement is still there
            plan.links.loss = 0;
            World world(seed, plan);
            const std::size_t late = world.size() - 1;
            for (std::size_t i = 0; i < late; ++i) world.start(i);
            if (!world.run_until([&] { return world.all_at(14); }, Duration{300'000})) return "no 14 rounds";
            world.start(late);
            const auto in_step = [&] { return world.round_of(late) >= world.round_of(0); };
            if (!world.run_until(in_step, Duration{60'000}) || !has_jumped(world, late)) return "no short way";
            const RoundId after{10};
            if (!world.peer(0).replace_committee({world.home(0).id()}, after).ok()) return "no replacement";
            return finish(world);
        });
        QVERIFY2(wrong.empty(), wrong.c_str());
    }

    void liars_on_the_short_way_cost_a_few_heartbeats() {
        const std::string wrong = first_wrong(seeds(6), [](std::uint64_t seed) -> std::string {
            World world(seed, plan_of(2 * seed));
            const std::size_t late = world.size() - 1;
            for (std::size_t i = 0; i < late; ++i) world.start(i);
            if (!world.run_until([&] { return world.round_of(0) >= 18; }, Duration{400'000})) return "no 18 rounds";
            world.start(late);
            Stranger liar(world, hostile_key(7));
            const auto held = world.home(0).ledger.list(world.run(), RoundId{16});
            run::AcceptList forged = run::AcceptList::decode(held->list).value();
            forged.committee = {liar.id()};
            run::StatusMessage status;
            status.sequence = 1ULL << 62U;
            status.phase = run::Phase::training;
            status.round = RoundId{28};
            std::size_t asked = 0;
            const auto lies = [&] {
                ++status.sequence;
                liar.send(late, status);
                for (; asked < liar.heard().size(); ++asked) {
                    if (liar.heard()[asked].kind != run::MessageKind::committee_request) continue;
                    const run::CommittedList one{forged.encode(), held->certificate};
                    liar.send(late, seed % 2 == 0 ? run::CommitteeMessage{{one}} : run::CommitteeMessage{});
                }
                return world.round_of(late) >= world.round_of(0);
            };
            if (!world.run_until(lies, Duration{60'000})) return "the newcomer does not get in step";
            return finish(world);
        });
        QVERIFY2(wrong.empty(), wrong.c_str());
    }
};

QTEST_APPLESS_MAIN(ShortcutTest)
#include "test_shortcut.moc"
