#include <QTest>

#include <cmath>
#include <limits>

#include "core/base/json.h"
#include "core/model/presets.h"
#include "core/run/recipe.h"

using namespace potluck;
using namespace potluck::run;

class RecipeTest : public QObject {
    Q_OBJECT
private slots:
    void a_recipe_survives_its_json() {
        Recipe recipe;
        recipe.learning_rate = 0.00123456789012345;
        recipe.window = Duration(1'500);
        recipe.seed = std::numeric_limits<std::uint64_t>::max();
        recipe.error_decay = 0.9F;
        recipe.optimizer = Optimizer::lamb;
        recipe.state_bits = 32;
        recipe.epsilon = 1e-6;
        recipe.fit_rounds = 3;
        recipe.rounds_late_max = 1;
        recipe.table_every = 4;
        recipe.probation_rounds = 0;
        recipe.probation_time = Duration(7'200'000);
        recipe.probation_tokens = 5;
        recipe.strangers.newcomer_rms = 0.25;
        recipe.strangers.unvouched_share = 0.5;
        const Result<nlohmann::json> json = parse_json(recipe.to_json().dump(), 4'096);
        QVERIFY(json.ok());
        const Result<Recipe> parsed = Recipe::from_json(*json);
        QVERIFY(parsed.ok());
        QVERIFY(*parsed == recipe);
    }

    void every_optimizer_has_a_name_that_is_read_back() {
        for (const char* name : {"adamw", "lamb", "muon"}) {
            Recipe recipe;
            recipe.optimizer = optimizer_named(name).value();
            QCOMPARE(recipe.to_json()["optimizer"].get<std::string>(), std::string(name));
            QVERIFY(Recipe::from_json(recipe.to_json()).value() == recipe);
        }
        QVERIFY(!optimizer_named("sgd"));
    }

    void lambs_debiasing_is_stated_where_it_differs_from_the_paper() {
        Recipe recipe;
        recipe.optimizer = Optimizer::lamb;
        QVERIFY(!recipe.to_json().contains("lamb_debias"));
        for (const char* name : {"rate", "none"}) {
            recipe.lamb_debias = lamb_debias_named(name).value();
            QCOMPARE(recipe.to_json()["lamb_debias"].get<std::string>(), std::string(name));
            QVERIFY(Recipe::from_json(recipe.to_json()).value() == recipe);
        }
        recipe.optimizer = Optimizer::adamw;
        QVERIFY(!Recipe::from_json(recipe.to_json()));
        nlohmann::json unknown = Recipe{}.to_json();
        unknown["optimizer"] = "lamb";
        unknown["lamb_debias"] = "gradient";
        QVERIFY(!Recipe::from_json(unknown));
    }

    void a_step_that_is_coded_is_named() {
        Recipe recipe;
        QVERIFY(!recipe.to_json().contains("step"));
        QVERIFY(recipe.outer.form == potluck::numerics::StepForm::exact);
        recipe.outer.form = step_form_named("coded").value();
        QCOMPARE(recipe.to_json()["step"].get<std::string>(), std::string("coded"));
        QVERIFY(Recipe::from_json(recipe.to_json()).value() == recipe);
        QVERIFY(recipe.outer.form == potluck::numerics::StepForm::coded);
        nlohmann::json unknown = recipe.to_json();
        unknown["step"] = "rounded";
        QVERIFY(!Recipe::from_json(unknown));
    }

    void a_rule_other_than_the_mean_is_named() {
        Recipe recipe;
        QVERIFY(!recipe.to_json().contains("robust"));
        QVERIFY(recipe.outer.robust == potluck::numerics::RobustRule::mean);
        recipe.outer.robust = robust_rule_named("centered_clip").value();
        QCOMPARE(recipe.to_json()["robust"].get<std::string>(), std::string("centered_clip"));
        QVERIFY(Recipe::from_json(recipe.to_json()).value() == recipe);
        QVERIFY(recipe.outer.robust == potluck::numerics::RobustRule::centered_clip);
        nlohmann::json unknown = recipe.to_json();
        unknown["robust"] = "median";
        QVERIFY(!Recipe::from_json(unknown));
    }

    void the_usual_rate_follows_model_optimizer_and_batch() {
        const auto rate = [](const char* preset, std::uint32_t batch, Optimizer optimizer = Optimizer::adamw) {
            Recipe recipe;
            recipe.batch = batch;
            recipe.optimizer = optimizer;
            return usual_learning_rate(model::model_preset(preset).value(), recipe);
        };
        QCOMPARE(rate("tiny", 8), 3e-3);
        QCOMPARE(rate("tiny", 8, Optimizer::muon), 6e-3);
        QCOMPARE(rate("albert-tiny", 8), 1e-3);
        QCOMPARE(rate("swav-tiny", 64), 1e-3);
        QCOMPARE(rate("albert-large", 4'096), 0.00176);
        QVERIFY(std::fabs(rate("albert-large", 32) - 1.56e-4) < 1e-6);
    }

    void a_batch_is_a_multiple_of_what_a_model_computes_together() {
        const model::ModelSpec swav = model::model_preset("swav-tiny").value();
        QCOMPARE(fitting_batch(swav, 8), 64U);
        QCOMPARE(fitting_batch(swav, 64), 64U);
        QCOMPARE(fitting_batch(swav, 65), 128U);
        QCOMPARE(fitting_batch(model::ModelSpec{}, 7), 7U);
    }

    void the_usual_window_is_ten_times_what_an_exchange_takes() {
        QCOMPARE(usual_window(1).count(), usual_window_min.count());
        QCOMPARE(usual_window(826'752).count(), usual_window_min.count());  // what `host` makes by default
        QCOMPARE(usual_window(10'000'000).count(), Duration(30'500).count());
        QCOMPARE(usual_window(20'000'000).count(), Recipe{}.window.count());
        // Sixteen members of whom each sends 0.149 bits per parameter (2.3 MB) to fifteen.
        const auto gpt2 = static_cast<double>(usual_window(124'439'808).count());
        QVERIFY(std::abs(gpt2 - 10 * 15 * 0.149 * 124'439'808 / 1e4) < 0.01 * gpt2);
        QVERIFY(usual_window(1'500'000'000) < usual_window_max);
        QCOMPARE(usual_window(1'700'000'000).count(), usual_window_max.count());
        QCOMPARE(usual_window(std::numeric_limits<std::uint64_t>::max()).count(), usual_window_max.count());
    }

    void a_probation_takes_rounds_and_their_time_and_credit() {
        Recipe recipe;  // windows of a minute
        QVERIFY(!recipe.ends_probation(9, {1'000}) && recipe.ends_probation(10, {0}));
        QVERIFY(!recipe.to_json().contains("probation_ms") && !recipe.to_json().contains("probation_tokens"));
        recipe.probation_time = Duration(900'001);
        QVERIFY(!recipe.ends_probation(15, {0}) && recipe.ends_probation(16, {0}));
        recipe.probation_tokens = 500;
        QVERIFY(!recipe.ends_probation(16, {499}) && recipe.ends_probation(16, {500}));
        QVERIFY(recipe.ends_probation(std::numeric_limits<std::uint64_t>::max(), {500}));
        recipe.window = Duration(5'000);
        QVERIFY(!recipe.ends_probation(180, {500}) && recipe.ends_probation(181, {500}));
    }

    void a_recipe_names_a_jury_where_it_has_one() {
        Recipe recipe;
        QVERIFY(!recipe.to_json().contains("jury"));
        for (const double share : {1e-4, usual_jury, 0.5}) {
            recipe.measuring.jury = share;
            const Result<Recipe> read = Recipe::from_json(recipe.to_json());
            QVERIFY(read.ok() && *read == recipe);
        }
    }

    void a_recipe_without_limits_for_strangers_bounds_no_list() {
        Recipe recipe;
        QVERIFY(!recipe.bounds_rule());
        QVERIFY(!recipe.to_json().contains("newcomer_rms") && !recipe.to_json().contains("unvouched_share"));
        QCOMPARE(recipe.newcomers_norm(Bounds{.norm = 3}, 4), 0.0);
        recipe.strangers.unvouched_share = 0.4995;
        QCOMPARE(recipe.bounds_rule()->unvouched, 500U);
        QCOMPARE(recipe.newcomers_norm(Bounds{.norm = 3}, 4), 0.0);
        recipe.strangers.unvouched_share = 1;
        recipe.strangers.newcomer_rms = 0.5;
        QCOMPARE(recipe.bounds_rule()->unvouched, Bounds::whole);
        QCOMPARE(recipe.bounds_rule()->claim, std::uint64_t{1});
        QCOMPARE(recipe.newcomers_norm(Bounds{}, 4), 1.0);
        QCOMPARE(recipe.newcomers_norm(Bounds{.norm = 3}, 4), 3.0);
        QCOMPARE(recipe.newcomers_norm(std::nullopt, 4), 0.0);
        recipe.probation_tokens = 5'120;  // of ten rounds
        QCOMPARE(recipe.bounds_rule()->claim, std::uint64_t{512});
        recipe.learning_rate = 0.25;
        QCOMPARE(usual_newcomer_rms(recipe), 16.0);
    }

    void the_usual_credit_of_a_probation_is_a_step_a_round() {
        Recipe recipe;
        recipe.batch = 8;
        recipe.probation_rounds = 10;
        model::ModelSpec model;
        model.context = 64;
        QCOMPARE(usual_probation_tokens(model, recipe), std::uint64_t{8 * 64 * 10});
        recipe.batch = 65'536;
        recipe.probation_rounds = 10'000;
        model.context = 196'608;
        QCOMPARE(usual_probation_tokens(model, recipe), std::uint64_t{1} << 40U);
    }

    void patience_is_twice_what_contributions_are_to_take() {
        QCOMPARE(usual_collect(Duration{5'000}).count(), Recipe{}.collect.count());
        QCOMPARE(usual_collect(Duration{300'000}).count(), Duration{60'000}.count());
        // The longest window that a recipe may have.
        Recipe recipe;
        recipe.window = Duration{7LL * 24 * 3600 * 1000};
        recipe.collect = usual_collect(recipe.window);
        QVERIFY(Recipe::from_json(recipe.to_json()).ok());
    }

    void every_so_many_lists_and_the_last_have_a_table() {
        Recipe recipe;
        recipe.table_every = 4;
        recipe.total_rounds = 10;
        // A newcomer begins with the list before one with a table: table_every_min is 2.
        std::vector<std::uint64_t> with;
        for (std::uint64_t round = 0; round <= 10; ++round) {
            if (recipe.has_table(RoundId{round})) with.push_back(round);
        }
        QVERIFY(with == (std::vector<std::uint64_t>{4, 8, 10}));
    }

    void a_field_out_of_range_is_named_data() {
        QTest::addColumn<QString>("field");
        QTest::addColumn<QString>("value");
        for (const auto& [field, value] :
             std::vector<std::pair<const char*, const char*>>{{"optimizer", "\"sgd\""},
                                                              {"optimizer", "8"},
                                                              {"state_bits", "16"},
                                                              {"state_bits", "4"},
                                                              {"state_bits", "64"},
                                                              {"epsilon", "0"},
                                                              {"epsilon", "1.5"},
                                                              {"learning_rate", "0"},
                                                              {"learning_rate", "10.5"},
                                                              {"learning_rate", "\"1\""},
                                                              {"final_fraction", "-0.1"},
                                                              {"final_fraction", "1.1"},
                                                              {"beta1", "1"},
                                                              {"beta2", "1"},
                                                              {"weight_decay", "-1"},
                                                              {"clip_norm", "0"},
                                                              {"batch", "0"},
                                                              {"batch", "65537"},
                                                              {"warmup_rounds", "-1"},
                                                              {"warmup_rounds", "1001"},
                                                              {"total_rounds", "0"},
                                                              {"total_rounds", "1000000001"},
                                                              {"window_ms", "0"},
                                                              {"window_ms", "604800001"},
                                                              {"table_every", "1"},
                                                              {"table_every", "1000000001"},
                                                              {"k", "0"},
                                                              {"k", "4097"},
                                                              {"k_max", "63"},
                                                              {"k_max", "4097"},
                                                              {"error_decay", "1.5"},
                                                              {"alpha", "0"},
                                                              {"alpha", "11"},
                                                              {"amplification", "0"},
                                                              {"checkpoint_every", "0"},
                                                              {"collect_ms", "0"},
                                                              {"grace_ms", "86400001"},
                                                              {"fit_rounds", "0"},
                                                              {"fit_rounds", "0.5"},
                                                              {"probation_rounds", "-1"},
                                                              {"probation_rounds", "10001"},
                                                              {"probation_ms", "0"},
                                                              {"probation_tokens", "0"},
                                                              {"newcomer_rms", "0"},
                                                              {"unvouched_share", "-0.1"},
                                                              {"jury", "0.00009"},  // jury_share_min
                                                              {"jury", "0.51"},     // jury_share_max
                                                              {"rounds_late_max", "2"},
                                                              {"seed", "-1"},
                                                              {"seed", "0.5"},
                                                              {"mode", "\"dense\""}}) {
            QTest::addRow("%s=%s", field, value) << QString(field) << QString(value);
        }
    }
    void a_field_out_of_range_is_named() {
        QFETCH(const QString, field);
        QFETCH(const QString, value);
        nlohmann::json object = Recipe{}.to_json();
        object[field.toStdString()] = nlohmann::json::parse(value.toStdString());
        const Result<Recipe> parsed = Recipe::from_json(object);
        QVERIFY(!parsed.ok());
        const std::string named = '"' + field.toStdString() + '"';
        QVERIFY2(parsed.error().message.find(named) != std::string::npos, parsed.error().message.c_str());
    }

    void every_range_ends_where_the_document_says_data() {
        QTest::addColumn<QString>("field");
        QTest::addColumn<QString>("value");
        QTest::addColumn<bool>("fits");
        // The least, the largest, and the next value beyond either; the ranges of docs/wire-format.md.
        struct Range {
            const char *field, *below, *least, *largest, *above;
        };
        for (const Range& range : std::vector<Range>{
                 {"epsilon", "0.99e-15", "1e-15", "1", "1.0000000000000002"},
                 {"learning_rate", "0.99e-9", "1e-9", "10", "10.000000000000002"},
                 {"final_fraction", "-5e-324", "0", "1", "1.0000000000000002"},
                 {"beta1", "-5e-324", "0", "0.999999", "0.9999990000000002"},
                 {"beta2", "-5e-324", "0", "0.999999", "0.9999990000000002"},
                 {"weight_decay", "-5e-324", "0", "10", "10.000000000000002"},
                 {"clip_norm", "0.99e-6", "1e-6", "1e6", "1000000.0000000001"},
                 {"batch", "0", "1", "65536", "65537"},
                 {"warmup_rounds", "-1", "0", "1000", "1001"},            // total_rounds of this recipe
                 {"total_rounds", "1", "2", "1000000000", "1000000001"},  // total_rounds_max; warmup_rounds is 2
                 {"window_ms", "0", "1", "604800000", "604800001"},       // window_ms_max: seven days
                 {"k", "0", "1", "4096", "4097"},                         // sent_max
                 {"error_decay", "-5e-324", "0", "1", "1.0000000000000002"},
                 {"alpha", "0.99e-6", "1e-6", "10", "10.000000000000002"},
                 {"amplification", "0", "1", "4096", "4097"},
                 {"checkpoint_every", "0", "1", "1000000000", "1000000001"},
                 {"collect_ms", "0", "1", "86400000", "86400001"},  // patience_ms_max: a day
                 {"grace_ms", "0", "1", "86400000", "86400001"},
                 {"fit_rounds", "0", "1", "10000", "10001"},  // standing_rounds_max
                 {"probation_rounds", "-1", "0", "10000", "10001"},
                 {"probation_ms", "0", "1", "2592000000", "2592000001"},            // probation_ms_max: thirty days
                 {"probation_tokens", "0", "1", "1099511627776", "1099511627777"},  // probation_tokens_max
                 {"newcomer_rms", "0.99e-9", "1e-9", "1000", "1000.0000000000001"},
                 {"unvouched_share", "-5e-324", "0", "0.999", "0.9990000000000001"},  // unvouched_share_max
                 {"rounds_late_max", "-1", "0", "1", "2"},
                 {"seed", "-1", "0", "18446744073709551615", "18446744073709551616"}}) {
            for (const auto& [value, fits] : {std::pair{range.below, false}, std::pair{range.least, true},
                                              std::pair{range.largest, true}, std::pair{range.above, false}}) {
                QTest::addRow("%s=%s", range.field, value) << QString(range.field) << QString(value) << fits;
            }
        }
    }
    void every_range_ends_where_the_document_says() {
        QFETCH(const QString, field);
        QFETCH(const QString, value);
        QFETCH(const bool, fits);
        nlohmann::json object = Recipe{}.to_json();
        object[field.toStdString()] = nlohmann::json::parse(value.toStdString());
        const Result<Recipe> parsed = Recipe::from_json(object);
        QCOMPARE(parsed.ok(), fits);
    }

    void a_missing_field_is_named() {
        const nlohmann::json whole = Recipe{}.to_json();
        for (const auto& [name, value] : whole.items()) {
            nlohmann::json object = whole;
            object.erase(name);
            const Result<Recipe> parsed = Recipe::from_json(object);
            QVERIFY(!parsed.ok());
            QVERIFY(parsed.error().message.find(name) != std::string::npos);
        }
    }

    void the_learning_rate_is_a_triangle_over_rounds() {
        Recipe recipe;
        recipe.learning_rate = 0.3;
        recipe.final_fraction = 0.1;
        recipe.warmup_rounds = 2;
        recipe.total_rounds = 12;
        const auto close_to = [&](std::uint64_t round, double rate) {
            return std::abs(learning_rate_at(recipe, round) - rate) < 1e-15;
        };
        QVERIFY(close_to(0, 0.1));
        QVERIFY(close_to(1, 0.2));
        QVERIFY(close_to(2, 0.3));
        QVERIFY(close_to(7, 0.165));  // half-way from 0.3 down to 0.03
        QVERIFY(close_to(12, 0.03));
        QVERIFY(close_to(1'000'000, 0.03));
    }

    void the_learning_rate_never_jumps_whatever_the_warm_up() {
        for (const std::uint64_t warmup : {0, 1, 5, 50}) {
            Recipe recipe;
            recipe.warmup_rounds = warmup;
            recipe.total_rounds = 50;
            for (std::uint64_t round = 0; round < 60; ++round) {
                const double rate = learning_rate_at(recipe, round);
                QVERIFY(rate > 0 && rate <= recipe.learning_rate);
                if (round >= warmup) QVERIFY(learning_rate_at(recipe, round + 1) <= rate);
                if (round + 1 < warmup) QVERIFY(learning_rate_at(recipe, round + 1) > rate);
            }
        }
    }
};

QTEST_APPLESS_MAIN(RecipeTest)
#include "test_recipe.moc"
