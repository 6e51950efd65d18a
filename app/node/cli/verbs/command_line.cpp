// No file is opened while a line is parsed. Options about the node are accepted before and after the verb
// (fallthrough), as people type them.
#include "app/node/cli/verbs/command_line.h"

#include <iostream>

#include <CLI/CLI.hpp>

#include "app/node/cli/help/help_text.h"
#include "app/node/cli/verbs/computer/verbs.h"
#include "app/node/cli/verbs/host/verbs.h"
#include "app/node/cli/verbs/model/verbs.h"
#include "app/node/cli/verbs/programs/verbs.h"
#include "app/node/cli/verbs/take_part/verbs.h"
#include "app/node/cli/verbs/usage_text.h"

namespace potluck::node {

namespace {

constexpr const char *take_part = "Take part", *host_a_run = "Host a run", *the_model = "The model",
                     *this_computer = "This computer", *for_programs = "For other programs";
constexpr const char* unlisted = "";  // for other programs, too, but listed by --help-all only

/// What people ask for most comes first within a group.
constexpr std::pair<const char*, std::unique_ptr<Verb> (*)()> verbs[] = {
    {take_part, join_verb},          {host_a_run, backbone_verb},    {take_part, status_verb},
    {take_part, pause_verb},         {take_part, pauses_verb},       {take_part, resume_verb},
    {take_part, finish_verb},        {take_part, leave_verb},        {take_part, name_verb},
    {take_part, team_verb},          {take_part, runs_verb},         {take_part, list_verb},
    {take_part, log_verb},           {host_a_run, invite_verb},      {take_part, stop_verb},
    {the_model, checkpoints_verb},   {take_part, leaderboard_verb},  {host_a_run, host_verb},
    {host_a_run, committee_verb},    {host_a_run, moderate_verb},    {the_model, export_verb},
    {the_model, verify_verb},        {host_a_run, page_verb},        {the_model, sample_verb},
    {this_computer, identity_verb},  {take_part, receipt_verb},      {this_computer, doctor_verb},
    {this_computer, plan_verb},      {unlisted, serve_verb},         {unlisted, control_verb},
    {for_programs, pack_verb},       {this_computer, trainer_verb},  {this_computer, updates_verb},
    {this_computer, move_data_verb}, {unlisted, release_index_verb}, {this_computer, demo_verb},
    {unlisted, completion_verb},     {unlisted, manual_verb}};

}  // namespace

CommandLine::CommandLine()
    : m_app(std::make_unique<CLI::App>(
          "Potluck: volunteers train a neural network together. This is the node and its command line.",
          "potluck-node")) {
    m_app->formatter(help_formatter());
    m_app->option_defaults()->always_capture_default();
    m_app->set_version_flag("--version", "potluck-node " POTLUCK_VERSION);
    m_app->add_flag("--help-all", m_shows_all, "Print this with the commands that only programs use, and exit");
    m_app->require_subcommand(1);
    m_app->fallthrough();
    m_node.add(*m_app);
    for (const auto& [group, make] : verbs) {
        m_verbs.push_back(make());
        add(*m_app, *m_verbs.back(), group);
    }
}

CommandLine::~CommandLine() = default;

void CommandLine::add(CLI::App& above, Verb& verb, const char* group) {
    CLI::App* app = above.add_subcommand(verb.name, verb.help);
    verb.add(*app);
    for (const auto& part : verb.parts()) add(*app, *part, nullptr);
    // The parser calls back the innermost first.
    if (verb.works_alone()) {
        app->callback([this, &verb] {
            if (m_chosen == nullptr) m_chosen = &verb;
        });
    } else {
        app->require_subcommand(1);
    }
    if (group != nullptr) app->group(group);  // last: parts would have it, too
}

Verb* CommandLine::parse(int argc, const char* const* argv) {
    try {
        m_app->parse(argc, argv);
    } catch (const CLI::ParseError& outcome) {
        m_exit = unparsed(outcome);
        return nullptr;
    }
    if (m_shows_all) {
        print_all_help();
        return nullptr;
    }
    Status read = m_chosen->has_node() ? m_node.read(argc, argv) : Status();
    if (read) read = m_chosen->read();
    if (read) return m_chosen;
    std::cerr << "potluck-node: " << read.error().message << "\n";
    m_exit = ExitCode::usage;
    return nullptr;
}

void CommandLine::print_all_help() const {
    for (CLI::App* verb : m_app->get_subcommands([](CLI::App*) { return true; }))
        if (verb->get_group().empty()) verb->group(for_programs);
    std::cout << m_app->help();
}

/// Help and version come this way, too.
ExitCode CommandLine::unparsed(const CLI::ParseError& outcome) const {
    const auto unknown = unknown_word(*m_app);
    if (unknown == "help") {
        std::cout << m_app->help();
        return ExitCode::ok;
    }
    if (!unknown && m_shows_all) {
        print_all_help();
        return ExitCode::ok;
    }
    if (!unknown && outcome.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) {
        static_cast<void>(m_app->exit(outcome, std::cout, std::cerr));
        return ExitCode::ok;
    }
    std::cerr << "potluck-node: " << usage_text(*m_app, outcome) << "\n";
    return ExitCode::usage;
}

}  // namespace potluck::node
