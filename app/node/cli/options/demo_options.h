// What the demo can be told. Two programs know it: potluck-demo, which is the demo, and potluck-node, whose help,
// completion and manual name it.
// Threads: the caller's.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace potluck::node {

struct DemoOptions {
    std::filesystem::path text;  // empty: the text beside the program, or of its sources
    std::filesystem::path pictures;
    std::string family = "gpt2";  // whose recipe is trained
    double minutes = 0;           // as many rounds as fit; 0: until the baseline is beaten, within the recipe's minutes
    std::uint64_t rounds = 0;     // 0: as many as the minutes give
    unsigned volunteers = 4;
    unsigned liars = 0;                     // more of them, that hand over something else than their work
    std::vector<std::string> devices = {};  // what the volunteers train on, in turn; empty: each node chooses
    std::filesystem::path report;
    std::filesystem::path keep;  // where data folders stay; empty: "demo" below the data folder, or "demo-2" ...
    enum class FolderUse { fresh, replace } folder_use = FolderUse::fresh;
    std::filesystem::path recipe;  // JSON that replaces fields of the model and recipe; for measurements
    enum class Window { closed, open } window = Window::closed;
    enum class Worth { unknown, measured } worth = Worth::unknown;
};

/// What they are read into must outlive the parser.
void add_demo_options(CLI::App& demo, DemoOptions& options);

}  // namespace potluck::node
