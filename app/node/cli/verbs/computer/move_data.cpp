// Moves what lies in the data folder to another disk; the window runs it, too, and reads the lines of progress.
#include <iostream>

#include <CLI/CLI.hpp>

#include "app/node/cli/complain.h"
#include "app/node/cli/verb.h"
#include "app/node/cli/verbs/computer/verbs.h"
#include "app/node/moved_folder.h"

namespace potluck::node {

namespace {

class MoveDataVerb final : public Verb {
public:
    using Verb::Verb;

    void add(CLI::App& app) override {
        app.add_option("folder", m_folder, "An empty folder or a new one; of any other, a folder potluck in it")
            ->required();
    }

    ExitCode run(const ThisNode& node) override {
        std::uint64_t told = 0;
        const auto progress = [&told](std::uint64_t done, std::uint64_t all) {
            const std::uint64_t percent = all == 0 ? 100 : done * 100 / all;
            if (percent > told) std::cout << percent << " %" << std::endl;
            told = std::max(told, percent);
        };
        const auto place = move_data(node.asked_folder, m_folder, progress);
        if (!place) return complain(place.error());
        std::cout << "Potluck's data is in " << clean(place->string()) << " now." << std::endl;
        return ExitCode::ok;
    }

private:
    std::string m_folder;
};

}  // namespace

std::unique_ptr<Verb> move_data_verb() {
    return std::make_unique<MoveDataVerb>("move-data", "Move everything in the data folder to another disk");
}

}  // namespace potluck::node
