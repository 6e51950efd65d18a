// Members that lie in every way a message can: the run goes on, the honest agree, and the liar gets no credit.
#include <QTest>

#include "tests/sim/attacker.h"
#include "tests/sim/scenario.h"
#include "tests/sim/seeds.h"

using namespace potluck;
using namespace potluck::sim;

namespace {

std::uint64_t count_of(World& world, std::size_t member, run::Verdict verdict) {
    for (const auto& [kind, count] : world.peer(member).verdicts()) {
        if (kind == verdict) return count;
    }
    return 0;
}

std::string attacked(std::uint64_t seed, Lie lie, std::size_t attackers, std::size_t backbones) {
    WorldPlan plan;
    plan.backbones = backbones;
    plan.volunteers = 4;
    plan.rounds = 4;
    World world(seed, plan);
    world.start_all();
    std::vector<std::unique_ptr<Attacker>> hostile;
    for (std::size_t i = 0; i < attackers; ++i) {
        hostile.push_back(std::make_unique<Attacker>(world, lie, static_cast<std::uint8_t>(i)));
    }
    // With a member that never contributes each round lasts window + collect, and a little.
    const std::string wrong = finish_run(world, Duration{4 * 16'000});
    if (!wrong.empty()) return wrong;
    for (const auto& one : hostile) {
        if (world.home(0).ledger.credit_of(world.run(), one->id()).tokens.value > 0) return "the liar was credited";
    }
    for (std::size_t i = 1; i < world.size(); ++i) {
        if (world.home(i).backbone) continue;
        const ledger::Credit credit = world.home(0).ledger.credit_of(world.run(), world.home(i).id());
        if (credit.rounds + 1 < plan.rounds) return "an honest volunteer lost contributions";
    }
    return {};
}

}  // namespace

class AttacksTest : public QObject {
    Q_OBJECT
private slots:
    void liars_neither_stop_the_run_nor_earn_credit_data() {
        QTest::addColumn<int>("lie");
        for (const Lie lie : all_lies) {
            QTest::addRow("lie %d", static_cast<int>(lie)) << static_cast<int>(lie);
        }
    }
    void liars_neither_stop_the_run_nor_earn_credit() {
        QFETCH(int, lie);
        for (const std::uint64_t seed : seeds(3)) {
            const std::string wrong = attacked(seed, static_cast<Lie>(lie), 1 + seed % 3, seed % 2);
            QVERIFY2(wrong.empty(), ("seed " + std::to_string(seed) + ": " + wrong).c_str());
        }
    }

    void hostile_input_is_counted_by_kind() {
        World world(3, {});
        world.start_all();
        Attacker forger(world, Lie::forgery, 1), noisy(world, Lie::flood, 2), broken(world, Lie::broken_payload, 3);
        world.run_for(Duration{20'000});
        QVERIFY(count_of(world, 0, run::Verdict::bad_signature) + count_of(world, 0, run::Verdict::not_allowed) > 0);
        QVERIFY(count_of(world, 0, run::Verdict::flood) > 0);
        QVERIFY(count_of(world, 0, run::Verdict::bad_payload) > 0);
    }

    void strangers_to_an_allow_list_are_not_heard() {
        World world(4, {});
        world.allow_only_members();
        world.start_all();
        Attacker stranger(world, Lie::silence, 1);
        world.run_for(Duration{10'000});
        QVERIFY(count_of(world, 0, run::Verdict::not_allowed) > 0);
        for (const peer::MemberView& member : world.peer(0).view().members) QVERIFY(member.id != stranger.id());
    }
};

QTEST_APPLESS_MAIN(AttacksTest)
#include "test_attacks.moc"
