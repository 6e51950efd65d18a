// The command line as values: what was asked for, checked as far as it can be without touching the world.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/node/cli/options/demo_options.h"
#include "app/node/exit_code.h"
#include "app/node/hosting/export_model.h"
#include "app/node/hosting/host_run.h"
#include "app/node/hosting/pack_files.h"
#include "app/node/release/index_maker.h"
#include "app/node/session/node.h"
#include "core/control/node_methods.h"
#include "core/model/cost_model.h"

namespace potluck::node {

enum class Verb {
    host,
    join,
    backbone,
    serve,
    control,
    status,
    pause,
    pauses,
    resume,
    finish,
    leave,
    invite,
    checkpoints,
    export_model,
    verify,
    page,
    sample,
    leaderboard,
    committee,
    moderate,
    replace_committee,
    verify_evidence,
    identity_show,
    identity_create,
    identity_export,
    identity_import,
    name,
    team,
    runs,
    log,
    stop,
    demo,
    pack,
    doctor,
    plan,
    trainer_list,
    trainer_install,
    trainer_remove,
    updates,
    release_index,
    receipt_export,
    receipt_verify,
};

/// What `potluck-node plan` is asked.
struct PlanOptions {
    std::string model;
    std::uint32_t context = 0, batch = 0;  // 0: the model's, the recipe's
    std::uint32_t volunteers = 50;
    std::string gpu = "RTX 3060";
    std::uint64_t tokens = 0;  // 0: by the model's size
    double utilisation = model::utilisation_assumed;
    double price_per_kilowatt_hour = 0.30;
};

struct Command {
    Verb verb = Verb::status;
    NodeOptions node;
    std::string link;  // join, backbone
    std::string node_name, node_team;
    std::string log_level = "info";
    HostPlan host;
    enum class HostRole { backbone, volunteer } host_role = HostRole::backbone;
    enum class AfterHosting { serve, end } after_hosting = AfterHosting::serve;
    enum class Output { people, json } output = Output::people;
    enum class Parent { speaks, none } parent = Parent::speaks;  // serve: at the other end of standard input
    std::int64_t pause_seconds = 0;
    std::int64_t every_seconds = 0;          // page; 0: once
    std::optional<std::string> page_prompt;  // page; nothing: no samples are made
    control::AfterFinish after_finish = control::AfterFinish::stay;
    control::Moderate moderation;
    control::ReplaceCommittee replacement;
    std::filesystem::path path;   // folder of an export or a page, model to verify, identity file, file of evidence
    std::filesystem::path proof;  // verify; empty: the one beside the model
    enum class ImportFrom { file, words } import_from = ImportFrom::file;
    enum class Secrets { hide, show } secrets = Secrets::hide;   // identity show --words
    enum class Watch { once, until_ended } watch = Watch::once;  // status --watch, log --follow
    control::OtherRun other_run = control::OtherRun::keep;       // join --switch
    std::string find;                                            // leaderboard; empty: everybody
    std::string run, note;  // receipt export: first digits of the run's id, words that are signed
    std::size_t log_lines = 40;
    enum class Board { people, teams } board = Board::people;  // leaderboard --teams
    std::string new_name;                                      // name; empty: it is asked for
    std::optional<std::string> new_team;                       // team; nothing: it is asked for, empty: none
    std::string words;  // identity import --words; empty: they are read from standard input
    Sparsity sparsity = Sparsity::dense;
    std::string prompt;
    std::filesystem::path sampled_checkpoint;  // sample; empty: the run's model
    std::filesystem::path compared_pictures;   // sample, of a checkpoint that compares pictures
    std::filesystem::path picture;             // sample, of pictures; empty: picture.png here
    std::uint32_t tokens = 200;
    double temperature = 0.8;
    std::uint64_t seed = 1;
    DemoOptions demo;
    PackOptions pack;
    PlanOptions plan;
    std::string trainer;  // trainer install: a kind, an archive, or empty for the best
    IndexPlan release;
};

/// Either a command, or the exit code to end with: help and version were printed to standard output, a usage error to
/// standard error.
struct ParsedCommand {
    std::optional<Command> command;
    ExitCode exit = ExitCode::ok;
};
[[nodiscard]] ParsedCommand parse_command_line(int argc, const char* const* argv);

}  // namespace potluck::node
