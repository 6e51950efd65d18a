#include <QTest>

#include <cmath>

#include "core/model/cost_model.h"
#include "core/model/presets.h"
#include "core/model/state_layout.h"

using namespace potluck;
using namespace potluck::model;

namespace {

CostQuestion gpt2_on_3060s(std::uint32_t volunteers) {
    return {.model = *model_preset("gpt2"),
            .tokens = 10'000'000'000,
            .volunteers = volunteers,
            .gpu = *find_gpu("RTX 3060")};
}

bool near(double value, double expected, double tolerance) {
    return std::abs(value - expected) <= tolerance * std::abs(expected);
}

}  // namespace

class CostModelTest : public QObject {
    Q_OBJECT
private slots:
    void ten_billion_tokens_of_gpt2_take_what_the_formula_says() {
        const CostQuestion question = gpt2_on_3060s(1);
        const double parameters = 124'439'808;
        const double per_token = 6 * parameters + 12.0 * 12 * 768 * 1024;
        QCOMPARE(flops_per_token(question.model, 0), per_token);
        QVERIFY(near(cost_of(question).flops, 8.6e18, 0.01));
        QVERIFY(near(cost_of(question).days, 8.6e18 / (25.5e12 * utilisation_assumed * 86'400), 0.01));
    }

    void computing_layers_twice_costs_a_third_more() {
        const CostQuestion question = gpt2_on_3060s(1);
        const double once = flops_per_token(question.model, 0);
        QVERIFY(near(flops_per_token(question.model, 1), once * 4 / 3, 1e-9));
    }

    void a_swarm_is_worth_what_was_measured() {
        QCOMPARE(swarm_worth(1, 5).low, 1.0);
        QCOMPARE(swarm_worth(1, 5).high, 1.0);
        struct Row {
            double steps, low, high;
        };
        for (const Row& row : {Row{2, 2.8, 3.6}, Row{5, 2.4, 3.1}, Row{10, 1.8, 2.3}}) {
            QVERIFY(near(swarm_worth(4, row.steps).low, row.low, 1e-9));
            QVERIFY(near(swarm_worth(4, row.steps).high, row.high, 1e-9));
        }
        // Sixteen members, as measured, lie between the two.
        QVERIFY(swarm_worth(16, 5).low < 8 && 8 < swarm_worth(16, 5).high);
        QVERIFY(swarm_worth(16, 2).low < 11 && 11 < swarm_worth(16, 2).high);
        QVERIFY(swarm_worth(4, 3).middle() < swarm_worth(4, 2).middle());
        QVERIFY(swarm_worth(4, 3).middle() > swarm_worth(4, 5).middle());
        QCOMPARE(swarm_worth(4, 1).high, swarm_worth(4, 2).high);
        QCOMPARE(swarm_worth(4, 100).low, swarm_worth(4, 10).low);
    }

    void more_volunteers_are_sooner_done_and_use_more_electricity() {
        const Cost one = cost_of(gpt2_on_3060s(1)), fifty = cost_of(gpt2_on_3060s(50));
        QVERIFY(near(fifty.days * fifty.worth.middle(), one.days, 1e-9));
        QVERIFY(fifty.worth.high < 50 && fifty.days_low > one.days / 50);
        QVERIFY(fifty.days_low < fifty.days && fifty.days < fifty.days_high);
        QVERIFY(near(fifty.kilowatt_hours, one.kilowatt_hours * 50 / fifty.worth.middle(), 1e-9));
        QVERIFY(near(one.kilowatt_hours, one.days * 24 * 0.170, 1e-9));
        QVERIFY(near(one.price, one.kilowatt_hours * 0.30, 1e-9));
    }

    void disk_holds_the_state_and_each_token_once() {
        const CostQuestion question = gpt2_on_3060s(1);
        QCOMPARE(cost_of(question).checkpoint_bytes, state_layout(question.model).file_size());
        QVERIFY(near(static_cast<double>(cost_of(question).data_bytes), 2e10 * 1025 / 1024, 1e-6));
    }

    void a_gpu_is_found_under_the_names_that_people_and_drivers_use() {
        for (const char* name : {"RTX 3060", "rtx3060", "NVIDIA GeForce RTX 3060", "geforce rtx-3060"}) {
            QVERIFY2(find_gpu(name).ok(), name);
            QCOMPARE(find_gpu(name)->watts, 170.0);
        }
        QCOMPARE(find_gpu("RTX 3060 Ti")->watts, 200.0);
        QVERIFY(!find_gpu("RTX").ok());
        QVERIFY(find_gpu("Voodoo 2").error().message.find("RTX 4090") != std::string::npos);
    }

    void every_known_gpu_is_found_by_its_own_name() {
        for (const GpuFigures& gpu : known_gpus()) QCOMPARE(find_gpu(gpu.name)->teraflops, gpu.teraflops);
    }
};

QTEST_GUILESS_MAIN(CostModelTest)
#include "test_cost_model.moc"
