#include "app/node/cli/options/demo_options.h"

#include <CLI/CLI.hpp>

#include "core/control/trainer_protocol.h"

namespace potluck::node {

namespace {

/// A flag that makes `out` be `value`.
template <class Choice>
void add_choice(CLI::App& app, const std::string& name, Choice& out, Choice value, const std::string& help) {
    app.add_flag_callback(
        name, [&out, value] { out = value; }, help);
}

}  // namespace

void add_demo_options(CLI::App& demo, DemoOptions& options) {
    demo.add_option("--text", options.text,
                    "File or folder of UTF-8 text, at least 100 KB (default: the program's own sources)");
    demo.add_option("--family", options.family,
                    "gpt2 (the default), llama or albert, of text; coder, which takes --pictures; dalle or swav, "
                    "which draw some if there are none")
        ->check(CLI::IsMember({"gpt2", "llama", "albert", "coder", "dalle", "swav"}));
    demo.add_option(
        "--pictures", options.pictures,
        "Folder of PNG or PPM pictures, for a picture coder; with captions, for DALL-E; each class in a folder "
        "of its own, for SwAV");
    demo.add_option(
            "--minutes", options.minutes,
            "Train for so long, as many rounds as fit (default: until the baseline is beaten, at most five minutes)")
        ->check(CLI::Range(0.1, 10'000.0));
    demo.add_option("--rounds", options.rounds, "Train for so many rounds")->check(CLI::Range(4, 100'000));
    demo.add_option("--volunteers", options.volunteers, "Volunteers from the start; one more joins later")
        ->check(CLI::Range(2, 16));
    demo.add_option(
            "--liars", options.liars,
            "So many more, strangers, hand over something else than their work: noise, work turned round, a copy, "
            "a tenth of it, in turn")
        ->check(CLI::Range(0, 8));
    demo.add_option("--devices", options.devices,
                    "What volunteers train on, in turn: cpu, cuda:0, mps, for example cpu,cuda:0 for half of them each "
                    "(default: each node chooses)")
        ->delimiter(',')
        ->check([](const std::string& device) {
            const auto choice = control::devices_of_choice(device);
            return choice.ok() ? std::string() : choice.error().message;
        });
    demo.add_option("--report", options.report, "Write the report as JSON");
    demo.add_option("--keep", options.keep,
                    "Folder for model and data folders (default: demo, demo-2 ... in --data-dir)");
    add_choice(demo, "--replace", options.folder_use, DemoOptions::FolderUse::replace,
               "Empty the folder of an earlier demo and use it again");
    demo.add_option("--recipe", options.recipe, "JSON file with fields of the demo's recipe to replace");
    add_choice(demo, "--window", options.window, DemoOptions::Window::open,
               "Open the desktop app as one of the volunteers");
    add_choice(demo, "--worth", options.worth, DemoOptions::Worth::measured,
               "Then train one computer alone, to tell how many the swarm was worth; takes as long again");
}

}  // namespace potluck::node
