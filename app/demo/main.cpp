// The demo as a program of its own beside the node's, so that a node carries nothing that only measures it. It is
// started by a person, or by `potluck-node demo`, which passes its own arguments on.
//
// Its own trainers are not confined: they measure with what its nodes keep below its folder. Each of its nodes confines
// its own.
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <string>

#include <CLI/CLI.hpp>

#include "app/demo/demo.h"
#include "app/demo/worth_of_run.h"
#include "app/node/cli/help/help_text.h"
#include "app/node/cli/this_node.h"
#include "core/base/processor/isa.h"

namespace {

using namespace potluck::node;

/// A node's options are taken and have no effect here, but for these; they are not listed.
void hide_but_for_folder_and_trainer(CLI::App& app) {
    for (CLI::Option* option : app.get_options()) {
        const std::string name = option->get_name();
        const bool counts = name == "--data-dir" || name == "--trainer" || option == app.get_help_ptr() ||
                            option == app.get_version_ptr();
        if (!counts) option->group("");
    }
}

}  // namespace

int main(int argc, char** argv) {
#ifdef SIGPIPE
    std::signal(SIGPIPE, SIG_IGN);  // a reader may close its end at any time; the write then fails, and that is enough
#endif
    if (const std::string& problem = potluck::isa_choice().problem; !problem.empty()) {
        std::fprintf(stderr, "%s\n", problem.c_str());
        return static_cast<int>(ExitCode::usage);
    }
    CLI::App app("Potluck's demo: trains a small model with five volunteers on this computer.", "potluck-demo");
    app.formatter(help_formatter());
    app.option_defaults()->always_capture_default();
    app.set_version_flag("--version", "potluck-demo " POTLUCK_VERSION);
    app.fallthrough();
    NodeLine line;
    line.add(app);
    hide_but_for_folder_and_trainer(app);
    DemoOptions options;
    add_demo_options(app, options);
    app.add_subcommand("demo", "The verb, which potluck-node passes on with its other words")->group("");
    CLI::App* worth = app.add_subcommand("worth", "Tell how many computers a run was worth that was hosted here");
    std::filesystem::path hosted;
    worth->add_option("folder", hosted, "The host's data folder; its node has ended")->required();
    CLI11_PARSE(app, argc, argv);
    if (const potluck::Status read = line.read(argc, argv); !read) {
        std::cerr << "potluck-demo: " << read.error().message << std::endl;
        return static_cast<int>(ExitCode::usage);
    }
    NodeOptions node = line.node().options;
    node.trainer_program = trainer_of(node);
    return static_cast<int>(worth->parsed() ? tell_worth(hosted, node) : run_demo(options, node));
}
