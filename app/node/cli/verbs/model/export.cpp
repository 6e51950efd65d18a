#include <filesystem>
#include <iostream>

#include <CLI/CLI.hpp>

#include "app/node/cli/asking.h"
#include "app/node/cli/verbs/model/verbs.h"

namespace potluck::node {

namespace {

void print_exported(const control::ExportedFiles& exported) {
    for (const std::string& file : exported.files) std::cout << clean_lines(file) << "\n";
    std::cout << "The model after round " << exported.round << ".\n";
    if (!exported.agreed) {
        std::cout << "The run's committee has not agreed on it yet, so there is no proof beside it; export again when "
                     "the round has ended.\n";
    }
    if (exported.zero_weights && exported.pruned_weights) {
        std::cout << *exported.zero_weights << " of the " << *exported.pruned_weights
                  << " weights in attention and MLP are zero.\n";
    }
}

class ExportVerb final : public Verb {
public:
    using Verb::Verb;

    void add(CLI::App& app) override {
        app.add_option("folder", m_folder, "Where to")->required();
        app.add_flag("--sparse-2-4", m_sparse,
                     "Keep the 2 largest of every 4 weights of attention and MLP, for sparse tensor cores");
    }

    ExitCode run(const ThisNode& node) override {
        const control::ExportModel call{std::filesystem::absolute(m_folder).string(), m_sparse};
        return ask(node, Output::people, call, print_exported, trainer_patience);
    }

private:
    std::filesystem::path m_folder;
    bool m_sparse = false;
};

}  // namespace

std::unique_ptr<Verb> export_verb() {
    return std::make_unique<ExportVerb>("export", "Write the model as a folder that transformers opens");
}

}  // namespace potluck::node
