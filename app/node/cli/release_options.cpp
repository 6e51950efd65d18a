#include "app/node/cli/release_options.h"

#include <CLI/CLI.hpp>

namespace potluck::node {

namespace {

CLI::App* add(CLI::App& app, Command& command, const char* name, const char* help, Verb verb) {
    CLI::App* sub = app.add_subcommand(name, help);
    sub->callback([&command, verb] { command.verb = verb; });
    return sub;
}

}  // namespace

void add_release_verbs(CLI::App& app, Command& command) {
    CLI::App* trainer = app.add_subcommand("trainer", "What trains on this computer, as a download");
    trainer->require_subcommand(1);
    add(*trainer, command, "list", "The trainers there are for this computer, and the one it has", Verb::trainer_list);
    add(*trainer, command, "install", "Download a trainer, or take it from a file", Verb::trainer_install)
        ->add_option("what", command.trainer,
                     "cpu, cuda or rocm, or an archive with the signed index beside it (default: the best)");
    add(*trainer, command, "remove", "Remove the downloaded trainer, or give its download up", Verb::trainer_remove);
    add(app, command, "updates", "Look whether there is a newer Potluck", Verb::updates);
    CLI::App* index = add(app, command, "release-index", "For makers of releases: describe the packs of a folder",
                          Verb::release_index);
    IndexPlan& plan = command.release;
    index->add_option("folder", plan.folder, "Where they lie, and the index is written")->required();
    index->add_option("--serial", plan.serial, "One more than the last index had")
        ->required()
        ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 40U));
    index->add_option("--days", plan.days, "Until it expires")->check(CLI::Range(1, 3'650));
    index->add_option("--url", plan.url, "Below which the archives will lie on the web");
    index->add_option("--driver", plan.driver_min, "NVIDIA's driver that packs for CUDA need, for example 580");
    index->add_option("--notes", plan.notes, "A text that says what is new in this version");
    index->add_option("--page", plan.page, "Where people get it");
}

}  // namespace potluck::node
