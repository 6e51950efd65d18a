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

    void more_volunteers_are_sooner_done_with_the_same_electricity() {
        const Cost one = cost_of(gpt2_on_3060s(1)), fifty = cost_of(gpt2_on_3060s(50));
        QVERIFY(near(fifty.days * 50, one.days, 1e-9));
        QCOMPARE(fifty.kilowatt_hours, one.kilowatt_hours);
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
