// Runs with a jury: who sends no work is suspended by every member alike, and nobody else.
#include <QTest>

#include "tests/sim/jury/oracle.h"
#include "tests/sim/scenario.h"
#include "tests/sim/seeds.h"

using namespace potluck;
using namespace potluck::sim;

namespace {

/// Seven of sixteen are of these kinds; what is wrong, empty if each is suspended within `rounds` and nobody else.
std::string shut_out(std::uint64_t seed, const std::vector<Work>& kinds, std::uint64_t rounds) {
    World world(seed, jury_plan(16, rounds + 1));
    Oracle oracle(world, seed);
    for (std::size_t i = 0; i < 7; ++i) oracle.works[9 + i] = kinds[i % kinds.size()];
    if (std::string wrong = played(world, rounds); !wrong.empty()) return wrong;
    const auto found = suspensions_in(world, 0);
    for (std::size_t member = 0; member < 16; ++member) {
        const bool is_bad = oracle.works.contains(member);
        const bool is_found = found.contains(world.home(member).id());
        if (is_bad && !is_found) return "member " + std::to_string(member) + " sends no work and is not suspended";
        if (!is_bad && is_found) return "member " + std::to_string(member) + " works and is suspended";
    }
    return {};
}

}  // namespace

class TestShutOut final : public QObject {
    Q_OBJECT
private slots:
    void seven_of_sixteen_that_send_no_work_are_suspended_and_nobody_else_data() {
        QTest::addColumn<QList<int>>("kinds");
        QTest::addColumn<std::uint64_t>("rounds");
        const auto row = [](const char* name, const QList<int>& kinds, std::uint64_t rounds = 100) {
            QTest::newRow(name) << kinds << rounds;
        };
        row("noise", {int(Work::noise)});
        row("zero", {int(Work::zero)});
        row("flipped", {int(Work::flipped)});
        row("copied", {int(Work::copied)});
        row("lazy", {int(Work::lazy)}, 200);
        row("mixed", {int(Work::noise), int(Work::zero), int(Work::flipped), int(Work::copied), int(Work::lazy)});
    }
    void seven_of_sixteen_that_send_no_work_are_suspended_and_nobody_else() {
        QFETCH(QList<int>, kinds);
        QFETCH(std::uint64_t, rounds);
        std::vector<Work> works;
        for (const int kind : kinds) works.push_back(static_cast<Work>(kind));
        const std::string wrong =
            first_wrong(seeds(1), [&](std::uint64_t seed) { return shut_out(seed, works, rounds); });
        QVERIFY2(wrong.empty(), wrong.c_str());
    }
};

QTEST_GUILESS_MAIN(TestShutOut)
#include "test_shut_out.moc"
