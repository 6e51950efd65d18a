// Options come first, in the order of --help; then what CLI11 cannot check: the model's shape, keys, density, and what
// follows from the model where nothing was typed (learning rate, window).
//
// The run is made under the data folder's lock and saved as the one that the node is in; only then does the node begin
// to serve it, so that a run which could not be made leaves the folder free for another.
#include "app/node/cli/verbs/host/host.h"

#include <charconv>
#include <chrono>
#include <iostream>
#include <optional>

#include <CLI/CLI.hpp>

#include "app/node/cli/byte_size.h"
#include "app/node/cli/complain.h"
#include "app/node/cli/serving.h"
#include "app/node/cli/verbs/host/verbs.h"
#include "app/node/member/own_keys.h"
#include "app/node/paths.h"
#include "app/node/session/settings.h"
#include "core/base/files.h"
#include "core/base/text.h"
#include "core/data/token_file.h"
#include "core/model/traits.h"

namespace potluck::node {

namespace {

const char* words_for(control::MakingStage stage) {
    switch (stage) {
        case control::MakingStage::model: return "making the model that everybody begins with";
        case control::MakingStage::reading: return "reading what to train on";
        case control::MakingStage::tokenizing: return "turning it into tokens";
        case control::MakingStage::shuffling: return "shuffling records";
        case control::MakingStage::hashing: return "hashing what will be shared";
    }
    return "";
}

/// Prints each stage once: percents are for terminals, and logs should stay short.
MakingProgress print_making() {
    return [last = std::optional<control::MakingStage>()](control::MakingStage stage, double) mutable {
        if (last != stage) std::cerr << "potluck-node: " << words_for(stage) << std::endl;
        last = stage;
        return true;
    };
}

/// What the host has asked for, or got because it did not say.
std::string rounds_text(const run::Recipe& recipe) {
    constexpr double seconds_per_day = 86'400;
    const double window = std::chrono::duration<double>(recipe.window).count();
    const double rounds = static_cast<double>(recipe.total_rounds);
    return formatted("rounds: %.0f, each with a window of %g s: at least ", rounds, window) +
           duration_text(rounds * window / seconds_per_day);
}

Status take_keys(const std::vector<std::string>& texts, std::vector<PeerId>& out) {
    for (const std::string& text : texts) {
        const auto key = PeerId::parse(text);
        if (!key)
            return Error{ErrorCode::invalid_argument, "A key is 64 hexadecimal digits, as identity show prints it."};
        out.push_back(*key);
    }
    return {};
}

Status take_density(const std::string& text, run::Recipe& recipe) {
    if (text == "auto") return {};
    const char* const end = text.data() + text.size();
    std::uint32_t fixed = 0;
    const auto read = std::from_chars(text.data(), end, fixed);
    if (read.ec != std::errc() || read.ptr != end || fixed < 1 || fixed > run::chunk_entries) {
        return Error{ErrorCode::invalid_argument, "The density is \"auto\" or a number from 1 to 4096."};
    }
    recipe.k = recipe.k_max = fixed;
    return {};
}

}  // namespace

void HostVerb::add_optimizer(CLI::App& host) {
    run::Recipe& recipe = m_plan.recipe;
    host.option_defaults()->group("Optimizer");
    host.add_option("--batch", recipe.batch,
                    "Sequences or pictures per inner step; a model that embeds pictures takes multiples of 64");
    host.add_option("--optimizer", m_optimizer, "adamw, lamb or muon")->check(CLI::IsMember({"adamw", "lamb", "muon"}));
    host.add_option("--lamb-debias", m_lamb_debias,
                    "What of LAMB makes up for moments that begin at zero: moments (as its paper), rate (as DeDLOC and "
                    "sahajBERT) or none")
        ->check(CLI::IsMember({"moments", "rate", "none"}));
    host.add_option("--state-bits", recipe.state_bits, "Bits of the optimizer's moments, 8 or 32")
        ->check(CLI::IsMember({8, 32}));
    host.add_option("--learning-rate", m_learning_rate,
                    "Peak learning rate (default: 0.003, with Muon 0.006; 0.001 to embed pictures, an encoder's by "
                    "size and batch)");
    host.add_option("--final-fraction", recipe.final_fraction, "Fraction of the peak at the end");
    host.add_option("--warmup", recipe.warmup_rounds, "Warm-up rounds");
    host.add_option("--weight-decay", recipe.weight_decay, "Weight decay");
    host.add_option("--beta1", recipe.beta1, "Decay of the first moment");
    host.add_option("--beta2", recipe.beta2, "Decay of the second moment");
    host.add_option("--epsilon", recipe.epsilon, "Added to the root of the second moment");
    host.add_option("--clip", recipe.clip_norm, "Norm to which gradients are clipped");
    host.add_option("--seed", recipe.seed, "Seed of initial state and sample order");
}

void HostVerb::add_rounds(CLI::App& host) {
    run::Recipe& recipe = m_plan.recipe;
    host.option_defaults()->group("Rounds");
    host.add_option("--rounds", recipe.total_rounds, "Rounds until the run is complete");
    host.add_option("--window", m_window_seconds,
                    "Training time of a round in seconds (default: 5 to 3600, by the size of the model)");
    host.add_option("--collect", m_collect_seconds,
                    "Patience for contributions in seconds (default: a fifth of the window, at least 10)");
    m_grace_seconds = std::chrono::duration<double>(recipe.grace).count();
    host.add_option("--grace", m_grace_seconds, "Patience in seconds for the member whose turn it is to propose");
    host.add_option("--checkpoint-every", recipe.checkpoint_every, "Rounds between checkpoints");
    host.add_option("--rounds-late", recipe.rounds_late_max,
                    "1: a contribution that missed its list counts in the next one; 0: its work goes into the next");
    host.option_defaults()->group("What is exchanged");
    host.add_option("--density", m_density,
                    "Values sent of every 4096: \"auto\", as many as links carry, or a number (default: auto)");
    host.add_option("--step", m_step,
                    "How a round moves the model: coded, so that members whose line is slow may take the sum of many "
                    "from others, or exact, where everybody adds up all contributions (default: coded)")
        ->check(CLI::IsMember({"coded", "exact"}));
    host.add_option("--robust", m_robust,
                    "How contributions are averaged: mean, each clipped to the median norm, or centered_clip, for runs "
                    "of eight members or more, which counts a contribution less the farther it is from the middle")
        ->check(CLI::IsMember({"mean", "centered_clip"}));
    host.add_option("--error-decay", recipe.error_decay, "Decay of the error feedback");
    host.add_option("--alpha", recipe.outer.alpha, "Outer learning rate");
    host.add_option("--amplification", recipe.outer.amplification, "Cap on the amplification of rare coordinates");
}

void HostVerb::add(CLI::App& host) {
    add_material(host);
    host.option_defaults()->group("What others are told");
    host.add_option("--name", m_plan.name, "Name of the run");
    host.add_option("--purpose", m_plan.purpose, "What the model is for");
    host.add_option("--licence", m_plan.licence, "SPDX licence of the resulting model");
    add_model_options(host, m_plan, m_model);
    add_optimizer(host);
    add_rounds(host);
    add_members(host);
}

void HostVerb::add_material(CLI::App& host) {
    HostPlan& plan = m_plan;
    host.option_defaults()->group("What to train on");
    host.add_option("--text", plan.text, "File or folder of UTF-8 text, from 100 KB to gigabytes");
    host.add_option("--tokens", plan.tokens,
                    "Instead of text: token files of nanoGPT or llm.c, one or a folder of .bin; val*.bin validates")
        ->excludes("--text");
    host.add_option("--pictures", plan.pictures,
                    "Instead of text: a folder of PNG or PPM pictures, at least 128, for --model " +
                        model::presets_of(model::reads_pictures) +
                        "; with a .txt beside each or a metadata.jsonl, for --model " +
                        model::presets_of(model::is_drawer))
        ->excludes("--text")
        ->excludes("--tokens");
    host.add_option("--coder", plan.coder,
                    "For a model that draws: the folder of a picture coder, exported or saved by diffusers (VQModel)");
    host.add_option("--vocabulary", plan.vocabulary, "At least so many tokens, instead of as many as the tokenizer has")
        ->check(CLI::Range(std::uint32_t{2}, data::vocabulary_max));
    host.add_option(
        "--tokenizer", plan.tokenizer,
        "A sentencepiece model file, a byte-level tokenizer.json, or a folder with one of them or with vocab.json and "
        "merges.txt (default: the checkpoint's, or bytes)");
}

void HostVerb::add_members(CLI::App& host) {
    run::Recipe& recipe = m_plan.recipe;
    host.option_defaults()->group("Members");
    host.add_option("--backbone-key", m_backbones, "Key of another backbone; may be repeated");
    host.add_option("--allow", m_allowed, "Key of somebody who may join (default: anybody); may be repeated");
    host.add_option("--fit-rounds", recipe.fit_rounds,
                    "Rounds after which somebody on the allow list may sit in the run's committee");
    host.add_option("--probation-rounds", recipe.probation_rounds,
                    "Rounds until somebody who is not on it counts in full; 0: from the first");
    host.add_option("--probation-hours", m_probation_hours,
                    "Hours of accepted windows that these rounds come to at least")
        ->check(CLI::Range(0.0, 720.0))
        ->capture_default_str();
    host.add_option("--unvouched-share", recipe.strangers.unvouched_share,
                    "The most of a round's weight and credit that people whom nobody vouches for have together, if "
                    "somebody else contributes; 1: no limit")
        ->check(CLI::Range(0.0, 1.0))
        ->capture_default_str();
    CLI::Option* jury = host.add_option(
        "--jury", m_jury,
        "Share of a committee member's compute that goes into measuring whether contributions help, which "
        "shuts out those that do not; 0: none (default: 0.03; 0 for models that draw or embed pictures)");
    jury->check(CLI::Range(0.0, 0.5));
    host.add_flag_callback(
            "--no-jury", [this] { m_jury = 0; }, "Measure no contributions: --jury 0")
        ->excludes(jury);
    host.add_flag("--volunteer", m_volunteer, "Train here too, instead of only deciding and relaying");
    host.add_flag("--announce", m_announcing.on_board,
                  "Let people find the run without an invite, among others in your network; not with --allow");
    host.add_option("--language", m_announcing.language, "Language of the text, as \"de\", for the announcement");
    host.add_option("--web-page", m_announcing.page,
                    "Where the run's page is on the web, for invites and the announcement");
    host.add_flag("--prepare", m_prepare, "Only make the run and print its id; serve it later");
}

Status HostVerb::read_announcing() const {
    if (m_announcing.on_board && !m_allowed.empty()) {
        return Error{ErrorCode::invalid_argument,
                     "A run with --allow is for those whom you invite; leave --announce out."};
    }
    return m_announcing.check();
}

Status HostVerb::read() {
    if (Status announcing = read_announcing(); !announcing) return announcing;
    if (m_plan.text.empty() && m_plan.tokens.empty() && m_plan.pictures.empty())
        return Error{ErrorCode::invalid_argument, "Say what to train on, with --text, --tokens or --pictures."};
    auto model = model_of(m_model);
    if (!model) return model.error();
    m_plan.model = std::move(*model);
    if (!m_plan.from.empty()) m_plan.model.context = m_model.context;
    const auto milliseconds = [](double seconds) { return Duration{static_cast<std::int64_t>(seconds * 1000)}; };
    run::Recipe& recipe = m_plan.recipe;
    recipe.optimizer = run::optimizer_named(m_optimizer).value_or(recipe.optimizer);
    recipe.learning_rate = m_learning_rate > 0 ? m_learning_rate : run::usual_learning_rate(m_plan.model, recipe);
    if (!m_lamb_debias.empty()) {
        if (recipe.optimizer != run::Optimizer::lamb)
            return Error{ErrorCode::invalid_argument, "--lamb-debias is for --optimizer lamb; leave it out."};
        recipe.lamb_debias = run::lamb_debias_named(m_lamb_debias).value_or(recipe.lamb_debias);
    }
    if (Status taken = take_density(m_density, recipe); !taken) return taken;
    recipe.outer.form = run::step_form_named(m_step).value_or(recipe.outer.form);
    recipe.outer.robust = run::robust_rule_named(m_robust).value_or(recipe.outer.robust);
    recipe.probation_time = milliseconds(m_probation_hours * 3600);
    recipe.strangers.newcomer_rms = run::usual_newcomer_rms(recipe);
    recipe.measuring.jury = m_jury.value_or(usual_jury_for(m_plan.model));
    m_plan.window = m_window_seconds > 0 ? HostPlan::Window::of_recipe : HostPlan::Window::by_size;
    if (m_window_seconds > 0) recipe.window = milliseconds(m_window_seconds);
    m_plan.patience = m_collect_seconds > 0 ? HostPlan::Patience::of_recipe : HostPlan::Patience::by_window;
    if (m_collect_seconds > 0) recipe.collect = milliseconds(m_collect_seconds);
    if (m_grace_seconds > 0) recipe.grace = milliseconds(m_grace_seconds);
    if (Status taken = take_keys(m_backbones, m_plan.backbones); !taken) return taken;
    return take_keys(m_allowed, m_plan.allowed);
}

Result<HostedRun> HostVerb::make(const ThisNode& node) const {
    if (const Status made = make_data_folder(node.options.data_folder); !made) return made.error();
    auto lock = FileLock::acquire(node.options.data_folder / "node.lock");
    if (!lock) {
        const std::string folder = node.options.data_folder.string();
        return Error{lock.error().code,
                     "A node is running for " + folder +
                         "; start the run from its window, or end it with potluck-node stop and host again: then this "
                         "program serves the run. For a second node give another folder with --data-dir."};
    }
    const auto keys = OwnKeys::open_or_create(node.options.data_folder);
    if (!keys) return keys.error();
    auto settings = NodeSettings::load(node.options.data_folder);
    if (!settings) return settings.error();
    if (settings->run) {
        return Error{ErrorCode::invalid_argument,
                     "This data folder is in a run already; leave it first, or give another with --data-dir."};
    }
    HostPlan plan = m_plan;
    plan.trainer_program = trainer_of(node.options);
    if (!m_volunteer) plan.backbones.insert(plan.backbones.begin(), keys->person.id());
    auto hosted = host_run(plan, keys->person, keys->device(), node.options.data_folder, print_making());
    if (!hosted) return hosted.error();
    settings->run = SavedRun{hosted->invite, m_volunteer ? run::Role::volunteer : run::Role::backbone, false};
    settings->run->announcing = m_announcing;
    if (const Status saved = settings->save(node.options.data_folder); !saved) return saved.error();
    return hosted;
}

ExitCode HostVerb::run(const ThisNode& node) {
    if (const Status ready = prepare_to_serve(node); !ready) return complain(ready.error());
    const auto hosted = make(node);
    if (!hosted) return complain(hosted.error());
    std::cout << "run: " << hosted->invite.run.hex() << "\n" << rounds_text(hosted->manifest.recipe) << std::endl;
    if (m_prepare) return ExitCode::ok;
    return serve(node, {.invite = Serving::Invite::printed});
}

std::unique_ptr<Verb> host_verb() {
    return std::make_unique<HostVerb>("host", "Make a run out of text, print its invite and serve it");
}

}  // namespace potluck::node
