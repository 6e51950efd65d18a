// What is found in a person's choices for a new run, and what they come to.
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>

#include "app/node/starting/chosen_run.h"
#include "core/data/pictures/picture_records.h"
#include "core/model/presets.h"

using namespace potluck;
using namespace potluck::node;
using control::ChoiceField;

namespace {

control::RunChoices choices() {
    control::RunChoices made;
    made.data = "/nowhere/at/all";
    made.model = "tiny";
    made.run_name = "Foxes";
    made.licence = "MIT";
    return made;
}

/// What is said about `place`; empty if nothing is.
std::string problem_of(const std::vector<control::ChoiceProblem>& problems, ChoiceField place) {
    const auto found = std::ranges::find(problems, place, &control::ChoiceProblem::place);
    return found == problems.end() ? std::string() : found->sentence;
}
std::string problem_of(const control::RunChoices& made, ChoiceField place) {
    return problem_of(look_at(made, {}).problems, place);
}

/// Two million bytes of text for a fresh model.
ChosenRun chosen(const char* preset = "tiny") {
    ChosenRun run;
    run.model = *model::model_preset(preset);
    run.data = {.bytes = 2'000'000, .files = 3, .tokens = 2'000'000};
    run.plan.recipe.window = run::usual_window(run.model->parameters());
    return run;
}

EstimateFacts facts(double tokens_per_second) {
    control::PlanReply plan;
    plan.device = "cpu";
    plan.tokens_per_second = tokens_per_second;
    plan.ram_peak = 5;
    return {.plan = plan, .disk_free = 1ULL << 40U};
}

}  // namespace

class ChosenRunTest : public QObject {
    Q_OBJECT
private slots:
    void each_choice_that_cannot_stand_is_named_data() {
        QTest::addColumn<int>("place");
        QTest::addColumn<QString>("field");
        QTest::addColumn<QString>("value");
        const auto row = [](const char* what, ChoiceField place, const char* field, const QString& value) {
            QTest::addRow("%s", what) << static_cast<int>(place) << QString(field) << value;
        };
        row("no name", ChoiceField::name, "name", {});
        row("a name of two lines", ChoiceField::name, "name", "a\nb");
        row("a name of 81 letters", ChoiceField::name, "name",
            QString(static_cast<int>(run::run_name_characters_max) + 1, 'a'));
        row("a purpose of 2,001 letters", ChoiceField::purpose, "purpose",
            QString(static_cast<int>(run::purpose_characters_max) + 1, 'a'));
        row("no licence", ChoiceField::licence, "licence", {});
        row("a licence of 121 letters", ChoiceField::licence, "licence",
            QString(static_cast<int>(run::licence_bytes_max) + 1, 'a'));
        row("a licence with a star", ChoiceField::licence, "licence", "MIT*");
        row("no such model", ChoiceField::model, "model", "huge");
        row("no data", ChoiceField::data, "data", {});
        row("data that is not there", ChoiceField::data, "data", "/nowhere/at/all");
        row("no such tokenizer", ChoiceField::tokenizer, "tokenizer", "/nowhere/at/all");
        row("no such checkpoint", ChoiceField::checkpoint, "checkpoint", "/nowhere/at/all");
    }
    void each_choice_that_cannot_stand_is_named() {
        QFETCH(const int, place);
        QFETCH(const QString, field);
        QFETCH(const QString, value);
        nlohmann::json object = to_json(choices());
        object[field.toStdString()] = value.toStdString();
        const auto made = control::read_as<control::RunChoices>(object);
        QVERIFY(made.ok());
        QVERIFY(!problem_of(*made, static_cast<ChoiceField>(place)).empty());
    }

    void pictures_go_with_a_picture_coder_and_text_with_none() {
        const QTemporaryDir folder;
        control::RunChoices made = choices();
        made.data_kind = control::DataKind::pictures;
        made.data = folder.path().toStdString();
        made.model = "coder-small";
        QVERIFY(!problem_of(made, ChoiceField::data).empty());  // none at all
        const auto put = [&](std::uint64_t number) {
            QFile file(folder.filePath(QString("%1.png").arg(number)));
            QVERIFY(file.open(QIODevice::WriteOnly) && file.write("12345") == 5);
        };
        for (std::uint64_t i = 1; i < data::pictures_min; ++i) put(i);
        QVERIFY(problem_of(made, ChoiceField::data).find("too few pictures (127)") != std::string::npos);
        put(0);
        const ChosenRun run = look_at(made, {});
        QVERIFY2(run.problems.empty(), run.problems.empty() ? "" : run.problems.front().sentence.c_str());
        QCOMPARE(run.data.bytes, 5 * data::pictures_min);
        QCOMPARE(run.data.tokens, data::pictures_min * run.model->context);
        QVERIFY(run.plan.pictures == made.data && run.plan.text.empty());
        made.model = "tiny";
        QVERIFY(problem_of(made, ChoiceField::model).find("coder-small") != std::string::npos);
        made.data_kind = control::DataKind::text;
        made.model = "coder-small";
        QVERIFY(problem_of(made, ChoiceField::model).find("choose those") != std::string::npos);
    }

    void each_preset_says_what_it_is_trained_on() {
        std::size_t of_pictures = 0;
        for (const control::ModelChoice& model : run_options().models) {
            if (model.data_kind == control::DataKind::pictures) ++of_pictures;
            QCOMPARE(model.data_kind == control::DataKind::pictures,
                     model.preset.starts_with("coder") || model.preset.starts_with("swav"));
        }
        QVERIFY(of_pictures > 1);
    }

    void a_jury_is_named_where_it_can_tell_work() {
        const auto usual = [](const char* preset) { return usual_jury_for(*model::model_preset(preset)); };
        QCOMPARE(usual("gpt2"), run::usual_jury);
        QCOMPARE(usual("albert-tiny"), run::usual_jury);
        QCOMPARE(usual("coder-small"), run::usual_jury);
        QCOMPARE(usual("dalle-emoji"), run::usual_jury);
        QCOMPARE(usual("swav-tiny"), 0.0);
        QCOMPARE(look_at(choices(), {}).plan.recipe.measuring.jury, run::usual_jury);
    }

    void a_run_that_is_chosen_in_the_window_has_coded_steps() {
        QVERIFY(look_at(choices(), {}).plan.recipe.outer.form == numerics::StepForm::coded);
    }

    void the_longest_words_stand() {
        control::RunChoices made = choices();
        made.run_name = std::string(run::run_name_characters_max, 'a');
        made.purpose = std::string(run::purpose_characters_max, 'a');
        made.licence = std::string(run::licence_bytes_max, 'a');
        const ChosenRun run = look_at(made, {});
        QCOMPARE(run.problems.size(), std::size_t{1});  // the data
        QVERIFY(run.problems.front().place == ChoiceField::data);
    }

    void a_list_of_keys_has_a_key_and_nothing_else() {
        control::RunChoices made = choices();
        made.admission = control::Admission::listed;
        QVERIFY(!problem_of(made, ChoiceField::allowed).empty());
        const std::string key(64, 'a');
        made.allowed = {key, key};
        QVERIFY(problem_of(made, ChoiceField::allowed).empty());
        QCOMPARE(look_at(made, {}).plan.allowed.size(), std::size_t{1});
        made.allowed.push_back(std::string(63, 'a'));
        QVERIFY(!problem_of(made, ChoiceField::allowed).empty());
        made.admission = control::Admission::anybody;
        QVERIFY(problem_of(made, ChoiceField::allowed).empty());
        QVERIFY(look_at(made, {}).plan.allowed.empty());
    }

    void tokens_without_a_tokenizer_need_a_count() {
        control::RunChoices made = choices();
        made.data_kind = control::DataKind::tokens;
        QVERIFY(!problem_of(made, ChoiceField::tokenizer).empty());
        made.vocabulary = 1000;
        QVERIFY(problem_of(made, ChoiceField::tokenizer).empty());
        QCOMPARE(look_at(made, {}).model->vocabulary, 1000U);
    }

    void bytes_are_the_tokens_of_text_without_a_tokenizer() {
        control::RunChoices made = choices();
        made.model = "gpt2";
        QCOMPARE(look_at(made, {}).model->vocabulary, 256U);
    }

    void a_checkpoint_is_trained_at_a_tenth_of_the_rate() {
        control::RunChoices made = choices();
        QCOMPARE(look_at(made, {}).plan.recipe.learning_rate, run::Recipe{}.learning_rate);
        made.checkpoint = "/nowhere/at/all";
        QCOMPARE(look_at(made, {}).plan.recipe.learning_rate, run::Recipe{}.learning_rate / 10);
        made.learning_rate = 0.5;
        QCOMPARE(look_at(made, {}).plan.recipe.learning_rate, 0.5);
    }

    void one_round_is_enough_for_a_recipe() {
        control::RunChoices made = choices();
        made.rounds = 1;
        const run::Recipe recipe = look_at(made, {}).plan.recipe;
        QCOMPARE(recipe.total_rounds, std::uint64_t{1});
        QVERIFY(run::Recipe::from_json(recipe.to_json()).ok());
    }

    void rounds_follow_from_tokens_and_speed() {
        const control::RunEstimate one =
            estimate_run(chosen(), {.choices = choices(), .volunteers = 1, .gpu = {}}, facts(1000));
        QCOMPARE(one.tokens, 20 * one.parameters);
        QCOMPARE(one.window_seconds, 5.0);
        QCOMPARE(one.rounds, (one.tokens + 4999) / 5000);
        QCOMPARE(one.days, static_cast<double>(one.rounds) * 5 / 86'400);
        const control::RunEstimate ten =
            estimate_run(chosen(), {.choices = choices(), .volunteers = 10, .gpu = {}}, facts(1000));
        QCOMPARE(ten.rounds, (ten.tokens + 49'999) / 50'000);
        QVERIFY(qFuzzyCompare(ten.days_here, one.days_here));
        // 4 steps of 8 x 128 tokens a round: ten members do a multiple of the work that one would have.
        const model::SwarmWorth worth = model::swarm_worth(10, 5000.0 / (8 * 128));
        QCOMPARE(ten.worth_low, worth.low);
        QCOMPARE(ten.worth_high, worth.high);
        QVERIFY(std::abs(static_cast<double>(ten.tokens) * worth.middle() / 10 - static_cast<double>(one.tokens)) < 2);
        QVERIFY(ten.days > one.days / 10 && ten.days < one.days);
    }

    void little_text_and_a_long_run_are_warned_of() {
        using Warnings = std::vector<control::PlanWarning>;
        control::EstimateRun question{.choices = choices(), .volunteers = 1, .gpu = {}};
        ChosenRun run = chosen();
        const std::uint64_t tokens = 20 * run.model->parameters();
        QCOMPARE(model::repeats_useful_max, 4.0);
        run.data.tokens = (tokens + 3) / 4;
        QVERIFY(estimate_run(run, question, facts(1000)).warnings.empty());
        run.data.tokens = tokens / 4 - 1;
        QCOMPARE(estimate_run(run, question, facts(1000)).warnings, Warnings{control::PlanWarning::repeats});
        question.choices.data_kind = control::DataKind::pictures;
        QVERIFY(estimate_run(run, question, facts(1000)).warnings.empty());
        question.choices.rounds = static_cast<std::uint64_t>(model::days_planned_max * 86'400 / 5);
        QVERIFY(estimate_run(run, question, facts(1000)).warnings.empty());
        ++question.choices.rounds;
        QCOMPARE(estimate_run(run, question, facts(1000)).warnings, Warnings{control::PlanWarning::length});
    }

    void a_run_is_never_planned_shorter_than_a_schedule_needs() {
        const auto fast =
            estimate_run(chosen(), {.choices = choices(), .volunteers = 1000, .gpu = "H100"}, facts(1000));
        QCOMPARE(fast.rounds, std::uint64_t{100});
    }

    void rounds_that_were_chosen_give_the_tokens() {
        control::RunChoices made = choices();
        made.rounds = 7;
        const auto estimate = estimate_run(chosen(), {.choices = made, .volunteers = 2, .gpu = {}}, facts(1000));
        QCOMPARE(estimate.rounds, std::uint64_t{7});
        QCOMPARE(estimate.tokens, std::uint64_t{7 * 5 * 2 * 1000});
    }

    void electricity_is_of_the_gpus_while_the_rounds_last() {
        const auto estimate = estimate_run(
            chosen("gpt2"), {.choices = choices(), .volunteers = 50, .gpu = "RTX 3060", .price_per_kilowatt_hour = 0.5},
            facts(0));
        QVERIFY(qFuzzyCompare(estimate.kilowatt_hours, 50 * 170 * estimate.days * 24 / 1000));
        QVERIFY(qFuzzyCompare(estimate.price, estimate.kilowatt_hours / 2));
        QCOMPARE(estimate.days_here, 0.0);
    }

    void without_a_speed_nothing_is_said_of_time() {
        const auto estimate = estimate_run(chosen(), {.choices = choices(), .gpu = {}}, {});
        QCOMPARE(estimate.rounds, std::uint64_t{0});
        QCOMPARE(estimate.days, 0.0);
        QCOMPARE(estimate.kilowatt_hours, 0.0);
    }

    void an_unknown_gpu_is_a_problem_of_its_own() {
        const auto estimate = estimate_run(chosen(), {.choices = choices(), .gpu = "Abacus"}, facts(1000));
        QVERIFY(!problem_of(estimate.problems, ChoiceField::gpu).empty());
    }

    void a_full_disk_is_told_before_anything_is_made() {
        EstimateFacts known = facts(1000);
        const auto room = estimate_run(chosen(), {.choices = choices(), .gpu = {}}, known);
        QVERIFY(problem_of(room.problems, ChoiceField::disk).empty());
        known.disk_free = room.disk;
        QVERIFY(problem_of(estimate_run(chosen(), {.choices = choices(), .gpu = {}}, known).problems, ChoiceField::disk)
                    .empty());
        known.disk_free = room.disk - 1;
        QVERIFY(
            !problem_of(estimate_run(chosen(), {.choices = choices(), .gpu = {}}, known).problems, ChoiceField::disk)
                 .empty());
    }

    void every_preset_and_gpu_may_be_chosen() {
        const control::RunOptions options = run_options();
        QVERIFY(options.models.size() >= 10 && options.models.size() <= control::choices_max);
        QVERIFY(options.gpus.size() >= 10 && options.gpus.size() <= control::choices_max);
        for (const control::ModelChoice& model : options.models) QVERIFY(model.parameters > 0 && model.context > 0);
    }

    void requests_out_of_bounds_are_refused() {
        const nlohmann::json good = to_json(control::EstimateRun{.choices = choices(), .gpu = {}});
        QVERIFY(control::read_as<control::EstimateRun>(good).ok());
        const auto refuses = [&](const char* pointer, const nlohmann::json& value) {
            nlohmann::json object = good;
            object[nlohmann::json::json_pointer(pointer)] = value;
            return !control::read_as<control::EstimateRun>(object).ok();
        };
        QVERIFY(refuses("/volunteers", 0));
        QVERIFY(refuses("/volunteers", 1'000'001));
        QVERIFY(refuses("/price_per_kilowatt_hour", -0.1));
        QVERIFY(refuses("/choices/data", std::string(4097, 'a')));
        QVERIFY(refuses("/choices/rounds", 1'000'000'001));
        QVERIFY(refuses("/choices/window_seconds", 7 * 24 * 3600 + 1));
        QVERIFY(refuses("/choices/vocabulary", 65'537));
        QVERIFY(refuses("/choices/learning_rate", 1.1));
        QVERIFY(refuses("/choices/allowed", std::vector<std::string>(4097, std::string(64, 'a'))));
        QVERIFY(refuses("/choices/optimizer", "sgd"));
    }
};

QTEST_GUILESS_MAIN(ChosenRunTest)
#include "test_chosen_run.moc"
