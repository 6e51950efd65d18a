// Each choice is looked at by itself, so that one that cannot stand hides none of the others. What the estimate is made
// of:
//
//   wanted  = what was asked for, else 20 for each parameter: as many as one computer would train on
//   speed   = volunteers x (their GPU's operations per second x the share of them that training reaches
//                           / operations per token, or this computer's own speed)
//   worth   = computers training alone that the volunteers are worth, as measured (core/model/cost_model.h)
//   tokens  = wanted x volunteers / worth: what the volunteers train on to get as far
//   rounds  = tokens / (speed x window), unless the person has chosen them: then tokens = rounds x speed x window
//   disk    = twice the data's tokens while they are shuffled, and the states that a member keeps
//
// Threads: functions of values and of the disk.
#include "app/node/starting/chosen_run.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <system_error>

#include "app/node/member/view.h"
#include "app/node/models/checkpoint_folder.h"
#include "app/node/session/settings.h"
#include "core/base/text.h"
#include "core/data/pictures/picture_folder.h"
#include "core/data/pictures/picture_records.h"
#include "core/data/text_source.h"
#include "core/data/tokenizer.h"
#include "core/model/presets.h"
#include "core/model/traits.h"
#include "core/run/plain_text.h"

namespace potluck::node {

namespace {

namespace fs = std::filesystem;
using control::ChoiceField;

constexpr double seconds_per_day = 86'400;
constexpr std::uint64_t token_bytes = 2;
constexpr double fine_tuning_rate = 0.1;    // of the recipe's: at the full one a trained model unlearns first
constexpr double rounds_planned_min = 100;  // with fewer the learning rate has no time to rise and fall
constexpr std::uint64_t bytes_per_gigabyte = 1'000'000'000;

Error no_such_data(const std::string& path) {
    return {ErrorCode::not_found, "There is no file or folder " + path + "; choose another."};
}

/// The files of text as scan_text() takes them, by their sizes alone.
Result<DataSize> measure_text(const fs::path& path, const std::stop_token& stop) {
    DataSize size;
    std::error_code unknown;
    if (fs::is_regular_file(path, unknown)) {
        size.bytes = fs::file_size(path, unknown);
        size.files = 1;
        return size;
    }
    if (!fs::is_directory(path, unknown)) return no_such_data(path.string());
    fs::recursive_directory_iterator entry(path, fs::directory_options::skip_permission_denied, unknown), end;
    for (; !unknown && entry != end && size.files < data::text_files_max; entry.increment(unknown)) {
        std::error_code gone;
        if (stop.stop_requested()) break;
        const bool hidden = entry->path().filename().string().starts_with('.');
        if (hidden || entry->is_symlink(gone) || entry.depth() >= data::folder_depth_max) {
            entry.disable_recursion_pending();
        } else if (entry->is_regular_file(gone)) {
            size.bytes += entry->file_size(gone);
            ++size.files;
        }
    }
    return size;
}

Result<DataSize> measure_tokens(const fs::path& path) {
    std::error_code unknown;
    if (!fs::exists(path, unknown)) return no_such_data(path.string());
    const auto files = data::find_token_files(path);
    if (!files) return files.error();
    DataSize size;
    for (const auto& part : {files->training, files->validation}) {
        for (const fs::path& file : part) size.bytes += fs::file_size(file, unknown);
        size.files += part.size();
    }
    size.tokens = size.bytes / token_bytes;
    return size;
}

Result<DataSize> measure_pictures(const fs::path& folder) {
    const auto found = data::PictureFolder::open(folder);
    if (!found) return found.error();
    DataSize size;
    size.bytes = found->bytes();
    size.files = found->size();
    return size;
}

class Look {
public:
    Look(const control::RunChoices& choices, const std::stop_token& stop) : m_choices(choices), m_stop(stop) {}

    ChosenRun whole() {
        words();
        members();
        look_at_data();
        checkpoint();
        tokenizer();
        model();
        recipe();
        return std::move(m_chosen);
    }

private:
    void problem(ChoiceField place, std::string sentence) {
        m_chosen.problems.push_back({place, std::string(utf8_prefix(sentence, control::text_bytes_max))});
    }
    void words();
    void members();
    void look_at_data();
    void checkpoint();
    void tokenizer();
    void model();
    void recipe();

    const control::RunChoices& m_choices;
    const std::stop_token& m_stop;
    ChosenRun m_chosen;
    std::optional<CheckpointFolder> m_checkpoint;
    std::uint32_t m_vocabulary = 0;  // 0: unknown
    bool m_bytes = false;            // a token is a byte
};

void Look::words() {
    HostPlan& plan = m_chosen.plan;
    plan.name = m_choices.run_name;
    plan.purpose = m_choices.purpose;
    plan.licence = m_choices.licence;
    const auto name = run::plain_text_length(plan.name, run::LineBreaks::refused);
    if (plan.name.empty()) {
        problem(ChoiceField::name, "Give the run a name.");
    } else if (!name || *name > run::run_name_characters_max) {
        problem(ChoiceField::name, "The name is one line of at most 80 characters.");
    }
    const auto purpose = run::plain_text_length(plan.purpose, run::LineBreaks::allowed);
    if (!purpose || *purpose > run::purpose_characters_max)
        problem(ChoiceField::purpose, "The purpose is text of at most 2,000 characters.");
    if (!run::is_licence(plan.licence))
        problem(ChoiceField::licence, "The licence is an SPDX expression, for example Apache-2.0 or CC-BY-4.0.");
    const Announcing told{.language = m_choices.language, .page = m_choices.page};
    if (const Status sound = told.check(); !sound) problem(ChoiceField::page, sound.error().message);
}

void Look::members() {
    if (m_choices.admission == control::Admission::anybody) return;
    std::set<PeerId> keys;
    for (const std::string& text : m_choices.allowed) {
        const auto key = PeerId::parse(text);
        if (!key) {
            return problem(ChoiceField::allowed, "A key is 64 hexadecimal digits, as Settings shows it; \"" +
                                                     printable_ascii(text, 80) + "\" is none.");
        }
        keys.insert(*key);
    }
    if (keys.empty()) return problem(ChoiceField::allowed, "List at least one key, or let anybody join.");
    m_chosen.plan.allowed.assign(keys.begin(), keys.end());
}

void Look::look_at_data() {
    HostPlan& plan = m_chosen.plan;
    const control::DataKind kind = m_choices.data_kind;
    const bool tokens = kind == control::DataKind::tokens, pictures = kind == control::DataKind::pictures;
    (pictures ? plan.pictures : tokens ? plan.tokens : plan.text) = m_choices.data;
    if (m_choices.data.empty()) return problem(ChoiceField::data, "Choose what to train on.");
    const auto size = pictures ? measure_pictures(m_choices.data)
                      : tokens ? measure_tokens(m_choices.data)
                               : measure_text(m_choices.data, m_stop);
    if (!size) return problem(ChoiceField::data, size.error().message);
    m_chosen.data = *size;
    if (pictures && size->files < data::pictures_min) {
        return problem(ChoiceField::data, "There are too few pictures (" + std::to_string(size->files) +
                                              "); choose a folder of at least " + std::to_string(data::pictures_min) +
                                              ".");
    }
    if (kind != control::DataKind::text || size->bytes >= data::text_bytes_min) return;
    problem(ChoiceField::data, "There is too little text (" + std::to_string(size->bytes / 1000) +
                                   " kB); choose at least " + std::to_string(data::text_bytes_min / 1000) + " kB.");
}

void Look::checkpoint() {
    m_chosen.plan.from = m_choices.checkpoint;
    if (m_choices.checkpoint.empty()) return;
    auto opened = CheckpointFolder::open(m_choices.checkpoint);
    if (!opened) return problem(ChoiceField::checkpoint, opened.error().message);
    m_checkpoint = *std::move(opened);
}

void Look::tokenizer() {
    if (m_choices.data_kind == control::DataKind::pictures) return;  // their values are the tokens
    m_chosen.plan.tokenizer = m_choices.tokenizer;
    m_chosen.plan.vocabulary = m_choices.vocabulary;
    const bool own = m_choices.tokenizer.empty() && m_checkpoint;
    const bool tokens = m_choices.data_kind == control::DataKind::tokens;
    if (m_choices.tokenizer.empty() && !m_checkpoint && tokens) {
        m_vocabulary = m_choices.vocabulary;
        if (m_vocabulary == 0)
            problem(ChoiceField::tokenizer, "Choose the tokenizer that made the tokens, or say how many there are.");
        return;
    }
    const auto files = data::find_tokenizer(own ? fs::path(m_choices.checkpoint) : fs::path(m_choices.tokenizer));
    const auto opened = files ? data::Tokenizer::open(*files) : files.error();
    if (opened) {
        m_bytes = files->kind == run::TokenizerKind::bytes;
        m_vocabulary = std::max(m_choices.vocabulary, opened->vocabulary());
    } else if (own) {
        m_vocabulary = m_checkpoint->model().vocabulary;  // host_run() says whether it can do without
    } else {
        problem(ChoiceField::tokenizer, opened.error().message);
    }
}

void Look::model() {
    if (m_choices.data_kind == control::DataKind::text)
        m_chosen.data.tokens = m_chosen.data.bytes / (m_bytes ? 1 : text_bytes_per_token);
    if (m_checkpoint) {
        m_chosen.plan.model.context = m_choices.context;
        m_chosen.model = m_checkpoint->model();
    } else if (m_choices.checkpoint.empty()) {
        const auto preset = model::model_preset(m_choices.model);
        if (!preset) return problem(ChoiceField::model, preset.error().message);
        m_chosen.model = *preset;
        if (m_vocabulary > 0) m_chosen.model->vocabulary = m_vocabulary;
    } else {
        return;
    }
    const bool alone = model::reads_pictures(*m_chosen.model);
    if (alone != (m_choices.data_kind == control::DataKind::pictures)) {
        const std::string title = model::family_title(*m_chosen.model);
        m_chosen.model.reset();
        return problem(m_checkpoint ? ChoiceField::checkpoint : ChoiceField::model,
                       alone
                           ? "A model of the kind " + title + " is trained on pictures; choose those, or another model."
                           : "Pictures train a " + model::titles_of(model::reads_pictures) +
                                 "; choose one, for example " + model::presets_of(model::reads_pictures) + ".");
    }
    if (m_choices.context > 0) m_chosen.model->context = m_choices.context;
    const auto checked = model::ModelSpec::from_json(m_chosen.model->to_json());
    if (!checked) {
        m_chosen.model.reset();
        return problem(ChoiceField::model, checked.error().message);
    }
    if (m_choices.data_kind == control::DataKind::pictures)
        m_chosen.data.tokens = m_chosen.data.files * m_chosen.model->context;
    if (!m_checkpoint) m_chosen.plan.model = *m_chosen.model;
}

void Look::recipe() {
    run::Recipe& recipe = m_chosen.plan.recipe;
    recipe.probation_time = run::usual_probation_time;
    recipe.optimizer = m_choices.optimizer;
    if (m_choices.batch > 0) recipe.batch = m_choices.batch;
    if (m_chosen.model) recipe.batch = run::fitting_batch(*m_chosen.model, recipe.batch);
    if (m_chosen.model) recipe.learning_rate = run::usual_learning_rate(*m_chosen.model, recipe);
    if (!m_choices.checkpoint.empty()) recipe.learning_rate *= fine_tuning_rate;
    if (m_choices.learning_rate > 0) recipe.learning_rate = m_choices.learning_rate;
    recipe.outer.form = usual_step;
    recipe.strangers.newcomer_rms = run::usual_newcomer_rms(recipe);
    if (m_chosen.model) recipe.measuring.jury = usual_jury_for(*m_chosen.model);
    if (m_choices.rounds > 0) recipe.total_rounds = m_choices.rounds;
    recipe.warmup_rounds = std::min(recipe.warmup_rounds, recipe.total_rounds);
    const bool by_size = m_choices.window_seconds == 0;
    m_chosen.plan.window = by_size ? HostPlan::Window::by_size : HostPlan::Window::of_recipe;
    m_chosen.plan.patience = HostPlan::Patience::by_window;
    if (!by_size) recipe.window = std::chrono::seconds(m_choices.window_seconds);
    if (by_size && m_chosen.model) recipe.window = run::usual_window(m_chosen.model->parameters());
}

/// How fast everybody together would be, and what that costs a second.
struct SwarmSpeed {
    double tokens_per_second = 0, watts = 0;
};

Result<SwarmSpeed> speed_of(const control::EstimateRun& question, const model::ModelSpec& model,
                            const EstimateFacts& facts) {
    const double volunteers = question.volunteers;
    if (question.gpu.empty()) return SwarmSpeed{facts.plan ? volunteers * facts.plan->tokens_per_second : 0, 0};
    const auto gpu = model::find_gpu(question.gpu);
    if (!gpu) return gpu.error();
    const double each = model::utilisation_assumed * gpu->teraflops * 1e12 / model::flops_per_token(model, 0);
    return SwarmSpeed{volunteers * each, volunteers * gpu->watts};
}

void add_plan(const control::PlanReply& plan, control::RunEstimate& estimate) {
    estimate.device = utf8_prefix(plan.device, control::name_bytes_max);
    estimate.summary = utf8_prefix(plan.summary, control::text_bytes_max);
    estimate.gpu_peak = plan.gpu_peak;
    estimate.ram_peak = plan.ram_peak;
    estimate.tokens_per_second = plan.tokens_per_second;
    estimate.disk += plan.disk;
}

std::uint64_t whole_tokens(double tokens) {
    return static_cast<std::uint64_t>(std::min(std::round(tokens), static_cast<double>(control::integer_max)));
}

/// Optimizer steps of one volunteer in a round; 0 if the speed is unknown.
double steps_of(const ChosenRun& chosen, const control::EstimateRun& question, double per_round) {
    const double per_step = static_cast<double>(chosen.plan.recipe.batch) * chosen.model->context;
    return per_round / question.volunteers / per_step;
}

/// Rounds, tokens and days from each other.
void add_time(const ChosenRun& chosen, const control::EstimateRun& question, const SwarmSpeed& speed,
              control::RunEstimate& estimate) {
    const std::uint64_t wanted =
        question.tokens > 0 ? question.tokens : tokens_per_parameter * chosen.model->parameters();
    const double per_round = speed.tokens_per_second * estimate.window_seconds;
    const model::SwarmWorth worth = model::swarm_worth(question.volunteers, steps_of(chosen, question, per_round));
    const double effect = worth.middle() / question.volunteers;
    if (per_round > 0) {
        estimate.worth_low = worth.low;
        estimate.worth_high = worth.high;
    }
    estimate.rounds = question.choices.rounds;
    double tokens = static_cast<double>(wanted) / effect;
    if (estimate.rounds == 0 && per_round > 0) {
        const double rounds = std::ceil(tokens / per_round);
        estimate.rounds = static_cast<std::uint64_t>(
            std::clamp(rounds, rounds_planned_min, static_cast<double>(control::rounds_max)));
    }
    if (question.choices.rounds > 0 && per_round > 0) tokens = per_round * static_cast<double>(estimate.rounds);
    estimate.tokens = whole_tokens(tokens);
    const double seconds = static_cast<double>(estimate.rounds) * estimate.window_seconds;
    estimate.days = seconds / seconds_per_day;
    estimate.kilowatt_hours = speed.watts * seconds / 3.6e6;
    estimate.price = estimate.kilowatt_hours * question.price_per_kilowatt_hour;
    if (estimate.tokens_per_second > 0)
        estimate.days_here = tokens * effect / estimate.tokens_per_second / seconds_per_day;
}

/// Pictures are cropped and turned anew each time, so that only text counts as read again.
void add_warnings(const control::EstimateRun& question, control::RunEstimate& estimate) {
    const bool reads = question.choices.data_kind != control::DataKind::pictures && estimate.data_tokens > 0;
    const double repeats = reads ? static_cast<double>(estimate.tokens) / static_cast<double>(estimate.data_tokens) : 0;
    if (repeats > model::repeats_useful_max) estimate.warnings.push_back(control::PlanWarning::repeats);
    if (estimate.days > model::days_planned_max) estimate.warnings.push_back(control::PlanWarning::length);
}

}  // namespace

ChosenRun look_at(const control::RunChoices& choices, const std::stop_token& stop) {
    return Look(choices, stop).whole();
}

control::RunEstimate estimate_run(const ChosenRun& chosen, const control::EstimateRun& question,
                                  const EstimateFacts& facts) {
    control::RunEstimate estimate;
    estimate.problems = chosen.problems;
    estimate.data_bytes = chosen.data.bytes;
    estimate.data_files = chosen.data.files;
    estimate.data_tokens = chosen.data.tokens;
    estimate.disk_free = facts.disk_free;
    if (!chosen.model) return estimate;
    estimate.model = describe(*chosen.model);
    estimate.parameters = chosen.model->parameters();
    estimate.window_seconds = std::chrono::duration<double>(chosen.plan.recipe.window).count();
    estimate.checkpoint_bytes = model::cost_of({.model = *chosen.model, .gpu = {}}).checkpoint_bytes;
    estimate.disk = 2 * token_bytes * estimate.data_tokens + states_on_disk * estimate.checkpoint_bytes;
    if (facts.plan) add_plan(*facts.plan, estimate);
    const auto speed = speed_of(question, *chosen.model, facts);
    if (speed) {
        add_time(chosen, question, *speed, estimate);
        add_warnings(question, estimate);
    } else {
        estimate.problems.push_back({ChoiceField::gpu, speed.error().message});
    }
    if (facts.disk_free > 0 && estimate.disk > facts.disk_free) {
        const auto gigabytes = [](std::uint64_t bytes) {
            return formatted("%.1f GB", static_cast<double>(bytes) / static_cast<double>(bytes_per_gigabyte));
        };
        estimate.problems.push_back({ChoiceField::disk, "The run takes about " + gigabytes(estimate.disk) +
                                                            " of disk and only " + gigabytes(facts.disk_free) +
                                                            " are free: make room, or choose less."});
    }
    return estimate;
}

control::RunOptions run_options() {
    control::RunOptions options;
    for (const std::string_view name : model::model_presets()) {
        const auto preset = model::model_preset(name);
        if (model::is_drawer(*preset)) continue;  // no choice names the picture coder that it needs
        const auto kind = model::reads_pictures(*preset) ? control::DataKind::pictures : control::DataKind::text;
        options.models.push_back({std::string(name), preset->parameters(), preset->context, kind});
    }
    for (const model::GpuFigures& gpu : model::known_gpus()) options.gpus.emplace_back(gpu.name);
    return options;
}

}  // namespace potluck::node
