// When the validation loss is measured, and that it never costs more than it may.
#include <QTemporaryDir>
#include <QTest>

#include <cmath>
#include <limits>

#include "app/node/member/validation.h"

using namespace potluck;
using namespace potluck::node;

namespace {

run::Manifest manifest_of(std::uint32_t width = 128, std::int64_t window_ms = 60'000) {
    run::Manifest manifest;
    manifest.model.layers = 2;
    manifest.model.width = width;
    manifest.model.context = 128;
    manifest.recipe.window = Duration{window_ms};
    manifest.validation.records = 1000;
    manifest.validation.blob.size = 256'000;
    return manifest;
}

TimePoint at(std::int64_t milliseconds) { return {Duration{milliseconds}}; }
constexpr double speed = 10'000;

}  // namespace

class ValidationTest : public QObject {
    Q_OBJECT
    QTemporaryDir m_folder;
    [[nodiscard]] std::filesystem::path file(const char* name) const { return m_folder.filePath(name).toStdString(); }

private slots:
    void measurements_cost_at_most_one_per_cent_of_the_time() {
        Validation validation(manifest_of(), file("share"));
        std::int64_t spent = 0;
        constexpr std::int64_t cost = 700, end = 3'600'000;
        std::uint64_t round = 0;
        for (std::int64_t now = 0; now < end; now += 100) {
            if (validation.records_due(at(now), RoundId{round}, speed) == 0) continue;
            validation.begun(at(now), RoundId{round++});
            now += cost;
            validation.measured(at(now), 2.0, 0);
            spent += cost;
        }
        QVERIFY2(spent > 20 * cost, qPrintable(QString::number(spent)));
        QVERIFY2(spent <= end / 100 + cost, qPrintable(QString::number(spent)));
    }

    void the_same_records_are_used_whatever_the_speed_is_later() {
        Validation validation(manifest_of(), file("records"));
        QCOMPARE(validation.records_due(at(0), RoundId{1}, speed), std::uint64_t{64});  // 8,192 tokens
        QCOMPARE(validation.records_due(at(0), RoundId{1}, 10.0), std::uint64_t{64});
    }

    void pictures_are_measured_by_their_number_and_those_computed_together_together() {
        run::Manifest manifest = manifest_of();
        manifest.model.family = model::Family::coder;
        manifest.model.context = model::coder_context(manifest.model.coder);
        const auto context = static_cast<double>(manifest.model.context);
        Validation coder(manifest, file("coder"));
        QCOMPARE(coder.records_due(at(0), RoundId{1}, 1000 * context), Validation::pictures_max);
        manifest.model.family = model::Family::swav;
        manifest.model.width = 8;
        manifest.model.swav.together = 50;
        Validation swav(manifest, file("swav"));
        QCOMPARE(swav.records_due(at(0), RoundId{1}, 1000 * context), std::uint64_t{250});
        // 60 s of window: 3 s at twice 18 pictures a second are 108, two groups of 50; at twice 8, none.
        Validation slower(manifest, file("slower"));
        QCOMPARE(slower.records_due(at(0), RoundId{1}, 18 * context), std::uint64_t{100});
        Validation slow(manifest, file("slow swav"));
        QCOMPARE(slow.records_due(at(0), RoundId{1}, 8 * context), std::uint64_t{0});
    }

    void a_computer_too_slow_for_a_twentieth_of_the_window_measures_nothing() {
        // 1 s of window: 50 ms at twice 5,000 tokens/s are 500 tokens, less than 4 records of 128.
        Validation slow(manifest_of(128, 1000), file("slow"));
        QCOMPARE(slow.records_due(at(0), RoundId{1}, 5000.0), std::uint64_t{0});
        Validation enough(manifest_of(128, 1000), file("enough"));
        QCOMPARE(enough.records_due(at(0), RoundId{1}, 5120.0), std::uint64_t{4});
    }

    void a_large_model_or_shard_is_not_measured() {
        QVERIFY(Validation(manifest_of(), file("a")).wanted());
        QVERIFY(!Validation(manifest_of(1024), file("b")).wanted());
        run::Manifest manifest = manifest_of();
        manifest.validation.blob.size = Validation::shard_bytes_max;
        QVERIFY(Validation(manifest, file("c")).wanted());
        ++manifest.validation.blob.size;
        QVERIFY(!Validation(manifest, file("d")).wanted());
    }

    void a_state_is_measured_once_and_one_at_a_time() {
        Validation validation(manifest_of(), file("once"));
        validation.begun(at(0), RoundId{3});
        QCOMPARE(validation.records_due(at(999'999), RoundId{4}, speed), std::uint64_t{0});
        validation.measured(at(100), 2.0, 7);
        QCOMPARE(validation.records_due(at(999'999), RoundId{3}, speed), std::uint64_t{0});
        QCOMPARE(validation.records_due(at(10'099), RoundId{4}, speed), std::uint64_t{0});
        QCOMPARE(validation.records_due(at(10'100), RoundId{4}, speed), std::uint64_t{64});
    }

    void a_failure_waits_an_hour() {
        Validation validation(manifest_of(), file("failure"));
        validation.begun(at(0), RoundId{1});
        validation.failed(at(0));
        QCOMPARE(validation.records_due(at(3'599'999), RoundId{1}, speed), std::uint64_t{0});
        QCOMPARE(validation.records_due(at(3'600'000), RoundId{1}, speed), std::uint64_t{64});
        QVERIFY(validation.points().empty());
    }

    void points_survive_a_restart_and_stay_few() {
        {
            Validation validation(manifest_of(), file("kept"));
            for (std::uint64_t round = 0; round < Validation::points_max + 1; ++round) {
                validation.begun(at(0), RoundId{round});
                validation.measured(at(0), 2.0 + static_cast<double>(round % 2), 5);
            }
            QCOMPARE(validation.points().size(), Validation::points_max / 2 + 1);
        }
        const Validation again(manifest_of(), file("kept"));
        QCOMPARE(again.points().size(), Validation::points_max / 2 + 1);
        QCOMPARE(again.points().back(), (ValidationPoint{RoundId{Validation::points_max}, 2.0, 5}));
    }

    void a_loss_that_is_no_number_is_not_kept() {
        Validation validation(manifest_of(), file("nan"));
        for (const double loss : {std::nan(""), std::numeric_limits<double>::infinity(), 0.0, -1.0}) {
            validation.begun(at(0), RoundId{1});
            validation.measured(at(0), loss, 5);
        }
        QVERIFY(validation.points().empty());
    }
};

QTEST_APPLESS_MAIN(ValidationTest)
#include "test_validation.moc"
