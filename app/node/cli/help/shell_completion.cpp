// The command line is a tree of verbs; a script has one case for each of its nodes. The shell first walks the words
// that stand before the cursor down that tree ("/committee/verify"), and then offers the node's verbs, or its options
// and those of the top, which are accepted after a verb, too. Where a node has neither verb nor a dash to complete, the
// shell completes files, because most values are files or folders.
//
// fish has no walk of its own here: each entry carries the condition under which it is offered.
#include "app/node/cli/help/shell_completion.h"

#include <algorithm>
#include <vector>

#include <CLI/CLI.hpp>

namespace potluck::node {

namespace {

struct Entry {
    std::string name, description;
    bool takes_value = false;
};

struct Place {
    std::string path;  // "" at the top, "/committee/show"
    std::vector<Entry> verbs, options;
};

std::vector<const CLI::App*> verbs_of(const CLI::App& app) {
    return app.get_subcommands([](const CLI::App*) { return true; });
}

/// One line without what quotes would have to protect in any of the shells.
std::string plain(const std::string& text) {
    std::string line;
    for (const char letter : text) {
        if (letter == '\'') {
            line += "’";
        } else if (letter != '"' && letter != '`' && letter != '\\' && letter != '$') {
            line += letter == '\n' || letter == '\t' ? ' ' : letter;
        }
    }
    return line;
}

std::vector<Entry> options_of(const CLI::App& app) {
    std::vector<Entry> options;
    for (const CLI::Option* option : app.get_options()) {
        for (const std::string& name : option->get_lnames())
            options.push_back({std::string("--").append(name), plain(option->get_description()),
                               option->get_items_expected_max() > 0});
    }
    return options;
}

void walk(const CLI::App& app, const std::string& path, std::vector<Place>& places) {
    Place place{path, {}, options_of(app)};
    for (const CLI::App* verb : verbs_of(app))
        place.verbs.push_back({verb->get_name(), plain(verb->get_description())});
    places.push_back(std::move(place));
    for (const CLI::App* verb : verbs_of(app)) walk(*verb, path + "/" + verb->get_name(), places);
}

std::string names_of(const std::vector<Entry>& entries) {
    std::string names;
    for (const Entry& entry : entries) names += (names.empty() ? "" : " ") + entry.name;
    return names;
}

/// The shell's case that is true for a word that leads from one place to the next.
std::string steps_of(const std::vector<Place>& places) {
    std::string steps;
    for (const Place& place : places) {
        if (!place.path.empty()) steps += (steps.empty() ? "" : "|") + place.path;
    }
    return steps;
}

std::string for_bash(const std::vector<Place>& places) {
    std::string script =
        "# bash completion for potluck-node; written by `potluck-node completion bash`.\n"
        "_potluck_node() {\n"
        "    local place=\"\" verbs=\"\" options=\"\" current=\"${COMP_WORDS[COMP_CWORD]}\" i\n"
        "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
        "        case \"$place/${COMP_WORDS[i]}\" in\n            " +
        steps_of(places) +
        ") place=\"$place/${COMP_WORDS[i]}\" ;;\n"
        "        esac\n"
        "    done\n"
        "    case \"$place\" in\n";
    for (const Place& place : places) {
        script += "        \"" + place.path + "\") verbs=\"" + names_of(place.verbs) + "\" options=\"" +
                  names_of(place.options) + "\" ;;\n";
    }
    script += "    esac\n    local common=\"" + names_of(places.front().options) +
              "\"\n"
              "    case \"$current\" in\n"
              "        -*) COMPREPLY=($(compgen -W \"$options $common\" -- \"$current\")) ;;\n"
              "        *) COMPREPLY=($(compgen -W \"$verbs\" -- \"$current\")) ;;\n"
              "    esac\n"
              "}\n"
              "complete -o bashdefault -o default -F _potluck_node potluck-node\n";
    return script;
}

/// "'name:description' ..."; a colon inside a name or description would end it.
std::string described(const std::vector<Entry>& entries) {
    std::string list;
    for (const Entry& entry : entries) {
        std::string description;
        for (const char letter : entry.description) {
            if (letter == ':') description += '\\';
            description += letter;
        }
        list.append(" '").append(entry.name).append(":").append(description).append("'");
    }
    return list;
}

std::string for_zsh(const std::vector<Place>& places) {
    std::string script =
        "#compdef potluck-node\n"
        "# zsh completion for potluck-node; written by `potluck-node completion zsh`.\n"
        "local place=\"\" i\n"
        "local -a verbs options common\n"
        "for ((i = 2; i < CURRENT; i++)); do\n"
        "    case \"$place/$words[i]\" in\n        (" +
        steps_of(places) +
        ") place=\"$place/$words[i]\" ;;\n"
        "    esac\n"
        "done\n"
        "common=(" +
        described(places.front().options) +
        " )\n"
        "case \"$place\" in\n";
    for (const Place& place : places) {
        script += "    (\"" + place.path + "\") verbs=(" + described(place.verbs) + " ) options=(" +
                  (place.path.empty() ? "" : described(place.options)) + " ) ;;\n";
    }
    script +=
        "esac\n"
        "if [[ $words[CURRENT] == -* ]]; then\n"
        "    _describe -o option options -- common\n"
        "elif (( $#verbs )); then\n"
        "    _describe verb verbs\n"
        "else\n"
        "    _files\n"
        "fi\n";
    return script;
}

/// The last verb of a path is the one that fish looks for; the verbs above it make it unique.
std::string seen_by_fish(const Place& place) {
    std::string condition;
    for (std::size_t from = 1; from < place.path.size();) {
        const std::size_t to = std::min(place.path.find('/', from), place.path.size());
        condition += (condition.empty() ? "" : "; and ") + std::string("__fish_seen_subcommand_from ") +
                     place.path.substr(from, to - from);
        from = to + 1;
    }
    return condition;
}

std::string for_fish(const std::vector<Place>& places) {
    std::string script = "# fish completion for potluck-node; written by `potluck-node completion fish`.\n";
    for (const Place& place : places) {
        const std::string seen = seen_by_fish(place);
        const std::string verbless = "not __fish_seen_subcommand_from " + names_of(place.verbs);
        for (const Entry& verb : place.verbs) {
            script += "complete -c potluck-node -f -n '" + (seen.empty() ? verbless : seen + "; and " + verbless) +
                      "' -a " + verb.name + " -d '" + verb.description + "'\n";
        }
        for (const Entry& option : place.options) {
            script += "complete -c potluck-node" + (seen.empty() ? "" : " -n '" + seen + "'") + " -l " +
                      option.name.substr(2) + (option.takes_value ? " -r" : "") + " -d '" + option.description + "'\n";
        }
    }
    return script;
}

}  // namespace

std::optional<Shell> shell_named(std::string_view name) {
    if (name == "bash") return Shell::bash;
    if (name == "zsh") return Shell::zsh;
    if (name == "fish") return Shell::fish;
    return std::nullopt;
}

std::string shell_completion(const CLI::App& app, Shell shell) {
    std::vector<Place> places;
    walk(app, "", places);
    switch (shell) {
        case Shell::bash: return for_bash(places);
        case Shell::zsh: return for_zsh(places);
        case Shell::fish: return for_fish(places);
    }
    return {};
}

}  // namespace potluck::node
