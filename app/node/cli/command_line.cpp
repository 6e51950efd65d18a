// CLI11 fills two structures in one pass: Command, where an option's type is the final one, and Raw, where a text or
// flag still has to become something else. finish() turns Raw into the rest of Command and checks what CLI11 cannot, so
// that the other rooms never see an option as text.
//
// Help, --version and usage errors are printed here, so that a caller only has to pass on the exit code. No file is
// opened: only the environment and this program's own path are asked, for defaults. Options about the node are accepted
// before and after the verb (fallthrough), as people type them.
#include "app/node/cli/command_line.h"

#include <charconv>
#include <chrono>
#include <iostream>
#include <map>

#include <CLI/CLI.hpp>

#include "app/node/cli/byte_size.h"
#include "app/node/cli/complain.h"
#include "app/node/cli/help/help_text.h"
#include "app/node/cli/help/manual_page.h"
#include "app/node/cli/help/nearest.h"
#include "app/node/cli/help/shell_completion.h"
#include "app/node/cli/options/model_options.h"
#include "app/node/cli/options/option_values.h"
#include "app/node/cli/release_options.h"
#include "app/node/cli/this_node.h"

namespace potluck::node {

namespace {

constexpr std::int64_t page_every_min = 5;  // seconds; a round lasts that long, and visitors fetch it no faster

/// What CLI11 fills before it is checked and turned into a Command.
struct Raw {
    std::string duration, every, optimizer = "adamw", density = "auto", lamb_debias, tokens;
    std::vector<std::string> import_source, backbones, allowed;
    double learning_rate = 0, window_seconds = 0, collect_seconds = 0, grace_seconds = 0;
    ModelOptions model;
    bool words = false, json = false, volunteer = false, prepare = false, sparse = false, standalone = false,
         watch = false, switches = false, then_leave = false, shows_words = false, teams = false, no_team = false;
};

void add_host_optimizer(CLI::App& host, Command& command, Raw& raw) {
    run::Recipe& recipe = command.host.recipe;
    host.option_defaults()->group("Optimizer");
    host.add_option("--batch", recipe.batch, "Sequences or pictures per inner step; SwAV takes multiples of 64");
    host.add_option("--optimizer", raw.optimizer, "adamw, lamb or muon")
        ->check(CLI::IsMember({"adamw", "lamb", "muon"}));
    host.add_option("--lamb-debias", raw.lamb_debias,
                    "What of LAMB makes up for moments that begin at zero: moments (as its paper), rate (as DeDLOC and "
                    "sahajBERT) or none")
        ->check(CLI::IsMember({"moments", "rate", "none"}));
    host.add_option("--state-bits", recipe.state_bits, "Bits of the optimizer's moments, 8 or 32")
        ->check(CLI::IsMember({8, 32}));
    host.add_option(
        "--learning-rate", raw.learning_rate,
        "Peak learning rate (default: 0.003, with Muon 0.006; SwAV's 0.001, ALBERT's by its size and batch)");
    host.add_option("--final-fraction", recipe.final_fraction, "Fraction of the peak at the end");
    host.add_option("--warmup", recipe.warmup_rounds, "Warm-up rounds");
    host.add_option("--weight-decay", recipe.weight_decay, "Weight decay");
    host.add_option("--beta1", recipe.beta1, "Decay of the first moment");
    host.add_option("--beta2", recipe.beta2, "Decay of the second moment");
    host.add_option("--epsilon", recipe.epsilon, "Added to the root of the second moment");
    host.add_option("--clip", recipe.clip_norm, "Norm to which gradients are clipped");
    host.add_option("--seed", recipe.seed, "Seed of initial state and sample order");
}

void add_host_rounds(CLI::App& host, Command& command, Raw& raw) {
    run::Recipe& recipe = command.host.recipe;
    host.option_defaults()->group("Rounds");
    host.add_option("--rounds", recipe.total_rounds, "Rounds until the run is complete");
    host.add_option("--window", raw.window_seconds,
                    "Training time of a round in seconds (default: 5 to 3600, by the size of the model)");
    host.add_option("--collect", raw.collect_seconds,
                    "Patience for contributions in seconds (default: a fifth of the window, at least 10)");
    raw.grace_seconds = std::chrono::duration<double>(recipe.grace).count();
    host.add_option("--grace", raw.grace_seconds, "Patience in seconds for the member whose turn it is to propose");
    host.add_option("--checkpoint-every", recipe.checkpoint_every, "Rounds between checkpoints");
    host.add_option("--rounds-late", recipe.rounds_late_max,
                    "1: a contribution that missed its list counts in the next one; 0: its work goes into the next");
    host.option_defaults()->group("What is exchanged");
    host.add_option("--density", raw.density,
                    "Values sent of every 4096: \"auto\", as many as links carry, or a number (default: auto)");
    host.add_option("--error-decay", recipe.error_decay, "Decay of the error feedback");
    host.add_option("--alpha", recipe.alpha, "Outer learning rate");
    host.add_option("--amplification", recipe.amplification, "Cap on the amplification of rare coordinates");
}

void add_host(CLI::App& app, Command& command, Raw& raw) {
    CLI::App* host = app.add_subcommand("host", "Make a run out of text, print its invite and serve it");
    HostPlan& plan = command.host;
    run::Recipe& recipe = plan.recipe;
    host->option_defaults()->group("What to train on");
    host->add_option("--text", plan.text, "File or folder of UTF-8 text, from 100 KB to gigabytes");
    host->add_option("--tokens", plan.tokens,
                     "Instead of text: token files of nanoGPT or llm.c, one or a folder of .bin; val*.bin validates")
        ->excludes("--text");
    host->add_option("--pictures", plan.pictures,
                     "Instead of text: a folder of PNG or PPM pictures, at least 128, for --model coder-small or "
                     "swav-tiny; with a .txt beside each or a metadata.jsonl, for --model dalle-emoji")
        ->excludes("--text")
        ->excludes("--tokens");
    host->add_option("--coder", plan.coder,
                     "For DALL-E: the folder of a picture coder, exported or saved by diffusers (VQModel)");
    host->add_option("--vocabulary", plan.vocabulary,
                     "At least so many tokens, instead of as many as the tokenizer has")
        ->check(CLI::Range(std::uint32_t{2}, data::vocabulary_max));
    host->add_option(
        "--tokenizer", plan.tokenizer,
        "A sentencepiece model file, a byte-level tokenizer.json, or a folder with one of them or with vocab.json and "
        "merges.txt (default: the checkpoint's, or bytes)");
    host->option_defaults()->group("What others are told");
    host->add_option("--name", plan.name, "Name of the run");
    host->add_option("--purpose", plan.purpose, "What the model is for");
    host->add_option("--licence", plan.licence, "SPDX licence of the resulting model");
    add_model_options(*host, command.host, raw.model);
    add_host_optimizer(*host, command, raw);
    add_host_rounds(*host, command, raw);
    host->option_defaults()->group("Members");
    host->add_option("--backbone-key", raw.backbones, "Key of another backbone; may be repeated");
    host->add_option("--allow", raw.allowed, "Key of somebody who may join (default: anybody); may be repeated");
    host->add_option("--fit-rounds", recipe.fit_rounds,
                     "Rounds after which somebody on the allow list may sit in the run's committee");
    host->add_option("--probation-rounds", recipe.probation_rounds,
                     "Rounds until somebody who is not on it counts in full");
    host->add_flag("--volunteer", raw.volunteer, "Train here too, instead of only deciding and relaying");
    host->add_flag("--prepare", raw.prepare, "Only make the run and print its id; serve it later");
    host->callback([&command] { command.verb = Verb::host; });
}

CLI::App* add_verb(CLI::App& app, Command& command, const std::string& name, const std::string& help, Verb verb) {
    CLI::App* sub = app.add_subcommand(name, help);
    sub->callback([&command, verb] { command.verb = verb; });
    return sub;
}

void add_member_verbs(CLI::App& app, Command& command, Raw& raw) {
    for (const auto& [name, help, verb] :
         {std::tuple("join", "Join a run and train", Verb::join),
          std::tuple("backbone", "Join a run to lead and relay, without training", Verb::backbone)}) {
        CLI::App* sub = add_verb(app, command, name, help, verb);
        sub->add_option("invite", command.link, "A magnet: or potluck: link")->required();
        sub->add_flag("--switch", raw.switches, "Leave the run that the node is in, if it is another");
    }
    CLI::App* status = add_verb(app, command, "status", "What the node does and why", Verb::status);
    status->add_flag("--json", raw.json, "As JSON");
    status->add_flag("--watch", raw.watch, "A line whenever that changes, until the node ends");
    CLI::App* pause = add_verb(app, command, "pause",
                               "Stop training and free its memory; for four rounds its moments wait on disk, "
                               "about 2 bytes per parameter (8 with 32 bits)",
                               Verb::pause);
    pause->add_option("--for", raw.duration, "For how long, for example 30m or 1h30m (default: until resume)");
    pause->add_flag("--json", raw.json, "Answer with the status as JSON");
    add_verb(app, command, "pauses", "When training was paused, and why", Verb::pauses)
        ->add_flag("--json", raw.json, "As JSON");
    add_verb(app, command, "resume", "Train again: after a pause, after finishing, after a failure", Verb::resume)
        ->add_flag("--json", raw.json, "Answer with the status as JSON");
    CLI::App* finish =
        add_verb(app, command, "finish", "Contribute the current window, then stop training", Verb::finish);
    finish->add_flag("--leave", raw.then_leave, "Then leave the run, instead of staying to relay");
    finish->add_flag("--json", raw.json, "Answer with the status as JSON");
    add_verb(app, command, "leave", "Leave the run, or give up looking for it", Verb::leave)
        ->add_flag("--json", raw.json, "Answer with the status as JSON");
    CLI::App* name = add_verb(app, command, "name", "Print what others call this computer, or change it", Verb::name);
    name->add_option("new_name", command.new_name, "The new name");
    name->add_flag("--json", raw.json, "As JSON");
    CLI::App* team = add_verb(app, command, "team", "Print the team you are counted with, or change it", Verb::team);
    auto* none = team->add_flag("--none", raw.no_team, "Be in none");
    team->add_option("new_team", command.new_team, "Its name, which anybody may use")->excludes(none);
    team->add_flag("--json", raw.json, "As JSON");
    add_verb(app, command, "runs", "The runs that lie in the data folder, with their size", Verb::runs)
        ->add_flag("--json", raw.json, "As JSON");
    CLI::App* log = add_verb(app, command, "log", "The last lines of node.log", Verb::log);
    log->add_flag("-f,--follow", raw.watch, "Then what is added, until it is interrupted");
    log->add_option("--lines", command.log_lines, "How many")->check(CLI::Range(1, 10'000));
    add_verb(app, command, "invite", "Print a link by which others join", Verb::invite);
    add_verb(app, command, "stop", "End the running node", Verb::stop)
        ->add_flag("--json", raw.json, "Answer with its last status as JSON");
    add_verb(app, command, "checkpoints", "Checkpoints with their magnet links", Verb::checkpoints)
        ->add_flag("--json", raw.json, "As JSON");
    CLI::App* leaderboard = add_verb(app, command, "leaderboard", "Who trained how much", Verb::leaderboard);
    leaderboard->add_option("--find", command.find,
                            "Only people whose name or team holds this, or whose key begins with it");
    leaderboard->add_flag("--teams", raw.teams, "Teams instead of people; anybody may name any team");
    leaderboard->add_flag("--json", raw.json, "As JSON");
}

void add_program_verbs(CLI::App& app, Command& command, Raw& raw) {
    add_verb(app, command, "serve", "Run a node that is spoken to over standard input and output", Verb::serve)
        ->add_flag("--standalone", raw.standalone,
                   "Listen on the local socket only and go on when standard input is closed, as a service does");
    add_verb(app, command, "control", "Speak to the running node over standard input and output", Verb::control);
}

void add_host_verbs(CLI::App& app, Command& command, Raw& raw) {
    CLI::App* committee = app.add_subcommand("committee", "Who decides about the run");
    committee->require_subcommand(1);
    add_verb(*committee, command, "show", "Its members, and what its host has changed", Verb::committee)
        ->add_flag("--json", raw.json, "As JSON");
    add_verb(*committee, command, "verify", "Check a file of evidence that `show` names, on any computer",
             Verb::verify_evidence)
        ->add_option("file", command.path, "The file")
        ->required();
    CLI::App* replace =
        add_verb(*committee, command, "replace",
                 "The last resort when too many of them are gone for good: these keys decide from now on",
                 Verb::replace_committee);
    replace->add_option("keys", command.replacement.keys, "1, 4 or 7 ids that the host trusts")->required();
    replace->add_option("--after", command.replacement.after,
                        "How many rounds stay (default: all that this computer knows of)");
    CLI::App* moderate = app.add_subcommand("moderate", "What a run's host may change while the run goes on");
    moderate->require_subcommand(1);
    const auto add = [&](const char* name, const char* help, control::ModerationKind kind) {
        CLI::App* sub = moderate->add_subcommand(name, help);
        sub->callback([&command, kind] {
            command.verb = Verb::moderate;
            command.moderation.kind = kind;
        });
        return sub;
    };
    for (const auto& [name, help, kind] :
         {std::tuple("ban", "Shut a key out: it contributes nothing and has no seat", control::ModerationKind::ban),
          std::tuple("readmit", "Take a ban back", control::ModerationKind::readmit),
          std::tuple("allow", "Vouch for a key: it may join and sit in the committee",
                     control::ModerationKind::allow)}) {
        add(name, help, kind)
            ->add_option("key", command.moderation.key, "Its id, or the first 8 digits or more")
            ->required();
    }
    add("rollback", "Take the model back to a checkpoint that this computer holds", control::ModerationKind::rollback)
        ->add_option("round", command.moderation.round, "The checkpoint's round")
        ->required();
}

void add_model_verbs(CLI::App& app, Command& command, Raw& raw) {
    CLI::App* exporting =
        add_verb(app, command, "export", "Write the model as a folder that transformers opens", Verb::export_model);
    exporting->add_option("folder", command.path, "Where to")->required();
    exporting->add_flag("--sparse-2-4", raw.sparse,
                        "Keep the 2 largest of every 4 weights of attention and MLP, for sparse tensor cores");
    CLI::App* verify =
        add_verb(app, command, "verify", "Check that a model is what its run's committee agreed on, without a network",
                 Verb::verify);
    verify->add_option("model", command.path, "An exported folder, or a checkpoint's file")->required();
    verify->add_option("--proof", command.proof, "Its proof (default: potluck.proof beside it)");
    verify->add_flag("--json", raw.json, "As JSON");
    CLI::App* page =
        add_verb(app, command, "page", "Write the run's public page as files that any web server serves", Verb::page);
    page->add_option("folder", command.path, "Where to; made if it is missing")->required();
    page->add_option("--every", raw.every, "Again and again, for example every 1m (default: once)");
    page->add_option("--prompt", command.page_prompt,
                     "Let the running node's model go on with this text about twenty times in a run, and show it");
    CLI::App* sample = add_verb(
        app, command, "sample",
        "Let the model go on with a text, draw what it says, or show which pictures it thinks alike", Verb::sample);
    sample->add_option("--prompt", command.prompt, "The beginning, or what is to be drawn");
    CLI::Option* from = sample->add_option("--from", command.sampled_checkpoint,
                                           "A folder that export wrote, instead of the run's model");
    sample
        ->add_option("--pictures", command.compared_pictures,
                     "With --from, of a model that compares pictures: a folder of those to compare")
        ->needs(from);
    sample->add_option("--picture", command.picture,
                       "Of a model that draws or compares pictures: where to (default: picture.png)");
    sample->add_option("--tokens", command.tokens, "How many tokens")->check(CLI::Range(1, 4096));
    sample->add_option("--temperature", command.temperature, "0: always the likeliest")->check(CLI::Range(0.0, 10.0));
    sample->add_option("--seed", command.seed, "Seed of the choice");
}

void add_identity_verbs(CLI::App& app, Command& command, Raw& raw) {
    CLI::App* identity = app.add_subcommand("identity", "This person's key");
    identity->require_subcommand(1);
    CLI::App* show = add_verb(*identity, command, "show", "Print id and data folder", Verb::identity_show);
    show->add_flag("--words", raw.shows_words, "And the recovery words; keep them secret");
    CLI::App* create = add_verb(*identity, command, "create", "Make the key, if there is none yet, and print its id",
                                Verb::identity_create);
    CLI::App* exporting = add_verb(*identity, command, "export", "Write the key to a file", Verb::identity_export);
    exporting->add_option("file", command.path, "Where to")->required();
    CLI::App* importing =
        add_verb(*identity, command, "import", "Take the key from a file or from words", Verb::identity_import);
    importing->add_option("source", raw.import_source, "The file, or the 24 recovery words");
    importing->add_flag("--words", raw.words, "Take recovery words; without any, they are read from standard input");
    for (CLI::App* verb : {show, create, exporting, importing}) verb->add_flag("--json", raw.json, "As JSON");
}

void add_receipt_verbs(CLI::App& app, Command& command, Raw& raw) {
    CLI::App* receipt = app.add_subcommand("receipt", "Proof of what this person was credited with in a run");
    receipt->require_subcommand(1);
    CLI::App* exporting = add_verb(*receipt, command, "export", "Write a receipt", Verb::receipt_export);
    exporting->add_option("file", command.path, "Where to")->required();
    exporting->add_option("--run", command.run, "First digits of the run's id (default: the run that this node is in)");
    exporting->add_option("--note", command.note, "Words that are signed with it, for example whom it is for");
    CLI::App* verify = add_verb(*receipt, command, "verify", "Check a receipt, without a network or a data folder",
                                Verb::receipt_verify);
    verify->add_option("file", command.path, "The receipt")->required();
    for (CLI::App* verb : {exporting, verify}) verb->add_flag("--json", raw.json, "As JSON");
}

void add_pack(CLI::App& app, Command& command) {
    CLI::App* pack = add_verb(app, command, "pack",
                              "Turn text or captioned pictures into train.bin and val.bin for nanoGPT, llm.c or host "
                              "--tokens",
                              Verb::pack);
    static const std::map<std::string, data::TokenFormat> formats = {{"nanogpt", data::TokenFormat::nanogpt},
                                                                     {"llmc", data::TokenFormat::llmc}};
    CLI::Option* text = pack->add_option("--text", command.pack.text, "File or folder of UTF-8 text");
    CLI::Option* coder = pack->add_option("--coder", command.pack.coder,
                                          "The folder of a picture coder, exported or saved by diffusers (VQModel)");
    pack->add_option("--pictures", command.pack.pictures,
                     "Instead of text: a folder of PNG or PPM pictures, with a .txt beside each or a metadata.jsonl, "
                     "for DALL-E")
        ->excludes(text)
        ->needs(coder);
    pack->add_option("--caption", command.pack.caption_tokens, "Tokens of a caption")->check(CLI::Range(1, 4'096));
    CLI::Option* tokenizer =
        pack->add_option("--tokenizer", command.pack.tokenizer,
                         "A sentencepiece model file, or a folder with vocab.json and merges.txt (default: bytes)");
    pack->add_option("--train-vocabulary", command.pack.train_vocabulary,
                     "Train a sentencepiece vocabulary of at most so many pieces on the text first, in lower case and "
                     "with ALBERT's marks, and keep it as tokenizer.model")
        ->check(CLI::Range(data::trained_vocabulary_min, data::trained_vocabulary_max))
        ->excludes(tokenizer);
    pack->add_option("--format", command.pack.format, "nanogpt (bare tokens) or llmc (with a header)")
        ->transform(CLI::CheckedTransformer(formats))
        ->default_str("nanogpt");
    pack->add_option("--seed", command.pack.seed, "Seed of what is held out for validation");
    pack->add_option("folder", command.pack.folder, "Where to")->required();
}

void add_device_verbs(CLI::App& app, Command& command, Raw& raw) {
    add_verb(app, command, "doctor", "What this computer can train on, and what keeps it from more", Verb::doctor)
        ->add_flag("--json", raw.json, "As JSON");
    CLI::App* plan = add_verb(app, command, "plan", "How a model would be trained here, and what it costs", Verb::plan);
    PlanOptions& options = command.plan;
    plan->add_option("model", options.model, "A model's name, or a folder of Hugging Face with its config.json")
        ->required();
    plan->add_option("--context", options.context, "Context in tokens, instead of the model's")
        ->check(CLI::Range(8, 16'384));
    plan->add_option("--batch", options.batch, "Sequences per optimizer step (default: the recipe's)")
        ->check(CLI::Range(1, 65'536));
    plan->add_option("--tokens", raw.tokens, "Tokens to train on, for example 10B (default: 20 for each parameter)");
    plan->add_option("--volunteers", options.volunteers, "Volunteers who share the work")
        ->check(CLI::Range(1, 1'000'000));
    plan->add_option("--gpu", options.gpu, "The GPU of each of them, for example \"RTX 3060\"");
    plan->add_option("--utilisation", options.utilisation, "Share of that GPU's peak that training reaches")
        ->check(CLI::Range(0.01, 1.0));
    plan->add_option("--price-per-kwh", options.price_per_kilowatt_hour, "Price of electricity")
        ->check(CLI::Range(0.0, 1000.0));
    plan->add_flag("--json", raw.json, "As JSON");
}

CLI::App* add_completion(CLI::App& app, std::string& shell) {
    CLI::App* completion = app.add_subcommand("completion", "Print what a shell needs to complete this command line");
    completion->add_option("shell", shell, "bash, zsh or fish")
        ->required()
        ->check(CLI::IsMember({"bash", "zsh", "fish"}));
    return completion;
}

/// What people ask for most comes first.
void group_verbs(CLI::App& app) {
    const std::pair<const char*, std::vector<const char*>> groups[] = {
        {"Take part",
         {"join", "status", "pause", "pauses", "resume", "finish", "leave", "leaderboard", "receipt", "name", "team",
          "runs", "log", "stop"}},
        {"Host a run", {"host", "backbone", "invite", "committee", "moderate", "page"}},
        {"The model", {"checkpoints", "export", "verify", "sample"}},
        {"This computer", {"doctor", "plan", "trainer", "updates", "identity", "demo"}},
        {"For other programs", {"serve", "control", "pack", "release-index", "completion", "manual"}}};
    for (const auto& [title, verbs] : groups)
        for (const char* verb : verbs) app.get_subcommand(verb)->group(title);
}

/// The verb that was given, or its part, or the program if none was.
const CLI::App& innermost(const CLI::App& app) {
    const CLI::App* inner = &app;
    while (!inner->get_subcommands().empty()) inner = inner->get_subcommands().front();
    return *inner;
}

/// The first word that is no command, option or value.
std::optional<std::string> unknown_word(const CLI::App& app) {
    const std::vector<std::string> left = app.remaining(true);
    if (left.empty()) return std::nullopt;
    return left.front();
}

/// What could have been meant, as a sentence.
std::string not_understood(const CLI::App& app, const std::string& word) {
    std::vector<std::string> known;
    const bool is_option = word.starts_with("-");
    const CLI::App& inner = innermost(app);
    for (const CLI::App* one : {&inner, &app}) {
        for (const CLI::Option* option : one->get_options())
            for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
        if (one == &app) break;
    }
    if (!is_option) {
        known.clear();
        for (const CLI::App* sub : inner.get_subcommands([](const CLI::App*) { return true; }))
            known.push_back(sub->get_name());
    }
    const std::string typed = word.substr(0, word.find('='));
    const std::string said = (is_option ? "There is no option " : "There is no command ") + clean(typed);
    const std::string meant = nearest(typed, known);
    if (!meant.empty()) return said + "; did you mean " + meant + "?";
    const std::string where = &inner == &app ? "" : inner.get_name() + " ";
    return said + "; potluck-node " + where + "--help lists what there is.";
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

Status finish_host(Command& command, const Raw& raw) {
    if (command.host.text.empty() && command.host.tokens.empty() && command.host.pictures.empty())
        return Error{ErrorCode::invalid_argument, "Say what to train on, with --text, --tokens or --pictures."};
    auto model = model_of(raw.model);
    if (!model) return model.error();
    command.host.model = std::move(*model);
    if (!command.host.from.empty()) command.host.model.context = raw.model.context;
    const auto milliseconds = [](double seconds) { return Duration{static_cast<std::int64_t>(seconds * 1000)}; };
    run::Recipe& recipe = command.host.recipe;
    recipe.optimizer = run::optimizer_named(raw.optimizer).value_or(recipe.optimizer);
    recipe.learning_rate =
        raw.learning_rate > 0 ? raw.learning_rate : run::usual_learning_rate(command.host.model, recipe);
    if (!raw.lamb_debias.empty()) {
        if (recipe.optimizer != run::Optimizer::lamb)
            return Error{ErrorCode::invalid_argument, "--lamb-debias is for --optimizer lamb; leave it out."};
        recipe.lamb_debias = run::lamb_debias_named(raw.lamb_debias).value_or(recipe.lamb_debias);
    }
    if (Status taken = take_density(raw.density, recipe); !taken) return taken;
    command.host.window = raw.window_seconds > 0 ? HostPlan::Window::of_recipe : HostPlan::Window::by_size;
    if (raw.window_seconds > 0) recipe.window = milliseconds(raw.window_seconds);
    command.host.patience = raw.collect_seconds > 0 ? HostPlan::Patience::of_recipe : HostPlan::Patience::by_window;
    if (raw.collect_seconds > 0) recipe.collect = milliseconds(raw.collect_seconds);
    if (raw.grace_seconds > 0) recipe.grace = milliseconds(raw.grace_seconds);
    command.host_role = raw.volunteer ? Command::HostRole::volunteer : Command::HostRole::backbone;
    command.after_hosting = raw.prepare ? Command::AfterHosting::end : Command::AfterHosting::serve;
    if (Status taken = take_keys(raw.backbones, command.host.backbones); !taken) return taken;
    return take_keys(raw.allowed, command.host.allowed);
}

Status finish_import(Command& command, const Raw& raw) {
    if (raw.words) {
        command.import_from = Command::ImportFrom::words;
        for (const std::string& word : raw.import_source) command.words += word + " ";
        return {};
    }
    if (raw.import_source.size() != 1)
        return Error{ErrorCode::invalid_argument, "Name one key file, or give --words and the 24 recovery words."};
    command.path = raw.import_source.front();
    return {};
}

Status finish_times(Command& command, const Raw& raw) {
    if (!raw.duration.empty()) {
        const auto seconds = parse_duration(raw.duration);
        if (!seconds) return seconds.error();
        command.pause_seconds = *seconds;
    }
    if (!raw.every.empty()) {
        const auto seconds = parse_duration(raw.every);
        if (!seconds) return seconds.error();
        if (*seconds < page_every_min)
            return Error{ErrorCode::invalid_argument, "A page is written at most every 5 s."};
        command.every_seconds = *seconds;
    }
    return {};
}

Status finish_pack(const Command& command) {
    if (command.pack.text.empty() && command.pack.pictures.empty())
        return Error{ErrorCode::invalid_argument, "Say what to pack, with --text or --pictures."};
    return {};
}

/// Everything that CLI11 does not check.
Status finish(Command& command, const Raw& raw) {
    if (!raw.tokens.empty()) {
        const auto tokens = parse_count(raw.tokens);
        if (!tokens) return tokens.error();
        command.plan.tokens = *tokens;
    }
    if (raw.no_team) command.new_team = "";
    command.board = raw.teams ? Command::Board::teams : Command::Board::people;
    command.sparsity = raw.sparse ? Sparsity::two_of_four : Sparsity::dense;
    command.parent = raw.standalone ? Command::Parent::none : Command::Parent::speaks;
    command.output = raw.json ? Command::Output::json : Command::Output::people;
    command.watch = raw.watch ? Command::Watch::until_ended : Command::Watch::once;
    command.secrets = raw.shows_words ? Command::Secrets::show : Command::Secrets::hide;
    command.other_run = raw.switches ? control::OtherRun::leave : control::OtherRun::keep;
    command.after_finish = raw.then_leave ? control::AfterFinish::leave : control::AfterFinish::stay;
    if (const Status times = finish_times(command, raw); !times) return times;
    if (command.verb == Verb::identity_import) return finish_import(command, raw);
    if (command.verb == Verb::pack) return finish_pack(command);
    return command.verb == Verb::host ? finish_host(command, raw) : Status();
}

}  // namespace

ParsedCommand parse_command_line(int argc, const char* const* argv) {
    Command command;
    Raw raw;
    NodeLine node;
    CLI::App app("Potluck: volunteers train a neural network together. This is the node and its command line.",
                 "potluck-node");
    app.formatter(help_formatter());
    app.option_defaults()->always_capture_default();
    app.set_version_flag("--version", "potluck-node " POTLUCK_VERSION);
    app.require_subcommand(1);
    app.fallthrough();
    node.add(app);
    add_member_verbs(app, command, raw);
    add_host(app, command, raw);
    add_host_verbs(app, command, raw);
    add_model_verbs(app, command, raw);
    add_identity_verbs(app, command, raw);
    add_receipt_verbs(app, command, raw);
    add_device_verbs(app, command, raw);
    add_program_verbs(app, command, raw);
    add_pack(app, command);
    add_release_verbs(app, command);
    add_demo_options(
        *add_verb(app, command, "demo", "Train a small model with five volunteers on this computer", Verb::demo),
        command.demo);
    std::string shell;
    const CLI::App* completion = add_completion(app, shell);
    const CLI::App* manual = app.add_subcommand("manual", "Print this program's manual page, for man");
    group_verbs(app);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& outcome) {
        if (const auto unknown = unknown_word(app)) {
            if (*unknown == "help") {
                std::cout << app.help();
                return {std::nullopt, ExitCode::ok};
            }
            std::cerr << "potluck-node: " << not_understood(app, *unknown) << "\n";
            return {std::nullopt, ExitCode::usage};
        }
        const int code = app.exit(outcome, std::cout, std::cerr);
        return {std::nullopt, code == 0 ? ExitCode::ok : ExitCode::usage};
    }
    if (completion->parsed() || manual->parsed()) {
        std::cout << (manual->parsed() ? manual_page(app, POTLUCK_VERSION)
                                       : shell_completion(app, shell_named(shell).value_or(Shell::bash)));
        return {std::nullopt, ExitCode::ok};
    }
    Status checked = node.read();
    command.node = node.node().options;
    command.node_name = node.node().name;
    command.node_team = node.node().team;
    command.log_level = node.node().log_level;
    if (checked) checked = finish(command, raw);
    if (!checked) {
        std::cerr << "potluck-node: " << checked.error().message << "\n";
        return {std::nullopt, ExitCode::usage};
    }
    return {std::move(command), ExitCode::ok};
}

}  // namespace potluck::node
