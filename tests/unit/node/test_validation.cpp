// When the validation loss is measured, and that it never costs more than it may.
#include <QTest>

#include "app/node/member/validation.h"

using namespace potluck;
using namespace potluck::node;

namespace {

run::Manifest manifest_of(std::int64_t window_ms = 60'000) {
    run::Manifest manifest;
    manifest.model.layers = 2;
    manifest.model.width = 128;
    manifest.model.context = 128;
    manifest.recipe.window = Duration{window_ms};
    manifest.recipe.measuring.every = 10;
    manifest.validation.records = 1000;
    manifest.validation.blob.size = 256'000;
    return manifest;
}

TimePoint at(std::int64_t milliseconds) { return {Duration{milliseconds}}; }
constexpr double speed = 10'000;

}  // namespace

class ValidationTest : public QObject {
    Q_OBJECT
private slots:
    void measurements_cost_at_most_a_fiftieth_of_the_time() {
        Validation validation(manifest_of());
        std::int64_t spent = 0;
        constexpr std::int64_t cost = 700, end = 3'600'000;
        for (std::int64_t now = 0; now < end; now += 100) {
            if (!validation.may_begin(at(now), speed)) continue;
            validation.begun(at(now));
            now += cost;
            validation.measured(at(now));
            spent += cost;
        }
        QVERIFY2(spent > 40 * cost, qPrintable(QString::number(spent)));
        QVERIFY2(spent <= end / 50 + 2 * cost, qPrintable(QString::number(spent)));
    }

    void the_same_records_are_measured_by_everybody() {
        QCOMPARE(Validation(manifest_of()).records(), std::uint64_t{64});  // 8,192 tokens
        QCOMPARE(Validation(manifest_of(1'000)).records(), std::uint64_t{64});
        run::Manifest without = manifest_of();
        without.recipe.measuring.every = 0;
        QCOMPARE(Validation(without).records(), std::uint64_t{0});
        QVERIFY(!Validation(without).may_begin(at(0), speed));
    }

    void a_computer_too_slow_for_a_quarter_of_the_window_measures_nothing() {
        // 8,192 tokens at twice the speed of training in 0.25 s of a window of 1 s.
        const Validation validation(manifest_of(1'000));
        QVERIFY(!validation.may_begin(at(0), 16'383.0));
        QVERIFY(validation.may_begin(at(0), 16'384.0));
        QVERIFY(!validation.may_begin(at(0), 0));
        // The last state may take ten seconds more.
        QVERIFY(!validation.may_begin(at(0), 399.0, true));
        QVERIFY(validation.may_begin(at(0), 400.0, true));
    }

    void a_large_model_is_measured_and_a_large_shard_not_fetched_for_it() {
        run::Manifest manifest = manifest_of();
        manifest.model.width = 4096;
        QVERIFY(Validation(manifest).may_begin(at(0), speed));
        manifest.validation.blob.size = Validation::shard_bytes_max;
        QVERIFY(Validation(manifest).is_worth_fetching());
        ++manifest.validation.blob.size;
        QVERIFY(!Validation(manifest).is_worth_fetching());
        QVERIFY(Validation(manifest).may_begin(at(0), speed));
    }

    void one_is_measured_at_a_time() {
        Validation validation(manifest_of());
        validation.begun(at(0));
        QVERIFY(!validation.may_begin(at(999'999), speed));
        validation.measured(at(2'000));
        QVERIFY(validation.may_begin(at(2'000), speed));  // the first one had the trainer's start in it
        validation.begun(at(2'000));
        validation.measured(at(2'100));
        QVERIFY(!validation.may_begin(at(7'099), speed));
        QVERIFY(validation.may_begin(at(7'100), speed));
    }

    /// Nothing trains any more. What failed there fails again.
    void the_last_state_does_not_wait_until_the_time_is_saved_up() {
        Validation validation(manifest_of());
        validation.begun(at(0));
        validation.measured(at(0));
        validation.begun(at(0));
        validation.measured(at(100));
        QVERIFY(!validation.may_begin(at(101), speed));
        QVERIFY(validation.may_begin(at(101), speed, true));
        validation.begun(at(101));
        QVERIFY(!validation.may_begin(at(102), speed, true));
        validation.failed(at(200));
        QVERIFY(!validation.may_begin(at(201), speed, true));
    }

    void a_failure_waits_an_hour_and_what_was_cancelled_two_seconds() {
        Validation validation(manifest_of());
        validation.begun(at(0));
        validation.cancelled(at(0));
        QVERIFY(!validation.may_begin(at(1'999), speed));
        QVERIFY(validation.may_begin(at(2'000), speed));
        validation.begun(at(0));
        validation.failed(at(0));
        QVERIFY(!validation.may_begin(at(3'599'999), speed));
        QVERIFY(validation.may_begin(at(3'600'000), speed));
    }
};

QTEST_APPLESS_MAIN(ValidationTest)
#include "test_validation.moc"
