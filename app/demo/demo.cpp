// Six steps that can fail before anything runs (recipe, folder, text, hosting, manifest, pace), then the scenario, then
// evaluation, books and report, each started by the end of the one before on a single loop.
//
// How fast this computer is, is found by training on the run that was made for the usual pace. Where its windows would
// be too short, the run is made again with longer ones before anybody joins it.
//
// With --worth, trainers without a swarm follow (worth.h).
//
// Hosting is done by a child with the command line that a person would use, and the losses of the first and the last
// state are measured by a trainer on the validation records: the report claims nothing that a reader could not repeat.
// A folder is emptied only if it carries the marker of an earlier demo and --replace was given, and one that was made
// for a demo which never began is removed again.
//
// The exit code tells apart a demo that failed from one whose nodes computed different states.
#include "app/demo/demo.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <limits>
#include <optional>
#include <system_error>

#ifndef _WIN32
#include <unistd.h>
#endif

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "app/demo/alone/lone_training.h"
#include "app/demo/alone/run_files.h"
#include "app/demo/alone/worth.h"
#include "app/demo/demo_recipe.h"
#include "app/demo/drawn_pictures.h"
#include "app/demo/processor_use.h"
#include "app/demo/report.h"
#include "app/demo/scenario.h"
#include "app/demo/screen.h"
#include "app/demo/speed_trial.h"
#include "app/node/paths.h"
#include "app/node/trainer/trainer_task.h"
#include "core/base/files.h"
#include "core/base/text.h"
#include "core/data/pictures/caption_records.h"
#include "core/identity/identity.h"
#include "core/model/hf_config.h"
#include "core/model/state_layout.h"
#include "core/model/traits.h"
#include "core/run/manifest.h"
#include "core/run/run_rules.h"

namespace potluck::node {

namespace {

namespace asio = boost::asio;
namespace fs = std::filesystem;

constexpr const char* marker = "potluck-demo";  // marks a folder that a demo may empty
constexpr int levels_to_sources = 4;
constexpr std::uint32_t drawn_side = 64;   // larger than what is trained on, to look at
constexpr std::uint32_t drawn_each = 600;  // of every pattern, for a model that embeds
constexpr std::uint64_t shard_bytes_max = 1ULL << 30U;
constexpr int demos_max = 1000;               // numbered folders tried
constexpr std::size_t jurors = 3;             // of a demo in which some lie: with the backbone four seats
constexpr std::uint64_t rounds_to_grow = 12;  // within which three volunteers are fit for a seat
// A demo whose rounds are given takes as long as they do; beyond this something hangs.
constexpr double timeout_factor = 2;
constexpr std::chrono::seconds timeout_extra{120};

/// What this demo starts, as a person would.
fs::path node_program() { return program_beside("potluck-node"); }

/// A folder as `export` writes it, of the parameters in a vector file.
Status write_checkpoint(const fs::path& folder, const model::ModelSpec& model, const fs::path& vector_file) {
    std::error_code failed;
    fs::create_directories(folder, failed);
    const auto vector = read_file(vector_file, run::coder_bytes_max);
    if (!vector) return vector.error();
    Bytes state = model::state_layout(model).header;
    state.insert(state.end(), vector->begin(), vector->end());
    if (Status written = write_file_atomically(folder / "model.safetensors", state); !written) return written;
    const std::string config = model::hugging_face_config(model).dump(2) + "\n";
    return write_file_atomically(folder / "config.json", as_bytes(config));
}

class Demo {
public:
    Demo(const DemoOptions& options, const NodeOptions& node) : m_options(options), m_node(node), m_timer(m_loop) {}

    ExitCode run() {
        for (const auto step : {&Demo::read_recipe, &Demo::make_folder, &Demo::stage_text, &Demo::make_coder,
                                &Demo::host, &Demo::read_manifest, &Demo::fit_to_pace}) {
            if (const Status done = (this->*step)(); !done) {
                if (!done.error().message.empty()) std::cerr << "potluck-demo: " << done.error().message << std::endl;
                remove_folder();
                return exit_code_of(done.error().code);
            }
        }
        train();
        m_loop.restart();
        m_loop.run();
        return m_outcome;
    }

private:
    Status read_recipe();
    Status make_folder();
    Status stage_text();
    Status make_coder();
    Result<RunId> prepare(std::vector<std::string> arguments);
    Status host();
    Status read_manifest();
    Status fit_to_pace();
    void remove_folder() const;
    void train();
    void show();
    void trained(const Status& outcome);
    Status keep(const control::SampledText& sample);
    void compare();
    void count_codes();
    [[nodiscard]] LoneTraining lone_training(const fs::path& home, const run::Manifest& manifest) const {
        return training_alone({m_node.trainer_program, m_folder, home}, manifest);
    }
    void measure(const fs::path& state, std::function<void(const Result<control::EvaluateReply>&)> then);
    void evaluate(const fs::path& state, double& loss, std::function<void()> then);
    void measure_newest(const std::function<void(bool)>& then);
    void take(const control::EvaluateReply& answer);
    void close();
    void settle();
    void measure_worth();
    void tell();
    [[nodiscard]] fs::path run_home() const { return run_folder(m_folder / "backbone", m_run); }
    [[nodiscard]] fs::path newest_state() const { return newest_state_in(run_home()); }

    const DemoOptions& m_options;
    const NodeOptions& m_node;
    asio::io_context m_loop;
    asio::steady_timer m_timer;
    DemoRecipe m_recipe;
    DemoLength m_length;
    std::optional<ProcessorUse> m_use_before;  // when training began
    fs::path m_folder, m_text;
    std::string m_prompt = "a red heart";  // of a model that draws
    RunId m_run;
    run::Manifest m_manifest;
    Screen m_screen;
    std::vector<std::string> m_vouched;  // by the host, once it runs
    std::unique_ptr<Scenario> m_scenario;
    DemoReport m_report;
    std::optional<double> m_code_baseline;  // nats per code, of a model that draws
    ExitCode m_outcome = ExitCode::failed;
};

Status Demo::read_recipe() {
    m_recipe = DemoRecipe::of_family(m_options.family);
    if (!m_options.recipe.empty()) {
        auto recipe = DemoRecipe::from_file(m_options.recipe, m_recipe);
        if (!recipe) return recipe.error();
        m_recipe = *recipe;
    }
    if (m_options.liars > 0 && !fs::exists(program_beside("potluck-liar"))) {
        return Error{ErrorCode::not_found, "potluck-liar is missing beside this program; build it."};
    }
    const bool draws_some = m_recipe.draws() || m_recipe.embeds();  // where no pictures are given
    if (!draws_some && m_recipe.trains_pictures() == m_options.pictures.empty()) {
        return Error{
            ErrorCode::invalid_argument,
            m_recipe.trains_pictures()
                ? "A picture coder is trained on pictures; give a folder with --pictures."
                : "Pictures train a " + model::titles_of(model::takes_pictures) + "; choose one with --family."};
    }
    return {};
}

/// "demo" below the data folder, or the folder that was asked for. One that holds an earlier demo is emptied only if
/// the person says so; else the default is the next free "demo-2", "demo-3" ...
Status Demo::make_folder() {
    std::error_code failed;
    const bool replace = m_options.folder_use == DemoOptions::FolderUse::replace;
    const auto is_free = [&](const fs::path& folder) {
        return !fs::exists(folder, failed) || fs::is_empty(folder, failed);
    };
    m_folder = m_options.keep.empty() ? m_node.data_folder / "demo" : fs::absolute(m_options.keep, failed);
    if (m_options.keep.empty()) {
        if (Status made = make_data_folder(m_node.data_folder); !made) return made;
    }
    const fs::path first = m_folder;
    for (int n = 2; m_options.keep.empty() && !replace && !is_free(m_folder) && n <= demos_max; ++n) {
        m_folder = first;
        m_folder += std::string("-").append(std::to_string(n));
    }
    if (!is_free(m_folder)) {
        const bool ours = fs::exists(m_folder / marker);
        if (!ours || !replace) {
            return Error{ErrorCode::invalid_argument,
                         m_folder.string() + (ours ? " holds an earlier demo; add --replace, or name another folder."
                                                   : " holds something else; give an empty folder with --keep.")};
        }
        fs::remove_all(m_folder, failed);
    }
    fs::create_directories(m_folder, failed);
    std::ofstream(m_folder / marker) << "Made by potluck-node demo; demo --replace empties this folder.\n";
    if (!fs::exists(m_folder / marker))
        return Error{ErrorCode::permission, m_folder.string() + " cannot be written; give another folder with --keep."};
    m_report.folder = m_folder.string();
    return {};
}

/// The text or pictures given, pictures that are drawn for it, or a copy of the sources this program was built from.
Status Demo::stage_text() {
    m_text = m_recipe.trains_pictures() ? m_options.pictures : m_options.text;
    if (!m_text.empty()) return {};
    if (m_recipe.draws()) {
        m_text = m_folder / "pictures";
        const auto held_out = write_drawn_pairs(m_text, drawn_side);
        if (!held_out) return held_out.error();
        m_prompt = held_out->front();
        m_screen.say("drew pictures of two shapes with captions; " + std::to_string(held_out->size()) +
                     " combinations are held out");
        return {};
    }
    if (m_recipe.embeds()) {
        m_text = m_folder / "pictures";
        m_screen.say("drawing pictures of six patterns, each in any two greys");
        return write_drawn_patterns(m_text, drawn_side, drawn_each);
    }
    fs::path sources = own_program().parent_path();
    for (int level = 0; level < levels_to_sources && !fs::exists(sources / "core" / "base" / "result.h"); ++level) {
        sources = sources.parent_path();
    }
    std::error_code failed;
    m_text = m_folder / "text";
    for (const char* part : {"app", "core", "docs", "net", "tests", "ui"}) {
        if (!fs::exists(sources / part)) continue;
        fs::create_directories(m_text, failed);
        fs::copy(sources / part, m_text / part, fs::copy_options::recursive, failed);
    }
    if (!fs::exists(m_text)) {
        return Error{ErrorCode::invalid_argument,
                     "There is no text beside this program; give some with --text FILE or FOLDER."};
    }
    return {};
}

/// A child with the command line that a person would use.
Result<RunId> Demo::prepare(std::vector<std::string> arguments) {
    std::optional<RunId> made;
    auto process = LineProcess::start(m_loop, {node_program(), std::move(arguments), {}, ProcessGroup::ours},
                                      {[&](const std::string& line) {
                                           if (line.starts_with("run: ")) made = RunId::parse(line.substr(5));
                                       },
                                       [](const std::string&) {}});
    if (!process) return process.error();
    m_loop.restart();
    m_loop.run();
    if (!made) return Error{ErrorCode::invalid_argument, ""};  // the child has said why
    return *made;
}

/// The picture coder of a model that draws, trained by this computer alone on pictures that are not held out, as a
/// checkpoint's folder.
Status Demo::make_coder() {
    if (!m_recipe.draws()) return {};
    std::error_code unknown;
    const fs::path home = m_folder / "coder-run", train = m_text / "train";
    std::vector<std::string> arguments = {"host",       "--prepare",
                                          "--data-dir", home.string(),
                                          "--pictures", (fs::is_directory(train, unknown) ? train : m_text).string()};
    for (std::string& argument : m_recipe.coder_arguments()) arguments.push_back(std::move(argument));
    const auto run = prepare(std::move(arguments));
    if (!run) return run.error();
    m_screen.say(formatted("training a picture coder on this computer alone for %.0f s", m_recipe.coder_seconds));
    const auto manifest = manifest_in(run_folder(home, *run));
    if (!manifest) return manifest.error();
    LoneTraining training = lone_training(run_folder(home, *run), *manifest);
    training.vector_file = home / "coder.f32";
    training.tokens = std::numeric_limits<double>::max();
    training.time_max = std::chrono::duration<double>(m_recipe.coder_seconds);
    std::optional<Result<LoneOutcome>> outcome;
    train_alone(m_loop, std::move(training), [&](const Result<LoneOutcome>& reached) { outcome = reached; });
    m_loop.restart();
    m_loop.run();
    if (!outcome || !*outcome)
        return outcome ? outcome->error() : Error{ErrorCode::unavailable, "The coder's trainer has ended."};
    m_report.coder_figures = (*outcome)->figures;
    return write_checkpoint(m_folder / "coder", manifest->model, home / "coder.f32");
}

Status Demo::host() {
    m_length = length_of(m_options, m_recipe);
    std::vector<std::string> arguments = {"host",
                                          "--prepare",
                                          "--data-dir",
                                          (m_folder / "backbone").string(),
                                          m_recipe.trains_pictures() ? "--pictures" : "--text",
                                          m_text.string(),
                                          "--name",
                                          "Potluck demo",
                                          "--purpose",
                                          "To show that volunteers train one model together."};
    for (std::string& argument : m_recipe.host_arguments(m_length.rounds)) arguments.push_back(std::move(argument));
    // Windows of seconds leave a juror's usual share too little to measure all in a demo's minutes.
    if (m_options.liars > 0) arguments.insert(arguments.end(), {"--jury", "0.25"});
    // The volunteers know each other, so the run's committee grows with them and can do without the backbone. Where
    // some lie, anybody may join, and the host vouches for the jury alone.
    std::vector<std::string> known = Scenario::volunteer_folders(m_options.volunteers);
    if (m_options.liars > 0) known.resize(std::min<std::size_t>(jurors, m_options.volunteers));
    for (const std::string& folder : known) {
        std::error_code ignored;
        fs::create_directories(m_folder / folder, ignored);
        const auto identity = identity::Identity::open_or_create(m_folder / folder / "identity.key");
        if (!identity) return identity.error();
        if (m_options.liars > 0) {
            m_vouched.push_back(identity->id().hex());
        } else {
            arguments.insert(arguments.end(), {"--allow", identity->id().hex()});
        }
    }
    if (m_recipe.draws()) arguments.insert(arguments.end(), {"--coder", (m_folder / "coder").string()});
    const auto made = prepare(std::move(arguments));
    if (!made) return made.error();
    m_run = *made;
    return {};
}

Status Demo::read_manifest() {
    auto manifest = manifest_in(run_home());
    if (!manifest) return manifest.error();
    m_manifest = *std::move(manifest);
    m_report.parameters = m_manifest.model.parameters();
    m_report.bigram_loss = m_manifest.bigram_loss;
    m_report.model = m_manifest.model;
    m_report.baseline = model::title_of(model::baseline_of(m_manifest.model.family));
    return {};
}

/// Measures this computer with a trainer for each volunteer, and makes the run again if its windows would be too short.
Status Demo::fit_to_pace() {
    const unsigned volunteers = m_options.volunteers + m_options.liars;
    m_screen.say("measuring how fast " + std::to_string(volunteers) + " volunteers train here");
    std::optional<Result<Pace>> found;
    measure_pace(m_loop, lone_training(run_home(), m_manifest), volunteers,
                 [&](const Result<Pace>& pace) { found = pace; });
    m_loop.restart();
    m_loop.run();
    if (!found || !*found) return found ? found->error() : Error{ErrorCode::unavailable, "The trainers have ended."};
    m_report.pace = **found;
    m_screen.say("this computer: " + computer_text(m_report.pace, volunteers));
    const double batch_tokens = static_cast<double>(m_manifest.recipe.batch) * m_manifest.model.context;
    const DemoRecipe recipe = fitted(m_recipe, m_report.pace, batch_tokens, m_options);
    if (!differs(m_recipe, recipe)) return {};
    m_screen.say(
        formatted("rounds get windows of %.1f s here instead of %.1f", recipe.window_seconds, m_recipe.window_seconds));
    m_recipe = recipe;
    std::error_code ignored;
    fs::remove_all(m_folder / "backbone", ignored);
    if (Status hosted = host(); !hosted) return hosted;
    return read_manifest();
}

/// Keeps nothing of a demo that never began.
void Demo::remove_folder() const {
    std::error_code ignored;
    if (!m_report.folder.empty()) fs::remove_all(m_folder, ignored);
}

void Demo::train() {
    ScenarioPlan plan;
    plan.folder = m_folder;
    plan.node_program = node_program();
    plan.app_program = program_beside("potluck");
    plan.recipe = m_recipe;
    plan.length = m_length;
    plan.rounds_min = rounds_to_grow + 1;
    plan.measure = [this](const std::function<void(bool)>& then) { measure_newest(then); };
    plan.volunteers = m_options.volunteers + m_options.liars;
    plan.liars = m_options.liars;
    plan.trainer_program = m_node.trainer_program;
    plan.vouched = m_vouched;
    plan.liar_program = program_beside("potluck-liar");
    plan.devices = m_options.devices;
    plan.window =
        m_options.window == DemoOptions::Window::open ? ScenarioPlan::Window::open : ScenarioPlan::Window::closed;
    const double expected =
        static_cast<double>(m_length.rounds) * (m_recipe.window_seconds + m_recipe.overhead_seconds);
    plan.timeout = timeout_extra + std::chrono::seconds(static_cast<std::int64_t>(
                                       m_length.seconds ? *m_length.seconds : timeout_factor * expected));
#ifndef _WIN32
    ::setenv("POTLUCK_TRAINER", m_node.trainer_program.c_str(), 1);
#endif
    const std::string how_long =
        m_length.end == DemoLength::End::beaten
            ? formatted("until the %s baseline is beaten, at most %.0f s", m_report.baseline.c_str(), *m_length.seconds)
            : "for " + std::to_string(m_length.rounds) + " rounds";
    m_screen.say("training " + std::to_string(m_report.parameters) + " parameters on " + m_text.string() + " " +
                 how_long + "; data folders in " + m_folder.string());
    m_use_before = read_processor_use();
    m_scenario =
        std::make_unique<Scenario>(m_loop, std::move(plan), [this](const std::string& line) { m_screen.say(line); });
    m_scenario->run([this](const Status& outcome) { trained(outcome); });
    show();
}

void Demo::show() {
    m_timer.expires_after(std::chrono::seconds(1));
    m_timer.async_wait([this](const auto& cancelled) {
        if (cancelled) return;
        m_screen.show(m_scenario->head(), m_scenario->rows());
        show();
    });
}

void Demo::trained(const Status& outcome) {
    m_timer.cancel();
    const auto use = read_processor_use();
    if (m_use_before && use) m_report.others = others_share(*m_use_before, *use);
    m_screen.show(m_scenario->head(), m_scenario->rows());
    if (!outcome) {
        m_report.troubles.push_back(outcome.error().message);
        return close();
    }
    m_screen.say("training is over; evaluating");
    if (m_recipe.codes()) return compare();
    m_scenario->sample(m_recipe.draws() ? m_prompt : "The ", [this](const Result<control::SampledText>& sample) {
        const Status kept = sample ? keep(*sample) : Status(sample.error());
        if (!kept) m_report.troubles.push_back("No sample could be made: " + kept.error().message);
        compare();
    });
}

/// Text for the report, or a picture beside the data folders.
Status Demo::keep(const control::SampledText& sample) {
    m_report.sample = sample.text;
    if (!sample.picture) return {};
    const fs::path file = m_folder / "sample.png";
    m_report.sample = (sample.nearest ? "held-out pictures with their nearest" : m_prompt) + ": " + file.string();
    Bytes png(sample.picture->size() / 2);
    if (!from_hex(*sample.picture, png)) return Error{ErrorCode::malformed, "A node sent a picture that is none."};
    return write_file_atomically(file, png);
}

/// The first state and the last on what was held out.
void Demo::compare() {
    evaluate(run_home() / "data" / "initial.safetensors", m_report.initial_loss,
             [this] { evaluate(newest_state(), m_report.final_loss, [this] { close(); }); });
}

void Demo::measure(const fs::path& state, std::function<void(const Result<control::EvaluateReply>&)> then) {
    measure_state(m_loop, {m_node.trainer_program, m_folder, run_home()}, m_manifest, state, std::move(then));
}

void Demo::take(const control::EvaluateReply& answer) {
    m_report.figures = answer.figures;
    m_report.collapsed = answer.collapsed;
    count_codes();
    for (control::Figure& figure : m_report.figures)
        if (figure.title == model::code_loss_label) figure.baseline = m_code_baseline;
}

void Demo::evaluate(const fs::path& state, double& loss, std::function<void()> then) {
    measure(state, [this, &loss, then = std::move(then)](const Result<control::EvaluateReply>& answer) {
        if (answer) {
            loss = answer->loss;
            take(*answer);
        } else {
            m_report.troubles.push_back("The model could not be evaluated: " + answer.error().message);
        }
        then();
    });
}

/// While training goes on. A state that went meanwhile is measured the next time.
void Demo::measure_newest(const std::function<void(bool)>& then) {
    measure(newest_state(), [this, then](const Result<control::EvaluateReply>& answer) {
        if (!answer) return then(false);
        m_report.final_loss = answer->loss;
        take(*answer);
        m_screen.say(formatted("validation loss %.3f; %s baseline %.3f", answer->loss, m_report.baseline.c_str(),
                               m_report.bigram_loss));
        then(has_beaten(m_report, lead_at_end));
    });
}

void Demo::close() {
    m_scenario->fill(m_report);
    m_scenario->stop([this] { settle(); });
}

void Demo::settle() {
    const std::uint64_t batch_tokens = static_cast<std::uint64_t>(m_manifest.recipe.batch) * m_manifest.model.context;
    const run::RunRules rules = run::rules_of(m_run, m_manifest);
    const Status read = read_books(m_run, rules, m_scenario->books(), batch_tokens, m_report);
    if (!read) {
        m_report.troubles.push_back(read.error().message);
    }
    if (m_report.checkpoint.empty()) m_report.checkpoint = newest_state().string();
    const bool may_grow = m_options.volunteers >= 3 && m_report.rounds >= rounds_to_grow;
    m_report.committee_size_wanted = may_grow ? 4 : 1;
    m_report.first_tokens = m_report.contributions_per_round * static_cast<double>(batch_tokens);
    const bool is_measured = m_options.worth == DemoOptions::Worth::measured && m_report.final_loss > 0 &&
                             m_report.contributions_per_round > 0 && !shard_files(run_home(), m_manifest).empty();
    return is_measured ? measure_worth() : tell();
}

/// How often each code stands at each place of the training pictures, and what that says of those held out.
void Demo::count_codes() {
    if (!model::is_drawer(m_manifest.model) || m_code_baseline) return;
    const auto records_of = [&](const fs::path& file) {
        const auto bytes = read_file(file, shard_bytes_max);
        const model::TokenWidth width = model::token_width(m_manifest.model.vocabulary);
        std::vector<model::Token> tokens(bytes ? bytes->size() / model::bytes_of(width) : 0);
        if (bytes) model::load_tokens(*bytes, width, tokens);
        return tokens;
    };
    const std::size_t size = std::size_t{m_manifest.model.context} + 1;
    std::vector<model::Token> measured = records_of(run_home() / "data" / data::validation_file_name);
    measured.resize(std::min(measured.size(), size * static_cast<std::size_t>(m_manifest.records_measured())));
    data::PlaceBaseline baseline(m_manifest.model, measured);
    for (const fs::path& shard : shard_files(run_home(), m_manifest)) {
        const std::vector<model::Token> records = records_of(shard);
        for (std::size_t begin = 0; begin + size <= records.size(); begin += size)
            baseline.count(std::span(records).subspan(begin, size));
    }
    m_code_baseline = baseline.losses().codes;
}

void Demo::measure_worth() {
    WorthQuestion question{{m_node.trainer_program, m_folder, run_home()}, m_manifest};
    question.tokens = static_cast<double>(m_report.credited_tokens) / m_report.contributions_per_round;
    question.loss = m_report.final_loss;
    measure_alone(
        m_loop, std::move(question), [this](const std::string& line) { m_screen.say(line); },
        [this](const AloneReached& reached) {
            m_report.alone = reached.points;
            if (!reached.ended) m_report.troubles.push_back(reached.ended.error().message);
            tell();
        });
}

void Demo::tell() {
    m_screen.close();
    std::cout << to_text(m_report) << to_try(m_report, node_program().string()) << std::flush;
    if (!m_options.report.empty()) {
        const std::string text = to_json(m_report).dump(2) + "\n";
        if (const Status written = write_file_atomically(m_options.report, as_bytes(text)); !written) {
            std::cerr << "potluck-demo: " << written.error().message << std::endl;
            m_report.troubles.push_back(written.error().message);
        }
    }
    const bool differed = m_report.digests_compared != m_report.digests_equal;
    m_outcome = faults_of(m_report).empty() ? ExitCode::ok : differed ? ExitCode::integrity : ExitCode::failed;
    m_loop.stop();
}

}  // namespace

ExitCode run_demo(const DemoOptions& options, const NodeOptions& node) { return Demo(options, node).run(); }

}  // namespace potluck::node
