#include "app/node/cli/verbs/misspelt.h"

#include <vector>

#include <CLI/CLI.hpp>

#include "app/node/cli/complain.h"
#include "app/node/cli/help/nearest.h"

namespace potluck::node {

namespace {

/// The verb that was given, or its part, or the program if none was.
const CLI::App& innermost(const CLI::App& app) {
    const CLI::App* inner = &app;
    while (!inner->get_subcommands().empty()) inner = inner->get_subcommands().front();
    return *inner;
}

}  // namespace

std::optional<std::string> unknown_word(const CLI::App& app) {
    const std::vector<std::string> left = app.remaining(true);
    if (left.empty()) return std::nullopt;
    return left.front();
}

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

}  // namespace potluck::node
